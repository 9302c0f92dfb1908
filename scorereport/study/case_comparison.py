"""The comparison of one seeded case with a live reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.recorded_answers import compare_fit

if TYPE_CHECKING:
    from scorereport.reference.live_references import Reference
    from scorereport.study.seeded_cases import Case

#: Levels of bands and costs of bounded scores, in turn.
_LEVELS = (0.9, 0.95, 0.8)
_COSTS = (0.1, 0.3)
#: Bands of one case in this many are resampled, with this many draws: fewer would miss a narrow band. It
#: takes ten times as long as all other comparisons, so that of many cases fewer are resampled.
_RESAMPLED_EVERY, _DRAWS = 7, 200
_MANY, _RESAMPLED_OF_MANY = 300, 70


def compare_case_live(case: Case, number: int, reference: Reference, seed: int) -> list[Comparison]:
    """Ask a reference about a case, and compare everything in its answer; raises a `ReferenceFailure`."""
    question = Question(
        y_true=case.y_true,
        y_prob=case.y_prob.astype(np.float64),
        level=_LEVELS[number % len(_LEVELS)],
        costs=_COSTS,
        draws=_DRAWS if _is_resampled(number) else 0,
        seed=seed,
    )
    answer = read_answer(reference.ask(question), question)
    comparer = ModelComparer(
        subject=case.name, question=question, answer=answer, is_package=reference.is_package
    )
    return list(compare_fit(comparer))


def _is_resampled(number: int) -> bool:
    return number % (_RESAMPLED_EVERY if number < _MANY else _RESAMPLED_OF_MANY) == 0


def failed_case(case: Case, reason: str) -> Comparison:
    """The line of a case that R did not answer."""
    return Comparison(subject=case.name, quantity="an answer of R", verdict=Verdict.FAILED, reason=reason)
