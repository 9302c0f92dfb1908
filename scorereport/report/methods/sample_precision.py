"""Sample size: the precision of the main intervals, and counts that are too small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_count,
    format_counted,
    format_level,
    format_number,
    join_words,
)
from scorereport.report.methods.notation import SNELL_2021, VERGOUWE_2005, cite
from scorereport.report.tables.table import Table, distinct_decimals, score_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Estimate
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import DataSummary, ModelResult, SampleSummary

#: A rule of thumb requires this many events and this many non-events.
_ENOUGH = 100
#: Most classes that are named; further ones are counted.
_MOST_NAMED = 4
#: Narrower intervals have a width only because of rounding.
_NO_WIDTH = 1e-12
#: An effective number of cases this close to a whole number counts as whole.
_ROUNDING = 1e-6


def precision_table(evaluation: Evaluation) -> Table | None:
    """Table of half the width of the main intervals; None without intervals."""
    if evaluation.results[0].scores.scores[0].interval is None:
        return None
    is_binary = evaluation.kind == "binary"
    names = ("brier", "roc_auc") if is_binary else (evaluation.main_score, "multiclass_log_loss", "accuracy")
    results: Sequence[ModelResult | ClassModelResult] = evaluation.results
    widths = [[_half_width(m.scores.score(name).interval) for name in names] for m in results]
    heads = ["AUC" if name == "roc_auc" else score_label(name) for name in names]
    if is_binary:
        heads.append("calibration slope")
        slopes = [None if m.calibration is None else m.calibration.line.slope for m in evaluation.models]
        widths = [[*row, _half_width(slope)] for row, slope in zip(widths, slopes, strict=True)]
    decimals = [common_decimals(column) for column in zip(*widths, strict=True)]
    return Table(
        caption=f"Precision reached: half the width of the {format_level(evaluation.settings.level)} "
        "intervals; smaller is more precise",
        heads=("model", *(f"{head} ±" for head in heads)),
        rows=tuple(
            (result.model, *(format_number(v, d) for v, d in zip(row, decimals, strict=True)))
            for result, row in zip(results, widths, strict=True)
        ),
    )


def _half_width(estimate: Estimate | None) -> float:
    """Return half the width of an interval; NaN where nothing varies, which does not show precision."""
    width = float("nan") if estimate is None else estimate.upper - estimate.lower
    return width / 2 if width > _NO_WIDTH else float("nan")


def describe_size(evaluation: Evaluation) -> list[str]:
    """Describe the cases of each class, counts that are too small, and the precision of the prevalence."""
    sentences = _describe_classes(evaluation) if evaluation.data.classes else _describe_events(evaluation)
    small = _count_small(evaluation)
    return [*sentences, small] if small else sentences


def _describe_classes(evaluation: Evaluation) -> list[str]:
    sample = evaluation.data.sample
    counts = dict(zip(_labels(evaluation), _count_cases(sample, evaluation.data), strict=True))
    rarest = min(counts, key=lambda label: counts[label])
    return [
        f"The sample has {format_count(len(counts))} classes; the rarest, {rarest}, has "
        f"{format_counted(_round_down(counts[rarest]), 'case')}{_name_unit(evaluation.data)}.",
        _judge_size(counts, "cases of "),
    ]


def _labels(evaluation: Evaluation) -> tuple[str, ...]:
    return () if evaluation.data.classes is None else evaluation.data.classes.labels


def _count_cases(sample: SampleSummary, data: DataSummary) -> tuple[float, ...]:
    """Return cases of each class, or events and non-events; effective numbers if weights are not counts."""
    known = sample.independent
    if known is None or (known.unit != "row" and data.weight_kind != "sampling"):
        return sample.classes or (sample.events, sample.total - sample.events)
    return known.classes or (known.events, known.non_events)


def _are_effective(data: DataSummary) -> bool:
    """Whether cases are counted by effective numbers, because weights are sampling weights."""
    return data.weight_kind == "sampling" and data.sample.independent is not None


def _name_unit(data: DataSummary) -> str:
    if _are_effective(data):
        return f" (effective number of weighted {'rows' if data.clusters is None else 'clusters'})"
    return " (sum of weights)" if data.weighted else ""


def _describe_events(evaluation: Evaluation) -> list[str]:
    data, sample = evaluation.data, evaluation.data.sample
    counts = dict(zip(("events", "non-events"), _count_cases(sample, data), strict=True))
    sentences = [_describe_sums(data, *counts.values()), _judge_size(counts)]
    interval = sample.prevalence_interval
    if interval is not None:
        width = 100 * _half_width(interval)
        points = format_number(width, distinct_decimals(0, width, 1))
        sentences.append(f"The prevalence is known to about ± {points} percentage points.")
    return sentences


def _describe_sums(data: DataSummary, events: float, others: float) -> str:
    """Describe events and non-events; sampling weights with their sums and effective numbers."""
    sums = data.sample.events, data.sample.total - data.sample.events
    if not _are_effective(data):
        weighed = " (sums of weights)" if data.weighted else ""
        return (
            f"The sample has {format_counted(sums[0], 'event')} and "
            f"{format_counted(sums[1], 'non-event')}{weighed}."
        )
    draws = (
        format_counted(data.sample.rows, "row")
        if data.clusters is None
        else format_counted(data.clusters, "cluster")
    )
    cases = (
        f"{format_counted(_round_down(events), 'event')} and "
        f"{format_counted(_round_down(others), 'non-event')}"
    )
    return (
        f"The weights of events sum to {format_count(sums[0])} and those of non-events to "
        f"{format_count(sums[1])}; allowing for varying weights, the {draws} count as {cases}."
    )


def _round_down(cases: float) -> float:
    """Round down to whole cases, so that 99.97 does not look like the required 100."""
    return math.floor(cases + _ROUNDING)


def _judge_size(counts: dict[str, float], cases_of: str = "") -> str:
    few = [what for what, n in counts.items() if n < _ENOUGH - _ROUNDING]
    rule = f"A rule of thumb requires at least {_ENOUGH} of each [{cite(VERGOUWE_2005)}]"
    if few:
        return (
            f"{rule}: there are too few {cases_of}{_name_few(few)}. Intervals are wide, and a lack of "
            "evidence against calibration means little."
        )
    return f"{rule}. The sample meets it, but this alone does not make intervals narrow [{cite(SNELL_2021)}]."


def _name_few(few: list[str]) -> str:
    """Name the classes with too few cases; if there are many, only their number."""
    if len(few) <= _MOST_NAMED:
        return join_words(few)
    return f"{format_count(len(few))} classes"


def _count_small(evaluation: Evaluation) -> str:
    scored = [group.sample for group in (*evaluation.groups, *evaluation.windows) if group.models]
    fewest = [min(_count_cases(sample, evaluation.data)) for sample in scored]
    small = sum(n < _ENOUGH - _ROUNDING for n in fewest)
    if not small:
        return ""
    what = "events or non-events" if evaluation.kind == "binary" else "cases of some class"
    return (
        f"Among the groups and periods scored, {format_count(small)} of {format_count(len(scored))} "
        f"have fewer than {_ENOUGH} {what}: read them with care."
    )
