"""Rows that give evidence: forecasts, outcomes and bounded scores of the counted rows of an audit."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from scorereport.configuration.limit_records import MeasurePart
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.evaluation.class_measures import choose_mean_measures
from scorereport.history.trend.evidence_factors import CountedRows, ScoreLimit, ScoreValues
from scorereport.history.trend.evidence_parts import CountedParts
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from scorereport._utils.arrays import FloatArray
    from scorereport.configuration.limits_table import LimitsTable
    from scorereport.inference.panel import PanelRows
    from scorereport.results.evaluation import Evaluation

#: The value at which a score without a largest value, such as the log loss, is cut. The mean of the cut score
#: is at most that of the score, so that evidence that it is above a limit stays evidence.
CUT_AT = 7.0


def list_score_limits(limits: LimitsTable, models: Collection[str]) -> tuple[ScoreLimit, ...]:
    """List the limits on means of scores, at which evaluations fail, or warn if there is no other limit."""
    return tuple(
        ScoreLimit(model=model, measure=measure.name, bound=bound, is_upper=is_upper)
        for measure, bounds in limits.bounds
        if measure.part is MeasurePart.MEAN and measure.argument is None and measure.score
        for bound, is_upper in (
            (bounds.fail_upper if bounds.fail_upper is not None else bounds.warn_upper, True),
            (bounds.fail_lower if bounds.fail_lower is not None else bounds.warn_lower, False),
        )
        if bound is not None
        for model in models
        if not limits.models or model in limits.models
    )


def count_rows(
    evaluation: Evaluation, panels: Iterable[PanelRows], limits: tuple[ScoreLimit, ...]
) -> CountedParts:
    """Return panels of rows with the scores that evidence needs: the main one, and limited ones."""
    names = tuple(dict.fromkeys([evaluation.main_score, *(limit.measure for limit in limits)]))
    classes = evaluation.data.classes
    labels = () if classes is None else classes.labels

    def score(panel: PanelRows) -> CountedRows:
        return CountedRows(
            panel=panel,
            labels=labels,
            scores=tuple(_list_scores(evaluation, panel, names)),
            compared=evaluation.main_score,
        )

    return CountedParts(panels=panels, score=score, labels=labels)


def _list_scores(evaluation: Evaluation, panel: PanelRows, names: tuple[str, ...]) -> Iterator[ScoreValues]:
    """Yield the bounded scores of all models; scores that are not means over rows are passed over."""
    functions = _find_functions(evaluation)
    for name in names:
        score = functions.get(name)
        if score is None or not isfinite(REGISTRY[name].lower):
            continue
        upper = CUT_AT if REGISTRY[name].upper == inf else float(REGISTRY[name].upper)
        yield ScoreValues(
            measure=name,
            upper=upper,
            by_model={
                model: np.clip(score(panel.outcome, forecast), 0.0, upper) / upper
                for model, forecast in panel.forecasts.items()
            },
        )


def _find_functions(evaluation: Evaluation) -> dict[str, Callable[[Any, FloatArray], FloatArray]]:
    """Return the scores of single rows by name."""
    if evaluation.kind == "binary":
        return {measure.name: measure.score for measure in choose_measures(evaluation.settings)}
    classes = evaluation.data.classes
    measures = choose_mean_measures(
        0 if classes is None else len(classes.labels),
        evaluation.settings,
        ordered=evaluation.kind == "ordinal",
    )
    return {measure.name: measure.score for measure in measures if measure.name != "expected_cost"}
