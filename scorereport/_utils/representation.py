"""Short representations of records: their fields on a few lines, however large their arrays are.

A record class takes `__repr__ = short_repr`. Classes of headline results have an overview instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Columns and lines of a representation.
WIDTH, LINES = 80, 15
#: Characters of a text, and of a short list, that are shown.
_LONGEST = 60
#: Arrays with more numbers are described without their range, which takes a pass over them.
_MOST_NUMBERS = 10_000_000
#: Digits of the longest whole number that is shown in full.
_MOST_DIGITS = 20
#: What an array holds, by the kind of its type; others hold numbers.
_CONTENTS = {"M": "times", "O": "values", "U": "texts", "S": "texts", "b": "flags"}


def short_repr(record: Any) -> str:
    """Represent a record by its fields, or by what its class names in `SHOWN`, on a few short lines.

    Arrays are described by their length and range, and nested records by their type or number.
    """
    return represent(_represent_fields, record)


def represent(render: Callable[[Any], str], record: Any) -> str:
    """Represent a record, by its type and address if this fails.

    Debuggers and messages of failed assertions also represent records that are built in part or wrongly.
    """
    try:
        return render(record)
    except Exception:  # see above
        return object.__repr__(record)


def _represent_fields(record: Any) -> str:
    names = getattr(record, "SHOWN", None) or list_fields(record)
    title, items = type(record).__name__, [f"{name}={show_item(getattr(record, name))}" for name in names]
    line = f"{title}({', '.join(items)})"
    if len(line) <= WIDTH:
        return line
    lines = _fill([f"{item}," for item in items], WIDTH - 4)
    if len(lines) > LINES - 2:
        lines = [*lines[: LINES - 3], "..."]
    return "\n".join([f"{title}(", *(f"    {line}" for line in lines), ")"])


def list_fields(record: Any) -> Sequence[str]:
    """List the names of the fields of a dataclass or a named tuple."""
    return getattr(record, "_fields", None) or [field.name for field in fields(record)]


def _fill(items: Sequence[str], width: int) -> list[str]:
    """Put items on lines of a width; an item is not broken."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return lines


def show_item(value: Any) -> str:
    """Show a value of a field in at most about 60 characters.

    >>> import numpy as np
    >>> print(show_item(np.array([0.25, 0.5])), show_item((1, 2)), show_item(1 / 3))
    <2 numbers from 0.25 to 0.5> (1, 2) 0.333333
    """
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"<{_describe_array(value)}>"
    plain = value.item() if isinstance(value, np.generic) else value
    if _is_plain(plain):
        return _show_plain(plain)
    is_list = isinstance(plain, (tuple, list, Mapping)) and not hasattr(plain, "_fields")
    return _show_list(plain) if is_list else f"<{_describe_record(plain)}>"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, float, int))


def _show_plain(value: Any) -> str:
    if isinstance(value, str):
        return repr(str(value) if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}...")
    if isinstance(value, float):
        return format_plain(value)
    is_long = value is not None and abs(value) >= 10**_MOST_DIGITS
    return "<a large number>" if is_long else str(value)


def _show_list(values: Sequence[Any] | Mapping[Any, Any]) -> str:
    """Show a short list of plain values; otherwise state their number and type."""
    first = list(islice(values, _LONGEST))
    if len(values) == len(first) and all(map(_is_plain, first)):
        text = ", ".join(map(_show_plain, first))
        if len(text) < _LONGEST:
            return f"({text}{',' if len(first) == 1 else ''})"
    kinds = {_name_kind(value) for value in first}
    return f"<{len(values)} {kinds.pop() if len(kinds) == 1 else 'values'}>"


def _name_kind(value: Any) -> str:
    if isinstance(value, str):
        return "texts"
    if isinstance(value, (float, int)):
        return "numbers"
    return type(value).__name__ if is_dataclass(value) else "values"


def _describe_record(record: Any) -> str:
    """The type of a record; of an estimate also its value and interval."""
    found = (getattr(record, name, None) for name in ("value", "lower", "upper"))
    numbers = [format_plain(number, 4) for number in found if isinstance(number, float)]
    if len(numbers) < 3:
        return type(record).__name__
    value, *bounds = numbers
    return f"{type(record).__name__} {value} [{', '.join(bounds)}]"


def _describe_array(values: NDArray[Any]) -> str:
    """The shape of an array, what it holds, and its range if this is quick to find."""
    kind = values.dtype.kind
    text = f"{' x '.join(map(str, values.shape)) or 1} {_CONTENTS.get(kind, 'numbers')}"
    if not 0 < values.size <= _MOST_NUMBERS or kind not in "iufM":
        return text
    low, high = _find_ends(values)
    if kind == "M":
        return f"{text} from {low.astype('datetime64[D]')} to {high.astype('datetime64[D]')}"
    return f"{text} from {format_plain(low)} to {format_plain(high)}"


def _find_ends(values: NDArray[Any]) -> tuple[Any, Any]:
    """The smallest and the largest value; NaN only if there is nothing else."""
    import numpy as np

    return np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)


def describe_range(values: NDArray[Any]) -> str:
    """State the smallest and the largest of some numbers; empty if there are none.

    >>> import numpy as np
    >>> describe_range(np.array([0.5, 0.125]))
    '0.125 to 0.5'
    """
    return " to ".join(format_plain(end, 4) for end in _find_ends(values)) if values.size else ""


def describe_largest(values: NDArray[Any]) -> str:
    """State the largest of some numbers; empty if there are none."""
    return format_plain(_find_ends(values)[1], 4) if values.size else ""
