"""`Comparisons` of models of K classes: all pairs by each measure and by its components."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.class_bootstrap import ConfusionTables
from scorereport.inference.component_tests import contrast_components
from scorereport.inference.differences import compare_cases, describe_spread
from scorereport.inference.estimates import Difference, adjust_by_holm, rank_models
from scorereport.inference.mean_errors import (
    choose_errors,
    describe_errors,
    distribution_of_mean,
    mean_error,
    wald_test,
)
from scorereport.results.model_records import Comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation.class_assessment import Assessment, ClassMeasures
    from scorereport.evaluation.class_measures import MeanMeasure, TableMeasure
    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.results.settings import EvaluationSettings

    Pair = tuple[str, str]

#: A table measure is a smooth function of shares: its standard error is that of the mean influence of cases.
_DELTA_METHOD = "van der Vaart (1998), Asymptotic Statistics, ch. 3, doi:10.1017/CBO9780511802256"


def compare_class_models(
    found: Assessment, measures: ClassMeasures, settings: EvaluationSettings
) -> Comparisons:
    """Differences by each measure, ranks, and differences of miscalibration and discrimination."""
    panel = found.panel
    if len(panel.forecasts) < 2:
        return Comparisons()
    choice = choose_errors(panel, settings.level)
    pairs = list(combinations(panel.forecasts, 2))
    by_name = {m.name: [_compare_means(panel, pair, m, choice) for pair in pairs] for m in measures.means}
    tables = ConfusionTables(panel, measures.tables)
    by_name |= {
        m.name: [_compare_tables(panel, tables, pair, m, choice) for pair in pairs] for m in measures.tables
    }
    differences = [d for name in measures.names for d in adjust_by_holm(by_name[name])]
    ranks = rank_models(differences, alpha=round(1 - settings.level, 12))
    differences += _compare_components(found, pairs, choice)
    return Comparisons(differences=tuple(differences), ranks=ranks)


def _compare_means(panel: ClassPanel, pair: Pair, measure: MeanMeasure, choice: ErrorChoice) -> Difference:
    first, second = (measure.score(panel.outcome, panel.forecasts[name]) for name in pair)
    return compare_cases(
        panel,
        pair,
        (first, second),
        choice,
        measure=measure.name,
        higher_is_better=measure.higher_is_better,
    )


def _compare_tables(
    panel: ClassPanel, tables: ConfusionTables, pair: Pair, measure: TableMeasure, choice: ErrorChoice
) -> Difference:
    """The difference of two models in a measure of the confusion table, with errors by the delta method."""
    names = list(panel.forecasts)
    values = tables.values(panel.units.row_weight).reshape(len(tables.measures), len(names))
    of_models = dict(zip(names, values[tables.measures.index(measure)].tolist(), strict=True))
    first, second = (tables.influence(measure, name) for name in pair)
    value = of_models[pair[0]] - of_models[pair[1]]
    error = mean_error(panel, first - second, choice) if np.isfinite(value) else np.nan
    test = wald_test(value, error, choice.level, distribution_of_mean(panel, choice))
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=measure.name,
        first_value=of_models[pair[0]],
        second_value=of_models[pair[1]],
        value=value,
        standard_error=test.standard_error,
        lower=test.lower,
        upper=test.upper,
        statistic=test.statistic,
        p_value=test.p_value,
        level=choice.level,
        higher_is_better=True,
        null_hypothesis=f"Both models have the same {measure.name}.",
        method=f"delta method, {describe_errors(panel, choice)}",
        reference=_DELTA_METHOD,
        n=panel.units.total,
        note="The value is not defined: there is no test."
        if np.isnan(value)
        else describe_spread(panel, pair, value, error, choice),
    )


def _compare_components(found: Assessment, pairs: list[Pair], choice: ErrorChoice) -> Iterator[Difference]:
    """Paired differences of both components, each adjusted by Holm over the pairs."""
    for place in range(len(found.families)):
        scored = {name: found.scored(place, name) for name in found.panel.forecasts}
        contrasts = [contrast_components(scored[a], scored[b], found.panel, choice) for a, b in pairs]
        for component in zip(*contrasts, strict=True):
            yield from adjust_by_holm(component)
