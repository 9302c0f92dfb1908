"""The test that no miscalibration is left after a line: outcomes are drawn from the line and fitted again.

Many samples are drawn only if the first ones do not show that the p-value is large: more would not change the
answer (Besag and Clifford).

The statistic is the mean score of the best line minus that of the isotonic fit. The line is not fitted to
each drawn sample: its gain is that of one step of Newton's method, ½ g'H⁻¹g with the gradient g of the mean
score at the line that the outcomes were drawn from, and the expected curvature H.

References
----------
Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78, doi:10.1093/biomet/78.2.301
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from scorereport.inference.calibration_null import find_p_value
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.likelihood import gram, invert
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit_draws import ExcessScorer
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.draws import Redraws
from scorereport.reliability.simulation import draw_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.score_lines import ScoreLine, ScoreOfLogOdds
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.reliability.simulation import Simulation

BRAUER_2025 = "Brauer, Menzel, Wüthrich (2025), doi:10.48550/arXiv.2510.04556"
#: Draws of outcomes: near 0.05, p-values differ from those of more draws by about 0.01.
DRAWS = 399
#: No more are drawn if this many of the first draws, or more, reach the statistic of each score.
_FIRST_DRAWS, _ENOUGH = 99, 20


def check_local(
    sample: FittedSample,
    line: ScoreLine,
    scores: Sequence[ScoreOfLogOdds],
    statistics: Sequence[float],
    *,
    seed: int,
    draws: int = DRAWS,
) -> list[HypothesisTest]:
    """Test under each score that the probability of an event is a line in the log-odds of the forecast.

    `line` is that of maximum likelihood, and `statistics` are the mean scores of the best lines minus those
    of the isotonic fit. More cases than usual are drawn in cells, and compared in cells.
    """
    if not np.isfinite([line.intercept, line.slope]).all():
        return [_describe(sample, score.name, np.nan, np.nan, np.empty(0), seed) for score in scores]
    # of many cases, the line is moved at the mean forecast of each cell
    simulation = sample.simulation(sample.distinct.x_min, most_cases=MOST_CASES, move=line.move)
    scorer = _LocalScorer(simulation, line, scores)
    observed = np.array(statistics)
    if len(simulation.distinct) < len(sample.distinct):
        cells = Redraws(simulation.distinct.n, simulation.distinct.events[None])
        observed = np.where(np.isfinite(observed), scorer.excess([scorer.sum_up(cells)])[0], observed)
    excess = scorer.draw(range(min(draws, _FIRST_DRAWS)), seed)
    if draws > len(excess) and ((excess >= observed).sum(axis=0) < _ENOUGH).any():
        excess = np.vstack([excess, scorer.draw(range(len(excess), draws), seed)])
    return [
        _describe(sample, score.name, float(statistic), float(compared), excess[:, column], seed)
        for column, (score, statistic, compared) in enumerate(zip(scores, statistics, observed, strict=True))
    ]


class _LocalScorer:
    """Scores drawn samples: the mean score of the line fitted to each, minus that of its isotonic fit."""

    def __init__(self, simulation: Simulation, line: ScoreLine, scores: Sequence[ScoreOfLogOdds]) -> None:
        self._simulation, self._with_counts = simulation, not simulation.keeps_counts
        measures = [resolve_measure(score.name, {}) for score in scores]
        self._scorer = ExcessScorer(simulation, measures, with_counts=self._with_counts)
        self._n = simulation.distinct.n.astype(np.float64)
        q = simulation.probability
        is_certain = (q == 0) | (q == 1)
        log_odds = logit(np.where(is_certain, 0.5, q))
        x = log_odds if line.is_constant else (log_odds - line.intercept) / line.slope
        columns = np.where(is_certain, 0.0, line.columns(x))
        both = [
            [score.slope(np.full(len(q), outcome), log_odds) for outcome in (0.0, 1.0)] for score in scores
        ]
        self._without = np.stack([columns * without for without, _ in both])
        self._added = np.stack([columns * (of_event - without) for without, of_event in both])
        curvatures = [gram(columns, self._n * score.expected_curvature(q)) for score in scores]
        self._inverses = [invert(curvature) for curvature in curvatures]

    def draw(self, numbers: range, seed: int) -> FloatArray:
        """The statistics of the samples of these numbers: a row for each, a column for each score."""
        what = "drawing outcomes of the line"
        return self.excess(list(draw_chunks(self._simulation, self.sum_up, numbers, seed=seed, what=what)))

    def sum_up(self, drawn: Redraws) -> tuple[object, FloatArray]:
        """The sums of a chunk of samples, and the gains of their lines."""
        return self._scorer.sum_up(drawn, drawn.fit()), self._gain(drawn)

    def excess(self, sums: Sequence[tuple[object, FloatArray]]) -> FloatArray:
        """A row for each sample, a column for each score."""
        of_line, gains = zip(*sums, strict=True)
        return self._scorer.excess(of_line) - np.concatenate(gains)

    def _gain(self, drawn: Redraws) -> FloatArray:
        """What the line fitted to each sample gains over the line that was drawn from, in the mean score."""
        n = np.atleast_2d(self._n if drawn.n is None or not self._with_counts else drawn.n)
        total = n.sum(axis=1)
        gains = []
        for without, added, inverse in zip(self._without, self._added, self._inverses, strict=True):
            gradient = _multiply(n, without) + _multiply(drawn.events, added)
            gains.append(0.5 * np.einsum("ij,jk,ik->i", gradient, inverse, gradient) / total)
        return np.stack(gains, axis=1)


def _multiply(counts: NDArray[np.generic], columns: FloatArray) -> FloatArray:
    """Sums of products over the entries; not by BLAS, whose sums depend on its threads."""
    return np.einsum("ij,kj->ik", counts.astype(np.float64), columns)


def _describe(
    sample: FittedSample, name: str, statistic: float, compared: float, drawn: FloatArray, seed: int
) -> HypothesisTest:
    dependence = "" if sample.cluster is None else ", dependent within clusters"
    return HypothesisTest(
        name=f"local miscalibration ({name})",
        statistic=statistic,
        p_value=np.nan if np.isnan(compared) else find_p_value(drawn, compared),
        null_hypothesis="The log-odds of an event are a line in those of the forecast.",
        method=f"{len(drawn)} draws of outcomes from the line{dependence}, seed {seed}; p = (1 + #)/(B + 1)",
        reference=BRAUER_2025,
        n=float(sample.units.total),
        draws=len(drawn) or None,
        note="" if len(drawn) else "No line fits, so there is no test.",
    )
