"""The scores by which binary models are evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.inference.losses import resolve_measure

if TYPE_CHECKING:
    from scorereport.inference.losses import Measure
    from scorereport.results.model_records import EvaluationSettings

_SCORES = ("brier", "log_loss", "misclassification", "spherical")
_BOUNDED_SCORES = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")


def choose_measures(settings: EvaluationSettings) -> list[Measure]:
    """The scores of an evaluation: over all costs and, if one is set, over an interval of costs."""
    measures = [resolve_measure(name, {}) for name in _SCORES]
    if settings.cost_interval is not None:
        costs = dict(zip(("lower", "upper"), settings.cost_interval, strict=True))
        measures += [replace(resolve_measure(name, costs), label=name) for name in _BOUNDED_SCORES]
    return measures
