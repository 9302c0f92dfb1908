"""Murphy curves of the elementary scores of a forecast and of its components, and the regret curve.

As functions of the cost-loss ratio these curves are linear between the distinct forecasts and
jump there. Knots with both one-sided limits represent them exactly, without a grid.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray, read_only
from scorereport._utils.checks import check_probability
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.curves.fit_or_arrays import accept_fit_keyword, as_fit
from scorereport.reliability.blocks import outcomes_before

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from scorereport.curves.fit_or_arrays import IsotonicFit

_NO_KINKS: FloatArray = np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _KnottedCurve:
    """A curve that is linear between its knots and may jump at them."""

    theta: FloatArray
    left: FloatArray
    right: FloatArray

    to_frame = array_frame

    def limits(self, theta: ArrayLike, name: str = "theta") -> tuple[FloatArray, FloatArray, FloatArray]:
        """The points `theta` as an array, with the limits of the curve from the left and from the right."""
        t = check_probability(np.atleast_1d(theta), name)
        after = np.searchsorted(self.theta, t, side="left")
        before = np.maximum(after - 1, 0)
        is_knot = self.theta[after] == t
        span = np.where(is_knot, 1.0, self.theta[after] - self.theta[before])
        share = (t - self.theta[before]) / span
        between = self.right[before] * (1 - share) + self.left[after] * share
        left = np.where(is_knot, self.left[after], between)
        return t, left, np.where(is_knot, self.right[after], between)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyCurve(_KnottedCurve):
    """Mean elementary score against θ."""

    __repr__ = short_repr

    def at(self, theta: ArrayLike) -> FloatArray:
        """The mean elementary score at θ; at a knot, (1 - θ) of the left limit and θ of the right."""
        t, left, right = self.limits(theta)
        return (1 - t) * left + t * right


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegretCurve(_KnottedCurve):
    """Mean regret against the cost of a false positive, for decisions p >= cost."""

    __repr__ = short_repr

    def at(self, cost: ArrayLike) -> FloatArray:
        """The mean regret at a cost; a forecast equal to the cost leads to action."""
        return self.limits(cost, "cost")[1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyCurves:
    """Murphy curves of a score and of its components, on the same knots."""

    score: MurphyCurve
    miscalibration: MurphyCurve
    discrimination: MurphyCurve
    uncertainty: MurphyCurve

    __repr__ = short_repr

    def to_frame(self) -> pd.DataFrame:
        """The curves as one long table: `component` names the curve of each row, `theta` its knot.

        `left` and `right` are the limits of the curve there from both sides.
        """
        import pandas as pd

        curves = {field.name: getattr(self, field.name).to_frame() for field in fields(self)}
        return pd.concat(curves, names=["component"]).reset_index("component").reset_index(drop=True)


@accept_fit_keyword
def murphy_curves(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    theta: FloatArray | None = None,
) -> MurphyCurves:
    """Decompose the mean elementary score at every θ: knots at all forecasts, fits and the mean outcome.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative
    theta : the knots; between them the curves then may differ from the straight lines

    >>> murphy_curves([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8]).score.at([0.25, 0.5])
    array([0.125, 0.   ])
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    fit.require_events("A Murphy curve")
    samples = {
        "score": (fit.distinct.x_min, fit.distinct.n, fit.distinct.events),
        "recalibrated": (fit.blocks.mean, fit.blocks.n, fit.blocks.events),
        "reference": (np.array([fit.prevalence]), np.array([fit.n]), np.array([fit.events])),
    }
    knots = theta if theta is not None else all_knots(fit, kinks_of(fit))
    limits = {name: _elementary_limits(knots, *sample) for name, sample in samples.items()}

    def curve(left: FloatArray, right: FloatArray) -> MurphyCurve:
        return MurphyCurve(theta=read_only(knots), left=read_only(left), right=read_only(right))

    def difference(plus: str, minus: str) -> MurphyCurve:
        return curve(limits[plus][0] - limits[minus][0], limits[plus][1] - limits[minus][1])

    return MurphyCurves(
        score=curve(*limits["score"]),
        miscalibration=difference("score", "recalibrated"),
        discrimination=difference("reference", "recalibrated"),
        uncertainty=curve(*limits["reference"]),
    )


@accept_fit_keyword
def regret_curve(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    theta: FloatArray | None = None,
) -> RegretCurve:
    """Compute the mean regret at every cost of a false positive, half the elementary score.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative
    theta : the knots, by default every forecast

    >>> regret_curve([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8]).at(0.25)
    array([0.0625])
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    fit.require_events("A regret curve")
    knots = theta if theta is not None else all_knots(fit)
    left, right = _elementary_limits(knots, fit.distinct.x_min, fit.distinct.n, fit.distinct.events)
    return RegretCurve(theta=read_only(knots), left=read_only(left / 2), right=read_only(right / 2))


def kinks_of(fit: IsotonicFit) -> FloatArray:
    """Return the kinks of components of the Murphy curve beside the forecasts: fits and the mean outcome."""
    return np.append(fit.blocks.mean, fit.prevalence)


def all_knots(fit: IsotonicFit, kinks: FloatArray = _NO_KINKS) -> FloatArray:
    """Return every knot of a curve: 0 and 1, the forecasts, and any kinks."""
    return np.unique(np.concatenate([[0.0, 1.0], fit.distinct.x_min, kinks]))


def _elementary_limits(
    theta: FloatArray, forecast: FloatArray, n: CountArray, events: CountArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of the mean elementary score of grouped, ascending forecasts, from both sides."""

    def limit(below: NDArray[np.intp]) -> FloatArray:
        missed, quiet = (before / n.sum() for before in outcomes_before(n, events, below))
        return 2 * (theta * (quiet[-1] - quiet[:-1]) + (1 - theta) * missed[:-1])

    left = np.searchsorted(forecast, theta, side="left")
    right = np.searchsorted(forecast, theta, side="right")
    return limit(left), limit(right)
