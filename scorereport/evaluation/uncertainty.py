"""The uncertainty of an evaluation of binary models: intervals, bands, tests and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.binary_measures import choose_measures
from scorereport.inference.binned_errors import bin_errors
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.calibration_in_time import allow_for_time, needs_time, note_independence
from scorereport.inference.calibration_tests import (
    hosmer_lemeshow_test,
    mean_calibration_test,
    spiegelhalter_test,
)
from scorereport.inference.component_tests import (
    ScoredModel,
    contrast_component,
    is_miscalibrated,
    judge_miscalibration,
)
from scorereport.inference.components import COMPONENTS, FittedLosses, component_interval, warn_of_few_events
from scorereport.inference.delong import estimate_auc
from scorereport.inference.differences import AUC, compare_panel
from scorereport.inference.dominance import murphy_difference
from scorereport.inference.estimates import adjust_by_holm, rank_models
from scorereport.inference.few_values import allow_for_few_values, find_few_values
from scorereport.inference.flexible_curves import fit_flexible
from scorereport.inference.losses import image_of_prevalence, uncertainty_slope
from scorereport.inference.mean_errors import choose_errors
from scorereport.inference.overfit import Overfit, estimate_overfit
from scorereport.inference.rare_cases import FEW_CASES
from scorereport.inference.rates import rate_interval
from scorereport.inference.recalibration import try_recalibration
from scorereport.inference.regression import calibration_line, line_tests
from scorereport.inference.smooth_calibration import smooth_errors
from scorereport.reliability.blocks import Blocks
from scorereport.results.model_records import (
    Comparisons,
    ModelCalibration,
    ModelScores,
    SampleSummary,
    ScoreValue,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.inference.bootstrap_results import Bootstrap
    from scorereport.inference.dominance import MurphyDifference
    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from scorereport.inference.few_values import FewValues
    from scorereport.inference.losses import Measure
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.reliability.bands import Band
    from scorereport.reliability.fit import Corp
    from scorereport.results.model_records import EvaluationSettings

#: Draws from the smoothed curve that estimate the overfit of a fit.
_OVERFIT_DRAWS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleInference:
    """A sample and its models with intervals and tests; `overfits` has those of each model by each measure.

    Only the blocks of each fit are kept, which are few.
    """

    sample: SampleSummary
    models: dict[str, ModelScores]
    overfits: dict[str, list[Overfit]]
    blocks: dict[str, Blocks]


def infer_sample(
    panel: ForecastPanel,
    fits: Mapping[str, Corp],
    sample: SampleSummary,
    models: Mapping[str, ModelScores],
    measures: list[Measure],
    settings: EvaluationSettings,
) -> SampleInference:
    """Compute intervals for every number of a sample, and tests of calibration by miscalibration."""
    overfits, inferred, blocks = {}, {}, {}
    for name, known in _bootstrap_scores(panel, models, measures, settings).items():
        fit = fits[name]
        blocks[name] = fit.blocks
        overfits[name] = estimate_overfit(fit.sample, measures, draws=_OVERFIT_DRAWS, seed=settings.seed)
        tests = judge_miscalibration(fit, measures, resamples=settings.resamples, seed=settings.seed)
        note = warn_of_few_events(*fit.sample.counts, are_effective=not fit.sample.units.are_repeated_rows)
        few = find_few_values(fit.sample, settings.level)
        tests = [note_independence(test) for test in tests] if needs_time(panel) else tests
        del fit  # with many rows, memory holds one fit at a time
        scored = _score_cases(name, blocks[name], panel, measures, overfits[name])
        found = _add_components(known, scored, tests, note, panel, settings)
        inferred[name] = _correct_few_values(found, few, measures)
    sample = _add_prevalence(sample, panel, measures, settings)
    return SampleInference(sample=sample, models=inferred, overfits=overfits, blocks=blocks)


def _bootstrap_scores(
    panel: ForecastPanel,
    models: Mapping[str, ModelScores],
    measures: list[Measure],
    settings: EvaluationSettings,
) -> dict[str, ModelScores]:
    """Intervals of all mean scores and skills; the bootstrap is not kept, because it holds every score."""
    boot = bootstrap_panel(panel, measures, resamples=settings.resamples, seed=settings.seed, whole=False)
    return {
        name: replace(known, scores=tuple(_add_intervals(known, panel, boot, settings)))
        for name, known in models.items()
    }


def _score_cases(
    name: str, blocks: Blocks, panel: ForecastPanel, measures: list[Measure], overfits: list[Overfit]
) -> Iterator[ScoredModel]:
    """A model under one measure after the other, to save memory."""
    for measure, overfit in zip(measures, overfits, strict=True):
        losses = FittedLosses(measure, panel.outcome, panel.forecasts[name], blocks)
        yield ScoredModel(name=name, losses=losses, overfit=overfit)


def _add_components(
    known: ModelScores,
    scored: Iterator[ScoredModel],
    tests: Sequence[HypothesisTest],
    note: str,
    panel: ForecastPanel,
    settings: EvaluationSettings,
) -> ModelScores:
    components = [
        component_interval(
            model.losses,
            component,
            model.overfit,
            panel.units,
            level=settings.level,
            is_shown=is_miscalibrated(test, settings.level, settings.resamples),
            note=note,
        )
        for model, test in zip(scored, tests, strict=True)
        for component in COMPONENTS
    ]
    return replace(known, components=tuple(components), miscalibration_tests=tuple(tests))


def _correct_few_values(
    known: ModelScores, few: FewValues | None, measures: Sequence[Measure]
) -> ModelScores:
    """Scores whose component intervals allow for few distinct forecasts."""
    named = {measure.label: measure for measure in measures}
    components = [allow_for_few_values(bound, few, named[bound.measure]) for bound in known.components]
    return replace(known, components=tuple(components))


def _add_intervals(
    known: ModelScores, panel: ForecastPanel, boot: Bootstrap, settings: EvaluationSettings
) -> Iterator[ScoreValue]:
    for score in known.scores:
        if score.name == "roc_auc":
            interval = estimate_auc(_alone(panel, known.model), settings.level)
            yield replace(score, interval=interval, skill_interval=_skill_of_auc(interval))
            continue
        interval, skill = (
            boot.interval(known.model, measure, level=settings.level, method=settings.interval_method)
            for measure in (score.name, f"{score.name} skill")
        )
        yield replace(
            score,
            interval=_as_rate(score, panel, known.model, settings) or interval,
            skill_interval=_note_few(skill, panel) if score.name == "misclassification" else skill,
        )


def _note_few(skill: Estimate, panel: ForecastPanel) -> Estimate:
    """Add a warning of few events to the skill of misclassification.

    This skill has a kink at a prevalence of 1/2, so its interval is not widened for few events.
    """
    events, others = (panel.units.count(panel.outcome == outcome) for outcome in (1, 0))
    few = warn_of_few_events(
        events, others, enough=FEW_CASES, are_effective=not panel.units.are_repeated_rows
    )
    return replace(skill, note=skill.note or few)


def _as_rate(
    score: ScoreValue, panel: ForecastPanel, model: str, settings: EvaluationSettings
) -> Estimate | None:
    """The binomial interval of misclassification; None for other scores, or if some forecasts are 1/2.

    A forecast of 1/2 counts as half an error, so that the score is not a rate.
    """
    forecast = panel.forecasts[model]
    if score.name != "misclassification" or (forecast == 0.5).any():
        return None
    wrong = ((forecast > 0.5) != (panel.outcome == 1)).astype(np.float64)
    return rate_interval(score.name, wrong, panel.units, settings.level)


def _skill_of_auc(auc: Estimate) -> Estimate:
    return replace(
        auc,
        measure="roc_auc skill",
        value=2 * auc.value - 1,
        standard_error=2 * auc.standard_error,
        lower=2 * auc.lower - 1,
        upper=2 * auc.upper - 1,
    )


def _add_prevalence(
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


def draw_bands(fit: Corp, settings: EvaluationSettings) -> tuple[Band, ...]:
    """Bands for the reliability diagram: consistency and confidence, pointwise and simultaneous."""
    drawn: dict[str, Any] = {
        "resamples": settings.resamples,
        "seed": settings.seed,
        "points": settings.curve_points,
    }
    bands = [
        fit.band("consistency", settings.band_level, **drawn),
        fit.band("consistency", settings.band_level, coverage="simultaneous", **drawn),
        fit.band("confidence", settings.band_level, **drawn),
    ]
    if fit.cluster is None and fit.sample.units.are_repeated_rows:  # the honest band needs independent rows
        bands.append(fit.band("confidence", settings.band_level, coverage="simultaneous"))
    return tuple(bands)


def examine_calibration(panel: ForecastPanel, name: str, settings: EvaluationSettings) -> ModelCalibration:
    """Calibration line, tests of calibration and calibration errors of one model."""
    in_time = _alone(panel, name)
    panel = _in_order(panel, name)
    y, p = panel.outcome, panel.only
    weights: dict[str, Any] = {"sample_weight": panel.weight, "weight_kind": panel.weight_kind}
    rows = {**weights, "cluster": panel.cluster}
    tests = [spiegelhalter_test(y, p, **rows), mean_calibration_test(y, p, **rows), *line_tests(y, p, **rows)]
    if panel.cluster is None:  # with clusters, the distribution of the Hosmer-Lemeshow statistic is unknown
        tests.append(hosmer_lemeshow_test(y, p, **weights))
    drawn: dict[str, Any] = {"level": settings.level, "seed": settings.seed}
    line = calibration_line(y, p, level=settings.level, **rows)
    if needs_time(in_time):
        line, tests = allow_for_time(in_time, line, tests)
    return ModelCalibration(
        line=line,
        tests=tuple(tests),
        errors=smooth_errors(panel, **drawn),
        binned=bin_errors(panel, **drawn),
        flexible=fit_flexible(panel, level=settings.band_level),
    )


def recalibrate(
    panel: ForecastPanel, name: str, settings: EvaluationSettings
) -> tuple[RecalibrationTrial, ...]:
    """Trials of recalibration for one model."""
    panel = _in_order(panel, name)
    return try_recalibration(
        panel.outcome,
        panel.only,
        seed=settings.seed,
        sample_weight=panel.weight,
        weight_kind=panel.weight_kind,
        cluster=panel.cluster,
        level=settings.level,
    )


def compare_model_pairs(
    panel: ForecastPanel, inferred: SampleInference, settings: EvaluationSettings
) -> Comparisons:
    """Compare every pair of models by every measure, and by its miscalibration and discrimination."""
    if len(panel.forecasts) < 2:
        return Comparisons()
    choice, measures = choose_errors(panel, settings.level), choose_measures(settings)
    differences = list(compare_panel(panel, [*measures, AUC], choice))
    ranks = rank_models(differences, alpha=1 - settings.level)
    scored = [
        _score_cases(name, blocks, panel, measures, inferred.overfits[name])
        for name, blocks in inferred.blocks.items()
    ]
    differences += _compare_components(panel, scored, choice)
    return Comparisons(
        differences=tuple(differences),
        ranks=ranks,
        murphy=tuple(_compare_costs(panel, settings)),
    )


def _compare_components(
    panel: ForecastPanel, scored: Sequence[Iterator[ScoredModel]], choice: ErrorChoice
) -> Iterator[Difference]:
    """Paired differences of both components, each adjusted by Holm over the pairs."""
    for by_measure in zip(*scored, strict=True):
        pairs = list(combinations(by_measure, 2))
        for component in COMPONENTS:
            yield from adjust_by_holm(
                [contrast_component(first, second, component, panel, choice) for first, second in pairs]
            )


def _compare_costs(panel: ForecastPanel, settings: EvaluationSettings) -> Iterator[MurphyDifference]:
    for first, second in combinations(panel.forecasts, 2):
        yield murphy_difference(
            panel.outcome,
            panel.forecasts[first],
            panel.forecasts[second],
            names=(first, second),
            level=settings.band_level,
            resamples=settings.resamples,
            seed=settings.seed,
            sample_weight=panel.weight,
            weight_kind=panel.weight_kind,
            cluster=panel.cluster,
        )


def _in_order(panel: ForecastPanel, name: str) -> ForecastPanel:
    """The cases with one forecast, in canonical order, so that functions need not sort them again."""
    return replace(_alone(panel, name), time=None).in_canonical_order()


def _alone(panel: ForecastPanel, name: str) -> ForecastPanel:
    return replace(panel, forecasts={name: panel.forecasts[name]})
