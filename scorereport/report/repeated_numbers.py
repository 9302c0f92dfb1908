"""Numbers that several tables can show: a report has each of them in one table only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scorereport.configuration.limit_records import ModelKind
from scorereport.report.section_declaration import BINARY, CLASSES
from scorereport.report.tables.table import describe_table, score_heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.report.tables.table import Table

#: The head of a column with the intervals of the column before it.
_INTERVAL = "interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Numbers of a table that another table, its keeper, has too.

    Tables are named by their keys; that of the repeating table is a pattern. What is left out, if the report
    has the keeper, are the columns with these heads and the rows with these labels; without both, the table.
    """

    part: str
    keeper: str
    heads: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    kinds: tuple[ModelKind, ...] = (*BINARY, *CLASSES)


#: All repeats, in the order in which they are left out.
REPEATS = (
    Repeat(part="brier", keeper="components"),
    Repeat(part="score_components", keeper="components"),
    Repeat(part="brier", keeper="scores", heads=("S", "skill")),
    Repeat(part="score_components", keeper="scores", heads=("mean",)),
    Repeat(part="scores", keeper="auc", rows=(score_heading("roc_auc"),)),
    Repeat(part="advised", keeper="recalibration", heads=("Brier", "MCB before", "MCB after", "DSC after")),
    Repeat(part="scores", keeper="costs", rows=(score_heading("expected_cost"),)),
    Repeat(part="penalties", keeper="scores", heads=("Brier", "penalised Brier", "log", "penalised log")),
    Repeat(part="labels", keeper="scores", rows=("mean over classes",)),
    Repeat(part=r"views_\d+", keeper="labels", heads=("AUC ↑",), kinds=(ModelKind.MULTICLASS,)),
)


def leave_out_repeats(sections: Sequence[dict[str, Any]], kind: str) -> None:
    """Leave numbers out of the tables of described sections if another table of the report has them."""
    for repeat in REPEATS:
        is_kept = any(repeat.keeper in section["parts"] for section in sections)
        if is_kept and kind in repeat.kinds:
            for section in sections:
                section["parts"] = dict(_leave_out(section["parts"].items(), repeat))


def _leave_out(parts: Iterable[tuple[str, Any]], repeat: Repeat) -> Iterable[tuple[str, Any]]:
    """Yield the parts of a section without the repeat; a table without any number is left out."""
    for key, part in parts:
        if not re.fullmatch(repeat.part, key):
            yield key, part
        elif repeat.heads or repeat.rows:
            rest = drop_cells(part["table"], heads=repeat.heads, rows=repeat.rows)
            if rest.rows and len(rest.heads) > rest.n_labels:
                yield key, part | {"table": rest} | describe_table(rest)


def drop_cells(table: Table, *, heads: Sequence[str] = (), rows: Sequence[str] = ()) -> Table:
    """Return a table without the columns of these heads, with their intervals, and rows of these labels.

    >>> from scorereport.report.tables.table import Table
    >>> table = Table(caption="c", heads=("model", "S", "interval", "p"), rows=(("m", "1", "[0, 2]", "0.3"),))
    >>> drop_cells(table, heads=["S"]).heads
    ('model', 'p')
    """
    owners = [table.heads[place - 1] if head == _INTERVAL else head for place, head in enumerate(table.heads)]
    kept = [place for place, owner in enumerate(owners) if owner not in heads]
    return replace(
        table,
        heads=tuple(table.heads[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows if row[0] not in rows),
    )
