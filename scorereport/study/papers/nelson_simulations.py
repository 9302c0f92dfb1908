"""Simulations behind Figs. 2 to 6 of Nelson (2017): cases of two classes in bins, and their ROC curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from scorereport import scores
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.study.papers.citations import NELSON as PAPER
from scorereport.study.papers.nelson_figures import (
    FIRST,
    PERFECT,
    PRECISION,
    WRONG_MODELS,
    ClassModel,
    average_model,
    posterior,
)
from scorereport.study.papers.printed_numbers import compare_claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.reference.comparison_records import Comparison

#: Cases of both classes together, and the bins of each class.
CASES, BINS = 20_000, 20
#: Quantiles of each class that make up a ROC curve, and its points.
_QUANTILES, _POINTS = 2_000, 60

CLOSER = (FIRST, WRONG_MODELS["Fig. 5a, mean 1 for 2"][0])


class ClassBins(NamedTuple):
    """Cases binned by what a model gives to one class: its frequency, the model's mean, its events."""

    source: FloatArray
    model: FloatArray
    events: FloatArray


class SimulatedRoc(NamedTuple):
    """A ROC curve and the area under it."""

    fpr: FloatArray
    tpr: FloatArray
    area: float


def draw_two_classes() -> tuple[IntArray, FloatArray]:
    """Seeded cases of both sources in turn: their classes, and where they are seen."""
    label = np.arange(CASES) % 2
    return label, 2.0 * label + stdtrit(2, random_stream(SEED, 2).random(CASES))


def bin_class(models: tuple[ClassModel, ClassModel], label: int) -> ClassBins:
    """Sort all cases by the probability of one class and cut them into bins of equal count.

    The limits of the model come after the sorting: values pulled to a limit would be ties, and their order
    would decide what is in which bin.
    """
    drawn, x = draw_two_classes()
    probability = posterior(x, models, label)
    order = np.argsort(probability, kind="stable")
    came = np.split((drawn == label)[order], BINS)
    reported = np.split(np.clip(probability[order], PRECISION, 1 - PRECISION), BINS)
    return ClassBins(
        source=np.array([part.mean() for part in came]),
        model=np.array(
            [scores.generalized_mean(q[is_true], 0) for q, is_true in zip(reported, came, strict=True)]
        ),
        events=np.array([part.sum() for part in came], dtype=np.float64),
    )


def trace_roc(models: tuple[ClassModel, ClassModel], cases: tuple[ClassModel, ClassModel]) -> SimulatedRoc:
    """ROC curve of the second class if `models` classify and cases come from other densities."""
    first, second = (posterior(_quantiles(of_class), models, 1) for of_class in cases)
    together = np.concatenate([first, second])
    threshold = np.quantile(together, np.linspace(1, 0, _POINTS + 1))
    fpr, tpr = ((found[:, None] >= threshold).mean(axis=0) for found in (first, second))
    area = scores.roc_auc(np.repeat([0, 1], _QUANTILES), together)
    return SimulatedRoc(np.append(0.0, fpr), np.append(0.0, tpr), area)


def _quantiles(model: ClassModel) -> FloatArray:
    chances = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    standard = stdtrit(1 / model.coupling, chances) if model.coupling else ndtri(chances)
    return np.asarray(model.mean + np.sqrt(model.variance) * standard)


def compare_figures_4_and_5() -> Iterator[Comparison]:
    """What the text says of a model whose classes are too close."""
    actual, predicted = (trace_roc(CLOSER, cases).area for cases in (PERFECT, CLOSER))
    yield compare_claim(
        f"{PAPER}, Fig. 4d",
        "Area under the actual ROC curve against the predicted, mean 1 for 2",
        "actual above predicted",
        f"actual {actual:.4f}, predicted {predicted:.4f}",
        holds=actual > predicted,
    )
    wrong, perfect = average_model(CLOSER), average_model(PERFECT)
    yield compare_claim(
        f"{PAPER}, Fig. 5a",
        "Decisiveness and robustness against those of a perfect model, mean 1 for 2",
        "less decisive, more robust",
        f"{wrong.decisiveness.model:.4f} and {wrong.robustness.model:.4f}"
        f" against {perfect.decisiveness.model:.4f} and {perfect.robustness.model:.4f}",
        holds=wrong.decisiveness.model < perfect.decisiveness.model
        and wrong.robustness.model > perfect.robustness.model,
    )
