"""The engine against R on seeded cases of every shape, and the known defects of the R package.

The defects do not affect certificates: they are in calls that `certify` never makes. Each is compared with
the number of the engine, which is checked against arithmetic by hand; a defect that has been fixed agrees.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.background import Ahead
from scorereport._utils.formatting import format_counted
from scorereport._utils.progress import parts, steps
from scorereport.inference.component_tests import miscalibration_test
from scorereport.reference.comparison_records import Comparison, Verdict, summarise
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import compare_fit
from scorereport.reliability.fit import corp
from scorereport.study.defect_demonstrations import Demonstration, run_demonstration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.live_references import Reference
    from scorereport.reliability.decomposition import Decomposition
    from scorereport.study.seeded_cases import Case


_X, _Y, _VALUES = [0.12, 0.13, 0.14, 0.9], [0.0, 1.0, 0.0, 1.0], [0.1, 0.9]
_LEVEL = 0.9999
_SUBJECT = "Known defects of reliabilitydiag"
_ANSWERS = ("snapped", "wrong_log", "p_value", "end_of_table")
SNAPPING = (
    "Forecasts are moved to `xvalues` only after sorting, so that equal ones are not pooled: four rows "
    "moved to 0.1 and 0.9."
)
LOG = 'summary(score = "log") uses the function log of base R as a score.'
RESTRICTED = "R offers region.method = restricted_resampling, which fails; the engine does not have it."
P_VALUE = "The p-value is a share of 100 draws and can be 0; the engine counts the sample itself among them."
END = f"The table of Chernoff's quantiles ends; a continuous band of level {_LEVEL} has no bounds."


def show_defects(reference: Reference) -> Iterator[Comparison]:
    """Compare every known defect outside of certificates; each is an expected deviation until it is fixed."""
    try:
        answers = reference.fetch("defects", x=_X, y=_Y, values=_VALUES)
        shown = _demonstrations({name: answers[name] for name in _ANSWERS})
        works = answers["restricted"] == ["works"]
    except (ReferenceFailure, KeyError) as error:
        yield _line("all of them", Verdict.FAILED, f"R could not be asked: {error}")
        return
    yield from (run_demonstration(defect, _SUBJECT) for defect in shown)
    yield _line("restricted resampling", Verdict.AGREES if works else Verdict.EXPECTED, RESTRICTED)


def _line(quantity: str, verdict: Verdict, reason: str) -> Comparison:
    return Comparison(subject=_SUBJECT, quantity=quantity, verdict=verdict, reason=reason)


def _demonstrations(answers: dict[str, Any]) -> tuple[Demonstration, ...]:
    """Demonstrations with arithmetic by hand; R's wrong numbers are those of version 0.2.1.9000."""
    return (
        Demonstration(
            quantity="MCB of forecasts moved to other values",
            ours=lambda: _pooled().miscalibration,
            theirs=lambda: answers["snapped"][0],
            right=13 / 300,
            wrong=0.085,
            reason=SNAPPING,
        ),
        Demonstration(
            quantity="DSC of forecasts moved to other values",
            ours=lambda: _pooled().discrimination,
            theirs=lambda: answers["snapped"][1],
            right=1 / 12,
            wrong=0.125,
            reason=SNAPPING,
        ),
        Demonstration(
            quantity="mean log score by its name",
            ours=lambda: corp(_Y, _X).decompose("log").score,
            theirs=lambda: answers["wrong_log"][0],
            right=-log(0.88 * 0.13 * 0.86 * 0.9) / 4,
            wrong=inf,
            reason=LOG,
        ),
        Demonstration(
            quantity="p-value of a reversed forecast",
            ours=_p_value,
            theirs=lambda: answers["p_value"][0],
            right=0.01,
            wrong=0.0,
            reason=P_VALUE,
        ),
        Demonstration(
            quantity=f"bounds of a band of level {_LEVEL}",
            ours=lambda: _count(corp(_Y, _X).band(level=_LEVEL, method="continuous").lower),
            theirs=lambda: _count(answers["end_of_table"]),
            right=101.0,
            wrong=0.0,
            reason=END,
        ),
    )


def _pooled() -> Decomposition:
    return corp(_Y, [0.1, 0.1, 0.1, 0.9]).decompose("brier")


def _count(bounds: FloatArray) -> int:
    return int(np.isfinite(bounds).sum())


def _p_value() -> float:
    """The p-value of outcomes opposite to the forecast; none of 99 draws is as extreme."""
    fit = corp([1.0, 0.0] * 50, [0.1, 0.9] * 50)
    return miscalibration_test(fit, resamples=99).p_value


#: Levels of bands and costs of bounded scores, in turn.
_LEVELS = (0.9, 0.95, 0.8)
_COSTS = (0.1, 0.3)
#: Bands of one case in this many are resampled, with this many draws: fewer would miss a narrow band.
_RESAMPLED_EVERY, _DRAWS = 7, 200


def ask_ahead(
    cases: Sequence[Case], reference: Reference, seed: int
) -> Ahead[tuple[Case, ModelComparer | Comparison]]:
    """Ask R about all cases in a thread; for each, the answer or the line that states its failure."""
    asked = ((case, _ask(case, number, reference, seed)) for number, case in enumerate(cases))
    return Ahead(asked, most=0, stop=partial(_end_session, reference))


def _end_session(reference: Reference) -> None:
    """End R at once, so that a thread that waits for its answer goes on."""
    reference.session.end()


def compare_live(
    cases: Sequence[Case],
    reference: Reference,
    seed: int,
    answers: Iterable[tuple[Case, ModelComparer | Comparison]] | None = None,
) -> Iterator[Comparison]:
    """Compare all cases, summarised by quantity, then by shape; unexpected results have separate lines.

    `answers` are those of R, if it has been asked already.
    """
    with ExitStack() as stack:
        given = stack.enter_context(ask_ahead(cases, reference, seed)) if answers is None else answers
        asked = parts(steps(given, len(cases), f"asking {reference.name}"), len(cases))
        found = [(case, _compare_answer(answer)) for case, answer in asked]
    yield from summarise((line for _, lines in found for line in lines), "All shapes", "case")
    for shape, held in groupby(sorted(found, key=_shape_of), key=_shape_of):
        yield _worst_of_shape(shape, list(held))


def _shape_of(pair: tuple[Case, list[Comparison]]) -> str:
    return pair[0].shape


def _worst_of_shape(shape: str, held: list[tuple[Case, list[Comparison]]]) -> Comparison:
    """The agreeing number of a shape that is nearest to its tolerance."""
    rows = [len(case.y_true) for case, _ in held]
    agreeing = [line for _, lines in held for line in lines if line.verdict is Verdict.AGREES]
    numbers = [line for line in agreeing if line.tolerance and line.difference is not None]
    counts = f"{format_counted(len(agreeing), 'line')} of {format_counted(len(held), 'case')}"
    counts += f", {min(rows):,} to {max(rows):,} rows"
    if not numbers:
        return Comparison(subject="Shapes", quantity=shape, verdict=Verdict.NOT_COMPARED, reason=counts)
    worst = max(numbers, key=lambda line: (line.difference or 0.0) / (line.tolerance or 1.0))
    return replace(worst, subject="Shapes", quantity=shape, reason=f"{counts}. The worst: {worst.quantity}")


def _ask(case: Case, number: int, reference: Reference, seed: int) -> ModelComparer | Comparison:
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
        return _failed(case.name, str(failure))
    return ModelComparer(subject=case.name, question=question, answer=answer, is_package=reference.is_package)


def _compare_answer(answer: ModelComparer | Comparison) -> list[Comparison]:
    return [answer] if isinstance(answer, Comparison) else list(compare_fit(answer))


def _failed(subject: str, reason: str) -> Comparison:
    return Comparison(
        subject=subject,
        quantity="an answer of R",
        verdict=Verdict.FAILED,
        reason=reason,
    )
