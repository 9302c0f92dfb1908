"""`ModelScores`: scores, decompositions and components of binary models, with intervals and tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.machine import call_together
from scorereport._utils.progress import parts
from scorereport.evaluation.prediction_panels import order_by_forecast
from scorereport.evaluation.sample_summary import infer_prevalence
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.calibration_in_time import needs_time, note_independence
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.component_tests import ScoredModel, is_miscalibrated
from scorereport.inference.components import (
    COMPONENTS,
    FittedLosses,
    component_interval,
    place_in_blocks,
    warn_of_few_events,
)
from scorereport.inference.delong import estimate_auc
from scorereport.inference.estimates import adjust_tests
from scorereport.inference.few_values import allow_for_few_values, find_few_values
from scorereport.inference.mean_intervals import infer_means
from scorereport.inference.overfit import Overfit, estimate_overfit
from scorereport.inference.rare_cases import FEW_CASES
from scorereport.inference.rates import rate_interval
from scorereport.reliability.band_bounds import choose_resamples
from scorereport.reliability.bands import CalibratedCurves
from scorereport.reliability.blocks import Blocks
from scorereport.results.model_records import ModelScores, SampleSummary, ScoreValue
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scorereport.inference.bootstrap_results import Bootstrap
    from scorereport.inference.estimates import Estimate, HypothesisTest
    from scorereport.inference.few_values import FewValues
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.fit import Corp
    from scorereport.results.settings import EvaluationSettings

#: Draws from the smoothed curve that estimate the overfit of a fit, where a number of resamples is given.
_OVERFIT_DRAWS = 100


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


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleInference:
    """A sample and its models with intervals and tests; `overfits` has those of each model by each measure.

    Only the blocks of each fit are kept, which are few. `curves` are those of each forecast if it were
    calibrated, for a band.
    """

    sample: SampleSummary
    models: dict[str, ModelScores]
    overfits: dict[str, list[Overfit]]
    blocks: dict[str, Blocks]
    curves: dict[str, CalibratedCurves | None]


def infer_sample(
    panel: ForecastPanel,
    fits: Mapping[str, Corp],
    sample: SampleSummary,
    models: Mapping[str, ModelScores],
    measures: list[Measure],
    settings: EvaluationSettings,
    *,
    points: int | None = None,
) -> SampleInference:
    """Compute intervals for every number of a sample, and tests of calibration by miscalibration.

    The draws of the tests are kept as curves at about `points` points, if these are given.
    """
    bootstrapped = _bootstrap_scores(panel, models, measures, settings)

    def infer(place: int) -> _ModelInference:
        return _infer_model(bootstrapped[place], panel, fits, measures, settings, points)

    calls = call_together(infer, len(models), rows=len(panel.outcome))
    inferred = list(calls if points is None else parts(calls, len(models)))  # groups are parts themselves
    return SampleInference(
        sample=infer_prevalence(sample, panel, measures, settings),
        models={found.scores.model: found.scores for found in inferred},
        overfits={found.scores.model: found.overfits for found in inferred},
        blocks={found.scores.model: found.blocks for found in inferred},
        curves={found.scores.model: found.curves for found in inferred},
    )


class _ModelInference(NamedTuple):
    """What `SampleInference` has of one model."""

    scores: ModelScores
    overfits: list[Overfit]
    blocks: Blocks
    curves: CalibratedCurves | None


def _infer_model(
    known: ModelScores,
    panel: ForecastPanel,
    fits: Mapping[str, Corp],
    measures: list[Measure],
    settings: EvaluationSettings,
    points: int | None,
) -> _ModelInference:
    """Compute the tests of miscalibration and the intervals of the components of a model."""
    fit = fits[known.model]
    overfits = estimate_overfit(
        fit.sample,
        measures,
        draws=None if settings.resamples is None else _OVERFIT_DRAWS,
        seed=settings.seed,
    )
    resamples = choose_resamples(settings.resamples, settings.band_level)
    null = draw_null(
        fit,
        measures,
        resamples=resamples,
        seed=settings.seed,
        points=points,
        known=[part.miscalibration for part in known.decompositions],
    )
    tests = judge_miscalibration(fit, null)
    note = warn_of_few_events(*fit.sample.counts, are_effective=not fit.sample.units.are_repeated_rows)
    few = find_few_values(fit.sample, settings.level)
    blocks = fit.blocks
    tests = [note_independence(test) for test in tests] if needs_time(panel) else tests
    del fit  # with many rows, memory holds one fit at a time
    scored = score_cases(known.model, blocks, panel, measures, overfits)
    found = _add_components(known, scored, tests, note, panel, settings)
    return _ModelInference(_correct_few_values(found, few, measures), overfits, blocks, null.curves)


def _bootstrap_scores(
    panel: ForecastPanel,
    models: Mapping[str, ModelScores],
    measures: list[Measure],
    settings: EvaluationSettings,
) -> list[ModelScores]:
    """Intervals of all mean scores and skills; what they come from is not kept: it may hold every score."""
    if settings.resamples is None:
        boot = infer_means(
            panel,
            measures,
            level=settings.level,
            method=settings.interval_method,
            seed=settings.seed,
            means=_name_means(models, measures),
        )
    else:
        boot = bootstrap_panel(panel, measures, resamples=settings.resamples, seed=settings.seed, whole=False)
    scored = list(models.values())

    def add_intervals(place: int) -> ModelScores:
        known = scored[place]
        return replace(known, scores=tuple(_add_intervals(known, panel, boot, settings)))

    return list(call_together(add_intervals, len(scored), rows=len(panel.outcome)))


def _name_means(models: Mapping[str, ModelScores], measures: list[Measure]) -> dict[tuple[str, str], float]:
    """The mean scores by model and label of the measure."""
    return {
        (name, measure.label): part.score
        for name, known in models.items()
        for measure, part in zip(measures, known.decompositions, strict=True)
    }


def score_cases(
    name: str, blocks: Blocks, panel: ForecastPanel, measures: list[Measure], overfits: list[Overfit]
) -> Iterator[ScoredModel]:
    """A model under one measure after the other, to save memory."""
    forecast = panel.forecasts[name]
    places = place_in_blocks(panel.outcome, forecast, blocks, panel.orders.known(name))
    for measure, overfit in zip(measures, overfits, strict=True):
        losses = FittedLosses(measure, panel.outcome, forecast, blocks, places)
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
            is_shown=is_miscalibrated(test, settings.level),
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
            interval = estimate_auc(order_by_forecast(panel, known.model), settings.level)
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


def adjust_scores(scores: Mapping[str, ModelScores]) -> dict[str, ModelScores]:
    """Adjust the p-values of tests of miscalibration over the models, by Holm; not for one model."""
    if len(scores) < 2:
        return dict(scores)
    tests = adjust_tests([of_model.miscalibration_tests for of_model in scores.values()])
    return {
        name: replace(of_model, miscalibration_tests=adjusted)
        for (name, of_model), adjusted in zip(scores.items(), tests, strict=True)
    }
