"""Layout of a table in the columns of a terminal: which of its columns stand side by side, and how wide.

Numbers are never cut. Heads and labels are wrapped, long names shortened in the middle, and a table that is
still too wide is split into blocks that repeat its labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.report.tables.table import Table

#: Blanks between two columns, and between those of a table that fits side by side only with fewer.
_GAP, _NARROW_GAP = 2, 1
#: Words of labels are not broken within a fifth of the width, nor within this many characters.
_SHARE_OF_A_WORD, _SHORT_WORD = 5, 8
_ELLIPSIS = "…"
#: With more labels than this, only the first is repeated in every block, which may have the others.
_MOST_REPEATED = 3
#: Heads of columns that belong to the number before them.
_DEPENDENT = ("interval", "corrected MCB", "corrected DSC", "percent")
#: The widest label that is not repeated, in a table that is split.
_WIDEST_LABEL = 32


@dataclass(frozen=True, slots=True)
class Block:
    """Columns of a table that stand side by side, by their places, the width of each, and the gap between."""

    places: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int = _GAP

    @property
    def width(self) -> int:
        """The width of the block."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def lay_out(table: Table, width: int | None) -> list[Block]:
    """Return the blocks of a table that fit a width; one block if the width is None.

    >>> from scorereport.report.tables.table import Table
    >>> table = Table(caption="", heads=("model", "mean", "interval", "rank of the model"),
    ...               rows=(("logit", "0.2015", "[0.1971, 0.2059]", "1"),))
    >>> lay_out(table, 40)
    [Block(places=(0, 1, 2, 3), widths=(5, 6, 16, 5), gap=2)]
    >>> [block.places for block in lay_out(table, 32)]
    [(0, 1, 2), (0, 3)]
    """
    columns = [_measure(table, place, width or 0) for place in range(len(table.heads))]
    whole = Block(tuple(range(len(columns))), tuple(column.natural for column in columns))
    if width is None or whole.width <= width:
        return [whole]
    for gap in (_GAP, _NARROW_GAP):
        wrapped = _shrink([column.wrapped for column in columns], columns, _inside(width, len(columns), gap))
        if _fits(wrapped, width, gap) and not _is_crowded(wrapped, columns, table.n_labels):
            return [Block(whole.places, tuple(wrapped), gap)]
    return _split(table, columns, width)


@dataclass(frozen=True, slots=True)
class _Column:
    """The width at which no text of a column is wrapped, and the one at which only its head is; its least."""

    natural: int
    wrapped: int
    least: int


def _measure(table: Table, place: int, width: int) -> _Column:
    head = table.heads[place]
    cells = [row[place] for row in table.rows]
    wrapped = max(_longest_word([head]), max(map(cell_len, cells), default=0))
    word = min(_longest_word([head, *cells]), max(width // _SHARE_OF_A_WORD, _SHORT_WORD))
    least = word if place < table.n_labels else wrapped
    return _Column(max(wrapped, cell_len(head)), wrapped, least)


def _longest_word(texts: Iterable[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def _is_crowded(widths: Sequence[int], columns: Sequence[_Column], labels: int) -> bool:
    """Whether labels of a table of numbers would be wrapped, although a split leaves room for them."""
    has_numbers = labels < len(columns)
    return (has_numbers and labels <= _MOST_REPEATED) and any(
        width < column.wrapped for width, column in zip(widths, columns, strict=True)
    )


def _fits(widths: Sequence[int], width: int, gap: int = _GAP) -> bool:
    return sum(widths) <= _inside(width, len(widths), gap)


def _inside(width: int, columns: int, gap: int = _GAP) -> int:
    return width - gap * (columns - 1)


def _shrink(widths: list[int], columns: Sequence[_Column], available: int) -> list[int]:
    """Narrow the widest columns until all fit, but none below its least width."""
    widths = list(widths)
    while sum(widths) > available:
        shrinkable = [place for place, column in enumerate(columns) if widths[place] > column.least]
        if not shrinkable:
            break
        widest = max(shrinkable, key=lambda place: widths[place])
        widths[widest] -= 1
    return widths


def _split(table: Table, columns: Sequence[_Column], width: int) -> list[Block]:
    """Split a table into blocks, each with the repeated labels."""
    repeated = list(range(table.n_labels if table.n_labels <= _MOST_REPEATED else 1))
    labels = _shrink_labels([columns[place] for place in repeated], width // 2)
    room = width - sum(labels) - _GAP * len(labels)
    blocks, current = [], list[int]()
    widths = dict(enumerate(_cap_labels(table, columns, room)))
    for unit in _find_units(table, len(repeated), widths, room):
        together = [*current, *unit]
        if current and not _fits([widths[place] for place in together], room):
            blocks.append(current)
            together = list(unit)
        current = together
    blocks.append(current)
    used = max(sum(widths[place] for place in places) + _GAP * len(places) for places in blocks)
    labels = _shrink_labels([columns[place] for place in repeated], width - used)
    return [Block((*repeated, *places), (*labels, *(widths[place] for place in places))) for places in blocks]


def _shrink_labels(labels: Sequence[_Column], room: int) -> list[int]:
    return _shrink([column.wrapped for column in labels], labels, _inside(room, len(labels)))


def _cap_labels(table: Table, columns: Sequence[_Column], room: int) -> Iterator[int]:
    """Yield the width of each column in a table that is split."""
    for place, column in enumerate(columns):
        widest = max(column.least, min(_WIDEST_LABEL, room))
        yield min(column.wrapped, widest) if place < table.n_labels else column.wrapped


def _find_units(table: Table, first: int, widths: dict[int, int], room: int) -> Iterator[list[int]]:
    """Yield the columns that should stay together: a number and what belongs to it, if they fit."""
    unit: list[int] = []
    for place in range(first, len(table.heads)):
        together = [*unit, place]
        stays = table.heads[place] in _DEPENDENT and _fits([widths[one] for one in together], room)
        if unit and not stays:
            yield unit
            together = [place]
        unit = together
    if unit:
        yield unit


def fit_labels(labels: Sequence[str], width: int) -> list[str]:
    """Shorten labels with a word that is too long in the middle; if two would look the same, keep them all.

    >>> fit_labels(["gradient_boosting_2026", "logit"], 11), fit_labels(["aaa1bbb", "aaa2bbb"], 5)
    (['gradi…_2026', 'logit'], ['aaa1bbb', 'aaa2bbb'])
    """
    fitted = [label if _longest_word([label]) <= width else _cut_middle(label, width) for label in labels]
    return fitted if len(set(fitted)) == len(set(labels)) else list(labels)


def _cut_middle(text: str, width: int) -> str:
    """Replace the middle of a text by an ellipsis, so that it has a width."""
    end = (width - 1) // 2
    start = width - 1 - end
    tail = set_cell_size(text[::-1], end)[::-1]
    return f"{set_cell_size(text, start).rstrip()}{_ELLIPSIS}{tail.lstrip()}"
