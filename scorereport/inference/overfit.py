"""The overfit of isotonic regression: the mean score of the fit is better than that of the truth.

Miscalibration and discrimination are both too large by the overfit, which for continuous forecasts
is more than their standard error. Two estimates fail in different situations, so intervals use both:

- closed form: each block overfits like one and a half fitted parameters, or like one parameter if it
  has one distinct forecast;
- resampled: outcomes are drawn from a smoothed curve and fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.machine import release_memory, repeat
from scorereport.inference.large_panels import MANY_ROWS, row_chunks
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.draws import Redraw
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.reliability.simulation import Simulation

#: Fewest events and non-events in the outer blocks of the smoothed curve.
_FEWEST_AT_THE_ENDS = 3
#: Equivalent number of parameters of a block with several distinct forecasts, by Chernoff asymptotics.
_PARAMETERS_OF_A_BLOCK = 1.5


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
    sample: FittedSample, measures: Sequence[Measure], *, draws: int, seed: int
) -> list[Overfit]:
    """Estimate the overfit of a fitted sample under several scores, from the same draws."""
    excess = draw_excess(sample.simulation(smooth_curve(sample)), measures, draws=draws, seed=seed)
    weights = _weight_of_a_case(sample), _weight_of_the_constant(sample)
    return [
        replace(
            _closed_forms(sample.blocks, measure, *weights),
            resampled=float(resampled),
            drawn=f"{draws} draws, seed {seed}",
        )
        for measure, resampled in zip(measures, _mean_of_columns(excess), strict=True)
    ]


def _mean_of_columns(table: FloatArray) -> FloatArray:
    """Means of columns, each summed in the same order however many columns there are."""
    return np.ascontiguousarray(table.T).mean(axis=1)


def draw_excess(
    simulation: Simulation, measures: Sequence[Measure], *, draws: int, seed: int, redraw_cases: bool = False
) -> FloatArray:
    """Return the mean score of the hypothesis minus that of the fit to outcomes drawn under it, by draw."""
    score = _make_scorer(simulation, measures, redraw_cases=redraw_cases)

    def draw(number: int) -> tuple[list[float], CountArray, CountArray]:
        rng = random_stream(seed, number)
        drawn = simulation.redraw_cases(rng) if redraw_cases else simulation.redraw_outcomes(rng)
        fit = drawn.fit()
        return score(drawn), fit.n, fit.events

    rows = len(simulation.distinct)
    if rows > MANY_ROWS:  # one draw makes what all draws share, else each thread would make it
        draw(0)
    of_hypothesis, n, events = zip(*repeat(draw, draws, rows=rows, what="drawing outcomes"), strict=True)
    if rows > MANY_ROWS:
        release_memory()
    return np.array(of_hypothesis) - np.column_stack([_mean_scores_of_fits(m, n, events) for m in measures])


def _mean_scores_of_fits(
    measure: Measure, n: Sequence[CountArray], events: Sequence[CountArray]
) -> FloatArray:
    """Mean score of each fit at its own blocks; all fits are scored in one call."""
    first = np.cumsum([0, *map(len, n)])[:-1]
    cases, happened = np.concatenate(n).astype(np.float64), np.concatenate(events).astype(np.float64)
    without, added = _scores_of_both_outcomes(measure, happened / cases)
    return np.add.reduceat(cases * without + happened * added, first) / np.add.reduceat(cases, first)


def _scores_of_both_outcomes(measure: Measure, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Score of a non-event, and that of an event minus it; an event of probability 0 scores 0."""
    without = np.where(probability == 1, 0.0, measure.loss(np.zeros(len(probability)), probability))
    with_event = np.where(probability == 0, 0.0, measure.loss(np.ones(len(probability)), probability))
    return without, with_event - without


def _make_scorer(
    simulation: Simulation, measures: Sequence[Measure], *, redraw_cases: bool
) -> Callable[[Redraw], list[float]]:
    """Make the function that returns the mean score of a draw under each measure."""
    p, n = simulation.probability, simulation.distinct.n
    if redraw_cases or not simulation.keeps_counts:
        return partial(_score_cases, [_scores_of_both_outcomes(measure, p) for measure in measures])
    precision = np.float32 if len(p) > MANY_ROWS else np.float64  # sums over many rows need no more digits
    fixed, added = np.zeros(len(measures)), [np.empty(len(p), dtype=precision) for _ in measures]
    for part in row_chunks(len(p)):
        for place, measure in enumerate(measures):
            without, added[place][part] = _scores_of_both_outcomes(measure, p[part])
            fixed[place] += (without * n[part]).sum()  # no draw changes it
    return partial(_score_outcomes, fixed, added, float(n.sum()))


def _score_outcomes(fixed: FloatArray, added: Sequence[NDArray[Any]], n: float, drawn: Redraw) -> list[float]:
    """Mean scores where forecasts are kept: those of non-events, plus what events add."""
    more = np.zeros(len(added))
    for part in row_chunks(len(drawn.events)):
        events = drawn.events[part]
        if drawn.n is None:
            happened = np.flatnonzero(events)  # once for all measures: a mask takes several times as long
            more += [score[part].take(happened).sum(dtype=np.float64) for score in added]
        else:
            more += [(score[part] * events).sum() for score in added]
    return ((fixed + more) / n).tolist()


def _score_cases(given: Sequence[tuple[FloatArray, FloatArray]], drawn: Redraw) -> list[float]:
    """Mean scores where forecasts are drawn as well."""
    position = slice(None) if drawn.position is None else drawn.position
    n = 1 if drawn.n is None else drawn.n
    sums = [
        (without[position] * n).sum() + (added[position] * drawn.events).sum() for without, added in given
    ]
    total = len(drawn.events) if drawn.n is None else drawn.n.sum()
    return [float(one / total) for one in sums]


def smooth_curve(sample: FittedSample) -> FloatArray:
    """Return a curve without steps at the distinct forecasts, through mean forecast and mean of each block.

    The outer blocks are merged inwards until they have three events and three non-events, because outcomes
    drawn from a fit that starts at 0 and ends at 1 would not vary there.
    """
    distinct, blocks = sample.distinct, sample.blocks
    first = np.searchsorted(distinct.x_min, blocks.x_min)
    forecast_sum = np.add.reduceat(distinct.n * distinct.x_min, first)
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
    first = np.searchsorted(sample.distinct.x_min, blocks.x_min)
    return np.add.reduceat(sample.squares, first) / blocks.n


def _weight_of_the_constant(sample: FittedSample) -> float:
    """The weight of a case if all rows are one block, Σw²/Σw: 1 for repeated rows."""
    if sample.units.are_repeated_rows:
        return 1.0
    return float(sample.squares.sum() / sample.blocks.n.sum())


def _constant_overfit(blocks: Blocks, measure: Measure, case_weight: float) -> float:
    n, events = float(blocks.n.sum()), float(blocks.events.sum())
    return float(measure.overfit_weight(np.array([events / n]))[0]) * case_weight / n
