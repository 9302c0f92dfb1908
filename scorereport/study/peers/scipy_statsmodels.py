"""Comparisons with SciPy and statsmodels, for numbers that our engine does not take from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import inference, scores
from scorereport.inference.estimates import holm
from scorereport.inference.rates import rate_interval
from scorereport.reliability.clusters import sums_of_mean
from scorereport.reliability.sampling import SamplingUnits
from scorereport.study.peers import peer_samples as rules
from scorereport.study.peers.peer_checks import RATIO_NOTE, RATIO_TOLERANCE, Check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import Estimate
    from scorereport.study.peers.peer_samples import CaseRule, PeerSample

LEVEL = 0.95
#: Lags of HAC errors.
LAGS = 4
#: Both maximise the same likelihood, which is flat near its maximum: half of the digits are reliable.
_FIT_TOLERANCE = 1e-8
_FIT_NOTE = "Tolerance 1e-08: both stop where a step no longer raises the likelihood."
#: Number of cases where a peer runs the garbage collector at every call.
_SLOW_CASES = 22
_NO_LINE: tuple[CaseRule, ...] = (
    rules.ONE_CLASS,
    rules.CERTAIN,
    rules.CONSTANT,
    rules.SEPARATED,
    rules.LARGE,
)


# scipy


def scipy_checks() -> tuple[Check, ...]:
    """Checks of all numbers that scipy defines as we do."""
    return (*_scipy_fit_checks(), *_scipy_test_checks(), *_scipy_rate_checks())


def _scipy_fit_checks() -> tuple[Check, ...]:
    from scipy.optimize import isotonic_regression
    from scipy.stats import norm

    def recalibrated(sample: PeerSample, weight: FloatArray) -> Any:
        _, position = np.unique(sample.p, return_inverse=True)
        n, events = np.bincount(position, weight), np.bincount(position, weight * sample.y)
        return isotonic_regression(events / n, weights=n).x[position]

    def band(sample: PeerSample) -> Any:
        level, n = np.unique(sample.p, return_counts=True)
        error = np.sqrt(level * (1 - level) / n)
        return np.clip([norm.ppf(0.05, level, error), norm.ppf(0.95, level, error)], 0, 1)

    inside = "Not independent: our engine calls it for sums of cases, and verifies the result exactly."
    return (
        Check(
            "recalibrated probabilities",
            lambda s: s.fit.cep,
            lambda s: recalibrated(s, np.ones(s.n)),
            note=inside,
        ),
        Check(
            "weighted recalibrated probabilities",
            lambda s: s.weighted_fit.cep,
            lambda s: recalibrated(s, s.weight),
            note=inside,
        ),
        Check(
            "discrete consistency band",
            _discrete_band,
            band,
            unless=(rules.CERTAIN,),
            note="Not independent in the normal quantile.",
        ),
    )


def _scipy_test_checks() -> tuple[Check, ...]:
    from scipy import stats

    def auc(sample: PeerSample) -> float:
        events, others = sample.p[sample.y == 1], sample.p[sample.y == 0]
        u = stats.mannwhitneyu(events, others, method="asymptotic").statistic
        return float(u) / len(events) / len(others)

    return (
        Check("AUC", lambda s: scores.roc_auc(s.y, s.p), auc, unless=(rules.ONE_CLASS,)),
        Check(
            "AUC over DeLong's error",
            _delong_statistic,
            lambda s: stats.brunnermunzel(s.p[s.y == 0], s.p[s.y == 1]).statistic,
            unless=(rules.ONE_CLASS, rules.CONSTANT, rules.NO_SPREAD),
            tolerance=RATIO_TOLERANCE,
            note=f"The statistic of Brunner and Munzel. {RATIO_NOTE}",
        ),
        Check(
            "Diebold-Mariano statistic",
            lambda s: inference.score_difference(s.y, s.p, s.other).statistic,
            lambda s: stats.ttest_1samp(s.loss_differences, 0).statistic,
            tolerance=RATIO_TOLERANCE,
            note=f"Of independent rows, as a t-test. {RATIO_NOTE}",
        ),
    )


def _scipy_rate_checks() -> tuple[Check, ...]:
    from scipy import stats

    def jeffreys(sample: PeerSample) -> Any:
        n, events = sample.counts
        return stats.beta.cdf(sample.p.mean(), events + 0.5, n - events + 0.5)

    def binomial(sample: PeerSample) -> Any:
        n, events = sample.counts
        return stats.binomtest(events, n, sample.p.mean(), alternative="greater").pvalue

    def wilson(sample: PeerSample) -> Any:
        n, events = sample.counts
        return stats.binomtest(events, n).proportion_ci(LEVEL, method="wilson")

    return (
        Check("Jeffreys p-value of a grade", lambda s: _grade_test(s).jeffreys_p_value, jeffreys),
        Check("binomial p-value of a grade", lambda s: _grade_test(s).binomial_p_value, binomial),
        Check(
            "Wilson interval of a rate",
            lambda s: _bounds(rate_interval("events", s.y, SamplingUnits(rows=s.n), LEVEL)),
            wilson,
            note="Our engine calls statsmodels for it.",
        ),
    )


def _discrete_band(sample: PeerSample) -> FloatArray:
    band = sample.fit.band(method="discrete", level=0.9)
    return np.concatenate([band.lower, band.upper])


def _delong_statistic(sample: PeerSample) -> float:
    auc = inference.auc_interval(sample.y, sample.p)
    return (auc.value - 0.5) / auc.standard_error


def _grade_test(sample: PeerSample) -> inference.GradeTest:
    return inference.grade_test(*sample.counts, float(sample.p.mean()))


def _bounds(estimate: Estimate) -> tuple[float, float]:
    return estimate.lower, estimate.upper


# statsmodels


def statsmodels_checks() -> tuple[Check, ...]:
    """Checks of all numbers that statsmodels defines as we do."""
    return (*_line_checks(), *_error_checks(), *_several_checks())


def _line_checks() -> tuple[Check, ...]:
    import statsmodels.api as sm

    def fit(sample: PeerSample, *, slope: bool, weight: FloatArray | None = None) -> Any:
        x = sample.log_odds
        columns, offset = (sm.add_constant(x), None) if slope else (np.ones_like(x), x)
        model = sm.GLM(sample.y, columns, family=sm.families.Binomial(), offset=offset, freq_weights=weight)
        near = model.fit(tol=1e-12, maxiter=100)
        return model.fit(start_params=near.params, tol=1e-12)  # its errors are those of the step before

    def line(sample: PeerSample, weight: FloatArray | None = None) -> Any:
        joint, offset = fit(sample, slope=True, weight=weight), fit(sample, slope=False, weight=weight)
        return [*joint.params[::-1], *offset.params, *joint.bse[::-1], *offset.bse]

    def unreliability(sample: PeerSample) -> Any:
        model = sm.Logit(sample.y, sm.add_constant(sample.log_odds))
        best = model.fit(disp=0, method="newton", maxiter=100, tol=1e-12)
        return 2 * (best.llf - model.loglike([0.0, 1.0]))

    what = "Slope, both intercepts and their errors"
    return (
        Check(
            "calibration line",
            lambda s: _line(inference.calibration_line(s.y, s.p)),
            line,
            unless=_NO_LINE,
            tolerance=_FIT_TOLERANCE,
            note=f"{what} by GLM. {_FIT_NOTE}",
        ),
        Check(
            "weighted calibration line",
            lambda s: _line(
                inference.calibration_line(s.y, s.p, sample_weight=s.weight, weight_kind="frequency")
            ),
            lambda s: line(s, s.weight),
            unless=_NO_LINE,
            tolerance=_FIT_TOLERANCE,
            note=f"{what} by GLM. {_FIT_NOTE}",
        ),
        Check(
            "unreliability statistic",
            lambda s: inference.unreliability_test(s.y, s.p).statistic,
            unreliability,
            unless=_NO_LINE,
            tolerance=_FIT_TOLERANCE,
            note=f"By Logit. {_FIT_NOTE}",
        ),
    )


def _error_checks() -> tuple[Check, ...]:
    import statsmodels.api as sm

    def error_of_mean(values: FloatArray, kind: str, **options: Any) -> Any:
        return sm.OLS(values, np.ones(len(values))).fit(cov_type=kind, cov_kwds=options).bse[0]

    return (
        Check(
            "Diebold-Mariano error in time",
            lambda s: _difference_error(s, time=np.arange(s.n), lags=_lags(s)),
            lambda s: error_of_mean(s.loss_differences, "HAC", maxlags=_lags(s), use_correction=True),
            unless=(rules.LARGE,),
            note=f"Newey and West's with {LAGS} lags.",
        ),
        Check(
            "error of a mean by cluster",
            _cluster_error,
            lambda s: error_of_mean(s.loss_differences, "cluster", groups=s.cluster),
            unless=(rules.ONE_CLUSTER, rules.LARGE),
            note="Corrected by G/(G - 1). Errors of differences are bias-reduced (CR2) from the same sums.",
        ),
    )


def _several_checks() -> tuple[Check, ...]:
    from statsmodels.stats.meta_analysis import combine_effects
    from statsmodels.stats.multitest import multipletests

    return (
        Check(
            "p-values adjusted by Holm",
            lambda s: holm(s.p[:100]),
            lambda s: multipletests(s.p[:100], method="holm")[1],
            note="Up to 100 forecasts, used as p-values.",
            most_cases=_SLOW_CASES,
        ),
        Check(
            "Cochran's Q",
            lambda s: inference.cochran_q(s.p[:100], s.other[:100] + 0.1).statistic,
            lambda s: combine_effects(s.p[:100], (s.other[:100] + 0.1) ** 2).q,
            note="Up to 100 forecasts, used as estimates, with those of a second model as errors.",
            most_cases=_SLOW_CASES,
        ),
    )


def _line(line: inference.CalibrationLine) -> list[float]:
    estimates: Iterable[Estimate] = (line.slope, line.intercept, line.intercept_at_slope_one)
    return [e.value for e in estimates] + [e.standard_error for e in estimates]


def _lags(sample: PeerSample) -> int:
    return min(LAGS, sample.n - 1)


def _cluster_error(sample: PeerSample) -> float:
    values, cluster = sample.loss_differences, sample.cluster
    sums = sums_of_mean(
        np.bincount(cluster).astype(np.float64),
        np.bincount(cluster, weights=values - values.mean()).astype(np.float64),
        1.0,
    )
    return float(np.sqrt(sums.sandwich[0, 0]))


def _difference_error(sample: PeerSample, **options: Any) -> float:
    return inference.score_difference(sample.y, sample.p, sample.other, **options).standard_error
