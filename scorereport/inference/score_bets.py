"""Evidence against a limit on the mean of a bounded score, and that another model has the lower mean score.

The evidence of an audit is a product over its sampling units of 1 + v λ (x - m): x is the score, between 0
and 1, m the limit, v the weight, at most 1, and λ the bet, which is fixed before the audit. No factor is
below 1/2. Units are independent, so the expected product is at most exp(λ Σ v (μ - m)), with μ the expected
score of each unit: it is at most 1 if the weighted mean of the expected scores of the audit is at most m.
Scores of single rows may be expected to lie above the limit.

A bet is the growth-optimal one of earlier audits, to second order Σ v (x - m) / Σ v² (x - m)², or one of a
fixed grid. The evidence of several bets is their weighted mean. The same holds for the other side, with 1 - x
and 1 - m, and for differences of two scores, which lie between -1 and 1, with m = 0.

References
----------
Waudby-Smith, Ramdas (2024), J. R. Stat. Soc. B 86, doi:10.1093/jrsssb/qkad009
Choe, Ramdas (2024), Oper. Res. 72, doi:10.1287/opre.2021.0792
Vovk, Wang (2021), Ann. Stat. 49, doi:10.1214/20-AOS2020
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.checks import check_inside
from scorereport._utils.formatting import format_plain, shortest
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.sampling import SamplingUnits

#: No factor is below 1 minus this.
_STAKE = 0.5
#: A limit of 0 would allow bets of any size.
_LARGEST_BET = 1000.0
#: Bets of the grid are this many times apart: the best of them has 3/4 of the growth of any bet in between.
_GRID_RATIO = 3.0
#: The grid of limits ends above this bet.
_SMALLEST_BET = 0.05
#: The grid of differences, whose largest bet does not depend on a limit.
_DIFFERENCE_GRID = (0.05, 0.15, 0.5)
#: Fitted bets have this weight together, those of the grid the rest.
_FITTED_WEIGHT = 0.5
#: With more earlier audits than this, one bet is fitted to all of them and one to the last ones.
_RECENT_AUDITS = 6
#: Factors are multiplied in blocks before logarithms are taken: a block neither over- nor underflows.
_BLOCK = 32
#: Scores may exceed their bounds by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSums:
    """Sums over the sampling units of an audit of a score in [0, 1], or of a difference in [-1, 1].

    With weights v and scores x: Σv, Σv², Σvx, Σv²x and Σv²x². The weight of a row is 1, or its sampling
    weight divided by the largest; repeated rows are that many units. A cluster is one unit with the mean
    score of its rows; its weight is that of its rows together, divided by the largest of a cluster. So total
    / count is the weighted mean over rows.
    """

    count: float
    count_squares: float
    total: float
    total_squares: float
    squares: float

    @property
    def negative(self) -> ScoreSums:
        """The sums of the scores with the other sign: those of the difference in the other order."""
        return ScoreSums(
            count=self.count,
            count_squares=self.count_squares,
            total=-self.total,
            total_squares=-self.total_squares,
            squares=self.squares,
        )

    @property
    def complement(self) -> ScoreSums:
        """The sums of 1 minus the score."""
        return ScoreSums(
            count=self.count,
            count_squares=self.count_squares,
            total=self.count - self.total,
            total_squares=self.count_squares - self.total_squares,
            squares=self.square_deviations(1.0),
        )

    def square_deviations(self, center: float) -> float:
        """Return Σ(v (x - center))², which is not negative."""
        found = self.squares - 2 * center * self.total_squares + center**2 * self.count_squares
        return max(found, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBet:
    """A bet: the factor of a unit is 1 plus `fraction` times what the score exceeds the limit by."""

    fraction: float
    weight: float
    name: str


def sum_scores(values: FloatArray, units: SamplingUnits) -> ScoreSums:
    """Add up the scores of all rows, one for each, by sampling unit."""
    scores = _check_range(values, -1.0)
    if units.weight is None and units.cluster is None:  # the same numbers in a third of the time
        count, total, squares = float(len(scores)), float(scores.sum()), float((scores**2).sum())
        return ScoreSums(count=count, count_squares=count, total=total, total_squares=total, squares=squares)
    weight, score, repeats = _weigh(scores, units)

    def add_up(terms: FloatArray) -> float:
        return float((terms if repeats is None else terms * repeats).sum())

    squared = weight**2
    return ScoreSums(
        count=add_up(weight),
        count_squares=add_up(squared),
        total=add_up(weight * score),
        total_squares=add_up(squared * score),
        squares=add_up(squared * score**2),
    )


def add_sums(audits: Sequence[ScoreSums]) -> ScoreSums:
    """Add the sums of several audits."""
    return ScoreSums(
        count=sum(audit.count for audit in audits),
        count_squares=sum(audit.count_squares for audit in audits),
        total=sum(audit.total for audit in audits),
        total_squares=sum(audit.total_squares for audit in audits),
        squares=sum(audit.squares for audit in audits),
    )


# Limits


def fit_score_bets(earlier: Sequence[ScoreSums], bound: float, *, is_upper: bool) -> tuple[ScoreBet, ...]:
    """Choose bets against "the mean is at most `bound`", or "at least" it, from earlier audits, oldest first.

    Parameters
    ----------
    earlier : sums of the scores of earlier audits; without any, bets are those of the grid
    bound : the limit, in [0, 1]
    is_upper : whether the limit is an upper one

    >>> sums = ScoreSums(count=500, count_squares=500, total=110, total_squares=110, squares=40)
    >>> [(bet.name, round(bet.fraction, 3)) for bet in fit_score_bets([sums], 0.2, is_upper=True)]
    [('earlier audits', 0.625), ('grid', 2.5), ('grid', 0.833), ('grid', 0.278), ('grid', 0.093)]
    """
    limit = check_inside(bound, "bound", 0, 1)
    limit = limit if is_upper else 1 - limit
    if limit == 1:  # no score exceeds it
        return (ScoreBet(fraction=0.0, weight=1.0, name="none"),)
    largest = min(_STAKE / limit, _LARGEST_BET) if limit > 0 else _LARGEST_BET
    grid = _list_grid(largest)
    return _mix([audit if is_upper else audit.complement for audit in earlier], limit, largest, grid)


def score_evidence(
    values: FloatArray, units: SamplingUnits, bets: Sequence[ScoreBet], bound: float, *, is_upper: bool
) -> FloatArray:
    """Return the log evidence of each bet in the scores of an audit, one in [0, 1] for each row."""
    limit = check_inside(bound, "bound", 0, 1)
    sample = _weigh(_check_range(values, 0.0), units)
    excess = sample.score - limit if is_upper else limit - sample.score
    return _add_up_logs(sample._replace(score=excess), bets)


# Differences


def fit_difference_bets(earlier: Sequence[ScoreSums]) -> tuple[ScoreBet, ...]:
    """Choose bets against "the mean difference is at most 0" from earlier audits, oldest first.

    >>> [(bet.name, bet.fraction) for bet in fit_difference_bets([])]
    [('grid', 0.05), ('grid', 0.15), ('grid', 0.5)]
    """
    return _mix(earlier, 0.0, _STAKE, _DIFFERENCE_GRID)


def difference_evidence(values: FloatArray, units: SamplingUnits, bets: Sequence[ScoreBet]) -> FloatArray:
    """Return the log evidence of each bet that the mean difference, in [-1, 1] for each row, exceeds 0."""
    return _add_up_logs(_weigh(_check_range(values, -1.0), units), bets)


# Bets


def _list_grid(largest: float) -> tuple[float, ...]:
    """The largest bet, and smaller ones down to the smallest."""
    bets = (largest / _GRID_RATIO**power for power in range(100))
    return tuple(takewhile(lambda bet: bet > _SMALLEST_BET, bets))


def _mix(
    earlier: Sequence[ScoreSums], limit: float, largest: float, grid: Sequence[float]
) -> tuple[ScoreBet, ...]:
    """Fitted bets, if there are earlier audits, and those of the grid, each kind with equal weights."""
    fitted = {}
    if any(audit.count > 0 for audit in earlier):
        fitted["earlier audits"] = _fit(earlier, limit, largest)
    if fitted and len(earlier) > _RECENT_AUDITS:
        fitted[f"last {_RECENT_AUDITS} audits"] = _fit(earlier[-_RECENT_AUDITS:], limit, largest)
    share = _FITTED_WEIGHT if fitted else 0.0
    bets = [ScoreBet(fraction=bet, weight=share / len(fitted), name=name) for name, bet in fitted.items()]
    bets += [ScoreBet(fraction=bet, weight=(1 - share) / len(grid), name="grid") for bet in grid]
    return tuple(bets)


def _fit(earlier: Sequence[ScoreSums], limit: float, largest: float) -> float:
    """The growth-optimal bet of earlier audits, to second order; 0 if their mean is within the limit."""
    sums = add_sums(earlier)
    gain, spread = sums.total - limit * sums.count, sums.square_deviations(limit)
    if gain <= _ROUNDING * sums.count:
        return 0.0
    return largest if gain >= largest * spread else gain / spread


# Units


class _Units(NamedTuple):
    """The weight of each unit, at most 1, its score, and how often it is repeated, None for once."""

    weight: FloatArray
    score: FloatArray
    repeats: FloatArray | None


def _check_range(values: FloatArray, lower: float) -> FloatArray:
    """Scores, cut at their bounds, which they may exceed by rounding only."""
    scores = np.asarray(values, dtype=np.float64)
    if len(scores) and not (scores.min() >= lower - _ROUNDING and scores.max() <= 1 + _ROUNDING):
        found = f"{shortest(float(scores.min()))} to {shortest(float(scores.max()))}"
        raise UsageError(f"`values` must lie in [{format_plain(lower)}, 1]; got {found}.")
    return np.clip(scores, lower, 1.0)


def _weigh(scores: FloatArray, units: SamplingUnits) -> _Units:
    if units.cluster is not None:
        return _weigh_clusters(scores, units)
    if units.are_repeated_rows:
        return _Units(np.broadcast_to(1.0, len(scores)), scores, units.weight)
    largest = units.weight_sums.largest_row
    return _Units(units.row_weight / largest if largest > 0 else units.row_weight, scores, None)


def _weigh_clusters(scores: FloatArray, units: SamplingUnits) -> _Units:
    weight = units.cluster_weight
    known = weight > 0
    totals = np.bincount(units.cluster, weights=scores * units.row_weight, minlength=len(weight))  # type: ignore[arg-type]
    mean = np.divide(totals, weight, out=np.zeros(len(weight)), where=known)
    # means of equal scores may exceed the bounds in their last bits
    mean = np.clip(mean, scores.min(initial=1.0), scores.max(initial=-1.0))
    largest = units.weight_sums.largest_unit
    return _Units(weight / largest if largest > 0 else weight, mean, None)


def _add_up_logs(sample: _Units, bets: Sequence[ScoreBet]) -> FloatArray:
    """For each bet, Σ log(1 + v λ x) over units."""
    gains = sample.weight * sample.score
    if not all(1 + bet.fraction * gains.min(initial=0.0) > 0 for bet in bets):
        raise UsageError("A bet is too large for these scores: it was fitted for another limit.")
    if sample.repeats is not None:
        return np.array([(np.log1p(bet.fraction * gains) * sample.repeats).sum() for bet in bets])
    return np.array([_log_product(1 + bet.fraction * gains) for bet in bets])


def _log_product(factors: FloatArray) -> float:
    """Σ log of factors, by products of blocks: several times as fast as logarithms of all of them."""
    blocks, rest = np.split(factors, [len(factors) // _BLOCK * _BLOCK])
    products = np.multiply.reduce(blocks.reshape(-1, _BLOCK), axis=1)
    return float(np.log(products).sum() + np.log(rest).sum())
