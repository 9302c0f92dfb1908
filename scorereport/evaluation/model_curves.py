"""`ModelCurves`: the curves of a binary model, and the bands of its reliability curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves import (
    decision_curve,
    forecast_histogram,
    murphy_curves,
    regret_curve,
    reliability_curve,
    roc_curve,
    roc_hull,
)
from scorereport.curves.murphy import kinks_of
from scorereport.curves.segments import ForecastRanges, choose_band, find_segments, measure_segments
from scorereport.curves.thinning import choose_knots, thin_roc
from scorereport.inference.decisions import add_decision_band
from scorereport.reliability.bands import simultaneous_consistency_band
from scorereport.results.model_records import ModelCurves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fit_or_arrays import IsotonicFit
    from scorereport.curves.segments import Segment
    from scorereport.inference.decision_tallies import DecisionTally
    from scorereport.reliability.bands import Band, CalibratedCurves
    from scorereport.reliability.fit import Corp
    from scorereport.results.settings import EvaluationSettings


def collect_curves(
    fit: IsotonicFit, points: int, knots: FloatArray | None = None, tally: DecisionTally | None = None
) -> ModelCurves:
    """All curves of a fit, with about `points` points each, or at the given knots.

    With a tally of decisions, the decision curve has a band.
    """
    kinks = kinks_of(fit)
    regret = regret_curve(fit, theta=choose_knots(fit, points) if knots is None else knots)
    of_murphy = choose_knots(fit, points, kinks) if knots is None else np.union1d(knots, kinks)
    decision = decision_curve(fit, thresholds=regret.theta[regret.theta < 1])
    return ModelCurves(
        reliability=reliability_curve(fit),
        histogram=forecast_histogram(fit),
        roc=thin_roc(roc_curve(fit), points),
        roc_hull=roc_hull(fit),
        murphy=murphy_curves(fit, theta=of_murphy),
        regret=regret,
        decision=decision if tally is None else add_decision_band(decision, tally),
    )


def draw_bands(fit: Corp, curves: CalibratedCurves | None, settings: EvaluationSettings) -> tuple[Band, ...]:
    """Bands for the reliability diagram: consistency and confidence, pointwise and simultaneous.

    `curves` are those of a calibrated forecast, if they were drawn already.
    """
    bands = [
        *draw_consistency_bands(fit, curves, settings),
        draw_band(fit, "confidence", "pointwise", settings),
    ]
    if fit.cluster is None and fit.sample.units.are_repeated_rows:  # the honest band needs independent rows
        bands.append(fit.band("confidence", settings.band_level, coverage="simultaneous"))
    return tuple(bands)


def draw_consistency_bands(
    fit: Corp, curves: CalibratedCurves | None, settings: EvaluationSettings
) -> tuple[Band, Band]:
    """The pointwise and the simultaneous consistency band."""
    pointwise = draw_band(fit, "consistency", "pointwise", settings)
    if curves is None:
        return pointwise, draw_band(fit, "consistency", "simultaneous", settings)
    return pointwise, simultaneous_consistency_band(fit.sample, curves, settings.band_level)


def locate_segments(
    fit: IsotonicFit, bands: Sequence[Band], cells: ForecastRanges | None = None
) -> tuple[Segment, ...] | None:
    """The forecasts that a simultaneous band shows to be wrong; None without such a band.

    `cells` are given if the distinct forecasts of the fit are not all known.
    """
    if choose_band(bands) is None:
        return None
    found = find_segments(reliability_curve(fit), bands)
    return measure_segments(found, cells or ForecastRanges.of(fit.distinct), fit.blocks)


def draw_band(fit: Corp, kind: str, coverage: str, settings: EvaluationSettings) -> Band:
    """A band of the reliability curve from as many draws, with as many points, as the settings ask for."""
    return fit.band(
        kind,
        settings.band_level,
        coverage=coverage,
        resamples=settings.resamples,
        seed=settings.seed,
        points=settings.curve_points,
    )
