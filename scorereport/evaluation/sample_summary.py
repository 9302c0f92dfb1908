"""`SampleSummary`: the size of a sample, with intervals of its prevalence and of the uncertainties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.losses import image_of_prevalence, uncertainty_slope
from scorereport.inference.rates import rate_interval
from scorereport.results.model_records import IndependentCases, SampleSummary

if TYPE_CHECKING:
    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.estimates import Estimate
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.fit import Corp
    from scorereport.results.settings import EvaluationSettings


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


def describe_class_sample(rows: int, panel: ClassPanel) -> SampleSummary:
    """The size of a sample, and the weights of its classes."""
    units, outcome = panel.units, panel.outcome
    independent = IndependentCases(
        unit=units.unit,
        total=units.count_draws(np.full(len(outcome), True)),
        events=np.nan,
        non_events=np.nan,
        classes=tuple(units.count_draws(outcome == place) for place in range(panel.n_classes)),
    )
    return SampleSummary(
        rows=rows,
        total=units.total,
        events=np.nan,
        classes=tuple(panel.class_weight.tolist()),
        independent=independent,
    )


def infer_prevalence(
    sample: SampleSummary, panel: ForecastPanel, measures: list[Measure], settings: EvaluationSettings
) -> SampleSummary:
    """The sample with intervals of its prevalence and of each score's uncertainty."""
    prevalence = rate_interval("prevalence", panel.outcome, panel.units, settings.level)
    return with_prevalence(sample, prevalence, measures)


def with_prevalence(sample: SampleSummary, prevalence: Estimate, measures: list[Measure]) -> SampleSummary:
    """The sample with the interval of its prevalence and those of the uncertainties, functions of it."""
    uncertainties = tuple(_carry_over(prevalence, measure) for measure in measures)
    return replace(sample, prevalence_interval=prevalence, uncertainties=uncertainties)


def _carry_over(prevalence: Estimate, measure: Measure) -> Estimate:
    value, _ = image_of_prevalence(measure, prevalence.value, prevalence.value)
    lower, upper = image_of_prevalence(measure, prevalence.lower, prevalence.upper)
    return replace(
        prevalence,
        measure=measure.name,
        value=value,
        standard_error=_error_of_uncertainty(measure, prevalence),
        lower=lower,
        upper=upper,
        method=f"from the prevalence ({prevalence.method})",
    )


def _error_of_uncertainty(measure: Measure, prevalence: Estimate) -> float:
    if prevalence.standard_error == 0:
        return 0.0
    return abs(uncertainty_slope(measure, prevalence.value)) * prevalence.standard_error
