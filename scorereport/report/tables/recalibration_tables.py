"""Tables of recalibration: parts of miscalibration, the effect of each map, and of the advised one."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
)
from scorereport.report.miscalibration_patterns import adjusted_p_value
from scorereport.report.tables.table import Table, score_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.estimates import ComponentEstimate, Difference
    from scorereport.inference.miscalibration_parts import MiscalibrationParts
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.report.recalibration_advice import RecalibrationAdvice
    from scorereport.results.model_records import ModelResult


#: What removes each part of miscalibration.
_PARTS = ("shift (global)", "slope (global)", "new curve (local)")
_MCB_HEADINGS = ("MCB before", "MCB after")
_RANKING_HEADINGS = ("DSC before", "DSC after", "AUC before", "AUC after")


def parts_table(models: Sequence[ModelResult], measure: str, level: str) -> Table | None:
    """Table of the parts of the miscalibration of a score; None if no model has them."""
    known = [(model, parts) for model in models if (parts := model.parts_of(measure)) is not None]
    if not known:
        return None
    return Table(
        caption=f"Parts of MCB ({score_label(measure)}): global parts, which a shift of the log-odds and a "
        "line in them remove, and the local part, which only a new curve removes; with their shares of MCB, "
        f"overfit-corrected, with {level} intervals, and the p-value of the test that the local part is 0",
        heads=("model", "removed by", "part of MCB", "share", "corrected", "interval", "p"),
        rows=tuple(row for model, parts in known for row in _describe_parts(model.model, parts)),
        n_labels=2,
        section=3 if len(known) > 1 else 0,
    )


def _describe_parts(model: str, parts: MiscalibrationParts) -> Iterator[tuple[str, ...]]:
    estimates = (parts.by_shift, parts.by_slope, parts.local_part)
    decimals = common_decimals([parts.miscalibration])
    p_value = _p_text(adjusted_p_value(parts.local_test))
    for name, estimate, p in zip(_PARTS, estimates, ("", "", p_value), strict=True):
        yield model, name, *_describe_part(estimate, parts.miscalibration, decimals), p


def _describe_part(estimate: ComponentEstimate, total: float, decimals: int) -> tuple[str, ...]:
    share = estimate.value / total if total > 0 else nan
    return (
        format_number(estimate.value, decimals),
        format_percent(share),
        format_number(estimate.corrected, decimals),
        format_interval(estimate.lower, estimate.upper, decimals),
    )


def advised_table(advised: Sequence[RecalibrationAdvice], level: str) -> Table | None:
    """Table of the effect of the advised maps on new cases; None if no map is advised."""
    known = [(advice, advice.trial) for advice in advised if advice.trial is not None]
    if not known:
        return None
    return Table(
        caption="Effect of the advised map on new cases; the change of a score has its "
        f"{level} interval, and negative is better. A nondecreasing map changes DSC and AUC by ties, and "
        "here also because each fold has its own map",
        heads=("model", "map", "Brier", "interval", *_MCB_HEADINGS, *_RANKING_HEADINGS),
        rows=tuple((advice.model, trial.method, *_advised_effect(trial)) for advice, trial in known),
        n_labels=2,
    )


def _advised_effect(trial: RecalibrationTrial) -> tuple[str, ...]:
    return (*_difference(trial.brier)[:2], *_before_and_after(trial), *_ranking(trial))


def recalibration_table(models: Sequence[ModelResult], level: str) -> Table | None:
    """Table of the effect of each map on Brier score, log score and MCB; None if none was tried."""
    tried = [(m.model, trial) for m in models for trial in m.recalibration]
    if not tried:
        return None
    return Table(
        caption="Recalibrated minus original score, each case recalibrated by a map fitted without it "
        f"({tried[0][1].folds} folds), with {level} intervals; negative is better. Holm's p is adjusted for "
        "the number of maps tried",
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
            "DSC after",
        ),
        rows=tuple((model, trial.method, *_effect(trial)) for model, trial in tried),
        n_labels=2,
        section=len(models[0].recalibration) if len(models) > 1 else 0,
    )


def _effect(trial: RecalibrationTrial) -> tuple[str, ...]:
    differences = [text for d in (trial.brier, trial.log_loss) for text in _difference(d)]
    return (*differences, *_before_and_after(trial), *_ranking(trial)[1:2])


def _difference(d: Difference) -> tuple[str, str, str]:
    decimals = common_decimals([d.value])
    return (
        format_number(d.value, decimals),
        format_interval(d.lower, d.upper, decimals),
        format_p_value(d.p_value if d.p_value_holm is None else d.p_value_holm),
    )


def _before_and_after(trial: RecalibrationTrial) -> tuple[str, str]:
    return _pair(trial.miscalibration_before, trial.miscalibration_after)


def _ranking(trial: RecalibrationTrial) -> tuple[str, ...]:
    """Discrimination before and after; empty in documents of versions that did not measure it."""
    if trial.discrimination_before is None or trial.discrimination_after is None:
        return ("",) * len(_RANKING_HEADINGS)
    area = (trial.auc_before or nan, trial.auc_after or nan)
    return (
        *_pair(trial.discrimination_before, trial.discrimination_after),
        *(format_number(value, 4) for value in area),
    )


def _pair(before: float, after: float) -> tuple[str, str]:
    decimals = common_decimals([before, after])
    return format_number(before, decimals), format_number(after, decimals)


def _p_text(p_value: float) -> str:
    return "" if isnan(p_value) else format_p_value(p_value)
