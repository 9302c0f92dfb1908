"""Tables of decisions at thresholds, flexible curves and recalibration: a row for each number or point."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from scorereport.results.frames import flatten, make_frame, model_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from scorereport.curves.decision import ThresholdResult
    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.inference.miscalibration_parts import MiscalibrationParts
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.results.model_records import (
        ModelResult,
    )


def threshold_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Decisions: a row for each model and threshold; the bounds of a number follow it in two columns."""
    return make_frame([{"model": m.model, **_decision(row)} for m in models for row in m.thresholds])


def decision_curve_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Decision curves: a row for each model and threshold of its curve."""
    rows = []
    for m in models:
        curve = m.curves.decision
        columns = {"threshold": curve.threshold, "net_benefit": curve.net_benefit}
        if curve.band is not None:
            columns |= {"lower": curve.band.lower, "upper": curve.band.upper}
        columns |= {"treat_all": curve.treat_all, "interventions_avoided": curve.interventions_avoided}
        rows += model_rows(m.model, columns)
    return make_frame(rows)


def decision_difference_frame(decisions: Iterable[DecisionDifference]) -> pd.DataFrame:
    """Differences of net benefit: a row for each pair and threshold, with the better one or ""."""
    names = ("threshold", "difference", "lower", "upper", "simultaneous_lower", "simultaneous_upper")
    return make_frame(
        [
            {
                "first": d.first,
                "second": d.second,
                "against": d.against,
                **dict(zip((*names, "better"), row, strict=True)),
            }
            for d in decisions
            for row in zip(*(getattr(d, name).tolist() for name in names), d.better, strict=True)
        ]
    )


def flexible_curve_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Flexible calibration curves: a row for each model and forecast of its curve."""
    rows = []
    for m in models:
        curve = None if m.calibration is None else m.calibration.flexible
        if curve is not None:
            names = ("forecast", "probability", "lower", "upper")
            rows += model_rows(m.model, {name: getattr(curve, name) for name in names})
    return make_frame(rows)


def recalibration_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Trials of recalibration: a row for each model, method and score."""
    return make_frame(
        [{"model": m.model, **row} for m in models for t in m.recalibration for row in _trial(t)]
    )


def parts_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Parts of miscalibration: a row for each model, score and part; `p_value` is of the local part."""
    return make_frame(
        [
            {"model": model.model, **row}
            for model in models
            for parts in model.miscalibration_parts
            for row in _parts(parts)
        ]
    )


def _decision(row: ThresholdResult) -> dict[str, Any]:
    """A row of the threshold table; the bounds of each number follow it."""
    own = flatten(row)
    found = {interval.measure: interval for interval in own.pop("intervals")}
    columns: dict[str, Any] = {}
    others = {name: interval.value for name, interval in found.items() if name not in own}
    for name, value in (own | others).items():
        columns[name] = value
        if name in found:
            columns |= {f"{name}_lower": found[name].lower, f"{name}_upper": found[name].upper}
    return columns


def _trial(trial: RecalibrationTrial) -> Iterable[dict[str, Any]]:
    """A trial and the differences it made, a row for each score; `test` is the method of the test."""
    own = flatten(trial)
    for difference in (own.pop("brier"), own.pop("log_loss")):
        note = " ".join(filter(None, (trial.note, difference.note)))
        both = {"method": trial.method, "test": difference.method, "note": note}
        yield {**own, **flatten(difference), **both}


def _parts(parts: MiscalibrationParts) -> Iterable[dict[str, Any]]:
    """The parts of a miscalibration, each with its share; coefficients are those of the best maps."""
    for estimate in (parts.by_shift, parts.by_slope, parts.global_part, parts.local_part):
        is_local = estimate is parts.local_part
        share = estimate.value / parts.miscalibration if parts.miscalibration > 0 else nan
        own = {"miscalibration": parts.miscalibration, "share": share}
        line = {"offset": parts.offset, "intercept": parts.intercept, "slope": parts.slope}
        yield {**flatten(estimate), **own, "p_value": parts.local_test.p_value if is_local else nan, **line}
