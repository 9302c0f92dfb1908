"""The records of an evaluation that follow from a CORP fit without resampling: scores, curves, summaries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.curves import (
    decision_curve,
    forecast_histogram,
    murphy_curves,
    regret_curve,
    reliability_curve,
    roc_curve,
    roc_hull,
    threshold_table,
)
from scorereport.curves.fitted import quantile_of
from scorereport.curves.murphy import kinks_of
from scorereport.curves.thinning import choose_knots, thin_roc
from scorereport.inference.decisions import add_decision_band, add_threshold_intervals
from scorereport.inference.estimates import HypothesisTest, holm
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import are_whole
from scorereport.results.model_records import (
    ForecastSummary,
    IndependentCases,
    ModelCurves,
    ModelScores,
    Quantile,
    SampleSummary,
    ScoreValue,
)
from scorereport.scores.ranking import area_under_roc
from scorereport.scores.registry import Kind, Reported, list_reported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves import ThresholdResult
    from scorereport.curves.fitted import IsotonicFit
    from scorereport.data.predictions import Predictions
    from scorereport.inference.decision_tallies import DecisionTally
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fit import Corp
    from scorereport.results.model_records import EvaluationSettings, ModelCalibration

#: Levels of the quantiles of forecasts that are reported.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_THRESHOLDS_OF_INTERVAL = 5
#: Digits to which counts from fractional weights are rounded.
_DIGITS = 9


def panel_of(predictions: Predictions, rows: Any = slice(None)) -> ForecastPanel:
    """Some rows of the predictions in canonical order."""
    weight, cluster, time = (
        None if values is None else values[rows]
        for values in (predictions.weight, predictions.cluster, predictions.time)
    )
    forecasts = {name: p[rows] for name, p in predictions.forecasts.items()}
    return make_panel(
        predictions.outcome[rows],
        forecasts,
        sample_weight=weight,
        weight_kind=predictions.weight_kind,
        cluster=cluster,
        time=time,
    )


def fit_panel(panel: ForecastPanel) -> dict[str, Corp]:
    """A CORP fit for each forecast."""
    return {
        name: corp(panel.outcome, p, panel.weight, weight_kind=panel.weight_kind, cluster=panel.cluster)
        for name, p in panel.forecasts.items()
    }


def adjust_scores(scores: Mapping[str, ModelScores]) -> dict[str, ModelScores]:
    """Adjust the p-values of tests of miscalibration over the models, by Holm; not for one model."""
    if len(scores) < 2:
        return dict(scores)
    tests = _adjust_tests([of_model.miscalibration_tests for of_model in scores.values()])
    return {
        name: replace(of_model, miscalibration_tests=adjusted)
        for (name, of_model), adjusted in zip(scores.items(), tests, strict=True)
    }


def adjust_calibration(known: Sequence[ModelCalibration | None]) -> list[ModelCalibration | None]:
    """Adjust the p-values of the other tests of calibration over the models."""
    examined = [calibration for calibration in known if calibration is not None]
    if len(known) < 2 or len(examined) < len(known):
        return list(known)
    tests = _adjust_tests([calibration.tests for calibration in examined])
    return [replace(c, tests=adjusted) for c, adjusted in zip(examined, tests, strict=True)]


def _adjust_tests(by_model: Sequence[tuple[HypothesisTest, ...]]) -> list[tuple[HypothesisTest, ...]]:
    """The tests of each model with p-values adjusted over the tests of the same name."""
    by_name = [holm([test.p_value for test in tests]).tolist() for tests in zip(*by_model, strict=True)]
    return [
        tuple(
            replace(test, p_value_holm=adjusted[place]) for test, adjusted in zip(tests, by_name, strict=True)
        )
        for place, tests in enumerate(by_model)
    ]


def choose_measures(settings: EvaluationSettings) -> list[Measure]:
    """The scores of an evaluation: over all costs and, if one is set, over an interval of costs."""
    measures = [resolve_measure(name, {}) for name in list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])]
    if settings.cost_interval is not None:
        costs = dict(zip(("lower", "upper"), settings.cost_interval, strict=True))
        bounded = list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])
        measures += [replace(resolve_measure(name, costs), label=name) for name in bounded]
    return measures


def score_fit(name: str, fit: Corp, measures: Iterable[Measure]) -> ModelScores:
    """All scores of a model, with their decompositions, and its AUC."""
    parts = [fit.decompose(measure.name, **measure.options) for measure in measures]
    events = fit.distinct.events.astype(np.float64)
    auc = area_under_roc(events, fit.distinct.n - events)
    values = [ScoreValue(name=part.name, value=part.score, skill=part.skill) for part in parts]
    return ModelScores(
        model=name,
        scores=(*values, ScoreValue(name="roc_auc", value=auc, skill=2 * auc - 1)),
        decompositions=tuple(parts),
    )


def collect_curves(
    fit: IsotonicFit, points: int, knots: FloatArray | None = None, tally: DecisionTally | None = None
) -> ModelCurves:
    """All curves of a fit, with about `points` points each, or at the given knots.

    With a tally of decisions, the decision curve has a band.
    """
    kinks = kinks_of(fit)
    regret = regret_curve(fit, theta=choose_knots(fit, points) if knots is None else knots)
    of_murphy = choose_knots(fit, points, kinks) if knots is None else np.union1d(knots, kinks)
    decision = decision_curve(fit, thresholds=regret.theta[regret.theta < 1])
    return ModelCurves(
        reliability=reliability_curve(fit),
        histogram=forecast_histogram(fit),
        roc=thin_roc(roc_curve(fit), points),
        roc_hull=roc_hull(fit),
        murphy=murphy_curves(fit, theta=of_murphy),
        regret=regret,
        decision=decision if tally is None else add_decision_band(decision, tally),
    )


def describe_sample(rows: int, fit: Corp) -> SampleSummary:
    """Rows, cases and events of a fit; its sums are in canonical order and do not depend on that of rows."""
    units, is_event = fit.sample.units, fit.cases.y_true == 1
    independent = IndependentCases(
        unit=units.unit,
        total=units.count_draws(np.full(len(is_event), True)),
        events=units.count_draws(is_event),
        non_events=units.count_draws(~is_event),
    )
    return SampleSummary(rows=rows, total=float(fit.n), events=float(fit.events), independent=independent)


def describe_forecasts(fit: Corp) -> ForecastSummary:
    """A summary of the distribution of forecasts: range, mean and quantiles."""
    distinct = fit.distinct
    return ForecastSummary(
        forecast_type=fit.forecast_type,
        n_distinct=len(distinct),
        minimum=float(distinct.x_min[0]),
        mean=float((distinct.x_min * distinct.n).sum() / fit.n),
        maximum=float(distinct.x_max[-1]),
        quantiles=tuple(Quantile(level=at, value=quantile_of(_counted(fit), at)) for at in QUANTILES),
    )


def _counted(fit: Corp) -> Blocks:
    """Distinct forecasts with counts of cases; fractional weights are divided by the weight of a case."""
    units, distinct = fit.sample.units, fit.distinct
    return distinct if are_whole(units.weight) else count_weighted_cases(distinct, units.case_weight)


def count_weighted_cases(distinct: Blocks, case_weight: float) -> Blocks:
    """Sums of weights as counts of cases, up to rounding."""
    return replace(distinct, n=np.round(distinct.n / case_weight, _DIGITS))


def decide_at_thresholds(
    fit: IsotonicFit, settings: EvaluationSettings, tally: DecisionTally | None = None
) -> tuple[ThresholdResult, ...]:
    """Decisions at the thresholds of the settings, else at those of `choose_thresholds`.

    With a tally of decisions, each number has an interval.
    """
    chosen = settings.thresholds or choose_thresholds(settings.cost_interval)
    found = threshold_table(fit, thresholds=chosen)
    return found if tally is None else add_threshold_intervals(found, tally)


def choose_thresholds(cost_interval: tuple[float, float] | None) -> tuple[float, ...]:
    """Five thresholds, evenly spaced over an interval of costs with both its ends; without one, the tenths.

    >>> choose_thresholds((0.1, 0.4))
    (0.1, 0.175, 0.25, 0.325, 0.4)
    """
    if cost_interval is None:
        return _THRESHOLDS
    lower, upper = cost_interval
    between = np.linspace(lower, upper, _THRESHOLDS_OF_INTERVAL)[1:-1]
    return (lower, *between.round(12).tolist(), upper)  # rounded, so that 0.3 equals a forecast of 0.3
