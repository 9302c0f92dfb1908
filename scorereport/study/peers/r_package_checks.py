"""Checks of numbers that R packages define as we do, or by another definition that can be imitated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from scorereport import inference, scores
from scorereport.inference.likelihood import sum_over_draws
from scorereport.reliability.sampling import SamplingUnits
from scorereport.study.peers import peer_samples as rules
from scorereport.study.peers.peer_checks import RATIO_NOTE, RATIO_TOLERANCE, Check, Deviation
from scorereport.study.peers.peer_samples import GRADES, CaseRule, PeerSample

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import Difference, Estimate
    from scorereport.study.peers.peer_checks import PeerComputation

#: The answer of a package about a case, by the name of the quantity.
Ask = Callable[[PeerSample, str], Any]
LEVEL, LAGS = 0.95, 4
#: The cases that R packages are asked about, three of every shape.
MOST_CASES = 33
_FIT_TOLERANCE = 1e-8
_FIT_NOTE = "Tolerance 1e-08: both stop where a step no longer raises the likelihood."
_ALL = CaseRule("all of these cases", lambda _: True)
_NO_LINE = (rules.ONE_CLASS, rules.CERTAIN, rules.CONSTANT, rules.SEPARATED, rules.LARGE)
_NO_ERROR = (rules.ONE_CLASS, rules.CONSTANT, rules.NO_SPREAD, rules.LARGE)
_BINNED = "It rounds forecasts down to multiples of 1/5000 before it compares ranks."
_NORMAL = "Its p-value is normal; ours is that of Student's t with Welch's degrees of freedom."
_INDEPENDENT = "It takes the rows of a cluster as independent, ours as slightly correlated."
_NOT_REDUCED = "Its error is the sandwich times a factor for the number of {}; ours is bias-reduced (CR2)."


# ---- pROC ----


def proc_checks(ask: Ask) -> tuple[Check, ...]:
    """AUC, DeLong's errors, interval and paired test."""
    options: dict[str, Any] = {"unless": _NO_ERROR, "most_cases": MOST_CASES}
    return (
        Check(
            "AUC of two models",
            lambda s: [scores.roc_auc(s.y, s.p), scores.roc_auc(s.y, s.other)],
            lambda s: ask(s, "auc"),
            **options,
        ),
        Check("DeLong's variances and covariance", _delong_spread, lambda s: ask(s, "variances"), **options),
        Check(
            "DeLong's interval of the AUC",
            lambda s: _bounds(_auc(s, s.p)),
            lambda s: np.clip(ask(s, "interval"), 0, 1),
            note="On its plain scale, cut to [0, 1].",
            **options,
        ),
        Check(
            "statistic of DeLong's paired test",
            lambda s: _delong(s).statistic,
            lambda s: ask(s, "statistic"),
            tolerance=RATIO_TOLERANCE,
            note=RATIO_NOTE,
            **options,
        ),
        Check(
            "p-value of DeLong's paired test",
            lambda s: _delong(s).p_value,
            lambda s: ask(s, "p_value"),
            deviation=Deviation(
                only=_ALL, imitate=lambda s: 2 * norm.sf(abs(_delong(s).statistic)), reason=_NORMAL
            ),
            tolerance=RATIO_TOLERANCE,
            note=RATIO_NOTE,
            **options,
        ),
    )


def _auc(sample: PeerSample, forecasts: FloatArray) -> Estimate:
    return inference.auc_interval(sample.y, forecasts, scale="plain", level=LEVEL)


def _delong(sample: PeerSample) -> Difference:
    return inference.delong_test(sample.y, sample.p, sample.other)


def _delong_spread(sample: PeerSample) -> tuple[float, float, float]:
    first, second = (_auc(sample, p).standard_error ** 2 for p in (sample.p, sample.other))
    return first, second, (first + second - _delong(sample).standard_error ** 2) / 2


def _bounds(estimate: Estimate) -> tuple[float, float]:
    return estimate.lower, estimate.upper


# ---- rms ----


def rms_checks(ask: Ask) -> tuple[Check, ...]:
    """Numbers of val.prob that do not come from its own fit, which ends early."""
    options: dict[str, Any] = {"unless": _NO_LINE, "most_cases": MOST_CASES}
    return (
        Check(
            "mean Brier score", lambda s: scores.brier(s.y, s.p).mean(), lambda s: ask(s, "brier"), **options
        ),
        Check(
            "AUC and Somers' D",
            lambda s: _rank(s, s.p),
            lambda s: ask(s, "rank"),
            deviation=Deviation(
                only=_ALL, imitate=lambda s: _rank(s, np.floor(5000 * s.p) / 5000), reason=_BINNED
            ),
            **options,
        ),
        Check(
            "R², D, its χ² and Q",
            _explained,
            lambda s: ask(s, "explained"),
            tolerance=_FIT_TOLERANCE,
            note=f"From our log scores. {_FIT_NOTE}",
            **options,
        ),
        Check(
            "unreliability index, its χ² and p-value",
            _unreliability,
            lambda s: ask(s, "unreliability"),
            tolerance=_FIT_TOLERANCE,
            note=_FIT_NOTE,
            **options,
        ),
        Check(
            "Spiegelhalter's z and p-value",
            _spiegelhalter,
            lambda s: ask(s, "spiegelhalter"),
            tolerance=RATIO_TOLERANCE,
            note=RATIO_NOTE,
            **options,
        ),
    )


def _rank(sample: PeerSample, forecasts: FloatArray) -> tuple[float, float]:
    auc = scores.roc_auc(sample.y, forecasts)
    return auc, 2 * auc - 1


def _explained(sample: PeerSample) -> tuple[float, ...]:
    parts, n = sample.fit.decompose("log"), sample.n
    chi_square = 2 * n * (parts.uncertainty - parts.score)
    share = -np.expm1(-chi_square / n) / -np.expm1(-2 * parts.uncertainty)
    discrimination = (chi_square - 1) / n
    return float(share), discrimination, chi_square, discrimination - _unreliability(sample)[0]


def _unreliability(sample: PeerSample) -> tuple[float, float, float]:
    test = inference.unreliability_test(sample.y, sample.p)
    return (test.statistic - 2) / sample.n, test.statistic, test.p_value


def _spiegelhalter(sample: PeerSample) -> tuple[float, float]:
    test = inference.spiegelhalter_test(sample.y, sample.p)
    return test.statistic, test.p_value


# ---- survey, sandwich and clubSandwich ----


def survey_checks(ask: Ask) -> tuple[Check, ...]:
    """Means and calibration lines of weighted rows and of rows in clusters."""
    return (
        Check(
            "weighted mean Brier score and its error",
            lambda s: _mean(s, SamplingUnits(rows=s.n, weight=s.weight / s.weight.mean())),
            lambda s: ask(s, "weighted_mean"),
            unless=(*_NO_LINE, rules.FEW_CLUSTERS),
            most_cases=MOST_CASES,
        ),
        Check(
            "calibration line",
            _line,
            lambda s: ask(s, "line"),
            unless=(*_NO_LINE, rules.FEW_CLUSTERS),
            tolerance=_FIT_TOLERANCE,
            note=_FIT_NOTE,
            most_cases=MOST_CASES,
        ),
        _line_errors(ask, lambda _: 1.0, "clusters"),
    )


def sandwich_checks(ask: Ask) -> tuple[Check, ...]:
    """Newey and West's error, and errors by cluster."""
    return (
        Check(
            "Newey and West's error of a mean difference",
            lambda s: (
                inference.score_difference(s.y, s.p, s.other, time=np.arange(s.n), lags=LAGS).standard_error
            ),
            lambda s: ask(s, "newey_west"),
            unless=(*_NO_LINE, rules.FEW_CLUSTERS),
            note=f"{LAGS} lags, with its factor for the estimated mean.",
            most_cases=MOST_CASES,
        ),
        _line_errors(ask, lambda s: (s.n - 1) / (s.n - 2), "clusters and coefficients"),
    )


def club_sandwich_checks(ask: Ask) -> tuple[Check, ...]:
    """Bias-reduced errors (CR2) of a mean over clusters."""
    options: dict[str, Any] = {"unless": (*_NO_LINE, rules.FEW_CLUSTERS), "most_cases": MOST_CASES}
    return (
        Check(
            "mean Brier score over clusters and its CR2 error",
            lambda s: _mean(s, _clusters(s)),
            lambda s: ask(s, "mean"),
            **options,
        ),
        Check(
            "degrees of freedom of it",
            lambda s: _clusters(s).degrees_of_freedom,
            lambda s: ask(s, "freedom"),
            deviation=Deviation(only=_ALL, imitate=_independent_freedom, reason=_INDEPENDENT),
            tolerance=RATIO_TOLERANCE,
            note="Tolerance 1e-10: a ratio of sums over pairs of clusters.",
            **options,
        ),
    )


def _line_errors(ask: Ask, factor: PeerComputation, what: str) -> Check:
    """Errors of a calibration line by cluster, which R packages do not reduce in bias."""
    return Check(
        "errors of a calibration line by cluster",
        _line_error,
        lambda s: ask(s, "line_errors"),
        unless=(*_NO_LINE, rules.FEW_CLUSTERS),
        tolerance=1e-6,
        note="Tolerance 1e-06: glm's errors are those of the step before its last.",
        deviation=Deviation(
            only=_ALL, imitate=lambda s: _sandwich(s) * factor(s) ** 0.5, reason=_NOT_REDUCED.format(what)
        ),
        most_cases=MOST_CASES,
    )


def _clusters(sample: PeerSample) -> SamplingUnits:
    return SamplingUnits(rows=sample.n, cluster=sample.cluster)


def _mean(sample: PeerSample, units: SamplingUnits) -> tuple[float, float]:
    values = scores.brier(sample.y, sample.p)
    return units.mean(values), units.standard_error(values)


def _line(sample: PeerSample) -> tuple[float, float]:
    line = inference.calibration_line(sample.y, sample.p, cluster=sample.cluster)
    return line.intercept.value, line.slope.value


def _line_error(sample: PeerSample) -> tuple[float, float]:
    line = inference.calibration_line(sample.y, sample.p, cluster=sample.cluster)
    return line.intercept.standard_error, line.slope.standard_error


def _sandwich(sample: PeerSample) -> FloatArray:
    """Our errors without reduction of bias."""
    intercept, slope = _line(sample)
    x = logit(sample.p)
    sums = sum_over_draws(np.stack([np.ones_like(x), x]), intercept + slope * x, sample.y, _clusters(sample))
    return np.sqrt(np.diag(sums.sandwich))


def _independent_freedom(sample: PeerSample) -> float:
    """Satterthwaite's degrees of freedom of a mean over clusters of independent rows."""
    rows = np.bincount(sample.cluster).astype(np.float64)
    root = np.sqrt(1 - rows / rows.sum())
    covariance = (np.diag(rows) - np.outer(rows, rows) / rows.sum()) / np.outer(root, root)
    return float(np.trace(covariance) ** 2 / (covariance**2).sum())


# ---- psych ----


def psych_checks(ask: Ask) -> tuple[Check, ...]:
    """The weighted kappa; its interval rests on another variance."""
    return (
        Check(
            "quadratic weighted kappa",
            lambda s: scores.quadratic_weighted_kappa(*s.grades, n_classes=GRADES),
            lambda s: ask(s, "kappa"),
            unless=(rules.SAME_LABELS, rules.LARGE),
            most_cases=MOST_CASES,
        ),
    )
