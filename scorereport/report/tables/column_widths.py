"""Widths of the columns of a table on paper, from the widths of its texts.

A renderer that has to find the widths itself sets every cell twice before it sets the table; with given
widths it sets every cell once. Screens do not use these widths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from scorereport.plots.fonts import measure_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Width of the text on a page of A4 in millimetres, as in paper.css.
_PAGE = 166.0
_POINT = 25.4 / 72
#: Room beyond the measured text: kerning and rounding.
_SLACK = 0.3
#: Size of a detail, such as an interval, relative to its number.
_DETAIL_SIZE = 0.88
#: Width of a detail beside its number in a roomy table, and of its column head, in ems of their own sizes.
_DETAIL_WIDTH, _DETAIL_HEAD_WIDTH = 11.5, 10.2
#: Least widths of labels that may be broken, of other texts, and of verdicts.
_LABEL, _TEXT, _VERDICT = 25.0, 20.0, 24.0
#: Kinds of cells that are never broken, and of columns that leave free width to the others.
_UNBROKEN = ("number", "gap")
_CONSTANT = (*_UNBROKEN, "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """Font size in points, space to the right of cells and least width of numbers, as in paper.css."""

    size: float = 8.5
    space: float = 2.5
    number: float = 17.0
    has_room: bool = False
    #: Greatest width of a word of a head that is not broken, in ems.
    longest_word: float = inf


_LOOKS = {
    "": _Look(),
    "roomy": _Look(number=21.0, has_room=True),
    "tight": _Look(size=8.0, space=2.0, number=14.0),
    "dense": _Look(size=7.25, space=1.5, number=10.0),
}
#: The looks, those that need less room later; and the last, with heads whose long words are broken.
_LOOKS_BY_WIDTH = ("roomy", "", "tight", "dense")
_BREAKING = replace(_LOOKS["dense"], longest_word=7.0)


@dataclass(frozen=True, slots=True)
class _Demand:
    """The least width of a column, the width at which no text is broken, and whether it takes more."""

    least: float
    natural: float
    grows: bool


def count_lines(text: str, width: float, size: float, *, bold: bool = False) -> int:
    """Return the lines of a text in a column of this width in millimetres, in a font of `size` points.

    >>> count_lines("Overfit-corrected MCB and DSC, with intervals", 40, 8, bold=True)
    2
    """
    available, used, lines = width / (size * _POINT), 0.0, 1
    for word in text.split():
        taken = measure_text(word, bold=bold)
        joined = used + measure_text(" ", bold=bold) + taken if used else taken
        lines, used = (lines + 1, taken) if joined > available and used else (lines, joined)
        lines, used = lines + int(used // available), used % available  # a longer word is broken
    return lines


def set_widths(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table for templates with a width for each head, in percent, and `measured` in its look.

    A table that is too wide for a page gets smaller type. If that does not suffice, long words of its heads
    are broken, and then its columns are divided over several tables; those after the first are in `further`.
    """
    words = [word for word in table["look"].split() if word not in _LOOKS]
    own = next((word for word in table["look"].split() if word in _LOOKS), "")
    for name in _LOOKS_BY_WIDTH[_LOOKS_BY_WIDTH.index(own) :]:
        widths = _share_out(_find_demands(table, _LOOKS[name]), _PAGE)
        if widths is not None:
            return _with_widths(table, _join_look(words, name), widths)
    return _divide(table, _join_look(words, "dense"))


def _join_look(words: Sequence[str], density: str) -> str:
    return " ".join(filter(None, [*words[:1], density, *words[1:]]))


def _with_widths(table: Mapping[str, Any], look: str, widths: Sequence[float]) -> dict[str, Any]:
    sized = [
        head | {"width": f"{100 * width / _PAGE:.2f}%"}
        for head, width in zip(table["heads"], widths, strict=True)
    ]
    return {**table, "look": f"{look} measured", "heads": sized}


def _find_demands(table: Mapping[str, Any], look: _Look) -> list[_Demand]:
    rows = [row["cells"] for body in table["bodies"] for row in body["rows"]]
    heads = table["heads"]
    return [
        _find_demand(head, [row[place] for row in rows], look, is_last=place == len(heads) - 1)
        for place, head in enumerate(heads)
    ]


def _divide(table: Mapping[str, Any], look: str) -> dict[str, Any]:
    """Divide the columns of a table over as many tables as needed; each begins with the columns of labels."""
    demands = _find_demands(table, _BREAKING)
    kinds = [head["kind"].split()[0] for head in table["heads"]]
    labels = list(range(next((place for place, kind in enumerate(kinds) if kind in _UNBROKEN), len(kinds))))
    parts, free = [list(labels)], _PAGE
    for place in range(len(labels), len(kinds)):
        if (
            demands[place].least > free - sum(demands[label].least for label in labels)
            and parts[-1] != labels
        ):
            parts.append(list(labels))
            free = _PAGE
        parts[-1].append(place)
        free -= demands[place].least
    first, *further = [_keep_columns(table, look, part, demands) for part in parts]
    return first | {"further": [_continue(part) for part in further]}


def _keep_columns(
    table: Mapping[str, Any], look: str, places: Sequence[int], demands: Sequence[_Demand]
) -> dict[str, Any]:
    """Return the columns at some places as a table; they share the page even if it is too narrow for them."""
    kept = [demands[place] for place in places]
    widths = _share_out(kept, max(_PAGE, sum(demand.least for demand in kept)))
    bodies = [
        body | {"rows": [row | {"cells": [row["cells"][place] for place in places]} for row in body["rows"]]}
        for body in table["bodies"]
    ]
    part = {**table, "heads": [table["heads"][place] for place in places], "bodies": bodies}
    return _with_widths(part, look, _scale(widths or [], _PAGE))


def _scale(widths: Sequence[float], total: float) -> list[float]:
    return [width * total / sum(widths) for width in widths]


def _continue(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return further columns of a table, without the notes that its first columns have."""
    bodies = [
        body | {"note": "", "rows": [row | {"aside": ""} for row in body["rows"]]} for body in part["bodies"]
    ]
    return {**part, "caption": "Further columns of this table", "detail": "", "bodies": bodies}


def _share_out(demands: Sequence[_Demand], available: float) -> list[float] | None:
    """Share the width of a page out among columns; None if their least widths do not fit.

    >>> _share_out([_Demand(20, 30, True), _Demand(20, 60, True), _Demand(10, 10, False)], 100)
    [30.0, 60.0, 10.0]
    >>> _share_out([_Demand(20, 30, True), _Demand(20, 60, True), _Demand(10, 10, False)], 75)
    [25.0, 40.0, 10.0]
    """
    least = sum(demand.least for demand in demands)
    natural = sum(demand.natural for demand in demands)
    if least > available:
        return None
    if natural > available:
        part = (available - least) / (natural - least)
        return [demand.least + part * (demand.natural - demand.least) for demand in demands]
    growing = sum(demand.natural for demand in demands if demand.grows) or natural
    takes = [demand.natural if demand.grows or growing == natural else 0.0 for demand in demands]
    return [
        demand.natural + (available - natural) * take / growing
        for demand, take in zip(demands, takes, strict=True)
    ]


def _find_demand(
    head: Mapping[str, str], cells: Sequence[Mapping[str, str]], look: _Look, *, is_last: bool
) -> _Demand:
    measured = [_measure_head(head, look), *(_measure_cell(cell, look) for cell in cells)]
    space = (0.0 if is_last else look.space) + _SLACK
    em = look.size * _POINT
    least = max(narrow for narrow, _ in measured) * em + space
    natural = max(wide for _, wide in measured) * em + space
    kind = head["kind"].split()[0]
    if kind in _CONSTANT:
        floor = _VERDICT if kind == "verdict" else look.number
        return _Demand(max(least, floor), max(natural, floor), grows=False)
    floor = min(natural, max((_LABEL if cell["kind"] == "head" else _TEXT for cell in cells), default=_TEXT))
    return _Demand(max(least, floor), max(natural, floor), grows=True)


def _measure_head(head: Mapping[str, str], look: _Look) -> tuple[float, float]:
    """Return the least and the whole width of a head, in ems."""
    whole = measure_text(head["text"], bold=True)
    if look.has_room:
        beside = _DETAIL_HEAD_WIDTH if "ranged" in head["kind"] else 0.0
        return whole + beside, whole + beside
    return min(max(_words(head["text"], bold=True), default=0.0), look.longest_word), whole


def _measure_cell(cell: Mapping[str, str], look: _Look) -> tuple[float, float]:
    """Return the least and the whole width of a cell, in ems; numbers are not broken."""
    text, detail = cell["text"], cell["detail"]
    kind = cell["kind"].split()[0]
    if kind in _UNBROKEN:
        width = measure_text(text)
        if "ranged" in cell["kind"] and look.has_room:
            width += measure_text(" ") + _DETAIL_SIZE * _DETAIL_WIDTH
        else:
            width = max(width, _DETAIL_SIZE * measure_text(detail))
        return width, width
    mark = 1.2 if kind == "verdict" else 0.0
    whole = mark + measure_text(f"{text} · {detail}" if detail else text, bold=kind == "verdict")
    if cell["wrap"]:  # a word too long for its column is broken
        return 0.0, whole
    return max((mark + width for width in _words(f"{text} {detail}")), default=0.0), whole


def _words(text: str, *, bold: bool = False) -> Iterator[float]:
    return (measure_text(word, bold=bold) for word in text.split())
