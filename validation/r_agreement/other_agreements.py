"""Agreement with R packages about ordered classes and sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from scorereport import inference, scores
from validation.r_agreement import formulas
from validation.r_agreement.agreement import Agreement, NotComputed

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.sample_sizes import SamplePlan
    from validation.r_agreement.r_case import RCase


# ---- Ordered classes ----


def _classes(case: RCase) -> tuple[Any, FloatArray, Any]:
    p = case.data("p")
    return case.y.astype(int) - 1, p, case.data("predicted").astype(int) - 1


def _rps(case: RCase) -> float:
    y, p, _ = _classes(case)
    return float(scores.rps(y, p).mean())


def _thresholds(case: RCase) -> int:
    return case.data("p").shape[1] - 1


def _kappa(case: RCase) -> float:
    y, p, label = _classes(case)
    return float(scores.quadratic_weighted_kappa(y, label, n_classes=p.shape[1]))


def _kappa_bounds(case: RCase) -> list[float]:
    kappa = formulas.weighted_kappa(case.y, case.data("predicted"), np.square)
    reach = norm.ppf(0.975) * kappa.variance_of_psych**0.5
    return [kappa.value - reach, kappa.value + reach]


def _ranked(case: RCase) -> float:
    """The sum over the thresholds of squared errors of cumulated probabilities."""
    y, p, _ = _classes(case)
    below = np.cumsum(p, axis=1)[:, :-1]
    return float(((below - (y[:, None] <= np.arange(p.shape[1] - 1))) ** 2).sum(axis=1).mean())


_ORDINAL = (
    Agreement(
        group="ordinal",
        package="verification",
        places=("verification_rps",),
        quantity="ranked probability score",
        ours="`scores.rps`",
        engine=_rps,
    ),
    Agreement(
        group="ordinal",
        package="scoringRules",
        places=("rps_probs",),
        quantity="ranked probability score",
        ours="`scores.rps`",
        engine=_rps,
        relation="theirs is the sum over the K − 1 thresholds, ours the mean",
        theirs=_ranked,
        plain=lambda c: _ranked(c) / _thresholds(c),
    ),
    Agreement(
        group="ordinal",
        package="irr",
        places=("kappa_squared",),
        quantity="quadratic weighted kappa",
        ours="`scores.quadratic_weighted_kappa`",
        engine=_kappa,
    ),
    Agreement(
        group="ordinal",
        package="psych",
        places=("kappa_interval/estimate",),
        quantity="quadratic weighted kappa",
        ours="`scores.quadratic_weighted_kappa`",
        engine=_kappa,
    ),
    NotComputed(
        group="ordinal",
        package="irr",
        places=("kappa_linear",),
        quantity="kappa with linear weights",
        reason="we have quadratic weights only; the formula is confirmed",
        plain=lambda c: formulas.weighted_kappa(c.y, c.data("predicted"), np.abs).value,
    ),
    NotComputed(
        group="ordinal",
        package="psych",
        places=("kappa_interval/lower", "kappa_interval/upper"),
        quantity="normal interval of kappa",
        reason="its variance (2.2.9) has Σⱼ wᵢⱼ pᵢ where Fleiss, Cohen and Everitt have Σᵢ wᵢⱼ pᵢ; "
        "ours comes from the influence of each row",
        plain=_kappa_bounds,
    ),
    NotComputed(
        group="ordinal",
        package="data",
        places=("y", "p", "predicted"),
        quantity="classes and probabilities",
        reason="inputs",
        is_input=True,
    ),
)


# ---- Sample sizes ----

#: Prevalence, AUC and width of the ratio of the recorded plans; their linear predictors were drawn in R.
_PLANS = {
    "prevalence_018_c_08_lp_normal": (0.018, 0.8, 1.0, 0.1),
    "prevalence_018_lp_normal_net_benefit": (0.018, 0.8, 1.0, 0.1),
    "prevalence_30_beta": (0.3, 0.75, 0.3, 0.1),
}


def _plan(case: RCase) -> SamplePlan:
    prevalence, auc, ratio, width = _PLANS[case.name]
    forecasts = expit(norm(-5, 2.5).ppf((np.arange(1000) + 0.5) / 1000))
    return inference.plan_sample_size(
        forecasts, prevalence=prevalence, auc=auc, ratio_width=ratio, auc_width=width
    )


def _exact_cases(case: RCase) -> float:
    """The cases that the ratio of observed and expected events needs, not rounded."""
    prevalence, _, ratio, _ = _PLANS[case.name]
    return float((1 - prevalence) / prevalence * (norm.ppf(0.975) / np.arcsinh(ratio / 2)) ** 2)


def _printed_errors(case: RCase) -> list[float]:
    """The errors of the log ratio and of the AUC (Newcombe's) at the recorded numbers of cases."""
    prevalence, auc, *_ = _PLANS[case.name]
    n = float(case.at("table/Samp_size[2]"))
    factor = (1 - auc) / (2 - auc) + auc / (1 + auc)
    variance = auc * (1 - auc) * (1 + (n / 2 - 1) * factor) / (n**2 * prevalence * (1 - prevalence))
    of_ratio = (1 - prevalence) / (prevalence * float(case.at("table/Samp_size[0]")))
    return [round(of_ratio**0.5, 3), round(variance**0.5, 3)]


def _asked_errors(case: RCase) -> list[float]:
    _, _, ratio, width = _PLANS[case.name]
    z = float(norm.ppf(0.975))
    return [float(np.arcsinh(ratio / 2)) / z, width / (2 * z)]


def _table(column: str, *rows: int) -> tuple[str, ...]:
    return tuple(f"table/{column}[{row}]" for row in rows)


_SIZES = (
    Agreement(
        group="sample_size",
        package="pmvalsampsize",
        places=_table("Samp_size", 0),
        quantity="cases for the ratio of observed and expected events",
        ours="`inference.plan_sample_size`",
        engine=lambda c: _plan(c).criteria[0].cases,
        relation="theirs is rounded to the nearest number, ours up, so that the interval is narrow enough",
        theirs=lambda c: round(_exact_cases(c)),
        plain=lambda c: np.ceil(_exact_cases(c)),
    ),
    Agreement(
        group="sample_size",
        package="pmvalsampsize",
        places=_table("Samp_size", 2),
        quantity="cases for the AUC",
        ours="`inference.plan_sample_size`",
        engine=lambda c: _plan(c).criteria[2].cases,
    ),
    Agreement(
        group="sample_size",
        package="pmvalsampsize",
        places=_table("SE", 0, 2),
        quantity="standard errors of the ratio and of the AUC",
        ours="`inference.plan_sample_size`",
        engine=lambda c: [_plan(c).criteria[k].standard_error for k in (0, 2)],
        relation="theirs are those at the whole number of cases, to three digits; ours are those "
        "of the widths",
        theirs=_printed_errors,
        plain=_asked_errors,
    ),
    NotComputed(
        group="sample_size",
        package="pmvalsampsize",
        places=(
            "sample_size",
            *_table("Samp_size", 1, 3, 4),
            *_table("Perf", 0, 1, 2, 3, 4),
            *_table("SE", 1, 3, 4),
        ),
        quantity="cases for slope and net benefit, and the largest number",
        reason="they depend on a million linear predictors that were drawn there and are not recorded",
    ),
    NotComputed(
        group="sample_size",
        package="pmvalsampsize",
        places=(*_table("CI width", 0, 1, 2, 3, 4), *(f"criteria[{k}]" for k in range(5))),
        quantity="widths and names of criteria",
        reason="inputs",
        is_input=True,
    ),
)


OTHER_AGREEMENTS = (*_ORDINAL, *_SIZES)
