"""Notes that accompany the numbers of an evaluation, in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import SUM_TOLERANCE
from scorereport._utils.formatting import format_count, format_counted, format_plain
from scorereport._utils.row_places import name_some
from scorereport.data.predictions import ClassPredictions
from scorereport.evaluation.subgroups import (
    MOST_GROUPS_WITH_INTERVALS,
    has_one_class,
    has_weight,
    label_windows,
    rows_by_label,
)
from scorereport.inference.components import find_few_events
from scorereport.inference.mean_errors import describe_few_draws
from scorereport.inference.recalibration import FEWEST_EVENTS
from scorereport.reliability.sampling import SamplingUnits
from scorereport.scores.multiclass import true_class_probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import Cases, Predictions, RescaledRows, RowFlow
    from scorereport.results.model_records import GroupResult, ModelResult
    from scorereport.results.settings import EvaluationSettings


#: Notes of evaluations with times whose numbers all take rows, or clusters, as independent.
INDEPENDENT_IN_TIME = "Rows are taken as independent, in time as well."
CLUSTERS_INDEPENDENT_IN_TIME = "Clusters are taken as independent of each other, in time as well."
_OTHERS_INDEPENDENT = "all other intervals, bands and tests take rows as independent."


def describe_rows_and_models(predictions: Predictions, settings: EvaluationSettings) -> Iterator[str]:
    """Notes on the outcomes, on refuted forecasts, and on groups without weight."""
    counts = slice(None) if predictions.weight is None else np.flatnonzero(predictions.weight)
    outcome = predictions.outcome[counts]
    weight = None if predictions.weight is None else predictions.weight[counts]
    if outcome.min() == outcome.max():
        yield "All outcomes are the same: AUC and skill are not defined."
    elif settings.infers:
        units = SamplingUnits(rows=len(outcome), weight=weight, weight_kind=predictions.weight_kind)
        yield from describe_few_events(
            units.count(outcome == 1), units.count(outcome == 0), are_effective=not units.are_repeated_rows
        )
    if settings.infers:
        yield from describe_dependence(predictions)
        yield from _describe_left_out(predictions)
    rows = np.arange(len(predictions)) if predictions.rows is None else predictions.rows
    for name, forecast in predictions.forecasts.items():
        is_refuted = np.abs(forecast[counts] - outcome) == 1
        if is_refuted.any():
            refuted = np.sort(rows[counts][is_refuted])
            yield describe_refuted(name, len(refuted), refuted)
    yield from describe_groups_without_weight(predictions, settings)


def describe_missing_recalibration(
    models: Iterable[ModelResult], settings: EvaluationSettings
) -> Iterator[str]:
    """Explain why no recalibration was tried; nothing if one was, or if there are no resamples."""
    if settings.infers and not any(model.recalibration for model in models):
        yield (
            f"Recalibration is left out: it needs at least {FEWEST_EVENTS} events and {FEWEST_EVENTS} "
            "non-events, spread over its folds."
        )


def describe_unbounded(row_flow: RowFlow, outcome: str, *, engine: str) -> Iterator[str]:
    """Explain why there are no bounds over missing or immature outcomes; nothing if there are none."""
    counts = {
        "missing": any(column.column == outcome and column.rows for column in row_flow.missing),
        "immature": row_flow.immature_rows,
    }
    kinds = [kind for kind, count in counts.items() if count]
    if not kinds:
        return
    reason = "the rows without an outcome lack other values as well, or have no weight."
    if engine != "memory":
        reason = f"they need the rows in memory, and the engine {engine!r} does not keep them."
    yield f"Bounds over the {' and '.join(kinds)} outcomes are left out: {reason}"


def describe_groups(
    by_column: Iterable[tuple[str, Sequence[GroupResult]]], settings: EvaluationSettings
) -> Iterator[str]:
    """Notes on the groups of each column, and on the periods of the time column."""
    for column, groups in by_column:
        one_class = [g.label for g in groups if g.models and has_one_class(g.sample)]
        if one_class:
            shown = name_some(one_class)
            what = "skill is" if groups[0].sample.classes else "AUC and skill are"
            yield f"{column}: {what} not defined where all outcomes are the same ({shown})."
        yield from _describe_limits(column, groups, settings)


def _describe_limits(
    column: str, groups: Sequence[GroupResult], settings: EvaluationSettings
) -> Iterator[str]:
    small = [group.label for group in groups if not group.models]
    if small:
        yield (
            f"{column}: groups of fewer than {settings.smallest_group} rows are counted, not scored "
            f"({len(small)} of {len(groups)})."
        )
    if not settings.infers:
        return
    tested = len(groups) - len(small)
    if len(groups) > MOST_GROUPS_WITH_INTERVALS:
        yield f"{column}: no intervals, because it has more than {MOST_GROUPS_WITH_INTERVALS} groups."
    elif tested > 1 and any(model.miscalibration_tests for group in groups for model in group.models):
        yield (
            f"{column}: p-values of groups are not adjusted; Holm's p-values are adjusted for all {tested} "
            "groups."
        )


def describe_dependence(predictions: Cases) -> Iterator[str]:
    """Notes on how dependence between rows, in time or within clusters, is taken into account."""
    if predictions.time is not None and predictions.cluster is None:
        of_classes = isinstance(predictions, ClassPredictions)
        others = "kappa, F1" if of_classes else "AUC"
        line = "" if of_classes else ", the calibration line and the tests of sums and of the line"
        yield (
            f"Differences of scores, {others}, miscalibration and discrimination{line} allow for dependence "
            f"in time; {_OTHERS_INDEPENDENT}"
        )
    if predictions.cluster is not None:
        if predictions.time is not None:
            yield CLUSTERS_INDEPENDENT_IN_TIME
        _, cluster = np.unique(predictions.cluster, return_inverse=True)
        warning = describe_few_draws(
            SamplingUnits(rows=len(cluster), weight=predictions.weight, cluster=cluster)
        )
        yield from [warning] if warning else []


def find_time_note(notes: Iterable[str]) -> str:
    """The note on numbers that take rows as independent in time; empty if there is none."""
    ends = (INDEPENDENT_IN_TIME, CLUSTERS_INDEPENDENT_IN_TIME, _OTHERS_INDEPENDENT)
    return next((note for note in notes if note.endswith(ends)), "")


def _describe_left_out(predictions: Predictions) -> Iterator[str]:
    repeated = predictions.weight is None or predictions.weight_kind == "frequency"
    if predictions.cluster is not None:
        yield "The Hosmer-Lemeshow test and the honest band are left out: they need independent rows."
    elif not repeated:
        yield "The honest band is left out: it needs rows without weights, or frequency weights."
    if predictions.grade is not None and not repeated:
        yield "The tests by grade are left out: they need rows without weights, or frequency weights."
    elif predictions.grade is not None and predictions.cluster is not None:
        yield "The tests by grade take rows as independent."


def describe_few_events(events: float, non_events: float, *, are_effective: bool) -> Iterator[str]:
    """A warning if events or non-events are few; with sampling weights the numbers are effective ones."""
    few = find_few_events(events, non_events, are_effective=are_effective)
    if few is not None:
        yield few.warn("intervals say")


_INFINITE = "the log score is infinite, because"


def find_refuted_note(notes: Iterable[str], model: str) -> str:
    """The note on the forecasts that make the log score of a model infinite; empty if there is none."""
    return next((note for note in notes if note.startswith(f"{model}: {_INFINITE}")), "")


def describe_refuted(model: str, count: int, rows: Sequence[int] | IntArray) -> str:
    """State how many forecasts were certain and wrong, and in which rows some of them are, if known."""
    cases = "1 forecast was" if count == 1 else f"{count} forecasts were"
    where = f" (row {name_some(rows)})" if len(rows) else ""
    return f"{model}: {_INFINITE} {cases} 0 for an event or 1 for a non-event{where}."


def describe_groups_without_weight(predictions: Cases, settings: EvaluationSettings) -> Iterator[str]:
    """Notes on groups that are left out because none of their rows has a weight."""
    if predictions.weight is None:
        return
    columns = list(predictions.groups.items())
    if predictions.time is not None:
        columns.append((predictions.time_name, label_windows(predictions.time, settings.window)))
    for column, labels in columns:
        for label, members in rows_by_label(labels):
            if not has_weight(predictions, members):
                yield describe_weightless(column, label, len(members))


def describe_weightless(column: str, label: str, rows: int) -> str:
    """Explain why a group is left out."""
    return f"{column} = {label} is left out: its {rows} rows have no weight."


def describe_classes_and_models(predictions: ClassPredictions) -> Iterator[str]:
    """Notes on classes that were never observed, rescaled rows, ties, and refuted forecasts."""
    yield from _describe_absent(predictions)
    for rescaled in predictions.rescaled:
        yield _describe_rescaled(rescaled, len(predictions))
    counts = slice(None) if predictions.weight is None else np.flatnonzero(predictions.weight)
    rows = np.arange(len(predictions)) if predictions.rows is None else predictions.rows
    outcome = predictions.outcome[counts]
    for name, forecast in predictions.forecasts.items():
        table = forecast[counts]
        is_refuted = true_class_probability(outcome, table) == 0
        if is_refuted.any():
            yield _describe_refuted(name, rows[counts][is_refuted].tolist())
        tied = int(((table == table.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
        if tied:
            yield (
                f"{name}: in {format_counted(tied, 'case')} several classes share the highest probability; "
                "the first of them is the predicted class."
            )


def _describe_rescaled(rescaled: RescaledRows, rows: int) -> str:
    action = f"{rescaled.model}: the probabilities of each row were divided by their sum, as requested; "
    if not rescaled.rows:
        return f"{action}before, every row summed to 1 within {format_plain(SUM_TOLERANCE)}."
    return (
        f"{action}before, {format_count(rescaled.rows)} of {format_counted(rows, 'row')} did not sum to 1 "
        f"within {format_plain(SUM_TOLERANCE)}; the sum furthest from 1 was "
        f"{format_plain(rescaled.furthest_sum, 10)}."
    )


def _describe_absent(predictions: ClassPredictions) -> Iterator[str]:
    weights = np.bincount(predictions.outcome, weights=predictions.weight, minlength=len(predictions.classes))
    absent = [label for label, weight in zip(predictions.classes, weights, strict=True) if weight == 0]
    if len(absent) == len(predictions.classes) - 1:
        yield "All cases are of one class: skill is not defined."
    elif absent:
        what = "One class was" if len(absent) == 1 else f"{len(absent)} classes were"
        them = "it" if len(absent) == 1 else "them"
        yield f"{what} never observed ({name_some(absent)}); forecasts of {them} are scored."


def _describe_refuted(model: str, rows: list[int]) -> str:
    cases = "1 case" if len(rows) == 1 else f"{len(rows)} cases"
    return (
        f"{model}: {_INFINITE} in {cases} the forecast of the observed class was 0 "
        f"({'row' if len(rows) == 1 else 'rows'} {name_some(rows)})."
    )
