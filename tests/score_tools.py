"""Scores and options that two test files share."""

from __future__ import annotations

from scorereport.scores.registry import REGISTRY, Kind

# The scores of the event probability with options to try; the first set makes "proper, not strictly" true.
BINARY = {
    **{name: [{}] for name, entry in REGISTRY.items() if entry.kind is Kind.BINARY and not entry.options},
    "log_loss": [{}],
    "elementary": [{"theta": 0.3}, {"theta": 0.0}, {"theta": 0.5}, {"theta": 1.0}],
    "regret": [{"cost": 0.3}, {"cost": 0.0}, {"cost": 0.55}, {"cost": 1.0}],
    "net_benefit": [{"threshold": 0.3}, {"threshold": 0.0}, {"threshold": 0.55}, {"threshold": 0.95}],
    "bounded_brier": [
        {"lower": 0.2, "upper": 0.6},
        {"lower": 0.05, "upper": 0.2, "scale": "paper"},
        {"lower": 0.33, "upper": 1.0, "scale": "difference"},
    ],
    "bounded_log_loss": [{"lower": 0.2, "upper": 0.6}, {"lower": 0.01, "upper": 0.97, "scale": "paper"}],
    "bounded_net_benefit": [
        {"lower": 0.2, "upper": 0.6},
        {"lower": 0.0, "upper": 0.2, "scale": "paper"},
        {"lower": 0.33, "upper": 0.9, "scale": "difference"},
    ],
    "shifted_brier": [{"mu": 0.2}, {"mu": 0.7}],
    "mode_shifted": [{"mu": 0.2}, {"mu": 0.5}, {"mu": 0.7}],
    "beta_regret": [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 2.5, "b": 4}, {"a": 0.5, "b": 0.5}],
}


K_CLASSES = {
    "multiclass_brier": [{}],
    "multiclass_log_loss": [{}],
    "multiclass_spherical": [{}],
    "penalized_brier": [{}],
    "penalized_log_loss": [{}],
    "rps": [{}, {"scale": "sum"}],
    "sa_rps": [{}],
}


OF_LABELS = ("accuracy", "macro_f1", "quadratic_weighted_kappa", "expected_cost")


OF_PROBABILITIES = ("roc_auc", "decisiveness", "probability_accuracy", "robustness")
