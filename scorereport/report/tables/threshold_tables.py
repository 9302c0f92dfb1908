"""Tables of thresholds: counts of decisions, and the ranges of thresholds at which a model is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_plain
from scorereport.report.tables.table import Table, section_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.results.model_records import ModelResult

#: Most ranges of thresholds that are listed; more are summarized by their ends.
_MOST_RANGES = 3
#: The four counts, with their column heads.
_COUNTS = {
    "true_positives": "acted on, event (TP)",
    "false_positives": "acted on, no event (FP)",
    "false_negatives": "not acted on, event (FN)",
    "true_negatives": "not acted on, no event (TN)",
}


def decision_count_table(models: Sequence[ModelResult], *, weighted: bool) -> Table | None:
    """Table of the four counts of decisions at thresholds; None if there are none."""
    by_threshold = zip(*(m.thresholds for m in models), strict=True)
    found = [pair for rows in by_threshold for pair in zip(models, rows, strict=True)]
    if not found or any(t.true_positives is None for _, t in found):
        return None
    of_weights = " (sums of weights)" if weighted else ""
    return Table(
        caption=f"Counts of decisions{of_weights}: cases acted on, with the event (true positives, TP) and "
        "without it (false positives, FP), and cases not acted on, with the event (false negatives, FN) and "
        "without it (true negatives, TN)",
        heads=("threshold", "model", *_COUNTS.values()),
        rows=tuple(
            (format_plain(t.threshold), m.model, *(format_count(getattr(t, name)) for name in _COUNTS))
            for m, t in found
        ),
        n_labels=2,
        section=section_size(models),
    )


def decision_range_table(decisions: Sequence[DecisionDifference] | None, level: str) -> Table | None:
    """Table of the thresholds at which a model is better than another or than a policy; None if not known."""
    known = [d for d in decisions or () if d.ranges]
    if not known:
        return None
    lower, upper = format_plain(known[0].threshold[0]), format_plain(known[0].threshold[-1])
    pairs = max(d.pairs for d in known)
    together = f" and all {pairs} pairs of models" if pairs > 1 else ""
    return Table(
        caption=f"Thresholds from {lower} to {upper} at which net benefit differs by the {level} band of the "
        f"difference, simultaneous over the {len(known[0].threshold)} thresholds compared{together}; each "
        "model is also compared with acting on all cases (treat all) and on none (treat none)",
        heads=("model", "compared with", "model better", "other better", "not distinguishable"),
        rows=tuple(
            (d.first, d.second, *(list_ranges(d, name) or "–" for name in (d.first, d.second, "")))
            for d in known
        ),
        n_labels=5,
    )


def list_ranges(difference: DecisionDifference, better: str) -> str:
    """The ranges of thresholds at which one is better, or none is shown to be; empty if there are none.

    Of many ranges, their number of thresholds and both ends are given.
    """
    found = [r for r in difference.ranges if r.better == better]
    if len(found) <= _MOST_RANGES:
        return ", ".join(_name_range(r.lower, r.upper) for r in found)
    count = sum(name == better for name in difference.better)
    return f"{count} thresholds {_name_range(found[0].lower, found[-1].upper)}"


def _name_range(lower: float, upper: float) -> str:
    low, high = format_plain(lower, 3), format_plain(upper, 3)
    return low if low == high else f"{low} to {high}"
