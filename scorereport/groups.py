"""The same evaluation by subgroup and by period of time, and whether groups differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.checks import check_option
from scorereport.errors import UsageError
from scorereport.inference.components import FEW_EVENTS
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.outcomes import holm
from scorereport.inference.panel import make_panel
from scorereport.reliability.fit import corp
from scorereport.results import GroupResult, Heterogeneity
from scorereport.sampling import are_counts
from scorereport.summaries import describe_sample, score_fit
from scorereport.uncertainty import infer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorereport.arrays import IntArray
    from scorereport.inference.outcomes import HypothesisTest
    from scorereport.inference.panel import Panel
    from scorereport.predictions import Predictions
    from scorereport.reliability.fit import Corp
    from scorereport.results import ModelScores, Settings

#: From the longest period to the shortest, with how it is written; quarters have no code of their own.
WINDOWS = {"year": "%Y", "quarter": "", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}
#: Periods that a table and a chart can show; the shortest window that makes no more is chosen.
_MOST_WINDOWS = 24
#: With more groups in a column each is scored, but nothing is drawn for it.
MOST_GROUPS_WITH_INTERVALS = 100
_COMPARED = ("brier", "log_loss", "roc_auc")


def panel_of(predictions: Predictions, rows: Any = slice(None)) -> Panel:
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
        cluster=cluster,
        time=time,
        counted=are_counts(predictions.weight),
    )


def fit_panel(panel: Panel) -> dict[str, Corp]:
    """A CORP fit for each forecast."""
    fits = {
        name: corp(panel.outcome, p, panel.weight, cluster=panel.cluster)
        for name, p in panel.forecasts.items()
    }
    return {name: replace(fit, counted=panel.units.are_repeated_rows) for name, fit in fits.items()}


def evaluate_groups(
    predictions: Predictions, column: str, labels: NDArray[Any], settings: Settings
) -> list[GroupResult]:
    """Evaluate each group of a column by itself; groups without weight are left out, a note says so."""
    groups = [(label, rows) for label, rows in rows_by_label(labels) if has_weight(predictions, rows)]
    infers = settings.resamples > 0 and len(groups) <= MOST_GROUPS_WITH_INTERVALS
    return _adjust_tests(
        [_evaluate_group(predictions, column, label, rows, settings, infers=infers) for label, rows in groups]
    )


def _adjust_tests(groups: list[GroupResult]) -> list[GroupResult]:
    """Adjust the p-values of each model's tests of calibration over the groups, by Holm."""
    scored = [group for group in groups if group.models]
    p_values = [[[t.p_value for t in m.miscalibration_tests] for m in group.models] for group in scored]
    if not scored or not p_values[0][0]:
        return groups
    adjusted = np.apply_along_axis(holm, 0, np.array(p_values)).tolist()
    mended = {
        group.label: replace(group, models=tuple(map(_with_adjusted, group.models, of_group)))
        for group, of_group in zip(scored, adjusted, strict=True)
    }
    return [mended.get(group.label, group) for group in groups]


def _with_adjusted(scores: ModelScores, p_values: list[float]) -> ModelScores:
    tests = zip(scores.miscalibration_tests, p_values, strict=True)
    return replace(scores, miscalibration_tests=tuple(replace(t, p_value_holm=p) for t, p in tests))


def _evaluate_group(
    predictions: Predictions, column: str, label: str, rows: IntArray, settings: Settings, *, infers: bool
) -> GroupResult:
    panel = panel_of(predictions, rows)
    fits = fit_panel(panel)
    sample = describe_sample(len(rows), next(iter(fits.values())))
    if len(rows) < settings.smallest_group:
        note = f"Fewer than {settings.smallest_group} rows: counted, not scored."
        return GroupResult(column=column, label=label, sample=sample, models=(), note=note)
    models = {name: score_fit(name, fit, settings) for name, fit in fits.items()}
    if infers:
        inferred = infer(panel, fits, sample, models, settings)
        sample, models = inferred.sample, inferred.models
    return GroupResult(column=column, label=label, sample=sample, models=tuple(models.values()))


def examine_heterogeneity(
    predictions: Predictions, column: str, labels: NDArray[Any], groups: Sequence[GroupResult]
) -> list[Heterogeneity]:
    """Test for each model whether its scores, and its calibration, are the same in all groups.

    All tests of a column are adjusted for their number, by Holm.
    """
    found = list(_test_heterogeneity(predictions, column, labels, groups))
    adjusted = holm([item.test.p_value for item in found]).tolist()
    return [
        replace(item, test=replace(item.test, p_value_holm=p))
        for item, p in zip(found, adjusted, strict=True)
    ]


def _test_heterogeneity(
    predictions: Predictions, column: str, labels: NDArray[Any], groups: Sequence[GroupResult]
) -> Iterator[Heterogeneity]:
    scored = [group for group in groups if group.models and group.models[0].scores[0].interval is not None]
    if len(scored) < 2:
        return
    rows = np.flatnonzero(np.isin(labels, [group.label for group in scored]))
    weight = None if predictions.weight is None else predictions.weight[rows]
    cluster = None if predictions.cluster is None else predictions.cluster[rows]
    warnings = _warn_of_groups(scored)
    if cluster is not None and _span_groups(cluster, labels[rows]):
        warnings.append("Clusters span groups, which the test takes for independent.")
    for place, (model, forecast) in enumerate(predictions.forecasts.items()):
        of_groups = [group.models[place] for group in scored]
        compared = [_compare_scores(of_groups, name, warnings) for name in _COMPARED]
        calibrated = group_calibration_test(
            predictions.outcome[rows], forecast[rows], labels[rows], sample_weight=weight, cluster=cluster
        )
        tests = [test for test in (*compared, *calibrated) if test is not None]
        yield from (Heterogeneity(column=column, model=model, test=test) for test in tests)


def _warn_of_groups(groups: Sequence[GroupResult]) -> list[str]:
    """Errors that a test over groups rests on are rough where events are few."""
    fewest = min(min(g.sample.events, g.sample.total - g.sample.events) for g in groups)
    if fewest >= FEW_EVENTS:
        return []
    return [f"Some group has fewer than {FEW_EVENTS} events or non-events: the test may reject too often."]


def _span_groups(cluster: NDArray[Any], labels: NDArray[Any]) -> bool:
    """Whether rows of one cluster are found in several groups."""
    pairs = set(zip(cluster.tolist(), labels.tolist(), strict=True))
    return len(pairs) > len({one for one, _ in pairs})


def _compare_scores(
    models: Sequence[ModelScores], name: str, warnings: Sequence[str]
) -> HypothesisTest | None:
    """Cochran's Q over the groups in which the score and its error are known; None if too few."""
    intervals = [score.interval for m in models for score in m.scores if score.name == name]
    known = [i for i in intervals if i is not None and np.isfinite(i.value) and i.standard_error > 0]
    if len(known) < 2:
        return None
    test = cochran_q([i.value for i in known], [i.standard_error for i in known])
    notes = [test.note, *warnings]
    if left_out := len(models) - len(known):
        notes.append(f"{left_out} groups without a standard error are left out.")
    return replace(test, name=f"{test.name} ({name})", note=" ".join(notes))


def rows_by_label(labels: NDArray[Any]) -> Iterator[tuple[str, IntArray]]:
    """Each label, in order, with its rows; one pass however many labels there are."""
    import pandas as pd

    codes, names = pd.factorize(labels, sort=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return zip(names, rows, strict=True)


def has_weight(predictions: Predictions, rows: IntArray) -> bool:
    """Whether any of the rows counts."""
    return predictions.weight is None or bool(predictions.weight[rows].any())


def label_windows(time: NDArray[np.datetime64], window: str | None) -> NDArray[Any]:
    """The period that each time lies in, as text that sorts in time."""
    if window is not None:
        return _label(time, check_option(window, "window", WINDOWS))
    labelled = (_label(time, name) for name in reversed(WINDOWS))
    return next(
        (labels for labels in labelled if len(np.unique(labels)) <= _MOST_WINDOWS), _label(time, "year")
    )


def _label(time: NDArray[np.datetime64], window: str) -> NDArray[Any]:
    import pandas as pd

    stamps = pd.Series(time).dt
    if window == "quarter":
        return (stamps.year.astype(str) + "-Q" + stamps.quarter.astype(str)).to_numpy(dtype=object)
    return stamps.strftime(WINDOWS[window]).to_numpy(dtype=object)


def check_window(window: str | None, predictions: Predictions) -> None:
    """A window needs times."""
    if window is not None:
        check_option(window, "window", WINDOWS)
        if predictions.time is None:
            raise UsageError("`window` needs a column of times; name it as `time`.")
