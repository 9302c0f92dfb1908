"""What a calibrated forecast would give: miscalibrations and curves from one set of drawn outcomes.

The test of miscalibration and the simultaneous consistency band need the same samples: forecasts are kept,
outcomes are drawn from them. Each sample is drawn and fitted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.losses import Measure
from scorereport.inference.overfit_draws import ExcessScorer, ScoredSums
from scorereport.reliability.bands import (
    MOST_CASES,
    CalibratedCurves,
    CurvePoints,
    choose_points,
    simulate_calibration,
)
from scorereport.reliability.decomposition import mean_at
from scorereport.reliability.draws import Redraws
from scorereport.reliability.simulation import draw_chunks

if TYPE_CHECKING:
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fit import Corp
    from scorereport.reliability.simulation import Simulation

RULES = ("exact", "r")
#: Samples with equal miscalibration may differ in the last digits; they count as equal.
_ROUNDING = 1e-12
_CORP_REFERENCE = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationNull:
    """The miscalibration of each drawn sample, a column for each measure, and what it is compared with.

    `statistics` are the miscalibrations of the sample, and `observed` those that are compared; with many
    cases they are those of forecasts averaged in cells, as in the samples. `cells` is their number. `curves`
    are those of the drawn samples, None if no points were asked for.
    """

    measures: Sequence[Measure]
    statistics: FloatArray
    excess: FloatArray
    observed: FloatArray
    seed: int
    rule: str
    cells: int | None
    curves: CalibratedCurves | None = None


def draw_null(
    fit: Corp,
    measures: Sequence[Measure],
    *,
    resamples: int,
    seed: int,
    points: int | None = None,
    rule: str = "exact",
    most_cases: float = MOST_CASES,
    known: Sequence[float] | None = None,
) -> CalibrationNull:
    """Draw samples from the forecasts, and compute miscalibrations and, at about `points` points, curves.

    More than `most_cases` are drawn in cells of forecasts, but not by the rule of R. `known` are the
    miscalibrations of the sample, if they were computed already.
    """
    return simulate_null(
        simulate_calibration(fit.sample, most_cases if rule == "exact" else np.inf),
        fit.distinct,
        measures,
        [_miscalibration(fit, measure) for measure in measures] if known is None else known,
        resamples=resamples,
        seed=seed,
        points=None if points is None else choose_points(fit.distinct, points),
        rule=rule,
    )


def simulate_null(
    simulation: Simulation,
    distinct: Blocks,
    measures: Sequence[Measure],
    miscalibrations: Sequence[float],
    *,
    resamples: int,
    seed: int,
    points: FloatArray | None = None,
    rule: str = "exact",
) -> CalibrationNull:
    """Draw samples of a simulation of calibrated outcomes, which may merge the distinct forecasts.

    `points` are the forecasts at which curves are kept.
    """
    is_exact = rule == "exact"
    scorer = ExcessScorer(simulation, measures, with_counts=not (is_exact and simulation.keeps_counts))
    cells = len(simulation.distinct) if len(simulation.distinct) < len(distinct) else None
    chosen = CurvePoints.of(np.empty(0) if points is None else points, simulation)

    def reduce(drawn: Redraws) -> tuple[ScoredSums, FloatArray | None]:
        fits = drawn.fit()
        return scorer.sum_up(drawn, fits), None if points is None else fits.at_entries(chosen.entries)

    chunks = draw_chunks(
        simulation, reduce, range(resamples), seed=seed, what="drawing outcomes", redraw_cases=not is_exact
    )
    sums, curves = zip(*chunks, strict=True)
    statistics = np.array(miscalibrations)
    return CalibrationNull(
        measures=measures,
        statistics=statistics,
        excess=scorer.excess(sums),
        observed=statistics if cells is None else _observe(statistics, simulation, scorer),
        seed=seed,
        rule=rule,
        cells=cells,
        curves=None if points is None else CalibratedCurves(chosen.x, np.concatenate(curves), seed),
    )


def _observe(statistics: FloatArray, simulation: Simulation, scorer: ExcessScorer) -> FloatArray:
    """The miscalibration of the sample in cells; infinite where that of its forecasts is."""
    cells = Redraws(simulation.distinct.n, simulation.distinct.events[None])
    in_cells = scorer.excess([scorer.sum_up(cells, cells.fit())])[0]
    return np.where(np.isfinite(statistics), in_cells, statistics)


def judge_miscalibration(fit: Corp, null: CalibrationNull) -> list[HypothesisTest]:
    """Test miscalibration under each measure, all from the same draws."""
    dependence = "" if fit.cluster is None else ", dependent within clusters"
    dependence += "" if fit.sample.units.are_repeated_rows else ", with sampling weights of the outcome drawn"
    return judge_null(null, float(fit.n), dependence)


def judge_null(null: CalibrationNull, n: float, dependence: str = "") -> list[HypothesisTest]:
    """Test the miscalibrations that were drawn under each measure; `n` is the number of cases."""
    drawn = "forecasts and outcomes" if null.rule == "r" else "outcomes"
    formula = "#/B" if null.rule == "r" else "(1 + #)/(B + 1)"
    dependence += "" if null.cells is None else f", compared in {null.cells} cells of neighbouring forecasts"
    draws = f"{len(null.excess)} draws of {drawn} from the forecast{dependence}"
    return [
        HypothesisTest(
            name=f"miscalibration ({measure.label})",
            statistic=float(null.statistics[column]),
            p_value=find_p_value(null.excess[:, column], null.observed[column], null.rule),
            null_hypothesis="The forecast is calibrated: P(event | forecast) equals the forecast.",
            method=f"{draws}, seed {null.seed}; p = {formula}",
            reference=_CORP_REFERENCE,
            n=n,
            draws=len(null.excess),
        )
        for column, measure in enumerate(null.measures)
    ]


def _miscalibration(fit: Corp, measure: Measure) -> float:
    given, fitted = fit.distinct, fit.blocks
    as_forecast = mean_at(measure.loss, given.x_min, given.n, given.events)
    return as_forecast - mean_at(measure.loss, fitted.mean, fitted.n, fitted.events)


def find_p_value(null: FloatArray, observed: float, rule: str = "exact") -> float:
    """Return the p-value of a statistic: the share of drawn ones that reach it, which counts with them."""
    at_least = int((null >= observed - _ROUNDING).sum())
    return at_least / len(null) if rule == "r" else (1 + at_least) / (len(null) + 1)
