"""The evaluation of binary models from the digests of an engine, with notes on methods and omissions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import join_words
from scorereport._utils.progress import parts, report_stage, report_work
from scorereport._utils.work_plan import Stage
from scorereport.curves.fitted import histogram_edges
from scorereport.curves.murphy import kinks_of
from scorereport.curves.thinning import even_knots
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.evaluation.decision_thresholds import decide_at_thresholds
from scorereport.evaluation.engines.digest_null import draw_digest_null
from scorereport.evaluation.engines.digest_plan import case_weight, plan_model_digest
from scorereport.evaluation.engines.digest_scores import describe_digest_sample, score_digest
from scorereport.evaluation.engines.engine_calibration import (
    draw_digest_bands,
    examine_models,
    shows_miscalibration,
)
from scorereport.evaluation.engines.engine_comparison import (
    compare_digested_groups,
    compare_digests,
    evaluate_digested_groups,
)
from scorereport.evaluation.engines.scans import count_at
from scorereport.evaluation.engines.scored_digests import ScoredDigest, bucket_units_of
from scorereport.evaluation.evaluated_parts import DataDescription, EvaluatedParts
from scorereport.evaluation.forecast_summary import count_weighted_cases, find_quantiles
from scorereport.evaluation.model_calibration import adjust_calibration
from scorereport.evaluation.model_curves import collect_curves, locate_segments
from scorereport.evaluation.model_scores import adjust_scores
from scorereport.evaluation.notes import (
    CLUSTERS_INDEPENDENT_IN_TIME,
    INDEPENDENT_IN_TIME,
    describe_few_events,
    describe_refuted,
    describe_weightless,
)
from scorereport.inference.calibration_in_time import note_independence
from scorereport.inference.calibration_null import judge_null
from scorereport.inference.decision_tallies import tally_counts
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.reliability.decomposition import MurphyDecomposition
from scorereport.results.model_records import Comparisons, ForecastSummary, ModelResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.evaluation.engines.protocol import Engine, Survey
    from scorereport.evaluation.engines.scored_digests import DigestedFit
    from scorereport.inference.calibration_null import CalibrationNull
    from scorereport.inference.decision_tallies import DecisionTally
    from scorereport.results.model_records import ModelCalibration, ModelCurves, ModelScores
    from scorereport.results.settings import EvaluationSettings


#: Results that need the rows in memory.
LEFT_OUT = (
    "smooth calibration errors",
    "the flexible calibration curve",
    "the interval of the ECE",
    "recalibration",
    "parts of miscalibration",
    "Murphy differences",
    "comparisons of net benefit",
    "calibration by group",
)
_SORTED_BY = {"duckdb": "DuckDB sorted the rows on disk", "spark": "Spark sorted the rows on its cluster"}


def describe_engine(engine: Engine, settings: EvaluationSettings) -> Iterator[str]:
    """Notes on the engine: how rows were sorted, how intervals were computed, and what was left out."""
    survey = engine.survey
    yield (
        f"{_SORTED_BY[engine.name]} and read them once for each model in the order of its forecasts. Counts, "
        "blocks and curves are exact."
    )
    if not survey.sha256:
        yield "The rows have no fixed order, so there is no SHA-256 of them."
    if settings.scale:
        yield "The probability scale is left out: it needs the rows in memory."
    if not settings.infers:
        return
    what = "rows" if survey.clusters is None else "clusters"
    yield (
        f"No row is resampled: intervals come from a grouped jackknife over buckets of {what}; those of "
        "miscalibration and discrimination subtract the overfit in closed form."
    )
    if survey.are_independent:
        yield (
            "Pointwise bands are asymptotic; the simultaneous confidence band is valid for any number of "
            "rows. The tests of miscalibration and the simultaneous consistency band are the same as in "
            "memory: outcomes are drawn from the forecasts, in cells if there are many cases."
        )
    yield f"Left out, because they need the rows in memory: {join_words(LEFT_OUT)}."


def describe_surveyed_rows(survey: Survey, settings: EvaluationSettings, effective: float) -> Iterator[str]:
    """Notes on the outcomes, on refuted forecasts, and on groups without weight.

    `effective` is the effective number of buckets.
    """
    if survey.events in (0, survey.total):
        yield "All outcomes are the same: AUC and skill are not defined."
    elif settings.infers:
        event, other = survey.weigh_classes(survey)
        yield from describe_few_events(
            survey.events / event,
            (survey.total - survey.events) / other,
            are_effective=not survey.are_repeated_rows,
        )
    if settings.infers:
        yield from _describe_dependence(survey, effective)
    for model, (count, rows) in survey.refuted.items():
        yield from [describe_refuted(model, count, rows)] if count else []
    for column, label, size in survey.weightless:
        yield describe_weightless(column, label, size)


def _describe_dependence(survey: Survey, effective: float) -> Iterator[str]:
    if survey.windows and survey.clusters is None:
        yield INDEPENDENT_IN_TIME
    if survey.clusters is not None:
        yield from [CLUSTERS_INDEPENDENT_IN_TIME] if survey.windows else []
        few = describe_few_clusters(survey.clusters, effective)
        yield from [few] if few else []
        yield (
            "The tests of miscalibration, the Hosmer-Lemeshow test, the corrected ECE, intervals at "
            "thresholds and all bands are left out: they need independent rows."
        )
    elif not survey.are_repeated_rows:
        yield (
            "The tests of miscalibration, the Hosmer-Lemeshow test, the corrected ECE and all bands of the "
            "reliability curve are left out: they need rows without weights, or frequency weights."
        )
    if survey.weighted and survey.are_repeated_rows:
        yield (
            "All cases that the weight of a row stands for are in the same bucket, so jackknife intervals "
            "are wider than if each case were a row of its own."
        )
    if survey.has_grade:
        yield "The tests by grade are left out: they need the rows in memory."


def evaluate_with_engine(engine: Engine, settings: EvaluationSettings) -> EvaluatedParts:
    """Evaluate binary models with an engine."""
    survey, infers = engine.survey, settings.infers
    report_work(rows=survey.row_flow.kept)
    report_stage(Stage.SORTING)
    models = digest_models(engine, settings)
    report_stage(Stage.SCORES)
    calibration = _adjust(examine_models(engine, models)) if infers else {}
    nulls = {model.name: draw_digest_null(model, settings) for model in models} if infers else {}
    scores = adjust_scores(
        {m.name: _score(m, survey, calibration.get(m.name), nulls.get(m.name)) for m in models}
    )
    sample = describe_digest_sample(models[0], survey.row_flow.kept, infers=infers)
    models = _count_after_fit(engine, models)
    groups = evaluate_digested_groups(engine, settings)
    report_stage(Stage.BANDS)
    return EvaluatedParts(
        data=describe_survey(survey),
        sample=sample,
        models=tuple(
            _describe_model(
                model,
                scores[model.name],
                calibration.get(model.name),
                nulls.get(model.name),
                survey,
                settings,
            )
            for model in models
        ),
        comparisons=compare_digests(models) if infers else Comparisons(),
        groups=groups,
        heterogeneity=compare_digested_groups(groups, clustered=survey.clusters is not None)
        if infers
        else (),
        notes=(
            *describe_engine(engine, settings),
            *describe_surveyed_rows(survey, settings, models[0].effective_buckets),
        ),
    )


def _adjust(known: Mapping[str, ModelCalibration]) -> dict[str, ModelCalibration]:
    """The calibration of the models, with p-values adjusted for the number of models."""
    adjusted = adjust_calibration(list(known.values()))
    return {name: of for name, of in zip(known, adjusted, strict=True) if of is not None}


def _score(
    model: ScoredDigest, survey: Survey, calibration: ModelCalibration | None, null: CalibrationNull | None
) -> ModelScores:
    tests = [] if null is None else judge_null(null, float(model.fit.n))
    return score_digest(
        model,
        infers=calibration is not None,
        halves=survey.halves.get(model.name, 0),
        lines_reject=calibration is not None and shows_miscalibration(calibration, model.level),
        tests=[note_independence(test) for test in tests] if survey.windows else tests,
    )


def digest_models(engine: Engine, settings: EvaluationSettings) -> list[ScoredDigest]:
    """Sort and digest the rows of each model."""
    survey, measures = engine.survey, choose_measures(settings)
    plan = plan_model_digest(survey, settings, measures)
    return [
        ScoredDigest(
            name=name,
            digest=engine.digest(name, plan),
            measures=measures,
            units=bucket_units_of(survey, survey),
            level=settings.level,
        )
        for name in parts(survey.models, len(survey.models))
    ]


def _count_after_fit(engine: Engine, models: Sequence[ScoredDigest]) -> list[ScoredDigest]:
    """Count at forecasts that depend on the fit: bins of histograms, and kinks of Murphy curves."""
    wanted = {
        model.name: np.unique(np.append(histogram_edges(model.fit.distinct), kinks_of(model.fit)))
        for model in models
        if not model.fit.is_complete
    }
    late = count_at(engine, wanted) if wanted else {}
    return [replace(model, late=late.get(model.name)) for model in models]


def _describe_model(
    model: ScoredDigest,
    scores: ModelScores,
    calibration: ModelCalibration | None,
    null: CalibrationNull | None,
    survey: Survey,
    settings: EvaluationSettings,
) -> ModelResult:
    fit, sums = model.fit, model.digest.murphy / model.fit.n
    tally = _count_decisions(model) if settings.infers else None
    curves = None if null is None else null.curves
    bands = draw_digest_bands(model, settings, curves) if settings.infers else ()
    return ModelResult(
        model=model.name,
        forecasts=_describe_forecasts(model, survey),
        scores=scores,
        murphy=MurphyDecomposition(
            reliability=float(sums[0]),
            resolution=float(sums[1]),
            uncertainty=fit.prevalence * (1 - fit.prevalence),
        ),
        curves=_collect_curves(fit, settings.curve_points, tally),
        bands=bands,
        segments=locate_segments(fit, bands, fit.forecast_cells),
        calibration=calibration,
        thresholds=decide_at_thresholds(fit, settings, tally),
    )


def _count_decisions(model: ScoredDigest) -> DecisionTally:
    """The decisions at each threshold, from counts."""
    units = model.units
    weights = None if units.are_repeated_rows else units.class_weights
    return tally_counts(model.fit, model.level, class_weights=weights, clustered=units.clustered)


def _describe_forecasts(model: ScoredDigest, survey: Survey) -> ForecastSummary:
    digest, cells = model.digest, model.fit.distinct
    counted = cells if survey.counted else count_weighted_cases(cells, case_weight(survey))
    return ForecastSummary(
        forecast_type=model.fit.forecast_type,
        n_distinct=digest.n_distinct,
        minimum=digest.x_min,
        mean=float(digest.forecast / model.fit.n),
        maximum=digest.x_max,
        quantiles=find_quantiles(counted),
    )


def _collect_curves(fit: DigestedFit, points: int, tally: DecisionTally | None) -> ModelCurves:
    if fit.is_complete:
        return collect_curves(fit, points, tally=tally)
    knots = np.unique(np.append(even_knots(points), fit.digest.jumps.x))
    curves = collect_curves(fit, points, knots=knots, tally=tally)
    return replace(curves, roc=replace(curves.roc, auc=fit.auc))


def describe_survey(survey: Survey) -> DataDescription:
    """The description of rows that an engine has surveyed."""
    return DataDescription(
        source=survey.source,
        outcome=survey.outcome_name,
        positive=survey.positive,
        time_name=survey.time_name,
        weighted=survey.weighted,
        weight_kind=survey.weight_kind,
        clusters=survey.clusters,
        row_flow=survey.row_flow,
        sha256=survey.sha256,
        file_sha256=survey.file_sha256,
    )
