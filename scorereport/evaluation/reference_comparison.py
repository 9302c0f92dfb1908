"""`ReferenceComparison`: tests of forecasts and groups, and changes of scores and of the event rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves import reliability_curve
from scorereport.curves.fitted import ReliabilityCurve
from scorereport.evaluation.binary_evaluation import score_panel
from scorereport.evaluation.prediction_panels import panel_of
from scorereport.inference.estimates import adjust_tests, holm
from scorereport.inference.large_panels import PanelFits
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.population_stability import compare_bins
from scorereport.inference.sample_changes import (
    SampleRates,
    adjust_changes,
    compare_components,
    compare_estimates,
    fit_reference_curve,
    measure_rates,
    no_change_interval,
    split_rate_change,
)
from scorereport.inference.shift_tests import distribution_test, shares_test
from scorereport.results.model_records import ModelScores, SampleSummary
from scorereport.results.reference_records import ColumnStability, ReferenceComparison, ReferenceModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.predictions import Predictions
    from scorereport.evaluation.engines.protocol import Batch, Engine, Sums
    from scorereport.evaluation.evaluated_parts import EvaluatedParts
    from scorereport.evaluation.reference_sample import ReferenceSample
    from scorereport.inference.estimates import HypothesisTest
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.population_stability import Stability
    from scorereport.inference.sample_changes import Change, RateChange, ReferenceCurve
    from scorereport.results.model_records import GroupResult
    from scorereport.results.settings import EvaluationSettings

_NO_OUTCOMES = (
    "The reference sample has no column of outcomes: only the forecasts are compared, not scores, "
    "calibration or the event rate."
)
_NO_DISTANCE = (
    "The Kolmogorov-Smirnov test needs the rows in memory; the chi-square test over bins replaces it."
)
_NO_CLUSTERS = (
    "The reference sample has no column of clusters: its rows are taken as independent, so that intervals "
    "may be too narrow."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoredReference:
    """The reference with its scores, and the reliability curves of its models."""

    sample: SampleSummary
    scores: Mapping[str, ModelScores]
    curves: Mapping[str, ReliabilityCurve]


def compare_in_memory(
    parts: EvaluatedParts,
    predictions: Predictions,
    reference: ReferenceSample,
    stability: Sequence[Stability],
    settings: EvaluationSettings,
) -> ReferenceComparison:
    """Compare binary models whose rows are in memory with a reference sample."""
    panel = panel_of(predictions)
    weight = np.asarray(panel.units.row_weight)

    def compare_forecasts(found: Stability) -> HypothesisTest:
        ordered = np.argsort(reference.forecasts[found.model], kind="stable")
        return distribution_test(
            (panel.forecasts[found.model], weight),
            (reference.forecasts[found.model][ordered], reference.weight[ordered]),
            (found.index.n, found.reference_size),
        )

    def measure(model: str, curve: ReferenceCurve) -> SampleRates:
        return measure_rates(curve, panel.outcome, panel.forecasts[model], panel.units)

    found = _compare(
        parts, reference, stability, settings, compare_forecasts=compare_forecasts, measure=measure
    )
    has_clusters = reference.panel is not None and reference.panel.cluster is not None
    needs_note = predictions.cluster is not None and not has_clusters
    return replace(found, notes=(*found.notes, _NO_CLUSTERS)) if needs_note else found


def compare_with_engine(
    parts: EvaluatedParts,
    engine: Engine,
    reference: ReferenceSample,
    stability: Sequence[Stability],
    settings: EvaluationSettings,
) -> ReferenceComparison:
    """Compare binary models whose rows are not in memory with a reference sample, which is."""

    def measure(model: str, curve: ReferenceCurve) -> SampleRates:
        return _scan_rates(engine, model, curve)

    found = _compare(parts, reference, stability, settings, measure=measure)
    return replace(found, notes=(*found.notes, _NO_DISTANCE))


def _compare(
    parts: EvaluatedParts,
    reference: ReferenceSample,
    stability: Sequence[Stability],
    settings: EvaluationSettings,
    *,
    measure: Callable[[str, ReferenceCurve], SampleRates],
    compare_forecasts: Callable[[Stability], HypothesisTest] | None = None,
) -> ReferenceComparison:
    scored = _score_reference(reference, settings)
    found = [
        ReferenceModel(
            model=of_model.model,
            tests=tuple(_test_forecasts(of_model, compare_forecasts)),
            scores=scored.scores.get(of_model.model),
            curve=scored.curves.get(of_model.model),
        )
        for of_model in stability
    ]
    if reference.panel is not None:
        found = [_add_changes(model, parts, scored, settings) for model in found]
        rates = _split_rates(reference.panel, measure, settings.level)
        found = [replace(model, rate=rates[model.model]) for model in found]
    return ReferenceComparison(
        source=reference.source,
        source_sha256=reference.source_sha256,
        sample=scored.sample,
        models=tuple(_adjust(found)),
        prevalence=_compare_prevalence(parts.sample, scored.sample, settings.level),
        uncertainties=tuple(_compare_uncertainties(parts.sample, scored.sample)),
        columns=tuple(_compare_columns(parts.groups.by_column, reference, stability[0], settings.level)),
        notes=() if reference.panel is not None else (_NO_OUTCOMES,),
    )


def _score_reference(reference: ReferenceSample, settings: EvaluationSettings) -> _ScoredReference:
    if reference.panel is None:
        rows = len(reference.weight)
        sample = SampleSummary(rows=rows, total=float(reference.weight.sum()), events=math.nan)
        return _ScoredReference(sample=sample, scores={}, curves={})
    fits = PanelFits(reference.panel)
    sample, scores = score_panel(len(reference.group_weight), reference.panel, fits, settings)
    return _ScoredReference(
        sample=sample,
        scores={of_model.model: of_model for of_model in scores},
        curves={name: reliability_curve(fits[name]) for name in fits},
    )


# ---- forecasts and groups ----


def _test_forecasts(
    found: Stability, compare_forecasts: Callable[[Stability], HypothesisTest] | None
) -> Iterator[HypothesisTest]:
    sizes = (found.index.n, found.reference_size)
    yield shares_test("the bins of forecasts", found.sample, found.reference, sizes)
    if compare_forecasts is not None:
        yield compare_forecasts(found)


def _compare_columns(
    groups: Mapping[str, Sequence[GroupResult]], reference: ReferenceSample, sizes: Stability, level: float
) -> Iterator[ColumnStability]:
    """The stability of the shares of groups, for columns that the reference has too; adjusted by Holm."""
    found = [
        _compare_labels(column, groups[column], labels, reference.group_weight, sizes, level)
        for column, labels in reference.groups.items()
        if groups.get(column)
    ]
    adjusted = holm([one.test.p_value for one in found]).tolist()
    for one, p in zip(found, adjusted, strict=True):
        yield replace(one, test=replace(one.test, p_value_holm=p)) if len(found) > 1 else one


def _compare_labels(
    column: str,
    groups: Sequence[GroupResult],
    labels: NDArray[np.object_],
    weight: FloatArray,
    sizes: Stability,
    level: float,
) -> ColumnStability:
    known, place = np.unique(labels.astype(str), return_inverse=True)
    before = dict(zip(known.tolist(), np.bincount(place, weights=weight).tolist(), strict=True))
    now = {group.label: group.sample.total for group in groups}
    names = tuple(sorted(now.keys() | before.keys()))
    counts = [np.array([of.get(name, 0.0) for name in names]) for of in (now, before)]
    effective = (sizes.index.n, sizes.reference_size)
    compared = compare_bins(
        column,
        ends=np.arange(len(names) - 1.0),
        sample=counts[0],
        reference=counts[1],
        sizes=effective,
        distribution=ErrorDistribution(),
        level=level,
    )
    return ColumnStability(
        column=column,
        labels=names,
        sample=tuple(compared.sample.tolist()),
        reference=tuple(compared.reference.tolist()),
        index=compared.index,
        test=shares_test(f"the groups of {column}", compared.sample, compared.reference, effective),
    )


# ---- scores ----


def _add_changes(
    found: ReferenceModel, parts: EvaluatedParts, scored: _ScoredReference, settings: EvaluationSettings
) -> ReferenceModel:
    now = next(result.scores for result in parts.models if result.model == found.model)
    before = scored.scores[found.model]
    return replace(found, changes=tuple(_list_changes(now, before, settings.level)))


def _list_changes(now: ModelScores, before: ModelScores, level: float) -> Iterator[Change]:
    """The change of every score, of its skill, and of its corrected components."""
    for score, old in zip(now.scores, before.scores, strict=True):
        yield compare_estimates(score.name, score.interval, old.interval) or no_change_interval(
            score.name, score.value, old.value, level
        )
        name = f"{score.name} skill"
        yield compare_estimates(name, score.skill_interval, old.skill_interval) or no_change_interval(
            name, score.skill, old.skill, level
        )
    for component in now.components:
        other = before.component(component.measure, component.component)
        name = f"{component.measure} corrected {component.component}"
        if (change := compare_components(name, component, other)) is not None:
            yield change


def _compare_uncertainties(now: SampleSummary, before: SampleSummary) -> Iterator[Change]:
    known = {estimate.measure: estimate for estimate in before.uncertainties}
    for estimate in now.uncertainties:
        change = compare_estimates(f"{estimate.measure} uncertainty", estimate, known.get(estimate.measure))
        if change is not None:
            yield change


def _compare_prevalence(now: SampleSummary, before: SampleSummary, level: float) -> Change | None:
    """The change of the event rate, by Newcombe's interval if rows are independent; None without outcomes."""
    if math.isnan(before.events):
        return None
    found = compare_estimates("prevalence", now.prevalence_interval, before.prevalence_interval)
    return found or no_change_interval("prevalence", now.prevalence, before.prevalence, level)


def _adjust(models: Sequence[ReferenceModel]) -> list[ReferenceModel]:
    """Adjust the p-values of tests and changes over the models, by Holm; not for one model."""
    if len(models) < 2:
        return list(models)
    tests = adjust_tests([model.tests for model in models])
    changes = adjust_changes([model.changes for model in models])
    rates = _adjust_rates([model.rate for model in models])
    return [
        replace(model, tests=t, changes=c, rate=r)
        for model, t, c, r in zip(models, tests, changes, rates, strict=True)
    ]


def _adjust_rates(rates: Sequence[RateChange | None]) -> Sequence[RateChange | None]:
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        return rates
    adjusted = adjust_changes([(rate.forecasts, rate.calibration) for rate in known])
    return [
        replace(rate, forecasts=forecasts, calibration=calibration)
        for rate, (forecasts, calibration) in zip(known, adjusted, strict=True)
    ]


# ---- the event rate ----


def _split_rates(
    panel: ForecastPanel, measure: Callable[[str, ReferenceCurve], SampleRates], level: float
) -> dict[str, RateChange]:
    found = {}
    for model, forecast in panel.forecasts.items():
        curve = fit_reference_curve(panel.outcome, forecast, panel.units)
        found[model] = split_rate_change(model, curve, measure(model, curve), level=level)
    return found


def _scan_rates(engine: Engine, model: str, curve: ReferenceCurve) -> SampleRates:
    """Sum what the split takes from a sample over the rows of an engine, in one scan."""
    survey = engine.survey

    def add_up(batch: Batch) -> Sums:
        forecast = batch.forecasts[model]
        place, rate = curve.find_rates(forecast)
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        values = np.stack([batch.y, rate, batch.y - rate, curve.find_outside(forecast)])
        spread = weight if survey.are_repeated_rows else weight**2
        shares = np.bincount(place, weights=weight, minlength=len(curve.shares)).astype(np.float64)
        return shares, values @ weight, values @ spread, (values**2) @ spread, np.array([spread.sum()])

    shares, sums, spread, squares, total = engine.reduce(add_up, "comparing with the reference")
    means = sums / shares.sum()
    size = float(survey.total if survey.are_repeated_rows else survey.rows)
    variance = squares - 2 * means * spread + means**2 * total[0]
    errors = np.sqrt(np.maximum(variance, 0.0) * size / (size - 1)) / shares.sum()
    return SampleRates(
        shares=np.asarray(shares / shares.sum()),
        rate=float(means[0]),
        expected=float(means[1]),
        expected_error=float(errors[1]),
        excess_error=float(errors[2]),
        outside=float(means[3]),
        degrees_of_freedom=size - 1,
    )
