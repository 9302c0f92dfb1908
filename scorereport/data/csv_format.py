"""How a CSV file is written: its separator, decimal sign and encoding, as a caller may give them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

UTF_8 = "utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFormat:
    """The separator (empty: found in the header), the decimal sign and the encoding of a CSV file."""

    separator: str = ""
    decimal: str = "."
    encoding: str = UTF_8

    @classmethod
    def of(cls, columns: Mapping[str, object]) -> Self:
        """The format that the arguments of a reader give."""
        given = {field.name: columns.get(field.name) for field in fields(cls)}
        return cls(**{name: str(value) for name, value in given.items() if value is not None})

    @property
    def given(self) -> list[str]:
        """The names of the arguments that differ from the defaults."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]


#: The names of the arguments.
FORMAT_ARGUMENTS = tuple(field.name for field in fields(CsvFormat))
