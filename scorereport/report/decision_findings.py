"""Findings on decisions: at which thresholds a model is better than others, and than treating all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_plain, join_words
from scorereport.inference.decision_differences import MODEL, TREAT_ALL
from scorereport.report.finding_records import DO_NOT_DECIDE, Consequence, Finding
from scorereport.report.tables.threshold_tables import list_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.results.evaluation import Evaluation

_SEE = "decision_ranges"


def find_decisions(evaluation: Evaluation) -> Iterator[Finding]:
    """State which model decides best, and which is worse than deciding without forecasts.

    Both are stated over an interval of costs, which says that its thresholds matter.
    """
    known = [d for d in evaluation.comparisons.decisions or () if d.ranges]
    if evaluation.settings.cost_interval is None or not known:
        return
    yield from _find_best([d for d in known if d.against == MODEL])
    yield from _find_worse([d for d in known if d.against != MODEL])


def _find_best(pairs: Sequence[DecisionDifference]) -> Iterator[Finding]:
    """State a model that is shown to be better than all others at every threshold."""
    names = list(dict.fromkeys(name for d in pairs for name in (d.first, d.second)))
    for name in names:
        own = [d for d in pairs if name in (d.first, d.second)]
        if all(set(d.better) == {name} for d in own):
            others = join_words(other for other in names if other != name)
            yield Finding(
                text=f"{name} has a higher net benefit than {others} at every threshold between "
                f"{_describe_ends(own[0])} ({format_level(own[0].level)} simultaneous band).",
                see=_SEE,
                model=name,
            )


def _find_worse(policies: Sequence[DecisionDifference]) -> Iterator[Finding]:
    """State at which thresholds a model is shown to be worse than acting on all cases, or on none."""
    for d in policies:
        where = list_ranges(d, d.second)
        if where:
            act = "acting on all cases" if d.against == TREAT_ALL else "acting on no case"
            yield Finding(
                text=f"{d.first} decides worse than {act} at thresholds {where}, of those between "
                f"{_describe_ends(d)} ({format_level(d.level)} simultaneous band).",
                see=_SEE,
                consequence=Consequence.WORSE_THAN_NO_MODEL,
                tone="bad",
                model=d.first,
                action=DO_NOT_DECIDE,
            )


def _describe_ends(difference: DecisionDifference) -> str:
    first, last = difference.threshold[[0, -1]].tolist()
    return f"{format_plain(first)} and {format_plain(last)}"
