"""Every worked value of golden.json, to 1e-12."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import recorded

import scorereport as sr

if TYPE_CHECKING:
    from collections.abc import Callable


def ordinal_scores_per_row(P, y):  # noqa: N803
    return [ordinal_scores([row], [label]) for row, label in zip(P, y, strict=True)]


def ordinal_scores(P, y):  # noqa: N803
    values = {
        "brier_multiclass": sr.scores.multiclass_brier(y, P),
        "log_score": sr.scores.multiclass_log_loss(y, P),
        "rps": sr.scores.rps(y, P),
        "sa_rps_unit": sr.scores.sa_rps(y, P),
        "sa_rps_paper": sr.scores.sa_rps(y, P, scale="paper"),
    }
    return {name: value.mean() for name, value in values.items()}


def hard_label_metrics(y, yhat, K):  # noqa: N803
    return {
        "qwk": sr.scores.quadratic_weighted_kappa(y, yhat, n_classes=K),
        "expected_cost": sr.scores.expected_cost(y, yhat, n_classes=K),
        "naive_expected_cost": sr.scores.naive_expected_cost(y, n_classes=K),
    }


def retention_aursc(P, y, fractions_removed):  # noqa: N803
    def curve(score, metric):
        c = sr.curves.retention_curve(y, P, score=score, metric=metric, fractions=fractions_removed)
        return {"curve": list(c.value), "aursc": c.area}

    return {
        "rps_qwk": curve("rps", "quadratic_weighted_kappa"),
        "rps_ec": curve("rps", "expected_cost"),
        "brier_qwk": curve("multiclass_brier", "quadratic_weighted_kappa"),
        "brier_ec": curve("multiclass_brier", "expected_cost"),
    }


def nelson_triplet(p_true):
    happened = np.ones(len(p_true))
    return {
        "decisiveness": sr.scores.decisiveness(happened, p_true),
        "accuracy": sr.scores.probability_accuracy(happened, p_true),
        "robustness": sr.scores.robustness(happened, p_true),
    }


def nelson_distribution(p, q):
    return {
        "entropy_prob": sr.scores.entropy_probability(p),
        "cross_entropy_prob": sr.scores.cross_entropy_probability(p, q),
        "divergence_prob": sr.scores.divergence_probability(p, q),
    }


def nelson_p_sigma(p_true):
    return sr.scores.probability_deviation(p_true)


def nelson_binned(P, y, n_bins):  # noqa: N803
    scale = sr.scores.probability_scale(y, P, n_bins=n_bins)
    return {
        name: {"model": mean.model, "source": mean.source, "divergence": mean.divergence}
        for name in ("decisiveness", "accuracy", "robustness")
        if (mean := getattr(scale, name))
    }


def coupled_gaussian_logpdf(x, mu, sigma, kappa):
    return [list(sr.scores.coupled_gaussian_logpdf(x, mean=mu, scale=sigma, kappa=k)) for k in kappa]


def threshold_metrics(y, s, thresholds):
    half = [sr.scores.regret(y, s, cost=0.5, threshold=t).mean() for t in thresholds]
    return {
        "regret": [sr.scores.regret(y, s, cost=t).mean() for t in thresholds],
        "net_benefit": [sr.scores.net_benefit(y, s, threshold=t).mean() for t in thresholds],
        "accuracy": [1 - 2 * value for value in half],
    }


def bounded_scores(y, s, a, b):
    def mean(score, scale):
        return score(y, s, lower=a, upper=b, scale=scale).mean()

    return {
        "bounded_brier": {
            "difference": mean(sr.scores.bounded_brier, "difference"),
            "mean_regret": mean(sr.scores.bounded_brier, "regret"),
            "paper": mean(sr.scores.bounded_brier, "paper"),
        },
        "bounded_log_loss": {
            "difference": mean(sr.scores.bounded_log_loss, "difference"),
            "mean_regret": mean(sr.scores.bounded_log_loss, "regret"),
        },
        "bounded_net_benefit": mean(sr.scores.bounded_net_benefit, "regret"),
    }


def shifted_scores(y, s, mu):
    return {
        "shifted_brier": sr.scores.shifted_brier(y, s, mu=mu).mean(),
        "mode_shifted": sr.scores.mode_shifted(y, s, mu=mu).mean(),
    }


def skill_scores(y, s, a, b):
    return {
        "brier_skill": sr.skill("brier", y, s),
        "log_skill": sr.skill("log", y, s),
        "bounded_brier_skill": sr.skill("bounded_brier", y, s, lower=a, upper=b),
        "bounded_log_skill": sr.skill("bounded_log_loss", y, s, lower=a, upper=b),
        "auc_skill": sr.skill("roc_auc", y, s),
    }


def partial_auc(y, s, a, b):
    part = sr.scores.partial_auc(y, s, lower=a, upper=b)
    return {
        "auc": sr.scores.roc_auc(y, s),
        "pauc_plus": part.plus,
        "pauc_minus": part.minus,
        "delta_tpr": part.delta_tpr,
        "delta_fpr": part.delta_fpr,
        "baa": part.balanced_average_accuracy,
    }


def hand_identity(y, s):
    regret, prevalence = np.mean([sr.scores.regret(y, s, cost=c).mean() for c in s]), np.mean(y)
    return {
        "auc": sr.scores.roc_auc(y, s),
        "mean_regret_at_scores": regret,
        "one_minus_scaled": 1 - regret / (2 * prevalence * (1 - prevalence)),
    }


def topk(y, s, K, c):  # noqa: N803
    top = sr.scores.top_k(y, s, k=K, cost=c)
    return {
        "tp": top.true_positives,
        "precision": top.precision,
        "recall": top.recall,
        "cost": top.cost,
        "net_benefit": top.net_benefit,
    }


def corp_brier(x, y):
    fit = sr.corp(y, x)
    return {"pav": list(fit.cep), **_components(fit.decompose("brier"))}


def corp_other(x, y):
    fit = sr.corp(y, x)
    return {name: _components(fit.decompose(name)) for name in ("log", "misclassification")}


def elementary_scores(x, y, theta):
    fit = sr.corp(y, x)
    return {
        "mean": [sr.scores.elementary(y, x, theta=t).mean() for t in theta],
        "MCB": [fit.decompose("elementary", theta=t).miscalibration for t in theta],
    }


def penalized(P, y):  # noqa: N803
    """No row has tied largest probabilities, so the three tie rules agree."""
    assert all(second < first for row in P for first, second in pairwise(sorted(row)[:-3:-1]))
    pbs, pll = sr.scores.penalized_brier(y, P).mean(), sr.scores.penalized_log_loss(y, P).mean()
    both = {"pbs": pbs, "pll": pll}
    return {"first": both, "lenient": both, "strict": both, "algorithm2": pbs / len(P[0])}


def _components(d):
    return {"score": d.score, "MCB": d.miscalibration, "DSC": d.discrimination, "UNC": d.uncertainty}


def consistency_bands(continuous, discrete):
    """The forecasts are given as a formula and as values with counts; outcomes play no part."""
    x = np.round(((np.arange(1, 201) - 0.5) / 200) ** 1.5, 6)
    on_grid = sr.corp(np.arange(200) % 2, x).band(
        method="continuous", level=continuous["level"], quantiles="r"
    )
    at = [round(100 * point) for point in continuous["grid"]]
    values = np.repeat(discrete["values"], discrete["counts"])
    at_values = sr.corp(np.arange(len(values)) % 2, values).band(method="discrete", level=discrete["level"])
    return {
        "continuous_lower": on_grid.lower[at].tolist(),
        "continuous_upper": on_grid.upper[at].tolist(),
        "discrete_lower": at_values.lower.tolist(),
        "discrete_upper": at_values.upper.tolist(),
    }


HANDLERS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        ordinal_scores_per_row,
        ordinal_scores,
        hard_label_metrics,
        retention_aursc,
        nelson_triplet,
        nelson_distribution,
        nelson_p_sigma,
        nelson_binned,
        coupled_gaussian_logpdf,
        threshold_metrics,
        bounded_scores,
        shifted_scores,
        skill_scores,
        partial_auc,
        hand_identity,
        topk,
        corp_brier,
        corp_other,
        elementary_scores,
        consistency_bands,
        penalized,
    )
}
CASES = recorded("golden")["cases"]


def _leaves(tree, path=""):
    """List all numbers of nested dicts and lists with their places."""
    if isinstance(tree, dict):
        return {k: v for key, part in tree.items() for k, v in _leaves(part, f"{path}.{key}").items()}
    if isinstance(tree, list):
        return {k: v for i, part in enumerate(tree) for k, v in _leaves(part, f"{path}[{i}]").items()}
    return {path: float(tree)}  # float() reads "inf" and "nan", which the file writes as strings


def test_all_metrics_of_the_file_are_handled():
    assert {case["metric"] for case in CASES} == HANDLERS.keys()
    assert len(CASES) == recorded("golden")["n"] == 25


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_golden_value(case):
    measured = _leaves(HANDLERS[case["metric"]](**case["inputs"]))
    assert measured == pytest.approx(_leaves(case["expected"]), rel=1e-12, abs=1e-12, nan_ok=True)
