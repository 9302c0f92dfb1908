"""Whether one model is better at every cost: the difference of two Murphy curves, with a band.

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
from numpy.typing import NDArray
from scipy.special import ndtri

from scorereport.arrays import FloatArray, IntArray, read_only
from scorereport.checks import check_inside, check_whole
from scorereport.errors import UsageError
from scorereport.formatting import format_level
from scorereport.inference.panel import make_panel
from scorereport.inference.resampling import are_many_alike, stretches
from scorereport.parallel import repeat
from scorereport.sampling import SEED, Units, stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.inference.panel import Panel

#: Elementary scores lie in [0, 2]; differences this small are rounding.
_ROUNDING = 1e-12
_TWO = np.uint64(2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyDifference:
    """Mean elementary score of the first model minus that of the second, at the costs `theta`.

    Negative favours the first model. `lower` and `upper` cover at a cost, the simultaneous bounds at all
    of `theta` together. `dominant` is what was measured, at every cost and not only at those listed:
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


def murphy_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.9,
    points: int = 200,
    resamples: int = 1000,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> MurphyDifference:
    """Compare two models at every cost, with a bootstrap band and a sentence on who dominates.

    Rows, or clusters, are drawn for both models together. With s the bootstrap standard deviation at
    a cost, the simultaneous bounds are c s away, c the quantile of the largest |deviation| / s over all costs
    (sup-t); the pointwise ones take the quantile at the cost itself. Both are at least the normal
    quantile. Two things keep the band from being too narrow where the models seldom decide differently:
    each resample is divided by its own s, which follows its mean square difference, and s² contains
    the square of what one more row would move. From one row or cluster there is no band (NaN).

    Parameters
    ----------
    y_true, first, second : outcomes 0 or 1 and the forecasts of two models for them
    names : how the two models are called in the result
    level : the probability with which the bands cover
    points : the band is computed at so many costs at most, half of them evenly spaced on [0, 1], half
        evenly spaced among the distinct forecasts
    resamples, seed : of the bootstrap
    sample_weight : not negative; whole weights equal repeated rows
    cluster : rows of the same cluster are drawn together

    >>> y, p = [0, 0, 1, 0, 1, 1] * 20, [0.1, 0.2, 0.7, 0.3, 0.8, 0.9] * 20
    >>> curve = murphy_difference(y, p, [0.5] * 120, names=("model", "coin"), resamples=99)
    >>> print(curve.sentence)
    In these data model is at least as good as coin at every cost, and the 90 % simultaneous band tells
    that model is better at costs between 0.101 and 0.899; elsewhere it cannot tell.
    """
    if len(names) != 2:
        raise UsageError(f"`names` must be those of the two models; got {names!r}.")
    panel = make_panel(
        y_true, {"first": first, "second": second}, sample_weight=sample_weight, cluster=cluster
    )
    level = check_inside(level, "level", 0, 1, closed="neither")
    theta = _costs(panel, check_whole(points, "points", 2))
    check_whole(resamples, "resamples", 2)
    check_whole(seed, "seed", 0)
    return _with_band(panel, theta, names, level, resamples, seed)


def _with_band(
    panel: Panel, theta: FloatArray, names: tuple[str, str], level: float, resamples: int, seed: int
) -> MurphyDifference:
    sample = _Counted.of(panel, theta) if are_many_alike(panel) else _Sample.of(panel, theta)
    measured, _ = _moments(sample.cells, sample.weight)
    pointwise, simultaneous = _half_widths(sample, panel, level, resamples, seed)
    dominant = _dominant(panel)
    told = np.where(measured + simultaneous < 0, -1, 0) + np.where(measured - simultaneous > 0, 1, 0)
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
        sentence=_sentence(names, dominant, theta, told, level),
        level=level,
        resamples=resamples,
        seed=seed,
        n=panel.units.total,
        method=f"bootstrap of {panel.units.describes}, sup-t",
    )


def _costs(panel: Panel, points: int) -> FloatArray:
    """Half of the costs evenly on [0, 1], half evenly among the distinct forecasts."""
    knots = np.concatenate(list(panel.forecasts.values()))
    knots.sort()
    is_first = np.append(True, knots[1:] != knots[:-1])
    distinct = int(np.count_nonzero(is_first))
    chosen = np.linspace(0, distinct - 1, min(points // 2, distinct)).round().astype(np.intp)
    return np.unique(np.append(np.linspace(0, 1, points - points // 2), knots[_places(is_first, chosen)]))


def _places(chosen: NDArray[np.bool_], numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the places with these numbers, counted among those that are chosen, stand among all."""
    parts = stretches(len(chosen))
    before = np.cumsum([0, *(np.count_nonzero(chosen[part]) for part in parts)])
    part = np.searchsorted(before, numbers, side="right") - 1
    found = [
        parts[at].start + np.flatnonzero(chosen[parts[at]])[numbers[part == at] - before[at]]
        for at in np.unique(part).tolist()
    ]
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    """Where the lower and the upper forecast of a row lie among the costs, for rows where that differs.

    The even cells are the gaps between costs, the odd ones the costs themselves. Rows are counted apart
    by outcome and by which model has the upper forecast: four tables of cells, one after the other.
    """

    theta: FloatArray
    rows: NDArray[np.intp]
    lower: NDArray[np.intp]
    upper: NDArray[np.intp]

    @property
    def size(self) -> int:
        """Number of cells in a table."""
        return 2 * len(self.theta) + 1

    @classmethod
    def of(cls, panel: Panel, theta: FloatArray) -> _Cells:
        first, second = (_cell(p, theta) for p in panel.forecasts.values())
        rows = np.flatnonzero(first != second)
        return cls._where_different(theta, rows, first[rows], second[rows], panel.outcome[rows] == 1)

    @classmethod
    def count_rows(cls, panel: Panel, theta: FloatArray) -> tuple[_Cells, IntArray]:
        """The cells of one row of each kind, and how many rows of it there are; last, of all that agree."""
        size, n = 2 * len(theta) + 1, len(panel.outcome)
        counts = np.zeros(2 * size**2, dtype=np.int64)
        for part in stretches(n):
            first, second = (_cell(p[part], theta) for p in panel.forecasts.values())
            kind = (first * size + second) * 2 + (panel.outcome[part] == 1)
            counts += np.bincount(kind, minlength=len(counts))
        pair, happened = np.divmod(np.flatnonzero(counts), 2)
        first, second = np.divmod(pair, size)
        differ = np.flatnonzero(first != second)
        n_of_kind = counts[np.flatnonzero(counts)[differ]]
        rows = np.arange(len(differ))
        cells = cls._where_different(theta, rows, first[differ], second[differ], happened[differ] == 1)
        return cells, np.append(n_of_kind, n - n_of_kind.sum())

    @classmethod
    def _where_different(
        cls,
        theta: FloatArray,
        rows: NDArray[np.intp],
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        happened: NDArray[np.bool_],
    ) -> _Cells:
        table = (2 * (first > second) + happened) * (2 * len(theta) + 1)
        lower, upper = np.minimum(first, second), np.maximum(first, second)
        return cls(theta=theta, rows=rows, lower=table + lower, upper=table + upper)

    def count(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the lower and of the upper forecasts: by who is above, outcome and cell."""
        moved, shape = weight[self.rows], (2, 2, self.size)
        lower, upper = (
            np.bincount(cell, moved, 4 * self.size).astype(np.float64, copy=False).reshape(shape)
            for cell in (self.lower, self.upper)
        )
        return lower, upper


def _cell(forecast: FloatArray, theta: FloatArray) -> NDArray[np.intp]:
    return np.searchsorted(theta, forecast, side="left") + np.searchsorted(theta, forecast, side="right")


def _moments(cells: _Cells, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of the differences of elementary scores at each cost, for any row weights.

    One pass over the rows and no sort; whole weights are counted without rounding.
    """
    lower, upper = cells.count(weight)
    total = weight.sum()
    return _sum_of_differences(cells.theta, lower, upper) / total, _sum_of_squares(
        cells.theta, lower, upper
    ) / total


def _sum_of_differences(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of the differences: missed events below a cost, false alarms above it, and ties with it."""
    second_above, first_above = upper - lower
    others, events = first_above - second_above
    # both models have as many non-events: what the first has more of above a cost, it lacks up to it
    missed, quiet = np.cumsum(events)[:-1:2], np.cumsum(others)[1::2]
    return 2 * ((1 - t) * missed - t * quiet) + 2 * t * (1 - t) * (events + others)[1::2]


def _sum_of_squares(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of squares: rows whose forecasts lie on both sides of a cost, and those with one forecast at it."""
    lower, upper = lower.sum(axis=0), upper.sum(axis=0)
    across = np.cumsum(lower, axis=1)[:, :-1:2] - np.cumsum(upper, axis=1)[:, 1::2]
    false_alarm, missed, tie = 2 * t, 2 * (1 - t), 2 * t * (1 - t)
    across_costs = across[0] * false_alarm**2 + across[1] * missed**2
    below_tie = upper[0, 1::2] * tie**2 + upper[1, 1::2] * (missed - tie) ** 2
    above_tie = lower[0, 1::2] * (false_alarm - tie) ** 2 + lower[1, 1::2] * tie**2
    return across_costs + below_tie + above_tie


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """Rows in their cells, with their weights."""

    cells: _Cells
    units: Units

    @classmethod
    def of(cls, panel: Panel, theta: FloatArray) -> _Sample:
        return cls(cells=_Cells.of(panel, theta), units=panel.units)

    @property
    def weight(self) -> FloatArray:
        """The weight of each row."""
        return self.units.row_weight

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Weights in a resample."""
        return self.units.draw(rng)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counted:
    """Many rows, alike but for their cells: how many of each kind a resample has is all that counts."""

    cells: _Cells
    counts: IntArray

    @classmethod
    def of(cls, panel: Panel, theta: FloatArray) -> _Counted:
        cells, counts = _Cells.count_rows(panel, theta)
        return cls(cells=cells, counts=counts)

    @property
    def weight(self) -> FloatArray:
        """The number of rows of each kind."""
        return self.counts.astype(np.float64)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Numbers in a resample, by their multinomial law."""
        n = int(self.counts.sum())
        return rng.multinomial(n, self.counts / n).astype(np.float64)


def _half_widths(
    sample: _Sample | _Counted, panel: Panel, level: float, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Pointwise and simultaneous half widths of the band."""
    cells, theta = sample.cells, sample.cells.theta
    if panel.units.size <= 1:
        return np.full(len(theta), np.nan), np.full(len(theta), np.nan)

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        return _moments(cells, sample.draw(stream(seed, number)))

    drawn = repeat(draw, resamples, rows=len(panel.outcome), what="drawing Murphy curves")
    mean, square = np.moveaxis(np.array(list(drawn)), 1, 0)
    measured, measured_square = _moments(cells, sample.weight)
    spread, row = mean.std(axis=0, ddof=1), _worth_of_one_row(panel, theta)
    variance = np.maximum(measured_square - measured**2, _ROUNDING)
    own_spread = np.hypot(spread * np.sqrt(np.maximum(square - mean**2, 0) / variance), row)
    away = np.abs(mean - measured)
    ratio = np.divide(away, own_spread, out=np.zeros_like(away), where=own_spread > _ROUNDING)
    return _critical_values(ratio, level, np.hypot(spread, row))


def _critical_values(ratio: FloatArray, level: float, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Quantiles at each cost, and of the largest ratio over all costs, times the spread."""
    least = float(ndtri((1 + level) / 2))
    pointwise = np.maximum(np.quantile(ratio, level, axis=0), least)
    return pointwise * spread, max(float(np.quantile(ratio.max(axis=1), level)), least) * spread


def _worth_of_one_row(panel: Panel, theta: FloatArray) -> FloatArray:
    """By how much the difference can move if the models disagree on one more row.

    Nothing moves at costs of 0 and 1, nor between models that agree on everything.
    """
    rows = panel.units.total if panel.units.are_repeated_rows else panel.units.rows
    worth = np.where((theta == 0) | (theta == 1), 0.0, 2 * np.maximum(theta, 1 - theta) / rows)
    first, second = panel.forecasts.values()
    return worth * (not np.array_equal(first, second))


def _dominant(panel: Panel) -> str:
    """Who is nowhere worse: the curves are straight between forecasts, so their limits there decide."""
    if panel.weight is None:
        highest, lowest = _extreme_limits(panel)
    else:
        theta = np.unique(np.concatenate([[0.0, 1.0], *panel.forecasts.values()]))
        limits = np.concatenate(_limits(panel, theta))
        highest, lowest = limits.max(), limits.min()
    first_is, second_is = bool(highest <= _ROUNDING), bool(lowest >= -_ROUNDING)
    return {(True, False): "first", (False, True): "second", (True, True): "both"}.get(
        (first_is, second_is), "neither"
    )


def _extreme_limits(panel: Panel) -> tuple[float, float]:
    """The highest and the lowest limit of the difference, of rows without weights."""
    keys, n = _sort_together(panel), len(panel.outcome)
    highest = lowest = 0.0  # as at costs of 0 and 1
    total = np.zeros((2, 1))  # others and events up to here, of the first model less of the second
    for part in stretches(len(keys)):
        theta, code = (keys[part] >> _TWO).view(np.float64), keys[part].astype(np.int64) & 3
        moved = (1 - (code & 2)) * ((code & 1) == [[0], [1]])
        upto = np.concatenate([total, total + np.cumsum(moved, axis=1)], axis=1)
        others, events = upto / n
        around = keys[max(part.start - 1, 0) : part.stop + 1] >> _TWO
        changes = np.append(around[1:] != around[:-1], True)  # of forecasts, after each
        is_last = changes[bool(part.start) :][: len(theta)]
        is_first = changes[: len(theta)] if part.start else np.append(True, is_last[:-1])
        for chosen, at in ((is_first, slice(None, -1)), (is_last, slice(1, None))):
            t = theta[chosen]
            limit = 2 * ((1 - t) * events[at][chosen] - t * others[at][chosen])
            highest, lowest = max(highest, limit.max(initial=0.0)), min(lowest, limit.min(initial=0.0))
        total = upto[:, -1:]
    return highest, lowest


def _sort_together(panel: Panel) -> NDArray[np.uint64]:
    """The forecasts of both models in order, with whose they are and what happened in bits that are free."""
    n, happened = len(panel.outcome), panel.outcome == 1
    keys = np.empty(2 * n, dtype=np.uint64)
    for model, p in enumerate(panel.forecasts.values()):
        part = keys[model * n : (model + 1) * n]
        np.left_shift(p.view(np.uint64), _TWO, out=part)
        part |= happened
        part |= np.uint64(2 * model)
    keys.sort()
    return keys


def _limits(panel: Panel, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the difference from the left and from the right of costs that include all forecasts."""
    position = [np.searchsorted(theta, p) for p in panel.forecasts.values()]
    sums = []
    for of_class in (panel.outcome, 1 - panel.outcome):
        w = panel.units.row_weight * of_class
        first, second = (np.bincount(where, w, len(theta)) for where in position)
        sums.append(np.append(0.0, np.cumsum(first - second)))
    events, others = (total / panel.units.total for total in sums)
    left = 2 * ((1 - theta) * events[:-1] - theta * others[:-1])
    return left, 2 * ((1 - theta) * events[1:] - theta * others[1:])


def _sentence(
    names: tuple[str, str], dominant: str, theta: FloatArray, told: NDArray[np.int_], level: float
) -> str:
    """One sentence: what was measured, and what the simultaneous band can tell of it."""
    first, second = names
    measured = {
        "first": f"{first} is at least as good as {second} at every cost",
        "second": f"{second} is at least as good as {first} at every cost",
        "neither": f"neither {first} nor {second} is best at every cost",
        "both": f"{first} and {second} are equally good at every cost.",
    }[dominant]
    if dominant == "both":
        return f"In these data {measured}"
    better = [_range(theta, told == sign) for sign in (-1, 1)]
    return f"In these data {measured}, {_what_the_band_tells(names, better, format_level(level))}."


def _what_the_band_tells(names: tuple[str, str], better: list[str], level: str) -> str:
    if not any(better):
        return f"but the {level} simultaneous band cannot tell them apart at any cost"
    told = [f"{name} is better at {where}" for name, where in zip(names, better, strict=True) if where]
    return f"and the {level} simultaneous band tells that {' and that '.join(told)}; elsewhere it cannot tell"


def _range(theta: FloatArray, chosen: NDArray[np.bool_]) -> str:
    """The costs chosen, in words; empty if none."""
    where = np.flatnonzero(chosen)
    if len(where) == 0:
        return ""
    if len(where) == 1:
        return f"cost {theta[where[0]]:.3g}"
    some = "" if len(where) == where[-1] - where[0] + 1 else "some "
    return f"{some}costs between {theta[where[0]]:.3g} and {theta[where[-1]]:.3g}"
