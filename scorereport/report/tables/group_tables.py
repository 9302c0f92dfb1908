"""Results by group and by period as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_number, format_p_value, format_percent
from scorereport.report.tables.table import Table, format_columns, interval_text, score_label
from scorereport.scores.registry import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import HypothesisTest
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import GroupResult, ModelScores, SampleSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Columns of a table of groups: the decomposed score, then others, the last of which has an interval."""

    score: str
    others: tuple[str, ...]

    def heads(self, *, has_intervals: bool, has_tests: bool) -> tuple[str, ...]:
        """Return the column heads of all numbers."""
        score, *inner, last = (_heading(name) for name in (self.score, *self.others))
        if not has_intervals:
            return (score, "MCB", "DSC", "UNC", *inner, last)
        tested = ("Holm's p",) if has_tests else ()
        return (score, "interval", "MCB", *tested, "DSC", "UNC", *inner, last, "interval")

    def numbers(self, scores: ModelScores) -> list[float]:
        """Return the numbers of a model in a group, without intervals."""
        part = scores.decomposition(self.score)
        components = [part.score, part.miscalibration, part.discrimination, part.uncertainty]
        return [*components, *(scores.score(name).value for name in self.others)]

    def with_intervals(
        self, text: tuple[str, ...], scores: ModelScores, *, has_tests: bool
    ) -> tuple[str, ...]:
        """Return the numbers as text, with intervals and any p-value between them."""
        score, mcb, *rest = text
        test = scores.miscalibration_test(self.score)
        p_value = ["" if test is None else format_p_value(_adjusted(test))] if has_tests else []
        first, last = (
            interval_text(scores.score(name).interval, 4) for name in (self.score, self.others[-1])
        )
        return score, first, mcb, *p_value, *rest, last


_OTHERS = {
    "brier": ("log_loss", "roc_auc"),
    "multiclass_brier": ("multiclass_log_loss", "accuracy"),
    "rps": ("multiclass_log_loss", "accuracy"),
}


def _heading(name: str) -> str:
    entry = REGISTRY[name]
    text = entry.column or entry.short
    return f"{text} ↑" if entry.direction is Direction.HIGHER else text


def group_table(column: str, groups: Sequence[GroupResult], level: str, *, weighted: bool = False) -> Table:
    """Table of the main score with its components, log score and AUC or accuracy, by subgroup or period.

    With weights, events are sums of weights, as their column head states.
    """
    scored = [(g, m) for g in groups for m in g.models]
    score = scored[0][1].decompositions[0].name if scored else "brier"
    columns = _Columns(score=score, others=_OTHERS[score])
    numbers = iter(format_columns([columns.numbers(m) for _, m in scored]))
    has_intervals = any(m.components for _, m in scored)
    has_tests = any(m.miscalibration_test(score) for _, m in scored)
    heads = columns.heads(has_intervals=has_intervals, has_tests=has_tests)
    has_events = not any(g.sample.classes for g in groups)
    events = "events (weight)" if weighted else "events"
    rows = []
    for g in groups:
        size = _describe_size(g.sample, has_events=has_events)
        for m in g.models:
            text = next(numbers)
            if has_intervals:
                text = columns.with_intervals(text, m, has_tests=has_tests)
            rows.append((g.label, m.model, *size, *text))
        if not g.models:
            rows.append((g.label, "not scored", *size, *[""] * len(heads)))
    models = len(scored[0][0].models) if scored else 1
    last = "AUC" if score == "brier" else "accuracy"
    return Table(
        caption=f"By {column}: {score_label(score)} with its components, log score, {last}"
        f"{f', with {level} intervals' if has_intervals else ''}"
        f"{'; p of the test that MCB is 0, adjusted for all groups' if has_intervals and has_tests else ''}",
        heads=(column, "model", "rows", *((events, "prevalence") if has_events else ()), *heads),
        rows=tuple(rows),
        n_labels=2,
        section=models if models > 1 and len(scored) == len(groups) * models else 0,
    )


def _describe_size(sample: SampleSummary, *, has_events: bool) -> tuple[str, ...]:
    rows = format_count(sample.rows)
    if not has_events:
        return (rows,)
    return rows, format_count(sample.events), format_percent(sample.prevalence)


def _adjusted(test: HypothesisTest) -> float:
    return test.p_value if test.p_value_holm is None else test.p_value_holm


def heterogeneity_table(evaluation: Evaluation) -> Table:
    """Table of tests whether models are equally good in all groups."""
    rows = [
        (
            h.column,
            h.model,
            name_heterogeneity_test(h.test),
            format_number(h.test.statistic, 2),
            format_p_value(h.test.p_value),
            format_p_value(_adjusted(h.test)),
        )
        for h in evaluation.heterogeneity
    ]
    return Table(
        caption="Tests whether groups differ; a small p is evidence of a difference; Holm's p is adjusted "
        "for all tests of a column",
        heads=("groups", "model", "test", "statistic", "p", "Holm's p"),
        rows=tuple(rows),
        n_labels=3,
    )


def name_heterogeneity_test(test: HypothesisTest) -> str:
    """Return the name of a test with the label of its measure: Cochran's Q (Brier score)."""
    name, bracket, measure = test.name.partition(" (")
    label = score_label(measure.rstrip(")")).removesuffix(" (K classes)")
    return f"{name} ({label})" if bracket else name
