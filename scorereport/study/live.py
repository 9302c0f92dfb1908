"""The engine against R, live, on seeded cases of every shape."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_counted
from scorereport._utils.progress import steps
from scorereport.reference.comparison_records import Comparison, Verdict, summarise
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import compare_fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.reference.live_references import Reference
    from scorereport.study.seeded_cases import Case

#: Levels of bands and costs of bounded scores, in turn.
_LEVELS = (0.9, 0.95, 0.8)
_COSTS = (0.1, 0.3)
#: Bands are resampled of every so many cases, with so many draws: fewer would not see a band too narrow.
_RESAMPLED_EVERY, _DRAWS = 7, 200


def compare_live(cases: Sequence[Case], reference: Reference, seed: int) -> Iterator[Comparison]:
    """All cases, summed up by quantity and then by shape; what nobody expects stands for itself."""
    asked = steps(enumerate(cases), len(cases), f"asking {reference.name}")
    found = [(case, _compare_case(case, number, reference, seed)) for number, case in asked]
    yield from summarise((line for _, lines in found for line in lines), "All shapes", "case")
    for shape, held in groupby(sorted(found, key=_shape_of), key=_shape_of):
        yield _worst_of_shape(shape, list(held))


def _shape_of(pair: tuple[Case, list[Comparison]]) -> str:
    return pair[0].shape


def _worst_of_shape(shape: str, held: list[tuple[Case, list[Comparison]]]) -> Comparison:
    """The number of a shape that comes nearest to its tolerance, among those that agree."""
    rows = [len(case.y_true) for case, _ in held]
    agreeing = [line for _, lines in held for line in lines if line.verdict is Verdict.AGREES]
    numbers = [line for line in agreeing if line.tolerance and line.difference is not None]
    told = f"{format_counted(len(agreeing), 'line')} of {format_counted(len(held), 'case')}"
    told += f", {min(rows):,} to {max(rows):,} rows"
    if not numbers:
        return Comparison(subject="Shapes", quantity=shape, verdict=Verdict.NOT_COMPARED, reason=told)
    worst = max(numbers, key=lambda line: (line.difference or 0.0) / (line.tolerance or 1.0))
    return replace(worst, subject="Shapes", quantity=shape, reason=f"{told}. The worst: {worst.quantity}")


def _compare_case(case: Case, number: int, reference: Reference, seed: int) -> list[Comparison]:
    question = Question(
        y_true=case.y_true,
        y_prob=case.y_prob.astype(np.float64),
        level=_LEVELS[number % len(_LEVELS)],
        costs=_COSTS,
        draws=_DRAWS if number % _RESAMPLED_EVERY == 0 else 0,
        seed=seed,
    )
    try:
        answer = read_answer(reference.ask(question), question)
    except ReferenceFailure as failure:
        return [_failed(case.name, str(failure))]
    comparer = ModelComparer(
        subject=case.name, question=question, answer=answer, is_package=reference.is_package
    )
    return list(compare_fit(comparer))


def _failed(subject: str, reason: str) -> Comparison:
    return Comparison(
        subject=subject,
        quantity="an answer of R",
        verdict=Verdict.FAILED,
        reason=reason,
    )
