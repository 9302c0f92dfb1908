"""The table of open limits and the further cases that would decide them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_level
from scorereport.configuration.limit_needs import MOST_TIMES, format_days, round_up
from scorereport.inference.needed_cases import LIKELY
from scorereport.report.tables.table import Table
from scorereport.report.verdict_labels import VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.inference.needed_cases import NeededCases

#: Most limits that the table has; further ones, on groups, are counted.
_MOST_LINES = 12


def needed_cases_table(judgements: Sequence[Judgement]) -> Table | None:
    """Return the table of the limits that more cases would decide; None if there are none.

    Limits on all cases come first, and of the others those that need the fewest cases.
    """
    known = [(judgement, judgement.needed) for judgement in judgements if judgement.needed is not None]
    if not known:
        return None
    known.sort(key=lambda pair: (bool(pair[0].group), pair[1].even))
    has_days = any(needed.days is not None for _, needed in known)
    hidden = len(known) - _MOST_LINES
    more = f"; {format_count(hidden)} more are in the results" if hidden > 0 else ""
    return Table(
        caption="Open limits, and about how many more cases would decide them if the value stays: in half of "
        f"such samples, and with a probability of {format_level(LIKELY)}{more}",
        heads=(
            *("limit on", "of", "would", "more cases"),
            *(("time",) if has_days else ()),
            *(f"for {format_level(LIKELY)}",),
            *(("time",) if has_days else ()),
        ),
        rows=tuple(
            _describe(judgement, needed, has_days=has_days) for judgement, needed in known[:_MOST_LINES]
        ),
        n_labels=2,
    )


def _describe(judgement: Judgement, needed: NeededCases, *, has_days: bool) -> tuple[str, ...]:
    subject = ", ".join(filter(None, (judgement.model, judgement.group))) or "all cases"
    amounts = []
    for more, days in ((needed.even, needed.days), (needed.likely, needed.likely_days)):
        amounts.append(_format_more(more))
        if has_days:
            amounts.append("" if days is None or math.isinf(more) else format_days(days))
    verdict = VERDICT_LABELS[judgement.verdict.__class__(needed.verdict)][2]
    return judgement.label, subject, verdict, *amounts


def _format_more(more: float) -> str:
    """Return a number of further cases, or that it is more than this many times those at hand."""
    return format_count(round_up(more)) if math.isfinite(more) else f"> {MOST_TIMES} times"
