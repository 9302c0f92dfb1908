"""The tables of an evaluation as text, for the terminal and for reports: labels, units, precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.formatting import common_decimals, format_count, format_number, format_percent
from scorereport.scores.registry import Direction, get_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.results import GroupResult, ModelScores, ScoreValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A caption, column heads and rows of text; the first `n_labels` columns are labels, the rest numbers.

    `section` is the number of rows that belong together; 0 if all do.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1
    section: int = 0


def evaluation_tables(evaluation: Evaluation) -> list[Table]:
    """All tables of an evaluation, in reading order."""
    models = [result.scores for result in evaluation.models]
    tables = [score_table(models), skill_table(models)]
    if evaluation.settings.cost_interval is not None:
        tables.append(bounded_table(models, *evaluation.settings.cost_interval))
    tables.append(decomposition_table(models))
    columns = dict.fromkeys(group.column for group in evaluation.groups)
    return tables + [
        group_table(column, [g for g in evaluation.groups if g.column == column]) for column in columns
    ]


def describe_data(evaluation: Evaluation) -> str:
    """Rows, events and prevalence as a sentence or two."""
    data, flow, sample = evaluation.data, evaluation.data.row_flow, evaluation.data.sample
    parts = [f"{_counted(flow.read, 'row')} read"]
    parts += [f"{format_count(drop.rows)} dropped ({drop.reason})" for drop in flow.dropped]
    parts += [f"{format_count(flow.kept)} kept"]
    parts += [f"total weight {format_count(sample.total)}"] if data.weighted else []
    events = f"{_counted(sample.events, 'event')}, prevalence {format_percent(sample.prevalence)}"
    return f"{data.source}: {', '.join(parts)}. Outcome {data.outcome} = {data.positive}: {events}."


def score_table(models: Sequence[ModelScores]) -> Table:
    """Mean scores of all models over all costs."""
    values = {m.model: [score.value for score in _unbounded(m)] for m in models}
    return Table(
        caption="Mean scores. Lower is better; ↑ higher is better.",
        heads=("model", *(_head(score.name) for score in _unbounded(models[0]))),
        rows=_rows_of_numbers(values),
    )


def skill_table(models: Sequence[ModelScores]) -> Table:
    """Skills of all models."""
    rows = [(m.model, *(format_percent(score.skill) for score in _unbounded(m))) for m in models]
    return Table(
        caption="Skill: 0 % is the prevalence forecast, 100 % the perfect one.",
        heads=("model", *(get_score(score.name).short for score in _unbounded(models[0]))),
        rows=tuple(rows),
    )


def bounded_table(models: Sequence[ModelScores], lower: float, upper: float) -> Table:
    """Mean regret and net benefit over an interval of costs, with skills."""
    bounded = {m.model: [score for score in m.scores if score not in _unbounded(m)] for m in models}
    numbers = _columns_of_text([[score.value for score in scores] for scores in bounded.values()])
    rows = []
    for (model, scores), values in zip(bounded.items(), numbers, strict=True):
        skills = [format_percent(score.skill) for score in scores]
        rows.append((model, *(text for pair in zip(values, skills, strict=True) for text in pair)))
    heads = [head for score in bounded[models[0].model] for head in (_head(score.name), "skill")]
    return Table(
        caption=f"Costs between {lower:g} and {upper:g}: mean regret (lower is better) and net benefit.",
        heads=("model", *heads),
        rows=tuple(rows),
    )


def decomposition_table(models: Sequence[ModelScores]) -> Table:
    """All scores of all models, split into their components."""
    parts = [
        (m.model, part)
        for of_score in zip(*(m.decompositions for m in models), strict=True)
        for m, part in zip(models, of_score, strict=True)
    ]
    numbers = _columns_of_text(
        [[d.score, d.miscalibration, d.discrimination, d.uncertainty] for _, d in parts]
    )
    rows = [
        (get_score(part.name).label, model, *text) for (model, part), text in zip(parts, numbers, strict=True)
    ]
    has_gain = any(part.higher_is_better for _, part in parts)
    return Table(
        caption="CORP decomposition: mean = MCB − DSC + UNC"
        + (" (net benefit: UNC + DSC − MCB)" if has_gain else ""),
        heads=("score", "model", "mean", "MCB", "DSC", "UNC"),
        rows=tuple(rows),
        n_labels=2,
        section=len(models) if len(models) > 1 else 0,
    )


def group_table(column: str, groups: Sequence[GroupResult]) -> Table:
    """Brier score and its components, log score and AUC, by subgroup."""
    cases = [(g, m) for g in groups for m in g.models]
    numbers = []
    for _, m in cases:
        score, brier = {s.name: s.value for s in m.scores}, m.decompositions[0]
        components = [brier.score, brier.miscalibration, brier.discrimination, brier.uncertainty]
        numbers.append([*components, score["log_loss"], score["roc_auc"]])
    texts = _columns_of_text(numbers)
    rows = [
        (g.label, m.model, format_count(g.sample.rows), format_percent(g.sample.prevalence), *text)
        for (g, m), text in zip(cases, texts, strict=True)
    ]
    return Table(
        caption=f"By {column}: Brier score with its components, log score, AUC",
        heads=(column, "model", "rows", "prevalence", "Brier", "MCB", "DSC", "UNC", "log", "AUC ↑"),
        rows=tuple(rows),
        n_labels=2,
        section=len(groups[0].models) if len(groups[0].models) > 1 else 0,
    )


def _counted(n: float, noun: str) -> str:
    return f"{format_count(n)} {noun}{'' if n == 1 else 's'}"


def _unbounded(scores: ModelScores) -> list[ScoreValue]:
    return [score for score in scores.scores if not score.name.startswith("bounded_")]


def _head(name: str) -> str:
    score = get_score(name)
    return f"{score.short} ↑" if score.direction is Direction.HIGHER else score.short


def _rows_of_numbers(values: dict[str, list[float]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (name, *text) for name, text in zip(values, _columns_of_text(list(values.values())), strict=True)
    )


def _columns_of_text(numbers: Sequence[Sequence[float]]) -> list[tuple[str, ...]]:
    """Numbers as text, with the same number of decimals down each column."""
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return [tuple(format_number(v, d) for v, d in zip(row, decimals, strict=True)) for row in numbers]
