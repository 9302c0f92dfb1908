"""Subgroups and periods from digests of their own, and whether groups differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.evaluation.engines.digest_plan import plan_group_digest
from scorereport.evaluation.engines.digest_scores import describe_digest_sample, score_digest
from scorereport.evaluation.engines.scored_digests import ScoredDigest, bucket_units_of
from scorereport.evaluation.subgroups import (
    MOST_GROUPS_WITH_INTERVALS,
    adjust_heterogeneity,
    compare_group_scores,
    warn_of_groups,
)
from scorereport.evaluation.summaries import choose_measures
from scorereport.results.model_records import GroupResult, Heterogeneity, SampleSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.evaluation.engines.protocol import Engine, LabelCount
    from scorereport.results.model_records import EvaluationSettings, ModelScores


def evaluate_digested_groups(
    engine: Engine, settings: EvaluationSettings
) -> dict[str, tuple[GroupResult, ...]]:
    """The groups of each column and, under its name, the periods of the time column."""
    survey = engine.survey
    columns = dict(survey.groups)
    if survey.windows:
        columns[survey.time_name] = survey.windows
    return {column: _evaluate_column(engine, column, labels, settings) for column, labels in columns.items()}


def _evaluate_column(
    engine: Engine, column: str, labels: Sequence[LabelCount], settings: EvaluationSettings
) -> tuple[GroupResult, ...]:
    infers = settings.resamples > 0 and len(labels) <= MOST_GROUPS_WITH_INTERVALS
    measures = choose_measures(settings)
    marks = {
        label.code: plan_group_digest(engine.survey, label, measures, infers=infers)
        for label in labels
        if label.rows >= settings.smallest_group
    }
    scored: dict[int, list[ModelScores]] = {code: [] for code in marks}
    samples: dict[int, SampleSummary] = {}
    by_code = {label.code: label for label in labels}
    for model in engine.survey.models if marks else ():
        halves = engine.survey.halves.get(model, 0)
        for code, digest in engine.digest_groups(model, column, marks).items():
            units = bucket_units_of(engine.survey, by_code[code])
            group = ScoredDigest(
                name=model, digest=digest, measures=measures, units=units, level=settings.level
            )
            scored[code].append(score_digest(group, infers=infers, halves=halves))
            samples[code] = describe_digest_sample(group, by_code[code].rows, infers=infers)
    small = f"Fewer than {settings.smallest_group} rows: counted, not scored."
    return tuple(
        GroupResult(
            column=column,
            label=label.label,
            sample=samples.get(label.code) or _count_label(label),
            models=tuple(scored.get(label.code, ())),
            note="" if label.code in marks else small,
        )
        for label in labels
    )


def _count_label(label: LabelCount) -> SampleSummary:
    return SampleSummary(rows=label.rows, total=float(label.total), events=float(label.events))


def compare_digested_groups(
    by_column: Mapping[str, Sequence[GroupResult]], *, clustered: bool
) -> tuple[Heterogeneity, ...]:
    """Tests whether the scores of each model are the same in all groups of a column."""
    return tuple(
        found
        for column, groups in by_column.items()
        for found in adjust_heterogeneity(list(_compare_column(column, groups, clustered=clustered)))
    )


def _compare_column(
    column: str, groups: Sequence[GroupResult], *, clustered: bool
) -> Iterator[Heterogeneity]:
    scored = [group for group in groups if group.models and group.models[0].scores[0].interval is not None]
    if len(scored) < 2:
        return
    for place, model in enumerate(scored[0].models):
        tests = compare_group_scores(scored, place, warn_of_groups(scored), clustered=clustered)
        yield from (Heterogeneity(column=column, model=model.model, test=test) for test in tests)
