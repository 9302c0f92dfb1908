"""Results by group and by period as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.formatting import format_count, format_number, format_p_value, format_percent
from scorereport.tables.table import Table, columns_of_text, interval_text, label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.inference.outcomes import HypothesisTest
    from scorereport.results import GroupResult, ModelScores

_GROUP_HEADS = ("Brier", "MCB", "DSC", "UNC", "log", "AUC ↑")


def group_table(column: str, groups: Sequence[GroupResult], level: str) -> Table:
    """Brier score and its components, log score and AUC, by subgroup or period."""
    scored = [(g, m) for g in groups for m in g.models]
    numbers = iter(columns_of_text([_group_numbers(m) for _, m in scored]))
    has_intervals = any(m.components for _, m in scored)
    width = len(_GROUP_HEADS) + (3 if has_intervals else 0)
    rows = []
    for g in groups:
        size = (
            format_count(g.sample.rows),
            format_count(g.sample.events),
            format_percent(g.sample.prevalence),
        )
        for m in g.models:
            text = next(numbers)
            rows.append((g.label, m.model, *size, *(_group_intervals(text, m) if has_intervals else text)))
        if not g.models:
            rows.append((g.label, "not scored", *size, *[""] * width))
    heads = ("Brier", "interval", "MCB", "Holm's p", "DSC", "UNC", "log", "AUC ↑", "interval")
    models = len(scored[0][0].models) if scored else 1
    return Table(
        caption=f"By {column}: Brier score with its components, log score, AUC"
        + (
            f", with {level} intervals; p of the test that MCB is 0, adjusted for all groups"
            if has_intervals
            else ""
        ),
        heads=(column, "model", "rows", "events", "prevalence", *(heads if has_intervals else _GROUP_HEADS)),
        rows=tuple(rows),
        n_labels=2,
        section=models if models > 1 and len(scored) == len(groups) * models else 0,
    )


def _group_numbers(scores: ModelScores) -> list[float]:
    value, brier = {s.name: s.value for s in scores.scores}, scores.decompositions[0]
    components = [brier.score, brier.miscalibration, brier.discrimination, brier.uncertainty]
    return [*components, value["log_loss"], value["roc_auc"]]


def _group_intervals(text: tuple[str, ...], scores: ModelScores) -> tuple[str, ...]:
    brier, mcb, dsc, unc, log, auc = text
    interval = {s.name: s.interval for s in scores.scores}
    test = scores.miscalibration_tests[0]
    p_value = format_p_value(test.p_value if test.p_value_holm is None else test.p_value_holm)
    of_brier, of_auc = (interval_text(interval[name], 4) for name in ("brier", "roc_auc"))
    return brier, of_brier, mcb, p_value, dsc, unc, log, auc, of_auc


def heterogeneity_table(evaluation: Evaluation) -> Table:
    """Tests whether models are equally good in all groups."""
    rows = [
        (
            h.column,
            h.model,
            name_test(h.test),
            format_number(h.test.statistic, 2),
            format_p_value(h.test.p_value),
            format_p_value(h.test.p_value if h.test.p_value_holm is None else h.test.p_value_holm),
        )
        for h in evaluation.heterogeneity
    ]
    return Table(
        caption="Do groups differ? A small p says so; Holm's p is adjusted for all tests of a column",
        heads=("groups", "model", "test", "statistic", "p", "Holm's p"),
        rows=tuple(rows),
        n_labels=3,
    )


def name_test(test: HypothesisTest) -> str:
    """The name of a test, with its measure in words: Cochran's Q (Brier score)."""
    name, bracket, measure = test.name.partition(" (")
    return f"{name} ({label_of(measure.rstrip(')'))})" if bracket else name
