"""The overfit of isotonic regression: the mean score of the fit is better than that of the truth.

Miscalibration and discrimination are both too large by the overfit, which for continuous forecasts
is more than their standard error. Two estimates fail in different situations, so intervals use both:

- closed form: each block overfits like one and a half fitted parameters, or like one parameter if it
  has one distinct forecast;
- resampled: outcomes are drawn from a smoothed curve and fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport._utils.machine import release_memory
from scorereport.inference.large_panels import MANY_ROWS
from scorereport.reliability.cells import make_cells
from scorereport.reliability.precision import PRECISION, list_batches
from scorereport.reliability.sampling import random_stream
from scorereport.reliability.simulation import draw_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.draws import Redraws, Refits
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.reliability.simulation import Simulation

#: Fewest events and non-events in the outer blocks of the smoothed curve.
_FEWEST_AT_THE_ENDS = 3
#: Equivalent number of parameters of a block with several distinct forecasts, by Chernoff asymptotics.
_PARAMETERS_OF_A_BLOCK = 1.5
#: Scores of up to this many entries are kept as floats of 64 bits; sums over more need fewer digits of each.
_FLOATS_FIT = 1_000_000
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
    drawn: str = ""  # number of draws and seed
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
    excess = _draw_enough(sample, measures, draws, seed)
    weights = _weight_of_a_case(sample), _weight_of_the_constant(sample)
    return [
        replace(
            _closed_forms(sample.blocks, measure, *weights),
            resampled=float(resampled),
            drawn=f"{len(excess)} draws, seed {seed}",
        )
        for measure, resampled in zip(measures, _mean_of_columns(excess), strict=True)
    ]


def _draw_enough(
    sample: FittedSample, measures: Sequence[Measure], draws: int | None, seed: int
) -> FloatArray:
    """Draw batches until the mean excess is known well enough, or as often as asked."""
    simulation = sample.simulation(smooth_curve(sample))
    if draws is not None:
        return draw_excess(simulation, measures, draws=draws, seed=seed)
    cells = make_cells(sample.distinct) if sample.units.are_repeated_rows else sample.distinct
    widths = 2 * _NORMAL_95 * np.array([_error_of_miscalibration(sample, cells, m) for m in measures])
    counts = np.isfinite(widths)
    excess = np.empty((0, len(measures)))
    scorer = ExcessScorer(simulation, measures, with_counts=not simulation.keeps_counts)
    for batch in list_batches(_FIRST_DRAWS, _MORE_DRAWS, _MOST_DRAWS):
        excess = np.vstack([excess, _draw_scored(simulation, scorer, batch, seed, redraw_cases=False)])
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


def draw_excess(
    simulation: Simulation, measures: Sequence[Measure], *, draws: int, seed: int, redraw_cases: bool = False
) -> FloatArray:
    """Return the mean score of the hypothesis minus that of the fit to outcomes drawn under it, by draw."""
    scorer = ExcessScorer(simulation, measures, with_counts=redraw_cases or not simulation.keeps_counts)
    return _draw_scored(simulation, scorer, range(draws), seed, redraw_cases=redraw_cases)


def _draw_scored(
    simulation: Simulation, scorer: ExcessScorer, numbers: range, seed: int, *, redraw_cases: bool
) -> FloatArray:
    if len(simulation.distinct) > MANY_ROWS:  # one draw makes what all draws share, else each thread would
        simulation.redraw_outcomes(random_stream(seed, 0))
    chunks = draw_chunks(
        simulation,
        lambda drawn: scorer.sum_up(drawn, drawn.fit()),
        numbers,
        seed=seed,
        what="drawing outcomes",
        redraw_cases=redraw_cases,
    )
    excess = scorer.excess(list(chunks))
    if len(simulation.distinct) > MANY_ROWS:
        release_memory()
    return excess


class ScoredSums(NamedTuple):
    """Sums of the scores of the hypothesis, and blocks of the fits with the first block of each sample."""

    of_hypothesis: FloatArray
    n: NDArray[Any]
    events: NDArray[Any]
    start: NDArray[np.intp]


class ExcessScorer:
    """Scores samples: the mean score of the hypothesis minus that of the fit, under each measure."""

    def __init__(self, simulation: Simulation, measures: Sequence[Measure], *, with_counts: bool) -> None:
        """Score both outcomes of each entry; `with_counts` if the cases of an entry differ by sample."""
        p, n, self._measures = simulation.probability, simulation.distinct.n, measures
        precision = np.float32 if len(p) > _FLOATS_FIT else np.float64
        self._added = np.empty((len(measures), len(p)), dtype=precision)
        self._without = np.empty((len(measures), len(p)), dtype=precision) if with_counts else None
        self._fixed = np.zeros(len(measures))
        for part in row_chunks(len(p)):
            for place, measure in enumerate(measures):
                without, self._added[place, part] = _scores_of_both_outcomes(measure, p[part])
                if self._without is None:
                    self._fixed[place] += (without * n[part]).sum()  # no draw changes it
                else:
                    self._without[place, part] = without

    def sum_up(self, drawn: Redraws, fits: Refits) -> ScoredSums:
        """The scores of the hypothesis, summed over each sample, and the blocks of the fits."""
        return ScoredSums(self._sum_of_hypothesis(drawn), fits.n, fits.events, fits.start)

    def excess(self, sums: Sequence[ScoredSums]) -> FloatArray:
        """A row for each sample, a column for each measure; all fits are scored in one call."""
        before = np.cumsum([0, *(len(part.n) for part in sums)])
        start = np.concatenate([part.start + first for part, first in zip(sums, before, strict=False)])
        n, events = (
            np.concatenate([getattr(part, name) for part in sums]).astype(np.float64)
            for name in ("n", "events")
        )
        of_fits = [self._sum_of_fits(measure, n, events, start) for measure in self._measures]
        total = np.add.reduceat(n, start)
        of_hypothesis = np.concatenate([part.of_hypothesis for part in sums])
        return (of_hypothesis - np.column_stack(of_fits)) / total[:, None]

    def _sum_of_hypothesis(self, drawn: Redraws) -> FloatArray:
        """The scores of non-events, plus what events add, summed over each sample."""
        sums = np.tile(self._fixed, (len(drawn.events), 1))
        for part in row_chunks(drawn.events.shape[1]):
            sums += _multiply(drawn.events[:, part], self._added[:, part])
            if self._without is not None and drawn.n is not None:
                sums += _multiply(np.atleast_2d(drawn.n)[:, part], self._without[:, part])
        return sums

    @staticmethod
    def _sum_of_fits(
        measure: Measure, n: FloatArray, events: FloatArray, start: NDArray[np.intp]
    ) -> FloatArray:
        without, added = _scores_of_both_outcomes(measure, events / n)
        return np.add.reduceat(n * without + events * added, start)


def _multiply(counts: NDArray[Any], scores: NDArray[Any]) -> FloatArray:
    """Sums of products over the entries; not by BLAS, whose sums depend on its threads."""
    return np.einsum("ij,kj->ik", counts.astype(np.float64), scores.astype(np.float64, copy=False))


def _scores_of_both_outcomes(measure: Measure, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Score of a non-event, and that of an event minus it; an event of probability 0 scores 0."""
    without = np.where(probability == 1, 0.0, measure.loss(np.zeros(len(probability)), probability))
    with_event = np.where(probability == 0, 0.0, measure.loss(np.ones(len(probability)), probability))
    return without, with_event - without


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
