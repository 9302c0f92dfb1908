"""Scores of probabilistic classifiers: one value per case unless stated otherwise.

Lower is better unless a score's entry in `REGISTRY` states otherwise; `get_score(name)` returns the entry
with range, direction, propriety, kind and references. `sr.scorers` has the means, for scikit-learn.
"""

from scorereport.scores.binary import brier, elementary, log_loss, misclassification, spherical
from scorereport.scores.bounded import (
    beta_regret,
    bounded_brier,
    bounded_log_loss,
    bounded_net_benefit,
    mode_shifted,
    net_benefit,
    regret,
    shifted_brier,
)
from scorereport.scores.hard_labels import (
    accuracy,
    expected_cost,
    macro_f1,
    naive_expected_cost,
    quadratic_weighted_kappa,
)
from scorereport.scores.multiclass import (
    multiclass_brier,
    multiclass_log_loss,
    multiclass_spherical,
    penalized_brier,
    penalized_log_loss,
)
from scorereport.scores.ordinal import rps, sa_rps
from scorereport.scores.probability import (
    coupled_gaussian_logpdf,
    coupling_exponent,
    cross_entropy_probability,
    decisiveness,
    divergence_probability,
    entropy_probability,
    generalized_mean,
    probability_accuracy,
    probability_deviation,
    robustness,
)
from scorereport.scores.ranking import PartialAuc, TopK, partial_auc, roc_auc, top_k
from scorereport.scores.registry import REGISTRY, Direction, Kind, Propriety, Score, get_score
from scorereport.scores.scale import ProbabilityScale, ScaleMean, probability_scale

__all__ = [
    "REGISTRY",
    "Direction",
    "Kind",
    "PartialAuc",
    "ProbabilityScale",
    "Propriety",
    "ScaleMean",
    "Score",
    "TopK",
    "accuracy",
    "beta_regret",
    "bounded_brier",
    "bounded_log_loss",
    "bounded_net_benefit",
    "brier",
    "coupled_gaussian_logpdf",
    "coupling_exponent",
    "cross_entropy_probability",
    "decisiveness",
    "divergence_probability",
    "elementary",
    "entropy_probability",
    "expected_cost",
    "generalized_mean",
    "get_score",
    "log_loss",
    "macro_f1",
    "misclassification",
    "mode_shifted",
    "multiclass_brier",
    "multiclass_log_loss",
    "multiclass_spherical",
    "naive_expected_cost",
    "net_benefit",
    "partial_auc",
    "penalized_brier",
    "penalized_log_loss",
    "probability_accuracy",
    "probability_deviation",
    "probability_scale",
    "quadratic_weighted_kappa",
    "regret",
    "robustness",
    "roc_auc",
    "rps",
    "sa_rps",
    "shifted_brier",
    "spherical",
    "top_k",
]
# a score that is registered needs no line of its own above
globals().update({name: entry.function for name, entry in REGISTRY.items()})
__all__.extend(name for name in REGISTRY if name not in __all__)
