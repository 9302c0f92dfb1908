"""The overfit of isotonic regression: the mean score of the fit is better than that of the truth.

Miscalibration and discrimination are both too large by the overfit, which for continuous forecasts
is more than their standard error. Two estimates fail in different situations, so intervals use both:

- closed form: each block overfits like one and a half fitted parameters, or like one parameter if it
  has one distinct forecast;
- resampled: outcomes are drawn from a smoothed curve and fitted again (`overfit_draws`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.overfit_draws import OverfitDraws
from scorereport.reliability.cells import make_cells
from scorereport.reliability.precision import PRECISION, list_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fitted_sample import FittedSample

#: Fewest events and non-events in the outer blocks of the smoothed curve.
_FEWEST_AT_THE_ENDS = 3
#: Equivalent number of parameters of a block with several distinct forecasts, by Chernoff asymptotics.
_PARAMETERS_OF_A_BLOCK = 1.5
#: Fewest draws where their number is not given, draws added until the precision is reached, and most draws.
_FIRST_DRAWS, _MORE_DRAWS, _MOST_DRAWS = 10, 10, 200
#: The normal quantile of the usual level, 0.95.
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Overfit:
    """How much a fit is better than the truth, and the observed prevalence better than the true one.

    `closed` and `constant` are 0, the smallest value possible, where the closed form is left out: for scores
    that are not smooth, such as misclassification. `left_out` is a sentence that gives the reason, unless the
    registry states it.
    """

    closed: float
    resampled: float
    constant: float
    drawn: str = ""  # number of draws, cells and seed
    left_out: str = ""

    @property
    def least(self) -> float:
        """The smaller estimate."""
        return min(self.closed, self.resampled)

    @property
    def most(self) -> float:
        """The larger estimate."""
        return max(self.closed, self.resampled)


def estimate_overfit(
    sample: FittedSample, measures: Sequence[Measure], *, draws: int | None, seed: int
) -> list[Overfit]:
    """Estimate the overfit of a fitted sample under several scores, from the same draws.

    Without a number of draws, as many are drawn as the precision of the intervals takes.
    """
    outcomes = OverfitDraws.of(sample, smooth_curve(sample), measures, seed)
    excess = _draw_enough(outcomes, sample, measures) if draws is None else outcomes.draw(range(draws))
    weights = _weight_of_a_case(sample), _weight_of_the_constant(sample)
    return [
        replace(
            _closed_forms(sample.blocks, measure, *weights),
            resampled=float(resampled),
            drawn=outcomes.describe(len(excess)),
        )
        for measure, resampled in zip(measures, _mean_of_columns(excess), strict=True)
    ]


def _draw_enough(outcomes: OverfitDraws, sample: FittedSample, measures: Sequence[Measure]) -> FloatArray:
    """Draw batches until the mean excess is known well enough."""
    cells = make_cells(sample.distinct) if sample.units.are_repeated_rows else sample.distinct
    widths = 2 * _NORMAL_95 * np.array([_error_of_miscalibration(sample, cells, m) for m in measures])
    counts = np.isfinite(widths)
    excess = np.empty((0, len(measures)))
    for batch in list_batches(_FIRST_DRAWS, _MORE_DRAWS, _MOST_DRAWS):
        excess = np.vstack([excess, outcomes.draw(batch)])
        errors = excess.std(axis=0, ddof=1) / np.sqrt(len(excess))
        if (errors <= PRECISION * widths)[counts].all():
            break
    return excess


def _error_of_miscalibration(sample: FittedSample, cells: Blocks, measure: Measure) -> float:
    """The standard error of the miscalibration of rows taken as independent, from counts of outcomes.

    Forecasts of a cell count as their middle: the error need not be more precise than a Monte-Carlo error is.
    """
    forecast = (cells.x_min + cells.x_max) / 2
    fitted, sums = sample.cep(forecast), np.zeros(3)
    for outcome, n in ((1.0, cells.events), (0.0, cells.n - cells.events)):
        y, seen = np.full(len(fitted), outcome), n > 0
        with np.errstate(invalid="ignore"):
            gain = np.where(seen, measure.loss(y, forecast) - measure.loss(y, fitted), 0.0)
        sums += [(n * gain**power).sum() for power in range(3)]
    if not np.isfinite(sums).all():
        return np.inf
    mean, square = sums[1:] / sums[0]
    return float(np.sqrt(max(square - mean**2, 0.0) / sums[0]))


def _mean_of_columns(table: FloatArray) -> FloatArray:
    """Means of columns, each summed in the same order however many columns there are."""
    return np.ascontiguousarray(table.T).mean(axis=1)


def smooth_curve(sample: FittedSample) -> FloatArray:
    """Return a curve without steps at the distinct forecasts, through mean forecast and mean of each block.

    The outer blocks are merged inwards until they have three events and three non-events, because outcomes
    drawn from a fit that starts at 0 and ends at 1 would not vary there.
    """
    distinct, blocks = sample.distinct, sample.blocks
    forecast_sum = np.add.reduceat(distinct.n * distinct.x_min, _first_forecasts(sample))
    cuts = _inner_starts(blocks, sample.case_weights)
    n, events, x = (np.add.reduceat(v, cuts) for v in (blocks.n, blocks.events, forecast_sum))
    return np.interp(distinct.x_min, x / n, events / n)


def _inner_starts(blocks: Blocks, case_weights: tuple[float, float]) -> NDArray[np.intp]:
    """The starts of the blocks after those at both ends are merged until they are large enough."""
    events, others = blocks.events / case_weights[0], (blocks.n - blocks.events) / case_weights[1]
    left, right = _blocks_needed(events, others), _blocks_needed(events[::-1], others[::-1])
    if left + right > len(blocks):
        return np.array([0])
    return np.append(0, np.arange(left, len(blocks) - right + 1))


def _blocks_needed(events: CountArray, others: CountArray) -> int:
    enough = (np.cumsum(events) >= _FEWEST_AT_THE_ENDS) & (np.cumsum(others) >= _FEWEST_AT_THE_ENDS)
    return int(np.argmax(enough)) + 1 if enough.any() else len(events)


def closed_overfit(blocks: Blocks, measure: Measure, case_weight: float) -> Overfit:
    """Compute the overfit of blocks in closed form only, where nothing can be drawn."""
    return _closed_forms(blocks, measure, case_weight, case_weight)


def _closed_forms(
    blocks: Blocks, measure: Measure, case_weight: FloatArray | float, weight_of_the_constant: float
) -> Overfit:
    """The overfit of a fit and that of the constant in closed form; both are 0 where that is left out."""
    closed = _closed_form(blocks, measure, case_weight)
    constant = _constant_overfit(blocks, measure, weight_of_the_constant)
    if np.isfinite(closed + constant):
        return Overfit(closed=closed, resampled=closed, constant=constant)
    return Overfit(closed=0.0, resampled=0.0, constant=0.0, left_out=_describe_left_out(measure))


def _describe_left_out(measure: Measure) -> str:
    if measure.entry is not None and not measure.entry.is_smooth:
        return ""
    problem = measure.curvature_problem or "The curvature of the score cannot be found at all fitted values"
    return f"{problem}: the closed form of its overfit is left out and counts as 0."


def _closed_form(blocks: Blocks, measure: Measure, case_weight: FloatArray | float) -> float:
    """The overfit in closed form; `case_weight` is the weight of a case, in each block or everywhere."""
    parameters = np.where(blocks.x_min == blocks.x_max, 1.0, _PARAMETERS_OF_A_BLOCK)
    return float((parameters * measure.overfit_weight(blocks.mean) * case_weight).sum() / blocks.n.sum())


def _weight_of_a_case(sample: FittedSample) -> FloatArray:
    """The weight of a case in each block, Σw²/Σw: 1 for repeated rows."""
    blocks = sample.blocks
    if sample.units.are_repeated_rows:
        return np.ones(len(blocks))
    return np.add.reduceat(sample.squares, _first_forecasts(sample)) / blocks.n


def _first_forecasts(sample: FittedSample) -> NDArray[np.intp]:
    """The first distinct forecast of each block."""
    return np.searchsorted(sample.distinct.x_min, sample.blocks.x_min)


def _weight_of_the_constant(sample: FittedSample) -> float:
    """The weight of a case if all rows are one block, Σw²/Σw: 1 for repeated rows."""
    if sample.units.are_repeated_rows:
        return 1.0
    return float(sample.squares.sum() / sample.blocks.n.sum())


def _constant_overfit(blocks: Blocks, measure: Measure, case_weight: float) -> float:
    n, events = float(blocks.n.sum()), float(blocks.events.sum())
    return float(measure.overfit_weight(np.array([events / n]))[0]) * case_weight / n
