"""What a study consists of: sections of comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from scorereport import document
from scorereport.comparison import Comparison

VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Comparisons of one kind, with a few sentences on how they were made."""

    key: str
    title: str
    text: str
    comparisons: tuple[Comparison, ...]

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons that somebody must look at."""
        return tuple(line for line in self.comparisons if line.is_unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All sections of a study: installation, operation, performance."""

    version: Literal[1] = VERSION
    time: str
    seed: int
    cases: int
    software: dict[str, str]
    sections: tuple[Section, ...]

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons of all sections that somebody must look at."""
        return tuple(line for section in self.sections for line in section.unexpected)

    @property
    def passed(self) -> bool:
        """Whether nothing unexpected was found."""
        return not self.unexpected

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of studies; `scorereport/schemas` holds it as a file."""
        return document.json_schema(cls, f"scorereport study, version {VERSION}")
