"""Tables of the comparison with a reference sample: stability of forecasts and groups, and changes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import (
    common_decimals,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_plain,
)
from scorereport.report.tables.table import (
    Table,
    distinct_decimals,
    format_columns,
    interval_text,
    score_label,
    section_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import HypothesisTest
    from scorereport.inference.population_stability import Stability
    from scorereport.inference.sample_changes import Change
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.reference_records import ReferenceComparison

#: What the names of changes add to that of a score.
_WORDS = {
    "skill": "skill, {score}",
    "corrected miscalibration": "corrected MCB, {score}",
    "corrected discrimination": "corrected DSC, {score}",
}
#: The changes that every report shows; the others are in the full report.
MAIN_CHANGES = (
    "brier",
    "brier skill",
    "log_loss",
    "roc_auc",
    "brier corrected miscalibration",
    "brier corrected discrimination",
)


def _name_reference(stability: Stability) -> str:
    """The name of the file of a reference sample and the beginning of its hash; empty for a frame."""
    if not stability.source_sha256:
        return ""
    return f" {stability.source} (SHA-256 {stability.source_sha256[:12]}…)"


def stability_table(
    found: Sequence[Stability] | None, comparison: ReferenceComparison | None = None
) -> Table | None:
    """Table of the stability index of each model against a reference sample, with tests; None without one."""
    if not found:
        return None
    level = format_level(found[0].index.level)
    tests = [() if comparison is None else comparison.find(one.model).tests for one in found]
    heads = ("chi-square", "KS distance")[: len(tests[0])]
    adjusted = "; p-values are adjusted for the number of models" if len(found) > 1 and heads else ""
    return Table(
        caption=f"Forecasts against the reference sample{_name_reference(found[0])}: population stability "
        f"index (PSI) over bins that hold equal shares of the reference, with {level} interval for the index "
        f"without the part that chance adds{', and tests of equal distribution' if heads else ''}{adjusted}",
        heads=(
            "model",
            "PSI",
            "interval",
            *(x for head in heads for x in (head, "p")),
            "bins",
            "reference rows",
        ),
        rows=tuple(
            (
                one.model,
                format_number(one.index.value, 4),
                interval_text(one.index, 4),
                *(text for test in of_model for text in _test_texts(test)),
                str(len(one.ends) + 1),
                format_count(one.reference_size),
            )
            for one, of_model in zip(found, tests, strict=True)
        ),
    )


def _test_texts(test: HypothesisTest) -> tuple[str, str]:
    decimals = 1 if test.degrees_of_freedom is not None else 4
    return format_number(test.statistic, decimals), format_p_value(_deciding_p_value(test))


def _deciding_p_value(found: HypothesisTest | Change) -> float:
    return found.p_value if found.p_value_holm is None else found.p_value_holm


def bins_table(stability: Stability) -> Table:
    """Table of the shares of both samples in each bin, and its part of the index."""
    ends = ["", *(format_plain(end, 4) for end in stability.ends), ""]
    labels = [
        f"{lower} < p ≤ {upper}" if lower and upper else f"p ≤ {upper}" if upper else f"p > {lower}"
        for lower, upper in pairwise(ends)
    ]
    now, before = stability.sample, stability.reference
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (now - before) * np.log(now / before)
    return Table(
        caption=f"Forecasts of {stability.model} by bin: shares in the reference sample and in this sample, "
        "and the part of the PSI; in an empty bin the index counts half a case",
        heads=("forecasts", "reference", "this sample", "part of the PSI"),
        rows=tuple(
            (label if len(labels) > 1 else "all", format_percent(old), format_percent(new), _part_text(part))
            for label, old, new, part in zip(
                labels, before.tolist(), now.tolist(), parts.tolist(), strict=True
            )
        ),
    )


def _part_text(part: float) -> str:
    return format_number(part, 4) if np.isfinite(part) else "empty bin"


def column_table(comparison: ReferenceComparison | None, level: str) -> Table | None:
    """Table of the stability of the shares of groups; None if the reference has no column of groups."""
    if comparison is None or not comparison.columns:
        return None
    adjusted = "; p-values are adjusted for the number of columns" if len(comparison.columns) > 1 else ""
    return Table(
        caption="Shares of groups against the reference sample: population stability index of each column "
        f"with {level} interval, and chi-square test{adjusted}",
        heads=("groups", "PSI", "interval", "chi-square", "p", "labels", "largest change"),
        rows=tuple(
            (
                found.column,
                format_number(found.index.value, 4),
                interval_text(found.index, 4),
                *_test_texts(found.test),
                str(len(found.labels)),
                _largest_change(found.labels, found.sample, found.reference),
            )
            for found in comparison.columns
        ),
    )


def _largest_change(labels: Sequence[str], now: Sequence[float], before: Sequence[float]) -> str:
    changes = np.subtract(now, before)
    place = int(np.argmax(np.round(np.abs(changes), 12)))
    return f"{labels[place]}: {format_percent(before[place])} to {format_percent(now[place])}"


def rate_table(comparison: ReferenceComparison | None, level: str) -> Table | None:
    """Table of the parts of the change of the event rate for each model; None without outcomes there."""
    if comparison is None or comparison.prevalence is None:
        return None
    total = comparison.prevalence
    known = [found.rate for found in comparison.models if found.rate is not None]
    adjusted = "; p-values are adjusted for the number of models" if len(known) > 1 else ""
    return Table(
        caption=f"The event rate, {format_percent(total.reference)} in the reference sample and "
        f"{format_percent(total.sample)} in this sample, differs by {_points(total)} percentage "
        "points, which are the sum of two parts: what follows from the shift of forecasts, and the change of "
        f"calibration; in points, with {level} intervals{adjusted}",
        heads=(
            "model",
            "expected rate",
            "shift of forecasts",
            "interval",
            "change of calibration",
            "interval",
            "p",
        ),
        rows=tuple(
            (
                rate.model,
                format_percent(rate.forecasts.sample),
                *_points_cells(rate.forecasts),
                *_points_cells(rate.calibration),
                format_p_value(_deciding_p_value(rate.calibration)),
            )
            for rate in known
        ),
    )


def _points_cells(change: Change) -> tuple[str, str]:
    lower, upper = 100 * change.lower, 100 * change.upper
    decimals = distinct_decimals(lower, upper, 1)
    return format_number(100 * change.value, decimals), format_interval(lower, upper, decimals)


def _points(change: Change) -> str:
    return " ".join(_points_cells(change)).rstrip()


def change_table(evaluation: Evaluation, level: str, *, is_main: bool = True) -> Table | None:
    """Table of scores and components side by side, the main ones or all others; None without outcomes."""
    comparison = evaluation.reference
    if comparison is None or not comparison.models[0].changes:
        return None
    measures = [
        change.measure
        for change in comparison.models[0].changes
        if (change.measure in MAIN_CHANGES) == is_main and change.measure != "roc_auc skill"
    ]
    rows = []
    for measure in measures:
        changes = [(found.model, found.change(measure)) for found in comparison.models]
        known = [(model, change) for model, change in changes if change is not None]
        decimals = common_decimals([v for _, change in known for v in (change.reference, change.sample)])
        rows += [(_name_change(measure), model, *_change_cells(change, decimals)) for model, change in known]
    several = len(comparison.models) > 1
    adjusted = "; p-values are adjusted for the number of models" if several else ""
    return Table(
        caption=f"{'Scores' if is_main else 'Other scores'} in the reference sample and in this sample, and "
        f"their change with {level} interval and test{adjusted}",
        heads=("number", "model", "reference", "this sample", "change", "interval", "p"),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(comparison.models),
    )


def _name_change(measure: str) -> str:
    score, _, what = measure.partition(" ")
    label = score_label(score)
    return _WORDS[what].format(score=label) if what else label


def _change_cells(change: Change, decimals: int) -> tuple[str, ...]:
    return (
        *(format_number(value, decimals) for value in (change.reference, change.sample, change.value)),
        format_interval(change.lower, change.upper, decimals),
        format_p_value(_deciding_p_value(change)),
    )


def component_change_table(evaluation: Evaluation) -> Table | None:
    """Table of the change of the Brier score by its raw components, which add up; None without outcomes."""
    comparison = evaluation.reference
    if comparison is None or comparison.models[0].scores is None:
        return None
    names, numbers = [], []
    for now, found in zip(evaluation.models, comparison.models, strict=True):
        if found.scores is None:
            continue
        new, old = now.scores.decomposition("brier"), found.scores.decomposition("brier")
        names.append(now.model)
        numbers.append(
            [
                new.score - old.score,
                new.miscalibration - old.miscalibration,
                old.discrimination - new.discrimination,
                new.uncertainty - old.uncertainty,
            ]
        )
    return Table(
        caption="Change of the Brier score since the reference sample, as the sum of three changes: of MCB "
        "(calibration), of DSC with the opposite sign (discrimination), and of UNC (prevalence); MCB and DSC "
        "as measured, not corrected",
        heads=("model", "Brier score", "MCB", "−DSC", "UNC"),
        rows=tuple((name, *cells) for name, cells in zip(names, format_columns(numbers), strict=True)),
    )
