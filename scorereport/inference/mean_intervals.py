"""Mean scores and skills with as many resamples as intervals need, and none where theory is exact enough.

Where the expansion of a statistic agrees with its resamples (`Expansion.is_close`), nothing is drawn. Others
are resampled until the Monte-Carlo error of both ends is below 2 % of the width of the interval. Scores with
few distinct values, such as misclassification, are resampled by the numbers of equal rows; of others with
many rows, only those with a large influence are drawn (`drawn_sums`).
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from scorereport._utils.arrays import row_chunks
from scorereport._utils.choices import USUAL_RESAMPLES
from scorereport._utils.machine import call_together, repeat
from scorereport.inference.bootstrap_resamples import ResampledScores, skill_influence
from scorereport.inference.bootstrap_results import Bootstrap, find_tails, share_below
from scorereport.inference.drawn_sums import DrawnSums, UnitColumns
from scorereport.inference.resampled_weights import BATCH, draw_times, resamples_per_stream
from scorereport.inference.score_expansions import PanelMoments
from scorereport.reliability.precision import MOST_RESAMPLES, PRECISION
from scorereport.reliability.sampling import SamplingUnits, random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.bootstrap_results import Statistic
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.score_expansions import ScoreExpansions

    #: A model and a measure.
    Key = tuple[str, Measure]

#: The number of resamples grows by at most this factor at once.
_GROWTH = 1.5
#: Equal rows are counted if distinct scores are at most this many, and this share of the rows.
_FEW_SCORES, _FEW_SHARE = 256, 0.1
#: Scores that agree to this many decimal places are equal.
_DIGITS = 12
#: The density of resamples is taken from order statistics up to this many errors from an end.
_WINDOW = 2
#: Keys of the random streams of counts and of rows.
_COUNTS_KEY, _ROWS_KEY = 17, 18


class _Target(NamedTuple):
    """What is asked of the intervals."""

    level: float
    method: str
    seed: int


def infer_means(
    panel: ForecastPanel,
    measures: Sequence[Measure],
    *,
    level: float,
    method: str,
    seed: int,
    means: Mapping[tuple[str, str], float] | None = None,
) -> Bootstrap:
    """Return all mean scores and skills of all models, with the distribution that their intervals need.

    `means` are the mean scores that are known already, by model and label of the measure.
    """
    target, moments = _Target(level, method, seed), PanelMoments(panel=panel, means=means or {})
    keys = [(model, measure) for model in panel.forecasts for measure in measures]

    def infer(place: int) -> list[Statistic] | None:
        return _infer_mean(panel, measures, keys[place], moments, target)

    known = dict(zip(keys, call_together(infer, len(keys), rows=len(panel.outcome)), strict=True))
    found = {key: statistics for key, statistics in known.items() if statistics is not None}
    drawn = [key for key, statistics in known.items() if statistics is None]
    if drawn:
        found |= _resample_rows(panel, measures, drawn, target, enough=moments.has_enough_units)
    return Bootstrap(
        panel=panel,
        measures={measure.label: measure for measure in measures},
        statistics=tuple(statistic for key in keys for statistic in found[key]),
        resamples=max(len(s.replicates) for statistics in found.values() for s in statistics),
        seed=seed,
    )


def _infer_mean(
    panel: ForecastPanel, measures: Sequence[Measure], key: Key, moments: PanelMoments, target: _Target
) -> list[Statistic] | None:
    """A mean score and its skill by influence or from equal rows; None if rows must be drawn."""
    if not np.isfinite(moments.mean(*key)):
        return _without_interval(panel, measures, key)
    expansions = moments.expand(*key) if moments.has_enough_units else None
    if expansions is not None and all(one.is_close(target.level) for one in expansions):
        return list(_expand(panel, measures, key, expansions))
    counted = _count_equal_rows(panel, key)
    return None if counted is None else _resample_counts(panel, measures, key, counted, target)


def _without_interval(panel: ForecastPanel, measures: Sequence[Measure], key: Key) -> list[Statistic]:
    """An infinite score and its skill: no resample could say more, so none is drawn."""
    prevalence = panel.units.mean(panel.outcome)
    scores = ResampledScores(panel, measures, [key])
    return list(scores.score_and_skill(*key, np.array([prevalence]), np.array([np.inf])))


def _expand(
    panel: ForecastPanel, measures: Sequence[Measure], key: Key, expansions: ScoreExpansions
) -> Iterator[Statistic]:
    scores, prevalence = ResampledScores(panel, measures, [key]), panel.units.mean(panel.outcome)
    found = scores.score_and_skill(*key, np.array([prevalence]), np.array([expansions.score.value]))
    for statistic, expansion in zip(found, expansions, strict=True):
        yield statistic._replace(expansion=expansion)


# Resamples of rows


def _resample_rows(
    panel: ForecastPanel, measures: Sequence[Measure], keys: Sequence[Key], target: _Target, *, enough: bool
) -> dict[Key, list[Statistic]]:
    """Resample rows, or clusters, for some scores together; of `enough` units, only those that matter."""
    scores = ResampledScores(panel, measures, keys)
    if enough:
        sums = DrawnSums.of(partial(_read_units, scores), scores.linearise)
        size, observed, add_up = BATCH, sums.observed, partial(_draw_sums, sums, target.seed)
    else:
        size = resamples_per_stream(int(panel.units.size))
        observed, add_up = None, partial(_redraw_units, scores.sum_by_unit(), panel.units, size, target.seed)
    drawn: list[FloatArray] = []

    def draw(resamples: int) -> list[Statistic]:
        first = len(drawn)
        more = repeat(
            lambda at: add_up(first + at),
            resamples // size - first,
            rows=len(panel.outcome),
            what="bootstrapping",
            resamples=resamples - first * size,
        )
        drawn.extend(more)
        return _of_models(scores.finish(np.concatenate(drawn), observed))

    return _by_key(keys, _draw_until_precise(draw, panel.units, target))


def _read_units(scores: ResampledScores) -> Iterator[UnitColumns]:
    """The columns of the sampling units, in parts if rows are units."""
    n, units = len(scores.panel.outcome), scores.panel.units
    if units.cluster is not None or not units.are_repeated_rows:
        columns = scores.sum_by_unit()
        yield UnitColumns(columns, np.ones(columns.shape[1]))
        return
    for part in row_chunks(n):
        times = np.ones(part.stop - part.start) if units.weight is None else units.weight[part]
        yield UnitColumns(scores.score(part), times)


def _draw_sums(sums: DrawnSums, seed: int, number: int) -> FloatArray:
    return sums.draw(random_stream(seed, number, _ROWS_KEY), BATCH)


def _redraw_units(columns: FloatArray, units: SamplingUnits, size: int, seed: int, number: int) -> FloatArray:
    times = draw_times(units, size, random_stream(seed, number, _ROWS_KEY))
    return np.einsum("ji,bi->bj", columns, times)  # not BLAS: its sums depend on its threads


def _of_models(statistics: Iterator[Statistic]) -> list[Statistic]:
    return [statistic for statistic in statistics if statistic.model]


def _by_key(keys: Sequence[Key], statistics: Sequence[Statistic]) -> dict[Key, list[Statistic]]:
    """The score and the skill of each key."""
    return {key: list(statistics[2 * at : 2 * at + 2]) for at, key in enumerate(keys)}


# Resamples of counts


class _EqualRows(NamedTuple):
    """The distinct pairs of outcome and score, and how many rows have each."""

    outcome: FloatArray
    score: FloatArray
    counts: IntArray

    @property
    def units(self) -> SamplingUnits:
        """The rows, of which each pair stands for as many as it counts."""
        return SamplingUnits(
            rows=len(self.counts), weight=self.counts.astype(np.float64), weight_kind="frequency"
        )


def _count_equal_rows(panel: ForecastPanel, key: Key) -> _EqualRows | None:
    """Count rows by outcome and score; None if scores are many or infinite, or if counts do not decide."""
    units, (model, measure) = panel.units, key
    if units.cluster is not None or not units.are_repeated_rows:
        return None
    most = min(_FEW_SCORES, _FEW_SHARE * len(panel.outcome))
    known, counts = np.empty(0), np.zeros((2, 0), dtype=np.int64)
    for part in row_chunks(len(panel.outcome)):
        y = panel.outcome[part]
        # equal scores may be computed with different last bits
        scores = np.round(measure.score(y, panel.forecasts[model][part]), _DIGITS)
        every = np.union1d(known, scores)
        if len(every) > most or not np.isfinite(every).all():
            return None
        grown = np.zeros((2, len(every)), dtype=np.int64)
        grown[:, np.searchsorted(every, known)] = counts
        times = None if units.weight is None else units.weight[part]
        code = (y == 1) * len(every) + np.searchsorted(every, scores)
        grown += np.bincount(code, times, 2 * len(every)).astype(np.int64).reshape(2, -1)
        known, counts = every, grown
    outcome, place = np.nonzero(counts)
    return _EqualRows(outcome.astype(np.float64), known[place], counts[outcome, place])


def _resample_counts(
    panel: ForecastPanel, measures: Sequence[Measure], key: Key, rows: _EqualRows, target: _Target
) -> list[Statistic]:
    """Resample the numbers of equal rows, which have a multinomial distribution.

    The influence of the statistics is that of the distinct pairs of outcome and score.
    """
    scores, total = ResampledScores(panel, measures, [key]), int(rows.counts.sum())
    columns = np.stack([rows.outcome, rows.score])

    def draw(resamples: int) -> list[Statistic]:
        rng = random_stream(target.seed, 0, _COUNTS_KEY)
        drawn = rng.multinomial(total, rows.counts / total, resamples)
        counts = np.vstack([rows.counts, drawn]).astype(np.float64)
        prevalence, mean = np.einsum("jk,bk->jb", columns, counts) / total
        score, skill = scores.score_and_skill(*key, prevalence, mean)
        of_skill = partial(skill_influence, key[1], rows.outcome, rows.score, prevalence[0], skill.value)
        return [score._replace(influence=lambda: rows.score), skill._replace(influence=of_skill)]

    return _draw_until_precise(draw, rows.units, target)


# Precision


def _draw_until_precise(
    draw: Callable[[int], list[Statistic]], units: SamplingUnits, target: _Target
) -> list[Statistic]:
    """Draw more resamples until both ends of each interval are precise, or their number is the largest."""
    resamples, accelerations = USUAL_RESAMPLES, None
    while True:
        statistics = draw(resamples)
        accelerations = accelerations or [_accelerate(statistic, units, target) for statistic in statistics]
        statistics = [s._replace(acceleration=a) for s, a in zip(statistics, accelerations, strict=True)]
        error = max(_relative_error(statistic, units, target) for statistic in statistics)
        if error <= PRECISION or resamples == MOST_RESAMPLES:
            return statistics
        needed = resamples * min((error / PRECISION) ** 2, _GROWTH)
        resamples = min(max(BATCH * ceil(needed / BATCH), resamples + BATCH), MOST_RESAMPLES)


def _accelerate(statistic: Statistic, units: SamplingUnits, target: _Target) -> float | None:
    """The acceleration of a BCa interval; None if there is none."""
    is_known = target.method == "bca" and np.isfinite(statistic.value) and units.size > 1
    return statistic.accelerate(units) if is_known else None


def _relative_error(statistic: Statistic, units: SamplingUnits, target: _Target) -> float:
    """The larger Monte-Carlo error of the ends of an interval, as a share of its width; 0 without one."""
    known = statistic.known
    if not np.isfinite(statistic.value) or len(known) < 2 or units.size <= 1 or not known.std() > 0:
        return 0.0
    is_bca = target.method == "bca"
    acceleration = statistic.accelerate(units) if is_bca else 0.0
    tails = find_tails(statistic.value, known, target.level, target.method, acceleration)
    below = share_below(statistic.value, known)
    # the share below the value moves the tails: twice, because BCa counts the bias twice
    moves = 2 * _density(tails) / _density(below) if is_bca else np.zeros(2)
    common = np.minimum(tails, below) - tails * below
    variance = tails * (1 - tails) + moves**2 * below * (1 - below) - 2 * moves * common
    reach = np.sqrt(np.maximum(variance, 0) / len(known))
    around = np.clip([tails - _WINDOW * reach, tails + _WINDOW * reach], 0, 1)
    below_end, above_end = np.quantile(known, around)
    width = float(np.subtract(*np.quantile(known, tails[::-1])))
    slope = (above_end - below_end) / (around[1] - around[0])
    return float((slope * reach).max() / width) if width > 0 else 0.0


def _density(share: FloatArray | float) -> FloatArray:
    """The normal density at the quantile of a share."""
    return np.exp(-(ndtri(share) ** 2) / 2)
