"""Calibration of models from digests and scans: lines, tests, the binned error, and bands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import logit

from scorereport._utils.formatting import format_counted
from scorereport.evaluation.engines.protocol import BUCKETS
from scorereport.evaluation.engines.scans import fit_logistic
from scorereport.inference.binned_errors import correct_bins
from scorereport.inference.calibration_tests import (
    IN_THE_LARGE,
    SPIEGELHALTER,
    hosmer_lemeshow_test,
    note_impossible,
)
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.likelihood import invert
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.panel import make_panel
from scorereport.inference.recalibration_lines import (
    NO_ERROR,
    LineFit,
    LineSample,
    describe_certain,
    describe_line,
    describe_unreliability,
    joint_wald,
    likelihood_ratio,
    no_fit,
    wald_intercept_test,
    wald_limits,
    wald_slope_test,
)
from scorereport.reliability.bands import (
    BandRequest,
    honest_confidence_band,
    pointwise_band,
    simultaneous_consistency_band,
)
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.clusters import variance_of_sum
from scorereport.results.model_records import ModelCalibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.protocol import Engine, Survey
    from scorereport.evaluation.engines.scans import Starts, StreamedFit
    from scorereport.evaluation.engines.scored_digests import DigestedFit, ScoredDigest
    from scorereport.inference.binned_errors import BinnedError
    from scorereport.reliability.bands import Band, CalibratedCurves
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.results.settings import EvaluationSettings

#: The normal theory for few distinct forecasts holds from this many cases per squared number of forecasts.
_CASES_FOR_DISCRETE = 8
#: Deviations this small relative to the sums of buckets are rounding.
_ROUNDING = 1e-13


def examine_models(engine: Engine, models: Sequence[ScoredDigest]) -> dict[str, ModelCalibration]:
    """Calibration line, tests and binned error of each model; the same scans fit the lines of all models."""
    notes = {model.name: _explain_missing_fit(engine, model) for model in models}
    starts: Starts = {}
    for model in models:
        joint, offset = _start(model)
        starts |= {(model.name, "joint"): joint} if not any(notes[model.name]) else {}
        starts |= {(model.name, "offset"): offset} if not notes[model.name][1] else {}
    fits = fit_logistic(engine, starts, BUCKETS)
    return {
        m.name: _examine(
            m, (fits.get((m.name, "joint")), fits.get((m.name, "offset"))), notes[m.name], engine.survey
        )
        for m in models
    }


def shows_miscalibration(calibration: ModelCalibration, level: float) -> bool:
    """Whether tests of calibration, adjusted for their number, reject at (1 - level) / 2.

    The tests are that of the calibration line and that of groups of forecasts; if no line fits, the tests of
    sums over all rows take its place.
    """
    known = {test.name: test.p_value for test in calibration.tests if np.isfinite(test.p_value)}
    sums = ("Unreliability",) if "Unreliability" in known else (SPIEGELHALTER.name, IN_THE_LARGE.name)
    tried = [known[name] for name in (*sums, "Hosmer-Lemeshow") if name in known]
    return bool(tried) and len(tried) * min(tried) <= (1 - level) / 2


def _explain_missing_fit(engine: Engine, model: ScoredDigest) -> tuple[str, str]:
    """The reasons for a missing slope and for a missing intercept at slope 1; empty if there is one."""
    survey, fit = engine.survey, model.fit
    if certain := survey.certain.get(model.name, 0):
        note = describe_certain(certain, survey.rows)
        return note, note
    if fit.events in (0, fit.n):
        note = f"All outcomes are {int(fit.events > 0)}: no line fits."
        return note, note
    if model.digest.n_distinct == 1:
        return "All forecasts are the same: the slope is not defined.", ""
    if _separates(fit):
        return "The forecasts separate events from non-events: the slope is infinite.", ""
    return "", ""


def _separates(fit: DigestedFit) -> bool:
    """Whether the forecasts of events and non-events overlap in at most one value.

    Events that all lie below the non-events are recognised if they share no forecast; otherwise the fit is
    tried, and does not converge.
    """
    blocks = fit.blocks
    mixed = (blocks.events > 0) & (blocks.events < blocks.n)
    rises = mixed.sum() <= 1 and bool((blocks.x_min == blocks.x_max)[mixed].all())
    return rises or fit.digest.pairs == 0


def _start(model: ScoredDigest) -> tuple[FloatArray, FloatArray]:
    """Starting values of line and offset: the fits to cells of forecasts, near those to all rows."""
    y, p, weight = as_rows(model.fit.mean_cells)
    x = logit(np.clip(p, np.finfo(float).tiny, 1 - np.finfo(float).epsneg))
    line, offset = np.array(fit_line(x, y, weight)), np.array([fit_offset(x, y, weight)])
    return np.where(np.isfinite(line), line, (0.0, 1.0)), np.nan_to_num(offset)


def as_rows(cells: Blocks) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Outcomes, forecasts and weights of the cells: a row for each cell and outcome that has cases."""
    y = np.repeat([0.0, 1.0], len(cells))
    weight = np.concatenate([cells.n - cells.events, cells.events]).astype(np.float64)
    used = weight > 0
    return y[used], np.tile(cells.x_min, 2)[used], weight[used]


def _examine(
    model: ScoredDigest, fits: Sequence[StreamedFit | None], notes: Sequence[str], survey: Survey
) -> ModelCalibration:
    sample = _describe_sample(model)
    joint, offset = (_as_fit(model, *fit) for fit in zip(fits, (2, 1), notes, strict=True))
    impossible = note_impossible(survey.refuted.get(model.name, (0, ()))[0])
    limits = wald_limits(joint, model.level), wald_limits(offset, model.level)
    y, p, weight = as_rows(model.fit.mean_cells)
    tests = [
        _test_sum(model, "spiegelhalter", impossible),
        _test_sum(model, "large", impossible),
        wald_slope_test(sample, joint),
        wald_intercept_test(sample, offset),
        _test_unreliability(model, sample, joint, fits[0]),
    ]
    if model.units.are_independent:
        by_groups = hosmer_lemeshow_test(y, p, sample_weight=weight, weight_kind="frequency")
        note = by_groups.note.replace(note_impossible(int((p == 1 - y).sum())), impossible)
        tests.append(replace(by_groups, note=note))
    return ModelCalibration(
        line=describe_line(sample, joint, offset, limits, how="Wald interval", level=model.level),
        tests=tuple(tests),
        errors=None,
        binned=_bin(model),
    )


def _bin(model: ScoredDigest) -> BinnedError:
    """The binned error from counts; for independent rows also the corrected one, in closed form.

    There is no interval: it needs resamples of rows in memory.
    """
    y, p, weight = as_rows(model.fit.mean_cells)
    kind = "frequency" if model.units.are_repeated_rows else "sampling"
    panel = make_panel(y, {"y_prob": p}, sample_weight=weight, weight_kind=kind)
    found = correct_bins(panel)
    return found if model.units.are_independent else replace(found, corrected=None)


def _describe_sample(model: ScoredDigest) -> LineSample:
    errors = (
        "errors from the likelihood"
        if model.units.are_independent
        else f"sandwich errors over {format_counted(len(model.buckets.n), 'bucket')} of {model.units.what}"
    )
    return LineSample(
        n=float(model.fit.n), events=float(model.fit.events), errors=errors, warning=model.warning
    )


def _as_fit(model: ScoredDigest, fit: StreamedFit | None, size: int, note: str) -> LineFit:
    if fit is None:
        return no_fit(size, note or "The fit did not converge.")
    inverse = invert(fit.information)
    if model.units.are_independent:
        return LineFit(value=fit.value, covariance=inverse)
    buckets = len(model.buckets.n)
    moved = fit.bucket_scores @ inverse
    covariance = moved.T @ moved * buckets / max(buckets - 1, 1)
    if buckets < 2 or np.sqrt(np.diag(covariance)).min() <= NO_ERROR:
        why = f"The {format_counted(buckets, 'bucket')} do not vary enough to give standard errors."
        return LineFit(value=fit.value, covariance=np.full_like(covariance, np.nan), note=why)
    freedom = model.error_distribution.degrees_of_freedom
    return LineFit(value=fit.value, covariance=covariance, freedom=(freedom,) * 2, freedom_together=freedom)


def _test_unreliability(
    model: ScoredDigest, sample: LineSample, joint: LineFit, fit: StreamedFit | None
) -> HypothesisTest:
    has_likelihood = model.units.are_independent
    if fit is None:
        statistic, note = np.nan, joint.note
    elif has_likelihood:
        statistic, note = likelihood_ratio(sample, fit.log_likelihood - fit.of_forecasts)
    elif joint.note:
        statistic, note = np.nan, joint.note
    elif (
        len(model.buckets.n) < 3
        or not joint.freedom_together > 1
        or np.linalg.matrix_rank(joint.covariance) < 2
    ):
        few = format_counted(len(model.buckets.n), "bucket")
        statistic, note = np.nan, f"{few} are too few to test two parameters."
    else:
        statistic, note = joint_wald(joint), ""
    return describe_unreliability(sample, joint, statistic, note, has_likelihood=has_likelihood)


def _test_sum(model: ScoredDigest, name: str, impossible: str) -> HypothesisTest:
    """Test Spiegelhalter's z, or calibration in the large, from sums over all rows."""
    buckets, described = model.buckets, {"spiegelhalter": SPIEGELHALTER, "large": IN_THE_LARGE}[name]
    sums = buckets.spiegelhalter if name == "spiegelhalter" else buckets.events - buckets.forecast
    under_null = float(model.digest.variances[1 if name == "spiegelhalter" else 0])
    independent = model.units.are_independent
    variance = under_null if independent else _variance_over_buckets(sums, buckets.n)
    z = float(sums.sum() / variance**0.5) if variance > 0 else np.nan
    distribution = ErrorDistribution() if independent else model.error_distribution
    how = (
        "variance under the null hypothesis"
        if independent
        else f"bias-reduced variance over {format_counted(len(sums), 'bucket')} of {model.units.what}"
    )
    none = (
        "One bucket has no variance"
        if np.isnan(variance)
        else "With these forecasts, the sum has no variance"
    )
    why = model.warning if variance > 0 else f"{none} to compare it with."
    return HypothesisTest(
        name=described.name,
        statistic=z,
        p_value=distribution.p_value(z),
        null_hypothesis=described.null_hypothesis,
        method=f"two-sided {distribution.name_of_test}, {how}",
        reference=described.reference,
        n=float(model.fit.n),
        note=" ".join(filter(None, (why, impossible))),
    )


def _variance_over_buckets(sums: FloatArray, weight: FloatArray) -> float:
    """The bias-reduced variance of a sum over buckets; NaN for one bucket."""
    if len(sums) < 2:
        return np.nan
    return variance_of_sum(sums, weight, _ROUNDING * (np.abs(sums) + np.abs(sums).mean()))


@dataclass(frozen=True, kw_only=True, eq=False)
class _BandUnits:
    """Independent cases."""

    size: float
    are_repeated_rows: bool = True

    @property
    def total(self) -> float:
        return self.size


@dataclass(frozen=True, kw_only=True, eq=False)
class _BandSample:
    """The part of a fitted sample that asymptotic bands read."""

    distinct: Blocks
    blocks: Blocks
    units: _BandUnits
    cluster: None = None
    case_weights: tuple[float, float] = (1.0, 1.0)

    @property
    def squares(self) -> FloatArray:
        return self.distinct.n.astype(np.float64)

    def cep(self, x: FloatArray) -> FloatArray:
        return np.interp(x, *self.blocks.corners)


def draw_digest_bands(
    model: ScoredDigest, settings: EvaluationSettings, curves: CalibratedCurves | None
) -> tuple[Band, ...]:
    """Asymptotic pointwise bands and simultaneous bands; none for dependent cases.

    `curves` are those of a calibrated forecast.
    """
    if not model.units.are_independent:
        return ()
    fit, units = model.fit, _BandUnits(size=float(model.fit.n))
    is_discrete = fit.is_complete and fit.n >= _CASES_FOR_DISCRETE * model.digest.n_distinct**2
    smooth = _BandSample(distinct=fit.mean_cells, blocks=fit.blocks, units=units)
    exact = _BandSample(distinct=fit.distinct, blocks=fit.blocks, units=units)
    consistency, confidence = (
        pointwise_band(
            cast("FittedSample", smooth),
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
    whole = cast("FittedSample", exact)
    drawn = [] if curves is None else [simultaneous_consistency_band(whole, curves, settings.band_level)]
    return (consistency, *drawn, confidence, honest_confidence_band(whole, settings.band_level))
