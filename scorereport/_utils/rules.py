"""Rules for the values of arguments: each checks a value, reads it from text, and describes itself as schema.

A rule is the same for Python, the command line and configurations: the same value is accepted by all of them,
or refused by all with the same sentence. Nothing slow is imported here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, Protocol

from scorereport._utils.formatting import explain_percent, format_plain, shortest
from scorereport.errors import UsageError

_LONGEST_SHOWN = 60
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.IGNORECASE | re.ASCII)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: The smallest memory limit in bytes: DuckDB cannot sort with less.
LEAST_MEMORY = 100_000_000


class Shape(StrEnum):
    """How the command line takes a value."""

    ONE = "one value"
    PAIR = "two values"
    REPEATED = "the option is repeated"
    LIST = "values separated by commas"
    FLAG = "the option has no value"
    FILE = "a file that holds the values"


class Rule(Protocol):
    """What the value of an argument must be."""

    @property
    def shape(self) -> Shape:
        """How the command line takes the value."""

    @property
    def metavar(self) -> str:
        """What `--help` shows in place of the value."""

    def check(self, value: Any, name: str) -> Any:
        """Return the value in its plain form; raise a `UsageError` with the name if it breaks the rule."""

    def read(self, text: str) -> Any:
        """Read one value as written on the command line; text that cannot be read is for `check`."""

    def schema(self) -> dict[str, Any]:
        """The rule as JSON Schema, as far as it can say it."""


def show_value(value: object) -> str:
    """A value as Python writes it, cut if it is long; an array as a list.

    >>> show_value((0.5, 0.2)), show_value({"a": 1})
    ('[0.5, 0.2]', 'a table')
    """
    if isinstance(value, Mapping):
        return "a table"
    plain = value.tolist() if hasattr(value, "tolist") else value
    text = repr(list(plain) if isinstance(plain, tuple) else plain)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} ..."


def check_result(value: object, name: str, kind: type, maker: str) -> None:
    """Refuse anything but a result of a function of this package, such as an evaluation."""
    if not isinstance(value, kind):
        raise UsageError(f"`{name}` must be the result of `{maker}`; got {_name_type(value)}.")


def _name_type(value: object) -> str:
    return show_value(value) if isinstance(value, (str, Real)) else f"a {type(value).__name__}"


def read_number(text: str) -> Any:
    """Read a number; any other text is returned as it is.

    >>> [read_number(text) for text in ("12", "-0.5", "1e3", "nan", "1_000", "many")]
    [12, -0.5, 1000.0, nan, '1_000', 'many']
    """
    if _WHOLE.fullmatch(text.strip()):
        return int(text) if len(text) < 400 else math.inf  # Python refuses to read very long numbers
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text


def is_number(value: object) -> bool:
    """Whether this is a number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def list_items(value: object) -> list[Any] | None:
    """The items of a list, tuple or array; None for anything else, text and tables included."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return None
    plain = value.tolist() if hasattr(value, "tolist") else value
    return list(plain) if isinstance(plain, Iterable) else None  # an array without dimensions is a number


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """A rule whose value is text on the command line and in a configuration."""

    shape: Shape = Shape.ONE
    metavar: str = "TEXT"

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Text that is not empty."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberIn:
    """A number in an interval that is closed at "neither" end, or only "left"."""

    lower: float
    upper: float
    closed: str = "neither"
    shape: Shape = Shape.ONE
    metavar: str = "NUMBER"

    def check(self, value: Any, name: str) -> float:
        """Return the number as float."""
        if not is_number(value):
            raise UsageError(f"`{name}` must be a number; got {show_value(value)}.")
        if not self.holds(value):
            hint = explain_percent(float(value), self.upper)
            raise UsageError(f"`{name}` must lie in {self.interval}; got {shortest(float(value))}.{hint}")
        return float(value)

    def holds(self, value: Any) -> bool:
        """Whether a number lies in the interval."""
        return (value >= self.lower if self.closed == "left" else value > self.lower) and value < self.upper

    @property
    def interval(self) -> str:
        """The interval in mathematical notation."""
        return (
            f"{'[' if self.closed == 'left' else '('}{format_plain(self.lower)}, {format_plain(self.upper)})"
        )

    def read(self, text: str) -> Any:
        """Read a number."""
        return read_number(text)

    def schema(self) -> dict[str, Any]:
        """A number with bounds."""
        lowest = "minimum" if self.closed == "left" else "exclusiveMinimum"
        return {"type": "number", lowest: self.lower, "exclusiveMaximum": self.upper}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number that is not below the smallest."""

    smallest: int
    shape: Shape = Shape.ONE
    metavar: str = "INTEGER"

    def check(self, value: Any, name: str) -> int:
        """Return the number as int."""
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.smallest:
            raise UsageError(
                f"`{name}` must be a whole number of at least {self.smallest}; got {show_value(value)}."
            )
        return int(value)

    def read(self, text: str) -> Any:
        """Read a number."""
        return read_number(text)

    def schema(self) -> dict[str, Any]:
        """A whole number with its smallest value."""
        return {"type": "integer", "minimum": self.smallest}


@dataclass(frozen=True, slots=True)
class OneOf(TextRule):
    """One of a few words."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "metavar", "|".join(self.words))

    def check(self, value: Any, name: str) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            known = ", ".join(f'"{word}"' for word in self.words)
            raise UsageError(f"`{name}` must be one of {known}; got {show_value(value)}.")
        return value

    def schema(self) -> dict[str, Any]:
        """The words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    shape: Shape = Shape.FLAG
    metavar: str = ""

    def check(self, value: Any, name: str) -> bool:
        """Return the value as bool."""
        if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
            raise UsageError(f"`{name}` must be true or false; got {show_value(value)}.")
        return bool(value)

    def read(self, text: str) -> Any:
        """Return the text; the command line has no values of flags."""
        return text

    def schema(self) -> dict[str, Any]:
        """True or false."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size(TextRule):
    """An amount of memory, such as 1GB."""

    metavar: str = "SIZE"

    def check(self, value: Any, name: str) -> str:
        """Return the text."""
        self.count_bytes(value, name)
        return str(value)

    def count_bytes(self, value: Any, name: str) -> int:
        """Return the number of bytes.

        >>> Size().count_bytes("1GB", "memory_limit"), Size().count_bytes("512 MiB", "memory_limit")
        (1000000000, 536870912)
        """
        found = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise UsageError(f'`{name}` must be a size such as "1GB" or "512MB"; got {show_value(value)}.')
        unit = found[2].lower()
        size = float(found[1]) * (1024 if unit.endswith("ib") else 1000) ** _POWERS[unit[0]]
        if size < LEAST_MEMORY:
            raise UsageError(f'`{name}` must be at least "100MB"; got {show_value(value)}.')
        if math.isinf(size):
            raise UsageError(f"`{name}` must be a size that a machine can have; got {show_value(value)}.")
        return int(size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(TextRule):
    """The path of a folder; whether it exists is checked when it is used."""

    metavar: str = "FOLDER"

    def check(self, value: Any, name: str) -> str:
        """Return the path as text."""
        path = fspath(value) if isinstance(value, PathLike) else value
        if not isinstance(path, str) or not path:
            raise UsageError(f"`{name}` must be the path of a folder; got {show_value(value)}.")
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOrPath(TextRule):
    """A table in memory, or the path of one."""

    metavar: str = "FILE"

    def check(self, value: Any, name: str) -> Any:
        """Return a table as it is, and a path as text."""
        if isinstance(value, Mapping) or hasattr(value, "columns"):
            return value
        path = fspath(value) if isinstance(value, PathLike) else value
        if not isinstance(path, str) or not path:
            raise UsageError(f"`{name}` must be a table or the path of one; got {show_value(value)}.")
        return path
