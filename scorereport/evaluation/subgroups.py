"""Evaluations by subgroup and by period of time, and tests of whether groups differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_option
from scorereport._utils.choices import WINDOWS
from scorereport._utils.progress import parts, report_stage
from scorereport._utils.shared_work import count_worth, sharing_work
from scorereport._utils.work_plan import Stage
from scorereport.data.predictions import Predictions
from scorereport.errors import UsageError
from scorereport.inference.components import FEW_EVENTS
from scorereport.inference.delong import errors_at_common_auc
from scorereport.inference.estimates import Estimate, holm
from scorereport.inference.heterogeneity import compare_values, group_calibration_test
from scorereport.results.model_records import GroupResult, Heterogeneity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import Cases
    from scorereport.data.roles import Roles
    from scorereport.inference.estimates import HypothesisTest
    from scorereport.results.model_records import ModelScores, SampleSummary
    from scorereport.results.settings import EvaluationSettings

    #: Counts the cases of some rows and, if there are settings, scores them.
    ScoreRows = Callable[[IntArray, EvaluationSettings | None], tuple[SampleSummary, tuple[ModelScores, ...]]]

#: The most periods that a table and a chart can show: by default the shortest window with no more is chosen.
_MOST_WINDOWS = 24
#: With more groups in a column, groups are scored without resamples: there are no intervals or tests.
MOST_GROUPS_WITH_INTERVALS = 100
#: The scores that are compared between groups, of binary models and of K classes.
_COMPARED = ("brier", "log_loss", "roc_auc", "multiclass_brier", "multiclass_log_loss", "rps")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedResults:
    """The results of each group of each column, and of each period of the time column."""

    by_column: Mapping[str, tuple[GroupResult, ...]]
    windows: tuple[GroupResult, ...] = ()


def evaluate_groups(
    predictions: Cases, column: str, labels: NDArray[Any], settings: EvaluationSettings, score_rows: ScoreRows
) -> list[GroupResult]:
    """Evaluate each group of a column; groups without weight are left out, and a note lists them."""
    groups = [(label, rows) for label, rows in rows_by_label(labels) if has_weight(predictions, rows)]
    infers = settings.infers and len(groups) <= MOST_GROUPS_WITH_INTERVALS
    of_groups = settings if infers else replace(settings, resamples=0)
    small = f"Fewer than {settings.smallest_group} rows: counted, not scored."

    def evaluate(place: int) -> GroupResult:
        label, rows = groups[place]
        is_small = len(rows) < settings.smallest_group
        sample, models = score_rows(rows, None if is_small else of_groups)
        note = small if is_small else ""
        return GroupResult(column=column, label=label, sample=sample, models=models, note=note)

    largest = max((len(rows) for _, rows in groups), default=0)
    worth = count_worth(len(groups), largest) if infers else 1
    with sharing_work(evaluate, len(groups), worth=worth) as work:
        return _adjust_tests(work.collect())


def _adjust_tests(groups: list[GroupResult]) -> list[GroupResult]:
    """Adjust the p-values of each model's tests of calibration over the groups, by Holm."""
    scored = [group for group in groups if group.models]
    p_values = [[[t.p_value for t in m.miscalibration_tests] for m in group.models] for group in scored]
    if not scored or not p_values[0][0]:
        return groups
    adjusted = np.apply_along_axis(holm, 0, np.array(p_values)).tolist()
    with_adjusted = {
        group.label: replace(group, models=tuple(map(_with_adjusted, group.models, of_group)))
        for group, of_group in zip(scored, adjusted, strict=True)
    }
    return [with_adjusted.get(group.label, group) for group in groups]


def _with_adjusted(scores: ModelScores, p_values: list[float]) -> ModelScores:
    tests = zip(scores.miscalibration_tests, p_values, strict=True)
    return replace(scores, miscalibration_tests=tuple(replace(t, p_value_holm=p) for t, p in tests))


def evaluate_all_groups(
    predictions: Cases, settings: EvaluationSettings, score_rows: ScoreRows
) -> GroupedResults:
    """Evaluate the groups of each column, and the periods of the time column."""
    columns = len(predictions.groups) + (predictions.time is not None)
    if columns:
        report_stage(Stage.GROUPS)
    by_column = {
        column: tuple(evaluate_groups(predictions, column, labels, settings, score_rows))
        for column, labels in parts(predictions.groups.items(), columns)
    }
    if predictions.time is None:
        return GroupedResults(by_column=by_column)
    labels = label_windows(predictions.time, settings.window)
    windows = evaluate_groups(predictions, predictions.time_name, labels, settings, score_rows)
    return GroupedResults(by_column=by_column, windows=tuple(windows))


def compare_groups(
    predictions: Cases, groups: GroupedResults, settings: EvaluationSettings
) -> tuple[Heterogeneity, ...]:
    """Tests of whether the groups of each column differ; none without resamples."""
    if not settings.infers:
        return ()
    return tuple(
        found
        for column, of_column in groups.by_column.items()
        for found in examine_heterogeneity(predictions, column, predictions.groups[column], of_column)
    )


def examine_heterogeneity(
    predictions: Cases, column: str, labels: NDArray[Any], groups: Sequence[GroupResult]
) -> list[Heterogeneity]:
    """Test for each model whether its scores, and its calibration if binary, are the same in all groups.

    All tests of a column are adjusted for their number, by Holm.
    """
    return adjust_heterogeneity(list(_test_heterogeneity(predictions, column, labels, groups)))


def adjust_heterogeneity(found: Sequence[Heterogeneity]) -> list[Heterogeneity]:
    """Adjust the p-values of the tests of a column for their number, by Holm."""
    adjusted = holm([item.test.p_value for item in found]).tolist()
    return [
        replace(item, test=replace(item.test, p_value_holm=p))
        for item, p in zip(found, adjusted, strict=True)
    ]


def _test_heterogeneity(
    predictions: Cases, column: str, labels: NDArray[Any], groups: Sequence[GroupResult]
) -> Iterator[Heterogeneity]:
    scored = [group for group in groups if group.models and group.models[0].scores[0].interval is not None]
    if len(scored) < 2:
        return
    rows = np.flatnonzero(np.isin(labels, [group.label for group in scored]))
    warnings = warn_of_groups(scored)
    if predictions.cluster is not None and _span_groups(predictions.cluster[rows], labels[rows]):
        warnings.append("Clusters span groups, but the test takes groups as independent.")
    clustered = predictions.cluster is not None
    for place, model in enumerate(predictions.forecasts):
        tests = compare_group_scores(scored, place, warnings, clustered=clustered)
        if isinstance(predictions, Predictions):
            tests += _test_calibration(predictions, model, labels, rows)
        yield from (Heterogeneity(column=column, model=model, test=test) for test in tests)


def compare_group_scores(
    groups: Sequence[GroupResult], place: int, warnings: Sequence[str], *, clustered: bool
) -> list[HypothesisTest]:
    """Cochran's Q test of each score of the model at a place, over all groups in which it is known."""
    tests = (_compare_scores(groups, place, name, warnings, clustered=clustered) for name in _COMPARED)
    return [test for test in tests if test is not None]


def _test_calibration(
    predictions: Predictions, model: str, labels: NDArray[Any], rows: IntArray
) -> Sequence[HypothesisTest]:
    return group_calibration_test(
        predictions.outcome[rows],
        predictions.forecasts[model][rows],
        labels[rows],
        sample_weight=None if predictions.weight is None else predictions.weight[rows],
        weight_kind=predictions.weight_kind,
        cluster=None if predictions.cluster is None else predictions.cluster[rows],
    )


def warn_of_groups(groups: Sequence[GroupResult]) -> list[str]:
    """A warning if some group has few events, so that its standard errors are rough."""
    fewest = min(min(count_classes(group.sample)) for group in groups)
    if fewest >= FEW_EVENTS:
        return []
    what = "cases of a class" if groups[0].sample.classes else "events or non-events"
    return [f"Some group has fewer than {FEW_EVENTS} {what}: the test allows for that and has less power."]


def count_classes(sample: SampleSummary) -> tuple[float, ...]:
    """The number of rows of each class, Kish's if they carry sampling weights."""
    found = sample.independent
    if found is None or found.unit == "cluster":
        return sample.classes or (sample.events, sample.total - sample.events)
    return found.classes or (found.events, found.non_events)


def has_one_class(sample: SampleSummary) -> bool:
    """Whether all outcomes of a sample are the same."""
    return max(sample.classes or (sample.events, sample.total - sample.events)) == sample.total


def _span_groups(cluster: NDArray[Any], labels: NDArray[Any]) -> bool:
    """Whether rows of one cluster are in several groups."""
    pairs = set(zip(cluster.tolist(), labels.tolist(), strict=True))
    return len(pairs) > len({one for one, _ in pairs})


def _compare_scores(
    groups: Sequence[GroupResult], place: int, name: str, warnings: Sequence[str], *, clustered: bool
) -> HypothesisTest | None:
    """Cochran's Q test over the groups in which the score and its error are known; None if they are too few.

    Errors of scores have as many degrees of freedom as the rarest class has cases, less one, or those of
    their clusters. Errors of AUCs are computed at the common AUC; for rows, they then count as known.
    """
    known = [
        (score.interval, group.sample)
        for group in groups
        for score in group.models[place].scores
        if score.name == name and score.interval is not None and _is_known(score.interval)
    ]
    if len(known) < 2:
        return None
    values = np.array([interval.value for interval, _ in known])
    errors = np.array([interval.standard_error for interval, _ in known])
    cases = [count_classes(sample) for _, sample in known]
    freedom = np.array([max(min(of_classes) - 1, 1.0) for of_classes in cases])
    if name == "roc_auc":
        errors = errors_at_common_auc(values, errors, [(found[0], found[1]) for found in cases])
        freedom[:] = np.inf
    if clustered:
        freedom = np.array([interval.degrees_of_freedom or 1.0 for interval, _ in known])
    if not (errors > 0).all():
        return None
    test = compare_values(values, errors, freedom)
    notes = [test.note, *warnings]
    if left_out := len(groups) - len(known):
        notes.append(f"{left_out} groups without a standard error are left out.")
    return replace(test, name=f"{test.name} ({name})", note=" ".join(notes))


def _is_known(interval: Estimate) -> bool:
    """Whether there is a value with an error; an AUC of 0 or 1 gets its error from the common AUC."""
    is_separated = interval.measure == "roc_auc" and interval.value in {0, 1}
    return bool(np.isfinite(interval.value)) and (interval.standard_error > 0 or is_separated)


def rows_by_label(labels: NDArray[Any]) -> Iterator[tuple[str, IntArray]]:
    """Each label, in ascending order, with its rows; a single pass for any number of labels."""
    texts = labels.tolist()
    names = sorted(set(texts))
    places = {name: place for place, name in enumerate(names)}
    codes = np.fromiter((places[text] for text in texts), dtype=np.intp, count=len(texts))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return zip(names, rows, strict=True)


def has_weight(predictions: Cases, rows: IntArray) -> bool:
    """Whether any of the rows has a weight."""
    return predictions.weight is None or bool(predictions.weight[rows].any())


def label_windows(time: NDArray[np.datetime64], window: str | None) -> NDArray[Any]:
    """The period of each time, as text that sorts in the order of time."""
    if window is not None:
        return _label(time, check_option(window, "window", WINDOWS))
    labelled = (_label(time, name) for name in reversed(WINDOWS))
    return next(
        (labels for labels in labelled if len(np.unique(labels)) <= _MOST_WINDOWS), _label(time, "year")
    )


def _label(time: NDArray[np.datetime64], window: str) -> NDArray[Any]:
    days, places = np.unique(time.astype("datetime64[D]"), return_inverse=True)
    dates: list[date] = days.tolist()
    if window == "quarter":
        texts = [f"{day.year}-Q{(day.month + 2) // 3}" for day in dates]
    else:
        texts = [day.strftime(WINDOWS[window]) for day in dates]
    return np.array(texts, dtype=object)[places]


def check_window(window: str | None, columns: Cases | Roles) -> None:
    """Refuse a window without a time column, or an unknown one."""
    if window is not None:
        check_option(window, "window", WINDOWS)
        if columns.time is None:
            raise UsageError("`window` needs a column of times; name it as `time`.")
