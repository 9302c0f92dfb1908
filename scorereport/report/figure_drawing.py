"""Figures as drawing operators of a PDF, from the small part of SVG that figures use.

WeasyPrint draws SVG in Python, glyph by glyph, which takes longer than setting the text of a report. Figures
consist of paths, of glyphs and markers that are defined once, and of rectangles that clip; these translate
to PDF almost word by word. A glyph becomes one object of the PDF, whatever the number of its uses. A picture
with anything else is left to WeasyPrint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from scorereport.plots.canvas import BREAKS
from scorereport.report.svg_geometry import (
    IDENTITY,
    NUMBER,
    Matrix,
    OtherSvgError,
    format_matrix,
    format_plain_number,
    match_all,
    multiply,
    read_length,
    read_numbers,
    read_transform,
    translate_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Operators = list["bytes | _Glyph | _Opacity"]

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_COLOUR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")
_REFERENCE = re.compile(r"url\(#([^()]*)\)")
_CAPS = {"butt": "0", "round": "1", "square": "2"}
_JOINS = {"miter": "0", "round": "1", "bevel": "2"}
#: The rule for all elements with which every figure begins, and the values of SVG for all others.
_COMMON_RULE = "*{stroke-linejoin: round; stroke-linecap: butt}"
_INITIAL = {
    "fill": "#000000",
    "stroke": "none",
    "stroke-width": "1",
    "stroke-linecap": "butt",
    "stroke-linejoin": "round",
    "stroke-miterlimit": "4",
    "stroke-dasharray": "none",
    "stroke-dashoffset": "0",
    "fill-opacity": "1",
    "stroke-opacity": "1",
}
#: Attributes by element; `opacity` is not inherited, and applies to an element as a whole.
_ATTRIBUTES = {
    "svg": {"width", "height", "viewBox", "version", BREAKS},
    "g": {"id", "style", "transform", "clip-path"},
    "path": {"id", "d", "style", "transform", "clip-path"},
    "use": {_HREF, "x", "y", "style", "transform"},
    "defs": set[str](),
    "style": {"type"},
    "clipPath": {"id"},
    "rect": {"x", "y", "width", "height"},
}

#: Operators that save and restore the state of the page.
_SAVE, _RESTORE = b"q", b"Q"


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A filled outline, in the coordinates of its form."""

    path: bytes
    matrix: Matrix
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Opacity:
    """The opacity of what follows."""

    value: float
    is_stroke: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FigureDrawing:
    """A figure that draws itself on a page of WeasyPrint, in place of an image.

    `glyphs` has the names of the glyphs in the document; the figures of a document share it. `view` is the
    size of what is shown, and `top` what is left out above it; at `breaks`, pages may divide the figure.
    """

    width: float
    height: float
    view: tuple[float, float]
    operators: Operators = field(repr=False)
    glyphs: dict[_Glyph, str] = field(repr=False)
    top: float = 0.0
    breaks: tuple[float, ...] = ()

    def divide(self) -> list[FigureDrawing]:
        """Return the rows of the figure, each as a figure; the figure alone if it has no breaks."""
        unit = self.height / self.view[1]
        return [
            replace(self, top=top, view=(self.view[0], end - top), height=unit * (end - top), breaks=())
            for top, end in pairwise((0.0, *self.breaks, self.view[1]))
        ]

    def get_intrinsic_size(self, _resolution: float, _font_size: float) -> tuple[float, float, float]:
        """Return width and height in CSS pixels, and their ratio."""
        return self.width, self.height, self.width / self.height

    def draw(self, stream: Any, width: float, height: float, _style: Any) -> None:
        """Draw the figure, centred in a rectangle of a page; nothing is drawn outside of it."""
        scale = min(width / self.view[0], height / self.view[1])
        left, top = (width - scale * self.view[0]) / 2, (height - scale * self.view[1]) / 2
        stream.transform(scale, 0, 0, scale, left, top)
        stream.stream.append(
            f"0 0 {format_plain_number(self.view[0])} {format_plain_number(self.view[1])} re W n".encode()
        )
        if self.top:
            stream.transform(1, 0, 0, 1, 0, -self.top)
        for operator in self.operators:
            if operator is _SAVE:
                stream.push_state()
            elif operator is _RESTORE:
                stream.pop_state()  # the stream notes that colours and opacity are those of before
            elif isinstance(operator, bytes):
                stream.stream.append(operator)
            elif isinstance(operator, _Opacity):
                stream.set_alpha(operator.value, stroke=operator.is_stroke)
            else:
                stream.draw_x_object(self._find_glyph(stream, operator))

    def _find_glyph(self, stream: Any, glyph: _Glyph) -> str:
        """Return the name of a glyph, which becomes an object of the document when it is first used."""
        if glyph not in self.glyphs:
            left, bottom, right, top = glyph.box
            group = stream.add_group(left, bottom, right - left, top - bottom)
            del group.extra["Group"]  # an outline in one colour needs no transparency of its own
            group.extra["Matrix"] = type(group.extra["BBox"])(glyph.matrix)
            group.stream.append(glyph.path + b"f")
            self.glyphs[glyph] = group.id
        return self.glyphs[glyph]


def read_drawing(svg: bytes, glyphs: dict[_Glyph, str]) -> FigureDrawing | None:
    """Read a figure from its SVG; None if it has something that only a full renderer of SVG can draw."""
    try:
        root = ElementTree.fromstring(svg)
        _check_element(root, "svg")
        left, top, *view = map(float, root.get("viewBox", "").split())
        if (left, top) != (0, 0) or len(view) != 2 or min(view) <= 0:
            return None
        sizes = [read_length(root.get(name, "")) for name in ("width", "height")]
        breaks = tuple(map(float, root.get(BREAKS, "").split()))
        operators = [part for part in _Reader(root).draw_children(root, _INITIAL) if part != b""]
    except (ElementTree.ParseError, ValueError, KeyError):
        return None
    return FigureDrawing(
        width=sizes[0],
        height=sizes[1],
        view=(view[0], view[1]),
        operators=operators,
        glyphs=glyphs,
        breaks=breaks,
    )


class _Reader:
    """Reads the elements of one figure."""

    def __init__(self, root: ElementTree.Element) -> None:
        self._defined = {found: node for node in root.iter() if (found := node.get("id"))}
        self._clips = {node.get("id", ""): _read_clip(node) for node in root.iter(f"{_SVG}clipPath")}

    def draw_children(
        self, parent: ElementTree.Element, inherited: Mapping[str, str]
    ) -> Iterator[bytes | _Glyph | _Opacity]:
        """Yield the operators that draw the children of an element."""
        for node in parent:
            match _check_element(node):
                case "g":
                    yield from self._draw_group(node, inherited)
                case "path":
                    yield from self._draw_path(node, _inherit(node, inherited))
                case "use":
                    yield from self._draw_use(node, inherited)
                case "defs":
                    _check_definitions(node)
                case other:
                    raise OtherSvgError(other)

    def _draw_group(
        self, node: ElementTree.Element, inherited: Mapping[str, str]
    ) -> Iterator[bytes | _Glyph | _Opacity]:
        style, matrix = _inherit(node, inherited), read_transform(node)
        if "opacity" in style:
            raise OtherSvgError("the opacity of a group")
        is_separate = matrix != IDENTITY or style is not inherited or "clip-path" in node.attrib
        if is_separate:
            yield _SAVE
            yield self._clip(node, is_moved=matrix != IDENTITY)
            yield format_matrix(matrix)
            yield _set_fill(style["fill"])  # of the glyphs, which take the colour of their group
        yield from self.draw_children(node, style)
        if is_separate:
            yield _RESTORE

    def _draw_use(
        self, node: ElementTree.Element, inherited: Mapping[str, str]
    ) -> Iterator[bytes | _Glyph | _Opacity]:
        used = self._defined[node.get(_HREF, "").removeprefix("#")]
        if _check_element(used) != "path":
            raise OtherSvgError("a use of another element than a path")
        x, y = float(node.get("x", 0)), float(node.get("y", 0))
        matrix = multiply((1.0, 0.0, 0.0, 1.0, x, y), read_transform(node))
        style = _inherit(node, inherited)
        yield _SAVE
        yield format_matrix(matrix)
        if used.get("style") is None and style is inherited and style["stroke"] == "none":
            yield _read_glyph(used.get("d", ""), read_transform(used))
        else:
            yield from self._draw_path(used, _inherit(used, style))
        yield _RESTORE

    def _draw_path(
        self, node: ElementTree.Element, style: Mapping[str, str]
    ) -> Iterator[bytes | _Glyph | _Opacity]:
        paints = [name for name in ("fill", "stroke") if style[name] != "none"]
        if not paints or not node.get("d"):
            return
        if "opacity" in style and len(paints) > 1:
            raise OtherSvgError("an opacity of fill and stroke together")
        yield _SAVE
        matrix = read_transform(node)
        yield self._clip(node, is_moved=matrix != IDENTITY)
        yield format_matrix(matrix)
        for name in paints:
            yield from _set_paint(name, style)
        path = translate_path(node.get("d", ""))
        yield path + {"fill": b"f", "stroke": b"S", "fill stroke": b"B"}[" ".join(paints)]
        yield _RESTORE

    def _clip(self, node: ElementTree.Element, *, is_moved: bool) -> bytes:
        """Return the operators of the `clip-path` of an element; nothing if it has none."""
        clip = node.get("clip-path")
        if clip is None:
            return b""
        if is_moved:
            raise OtherSvgError("something that is moved and clipped")
        return self._clips[match_all(_REFERENCE, clip)[1]]


def _check_element(node: ElementTree.Element, expected: str = "") -> str:
    """Return the name of an element; refuse one with attributes that figures do not have."""
    name = node.tag.removeprefix(_SVG)
    if (expected and name != expected) or not _ATTRIBUTES[name].issuperset(node.attrib):
        raise OtherSvgError(name)
    return name


def _check_definitions(node: ElementTree.Element) -> None:
    for child in node:
        name = _check_element(child)
        if name == "style" and child.text != _COMMON_RULE:
            raise OtherSvgError("a style sheet")
        if name not in ("style", "path", "clipPath"):
            raise OtherSvgError(name)


def _read_clip(node: ElementTree.Element) -> bytes:
    """Return the operators that clip to a rectangle or a path."""
    (shape,) = node
    if _check_element(shape) == "rect":
        sides = " ".join(
            format_plain_number(float(shape.get(name, 0))) for name in ("x", "y", "width", "height")
        )
        return f"{sides} re W n".encode()
    if shape.get("transform") or not shape.get("d"):
        raise OtherSvgError("a clip that is moved")
    return translate_path(shape.get("d", "")) + b"W n"


# ---- Styles ----


def _inherit(node: ElementTree.Element, inherited: Mapping[str, str]) -> Mapping[str, str]:
    """Return the style of an element: its own, and what it inherits."""
    text = node.get("style")
    if not text:
        return inherited
    pairs = (declaration.partition(":") for declaration in text.split(";") if declaration.strip())
    own = {name.strip(): value.strip() for name, _, value in pairs}
    if not (_INITIAL.keys() | {"opacity"}).issuperset(own):
        raise OtherSvgError(text)
    return {**inherited, **own}


def _set_paint(name: str, style: Mapping[str, str]) -> Iterator[bytes | _Opacity]:
    """Yield the operators that set the colour, the opacity and the line of a fill or a stroke."""
    opacity = float(style[f"{name}-opacity"]) * float(style.get("opacity", 1))
    if opacity != 1:
        yield _Opacity(opacity, name == "stroke")
    if name == "fill":
        yield _set_fill(style["fill"])
        return
    dashes = style["stroke-dasharray"]
    lengths = "" if dashes == "none" else " ".join(read_numbers(dashes))
    offset, width, limit = (
        match_all(NUMBER, style[f"stroke-{key}"])[0] for key in ("dashoffset", "width", "miterlimit")
    )
    yield (
        f"{_read_colour(style['stroke'])} RG {width} w {_CAPS[style['stroke-linecap']]} J "
        f"{_JOINS[style['stroke-linejoin']]} j {limit} M [{lengths}] {offset} d"
    ).encode()


def _set_fill(colour: str) -> bytes:
    return b"" if colour == "none" else f"{_read_colour(colour)} rg".encode()


@lru_cache(maxsize=256)
def _read_colour(text: str) -> str:
    return " ".join(format_plain_number(int(part, 16) / 255) for part in match_all(_COLOUR, text).groups())


# ---- Glyphs ----


@lru_cache(maxsize=2048)
def _read_glyph(path: str, matrix: Matrix) -> _Glyph:
    numbers = list(map(float, NUMBER.findall(path)))
    x, y = numbers[::2] or [0.0], numbers[1::2] or [0.0]
    return _Glyph(translate_path(path), matrix, (min(x), min(y), max(x), max(y)))
