"""The records of an evaluation as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils import json_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from scorereport.inference.estimates import ComponentEstimate, Estimate
    from scorereport.inference.missing_outcomes import MissingOutcomes
    from scorereport.inference.population_stability import Stability
    from scorereport.inference.scale_results import ScaleMark
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.model_records import (
        ClassSummary,
        DataSummary,
        GroupResult,
        ModelCalibration,
        ModelResult,
        ModelScores,
    )
    from scorereport.results.reference_records import ReferenceComparison

#: Columns of a table of verdicts.
_VERDICT_TEXTS = ("measure", "label", "model", "group")
_VERDICT_NUMBERS = (
    *("value", "lower", "upper", "level"),
    *("warn_lower", "warn_upper", "fail_lower", "fail_upper"),
)
#: Columns on the further cases that would decide a limit, by the fields of the record.
_NEEDED_NUMBERS = {"even": "more_cases", "likely": "more_cases_likely", "days": "more_days"}


def score_frame(models: Iterable[ModelScores]) -> pd.DataFrame:
    """Mean scores: a row for each model, a column for each score."""
    rows = [{"model": m.model, **{s.name: s.value for s in m.scores}} for m in models]
    return make_frame(rows).set_index("model")


def skill_frame(models: Iterable[ModelScores]) -> pd.DataFrame:
    """Skills: a row for each model, a column for each score."""
    rows = [{"model": m.model, **{s.name: s.skill for s in m.scores}} for m in models]
    return make_frame(rows).set_index("model")


def interval_frame(
    data: DataSummary, models: Iterable[ModelResult] | Iterable[ClassModelResult]
) -> pd.DataFrame:
    """All numbers with intervals: of the sample, then of each model and its calibration."""
    rows = list(_sample_intervals(data))
    for result in models:
        rows += _intervals(result.scores)
        calibration = getattr(result, "calibration", None)  # models of K classes have none
        if calibration is not None:
            rows += _calibration_rows(result.model, calibration)
    return make_frame(rows)


def decomposition_frame(models: Iterable[ModelScores]) -> pd.DataFrame:
    """Raw components: a row for each model and score."""
    return make_frame([row for m in models for row in _components(m)])


def murphy_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Murphy's decomposition: a row for each model."""
    frame = make_frame([{"model": m.model, **json_documents.encode(m.murphy)} for m in models])
    return frame.set_index("model") if len(frame) else frame


def missing_outcome_frame(found: MissingOutcomes | None) -> pd.DataFrame:
    """Bounds over missing outcomes: a row for each model and number; empty without missing outcomes."""
    models = () if found is None else found.results
    return make_frame([{"model": m.model, **flatten(bounds)} for m in models for bounds in m.bounds])


def view_frame(models: Iterable[ClassModelResult]) -> pd.DataFrame:
    """Decomposed Brier scores of binary views: a row for each model and view."""
    return make_frame(
        [
            {"model": m.model, "kind": family.kind, "label": view.label, **row, "events": view.sample.events}
            for m in models
            for family in m.families
            for view in family.views
            for row in _components(view.scores)
        ]
    )


def confusion_frame(classes: ClassSummary | None, models: Iterable[ClassModelResult]) -> pd.DataFrame:
    """Confusion tables: a row for each model, observed class and predicted class."""
    labels = () if classes is None else classes.labels
    return make_frame(
        [
            {"model": m.model, "came": observed, "called": predicted, "weight": weight}
            for m in models
            for observed, row in zip(labels, m.confusion.counts, strict=True)
            for predicted, weight in zip(labels, row, strict=True)
        ]
    )


def retention_frame(models: Iterable[ClassModelResult]) -> pd.DataFrame:
    """Retention curves: a row for each model, score, metric and fraction."""
    columns = ("fraction", "value", "lower", "upper", "n_retained")
    return make_frame(
        [
            {
                "model": m.model,
                "score": band.score,
                "metric": band.metric,
                **dict(zip(columns, row, strict=True)),
            }
            for m in models
            for band in m.retention
            for row in zip(*(getattr(band, name).tolist() for name in columns), strict=True)
        ]
    )


def scale_frame(models: Iterable[ModelResult] | Iterable[ClassModelResult]) -> pd.DataFrame:
    """The probability scale: a row for each model, class, kind of bins and mark."""
    return make_frame(
        [
            {
                "model": m.model,
                "class": found.target,
                "bins": found.bins,
                "mark": mark,
                "exponent": getattr(found, mark).exponent,
                "model_value": getattr(found, mark).model.value,
                "source_value": getattr(found, mark).source.value,
                "divergence": getattr(found, mark).divergence.value,
                **_bounds(getattr(found, mark)),
                "angle": found.angle,
                "angle_lower": found.angle_lower,
                "angle_upper": found.angle_upper,
                "verdict": found.verdict,
            }
            for m in models
            for found in m.scale
            for mark in ("decisiveness", "accuracy", "robustness")
        ]
    )


def _bounds(mark: ScaleMark) -> dict[str, float]:
    return {
        f"{part}_{end}": getattr(getattr(mark, part), end)
        for part in ("model", "source", "divergence")
        for end in ("lower", "upper")
    }


def calibration_test_frame(models: Iterable[ModelResult] | Iterable[ClassModelResult]) -> pd.DataFrame:
    """Tests of calibration: a row for each model and test."""
    rows = []
    for m in models:
        calibration = getattr(m, "calibration", None)  # models of K classes have none
        others = calibration.tests if calibration is not None else ()
        rows += [{"model": m.model, **flatten(test)} for test in (*m.scores.miscalibration_tests, *others)]
    return make_frame(rows)


def group_score_frame(groups: Iterable[GroupResult]) -> pd.DataFrame:
    """Mean scores by group: a row for each group and model."""
    return make_frame(
        [
            {**_group_columns(g), "model": m.model, **{s.name: s.value for s in m.scores}}
            for g in groups
            for m in g.models
        ]
    )


def group_decomposition_frame(groups: Iterable[GroupResult]) -> pd.DataFrame:
    """Raw components by group: a row for each group, model and score."""
    return make_frame(
        [{**_group_columns(g), **row} for g in groups for m in g.models for row in _components(m)]
    )


def group_interval_frame(groups: Iterable[GroupResult]) -> pd.DataFrame:
    """Intervals by group: a row for each group, model and number."""
    return make_frame(
        [{**_group_columns(g), **row} for g in groups for m in g.models for row in _intervals(m)]
    )


def record_frame(records: Sequence[Any], **columns: Sequence[Any]) -> pd.DataFrame:
    """Records without arrays as a table; other columns of the same length come first."""
    return make_frame(
        [
            {**{name: values[place] for name, values in columns.items()}, **flatten(record)}
            for place, record in enumerate(records)
        ]
    )


def reference_frame(comparison: ReferenceComparison | None) -> pd.DataFrame:
    """Changes since a reference sample: of the event rate and uncertainties, then of each model."""
    if comparison is None or comparison.prevalence is None:
        return make_frame([])
    rows = [("", change) for change in (comparison.prevalence, *comparison.uncertainties)]
    for found in comparison.models:
        parts = () if found.rate is None else (found.rate.forecasts, found.rate.calibration)
        rows += [(found.model, change) for change in (*parts, *found.changes)]
    return record_frame([change for _, change in rows], model=[model for model, _ in rows])


def stability_frame(found: Iterable[Stability]) -> pd.DataFrame:
    """Shares of forecasts by bin: a row for each model and bin, which ends at `end`."""
    rows = [
        {"model": one.model, "bin": place + 1, "end": end, "reference": before, "sample": now}
        for one in found
        for place, (end, before, now) in enumerate(
            zip([*one.ends.tolist(), 1.0], one.reference.tolist(), one.sample.tolist(), strict=True)
        )
    ]
    return make_frame(rows)


def verdict_frame(judgements: Sequence[Any]) -> pd.DataFrame:
    """Verdicts on limits: a row for each; the columns are there even if nothing was judged."""
    import pandas as pd

    rows = [
        flatten(judgement)
        | {"verdict": str(judgement.verdict)}
        | {column: getattr(judgement.needed, name, None) for name, column in _NEEDED_NUMBERS.items()}
        for judgement in judgements
    ]
    numbers = (*_VERDICT_NUMBERS, *_NEEDED_NUMBERS.values())
    columns = [*_VERDICT_TEXTS, *_VERDICT_NUMBERS, "verdict", "sentence", *_NEEDED_NUMBERS.values()]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))


def make_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a table with these rows."""
    import pandas as pd

    return pd.DataFrame(rows)


def flatten(record: Any) -> dict[str, Any]:
    """Return the fields of a record by name."""
    from dataclasses import fields

    return {field.name: getattr(record, field.name) for field in fields(record)}


def model_rows(model: str, columns: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of several columns of equal length."""
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{"model": model, **dict(zip(columns, row, strict=True))} for row in values]


def _calibration_rows(model: str, calibration: ModelCalibration) -> Iterable[dict[str, Any]]:
    line, errors, binned = calibration.line, calibration.errors, calibration.binned
    smooth = () if errors is None else errors.intervals
    for estimate in (line.slope, line.intercept, line.intercept_at_slope_one, *smooth):
        yield _row(model, estimate.measure, "value", estimate)
    if binned.interval is not None:
        row = _row(model, binned.interval.measure, "value", binned.interval)
        yield row if binned.corrected is None else {**row, "corrected": binned.corrected}


def _sample_intervals(data: DataSummary) -> Iterable[dict[str, Any]]:
    sample = data.sample
    for count in data.classes.counts if data.classes is not None else ():
        if count.interval is not None:
            yield _row("", count.label, "share", count.interval)
    if sample.prevalence_interval is not None:
        yield _row("", "prevalence", "mean", sample.prevalence_interval)
    for estimate in sample.uncertainties:
        yield _row("", estimate.measure, "uncertainty", estimate)


def _intervals(scores: ModelScores) -> Iterable[dict[str, Any]]:
    for score in scores.scores:
        for number, estimate in (("mean", score.interval), ("skill", score.skill_interval)):
            if estimate is not None:
                yield _row(scores.model, score.name, number, estimate)
    for part in scores.components:
        yield {**_row(scores.model, part.measure, part.component, part), "corrected": part.corrected}


def _row(model: str, measure: str, number: str, estimate: Estimate | ComponentEstimate) -> dict[str, Any]:
    wanted = ("value", "standard_error", "lower", "upper", "level", "n", "method", "note")
    found = {name: getattr(estimate, name) for name in wanted}
    return {"model": model, "measure": measure, "number": number, **found}


def _components(scores: ModelScores) -> list[dict[str, Any]]:
    return [
        {
            "model": scores.model,
            "measure": part.name,
            "score": part.score,
            "miscalibration": part.miscalibration,
            "discrimination": part.discrimination,
            "uncertainty": part.uncertainty,
        }
        for part in scores.decompositions
    ]


def _group_columns(group: GroupResult) -> dict[str, Any]:
    sample = group.sample
    events = {} if sample.classes else {"events": sample.events, "prevalence": sample.prevalence}
    return {"group": group.column, "label": group.label, "n": sample.rows, **events}
