"""Which model decides better at which thresholds: differences of net benefit with simultaneous bands.

Net benefit is prevalence minus regret over 1 minus the threshold, and regret is half the elementary score. A
difference of net benefit is therefore a rescaled difference of elementary scores, and has its band. The rows
matter only through the thresholds that each forecast reaches, so equal rows are counted. To treat all and to
treat none are forecasts of 1 and 0: net benefit itself is the difference from treating none.

References
----------
Vickers, Elkin (2006), Med. Decis. Making 26, doi:10.1177/0272989X06295361
Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_inside, check_probability
from scorereport._utils.choices import SEED, USUAL_RESAMPLES
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.murphy_bands import (
    RowSample,
    average_differences,
    half_widths,
    half_widths_in_batches,
)
from scorereport.inference.murphy_draws import DrawnBand, draw_band, is_drawable
from scorereport.inference.panel import ForecastPanel, make_panel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

#: What a model is compared with: another model, or a policy that does not use forecasts.
MODEL, TREAT_ALL, TREAT_NONE = "model", "treat all", "treat none"
_ONE_UNIT = "One {} does not show how much net benefit varies: there is no band."


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRange:
    """Neighbouring thresholds with the same result: the name of the better one, or "" if none is shown."""

    lower: float
    upper: float
    better: str

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionDifference:
    """Net benefit of the first model minus that of the second model or policy, at thresholds.

    Positive favours the first. `against` is "model", "treat all" or "treat none"; the difference from
    treating none is net benefit itself. `lower` and `upper` hold at one threshold; the simultaneous bounds
    cover at all thresholds together and, for models, for all `pairs` of models together. Without a band,
    bounds are NaN and the note says why.
    """

    first: str
    second: str
    against: str
    threshold: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    simultaneous_lower: FloatArray
    simultaneous_upper: FloatArray
    level: float
    pairs: int
    resamples: int
    seed: int
    n: float
    method: str
    note: str = ""

    __repr__ = short_repr
    to_frame = array_frame

    @property
    def better(self) -> tuple[str, ...]:
        """At each threshold, the better one by the simultaneous band; "" if they are not distinguishable."""
        names = {1: self.first, -1: self.second, 0: ""}
        sign = (self.simultaneous_lower > 0).astype(int) - (self.simultaneous_upper < 0)
        return tuple(names[each] for each in sign.tolist())

    @property
    def ranges(self) -> tuple[DecisionRange, ...]:
        """Ranges of thresholds with the same result, in ascending order; none without a band."""
        if self.note:
            return ()
        pairs = zip(self.threshold.tolist(), self.better, strict=True)
        runs = [(better, [t for t, _ in run]) for better, run in groupby(pairs, key=lambda pair: pair[1])]
        return tuple(DecisionRange(lower=run[0], upper=run[-1], better=better) for better, run in runs)


def decision_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    thresholds: ArrayLike,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.95,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> DecisionDifference:
    """Compare the net benefit of two models at thresholds, with a band that holds at all of them together.

    Parameters
    ----------
    y_true, first, second : outcomes 0 or 1 and the forecasts of two models for them
    thresholds : inside (0, 1); a case is acted on if its forecast is at least the threshold
    names : names of the two models in the result
    level : confidence level of the bands
    seed : seed of the draws
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : rows of the same cluster are drawn together

    >>> y, p = [0, 0, 1, 0, 1, 1] * 20, [0.1, 0.2, 0.7, 0.3, 0.8, 0.9] * 20
    >>> found = decision_difference(y, p, [0.5] * 120, thresholds=[0.05, 0.3, 0.5])
    >>> found.better
    ('', 'first', 'first')
    """
    if len(names) != 2:
        raise UsageError(f"`names` must be those of the two models; got {names!r}.")
    t = np.unique(check_probability(thresholds, "thresholds"))
    if t[0] == 0 or t[-1] == 1:
        raise UsageError("`thresholds` must be one or more numbers inside (0, 1).")
    panel = make_panel(
        y_true,
        {"first": first, "second": second},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
    )
    level = check_inside(level, "level", 0, 1, closed="neither")
    found = next(_compare_models(panel, _Draws(thresholds=t, level=level, seed=seed)))
    return replace(found, first=names[0], second=names[1])


def compare_decisions(
    panel: ForecastPanel,
    thresholds: FloatArray,
    *,
    level: float,
    seed: int = SEED,
    resamples: int | None = None,
) -> tuple[DecisionDifference, ...]:
    """Compare all pairs of models, and each model with treating all and none, at ascending thresholds."""
    draws = _Draws(thresholds=thresholds, level=level, seed=seed, resamples=resamples)
    policies = (
        found
        for name, forecast in panel.forecasts.items()
        for found in _compare_policies(panel, name, draws.place(forecast), draws)
    )
    return (*_compare_models(panel, draws), *policies)


def compare_pairs(
    panel: ForecastPanel, thresholds: FloatArray, *, level: float, seed: int = SEED
) -> tuple[DecisionDifference, ...]:
    """Compare all pairs of models at ascending thresholds, and not with treating all and none."""
    return tuple(_compare_models(panel, _Draws(thresholds=thresholds, level=level, seed=seed)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draws:
    """How bands are drawn: at which ascending thresholds, their level, and random numbers."""

    thresholds: FloatArray
    level: float
    seed: int
    resamples: int | None = None

    def place(self, forecast: FloatArray) -> NDArray[np.intp]:
        """For each forecast, the number of thresholds at which it leads to action."""
        return np.searchsorted(self.thresholds, forecast, side="right")


def _compare_models(panel: ForecastPanel, draws: _Draws) -> Iterator[DecisionDifference]:
    places = {name: draws.place(forecast) for name, forecast in panel.forecasts.items()}
    pairs = list(combinations(places, 2))
    for first, second in pairs:
        rows = _count_alike(panel, (places[first], places[second]), draws.thresholds)
        yield _describe(rows, (first, second, MODEL), _draw(rows, draws, len(pairs)), draws, len(pairs))


def _compare_policies(
    panel: ForecastPanel, name: str, place: NDArray[np.intp], draws: _Draws
) -> Iterator[DecisionDifference]:
    for policy, everywhere in ((TREAT_ALL, len(draws.thresholds)), (TREAT_NONE, 0)):
        rows = _count_alike(panel, (place, np.full(len(place), everywhere)), draws.thresholds)
        yield _describe(rows, (name, policy, policy), _draw(rows, draws), draws)


def _count_alike(
    panel: ForecastPanel, places: tuple[NDArray[np.intp], NDArray[np.intp]], t: FloatArray
) -> ForecastPanel:
    """Rows with forecasts between thresholds, which lead to the same decisions; equal rows are counted.

    No forecast of the result equals a threshold. Rows with sampling weights or clusters stay as they are.
    """
    between = (np.append(0.0, t) + np.append(t, 1.0)) / 2
    units, outcome = panel.units, panel.outcome
    weight, kind = panel.weight, panel.weight_kind
    first, second = places
    if units.cluster is None and units.are_repeated_rows:
        code = (first * len(between) + second) * 2 + (outcome == 1)
        counts = np.bincount(code, units.weight)
        kept = np.flatnonzero(counts)
        pair, happened = np.divmod(kept, 2)
        (first, second), outcome = np.divmod(pair, len(between)), happened.astype(np.float64)
        weight, kind = counts[kept].astype(np.float64), "frequency"
    return ForecastPanel(
        outcome=outcome,
        forecasts={"first": between[first], "second": between[second]},
        weight=weight,
        cluster=panel.cluster,
        weight_kind=kind,
    )


def _draw(rows: ForecastPanel, draws: _Draws, pairs: int = 1) -> DrawnBand:
    """The difference of elementary scores with its half-widths."""
    t, level, seed, resamples = draws.thresholds, draws.level, draws.seed, draws.resamples
    if resamples is None and is_drawable(rows):
        return draw_band(rows, t, level, seed, pairs=pairs)
    sample = RowSample.of(rows, t)
    measured, _ = average_differences(sample.cells, sample.weight)
    if rows.units.size <= 1:
        return DrawnBand(measured, *(np.full(len(t), np.nan),) * 2, 0, method="none")
    if resamples is None:
        widths = half_widths_in_batches(sample, rows, level, USUAL_RESAMPLES, seed, pairs=pairs)
    else:
        widths = half_widths(sample, rows, level, resamples, seed, pairs=pairs)
    return DrawnBand(measured, *widths, resamples or USUAL_RESAMPLES)


def _describe(
    rows: ForecastPanel,
    named: tuple[str, str, str],
    band: DrawnBand,
    draws: _Draws,
    pairs: int = 1,
) -> DecisionDifference:
    """Rescale elementary scores, which are lower if better, to net benefit."""
    t = draws.thresholds
    scale = 1 / (2 * (1 - t))
    difference = np.where(band.difference == 0, 0.0, -band.difference * scale)
    pointwise, simultaneous = band.pointwise * scale, band.simultaneous * scale
    units = rows.units
    return DecisionDifference(
        first=named[0],
        second=named[1],
        against=named[2],
        threshold=read_only(t),
        difference=read_only(difference),
        lower=read_only(difference - pointwise),
        upper=read_only(difference + pointwise),
        simultaneous_lower=read_only(difference - simultaneous),
        simultaneous_upper=read_only(difference + simultaneous),
        level=draws.level,
        pairs=pairs,
        resamples=band.draws,
        seed=draws.seed,
        n=units.total,
        method=band.method or f"bootstrap of {units.describes}, sup-t",
        note=_ONE_UNIT.format(units.unit) if units.size <= 1 else "",
    )
