"""Scores as losses for inference: a name, options and a function; lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.reliability.decomposition import resolve_score

PREVALENCE = "prevalence"
UNCERTAINTY = " uncertainty"
#: Number of prevalences at which an uncertainty is computed; it is concave or piecewise linear between them.
_GRID = 1001


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A proper score of binary forecasts; `sign` is -1 if a higher score is better.

    The label includes the options, so that one score may be used twice.
    """

    name: str
    label: str
    score: Callable[[FloatArray, FloatArray], FloatArray]
    sign: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def loss(self, y: FloatArray, p: FloatArray) -> FloatArray:
        """The score of each case, with the sign that makes lower better."""
        return self.sign * self.score(y, p)


def expected_score(measure: Measure, prevalence: FloatArray, forecast: FloatArray | None) -> FloatArray:
    """Return the mean score of a constant forecast at each prevalence, or of the perfect forecast if None."""
    ones, zeros = np.ones(len(prevalence)), np.zeros(len(prevalence))
    of_event = measure.score(ones, ones if forecast is None else forecast)
    of_none = measure.score(zeros, zeros if forecast is None else forecast)
    # an outcome that never occurs does not count, even if its score is infinite
    events = prevalence * np.where(prevalence == 0, 0.0, of_event)
    return events + (1 - prevalence) * np.where(prevalence == 1, 0.0, of_none)


def image_of_prevalence(measure: Measure, lower: float, upper: float) -> tuple[float, float]:
    """Return the smallest and largest uncertainty for a prevalence between bounds; NaN if these are NaN."""
    if np.isnan(lower + upper):
        return np.nan, np.nan
    prevalence = np.linspace(lower, upper, _GRID)
    uncertainty = expected_score(measure, prevalence, prevalence)
    return float(uncertainty.min()), float(uncertainty.max())


def uncertainty_slope(measure: Measure, prevalence: float) -> float:
    """Return the derivative of the uncertainty by the prevalence: as at a fixed forecast if proper."""
    of_event, of_none = measure.score(np.array([1.0, 0.0]), np.array([prevalence, prevalence]))
    return float(of_event - of_none)


def resolve_measure(score: str | Callable[..., FloatArray], options: Mapping[str, Any]) -> Measure:
    """Make a measure from a score as `Corp.decompose` takes it."""
    name, function, higher = resolve_score(score, dict(options))
    listed = ", ".join(f"{option}={value!r}" for option, value in options.items())
    label = f"{name}({listed})" if listed else name
    return Measure(name=name, label=label, score=function, sign=-1 if higher else 1, options=options)
