"""Agreement with R packages about rows in clusters and weighted rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t

from scorereport import inference, scores
from scorereport.reliability.clusters import WORKING_CORRELATION
from scorereport.reliability.sampling import SamplingUnits
from validation.r_agreement import cluster_formulas, formulas
from validation.r_agreement.agreement import Agreement, NotComputed

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.recalibration_lines import CalibrationLine
    from validation.r_agreement.cluster_formulas import RobustErrors
    from validation.r_agreement.formulas import LineResult
    from validation.r_agreement.r_case import RCase


def _line(case: RCase) -> CalibrationLine:
    weight = case.weight
    return inference.calibration_line(case.y, case.a, cluster=case.cluster, sample_weight=weight)


def _values(case: RCase) -> list[float]:
    return [_line(case).intercept.value, _line(case).slope.value]


def _errors(case: RCase) -> FloatArray:
    return np.array([_line(case).intercept.standard_error, _line(case).slope.standard_error])


def _freedom(case: RCase) -> FloatArray:
    return np.array([_line(case).intercept.degrees_of_freedom, _line(case).slope.degrees_of_freedom])


def _rows(case: RCase) -> FloatArray:
    """The cluster of each row; without clusters each row is one."""
    return np.arange(len(case.y), dtype=np.float64) if case.cluster is None else case.cluster


def _ours(case: RCase) -> RobustErrors:
    return cluster_formulas.cr2_of_scores(case.y, case.a, _rows(case), WORKING_CORRELATION)


def _theirs(case: RCase) -> RobustErrors:
    return cluster_formulas.cr2_of_club_sandwich(case.y, case.a, _rows(case))


def _tests(case: RCase, found: RobustErrors) -> list[float]:
    ratio = formulas.glm_line(case.y, case.a).value / found.errors
    return [*ratio.tolist(), *np.asarray(2 * t.sf(np.abs(ratio), found.freedom)).tolist()]


def _engine_tests(case: RCase) -> list[float]:
    ratio = np.array(_values(case)) / _errors(case)
    return [*ratio.tolist(), *np.asarray(2 * t.sf(np.abs(ratio), _freedom(case))).tolist()]


def _sandwich(case: RCase, factor: float) -> FloatArray:
    """The plain sandwich times the root of a factor."""
    weight = None if case.weight is None else case.weight / case.weight.mean()
    return factor**0.5 * cluster_formulas.sandwich_errors(case.y, case.a, _rows(case), weight)


def _groups(case: RCase) -> float:
    g = len(np.unique(_rows(case)))
    return g / (g - 1)


def _units(case: RCase) -> SamplingUnits:
    cluster = None if case.cluster is None else np.unique(case.cluster, return_inverse=True)[1]
    return SamplingUnits(rows=len(case.y), cluster=cluster, weight=case.weight)


def _mean_brier(case: RCase) -> list[float]:
    values = scores.brier(case.y, case.a)
    return [_units(case).mean(values), _units(case).standard_error(values)]


def _fitted(case: RCase, fit: Callable[..., LineResult]) -> FloatArray:
    weight = None if case.weight is None else case.weight / case.weight.mean()
    return fit(case.y, case.a, weight=weight).value


_CONVERGED = "R's glm ends when the deviance changes by less than a share of 1e-8; ours is the maximum"
_ROOT = (
    "both are CR2 and equal for a mean; for a line theirs takes the root of the rows' residual covariance, "
    "ours that of the clusters' scores, which needs no matrix of rows"
)
_INDEPENDENT = (
    "both are Satterthwaite's; theirs takes rows as independent, ours as correlated by "
    f"{WORKING_CORRELATION:g}, so that one large cluster leaves few"
)

CLUSTER_AGREEMENTS = (
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_line/beta",),
        quantity="calibration line, rows in clusters",
        ours="`inference.calibration_line(cluster=...)`",
        engine=_values,
        relation=_CONVERGED,
        theirs=lambda c: _fitted(c, formulas.glm_line),
        plain=lambda c: _fitted(c, formulas.converged_line),
        tolerance=1e-10,
    ),
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_line/SE",),
        quantity="bias-reduced errors (CR2) of intercept and slope",
        ours="`inference.calibration_line(cluster=...)`",
        engine=_errors,
        relation=_ROOT,
        theirs=lambda c: _theirs(c).errors,
        plain=lambda c: _ours(c).errors,
        tolerance=1e-11,
    ),
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_line/df_Satt",),
        quantity="degrees of freedom of a calibration line, rows in clusters",
        ours="`inference.calibration_line(cluster=...)`",
        engine=_freedom,
        relation=f"{_INDEPENDENT}; the root differs as above",
        theirs=lambda c: _theirs(c).freedom,
        plain=lambda c: _ours(c).freedom,
        tolerance=1e-5,
    ),
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_line/tstat", "cr2_line/p_Satt"),
        quantity="coefficients of a calibration line over their errors, and p-values",
        ours="`inference.calibration_line(cluster=...)`: value, error and degrees of freedom",
        engine=_engine_tests,
        relation="as their errors and degrees of freedom",
        theirs=lambda c: _tests(c, _theirs(c)),
        plain=lambda c: _tests(c, _ours(c)),
        tolerance=1e-6,
        plain_tolerance=1e-7,
    ),
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_mean_brier/beta", "cr2_mean_brier/SE"),
        quantity="mean Brier score over clusters, and its CR2 error",
        ours="`evaluate(cluster=...)`: the mean and its error",
        engine=_mean_brier,
    ),
    Agreement(
        group="binary",
        package="clubSandwich",
        places=("cr2_mean_brier/df_Satt",),
        quantity="degrees of freedom of the mean Brier score over clusters",
        ours="`evaluate(cluster=...)`",
        engine=lambda c: _units(c).degrees_of_freedom,
        relation=_INDEPENDENT,
        theirs=lambda c: cluster_formulas.freedom_of_mean(_rows(c), 0.0),
        plain=lambda c: cluster_formulas.freedom_of_mean(_rows(c), WORKING_CORRELATION),
        tolerance=1e-11,
    ),
    Agreement(
        group="binary",
        package="sandwich",
        places=("hc1_line",),
        quantity="errors of intercept and slope by cluster (vcovCL, HC1)",
        ours="`inference.calibration_line(cluster=...)`",
        engine=_errors,
        relation="theirs is the sandwich times G/(G − 1) · (n − 1)/(n − 2); ours is CR2",
        theirs=lambda c: _sandwich(c, _groups(c) * (len(c.y) - 1) / (len(c.y) - 2)),
        plain=lambda c: _ours(c).errors,
        tolerance=1e-10,
    ),
    Agreement(
        group="binary",
        package="survey",
        places=("survey_line/coef",),
        quantity="calibration line, rows in clusters or weighted (svyglm)",
        ours="`inference.calibration_line(cluster=..., sample_weight=...)`",
        engine=_values,
        relation=_CONVERGED,
        theirs=lambda c: _fitted(c, formulas.glm_line),
        plain=lambda c: _fitted(c, formulas.converged_line),
        tolerance=1e-10,
    ),
    Agreement(
        group="binary",
        package="survey",
        places=("survey_line/se",),
        quantity="errors of a calibration line, rows in clusters (svyglm)",
        ours="`inference.calibration_line(cluster=...)`",
        engine=_errors,
        relation="theirs is the sandwich times G/(G − 1); ours is CR2",
        theirs=lambda c: _sandwich(c, _groups(c)),
        plain=lambda c: _ours(c).errors,
        tolerance=1e-10,
        only=("clustered",),
    ),
    Agreement(
        group="binary",
        package="survey",
        places=("survey_line/se",),
        quantity="errors of a calibration line, weighted rows (svyglm)",
        ours="`inference.calibration_line(sample_weight=...)`",
        engine=_errors,
        relation="theirs is the sandwich times n/(n − 1); ours is CR2 over rows",
        theirs=lambda c: _sandwich(c, _groups(c)),
        plain=lambda c: cluster_formulas.cr2_of_weighted_rows(c.y, c.a, c.data("weight")),
        tolerance=1e-10,
        only=("weighted",),
    ),
    NotComputed(
        group="binary",
        package="survey",
        places=("survey_line/df",),
        quantity="degrees of freedom of a weighted calibration line, rows − coefficients",
        reason="ours are Satterthwaite's, one number for each coefficient",
        plain=lambda c: len(c.y) - 2,
    ),
    Agreement(
        group="binary",
        package="survey",
        places=("survey_mean_brier/mean", "survey_mean_brier/se"),
        quantity="weighted mean Brier score and its error (svymean)",
        ours="`evaluate(sample_weight=...)`",
        engine=_mean_brier,
    ),
    Agreement(
        group="binary",
        package="WeightedROC",
        places=("weighted_auc",),
        quantity="weighted AUC",
        ours="`scores.roc_auc(sample_weight=...)`",
        engine=lambda c: scores.roc_auc(c.y, c.a, sample_weight=c.weight),
    ),
)
