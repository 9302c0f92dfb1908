"""Figs. 2 to 7 of Nelson (2017): models of two classes, and the simulations of the figures."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, ndtri, stdtrit

from scorereport import scores
from scorereport._utils.choices import SEED
from scorereport.reliability.sampling import random_stream
from scorereport.study.papers.printed_numbers import NELSON as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_claim,
    compare_printed,
    compare_readings,
    half_unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.reference.comparison_records import Comparison
    from scorereport.scores import ScaleMean


#: The coupling of the sources, whose classes lie at 0 and 2: Student t of two degrees.
_SOURCE_COUPLING = 0.5
#: Least distance of the models' probabilities from 0 and 1.
PRECISION = 0.01
_GRID_QUANTILES = 20_000
#: Exponents of decisiveness, accuracy and robustness.
EXPONENTS = (1.0, 0.0, -2 / 3)


class ClassModel(NamedTuple):
    """The distribution that a model assumes for one class."""

    mean: float
    variance: float = 1.0
    coupling: float = _SOURCE_COUPLING


FIRST, SECOND = ClassModel(0.0), ClassModel(2.0)
PERFECT = (FIRST, SECOND)
#: The model of Fig. 7: both tails too short.
GAUSSIAN = (FIRST._replace(coupling=0.0), SECOND._replace(coupling=0.0))
#: Models of Figs. 5 and 6, wrong in their second class, and whether they are too confident.
WRONG_MODELS = {
    "Fig. 5a, mean 1 for 2": (SECOND._replace(mean=1.0), False),
    "Fig. 5b, mean 3 for 2": (SECOND._replace(mean=3.0), True),
    "Fig. 6a, variance .5 for 1": (SECOND._replace(variance=0.5), True),
    "Fig. 6b, variance 2 for 1": (SECOND._replace(variance=2.0), False),
    "Fig. 6c, coupling 0 for .5": (SECOND._replace(coupling=0.0), True),
    "Fig. 6d, coupling 1 for .5": (SECOND._replace(coupling=1.0), False),
}
#: Ranges of x that Fig. 7 may show, which the paper does not state, and what it prints.
WINDOWS: dict[str, tuple[float, float] | None] = {
    "whole line": None,
    "x from -10 to 10": (-10.0, 10.0),
    "x from -7.5 to 9.5": (-7.5, 9.5),
}
FIGURE_7 = {"Model probability": "0.56", "Source probability": "0.62", "Divergence probability": "0.90"}


class ScaleMeans(NamedTuple):
    """Decisiveness, accuracy and robustness, each of the model and of the source."""

    decisiveness: ScaleMean
    accuracy: ScaleMean
    robustness: ScaleMean

    @property
    def slope(self) -> float:
        """Slope of the line of marks: above 1 for a model that is too confident."""
        rise = self.decisiveness.model - self.robustness.model
        run = self.decisiveness.source - self.robustness.source
        return rise / run if run else math.nan


def average_model(
    models: tuple[ClassModel, ClassModel], window: tuple[float, float] | None = None
) -> ScaleMeans:
    """Means over both sources, by their quantiles; values outside `window` are left out."""
    classes = [true_probabilities(models, label, window) for label in (0, 1)]
    model, source = (np.concatenate(part) for part in zip(*classes, strict=True))
    return ScaleMeans(*(average(model, source, m) for m in EXPONENTS))


def average_class(models: tuple[ClassModel, ClassModel], label: int) -> ScaleMeans:
    """Means over the source of one class."""
    model, source = true_probabilities(models, label)
    return ScaleMeans(*(average(model, source, m) for m in EXPONENTS))


def average(model: FloatArray, source: FloatArray, m: float) -> ScaleMean:
    """The mean with one exponent, of the model and of the source."""
    return scores.ScaleMean(
        exponent=m, model=scores.generalized_mean(model, m), source=scores.generalized_mean(source, m)
    )


def true_probabilities(
    models: tuple[ClassModel, ClassModel], label: int, window: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Probabilities of model and source for a class where it is the true one, at its quantiles."""
    x = 2.0 * label + stdtrit(2, (np.arange(_GRID_QUANTILES) + 0.5) / _GRID_QUANTILES)
    x = x if window is None else x[(x >= window[0]) & (x <= window[1])]
    reported = np.clip(posterior(x, models, label), PRECISION, 1 - PRECISION)
    return reported, posterior(x, PERFECT, label)


def posterior(x: FloatArray, models: tuple[ClassModel, ClassModel], label: int) -> FloatArray:
    """Probability of a class given `x`, by the densities of `models` and equal priors."""
    own, other = (
        scores.coupled_gaussian_logpdf(
            x, mean=model.mean, scale=float(np.sqrt(model.variance)), kappa=model.coupling
        )
        for model in (models[label], models[1 - label])
    )
    return expit(own - other)


def compare_figures_2_to_6() -> Iterator[Comparison]:
    """Compare the positions of the three means for a perfect model and for wrong ones."""
    perfect = average_model(PERFECT)
    gap = max(abs(mean.model - mean.source) for mean in perfect)
    yield compare_printed(f"{PAPER}, Fig. 2", "Means of a perfect model minus those of the source", "0", gap)
    for name, (second, is_overconfident) in WRONG_MODELS.items():
        place, _, error = name.partition(", ")
        means = average_model((FIRST, second))
        yield compare_claim(
            f"{PAPER}, {place}",
            f"Slope of the three means, {error}",
            "more than 45°" if is_overconfident else "less than 45°",
            f"slope {means.slope:.3g}",
            holds=means.slope > 1 if is_overconfident else means.slope < 1,
        )
        yield compare_claim(
            f"{PAPER}, {place}",
            f"Accuracy of the model against that of the source, {error}",
            "model below source",
            f"model {means.accuracy.model:.4f}, source {means.accuracy.source:.4f}",
            holds=means.accuracy.model < means.accuracy.source,
        )


def compare_figure_7() -> Iterator[Comparison]:
    """The three probabilities of a Gaussian model for heavy-tailed sources."""
    means = {name: average_model(GAUSSIAN, window).accuracy for name, window in WINDOWS.items()}
    matching = [
        name for name, mean in means.items() if all(map(_prints_as, _values(mean), FIGURE_7.values()))
    ]
    why = "The range of x is not stated" + f"; all three are reproduced for {' or '.join(matching)}." * bool(
        matching
    )
    for position, (quantity, printed) in enumerate(FIGURE_7.items()):
        readings = {name: _values(mean)[position] for name, mean in means.items()}
        yield compare_readings(f"{PAPER}, Fig. 7", quantity, printed, readings, reason=why)
    model, source, _ = map(Fraction, FIGURE_7.values())
    yield compare_printed(
        f"{PAPER}, Fig. 7", "Printed model over printed source", "0.90", float(model / source)
    )


def _values(mean: ScaleMean) -> tuple[float, float, float]:
    return mean.model, mean.source, mean.divergence


def _prints_as(value: float, printed: str) -> bool:
    return abs(value - float(printed)) <= half_unit(printed)


#: Cases of both classes together, and the bins of each class.
CASES, BINS = 20_000, 20
#: Quantiles of each class that make up a ROC curve, and its points.
_QUANTILES, _POINTS = 2_000, 60

CLOSER = (FIRST, WRONG_MODELS["Fig. 5a, mean 1 for 2"][0])


class ClassBins(NamedTuple):
    """Bins by the model's probability of one class: frequency of the class, mean of the model, events."""

    source: FloatArray
    model: FloatArray
    events: FloatArray


class SimulatedRoc(NamedTuple):
    """A ROC curve and the area under it."""

    fpr: FloatArray
    tpr: FloatArray
    area: float


def draw_two_classes() -> tuple[IntArray, FloatArray]:
    """Draw seeded cases of both sources in turn: their classes and their values of x."""
    label = np.arange(CASES) % 2
    return label, 2.0 * label + stdtrit(2, random_stream(SEED, 2).random(CASES))


def bin_class(models: tuple[ClassModel, ClassModel], label: int) -> ClassBins:
    """Sort all cases by the probability of one class and cut them into bins of equal count.

    Probabilities are clipped to the limits of the model after sorting: clipped values would be ties, and
    their order would decide the bins.
    """
    drawn, x = draw_two_classes()
    probability = posterior(x, models, label)
    order = np.argsort(probability, kind="stable")
    observed = np.split((drawn == label)[order], BINS)
    reported = np.split(np.clip(probability[order], PRECISION, 1 - PRECISION), BINS)
    return ClassBins(
        source=np.array([part.mean() for part in observed]),
        model=np.array(
            [scores.generalized_mean(q[is_true], 0) for q, is_true in zip(reported, observed, strict=True)]
        ),
        events=np.array([part.sum() for part in observed], dtype=np.float64),
    )


def trace_roc(models: tuple[ClassModel, ClassModel], cases: tuple[ClassModel, ClassModel]) -> SimulatedRoc:
    """ROC curve of the second class if `models` classify and cases have other densities."""
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
    """Compare the claims of the text about a model whose classes are too close."""
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
