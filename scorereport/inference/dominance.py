"""Forecast dominance: whether one model is better at every cost, by the difference of two Murphy curves.

At each cost-loss ratio θ the elementary score is twice the mean cost of deciding by a forecast, and
every proper score is a mixture of these. A model whose curve is nowhere above another's is better
by every proper score.

References
----------
Ehm, Gneiting, Jordan, Krüger (2016), J. R. Stat. Soc. B 78, doi:10.1111/rssb.12154
Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only, row_chunks
from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.choices import SEED, USUAL_RESAMPLES
from scorereport._utils.formatting import format_level, format_plain
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.large_panels import are_many_alike
from scorereport.inference.murphy_bands import (
    CountedSample,
    RowSample,
    average_differences,
    half_widths,
    half_widths_in_batches,
)
from scorereport.inference.murphy_draws import DrawnBand, draw_band, is_drawable
from scorereport.inference.murphy_limits import find_dominant, forecasts_of, sort_together
from scorereport.inference.panel import make_panel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport.inference.panel import ForecastPanel


def describe_dominance(
    names: tuple[str, str], dominant: str, theta: FloatArray, sign: NDArray[np.int_], level: float
) -> str:
    """Describe in one sentence the measured dominance, and what the simultaneous band shows of it.

    `sign` is -1 or 1 at costs where the band is below or above 0, else 0.
    """
    first, second = names
    measured = {
        "first": f"{first} is at least as good as {second} at every cost",
        "second": f"{second} is at least as good as {first} at every cost",
        "neither": f"neither {first} nor {second} is best at every cost",
        "both": f"{first} and {second} are equally good at every cost.",
    }[dominant]
    if dominant == "both":
        return f"In these data {measured}"
    better = [_range(theta, sign == side) for side in (-1, 1)]
    return f"In these data {measured}, {_describe_band(names, better, format_level(level))}."


def _describe_band(names: tuple[str, str], better: list[str], level: str) -> str:
    if not any(better):
        return f"but the {level} simultaneous band of the difference contains 0 at every cost"
    shown = [f"{name} is better at {where}" for name, where in zip(names, better, strict=True) if where]
    return (
        f"and the {level} simultaneous band shows that {' and that '.join(shown)}; "
        "at other costs it contains 0"
    )


def _range(theta: FloatArray, chosen: NDArray[np.bool_]) -> str:
    """Describe the costs chosen; empty if none."""
    where = np.flatnonzero(chosen)
    if len(where) == 0:
        return ""
    if len(where) == 1:
        return f"cost {format_plain(theta[where[0]], 3)}"
    some = "" if len(where) == where[-1] - where[0] + 1 else "some "
    return f"{some}costs between {format_plain(theta[where[0]], 3)} and {format_plain(theta[where[-1]], 3)}"


def choose_costs(panel: ForecastPanel, points: int) -> FloatArray:
    """Choose costs: half of them evenly spaced on [0, 1], half among the distinct forecasts."""
    knots = np.concatenate(list(panel.forecasts.values()))
    knots.sort()
    return _choose_among(knots, points)


def _choose_among(knots: FloatArray, points: int) -> FloatArray:
    """Choose costs, half of them among forecasts in ascending order."""
    is_first = np.append(True, knots[1:] != knots[:-1])
    distinct = int(np.count_nonzero(is_first))
    chosen = np.linspace(0, distinct - 1, min(points // 2, distinct)).round().astype(np.intp)
    return np.unique(np.append(np.linspace(0, 1, points - points // 2), knots[_places(is_first, chosen)]))


def _places(chosen: NDArray[np.bool_], numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """The positions of the chosen elements with these numbers, which count chosen elements only."""
    parts = row_chunks(len(chosen))
    before = np.cumsum([0, *(np.count_nonzero(chosen[part]) for part in parts)])
    part = np.searchsorted(before, numbers, side="right") - 1
    found = [
        parts[at].start + np.flatnonzero(chosen[parts[at]])[numbers[part == at] - before[at]]
        for at in np.unique(part).tolist()
    ]
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyDifference:
    """Mean elementary score of the first model minus that of the second, at the costs `theta`.

    Negative favours the first model. `lower` and `upper` are a pointwise band, the simultaneous bounds cover
    at all of `theta` together. `dominant` is the measured result at every cost, not only at those listed:
    "first" or "second" is nowhere worse, "neither", or "both" if the curves are the same.
    """

    first: str
    second: str
    theta: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    simultaneous_lower: FloatArray
    simultaneous_upper: FloatArray
    dominant: str
    sentence: str
    level: float
    resamples: int
    seed: int
    n: float
    method: str

    __repr__ = short_repr
    to_frame = array_frame


def murphy_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.9,
    points: int = 200,
    resamples: int | None = 1000,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> MurphyDifference:
    """Compare two models at every cost, with a bootstrap band and a sentence on which model dominates.

    Rows, or clusters, are drawn for both models together. With s the bootstrap standard deviation at
    a cost, the half-width of the simultaneous band is c s, where c is the quantile of the largest
    `|deviation| / s` over all costs (sup-t); the pointwise band takes the quantile at the cost itself. Both
    quantiles are at least the normal one. Two things keep the band from being too narrow where the models
    seldom decide differently: each resample is divided by its own s, which follows its mean square
    difference, and s² contains the square of the change that one more row could make. With one row or cluster
    there is no band (NaN).

    Parameters
    ----------
    y_true, first, second : outcomes 0 or 1 and the forecasts of two models for them
    names : names of the two models in the result
    level : confidence level of the bands
    points : the band is computed at up to this many costs, half of them evenly spaced on [0, 1], half
        evenly spaced among the distinct forecasts
    resamples, seed : number of resamples of the bootstrap, and its seed; with None, rows are resampled only
        if they are fewer than 1,000 or in clusters: else curves are drawn with the covariance of the rows
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : rows of the same cluster are drawn together

    >>> y, p = [0, 0, 1, 0, 1, 1] * 20, [0.1, 0.2, 0.7, 0.3, 0.8, 0.9] * 20
    >>> curve = murphy_difference(y, p, [0.5] * 120, names=("model", "coin"), resamples=99)
    >>> print(curve.sentence)
    In these data model is at least as good as coin at every cost, and the 90 % simultaneous band shows
    that model is better at costs between 0.101 and 0.899; at other costs it contains 0.
    """
    if len(names) != 2:
        raise UsageError(f"`names` must be those of the two models; got {names!r}.")
    panel = make_panel(
        y_true,
        {"first": first, "second": second},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
    )
    level = check_inside(level, "level", 0, 1, closed="neither")
    check_whole(points, "points", 2)
    check_whole(seed, "seed", 0)
    if resamples is None:
        return compare_costs(panel, names, level=level, points=points, seed=seed)
    check_whole(resamples, "resamples", 2)
    theta = choose_costs(panel, points)
    sample = CountedSample.of(panel, theta) if are_many_alike(panel) else RowSample.of(panel, theta)
    measured, _ = average_differences(sample.cells, sample.weight)
    if panel.units.size <= 1:
        pointwise = simultaneous = np.full(len(theta), np.nan)
    else:
        pointwise, simultaneous = half_widths(sample, panel, level, resamples, seed)
    band = DrawnBand(measured, pointwise, simultaneous, resamples)
    return _describe(panel, names, theta, band, find_dominant(panel), level, seed)


def compare_costs(
    panel: ForecastPanel, names: tuple[str, str], *, level: float, points: int = 200, seed: int = SEED
) -> MurphyDifference:
    """Compare two models of a panel at every cost, with as many draws as the band needs."""
    if panel.weight is None:
        keys = sort_together(panel)
        dominant = find_dominant(panel, keys)
        theta = _choose_among(forecasts_of(keys), points)
        del keys
    else:
        dominant, theta = find_dominant(panel), choose_costs(panel, points)
    if is_drawable(panel):
        return _describe(panel, names, theta, draw_band(panel, theta, level, seed), dominant, level, seed)
    sample = RowSample.of(panel, theta)
    measured, _ = average_differences(sample.cells, sample.weight)
    if panel.units.size <= 1:
        widths = (np.full(len(theta), np.nan),) * 2
    else:
        widths = half_widths_in_batches(sample, panel, level, USUAL_RESAMPLES, seed)
    band = DrawnBand(measured, *widths, USUAL_RESAMPLES)
    return _describe(panel, names, theta, band, dominant, level, seed)


def _describe(
    panel: ForecastPanel,
    names: tuple[str, str],
    theta: FloatArray,
    band: DrawnBand,
    dominant: str,
    level: float,
    seed: int,
) -> MurphyDifference:
    measured, pointwise, simultaneous, draws, method = band
    sign = np.where(measured + simultaneous < 0, -1, 0) + np.where(measured - simultaneous > 0, 1, 0)
    return MurphyDifference(
        first=names[0],
        second=names[1],
        theta=read_only(theta),
        difference=read_only(measured),
        lower=read_only(measured - pointwise),
        upper=read_only(measured + pointwise),
        simultaneous_lower=read_only(measured - simultaneous),
        simultaneous_upper=read_only(measured + simultaneous),
        dominant=dominant,
        sentence=describe_dominance(names, dominant, theta, sign, level),
        level=level,
        resamples=draws,
        seed=seed,
        n=panel.units.total,
        method=method or f"bootstrap of {panel.units.describes}, sup-t",
    )
