"""Ink on the pages of a PDF: how much of a page is empty, and what leaves the margins.

Pages are rendered at a low resolution. The text area is that of `templates/paper.css`: between the running
head and the page number, and between the left and the right margin.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pypdfium2

from scorereport._utils.files import find_package_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Share of the text area that may be empty, and that may be empty before a new chapter.
MOST_EMPTY, MOST_EMPTY_BEFORE_A_CHAPTER = 1 / 3, 2 / 3
#: White bands that are lower, in millimetres, are gaps between lines, blocks and headings.
GAP = 14.0
#: Darkness, of 255, from which a pixel is ink; and how far ink may reach into a margin, in millimetres.
_INK, _SLACK = 8, 0.8
_PIXELS_PER_MM = 4.0
_POINT = 25.4 / 72


@dataclass(frozen=True, kw_only=True)
class Margins:
    """Margins of a page in millimetres."""

    top: float
    side: float
    bottom: float


@dataclass(frozen=True, kw_only=True)
class Page:
    """What is seen on a page: white bands as (start, height) in millimetres, and ink in the margins.

    `chapter_at_top` states whether a chapter begins at the top of the page.
    """

    number: int
    height: float
    bands: tuple[tuple[float, float], ...]
    outside: tuple[float, float]
    chapter_at_top: bool

    @property
    def emptiness(self) -> float:
        """The share of the text area that is white, without the gaps between lines and blocks."""
        return sum(height for _, height in self.bands) / self.height


def read_margins() -> Margins:
    """The margins that the style sheet sets."""
    sheet = (find_package_folder("templates") / "paper.css").read_text(encoding="utf-8")
    top, side, bottom = re.search(r"margin: (\d+)mm (\d+)mm (\d+)mm;", sheet).groups()
    return Margins(top=float(top), side=float(side), bottom=float(bottom))


def measure_pages(content: bytes) -> list[Page]:
    """Measure the ink of every page."""
    margins = read_margins()
    with closing(pypdfium2.PdfDocument(content)) as document:
        tops = _find_chapter_tops(document, margins)
        return [
            _measure(page, number, margins, chapter_at_top=number in tops)
            for number, page in enumerate(document, start=1)
        ]


def _measure(page: pypdfium2.PdfPage, number: int, margins: Margins, *, chapter_at_top: bool) -> Page:
    picture = page.render(scale=_PIXELS_PER_MM * _POINT, grayscale=True, may_draw_forms=False).to_numpy()
    is_ink = picture.reshape(picture.shape[0], picture.shape[1]) < 255 - _INK
    height, width = (length * _POINT for length in (page.get_height(), page.get_width()))
    down = np.flatnonzero(is_ink.any(axis=0)) / _PIXELS_PER_MM
    left = margins.side - down.min(initial=margins.side)
    right = down.max(initial=0.0) + 1 / _PIXELS_PER_MM - (width - margins.side)
    return Page(
        number=number,
        height=height - margins.top - margins.bottom,
        bands=tuple(_find_bands(is_ink, margins, height)),
        outside=(max(left - _SLACK, 0.0), max(right - _SLACK, 0.0)),
        chapter_at_top=chapter_at_top,
    )


def _find_bands(is_ink: np.ndarray, margins: Margins, height: float) -> list[tuple[float, float]]:
    """The white bands of the text area that are higher than a gap."""
    first, last = (round(at * _PIXELS_PER_MM) for at in (margins.top, height - margins.bottom))
    rows = np.flatnonzero(is_ink[first:last].any(axis=1))
    edges = np.concatenate([[-1], rows, [last - first]])
    gaps = np.diff(edges) - 1
    bands = zip(edges[:-1] + 1, gaps, strict=True)
    return [
        (margins.top + start / _PIXELS_PER_MM, length / _PIXELS_PER_MM)
        for start, length in bands
        if length / _PIXELS_PER_MM > GAP
    ]


def _find_chapter_tops(document: pypdfium2.PdfDocument, margins: Margins) -> set[int]:
    """The pages that begin with a chapter, by the bookmarks of the document."""
    found = set()
    for mark in document.get_toc():
        if mark.level != 1:
            continue
        target = mark.get_dest()
        _, place = target.get_view()
        number = target.get_index()
        from_top = (document[number].get_height() - place[1]) * _POINT if len(place) > 1 else np.inf
        if from_top < margins.top + GAP:
            found.add(number + 1)
    return found


def find_holes(pages: Sequence[Page]) -> dict[int, float]:
    """The pages that are too empty, with their emptiness; the cover and the last page may be empty.

    A page before one that begins with a chapter may be emptier than others, but not nearly empty.
    """
    found = {}
    for page, following in pairwise(pages[1:]):
        most = MOST_EMPTY_BEFORE_A_CHAPTER if following.chapter_at_top else MOST_EMPTY
        if page.emptiness > most:
            found[page.number] = round(page.emptiness, 3)
    return found


def find_ink_outside(pages: Sequence[Page]) -> dict[int, tuple[float, float]]:
    """The pages with ink in the left or the right margin, with how far it reaches, in millimetres."""
    return {page.number: page.outside for page in pages if any(page.outside)}
