"""Sentences on what an engine did, and what it leaves out because it reads rows once, in sorted order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.evaluation.notes import (
    CLUSTERS_INDEPENDENT_IN_TIME,
    INDEPENDENT_IN_TIME,
    describe_few_events,
    describe_refuted,
    describe_weightless,
)
from scorereport.inference.mean_errors import describe_few_clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation.engines.protocol import Engine, Survey
    from scorereport.results.model_records import EvaluationSettings

_PLACES = {"duckdb": "DuckDB sorted the rows on disk", "spark": "Spark sorted the rows on its cluster"}


def describe_engine(engine: Engine, settings: EvaluationSettings) -> Iterator[str]:
    """Who sorted the rows, how intervals were made, and what was left out."""
    survey = engine.survey
    counts = "Counts, blocks and curves are exact."
    yield f"{_PLACES[engine.name]}, and each model's were read once in the order of its forecasts. {counts}"
    if not survey.sha256:
        yield "The rows have no order here, so that there is no SHA-256 of them."
    if settings.resamples == 0:
        return
    what = "rows" if survey.clusters is None else "clusters"
    yield (
        f"Nothing is resampled: intervals come from a grouped jackknife over buckets of {what}, and those of "
        "miscalibration and discrimination take off the overfit in closed form."
    )
    if survey.clusters is None and survey.are_repeated_rows:
        yield "Pointwise bands are asymptotic; the simultaneous one holds for every number of rows."
    yield (
        "Left out, because they need the rows in memory: tests of miscalibration by resampling, the "
        "simultaneous consistency band, smooth calibration errors, the flexible calibration curve, the "
        "interval of the ECE, recalibration, the probability scale, Murphy differences and "
        "calibration by group."
    )


def describe_surveyed_rows(survey: Survey, settings: EvaluationSettings, effective: float) -> Iterator[str]:
    """Notes on the outcomes, the forecasts that were refuted, and the rows without weight.

    `effective` is how many buckets of equal weight would say as much as those that there are.
    """
    if survey.events in (0, survey.total):
        yield "All outcomes are the same: AUC and skill are not defined."
    elif settings.resamples > 0:
        event, other = survey.weigh_classes(survey)
        yield from describe_few_events(
            survey.events / event,
            (survey.total - survey.events) / other,
            are_effective=not survey.are_repeated_rows,
        )
    if settings.resamples > 0:
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
            "The Hosmer-Lemeshow test, the corrected ECE, intervals at thresholds and all bands are left "
            "out: they need independent rows."
        )
    elif not survey.are_repeated_rows:
        yield (
            "The Hosmer-Lemeshow test, the corrected ECE and all bands of the reliability curve are left "
            "out: they need rows without weights, or frequency weights."
        )
    if survey.weighted and survey.are_repeated_rows:
        yield (
            "A row goes into a bucket with all cases that its weight stands for, so that jackknife intervals "
            "are wider than if each case were a row of its own."
        )
    if survey.has_grade:
        yield "The tests by grade are left out: they need the rows in memory."
