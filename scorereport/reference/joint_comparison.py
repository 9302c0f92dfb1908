"""Comparison of what R answers about all binary models together: calibration, decisions, pairs and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.decision_comparison import compare_decisions, compare_net_benefits
from scorereport.reference.group_comparison import compare_groups
from scorereport.reference.inference_comparison import (
    ENGINE,
    INTERVALS,
    InferenceComparer,
    compare_calibration,
    compare_differences,
    compare_intervals,
    compare_ranks,
    compare_sample_intervals,
)
from scorereport.reference.inference_questions import InferenceAnswer, InferenceQuestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.data.predictions import Predictions
    from scorereport.reference.inquiry import Answers
    from scorereport.results.evaluation import Evaluation


def compare_together(
    answers: Answers, evaluation: Evaluation, predictions: Predictions
) -> Iterator[Comparison]:
    """Compare all models, their pairs and all groups with the answers of R, in the order of the questions."""
    question = InferenceQuestion(predictions=predictions, settings=evaluation.settings)
    answer = InferenceAnswer(vectors=answers.about_all())
    yield from compare_inference(answer, evaluation, question)
    for asked in question.groups():
        of_groups = InferenceAnswer(vectors=answers.about_all())
        yield from compare_groups(of_groups, evaluation, asked, has_rows=has_rows(evaluation))


def has_rows(evaluation: Evaluation) -> bool:
    """Whether errors and tests were computed from rows, as in R; other engines use buckets of rows."""
    return evaluation.settings.engine == "memory"


def compare_inference(
    answer: InferenceAnswer, evaluation: Evaluation, question: InferenceQuestion
) -> Iterator[Comparison]:
    """Compare calibration, intervals, decisions and differences."""
    settings, from_rows = evaluation.settings, has_rows(evaluation)
    for number, result in enumerate(evaluation.models, start=1):
        c = InferenceComparer(subject=result.model, prefix=f"m{number}.", answer=answer)
        yield from compare_decisions(c, result, question)
        if settings.infers:
            yield from compare_calibration(c, result, has_rows=from_rows)
            if from_rows:
                yield from compare_intervals(c, result.scores.scores, method=settings.interval_method)
            else:
                yield c.state(INTERVALS, Verdict.NOT_COMPARED, ENGINE)
    if settings.infers:
        if from_rows:
            everything = InferenceComparer(subject="All models", prefix="", answer=answer)
            yield from compare_sample_intervals(everything, evaluation.data.sample)
            yield from compare_ranks(answer, evaluation, question)
        yield from compare_net_benefits(answer, evaluation, question)
        yield from compare_differences(answer, evaluation, question, has_rows=from_rows)
