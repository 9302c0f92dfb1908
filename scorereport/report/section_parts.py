"""Parts of a section: tables, figures and facts, as plain dictionaries for templates.

A part has a key; it gets its number once all sections are known.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scorereport.evaluation.notes import CLUSTERS_INDEPENDENT_IN_TIME, find_time_note
from scorereport.report.planned_figures import FigureOrder, PlannedFigure, draw_figures
from scorereport.report.tables.table import describe_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.figure import Figure

    from scorereport.report.planned_figures import DrawnFigure
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation

    Part = dict[str, Any]


#: The beginning of the address of a figure, which contains its SVG in base64.
SVG_ADDRESS = "data:image/svg+xml;base64,"
#: Width in millimetres up to which a figure leaves room for its caption beside it, on paper.
_WIDEST_BESIDE_A_CAPTION = 124.0


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
    if table is None:
        return None
    return {"kind": "table", "table": table, **describe_table(table), "detail": detail}


def describe_time_note(evaluation: Evaluation) -> str:
    """Return the note for tables whose intervals do not allow for dependence in time; empty without times."""
    note = find_time_note(evaluation.notes)
    units = "clusters" if note == CLUSTERS_INDEPENDENT_IN_TIME else "rows"
    return f"(intervals and tests assume {units} that are independent in time)" if note else ""


def figure_part(plot: Callable[..., Figure], alt: str, *data: Any, caption: str, **options: Any) -> Part:
    """Plan a figure; the caption describes what it shows, the alternative text its content in words.

    `draw_parts` draws the figures of all parts together.
    """
    planned = PlannedFigure(plot=plot, data=data, options=options)
    return {"kind": "figure", "planned": planned, "alt": alt, "caption": caption}


def draw_parts(parts: Iterable[Part]) -> None:
    """Draw the planned figures among the parts: each gets its address and its size in millimetres."""
    planned = [part for part in parts if "planned" in part]
    drawn = draw_figures([part.pop("planned") for part in planned])
    for part, figure in zip(planned, drawn, strict=True):
        part.update(_describe_drawn(figure))


def _describe_drawn(figure: DrawnFigure) -> dict[str, str]:
    return {
        "src": f"{SVG_ADDRESS}{b64encode(figure.svg.encode()).decode()}",
        "width": f"{figure.width:.0f}",
        "height": f"{figure.height:.0f}",
        "layout": "beside" if figure.width <= _WIDEST_BESIDE_A_CAPTION else "above",
    }


#: A mark in a page stands for a value of a figure that is not drawn yet: number of the figure, and key.
_MARK = "9f1c6d0e2b7a4853"
_DRAWN = ("src", "width", "height", "layout")
_MARKS = re.compile(rf"{_MARK}(\d+)({'|'.join(_DRAWN)})")


class MarkedFigures:
    """Figures that are drawn while the page is rendered, with marks in place of their addresses and sizes."""

    def __init__(self, parts: Iterable[Part]) -> None:
        planned = [part for part in parts if "planned" in part]
        self._order = FigureOrder([part.pop("planned") for part in planned])
        for number, part in enumerate(planned):
            part |= {key: f"{_MARK}{number}{key}" for key in _DRAWN}
            part["src"] = SVG_ADDRESS + part["src"]

    def fill(self, page: str) -> str:
        """Replace the marks in a page; waits until the figures are drawn."""
        return _MARKS.sub(lambda mark: self._values[int(mark[1])][mark[2]], page)

    @cached_property
    def _values(self) -> list[dict[str, str]]:
        described = [_describe_drawn(figure) for figure in self._order.collect()]
        return [values | {"src": values["src"].removeprefix(SVG_ADDRESS)} for values in described]


def label_facts(facts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return facts as labels and texts, without those that have no text."""
    return [{"label": label, "text": text} for label, text in facts.items() if text]


def split_paragraphs(text: str) -> list[str]:
    """Split a text into paragraphs at empty lines."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def join_software(software: Mapping[str, str]) -> str:
    """Return names and versions in one line."""
    return ", ".join(f"{name} {version}" for name, version in software.items())
