"""The figures of a page that is rendered as a PDF: taken out of it, and divided into their rows of panels."""

from __future__ import annotations

import re
from base64 import b64decode
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

from scorereport.report.figure_drawing import read_drawing
from scorereport.report.section_parts import SVG_ADDRESS

if TYPE_CHECKING:
    from scorereport.report.figure_drawing import FigureDrawing

#: Figures, whose addresses contain their SVG.
_SVG_IMAGE = re.compile(rf'<img\b[^>]*? src="({re.escape(SVG_ADDRESS)}([A-Za-z0-9+/=]+))"[^>]*>')
_ALTERNATIVE, _STYLE = re.compile(r'(?<= alt=")[^"]*'), re.compile(r'(?<= style=")[^"]*')


def take_out_figures(html: str) -> tuple[str, dict[str, Any]]:
    """Return a page with short addresses of its figures, and the figures by these addresses.

    WeasyPrint looks an image up among those it has read before; a figure that it finds there it neither
    decodes nor draws with its own renderer of SVG. Each row of a figure that may be divided between pages
    becomes an image of its own.
    """
    glyphs: dict[Any, str] = {}
    drawings: dict[str, Any] = {}

    def take_out(image: re.Match[str]) -> str:
        drawing = read_drawing(b64decode(image[2]), glyphs)
        if drawing is None:
            return image[0]
        rows = drawing.divide()
        names = [f"figure:{len(drawings) + place}" for place in range(1, len(rows) + 1)]
        drawings.update(zip(names, rows, strict=True))
        short = [image[0].replace(image[1], name) for name in names]
        return (
            short[0]
            if len(rows) == 1
            else "\n".join(map(_describe_row, short, rows, count(1), repeat(len(rows))))
        )

    return _SVG_IMAGE.sub(take_out, html), drawings


def _describe_row(image: str, row: FigureDrawing, place: int, rows: int) -> str:
    """Return the image of a row of a figure with its own shape; the first one has the alternative text."""
    shape = f"; aspect-ratio: {row.width} / {row.height}"
    sized = _STYLE.sub(lambda style: style[0] + shape, image)
    text = f"Row {place} of {rows} of the figure that is described before."
    return sized if place == 1 else _ALTERNATIVE.sub(text, sized)
