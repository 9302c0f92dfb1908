"""Recorded answers of the R package: what can be checked where R is not installed.

They are about data of their own, never about the user's; `validation/record.py` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.files import find_package_folder
from scorereport.curves.fitted import roc_curve
from scorereport.evaluation.summaries import choose_measures
from scorereport.reference.band_comparison import compare_bands
from scorereport.reference.comparison_records import Comparison, summarise
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Answer, BandAnswer, Question
from scorereport.results.model_records import EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reliability.decomposition import Decomposition
    from scorereport.reliability.fit import Corp


@cache
def read_recorded_answers() -> dict[str, Any]:
    """The file of recorded answers, with their origin."""
    return json.loads((find_package_folder("recorded") / "reliabilitydiag.json").read_text(encoding="utf-8"))


def describe_recorded_answers() -> str:
    """Name the recorded answers by their origin."""
    made = read_recorded_answers()["software"]
    return (
        f"{len(read_recorded_answers()['cases'])} recorded answers of reliabilitydiag {made['reliabilitydiag']} "
        f"(R {made['R']})"
    )


def compare_with_record() -> Iterator[Comparison]:
    """The engine against all recorded answers, a line for each quantity."""
    lines = (line for case in read_recorded_answers()["cases"] for line in compare_case(case))
    yield from summarise(lines, "Recorded answers", "recorded case")


def compare_case(case: dict[str, Any]) -> Iterator[Comparison]:
    """The engine against one recorded answer."""
    question, answer = read_case(case)
    comparer = ModelComparer(subject=case["name"], question=question, answer=answer, is_package=True)
    yield from compare_fit(comparer)


def compare_fit(comparer: ModelComparer) -> Iterator[Comparison]:
    """Everything that R was asked, against a fit of the same cases."""
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
    """What was asked, and what R answered."""
    asked, said = case["question"], case["answer"]
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
            **{part: _numbers(band[part]) for part in ("x", "lower", "upper")},
            level=band["level"],
            error=band["error"],
        )
        for name, band in said["bands"].items()
    }
    return question, Answer(
        scores={name: _numbers(values) for name, values in said["scores"].items()},
        bins={name: _numbers(values) for name, values in said["bins"].items()},
        cep=_numbers(said["cep"]),
        totals=_numbers(said["totals"]),
        auc=float(said["auc"]),
        murphy=_numbers(said["murphy"]),
        bands=bands,
        seconds=0.0,
    )


def _numbers(values: list[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers of a document, which writes what is no number as text."""
    return np.array([float(value) for value in values])
