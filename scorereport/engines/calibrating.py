"""Calibration of models from digests and scans: lines, tests, the binned error, and bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import logit, ndtr

from scorereport.engines.records import BUCKETS
from scorereport.engines.scanning import fit_logistic
from scorereport.inference.binning import expected_calibration_error
from scorereport.inference.calibration import IN_THE_LARGE, SPIEGELHALTER, hosmer_lemeshow_test
from scorereport.inference.lines import (
    LineFit,
    LineSample,
    describe_line,
    describe_unreliability,
    examine_intercept,
    examine_slope,
    joint_wald,
    likelihood_ratio,
    no_fit,
    wald_limits,
)
from scorereport.inference.logistic import fit_line, fit_offset, invert
from scorereport.inference.mean_errors import NormalOrT
from scorereport.inference.outcomes import HypothesisTest
from scorereport.reliability.bands import BandRequest, honest_confidence_band, pointwise_band
from scorereport.reliability.blocks import Blocks
from scorereport.results import ModelCalibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.arrays import FloatArray
    from scorereport.engines.records import Engine
    from scorereport.engines.scanning import Starts, StreamedFit
    from scorereport.engines.scoring import ScoredDigest
    from scorereport.reliability.bands import Band
    from scorereport.reliability.sample import Sample
    from scorereport.results import Settings

#: Cases for each distinct forecast, squared, from which on the normal theory of few forecasts holds.
_CASES_FOR_DISCRETE = 8


def examine_models(engine: Engine, models: Sequence[ScoredDigest]) -> dict[str, ModelCalibration]:
    """Line, tests and binned error of each model; lines are fitted to all rows by the same scans."""
    notes = {model.name: _why_no_line(engine, model) for model in models}
    starts: Starts = {model.name: _start(model) for model in models if not notes[model.name]}
    fits = fit_logistic(engine, starts, BUCKETS) if starts else {}
    return {m.name: _examine(m, fits.get(m.name, (None, None)), notes[m.name]) for m in models}


def shows_miscalibration(calibration: ModelCalibration, level: float) -> bool:
    """Whether tests of calibration, adjusted for their number, reject on one side of a level.

    Those of the line and of groups of forecasts; where no line fits, those of sums over all rows.
    """
    known = {test.name: test.p_value for test in calibration.tests if np.isfinite(test.p_value)}
    sums = ("Unreliability",) if "Unreliability" in known else (SPIEGELHALTER.name, IN_THE_LARGE.name)
    tried = [known[name] for name in (*sums, "Hosmer-Lemeshow") if name in known]
    return bool(tried) and len(tried) * min(tried) <= (1 - level) / 2


def _why_no_line(engine: Engine, model: ScoredDigest) -> str:
    survey, fit = engine.survey, model.fit
    if certain := survey.certain.get(model.name, 0):
        share = f"{certain} of {survey.rows} forecasts"
        return f"{share} are exactly 0 or 1 and have infinite log-odds: no line fits."
    if fit.events in (0, fit.n):
        return f"All outcomes are {int(fit.events > 0)}: no line fits."
    if model.digest.n_distinct == 1:
        return "All forecasts are the same: the slope is not defined."
    return ""


def _start(model: ScoredDigest) -> tuple[FloatArray, FloatArray]:
    """Fits to cells of forecasts, next to those to all rows."""
    y, p, weight = as_rows(model.fit.mean_cells)
    x = logit(np.clip(p, np.finfo(float).tiny, 1 - np.finfo(float).epsneg))
    line, offset = np.array(fit_line(x, y, weight)), np.array([fit_offset(x, y, weight)])
    return np.where(np.isfinite(line), line, (0.0, 1.0)), np.nan_to_num(offset)


def as_rows(cells: Blocks) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Outcomes, forecasts and weights of two rows for each cell, if it has cases of either outcome."""
    y = np.repeat([0.0, 1.0], len(cells))
    weight = np.concatenate([cells.n - cells.events, cells.events]).astype(np.float64)
    used = weight > 0
    return y[used], np.tile(cells.x_min, 2)[used], weight[used]


def _examine(model: ScoredDigest, fits: Sequence[StreamedFit | None], note: str) -> ModelCalibration:
    sample = _describe_sample(model)
    joint, offset = (_as_fit(model, fit, size, note) for fit, size in zip(fits, (2, 1), strict=True))
    law = NormalOrT() if model.units.are_independent else model.buckets.law
    quantile = law.critical_value(model.level)
    limits = wald_limits(joint, quantile), wald_limits(offset, quantile)
    y, p, weight = as_rows(model.fit.mean_cells)
    tests = [
        _test_sum(model, "spiegelhalter"),
        _test_sum(model, "large"),
        examine_slope(sample, joint),
        examine_intercept(sample, offset),
        _test_unreliability(model, sample, joint, fits[0]),
    ]
    if model.units.are_independent:
        tests.append(hosmer_lemeshow_test(y, p, sample_weight=weight))
    return ModelCalibration(
        line=describe_line(sample, joint, offset, limits, how="Wald interval", level=model.level),
        tests=tuple(tests),
        errors=None,
        binned=expected_calibration_error(y, p, sample_weight=weight),
    )


def _describe_sample(model: ScoredDigest) -> LineSample:
    errors = (
        "errors from the likelihood"
        if model.units.are_independent
        else f"sandwich errors over {len(model.buckets.n)} buckets of {model.units.what}"
    )
    return LineSample(n=float(model.fit.n), events=float(model.fit.events), errors=errors)


def _as_fit(model: ScoredDigest, fit: StreamedFit | None, size: int, note: str) -> LineFit:
    if fit is None:
        return no_fit(size, note or "The fit did not converge.")
    inverse = invert(fit.information)
    if not model.units.are_independent:
        moved = fit.bucket_scores @ inverse
        buckets = len(model.buckets.n)
        inverse = moved.T @ moved * buckets / max(buckets - 1, 1)
    return LineFit(value=fit.value, covariance=inverse)


def _test_unreliability(
    model: ScoredDigest, sample: LineSample, joint: LineFit, fit: StreamedFit | None
) -> HypothesisTest:
    has_likelihood = model.units.are_independent
    if fit is None:
        statistic, note = np.nan, joint.note
    elif has_likelihood:
        statistic, note = likelihood_ratio(sample, fit.log_likelihood - fit.of_forecasts)
    else:
        statistic, note = joint_wald(joint), ""
    return describe_unreliability(sample, statistic, note, has_likelihood=has_likelihood)


def _test_sum(model: ScoredDigest, name: str) -> HypothesisTest:
    """Spiegelhalter's z, or calibration in the large, from sums over all rows."""
    buckets, described = model.buckets, {"spiegelhalter": SPIEGELHALTER, "large": IN_THE_LARGE}[name]
    sums = buckets.spiegelhalter if name == "spiegelhalter" else buckets.events - buckets.forecast
    under_null = float(model.digest.variances[1 if name == "spiegelhalter" else 0])
    independent = model.units.are_independent
    variance = under_null if independent else float((sums**2).sum())
    z = float(sums.sum() / variance**0.5) if variance > 0 else np.nan
    how = (
        "variance under the null hypothesis"
        if independent
        else f"variance from the sums over {len(sums)} buckets of {model.units.what}"
    )
    return HypothesisTest(
        name=described.name,
        statistic=z,
        p_value=float(2 * ndtr(-abs(z))),
        null_hypothesis=described.null_hypothesis,
        method=f"two-sided normal test, {how}",
        reference=described.reference,
        n=float(model.fit.n),
        note="" if variance > 0 else "The forecasts leave the sum no variance to compare it with.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _BandUnits:
    """Cases that were drawn each by itself."""

    size: float
    case_weight: float = 1.0
    are_repeated_rows: bool = True

    @property
    def total(self) -> float:
        return self.size


@dataclass(frozen=True, kw_only=True, eq=False)
class _BandSample:
    """What asymptotic bands read of a sample."""

    distinct: Blocks
    blocks: Blocks
    units: _BandUnits
    cluster: None = None

    @property
    def squares(self) -> FloatArray:
        return self.distinct.n.astype(np.float64)

    def cep(self, x: FloatArray) -> FloatArray:
        return np.interp(x, *self.blocks.corners)


def draw_bands(model: ScoredDigest, settings: Settings) -> tuple[Band, ...]:
    """Pointwise bands by asymptotic theory and the honest simultaneous one; none for dependent cases."""
    if not model.units.are_independent:
        return ()
    fit, units = model.fit, _BandUnits(size=float(model.fit.n))
    is_discrete = fit.is_complete and fit.n >= _CASES_FOR_DISCRETE * model.digest.n_distinct**2
    smooth = _BandSample(distinct=fit.mean_cells, blocks=fit.blocks, units=units)
    marked = _BandSample(distinct=fit.distinct, blocks=fit.blocks, units=units)
    pointwise = (
        pointwise_band(
            cast("Sample", smooth),
            BandRequest(
                kind=kind,
                level=settings.band_level,
                method="discrete" if is_discrete else "continuous",
                resamples=0,
                seed=settings.seed,
                points=settings.curve_points,
                quantiles="exact",
            ),
        )
        for kind in ("consistency", "confidence")
    )
    return (*pointwise, honest_confidence_band(cast("Sample", marked), settings.band_level))
