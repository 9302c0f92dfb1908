"""`Comparisons` of binary models: all pairs by each score, by its components, and by Murphy curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from scorereport._utils.progress import parts, report_stage
from scorereport._utils.work_plan import Stage
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.evaluation.decision_thresholds import choose_compared_thresholds
from scorereport.evaluation.model_scores import score_cases
from scorereport.inference.component_tests import contrast_component
from scorereport.inference.components import COMPONENTS
from scorereport.inference.decision_differences import compare_decisions
from scorereport.inference.differences import AUC, compare_panel
from scorereport.inference.dominance import compare_costs, murphy_difference
from scorereport.inference.estimates import adjust_by_holm, rank_models
from scorereport.inference.mean_errors import choose_errors
from scorereport.results.model_records import Comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.evaluation.model_scores import SampleInference
    from scorereport.inference.component_tests import ScoredModel
    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.inference.dominance import MurphyDifference
    from scorereport.inference.estimates import Difference
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.panel import ForecastPanel
    from scorereport.results.settings import EvaluationSettings


def compare_model_pairs(
    panel: ForecastPanel, inferred: SampleInference, settings: EvaluationSettings
) -> Comparisons:
    """Compare every pair of models by every measure, and by its miscalibration and discrimination.

    The decisions of a single model are compared with treating all and none.
    """
    if len(panel.forecasts) < 2:
        return Comparisons(decisions=_compare_decisions(panel, settings))
    report_stage(Stage.COMPARISONS)
    choice, measures = choose_errors(panel, settings.level), choose_measures(settings)
    differences = list(compare_panel(panel, [*measures, AUC], choice))
    ranks = rank_models(differences, alpha=1 - settings.level)
    scored = [
        score_cases(name, blocks, panel, measures, inferred.overfits[name])
        for name, blocks in inferred.blocks.items()
    ]
    differences += _compare_components(panel, scored, choice)
    return Comparisons(
        differences=tuple(differences),
        ranks=ranks,
        murphy=tuple(_compare_costs(panel, settings)),
        decisions=_compare_decisions(panel, settings),
    )


def _compare_decisions(panel: ForecastPanel, settings: EvaluationSettings) -> tuple[DecisionDifference, ...]:
    return compare_decisions(
        panel,
        choose_compared_thresholds(settings),
        level=settings.level,
        seed=settings.seed,
        resamples=settings.resamples,
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
    pairs = list(combinations(panel.forecasts, 2))
    for first, second in parts(pairs, len(pairs)):
        if settings.resamples is None:
            forecasts = {name: panel.forecasts[name] for name in (first, second)}
            pair = replace(panel, forecasts=forecasts, time=None)
            yield compare_costs(pair, (first, second), level=settings.band_level, seed=settings.seed)
            continue
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
