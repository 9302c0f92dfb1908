"""What a study consists of: sections of comparisons, and figures with all that is drawn in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from scorereport._utils import json_documents
from scorereport.reference.comparison_records import Comparison

STUDY_VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySeries:
    """A line, marks or bubbles of a panel.

    Series of one `colour`, a number from 0, belong together; None is ink. Of several lines of one colour the
    first is broad and pale, so that the next ones show on it. A line without a label only guides the eye.
    Bubbles have areas in proportion to `size`.
    """

    label: str
    kind: Literal["line", "marks", "bubbles"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    size: tuple[float, ...] | None = None
    colour: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPanel:
    """One diagram; its `note` has the numbers that matter."""

    title: str
    note: str = ""
    x_label: str
    y_label: str
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    series: tuple[StudySeries, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFigure:
    """Panels that are seen together; the `subject` is that of the comparisons they illustrate."""

    key: str
    subject: str
    title: str
    caption: str
    panels: tuple[StudyPanel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySection:
    """Comparisons of one kind, with a few sentences on how they were made, and figures."""

    key: str
    title: str
    text: str
    comparisons: tuple[Comparison, ...]
    figures: tuple[StudyFigure, ...] = ()

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons that somebody must look at."""
        return tuple(line for line in self.comparisons if line.is_unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All sections of a study: installation, operation, performance."""

    version: Literal[1] = STUDY_VERSION
    time: str
    seed: int
    cases: int
    software: dict[str, str]
    sections: tuple[StudySection, ...]

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
        return json_documents.json_schema(cls, f"scorereport study, version {STUDY_VERSION}")
