"""Draws of the overfit: the mean score of a hypothesis minus that of the fit to outcomes drawn under it.

Of many cases, outcomes are drawn in cells of neighbouring forecasts. A fit to cells overfits less than one to
single forecasts: the part that is lost grows with about the square root of the size of the cells, as that of
the minimum of a random walk that is seen at some of its steps only. Each sample is therefore fitted twice, in
cells and in about four times wider ones, and the excess is extrapolated to cells of size 0. At 200,000 to
4,000,000 cases it is within 2 % of that of single cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport.reliability.cells import CellSize, find_cells
from scorereport.reliability.simulation import Simulation, draw_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.reliability.draws import Redraws, Refits
    from scorereport.reliability.fitted_sample import FittedSample

#: More cases are drawn in cells; the wider ones hold about four of them.
MOST_CASES = 200_000
_CELLS = CellSize(parts=16_384, growth=800)
_WIDER_CELLS = CellSize(parts=4_096, growth=200)
#: What cells lose, as a multiple of what the wider ones lose beyond that: 1 for a square root, less if the
#: loss grows faster, as it does at these sizes.
_LOSS = 0.9


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
        self._added = np.empty((len(measures), len(p)))
        self._without = np.empty((len(measures), len(p))) if with_counts else None
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


def _multiply(counts: NDArray[Any], scores: FloatArray) -> FloatArray:
    """Sums of products over the entries; not by BLAS, whose sums depend on its threads."""
    return np.einsum("ij,kj->ik", counts.astype(np.float64), scores)


def _scores_of_both_outcomes(measure: Measure, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Score of a non-event, and that of an event minus it; an event of probability 0 scores 0."""
    without = np.where(probability == 1, 0.0, measure.loss(np.zeros(len(probability)), probability))
    with_event = np.where(probability == 0, 0.0, measure.loss(np.ones(len(probability)), probability))
    return without, with_event - without


class _Scorer(Protocol):
    """What scores drawn samples: in one step for each chunk of them, and in one for all chunks."""

    def sum_up(self, drawn: Redraws, fits: Refits) -> Any: ...

    def excess(self, sums: Sequence[Any]) -> FloatArray: ...


class _CellScorer:
    """Scores samples that are drawn in cells, and extrapolates the excess to cells of size 0."""

    def __init__(self, simulation: Simulation, measures: Sequence[Measure]) -> None:
        self._scorer = ExcessScorer(simulation, measures, with_counts=not simulation.keeps_counts)
        self._wider = find_cells(simulation.counts, _WIDER_CELLS)

    def sum_up(self, drawn: Redraws, fits: Refits) -> tuple[ScoredSums, ScoredSums]:
        """The sums of samples fitted in cells, and in wider ones."""
        sums, wide = self._scorer.sum_up(drawn, fits), drawn.join(self._wider).fit()
        return sums, sums._replace(n=wide.n, events=wide.events, start=wide.start)

    def excess(self, sums: Sequence[tuple[ScoredSums, ScoredSums]]) -> FloatArray:
        """A row for each sample, a column for each measure."""
        in_cells, in_wider = (self._scorer.excess(part) for part in zip(*sums, strict=True))
        return in_cells + _LOSS * (in_cells - in_wider)


@dataclass(frozen=True, slots=True, eq=False)
class OverfitDraws:
    """Samples under a hypothesis, of which the excess is drawn."""

    simulation: Simulation
    scorer: _Scorer
    seed: int
    is_in_cells: bool = False

    @classmethod
    def of(
        cls, sample: FittedSample, probability: FloatArray, measures: Sequence[Measure], seed: int
    ) -> OverfitDraws:
        """Draw outcomes with this probability of an event at each distinct forecast; many in cells."""
        simulation = sample.simulation(probability, most_cases=MOST_CASES, size=_CELLS)
        if len(simulation.distinct) < len(sample.distinct):
            return cls(simulation, _CellScorer(simulation, measures), seed, is_in_cells=True)
        scorer = ExcessScorer(simulation, measures, with_counts=not simulation.keeps_counts)
        return cls(simulation, scorer, seed)

    def draw(self, numbers: range) -> FloatArray:
        """The excess of the samples of these numbers: a row for each, a column for each measure."""
        chunks = draw_chunks(
            self.simulation,
            lambda drawn: self.scorer.sum_up(drawn, drawn.fit()),
            numbers,
            seed=self.seed,
            what="drawing outcomes",
        )
        return self.scorer.excess(list(chunks))

    def describe(self, draws: int) -> str:
        """The number of draws, how they were drawn, and the seed."""
        cells = f" in {len(self.simulation.distinct)} cells" if self.is_in_cells else ""
        return f"{draws} draws{cells}, seed {self.seed}"
