"""The bootstrap: scores, calibration lines and AUCs of all models on the same resamples.

Resamples only change how much each row weighs. Mean scores are then sums of products, and skill and
uncertainty follow from them and from the prevalence of the resample; ranks and regressions are
computed anew.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit

from scorereport._utils.checks import check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.machine import repeat
from scorereport.errors import UsageError
from scorereport.inference.bootstrap_results import Bootstrap, make_statistic
from scorereport.inference.delong import auc_influence
from scorereport.inference.large_panels import are_many_alike, resample_sums
from scorereport.inference.logistic import fit_line, fit_offset, line_influence
from scorereport.inference.losses import PREVALENCE, UNCERTAINTY, expected_score, resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.rare_cases import RareOutcomes, exact_rate
from scorereport.reliability.sampling import random_stream
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.bootstrap_results import ResampledStatistics, Statistic
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel, PanelRows

#: The statistics of a calibration line, in the order of their columns.
LINE = ("slope", "intercept", "intercept_at_slope_one")


class ResampledScores:
    """Mean scores, and the skill and uncertainty that follow from them and from the prevalence."""

    def __init__(
        self,
        panel: ForecastPanel,
        measures: Sequence[Measure],
        keys: Sequence[tuple[str, Measure]] | None = None,
    ) -> None:
        """Score all models by all measures, or only the pairs of a model and a measure in `keys`."""
        self.panel, self.measures = panel, measures
        every = [(model, measure) for model in panel.forecasts for measure in measures]
        self.keys = every if keys is None else list(keys)

    def score(self, rows: slice) -> FloatArray:
        """The columns that are summed, for some rows: 1, outcomes, and each score of each model."""
        y = self.panel.outcome[rows]
        columns = np.ones((2 + len(self.keys), len(y)))
        columns[1] = y
        for column, (model, measure) in zip(columns[2:], self.keys, strict=True):
            column[:] = measure.score(y, self.panel.forecasts[model][rows])
        return columns

    @cached_property
    def _columns(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The columns of all rows, 0 for scores that are infinite somewhere, and which columns are finite."""
        columns = self.score(slice(None))
        are_finite = np.array([np.isfinite(column).all() for column in columns])
        columns[~are_finite] = 0.0
        return columns, are_finite

    def values(self, weight: FloatArray) -> FloatArray:
        """Sums under these weights: of the weights themselves, of outcomes, and of each score."""
        return np.einsum("ji,i->j", self._columns[0], weight)  # no BLAS: its sums depend on its threads

    def sum_by_unit(self) -> FloatArray:
        """The columns of each sampling unit: weighted sums over its rows, or those of one repeated row."""
        units, columns = self.panel.units, self._columns[0]
        if units.cluster is not None:
            sums = [np.bincount(units.cluster, units.row_weight * column) for column in columns]
            return np.array(sums, dtype=np.float64)
        return columns if units.are_repeated_rows else columns * units.row_weight

    def linearise(self, observed: FloatArray) -> FloatArray:
        """The influence of a unit on each score and skill as a linear function of its columns.

        A row for each statistic and a column for each of `score`, up to constants.
        """
        prevalence, means = observed[1] / observed[0], observed[2:] / observed[0]
        slopes = np.zeros((2 * len(self.keys), len(observed)))
        for at, (key, mean) in enumerate(zip(self.keys, means, strict=True)):
            slopes[2 * at, [0, 2 + at]] = -mean, 1.0
            _, skill = self.score_and_skill(*key, np.array([prevalence]), np.array([mean]))
            if np.isfinite(skill.value):
                y, score = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
                alone, with_event, with_score = skill_influence(key[1], y, score, prevalence, skill.value)
                slopes[2 * at + 1, [0, 1, 2 + at]] = alone, with_event - alone, with_score - alone
        return slopes

    def finish(self, sums: FloatArray, observed: FloatArray | None = None) -> Iterator[Statistic]:
        """Prevalence, and for each measure uncertainty and every model's score and skill.

        `observed` are the sums of the sample, if they are known already.
        """
        if observed is None:
            observed = np.where(self._columns[1], self.values(self.panel.units.row_weight.copy()), np.inf)
        totals = np.vstack([observed, sums])
        means = totals[:, 1:] / totals[:, :1]
        means[:, ~np.isfinite(observed[1:])] = np.inf
        prevalence = means[:, 0]
        exact = partial(exact_rate, self.panel.outcome, self.panel.units)
        yield make_statistic("", PREVALENCE, prevalence, lambda: self.panel.outcome, exact)
        for measure in self.measures:
            reference = expected_score(measure, prevalence, prevalence)
            at_constant = partial(self._score_of_constant, measure, prevalence[0])
            yield make_statistic("", f"{measure.label}{UNCERTAINTY}", reference, at_constant)
        for column, (model, measure) in enumerate(self.keys, start=1):
            yield from self.score_and_skill(model, measure, prevalence, means[:, column])

    def score_and_skill(
        self, model: str, measure: Measure, prevalence: FloatArray, mean: FloatArray
    ) -> Iterator[Statistic]:
        """The mean score and the skill, from their values in the sample and in each resample."""
        scores = partial(self._scores_of, model, measure)
        reference = expected_score(measure, prevalence, prevalence)
        perfect_gain = reference - expected_score(measure, prevalence, None)
        skill = np.divide(
            reference - mean, perfect_gain, out=np.full(len(perfect_gain), np.nan), where=perfect_gain != 0
        )

        def of_skill() -> FloatArray:
            return skill_influence(measure, self.panel.outcome, scores(), prevalence[0], skill[0])

        rare = RareOutcomes(self.panel, model, measure)
        bound_skill = partial(rare.bound_skill, float(skill[0]))
        yield make_statistic(model, measure.label, mean, scores, rare.bound_score)
        yield make_statistic(model, f"{measure.label} skill", skill, of_skill, bound_skill)

    def _scores_of(self, model: str, measure: Measure) -> FloatArray:
        return measure.score(self.panel.outcome, self.panel.forecasts[model])

    def _score_of_constant(self, measure: Measure, constant: float) -> FloatArray:
        y = self.panel.outcome
        return measure.score(y, np.full(len(y), constant))


def skill_influence(
    measure: Measure, outcome: FloatArray, scores: FloatArray, prevalence: float, skill: float
) -> FloatArray:
    """Return the influence of cases with these outcomes and scores on a skill."""
    outcomes = np.array([0.0, 1.0])
    constant, perfect = measure.score(outcomes, np.full(2, prevalence)), measure.score(outcomes, outcomes)
    of_none, of_event = constant - skill * (constant - perfect)
    at = np.array([prevalence])
    gain = expected_score(measure, at, at) - expected_score(measure, at, None)
    return np.asarray((np.where(outcome == 1, of_event, of_none) - scores) / gain)


class ResampledLines:
    """Slope and intercepts of the calibration line of each model."""

    def __init__(self, panel: ForecastPanel) -> None:
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


class ResampledAreas:
    """The AUC of each model, from weights in the order of its forecasts."""

    def __init__(self, panel: ForecastPanel) -> None:
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


def _weighted_auc(weight: FloatArray, outcome: FloatArray, cuts: NDArray[np.intp]) -> float:
    events = np.add.reduceat(weight * outcome, np.append(0, cuts))
    return area_under_roc(events, np.add.reduceat(weight, np.append(0, cuts)) - events)


def bootstrap(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    scores: Sequence[str | tuple[str, Mapping[str, Any]]] = ("brier", "log_loss"),
    resamples: int = 1000,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Bootstrap:
    """Resample rows, or whole clusters, and compute every statistic of every model on each resample.

    Statistics are each score, its skill and its uncertainty, the AUC (`roc_auc`), and slope, intercept
    and intercept at slope 1 of the calibration line. Miscalibration and discrimination are not among them:
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
    panel = make_panel(
        y_true, forecasts, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
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
    panel: ForecastPanel, measures: Sequence[Measure], *, resamples: int, seed: int, whole: bool
) -> Bootstrap:
    """Bootstrap mean scores, skills and uncertainties and, if `whole`, AUC and calibration line too."""
    scores = ResampledScores(panel, measures)
    named = {measure.label: measure for measure in measures}
    if whole:
        parts: list[ResampledStatistics] = [scores, ResampledAreas(panel), ResampledLines(panel)]
        return bootstrap_parts(panel, parts, named, resamples=resamples, seed=seed)
    if not are_many_alike(panel):
        return bootstrap_parts(panel, [scores], named, resamples=resamples, seed=seed)
    sums = resample_sums(
        scores.score, len(panel.outcome), resamples=resamples, seed=seed, what="bootstrapping"
    )
    statistics = tuple(scores.finish(sums.drawn, sums.observed))
    return Bootstrap(panel=panel, measures=named, statistics=statistics, resamples=resamples, seed=seed)


def bootstrap_parts(
    panel: PanelRows,
    parts: Sequence[ResampledStatistics],
    measures: Mapping[str, Measure],
    *,
    resamples: int,
    seed: int,
) -> Bootstrap:
    """Compute the statistics of all parts on the same resamples."""

    def resample(number: int) -> list[FloatArray]:
        weight = panel.units.draw(random_stream(seed, number))
        return [part.values(weight) for part in parts]

    drawn = list(repeat(resample, resamples, rows=len(panel.outcome), what="bootstrapping"))
    columns = [np.array(values) for values in zip(*drawn, strict=True)]
    statistics = [s for part, values in zip(parts, columns, strict=True) for s in part.finish(values)]
    return Bootstrap(
        panel=panel, measures=measures, statistics=tuple(statistics), resamples=resamples, seed=seed
    )
