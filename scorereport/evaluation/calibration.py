"""Is a model of K classes calibrated? One test over all its views, from classes drawn from its forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.machine import repeat
from scorereport.inference.class_draws import ClassDistribution
from scorereport.inference.estimates import HypothesisTest
from scorereport.reliability.redraws import Redraw
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.evaluation.class_views import Family, View
    from scorereport.inference.class_panel import ClassPanel

#: Samples with equal miscalibration may differ in the last digits; they count as equal.
_ROUNDING = 1e-12
_CORP_REFERENCE = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"


def examine_class_calibration(
    panel: ClassPanel, families: Sequence[Family], model: str, *, resamples: int, seed: int
) -> tuple[HypothesisTest, ...]:
    """Test that classes come with the probabilities forecast, by the miscalibration of each family.

    Forecasts are kept and classes are drawn from them, all views of a case together;
    p = (1 + #{MCB* >= MCB})/(B + 1).
    """
    law = ClassDistribution(given=panel.forecasts[model], outcome=panel.outcome, units=panel.units)
    pools = [[_make_pool(view, model) for view in family.views] for family in families]

    def null(number: int) -> list[float]:
        truth = law.draw(random_stream(seed, number))
        weight = np.zeros(law.given.shape)  # of each case that falls into each class
        weight[truth.row, truth.label] = truth.weight
        return [_miscalibration(family, pool, weight) for family, pool in zip(families, pools, strict=True)]

    drawn = np.array(list(repeat(null, resamples, rows=len(panel.outcome), what="drawing classes")))
    dependence = "" if panel.cluster is None else ", dependent within clusters"
    return tuple(
        HypothesisTest(
            name=f"miscalibration ({family.score})",
            statistic=(observed := family.decompose(model).miscalibration),
            p_value=(1 + int((drawn[:, place] >= observed - _ROUNDING).sum())) / (resamples + 1),
            null_hypothesis="The forecast is calibrated: each class comes as often as its forecasts say.",
            method=f"{resamples} draws of classes from the forecast{dependence}, seed {seed}; "
            "p = (1 + #)/(B + 1)",
            reference=_CORP_REFERENCE,
            n=panel.units.total,
        )
        for place, family in enumerate(families)
    )


class _Pool(NamedTuple):
    """Where each case stands among the distinct forecasts of a view, and what these weigh."""

    position: IntArray
    forecast: FloatArray
    weight: FloatArray


def _make_pool(view: View, model: str) -> _Pool:
    distinct = view.fits[model].distinct
    position = np.searchsorted(distinct.x_min, view.forecasts[model] + 0.0)
    return _Pool(position, distinct.x_min, distinct.n.astype(np.float64))


def _miscalibration(family: Family, pools: Sequence[_Pool], drawn: FloatArray) -> float:
    """Miscalibration of classes drawn: that of all views, over the divisor."""
    came = np.cumsum(drawn, axis=1) if family.kind == "threshold" else drawn
    total = drawn.sum()
    return sum(_gain(pool, came[:, place]) for place, pool in enumerate(pools)) / (family.divisor * total)


def _gain(pool: _Pool, came: FloatArray) -> float:
    """What refitting gains over the forecasts, as a sum of Brier scores."""
    events = np.bincount(pool.position, weights=came, minlength=len(pool.forecast))
    events = np.minimum(events, pool.weight)  # sums of fractional weights may differ in the last bit
    fit = Redraw(None, pool.weight, events).fit()
    as_forecast = (pool.weight * pool.forecast**2 + events * (1 - 2 * pool.forecast)).sum()
    return float(as_forecast - (fit.events * (1 - fit.mean)).sum())
