"""Agreement with R packages about ranks and calibration of binary forecasts of independent rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from scorereport import curves, inference, scores
from validation.r_agreement import formulas
from validation.r_agreement.agreement import Agreement, NotComputed

if TYPE_CHECKING:
    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from validation.r_agreement.r_case import RCase

_GROUP = "binary"
_CONVERGED = (
    "R's glm ends when the deviance changes by less than a share of 1e-8, and its errors are those of the "
    "step before; ours are those at the maximum"
)


def _auc(case: RCase) -> tuple[Estimate, Estimate]:
    first, second = (inference.auc_interval(case.y, p, scale="plain") for p in (case.a, case.b))
    return first, second


def _delong(case: RCase) -> Difference:
    return inference.delong_test(case.y, case.a, case.b)


def _covariance(case: RCase) -> float:
    first, second = (auc.standard_error**2 for auc in _auc(case))
    return (first + second - _delong(case).standard_error ** 2) / 2


def _partial(case: RCase) -> float:
    curve = curves.roc_curve(case.fits[0])
    order = np.lexsort((curve.tpr, curve.fpr))
    return formulas.partial_area(curve.fpr[order], curve.tpr[order], 0.1)


_RANKS = (
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/auc_a", "pROC/auc_b"),
        quantity="AUC",
        ours="`inference.auc_interval`",
        engine=lambda c: [auc.value for auc in _auc(c)],
    ),
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/variance_a", "pROC/variance_b", "pROC/covariance"),
        quantity="DeLong's variances and covariance",
        ours="`inference.auc_interval`, `inference.delong_test`: squares of standard errors",
        engine=lambda c: [*(auc.standard_error**2 for auc in _auc(c)), _covariance(c)],
    ),
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/interval_a",),
        quantity="DeLong's interval of the AUC",
        ours='`inference.auc_interval(scale="plain")`',
        engine=lambda c: [_auc(c)[0].lower, _auc(c)[0].value, _auc(c)[0].upper],
        relation='equal with `scale="plain"`; our default is the score interval',
    ),
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/z",),
        quantity="statistic of DeLong's paired test",
        ours="`inference.delong_test`",
        engine=lambda c: _delong(c).statistic,
        tolerance=1e-10,
    ),
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/p",),
        quantity="p-value of DeLong's paired test",
        ours="`inference.delong_test`",
        engine=lambda c: _delong(c).p_value,
        relation="theirs is 2Φ(−\\|z\\|); ours that of Student's t with Welch's degrees of freedom",
        theirs=lambda c: formulas.delong_p_value(c.y, c.a, c.b, welch=False),
        plain=lambda c: formulas.delong_p_value(c.y, c.a, c.b, welch=True),
        tolerance=1e-10,
    ),
    Agreement(
        group=_GROUP,
        package="pROC",
        places=("pROC/partial_specificity_90_100_a",),
        quantity="partial AUC at specificities of 0.9 and more",
        ours="`curves.roc_curve`",
        engine=_partial,
        relation="equal: the area under the points of our curve; `scores.partial_auc` is over thresholds",
    ),
)


# ---- Calibration lines and tests ----


def _line(case: RCase) -> list[float]:
    line = inference.calibration_line(case.y, case.a)
    parts = (line.intercept, line.slope, line.intercept_at_slope_one)
    return [e.value for e in parts] + [e.standard_error for e in parts]


def _lines_of(case: RCase, fit: Any) -> list[float]:
    joint, offset = fit(case.y, case.a), fit(case.y, case.a, slope=False)
    return [*joint.value, *offset.value, *joint.errors, *offset.errors]


def _unreliability(case: RCase) -> HypothesisTest:
    return inference.unreliability_test(case.y, case.a)


def _log_scores(case: RCase) -> tuple[float, float, int]:
    """The log score of the prevalence, that of the forecasts, and the number of rows."""
    parts = case.fits[0].decompose("log")
    return parts.uncertainty, parts.score, len(case.y)


def _explained(case: RCase) -> list[float]:
    """Nagelkerke's R², discrimination index D, its χ², and quality index Q, from our log scores."""
    constant, score, n = _log_scores(case)
    chi_square = 2 * n * (constant - score)
    share = (1 - np.exp(-chi_square / n)) / (1 - np.exp(-2 * constant))
    index, unreliability = (chi_square - 1) / n, (_unreliability(case).statistic - 2) / n
    return [float(share), index, chi_square, index - unreliability]


def _smooth(case: RCase) -> list[float]:
    found = inference.calibration_errors(case.y, case.a, draws=20)
    return [found.ici, found.e90, found.emax]


def _rms(*names: str) -> tuple[str, ...]:
    return tuple(f"rms_val_prob/{name}" for name in names)


def _area_and_d(case: RCase, forecasts: Any) -> list[float]:
    area = formulas.area(case.y, forecasts)
    return [area, 2 * area - 1]


def _statistic_and_p(test: HypothesisTest) -> list[float]:
    return [test.statistic, test.p_value]


def _hosmer_lemeshow(case: RCase) -> list[float]:
    test = inference.hosmer_lemeshow_test(case.y, case.a, in_sample=True)
    return [test.statistic, float(test.degrees_of_freedom or 0), test.p_value]


def _groups(case: RCase, group: Any) -> list[float]:
    statistic, freedom = formulas.hosmer_lemeshow(case.y, case.a, group), len(np.unique(group)) - 2
    return [statistic, float(freedom), float(chi2.sf(statistic, freedom))]


_CALIBRATION = (
    Agreement(
        group=_GROUP,
        package="base R (glm)",
        places=(
            "glm/intercept",
            "glm/slope",
            "glm/in_the_large",
            "glm/errors",
            "glm/in_the_large_error",
        ),
        quantity="calibration line: intercept, slope, intercept at slope 1, and errors",
        ours="`inference.calibration_line`",
        engine=_line,
        relation=_CONVERGED,
        theirs=lambda c: _lines_of(c, formulas.glm_line),
        plain=lambda c: _lines_of(c, formulas.converged_line),
        tolerance=1e-10,
    ),
    Agreement(
        group=_GROUP,
        package="base R (glm)",
        places=("glm/unreliability", "glm/unreliability_p"),
        quantity="likelihood-ratio test of intercept 0 and slope 1",
        ours="`inference.unreliability_test`",
        engine=lambda c: [_unreliability(c).statistic, _unreliability(c).p_value],
        tolerance=1e-10,
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("U:Chi-sq", "U:p", "U"),
        quantity="unreliability index U, its χ² and p-value",
        ours="`inference.unreliability_test`: U = (χ² − 2) / n",
        engine=lambda c: [
            _unreliability(c).statistic,
            _unreliability(c).p_value,
            (_unreliability(c).statistic - 2) / len(c.y),
        ],
        tolerance=1e-10,
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("R2", "D", "D:Chi-sq", "Q"),
        quantity="Nagelkerke's R², discrimination index D, its χ², quality index Q",
        ours='UNC and S of `corp(...).decompose("log")`',
        engine=_explained,
        relation="equal: χ² = 2n(UNC − S), D = (χ² − 1) / n, Q = D − U, "
        "R² = (1 − exp(−χ² / n)) / (1 − exp(−2 UNC))",
        tolerance=1e-11,
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("Brier"),
        quantity="mean Brier score",
        ours="`scores.brier`",
        engine=lambda c: scores.brier(c.y, c.a).mean(),
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("C (ROC)", "Dxy"),
        quantity="AUC and Somers' D",
        ours="`scores.roc_auc`; 2 AUC − 1",
        engine=lambda c: [scores.roc_auc(c.y, c.a), 2 * scores.roc_auc(c.y, c.a) - 1],
        relation="theirs is the AUC of forecasts rounded down to multiples of 1/5000; ours is that of the "
        "forecasts themselves",
        theirs=lambda c: _area_and_d(c, np.floor(5000 * c.a)),
        plain=lambda c: _area_and_d(c, c.a),
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("Intercept", "Slope"),
        quantity="calibration line",
        ours="`inference.calibration_line`",
        engine=lambda c: _line(c)[:2],
        relation="theirs ends one Newton step after −2 log L changes by less than 0.025; ours is the maximum",
        theirs=lambda c: formulas.lrm_line(c.y, c.a),
        plain=lambda c: formulas.converged_line(c.y, c.a).value,
        tolerance=1e-11,
    ),
    Agreement(
        group=_GROUP,
        package="rms",
        places=_rms("S:z", "S:p"),
        quantity="Spiegelhalter's z and its p-value",
        ours="`inference.spiegelhalter_test`",
        engine=lambda c: _statistic_and_p(inference.spiegelhalter_test(c.y, c.a)),
    ),
    *(
        Agreement(
            group=_GROUP,
            package="rms",
            places=_rms("Eavg", "E90", "Emax"),
            quantity=f"mean, 90 % quantile and maximum of the smooth calibration error{what}",
            ours="`inference.calibration_errors`",
            engine=_smooth,
            relation="both smooth by lowess, span 2/3; theirs interpolates between forecasts a hundredth of "
            f"the range apart, and the curve may leave [0, 1]; ours is cut to [0, 1]{how}",
            theirs=lambda c: formulas.smooth_errors(c.y, c.a, interpolated=0.01, cut=False),
            plain=lambda c: formulas.smooth_errors(c.y, c.a, interpolated=0.0, cut=True),
            tolerance=1e-8,
            plain_tolerance=plain_tolerance,
            only=only,
            unless=unless,
        )
        for what, how, plain_tolerance, only, unless in (
            ("", "", 1e-9, (), ("rare",)),
            (
                ", more than 1000 rows",
                ", and interpolated between 200 quantiles, which changes 1e-5 at most",
                1e-5,
                ("rare",),
                (),
            ),
        )
    ),
    Agreement(
        group=_GROUP,
        package="ResourceSelection",
        places=("hoslem_10/chisq", "hoslem_10/df", "hoslem_10/p"),
        quantity="Hosmer-Lemeshow test of ten groups",
        ours="`inference.hosmer_lemeshow_test(in_sample=True)`",
        engine=_hosmer_lemeshow,
        relation="theirs has groups − 2 degrees of freedom, our default groups; their groups end at "
        "interpolated quantiles, ours at the forecast that completes a share of the rows",
        theirs=lambda c: _groups(c, formulas.groups_at_quantiles(c.a)),
        plain=lambda c: _groups(c, formulas.groups_at_forecasts(c.a)),
        tolerance=1e-11,
    ),
    Agreement(
        group=_GROUP,
        package="givitiR",
        places=("giviti/statistic", "giviti/p"),
        quantity="test of the calibration belt of degree 1",
        ours="`inference.unreliability_test`",
        engine=lambda c: [_unreliability(c).statistic, _unreliability(c).p_value],
        tolerance=1e-10,
        unless=("shifted",),
    ),
    NotComputed(
        group=_GROUP,
        package="givitiR",
        places=("giviti/statistic", "giviti/p"),
        quantity="test of the calibration belt of degree 2",
        reason="we test a line in log-odds; a belt of a higher degree is chosen after looking at the data",
        only=("shifted",),
    ),
    Agreement(
        group=_GROUP,
        package="cumulcalib",
        places=("cumulcalib/BB/mean",),
        quantity="test of calibration in the large, a part of the bridge test",
        ours="`inference.mean_calibration_test`",
        engine=lambda c: inference.mean_calibration_test(c.y, c.a).p_value,
    ),
    NotComputed(
        group=_GROUP,
        package="cumulcalib",
        places=(
            "cumulcalib/BB/distance",
            "cumulcalib/BB_p",
            "cumulcalib/BM_p",
            "cumulcalib/stat/BB",
            "cumulcalib/stat/BM",
        ),
        quantity="bridge and motion tests of cumulative calibration errors",
        reason="our test without bins is that of MCB; the formulas are confirmed: sums of y − p in the order "
        "of p against a Brownian motion and a Brownian bridge",
        plain=lambda c: [formulas.cumulative_calibration(c.y, c.a)[k] for k in (1, 2, 3, 4, 5)],
        tolerance=1e-9,
    ),
)

CALIBRATION_AGREEMENTS = (*_RANKS, *_CALIBRATION)
