"""Differences between groups: Cochran's Q, and a test that calibration is equal in all groups.

References
----------
Cochran (1954), Biometrics 10, doi:10.2307/3001666
Higgins, Thompson (2002), Stat. Med. 21, doi:10.1002/sim.1186
Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562
Welch (1951), Biometrika 38, doi:10.1093/biomet/38.3-4.330
Pustejovsky, Tipton (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2016.1247004
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, fdtrc, logit

from scorereport._utils.arrays import FloatArray
from scorereport._utils.checks import (
    check_clusters,
    check_finite,
    check_outcome,
    check_same_length,
    refuse_rows,
)
from scorereport._utils.formatting import format_fixed, format_plain
from scorereport._utils.row_places import name_some
from scorereport.errors import UsageError
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.likelihood import combine, log_likelihood, sum_over_draws
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.mean_errors import describe_few_draws
from scorereport.inference.panel import make_panel
from scorereport.inference.recalibration_lines import refer_wald
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON, ClusterSums, degrees_of_freedom

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport.inference.panel import ForecastPanel

COCHRAN = "Cochran (1954), Biometrics 10, doi:10.2307/3001666"
COX = "Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562"
WELCH = "Welch (1951), Biometrika 38, doi:10.1093/biomet/38.3-4.330"
LIANG_ZEGER = "Liang, Zeger (1986), Biometrika 73, doi:10.1093/biomet/73.1.13"


def cochran_q(
    values: ArrayLike, standard_errors: ArrayLike, *, degrees_of_freedom: ArrayLike | None = None
) -> HypothesisTest:
    """Test whether groups share one value, from an estimate and its standard error in each.

    Q = Σ (v - m)²/s², where m is the mean weighted by 1/s², is compared with a chi-squared distribution with
    df = groups - 1. The note gives I² = max(0, 1 - df/Q), the share of the spread that chance does not
    explain. Where errors come from few cases or clusters each, pass their degrees of freedom: Q is then
    compared with Welch's F distribution.

    >>> test = cochran_q([0.70, 0.80, 0.75], [0.02, 0.03, 0.05])
    >>> round(test.statistic, 4), test.degrees_of_freedom, round(test.p_value, 4), test.note
    (7.8255, 2, 0.02, 'I² = 74.4 %.')
    >>> round(cochran_q([0.70, 0.80, 0.75], [0.02, 0.03, 0.05], degrees_of_freedom=[9, 9, 9]).p_value, 4)
    0.0455
    """
    value, error = check_finite(values, "values"), check_finite(standard_errors, "standard_errors")
    freedom = np.full(len(value), np.inf)
    if degrees_of_freedom is not None:
        freedom = check_finite(degrees_of_freedom, "degrees_of_freedom")
    check_same_length(("values", value), ("standard_errors", error), ("degrees_of_freedom", freedom))
    if (error <= 0).any():
        refuse_rows(error, error <= 0, "`standard_errors` must be positive")
    if (freedom <= 0).any():
        refuse_rows(freedom, freedom <= 0, "`degrees_of_freedom` must be positive")
    if len(value) < 2:
        raise UsageError("`values` must hold at least two groups; got 1.")
    return compare_values(value, error, freedom)


def group_calibration_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    group: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> tuple[HypothesisTest, HypothesisTest]:
    """Test whether calibration is the same in all groups: by its intercept, then by intercept and slope.

    Logistic models of the outcome, logit P(y = 1) = a + logit p and a + b logit p, are fitted with one set of
    coefficients and with one for each group, and compared by their likelihood ratio. With clusters or
    fractional weights there is no likelihood; the test is then Wald's, with bias-reduced covariance over
    clusters, or rows, as Hotelling's T-squared.

    Groups whose coefficients do not exist are left out, and there is no test (NaN) if forecasts are 0 or 1,
    whose log-odds are infinite; the note states both.

    Parameters
    ----------
    y_true, y_prob : outcomes 0 or 1 and their forecast probabilities
    group : one label per row
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : rows of the same cluster depend on each other

    >>> y = [0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1]
    >>> p = [0.2, 0.6, 0.4, 0.7, 0.5, 0.6, 0.3, 0.4, 0.5, 0.7, 0.8, 0.3]
    >>> both = group_calibration_test(y, p, ["a"] * 6 + ["b"] * 6)
    >>> [(round(test.statistic, 4), test.degrees_of_freedom, round(test.p_value, 4)) for test in both]
    [(0.4051, 1, 0.5245), (2.05, 2, 0.3588)]
    """
    n = len(check_outcome(y_true))
    code = check_clusters(group, n, "group")
    if code is None:
        raise UsageError("`group` must have one label per case; got None.")
    # the group takes the place of the time, so that rows are ordered by it first
    panel = make_panel(
        y_true,
        {"y_prob": y_prob},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
        time=code,
    )
    labels = _labels(group, code)
    return _test_groups(panel, labels, _INTERCEPT), _test_groups(panel, labels, _SLOPE)


def compare_values(value: FloatArray, error: FloatArray, freedom: FloatArray) -> HypothesisTest:
    """Compute Cochran's Q of checked numbers; known errors have infinite degrees of freedom."""
    order = np.lexsort((freedom, error, value))
    value, error, freedom = value[order], error[order], freedom[order]
    weight = (error.min() / error) ** 2  # relative, so that no square overflows
    share = weight / weight.sum()
    mean = (share * value).sum()
    with np.errstate(over="ignore"):
        q = float((((value - mean) / error) ** 2).sum())
    df = len(value) - 1
    excess = max(0.0, 1 - df / q) if q > 0 else 0.0
    p_value, distribution = _compare_q(q, df, float(((1 - share) ** 2 / freedom).sum()))
    return HypothesisTest(
        name="Cochran's Q",
        statistic=q,
        p_value=p_value,
        null_hypothesis="The value is the same in all groups.",
        method=distribution,
        reference=COCHRAN if np.isinf(freedom).all() else f"{COCHRAN}; {WELCH}",
        n=float(len(value)),
        degrees_of_freedom=df,
        note=f"I² = {format_fixed(100 * excess, 1)} %.",
    )


def _compare_q(q: float, df: int, uncertainty: float) -> tuple[float, str]:
    """The p-value of Q, and its distribution: Welch's F if the errors are uncertain, else chi-squared."""
    if uncertainty == 0:
        return float(chdtrc(df, q)), f"chi-squared, {df} degrees of freedom"
    groups = df + 1
    second = (groups**2 - 1) / (3 * uncertainty)
    ratio = q / df / (1 + 2 * (groups - 2) / (groups**2 - 1) * uncertainty)
    distribution = f"Welch's F, {df} and {format_fixed(second, 1)} degrees of freedom"
    return float(fdtrc(df, second, ratio)), distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """A logistic model of calibration: with a slope, or with slope 1."""

    name: str
    has_slope: bool

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return 2 if self.has_slope else 1

    @property
    def test_name(self) -> str:
        """The name of the test that the coefficients of all groups are the same."""
        return f"Calibration {self.name} by group"


_INTERCEPT = _Model(name="intercept", has_slope=False)
_SLOPE = _Model(name="intercept and slope", has_slope=True)
#: The test that all groups have the same calibration line.
LINE_BY_GROUP = _SLOPE.test_name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """Coefficients, log-likelihood, and sums over sampling units."""

    coefficients: FloatArray
    log_likelihood: float
    sums: ClusterSums


def _test_groups(panel: ForecastPanel, labels: dict[int, str], model: _Model) -> HypothesisTest:
    """Compare one set of coefficients with one for each group."""
    certain = int(((panel.only == 0) | (panel.only == 1)).sum())
    if certain:
        return _make_test(
            panel, model, note=f"{certain} forecasts are 0 or 1, so their log-odds are infinite."
        )
    left_out = [code for code in _codes(panel) if not _is_estimable(_of_group(panel, code), model)]
    kept = panel.select(~np.isin(np.asarray(panel.time), left_out))
    codes, note = _codes(kept), _describe_left_out([labels[code] for code in left_out], model)
    if len(codes) < 2:
        note = f"{note} No two groups are left to compare." if note else "There is only one group."
        return _make_test(panel, model, note=note)
    fits = [_fit(_of_group(kept, code), model) for code in codes]
    if _has_likelihood(kept):
        ratio = 2 * (sum(fit.log_likelihood for fit in fits) - _fit(kept, model).log_likelihood)
        return _make_test(kept, model, max(ratio, 0.0), len(codes), note)
    return _wald(kept, codes, fits, model, note)


def _make_test(
    panel: ForecastPanel,
    model: _Model,
    statistic: float = np.nan,
    groups: int = 0,
    note: str = "",
    freedom: float = np.inf,
) -> HypothesisTest:
    df = model.size * (groups - 1) if groups > 1 else None
    likelihood = _has_likelihood(panel)
    if np.isnan(statistic) and not note:
        note = "The coefficients were not found."
    p_value, distribution = (np.nan, "") if df is None else refer_wald(statistic, df, freedom)
    how = f"Wald, bias-reduced covariance ({panel.units.describes}){', ' * (df is not None)}{distribution}"
    return HypothesisTest(
        name=model.test_name,
        statistic=statistic,
        p_value=p_value,
        null_hypothesis=f"The calibration {model.name} of the log-odds are the same in all groups."
        if model.has_slope
        else f"The calibration {model.name} of the log-odds is the same in all groups.",
        method="likelihood ratio" if likelihood else how,
        reference=COX if likelihood else f"{COX}; {PUSTEJOVSKY_TIPTON}",
        n=panel.units.total,
        degrees_of_freedom=df,
        note=note,
    )


def _labels(group: ArrayLike, code: NDArray[np.int64]) -> dict[int, str]:
    """The label of each code."""
    codes, first = np.unique(code, return_index=True)
    labels = np.asarray(group)
    return {int(number): str(labels[row]) for number, row in zip(codes, first, strict=True)}


def _codes(panel: ForecastPanel) -> list[int]:
    return [int(code) for code in np.unique(np.asarray(panel.time))]


def _of_group(panel: ForecastPanel, code: int) -> ForecastPanel:
    return panel.select(np.asarray(panel.time) == code)


def _has_likelihood(panel: ForecastPanel) -> bool:
    """Whether rows are independent, and weights count repetitions."""
    return panel.cluster is None and panel.units.are_repeated_rows


def _is_estimable(panel: ForecastPanel, model: _Model) -> bool:
    """Whether both outcomes occur, with overlapping forecasts for a slope, and clusters are enough."""
    events, others = panel.only[panel.outcome == 1], panel.only[panel.outcome == 0]
    if len(events) == 0 or len(others) == 0:
        return False
    if panel.cluster is not None and panel.units.size <= model.size:
        return False
    overlap = events.min() < others.max() and others.min() < events.max()
    return bool(overlap) or not model.has_slope


def _describe_left_out(labels: list[str], model: _Model) -> str:
    if not labels:
        return ""
    groups = "Group" if len(labels) == 1 else "Groups"
    return f"{groups} left out, where the {model.name} cannot be estimated: {name_some(labels)}."


def _fit(panel: ForecastPanel, model: _Model) -> _Fit:
    y, x, weight = panel.outcome, logit(panel.only), panel.units.row_weight
    if model.has_slope:
        coefficients, columns = np.array(fit_line(x, y, weight)), np.stack([np.ones(len(x)), x])
        log_odds = combine(coefficients, columns)
    else:
        coefficients, columns = np.array([fit_offset(x, y, weight)]), np.ones((1, len(x)))
        log_odds = x + coefficients[0]
    return _Fit(
        coefficients=coefficients,
        log_likelihood=log_likelihood(log_odds, y, weight),
        sums=sum_over_draws(columns, log_odds, y, panel.units),
    )


def _wald(
    panel: ForecastPanel, codes: list[int], fits: list[_Fit], model: _Model, note: str
) -> HypothesisTest:
    """Wald's test that the coefficients of all groups equal those of the first, as Hotelling's T-squared."""
    size = model.size * (len(codes) - 1)
    difference = np.concatenate([fit.coefficients - fits[0].coefficients for fit in fits[1:]])
    if np.isnan(difference).any():
        return _make_test(panel, model, note=note)
    others = len(codes) - 1
    contrast = np.kron(np.column_stack([-np.ones(others), np.eye(others)]), np.eye(model.size)).astype(
        np.float64
    )
    parts, contrasts = _independent_parts(panel, codes, fits, contrast)
    covariance = np.sum([c @ part.covariance @ c.T for part, c in zip(parts, contrasts, strict=True)], axis=0)
    freedom = degrees_of_freedom(parts, contrasts)
    if not freedom > size - 1 or np.linalg.matrix_rank(covariance, hermitian=True) < size:
        units = f"{format_plain(panel.units.size)} {panel.units.describes}"
        few = f"{units} are too few to compare {len(codes)} groups."
        return _make_test(panel, model, note=f"{note} {few}".strip())
    statistic = float(difference @ np.linalg.solve(covariance, difference))
    note = " ".join(filter(None, (note, describe_few_draws(panel.units))))
    return _make_test(panel, model, statistic, len(codes), note, freedom)


def _independent_parts(
    panel: ForecastPanel, codes: list[int], fits: list[_Fit], contrast: FloatArray
) -> tuple[list[ClusterSums], list[FloatArray]]:
    """Sums of each group with its columns of the contrast; one part for all if clusters span groups."""
    weights = [fit.sums.information[:, 0, 0].sum() for fit in fits]
    case = float(np.average([fit.sums.case for fit in fits], weights=weights))
    sums = [replace(fit.sums, case=case) for fit in fits]
    if panel.cluster is None or sum(len(part.score) for part in sums) == panel.units.size:
        return sums, np.split(contrast, len(codes), axis=1)
    return [_join_groups(panel, codes, sums)], [contrast]


def _join_groups(panel: ForecastPanel, codes: list[int], sums: list[ClusterSums]) -> ClusterSums:
    """Sums over clusters that span groups, with the coefficients of all groups side by side."""
    size, clusters = sums[0].score.shape[1], int(panel.units.size)
    columns = size * len(codes)
    information, score = np.zeros((clusters, columns, columns)), np.zeros((clusters, columns))
    for place, (code, part) in enumerate(zip(codes, sums, strict=True)):
        own = slice(size * place, size * (place + 1))
        members = np.unique(panel.cluster[panel.time == code])  # type: ignore[index]
        information[members, own, own], score[members, own] = part.information, part.score
    common = np.tile(sums[0].common, len(codes))
    return ClusterSums(information=information, score=score, common=common, case=sums[0].case)
