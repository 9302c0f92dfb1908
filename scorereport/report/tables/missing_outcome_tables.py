"""Tables of missing outcomes: bounds of numbers over all outcomes, and shares at which verdicts change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_number, format_percent
from scorereport.inference.missing_outcomes import MISCALIBRATION, SHARE, ClassOutcomeBounds
from scorereport.report.tables.table import Table, score_label
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.tipping_shares import TippingShares, VerdictRange
    from scorereport.inference.missing_outcomes import MissingOutcomes, OutcomeBounds

#: The columns of numbers, by field of the record.
_COLUMNS = {
    "observed": "observed rows",
    "lower": "lowest",
    "upper": "highest",
    "no_events": "no event",
    "as_observed": "as observed",
    "as_forecast": "as forecast",
    "all_events": "all events",
}
#: The columns that numbers of K classes have.
_CLASS_COLUMNS = {
    name: _COLUMNS[name] for name in ("observed", "lower", "upper", "as_observed", "as_forecast")
}
_OVERFIT = "MCB is not corrected for overfit"


def missing_outcome_table(missing: MissingOutcomes | None) -> Table | None:
    """Table of the bounds over all outcomes of rows without one; None without such rows."""
    if missing is None:
        return None
    rows = [(model.model, *_bound_row(bounds)) for model in missing.results for bounds in model.bounds]
    if missing.class_models:
        assumed = "if their classes have the shares of the observed rows, or those of the forecasts"
        overfit = f". {_OVERFIT}; its bounds hold, but need not be attained"
    else:
        assumed = "if none of them is an event, as many are as observed, as many as forecast, or all"
        overfit = f". {_OVERFIT}" if missing.has_miscalibration else ""
    columns = _CLASS_COLUMNS if missing.class_models else _COLUMNS
    return Table(
        caption="Numbers of the observed rows; of all rows, the lowest and highest over all values of the "
        f"{missing.counted}, and {assumed}{overfit}",
        heads=("model", "number", *columns.values()),
        rows=tuple(rows),
        n_labels=2,
        section=len(missing.results[0].bounds) if len(missing.results) > 1 else 0,
    )


def name_bounded(bounds: OutcomeBounds | ClassOutcomeBounds) -> str:
    """Return the label of a bounded number."""
    if bounds.number == SHARE:
        return f"{bounds.measure[0].upper()}{bounds.measure[1:]}"
    label = score_label(bounds.measure)
    return f"MCB of the {inside_sentence(label)}" if bounds.number == MISCALIBRATION else label


def format_bounded(bounds: OutcomeBounds | ClassOutcomeBounds) -> dict[str, str]:
    """Return the numbers of a record as texts, by field: a share in percent."""
    columns = _CLASS_COLUMNS if isinstance(bounds, ClassOutcomeBounds) else _COLUMNS
    values = {name: float(getattr(bounds, name)) for name in columns}
    if bounds.number == SHARE:
        return {name: format_percent(value) for name, value in values.items()}
    decimals = common_decimals(values.values())
    return {name: format_number(value, decimals) for name, value in values.items()}


def _bound_row(bounds: OutcomeBounds | ClassOutcomeBounds) -> tuple[str, ...]:
    return (name_bounded(bounds), *format_bounded(bounds).values())


def tipping_table(found: Sequence[TippingShares], kind: str = "missing") -> Table | None:
    """Table of verdicts by the share of events among the missing outcomes; None without limits."""
    if not found:
        return None
    has_shares = any(tipping.ranges for tipping in found)
    by_share = f", by the share of events among the {kind} outcomes," if has_shares else ""
    about = "Shares are approximate" if has_shares else "They are approximate"
    heads = (
        "limit on",
        "of",
        "verdict",
        *(["by share of events"] if has_shares else []),
        "with any outcomes",
    )
    return Table(
        caption=f"Verdicts on limits{by_share} and all verdicts that some outcomes lead to. {about}: the "
        "interval of each number is moved with it",
        heads=heads,
        rows=tuple(
            (
                tipping.judgement.label,
                tipping.judgement.model or "all cases",
                str(tipping.judgement.verdict),
                *([_join_ranges(tipping.ranges)] if has_shares else []),
                ", ".join(tipping.possible),
            )
            for tipping in found
        ),
        n_labels=len(heads),
    )


def _join_ranges(ranges: Sequence[VerdictRange]) -> str:
    """Return the ranges of shares, such as "pass up to 20.0 %, then fail"."""
    parts = [f"{found.verdict} up to {format_percent(found.end)}" for found in ranges[:-1]]
    last = str(ranges[-1].verdict)
    return ", ".join([*parts, f"then {last}"]) if parts else f"{last} at any share"
