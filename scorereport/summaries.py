"""From a CORP fit to the records of an evaluation: scores, curves and descriptions, nothing drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves import (
    decision_curve,
    forecast_histogram,
    murphy_curves,
    regret_curve,
    reliability_curve,
    roc_curve,
    roc_hull,
)
from scorereport.curves.thinning import thin_murphy, thin_regret, thin_roc
from scorereport.inference.measures import resolve_measure
from scorereport.results import ForecastSummary, ModelCurves, ModelScores, SampleSummary, ScoreValue
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from scorereport.inference.measures import Measure
    from scorereport.reliability.fit import Corp
    from scorereport.results import Settings

_SCORES = ("brier", "log_loss", "misclassification", "spherical")
_BOUNDED_SCORES = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")


def choose_measures(settings: Settings) -> list[Measure]:
    """The scores of an evaluation: over all costs and, if asked for, over an interval of costs."""
    measures = [resolve_measure(name, {}) for name in _SCORES]
    if settings.cost_interval is not None:
        costs = dict(zip(("lower", "upper"), settings.cost_interval, strict=True))
        measures += [replace(resolve_measure(name, costs), label=name) for name in _BOUNDED_SCORES]
    return measures


def score_fit(name: str, fit: Corp, settings: Settings) -> ModelScores:
    """All scores of a model, with their decompositions, and its AUC."""
    parts = [fit.decompose(measure.name, **measure.options) for measure in choose_measures(settings)]
    events = fit.distinct.events.astype(np.float64)
    auc = area_under_roc(events, fit.distinct.n - events)
    values = [ScoreValue(name=part.name, value=part.score, skill=part.skill) for part in parts]
    return ModelScores(
        model=name,
        scores=(*values, ScoreValue(name="roc_auc", value=auc, skill=2 * auc - 1)),
        decompositions=tuple(parts),
    )


def collect_curves(fit: Corp, points: int) -> ModelCurves:
    """All curves of a fit, with about so many points each."""
    regret = thin_regret(regret_curve(fit), points)
    return ModelCurves(
        reliability=reliability_curve(fit),
        histogram=forecast_histogram(fit),
        roc=thin_roc(roc_curve(fit), points),
        roc_hull=roc_hull(fit),
        murphy=thin_murphy(murphy_curves(fit), points, np.append(fit.blocks.mean, fit.prevalence)),
        regret=regret,
        decision=decision_curve(fit, thresholds=regret.theta[regret.theta < 1]),
    )


def describe_sample(rows: int, fit: Corp) -> SampleSummary:
    """Totals of the fit, which sums in canonical order: the order of rows leaves no trace."""
    return SampleSummary(rows=rows, total=float(fit.n), events=float(fit.events))


def describe_forecasts(fit: Corp) -> ForecastSummary:
    """The distribution of the forecasts in a few numbers."""
    distinct = fit.distinct
    return ForecastSummary(
        forecast_type=fit.forecast_type,
        n_distinct=len(distinct),
        minimum=float(distinct.x_min[0]),
        mean=float((distinct.x_min * distinct.n).sum() / fit.n),
        maximum=float(distinct.x_max[-1]),
    )
