"""Columns of a table as checked arrays: invalid values are refused by row, missing values are NaN or None."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from scorereport._utils.checks import LONGEST_TEXT, refuse_rows
from scorereport._utils.mistakes import (
    hint_at_dates,
    hint_at_numbers,
    hint_at_outcome,
    hint_at_scale,
    range_of,
)
from scorereport._utils.row_places import InvalidRowsError, RowsRefused, name_some
from scorereport.data.column_rules import label_text
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.data.size_limits import refuse_long_text
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.raw_tables import RawColumn

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
DATE_RULE = "must hold dates such as 2026-11-15"
#: Texts that are outcomes without a label named as positive.
BINARY_TEXT = {"0": 0.0, "0.0": 0.0, "false": 0.0, "1": 1.0, "1.0": 1.0, "true": 1.0}


def outcome_values(column: RawColumn, name: str, positive: object) -> FloatArray:
    """Return outcomes as 0 and 1, NaN for missing."""
    codes, texts = _factorize(column, name, MISSING_WORDS)
    if positive is None:
        is_binary = np.array([text.lower() in BINARY_TEXT for text in texts] + [True])  # -1: missing
        if not is_binary.all():
            rule = f"`{name}` must hold 0 and 1, or True and False"
            refuse_rows(column.for_messages(), ~is_binary[codes], rule, hint_at_outcome(texts))
        values = [BINARY_TEXT[text.lower()] for text in texts]
    else:
        _check_two_labels(column, codes, texts, name, label_text(positive))
        values = [float(text == label_text(positive)) for text in texts]
    return np.array([*values, np.nan])[codes]


def class_indices(column: RawColumn, name: str, classes: Sequence[str]) -> FloatArray:
    """Return labels as their indices among the classes, NaN for missing."""
    codes, texts = _factorize(column, name, tuple(word for word in MISSING_WORDS if word not in classes))
    index = {label: float(position) for position, label in enumerate(classes)}
    is_known = np.array([*(text in index for text in texts), True])  # the last is for missing values
    if not is_known.all():
        shown = name_some([repr(label) for label in classes])
        rule = f"`{name}` must hold one of the {len(classes)} classes ({shown})"
        refuse_rows(column.for_messages(), ~is_known[codes], rule)
    return np.array([*(index[text] for text in texts), np.nan])[codes]


def _check_two_labels(
    column: RawColumn, codes: NDArray[np.intp], texts: list[str], name: str, positive: str
) -> None:
    n = np.bincount(codes[codes >= 0], minlength=len(texts))
    third, rule = find_third_labels(dict(zip(texts, n.tolist(), strict=True)), name, positive)
    if third:
        is_third = np.array([*(text in third for text in texts), False])  # the last is for missing values
        refuse_rows(column.for_messages(), is_third[codes], rule)


def find_third_labels(counts: Mapping[str, int], name: str, positive: str) -> tuple[set[str], str]:
    """Return the labels beyond the positive one and the most frequent other, and the rule they break."""
    shown = ", ".join(repr(text) for text in sorted(counts)[:10])
    if positive not in counts:
        meant = next((text for text in counts if text.casefold() == positive.casefold()), "")
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise DataError(
            f"`{name}` has no label {positive!r} to count as positive; its labels are {shown}.{hint}"
        )
    others = {text: n for text, n in counts.items() if text != positive}
    third = set(others) - {max(others, key=others.__getitem__, default="")}
    return third, f"`{name}` must hold two labels, not {len(counts)} ({shown})"


def bounded_numbers(column: RawColumn, name: str, *, upper: float) -> FloatArray:
    """Return numbers from 0 to `upper`, NaN for missing; bounds are checked before rows are dropped."""
    values = _numbers(column, name)
    if np.isinf(values).any():
        refuse_rows(values, np.isinf(values), f"`{name}` must be finite")
    is_outside = (values < 0) | (values > upper)
    if is_outside.any():
        rule = "must lie in [0, 1]" if upper == 1 else "must not be negative"
        hint = hint_at_scale(range_of(values)) if upper == 1 else ""
        refuse_rows(values, is_outside, f"`{name}` {rule}", hint)
    return values


def _numbers(column: RawColumn, name: str) -> FloatArray:
    """Return numbers as float64, which holds float32 exactly; text that is not numeric is refused."""
    plain = column.numbers(name)
    if plain is not None:
        return plain
    items = column.items()
    numbers = [read_number(item) for item in items]
    is_invalid = np.array([number is None for number in numbers])
    if is_invalid.any():
        found = np.array(items, dtype=object)
        refuse_rows(found, is_invalid, f"`{name}` must be numeric", hint_at_numbers(found[is_invalid]))
    return np.array(numbers, dtype=np.float64)


def read_number(item: Any) -> float | None:
    """Return the value of a number or of its text, NaN if missing, None if it is not a number."""
    if item is None or (isinstance(item, str) and item.strip() in MISSING_WORDS):
        return np.nan
    if isinstance(item, str) and not _NUMBER.fullmatch(item.strip()):
        return None
    try:
        return float(item)
    except OverflowError:
        return np.inf if item > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def label_texts(column: RawColumn, name: str) -> NDArray[Any]:
    """Return labels as text, None for missing."""
    codes, texts = _factorize(column, name, ("",))
    return np.array([*texts, None], dtype=object)[codes]


def _factorize(column: RawColumn, name: str, missing: tuple[str, ...]) -> tuple[NDArray[np.intp], list[str]]:
    """Return each value's position among the distinct labels, -1 where missing, and these labels as text."""
    try:
        codes, values = column.factorize()
    except TypeError:
        refuse_nested(name, list(column.for_messages()))
    _check_lengths(codes, values, name)
    texts = [label_text(value) for value in values]
    labels = list(dict.fromkeys(text for text in texts if text not in missing))
    positions = {text: position for position, text in enumerate(labels)}
    return np.array([*(positions.get(text, -1) for text in texts), -1], dtype=np.intp)[codes], labels


def refuse_nested(name: str, items: Sequence[object]) -> NoReturn:
    """Refuse a column of lists or other values that are not labels."""
    row = next((row for row, item in enumerate(items) if not isinstance(item, Hashable)), 0)
    before = f"`{name}` must hold plain labels; got {items[row]!r}"
    raise InvalidRowsError.of(RowsRefused(before=before, rows=[row], count=1, after="."))


def _check_lengths(codes: NDArray[np.intp], values: Iterable[object], name: str) -> None:
    """Refuse the first row whose text is longer than a label may be."""
    lengths = np.array([text_length(value) for value in values], dtype=np.int64)
    if (lengths > LONGEST_TEXT).any():
        of_rows = np.append(lengths, 0)[codes]  # the last is for missing values
        row = int((of_rows > LONGEST_TEXT).argmax())
        refuse_long_text(name, int(of_rows[row]), row)


def text_length(value: object) -> int:
    """Return the characters of a text, or about the digits of a whole number; 0 for other values."""
    if isinstance(value, int):
        return value.bit_length() // 3  # converting it to text could take very long
    return len(value) if isinstance(value, (str, bytes)) else 0


def dates(column: RawColumn, name: str) -> NDArray[np.datetime64]:
    """Return dates and times, in UTC where a zone is given, NaT for missing."""
    dates, is_bad = column.dates()
    if is_bad.any():
        found = column.for_messages()
        refuse_rows(found, is_bad, f"`{name}` {DATE_RULE}", hint_at_dates(found[is_bad]))
    return dates
