"""What decisions by a model come to: the table of thresholds, and recalibration tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
)
from scorereport.report.tables.table import Table, distinct_decimals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.curves.thresholds import ThresholdInterval, ThresholdResult
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.results.model_records import ModelResult


_MCB_HEADINGS = ("MCB before", "MCB after")


#: Rates of the table that have intervals, with their heads.
_RATES = {
    "sensitivity": "sens.",
    "specificity": "spec.",
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
}


def threshold_decision_table(models: Sequence[ModelResult], level: str) -> Table | None:
    """What happens if a case is acted upon once its forecast reaches a threshold."""
    has_intervals = any(t.intervals for m in models for t in m.thresholds)
    rows = [
        (f"{t.threshold:g}", m.model, *_decision(t, has_intervals=has_intervals))
        for of_threshold in zip(*(m.thresholds for m in models), strict=True)
        for m, t in zip(models, of_threshold, strict=True)
    ]
    if not rows:
        return None
    interval = ("interval",) if has_intervals else ()
    stated = f", with {level} intervals, each for its number alone" if has_intervals else ""
    return Table(
        caption="Acting if the forecast is at least the threshold: share of cases acted upon, sensitivity "
        "(events found), specificity (non-events spared), predictive values (PPV, NPV: how often a decision "
        f"is right), net benefit (higher is better) and regret (lower is better){stated}",
        heads=(
            *("threshold", "model", "acted on"),
            *(head for rate in _RATES.values() for head in (rate, *interval)),
            *("net benefit", *interval, "regret"),
        ),
        rows=tuple(rows),
        n_labels=2,
        section=len(models) if len(models) > 1 else 0,
    )


def _decision(t: ThresholdResult, *, has_intervals: bool) -> Iterator[str]:
    yield format_percent(t.flagged)
    for rate in _RATES:
        yield format_percent(getattr(t, rate))
        if has_intervals:
            yield _percents(t.interval(rate))
    yield format_number(t.net_benefit, 4)
    if has_intervals:
        found = t.interval("net_benefit")
        yield "" if found is None else format_interval(found.lower, found.upper, 4)
    yield format_number(t.regret, 4)


def _percents(found: ThresholdInterval | None) -> str:
    """The interval of a rate, in percent."""
    if found is None:
        return ""
    lower, upper = 100 * found.lower, 100 * found.upper
    return format_interval(lower, upper, distinct_decimals(lower, upper, 1))


def recalibration_table(models: Sequence[ModelResult], level: str) -> Table | None:
    """How each way to recalibrate changes Brier score, log score and miscalibration of each model."""
    tried = [(m.model, trial) for m in models for trial in m.recalibration]
    if not tried:
        return None
    return Table(
        caption="Recalibrated minus original, each case by a map fitted without it "
        f"({tried[0][1].folds} folds), with {level} intervals; negative is better. Holm's p is adjusted for "
        "the maps that were tried",
        heads=(
            "model",
            "map",
            "Brier",
            "interval",
            "Holm's p",
            "log",
            "interval",
            "Holm's p",
            *_MCB_HEADINGS,
        ),
        rows=tuple((model, trial.method, *_effect(trial)) for model, trial in tried),
        n_labels=2,
        section=len(models[0].recalibration) if len(models) > 1 else 0,
    )


def _effect(trial: RecalibrationTrial) -> tuple[str, ...]:
    differences = [
        text
        for d in (trial.brier, trial.log_loss)
        for text in (
            format_number(d.value, common_decimals([d.value])),
            format_interval(d.lower, d.upper, common_decimals([d.value])),
            format_p_value(d.p_value if d.p_value_holm is None else d.p_value_holm),
        )
    ]
    before, after = trial.miscalibration_before, trial.miscalibration_after
    decimals = common_decimals([before, after])
    return (*differences, format_number(before, decimals), format_number(after, decimals))
