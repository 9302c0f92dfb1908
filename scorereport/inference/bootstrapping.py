"""The bootstrap: one pass of resampling for all statistics of all models, on the same resamples.

Resamples only change how much each row weighs. Mean scores are then sums of products, and skill and
uncertainty follow from them and from the prevalence of the resample; ranks and regressions are
computed anew.

References
----------
Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.special import logit, ndtr, ndtri

from scorereport.checks import check_inside, check_option, check_whole
from scorereport.errors import UsageError
from scorereport.inference.delong import auc_influence
from scorereport.inference.logistic import fit_line, fit_offset, line_influence
from scorereport.inference.measures import (
    PREVALENCE,
    UNCERTAINTY,
    Measure,
    expected_score,
    image_of_prevalence,
    resolve_measure,
)
from scorereport.inference.outcomes import Estimate
from scorereport.inference.panel import Panel, Rows, make_panel
from scorereport.inference.resampling import are_many_alike, resample_sums
from scorereport.parallel import repeat
from scorereport.sampling import SEED, stream
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from scorereport.arrays import FloatArray
    from scorereport.sampling import Units

METHODS = ("bca", "percentile")
LINE = ("slope", "intercept", "intercept_at_slope_one")
_LABELS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}


class Part(Protocol):
    """Some of the statistics: values under the weights of a resample, and what all resamples amount to."""

    def values(self, weight: FloatArray) -> FloatArray:
        """Values under these weights of the rows."""

    def finish(self, drawn: FloatArray) -> Iterator[Statistic]:
        """Statistics from the values of all resamples, a row for each."""


class Statistic(NamedTuple):
    """A number, its value in every resample, and how much each row moves it."""

    model: str
    measure: str
    value: float
    replicates: FloatArray
    influence: Callable[[], FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class Bootstrap:
    """All statistics of all models on the same resamples; intervals and differences come from here."""

    panel: Rows
    measures: Mapping[str, Measure]
    statistics: tuple[Statistic, ...]
    resamples: int
    seed: int

    def interval(self, model: str, measure: str, *, level: float = 0.95, method: str = "bca") -> Estimate:
        """The interval of one statistic; uncertainty belongs to no model, its `model` is ""."""
        return self._estimate(self._find(model, measure), level, method)

    def difference(
        self, first: str, second: str, measure: str, *, level: float = 0.95, method: str = "bca"
    ) -> Estimate:
        """The interval of the difference of two models, first minus second, paired by resample."""
        if first == second:
            raise UsageError(f"`first` and `second` must be two models; got {first!r} twice.")
        a, b = self._find(first, measure), self._find(second, measure)
        pair = Statistic(
            f"{first} - {second}",
            measure,
            a.value - b.value,
            a.replicates - b.replicates,
            lambda: a.influence() - b.influence(),
        )
        return self._estimate(pair, level, method)

    def table(self, *, level: float = 0.95, method: str = "bca") -> pd.DataFrame:
        """All intervals: a row for each model and measure."""
        import pandas as pd

        estimates = [self._estimate(s, level, method) for s in self.statistics]
        columns = ("value", "standard_error", "lower", "upper", "note")
        return pd.DataFrame(
            [
                {"model": s.model, "measure": s.measure, **{name: getattr(e, name) for name in columns}}
                for s, e in zip(self.statistics, estimates, strict=True)
            ]
        )

    def _find(self, model: str, measure: str) -> Statistic:
        for statistic in self.statistics:
            if (statistic.model, statistic.measure) == (model, measure):
                return statistic
        known = sorted({s.measure for s in self.statistics})
        raise UsageError(f"There is no {measure!r} of {model!r}; measures are {', '.join(known)}.")

    def _estimate(self, statistic: Statistic, level: float, method: str) -> Estimate:
        check_inside(level, "level", 0, 1, closed="neither")
        check_option(method, "method", METHODS)
        label = (
            f"{_LABELS[method]}, {self.resamples} resamples of {self.panel.units.describes}, seed {self.seed}"
        )
        value, known = statistic.value, statistic.replicates[np.isfinite(statistic.replicates)]
        if not np.isfinite(value) or len(known) < 2 or self.panel.units.size <= 1:
            return _no_interval(statistic.measure, value, level, label, self.panel.units)
        lower, upper = self._interval(statistic, known, level, method)
        return Estimate(
            measure=statistic.measure,
            value=value,
            standard_error=float(known.std(ddof=1)),
            lower=lower,
            upper=upper,
            level=level,
            method=label,
            n=self.panel.units.total,
            note=_describe_lost(len(statistic.replicates) - len(known), len(statistic.replicates)),
        )

    def _interval(
        self, statistic: Statistic, known: FloatArray, level: float, method: str
    ) -> tuple[float, float]:
        """Bounds of a statistic; those of an uncertainty come from the prevalence, of which it is a function.

        Its own replicates mislead near the prevalence at which it is largest: all lie on one side.
        """
        if statistic.measure.endswith(UNCERTAINTY):
            measure = self.measures[statistic.measure.removesuffix(UNCERTAINTY)]
            prevalence = self._find("", PREVALENCE)
            return image_of_prevalence(
                measure, *self._interval(prevalence, prevalence.replicates, level, method)
            )
        acceleration = self.panel.units.acceleration(statistic.influence()) if method == "bca" else 0.0
        return _bounds(statistic.value, known, level, method, acceleration)


def bootstrap(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    scores: Sequence[str | tuple[str, Mapping[str, Any]]] = ("brier", "log_loss"),
    resamples: int = 1000,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Bootstrap:
    """Resample rows, or whole clusters, and compute every statistic of every model on each resample.

    Statistics are each score, its skill and its uncertainty, the AUC (`roc_auc`), and slope, intercept
    and intercept at slope 1 of the calibration line. Miscalibration and discrimination are left out:
    see `component_intervals`.

    Parameters
    ----------
    scores : names of scores, or pairs of a name and its options such as `("net_benefit", {"threshold": 0.2})`

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> p = rng.random(200)
    >>> result = bootstrap(rng.random(200) < p, {"model": p}, resamples=200)
    >>> result.interval("model", "brier", level=0.9).method
    'BCa bootstrap, 200 resamples of rows, seed 2021'
    """
    panel = make_panel(y_true, forecasts, sample_weight=sample_weight, cluster=cluster)
    if isinstance(scores, str) or not scores:
        raise UsageError(f"`scores` must be a list of at least one score; got {scores!r}.")
    measures = [resolve_measure(*(score if isinstance(score, tuple) else (score, {}))) for score in scores]
    labels = [measure.label for measure in measures]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"`scores` must differ; got {label!r} twice.")
    resamples, seed = check_whole(resamples, "resamples", 2), check_whole(seed, "seed", 0)
    return bootstrap_panel(panel, measures, resamples=resamples, seed=seed, whole=True)


def bootstrap_panel(
    panel: Panel, measures: Sequence[Measure], *, resamples: int, seed: int, whole: bool
) -> Bootstrap:
    """Bootstrap mean scores, skills and uncertainties and, if `whole`, AUC and calibration line too."""
    scores = _LinearSums(panel, measures)
    named = {measure.label: measure for measure in measures}
    if whole:
        parts: list[Part] = [scores, _Auc(panel), _Lines(panel)]
        return bootstrap_parts(panel, parts, named, resamples=resamples, seed=seed)
    if not are_many_alike(panel):
        return bootstrap_parts(panel, [scores], named, resamples=resamples, seed=seed)
    sums = resample_sums(
        scores.score, len(panel.outcome), resamples=resamples, seed=seed, what="bootstrapping"
    )
    statistics = tuple(scores.finish(sums.drawn, sums.observed))
    return Bootstrap(panel=panel, measures=named, statistics=statistics, resamples=resamples, seed=seed)


def bootstrap_parts(
    panel: Rows, parts: Sequence[Part], measures: Mapping[str, Measure], *, resamples: int, seed: int
) -> Bootstrap:
    """Compute all parts on each resample, and collect their statistics."""

    def resample(number: int) -> list[FloatArray]:
        weight = panel.units.draw(stream(seed, number))
        return [part.values(weight) for part in parts]

    drawn = list(repeat(resample, resamples, rows=len(panel.outcome), what="bootstrapping"))
    columns = [np.array(values) for values in zip(*drawn, strict=True)]
    statistics = [s for part, values in zip(parts, columns, strict=True) for s in part.finish(values)]
    return Bootstrap(
        panel=panel, measures=measures, statistics=tuple(statistics), resamples=resamples, seed=seed
    )


class _LinearSums:
    """Mean scores, and the skill and uncertainty that follow from them and from the prevalence."""

    def __init__(self, panel: Panel, measures: Sequence[Measure]) -> None:
        self.panel, self.measures = panel, measures
        self.keys = [(model, measure) for model in panel.forecasts for measure in measures]

    def score(self, rows: slice) -> FloatArray:
        """What is summed, for some rows: 1, outcomes, and each score of each model."""
        y = self.panel.outcome[rows]
        columns = np.ones((2 + len(self.keys), len(y)))
        columns[1] = y
        for column, (model, measure) in zip(columns[2:], self.keys, strict=True):
            column[:] = measure.score(y, self.panel.forecasts[model][rows])
        return columns

    @cached_property
    def _columns(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """All of it, with 0 for scores that are infinite somewhere, and which are not."""
        columns = self.score(slice(None))
        are_finite = np.array([np.isfinite(column).all() for column in columns])
        columns[~are_finite] = 0.0
        return columns, are_finite

    def values(self, weight: FloatArray) -> FloatArray:
        """Weighted sums: of nothing but the weight, of outcomes, of each score."""
        return np.einsum("ji,i->j", self._columns[0], weight)  # no BLAS: its sums depend on its threads

    def finish(self, sums: FloatArray, observed: FloatArray | None = None) -> Iterator[Statistic]:
        """Prevalence, and for each measure uncertainty and every model's score and skill.

        Those of the sample may have been summed elsewhere.
        """
        if observed is None:
            observed = np.where(self._columns[1], self.values(self.panel.units.row_weight.copy()), np.inf)
        totals = np.vstack([observed, sums])
        means = totals[:, 1:] / totals[:, :1]
        means[:, ~np.isfinite(observed[1:])] = np.inf
        prevalence = means[:, 0]
        yield make_statistic("", PREVALENCE, prevalence, lambda: self.panel.outcome)
        for measure in self.measures:
            reference = expected_score(measure, prevalence, prevalence)
            at_constant = partial(self._score_of_constant, measure, prevalence[0])
            yield make_statistic("", f"{measure.label}{UNCERTAINTY}", reference, at_constant)
        for column, (model, measure) in enumerate(self.keys, start=1):
            yield from self._of_model(model, measure, prevalence, means[:, column])

    def _of_model(
        self, model: str, measure: Measure, prevalence: FloatArray, mean: FloatArray
    ) -> Iterator[Statistic]:
        scores = partial(self._scores_of, model, measure)
        reference = expected_score(measure, prevalence, prevalence)
        way = reference - expected_score(measure, prevalence, None)
        skill = np.divide(reference - mean, way, out=np.full(len(way), np.nan), where=way != 0)

        def skill_influence() -> FloatArray:
            y = self.panel.outcome
            constant = self._score_of_constant(measure, prevalence[0])
            return ((constant - scores()) - skill[0] * (constant - measure.score(y, y))) / way[0]

        yield make_statistic(model, measure.label, mean, scores)
        yield make_statistic(model, f"{measure.label} skill", skill, skill_influence)

    def _scores_of(self, model: str, measure: Measure) -> FloatArray:
        return measure.score(self.panel.outcome, self.panel.forecasts[model])

    def _score_of_constant(self, measure: Measure, constant: float) -> FloatArray:
        y = self.panel.outcome
        return measure.score(y, np.full(len(y), constant))


class _Auc:
    """The AUC of each model, from weights in the order of its forecasts."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.orders = [np.argsort(p, kind="stable") for p in panel.forecasts.values()]
        ordered = [p[order] for p, order in zip(panel.forecasts.values(), self.orders, strict=True)]
        self.cuts = [np.flatnonzero(p[1:] != p[:-1]) + 1 for p in ordered]
        self.outcomes = [panel.outcome[order] for order in self.orders]

    def values(self, weight: FloatArray) -> FloatArray:
        """The AUC of each model under these weights."""
        parts = zip(self.orders, self.cuts, self.outcomes, strict=True)
        return np.array([_weighted_auc(weight[order], y, cuts) for order, cuts, y in parts])

    def finish(self, replicates: FloatArray) -> Iterator[Statistic]:
        """A statistic for each model."""
        y, weight = self.panel.outcome, self.panel.weight
        observed = self.values(self.panel.units.row_weight)
        for column, (model, p) in enumerate(self.panel.forecasts.items()):
            values = np.append(observed[column], replicates[:, column])
            yield make_statistic(model, "roc_auc", values, partial(auc_influence, y, p, weight))


class _Lines:
    """Slope and intercepts of the calibration line of each model."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        with np.errstate(divide="ignore"):
            self.log_odds = [logit(p) for p in panel.forecasts.values()]
        self.starts = [((0.0, 1.0), 0.0)] * len(self.log_odds)
        observed = self.values(panel.units.row_weight)
        self.starts = [((line[1], line[0]), line[2]) for line in observed.reshape(-1, len(LINE)).tolist()]
        self.observed = observed

    def values(self, weight: FloatArray) -> FloatArray:
        """Slope, intercept and intercept at slope 1 of each model under these weights."""
        parts = zip(self.log_odds, self.starts, strict=True)
        return np.concatenate([self._fit(x, weight, *start) for x, start in parts])

    def _fit(self, x: FloatArray, weight: FloatArray, line: tuple[float, float], offset: float) -> FloatArray:
        if not np.isfinite(x).all():
            return np.full(len(LINE), np.nan)
        drawn = weight > 0
        x, y, weight = x[drawn], self.panel.outcome[drawn], weight[drawn]
        intercept, slope = fit_line(x, y, weight, line)
        return np.array([slope, intercept, fit_offset(x, y, weight, offset)])

    def finish(self, replicates: FloatArray) -> Iterator[Statistic]:
        """Three statistics for each model."""
        y, weight = self.panel.outcome, self.panel.units.row_weight
        for column, (model, x) in enumerate(zip(self.panel.forecasts, self.log_odds, strict=True)):
            for place, name in enumerate(LINE):
                at = len(LINE) * column + place
                values = np.append(self.observed[at], replicates[:, at])
                yield make_statistic(model, name, values, partial(_line_influence, place, x, y, weight))


def _line_influence(place: int, x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    return line_influence(x, y, weight)[place]


def _weighted_auc(weight: FloatArray, outcome: FloatArray, cuts: NDArray[np.intp]) -> float:
    events = np.add.reduceat(weight * outcome, np.append(0, cuts))
    return area_under_roc(events, np.add.reduceat(weight, np.append(0, cuts)) - events)


def make_statistic(
    model: str, measure: str, values: FloatArray, influence: Callable[[], FloatArray]
) -> Statistic:
    """A statistic from its value in the sample, first, and in the resamples."""
    return Statistic(model, measure, float(values[0]), values[1:], influence)


def _bounds(
    value: float, replicates: FloatArray, level: float, method: str, acceleration: float
) -> tuple[float, float]:
    """Quantiles of the replicates: at the level, or shifted for bias and skewness."""
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        below = ((replicates < value).mean() + (replicates <= value).mean()) / 2
        edge = 0.5 / len(replicates)
        bias = ndtri(np.clip(below, edge, 1 - edge))
        z = bias + ndtri(tails)
        tails = ndtr(bias + z / (1 - acceleration * z))
    lower, upper = np.quantile(replicates, tails)
    return float(lower), float(upper)


def _no_interval(measure: str, value: float, level: float, method: str, units: Units) -> Estimate:
    why = "The score is infinite" if np.isinf(value) else "The value is not defined"
    if np.isfinite(value) and units.size <= 1:
        why = f"One {units.unit} has no spread"
    return Estimate(
        measure=measure,
        value=value,
        standard_error=np.nan,
        lower=np.nan,
        upper=np.nan,
        level=level,
        method=method,
        n=units.total,
        note=f"{why}: there is no interval.",
    )


def _describe_lost(lost: int, resamples: int) -> str:
    return f"Not defined in {lost} of {resamples} resamples, which were left out." if lost else ""
