"""Parts of a section: tables, figures and facts, as plain dictionaries for templates.

A part has a key; it gets its number once all sections are known.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scorereport.evaluation.notes import CLUSTERS_INDEPENDENT_IN_TIME, find_time_note
from scorereport.report.tables.table import describe_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation

    Part = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class SectionContent:
    """What a section shows: parts by key, and other values for its template.

    `at_end` are the keys of parts that are placed after all that the template of the section places.
    """

    parts: Mapping[str, Part] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    at_end: tuple[str, ...] = ()


def collect_parts(**parts: Part | None) -> dict[str, Part]:
    """Return the parts that are not None, in the order of their numbers."""
    return {key: part for key, part in parts.items() if part is not None}


def table_part(table: Table | None, detail: str = "") -> Part | None:
    """Return a table as a part, with a detail after its caption; None without a table."""
    return None if table is None else {"kind": "table", **describe_table(table), "detail": detail}


def describe_time_note(evaluation: Evaluation) -> str:
    """Return the note for tables whose intervals do not allow for dependence in time; empty without times."""
    note = find_time_note(evaluation.notes)
    units = "clusters" if note == CLUSTERS_INDEPENDENT_IN_TIME else "rows"
    return f"(intervals and tests assume {units} that are independent in time)" if note else ""


def figure_part(plot: Callable[..., Figure], alt: str, *data: Any, caption: str, **options: Any) -> Part:
    """Draw a figure; the caption describes what it shows, the alternative text its content in words."""
    from scorereport.plots.canvas import render_svg

    drawn = plot(*data, **options)
    width, height = drawn.get_size_inches()
    return {
        "kind": "figure",
        "src": f"data:image/svg+xml;base64,{b64encode(render_svg(drawn).encode()).decode()}",
        "alt": alt,
        "caption": caption,
        "width": f"{25.4 * width:.0f}",
        "height": f"{25.4 * height:.0f}",
    }


def label_facts(facts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return facts as labels and texts, without those that have no text."""
    return [{"label": label, "text": text} for label, text in facts.items() if text]


def split_paragraphs(text: str) -> list[str]:
    """Split a text into paragraphs at empty lines."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def join_software(software: Mapping[str, str]) -> str:
    """Return names and versions in one line."""
    return ", ".join(f"{name} {version}" for name, version in software.items())
