"""The scores by which binary models are evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.inference.losses import resolve_measure
from scorereport.scores.registry import Kind, Reported, list_reported

if TYPE_CHECKING:
    from scorereport.inference.losses import Measure
    from scorereport.results.settings import EvaluationSettings


def choose_measures(settings: EvaluationSettings) -> list[Measure]:
    """The scores of an evaluation: over all costs and, if one is set, over an interval of costs."""
    measures = [resolve_measure(name, {}) for name in list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])]
    if settings.cost_interval is not None:
        costs = dict(zip(("lower", "upper"), settings.cost_interval, strict=True))
        bounded = list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])
        measures += [replace(resolve_measure(name, costs), label=name) for name in bounded]
    return measures
