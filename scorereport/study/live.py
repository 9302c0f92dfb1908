"""The engine against R, live, on seeded cases of every shape."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from scorereport.comparison import Comparison, Verdict, summarise
from scorereport.formatting import counted
from scorereport.progress import steps
from scorereport.reference.comparing import BAND_TOLERANCE, Comparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.recorded import compare_fit
from scorereport.reference.session import ReferenceFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.reference.references import Reference
    from scorereport.study.cases import Case

#: Levels of bands and costs of bounded scores, in turn.
_LEVELS = (0.9, 0.95, 0.8)
_COSTS = (0.1, 0.3)
#: Draws of R for each resampled band; they take most of its time.
_DRAWS = 20
#: What is summed up for each shape: the limit of the difference, and a name.
_KINDS = {0.0: "bins, exactly", 1e-12: "scores and recalibrated probabilities", BAND_TOLERANCE: "bands"}


def compare_live(cases: Sequence[Case], reference: Reference, seed: int) -> Iterator[Comparison]:
    """All cases, summed up by quantity and then by shape; what nobody expects stands for itself."""
    asked = steps(enumerate(cases), len(cases), f"asking {reference.name}")
    found = [(case, _compare_case(case, number, reference, seed)) for number, case in asked]
    yield from summarise((line for _, lines in found for line in lines), "All shapes", "case")
    for shape, held in groupby(sorted(found, key=_shape), key=_shape):
        yield from _summarise_shape(shape, list(held))


def _shape(pair: tuple[Case, list[Comparison]]) -> str:
    return pair[0].shape


def _summarise_shape(shape: str, held: list[tuple[Case, list[Comparison]]]) -> Iterator[Comparison]:
    """The largest differences of a shape, over all numbers that agree."""
    rows = [len(case.y_true) for case, _ in held]
    told = f"{counted(len(held), 'case')} of {min(rows):,} to {max(rows):,} rows"
    for tolerance, kind in _KINDS.items():
        lines = [
            line
            for _, compared in held
            for line in compared
            if line.verdict is Verdict.AGREES and line.tolerance == tolerance
        ]
        if lines:
            worst = max(lines, key=lambda line: line.difference or 0.0)
            reason = f"{counted(len(lines), 'number')}, {told}; the worst is the {worst.quantity}"
            yield replace(worst, subject=f"Shape: {shape}", quantity=kind, reason=reason)


def _compare_case(case: Case, number: int, reference: Reference, seed: int) -> list[Comparison]:
    question = Question(
        y_true=case.y_true,
        y_prob=case.y_prob.astype(np.float64),
        level=_LEVELS[number % len(_LEVELS)],
        costs=_COSTS,
        draws=_DRAWS,
        seed=seed,
    )
    try:
        answer = read_answer(reference.ask(question), question)
    except ReferenceFailure as failure:
        return [_failed(case.name, str(failure))]
    comparer = Comparer(subject=case.name, question=question, answer=answer, is_package=reference.is_package)
    return list(compare_fit(comparer))


def _failed(subject: str, reason: str) -> Comparison:
    return Comparison(
        subject=subject,
        quantity="an answer of R",
        verdict=Verdict.FAILED,
        reason=reason,
    )
