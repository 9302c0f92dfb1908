"""Recorded answers of the R package, which check the engine where R is not installed.

They are about data of their own, never about the user's; `validation/record.py` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.files import find_package_folder
from scorereport.curves.fitted import roc_curve
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.reference.band_comparison import compare_bands
from scorereport.reference.comparison_records import Comparison, summarise
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Answer, BandAnswer, Question
from scorereport.results.settings import EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reliability.decomposition import Decomposition
    from scorereport.reliability.fit import Corp


@cache
def read_recorded_answers() -> dict[str, Any]:
    """Read the file of recorded answers, with the software that computed them."""
    return json.loads((find_package_folder("recorded") / "reliabilitydiag.json").read_text(encoding="utf-8"))


def describe_recorded_answers() -> str:
    """State the number of recorded answers, and the software that computed them."""
    software, answers = read_recorded_answers()["software"], len(read_recorded_answers()["cases"])
    return f"{answers} recorded answers of reliabilitydiag {software['reliabilitydiag']} (R {software['R']})"


def compare_with_record() -> Iterator[Comparison]:
    """Compare the engine with all recorded answers: a line for each quantity."""
    lines = (line for case in read_recorded_answers()["cases"] for line in compare_case(case))
    yield from summarise(lines, "Recorded answers", "recorded case")


def compare_case(case: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the engine with one recorded answer."""
    question, answer = read_case(case)
    comparer = ModelComparer(subject=case["name"], question=question, answer=answer, is_package=True)
    yield from compare_fit(comparer)


def compare_fit(comparer: ModelComparer) -> Iterator[Comparison]:
    """Compare everything in an answer of R with a fit of the same cases."""
    fit = comparer.fit()
    yield from comparer.compare(decompose_all(fit, comparer.question.costs))
    yield from comparer.counts(roc_curve(fit).auc, fit.murphy())
    yield from comparer.curve(*fit.corners)
    yield from compare_bands(comparer)


def decompose_all(fit: Corp, costs: tuple[float, float] | None) -> Iterator[Decomposition]:
    """Every score of an evaluation, decomposed by the engine."""
    for measure in choose_measures(EvaluationSettings(cost_interval=costs)):
        yield fit.decompose(measure.name, **measure.options)


def read_case(case: dict[str, Any]) -> tuple[Question, Answer]:
    """Read a recorded case: the question, and the answer of R."""
    asked, recorded = case["question"], case["answer"]
    question = Question(
        y_true=_numbers(asked["y_true"]),
        y_prob=_numbers(asked["y_prob"]),
        level=asked["level"],
        costs=None if asked["costs"] is None else tuple(asked["costs"]),
        draws=asked["draws"],
        seed=asked["seed"],
    )
    bands = {
        name: BandAnswer(
            x=_numbers(band["x"]),
            lower=_numbers(band["lower"]),
            upper=_numbers(band["upper"]),
            level=band["level"],
            error=band["error"],
        )
        for name, band in recorded["bands"].items()
    }
    return question, Answer(
        scores={name: _numbers(values) for name, values in recorded["scores"].items()},
        bins={name: _numbers(values) for name, values in recorded["bins"].items()},
        cep=_numbers(recorded["cep"]),
        totals=_numbers(recorded["totals"]),
        auc=float(recorded["auc"]),
        murphy=_numbers(recorded["murphy"]),
        bands=bands,
        seconds=0.0,
    )


def _numbers(values: list[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers of a document, which has infinite and missing ones as texts."""
    return np.array([float(value) for value in values])
