"""Drift since earlier audits as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
)
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.history.trend.drift_records import Drift, Trend

_FORECASTS = "forecasts"
_INDEX_DECIMALS = 3


def measure_drift_table(trend: Trend, level: str) -> Table | None:
    """Scores, miscalibration and prevalence of now against earlier audits; None if nothing was compared."""
    measures = dict.fromkeys(drift.measure for drift in trend.drifts if drift.measure != _FORECASTS)
    drifts = [drift for measure in measures for drift in trend.drifts if drift.measure == measure]
    if not drifts:
        return None
    decimals = common_decimals([d.value for d in drifts if d.measure == trend.snapshots[-1].main_score])
    return Table(
        caption="Numbers of this audit against those of earlier ones together; differences with "
        f"{level} intervals, MCB less overfit. {_explain_p(trend)}{_find_caution(trend)}",
        heads=("number", "of", "now", "before", "difference", "interval", "p", "adjusted p", "verdict"),
        rows=tuple(
            (
                drift.label,
                drift.model or "all cases",
                *(
                    format_number(number, decimals)
                    for number in (drift.value, drift.reference, drift.difference)
                ),
                format_interval(drift.lower, drift.upper, decimals),
                *_verdict(drift),
            )
            for drift in drifts
        ),
        n_labels=2,
    )


def forecast_drift_table(trend: Trend, level: str) -> Table | None:
    """How forecasts of now are spread against those of earlier audits; None if nothing was compared."""
    drifts = [drift for drift in trend.drifts if drift.measure == _FORECASTS]
    if not drifts:
        return None
    return Table(
        caption="Forecasts of this audit against those of earlier ones together: their means, and the "
        f"population stability index, with {level} intervals without what chance adds. {_explain_p(trend)}",
        heads=(
            *("number", "of", "mean now", "mean before", "stability index", "interval"),
            *("p", "adjusted p", "verdict"),
        ),
        rows=tuple(
            (
                drift.label,
                drift.model,
                format_percent(drift.value),
                format_percent(drift.reference),
                format_number(drift.difference, _INDEX_DECIMALS),
                format_interval(drift.lower, drift.upper, _INDEX_DECIMALS),
                *_verdict(drift),
            )
            for drift in drifts
        ),
        n_labels=2,
    )


def _explain_p(trend: Trend) -> str:
    return f"Changed: adjusted p of at most {trend.alpha:g}"


def _find_caution(trend: Trend) -> str:
    """What a reader must know of tests against few audits; one table says it for all of them."""
    caution = next((drift.caution for drift in trend.drifts if drift.caution), "")
    return f". {caution}" if caution else ""


def _verdict(drift: Drift) -> Sequence[str]:
    """Both p-values, and what they come to."""
    verdict = "changed" if drift.has_drifted else "not tested" if drift.note else "may be chance"
    return format_p_value(drift.p_value), format_p_value(drift.p_value_adjusted), verdict
