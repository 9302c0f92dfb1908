"""Scores as losses for inference: a name, options and a function; lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.representation import short_repr
from scorereport.reliability.decomposition import find_entry, resolve_score
from scorereport.scores.curvature import derive_overfit_weight, find_curvature_problem
from scorereport.scores.registry import Score

PREVALENCE = "prevalence"
UNCERTAINTY = " uncertainty"
#: Number of prevalences at which an uncertainty is computed; it is concave or piecewise linear between them.
_GRID = 1001


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A proper score of binary forecasts; `sign` is -1 if a higher score is better.

    The label includes the options, so that one score may be used twice. `entry` is that of the registry; a
    function that is not registered has none.
    """

    name: str
    label: str
    score: Callable[[FloatArray, FloatArray], FloatArray]
    sign: int
    options: Mapping[str, Any] = field(default_factory=dict)
    entry: Score | None = None

    __repr__ = short_repr

    @cached_property
    def curvature_problem(self) -> str:
        """Why the score has no overfit weight, as the start of a sentence; empty if it has one."""
        if self.entry is None:
            return find_curvature_problem(self.loss)
        return "" if self.entry.is_smooth else "The score is not smooth"

    def overfit_weight(self, p: FloatArray) -> FloatArray:
        """The overfit weight at probabilities; NaN where it cannot be found."""
        if self.curvature_problem:
            return np.full(len(p), np.nan)
        if self.entry is None or self.entry.overfit_weight is None:
            return derive_overfit_weight(self.loss, p)
        return self.entry.overfit_weight(p, self.options)

    def loss(self, y: FloatArray, p: FloatArray) -> FloatArray:
        """The score of each case, with the sign that makes lower better."""
        values = self.score(y, p)
        return values if self.sign > 0 else -values


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
    return Measure(
        name=name,
        label=label,
        score=function,
        sign=-1 if higher else 1,
        options=options,
        entry=find_entry(score),
    )
