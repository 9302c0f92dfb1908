"""The tables of an evaluation as text, for the terminal and for reports: labels, units, precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport.formatting import (
    common_decimals,
    counted,
    format_count,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
)
from scorereport.scores.registry import REGISTRY, Direction, get_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.inference.components import ComponentEstimate
    from scorereport.inference.grades import GradeTest
    from scorereport.inference.outcomes import Difference, Estimate
    from scorereport.inference.ranks import Rank
    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results import GroupResult, ModelResult, ModelScores, ScoreValue

    #: The rank of a model by a measure.
    Ranks = Mapping[tuple[str, str], Rank]

#: Differences that a terminal shows; the document has all of them.
_COMPARED = (
    "brier",
    "log_loss",
    "roc_auc",
    "bounded_brier",
    "bounded_net_benefit",
    "brier miscalibration",
    "brier discrimination",
)


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


def evaluation_tables(evaluation: Evaluation) -> Iterator[Table]:
    """All tables of an evaluation, in reading order."""
    models = [result.scores for result in evaluation.models]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    level = f"{100 * evaluation.settings.level:g} %"
    yield score_table(models, ranks, level)
    if evaluation.settings.cost_interval is not None:
        yield bounded_table(models, ranks, level, *evaluation.settings.cost_interval)
    yield decomposition_table(models, level)
    yield from calibration_tables(evaluation.models, level)
    if evaluation.comparisons.differences:
        yield difference_table(evaluation.comparisons.differences, level)
    for groups in (evaluation.groups, evaluation.windows):
        for column in dict.fromkeys(group.column for group in groups):
            yield group_table(column, [g for g in groups if g.column == column], level)
    if evaluation.heterogeneity:
        yield heterogeneity_table(evaluation)


def describe_data(evaluation: Evaluation) -> str:
    """Rows, events and prevalence as a sentence or two."""
    data, flow, sample = evaluation.data, evaluation.data.row_flow, evaluation.data.sample
    parts = [f"{counted(flow.read, 'row')} read"]
    parts += [f"{format_count(drop.rows)} dropped ({drop.reason})" for drop in flow.dropped]
    parts += [f"{format_count(flow.kept)} kept"]
    parts += [f"total weight {format_count(sample.total)}"] if data.weighted else []
    parts += [f"in {counted(data.clusters, 'cluster')}"] if data.clusters is not None else []
    events = f"{counted(sample.events, 'event')}, prevalence {format_percent(sample.prevalence)}"
    return f"{data.source}: {', '.join(parts)}. Outcome {data.outcome} = {data.positive}: {events}."


def describe_uncertainty(evaluation: Evaluation) -> str:
    """How intervals and tests were made, as a sentence; empty if there are none."""
    settings = evaluation.settings
    if settings.resamples == 0:
        return ""
    method = {"bca": "BCa", "percentile": "percentile"}[settings.interval_method]
    drawn = "rows" if evaluation.data.clusters is None else "clusters"
    return (
        f"{100 * settings.level:g} % intervals: {method} bootstrap of scores and skills over "
        f"{format_count(settings.resamples)} resamples of {drawn} (seed {settings.seed}); AUC and rates in "
        "closed form; MCB and DSC less the overfit of isotonic regression, so that an interval may exclude "
        "the raw value; that of MCB starts at 0 unless its test rejects on one side."
    )


def describe_bands(result: ModelResult) -> Iterator[str]:
    """Whether the whole reliability curve agrees with calibration, by each simultaneous band."""
    curve = result.curves.reliability
    for band in result.bands:
        if band.coverage == "pointwise":
            continue
        if band.kind == "consistency":
            inside = band.holds(np.interp(band.x, curve.forecast, curve.cep))
            what = "the reliability curve stays inside" if inside else "the reliability curve leaves"
        else:
            what = "the diagonal stays inside" if band.holds(band.x) else "the diagonal leaves"
        yield f"{result.model}: {what} the {band.label}."


def score_table(models: Sequence[ModelScores], ranks: Ranks, level: str) -> Table:
    """Mean scores and skills of all models over all costs."""
    return _score_table(
        [(m.model, [s for s in m.scores if not _is_bounded(s)]) for m in models],
        ranks,
        f"Mean scores (lower is better; ↑ higher is better) and skill (0 % the prevalence forecast, 100 % "
        f"the perfect one), with {level} intervals",
    )


def bounded_table(
    models: Sequence[ModelScores], ranks: Ranks, level: str, lower: float, upper: float
) -> Table:
    """Mean regret and net benefit over an interval of costs, with skills."""
    return _score_table(
        [(m.model, [s for s in m.scores if _is_bounded(s)]) for m in models],
        ranks,
        f"Costs between {lower:g} and {upper:g}: mean regret (lower is better) and net benefit, with "
        f"{level} intervals",
    )


def _score_table(models: Sequence[tuple[str, list[ScoreValue]]], ranks: Ranks, caption: str) -> Table:
    has_intervals = models[0][1][0].interval is not None
    rows = []
    for of_score in zip(*(scores for _, scores in models), strict=True):
        decimals = common_decimals(score.value for score in of_score)
        for (model, _), score in zip(models, of_score, strict=True):
            numbers = [format_number(score.value, decimals), format_percent(score.skill)]
            if has_intervals:
                intervals = [_interval(score.interval, decimals), _percents(score.skill_interval)]
                numbers = [text for pair in zip(numbers, intervals, strict=True) for text in pair]
            place = [_rank(ranks[model, score.name])] if ranks else []
            rows.append((_head(score.name), model, *numbers, *place))
    heads = ("mean", "interval", "skill", "interval") if has_intervals else ("mean", "skill")
    tied = "; = in the rank: the data cannot tell" if ranks else ""
    return Table(
        caption=f"{caption}{tied}" if has_intervals else caption.partition(", with")[0],
        heads=("score", "model", *heads, *(["rank"] if ranks else [])),
        rows=tuple(rows),
        n_labels=2,
        section=_section(models),
    )


def _rank(rank: Rank) -> str:
    return f"{rank.rank}=" if rank.tied_with else f"{rank.rank} "


def decomposition_table(models: Sequence[ModelScores], level: str) -> Table:
    """All scores of all models, split into their components; with intervals where there are any."""
    parts = [
        (m, place, part)
        for of_score in zip(*(enumerate(m.decompositions) for m in models), strict=True)
        for m, (place, part) in zip(models, of_score, strict=True)
    ]
    numbers = [[d.score, d.miscalibration, d.discrimination, d.uncertainty] for _, _, d in parts]
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    has_intervals = bool(models[0].components)
    rows = []
    for (m, place, part), values in zip(parts, numbers, strict=True):
        text = [format_number(value, d) for value, d in zip(values, decimals, strict=True)]
        shown = _with_intervals(text, m, place, decimals) if has_intervals else text
        rows.append((_label(part.name), m.model, *shown))
    intervals = ("mean", "MCB", "less overfit", "interval", "p", "DSC", "less overfit", "interval", "UNC")
    return Table(
        caption=_decomposition_caption([part for _, _, part in parts], level if has_intervals else ""),
        heads=("score", "model", *(intervals if has_intervals else ("mean", "MCB", "DSC", "UNC"))),
        rows=tuple(rows),
        n_labels=2,
        section=_section(models),
    )


def _decomposition_caption(parts: Sequence[Decomposition], level: str) -> str:
    has_gain = any(part.higher_is_better for part in parts)
    gain = " (net benefit: UNC + DSC − MCB)" if has_gain else ""
    tested = f"; {level} intervals of the true MCB and DSC, and p of the test that MCB is 0" if level else ""
    return f"CORP decomposition: mean = MCB − DSC + UNC{gain}{tested}"


def _with_intervals(
    text: Sequence[str], scores: ModelScores, place: int, decimals: Sequence[int]
) -> tuple[str, ...]:
    mean, mcb, dsc, unc = text
    components = scores.components[2 * place : 2 * place + 2]
    of_mcb, of_dsc = (_corrected(part, d) for part, d in zip(components, decimals[1:3], strict=True))
    p_value = format_p_value(scores.miscalibration_tests[place].p_value)
    return mean, mcb, *of_mcb, p_value, dsc, *of_dsc, unc


def _corrected(part: ComponentEstimate, decimals: int) -> tuple[str, str]:
    return format_number(part.corrected, decimals), format_interval(part.lower, part.upper, decimals)


def calibration_tables(models: Sequence[ModelResult], level: str) -> Iterator[Table]:
    """The calibration line, errors and tests of each model, and its rating grades if there are any."""
    known = [(m.model, m.calibration) for m in models if m.calibration is not None]
    if not known:
        return
    lines = []
    for model, calibration in known:
        line = calibration.line
        estimates = (line.slope, line.intercept, line.intercept_at_slope_one)
        texts = [text for e in estimates for text in (format_number(e.value, 3), _interval(e, 3))]
        ici = "n/d" if calibration.errors is None else format_number(calibration.errors.ici, 4)
        lines.append((model, *texts, ici, format_number(calibration.binned.value, 4)))
    heads = ("slope", "interval", "intercept", "interval", "at slope 1", "interval", "ICI", "ECE")
    yield Table(
        caption=f"Calibration line (slope 1 and intercept 0 are ideal), with {level} intervals; mean "
        "distance to a smooth curve (ICI) and in 10 bins (ECE, which depends on the bins)",
        heads=("model", *heads),
        rows=tuple(lines),
    )
    tests = [
        (test.name, model, format_number(test.statistic, 2), format_p_value(test.p_value))
        for of_test in zip(*(c.tests for _, c in known), strict=True)
        for (model, _), test in zip(known, of_test, strict=True)
    ]
    yield Table(
        caption="Tests of calibration; a small p speaks against it",
        heads=("test", "model", "statistic", "p"),
        rows=tuple(tests),
        n_labels=2,
        section=_section(known),
    )
    for model, calibration in known:
        if calibration.grades:
            yield _grade_table(model, calibration.grades)


def _grade_table(model: str, grades: Iterable[GradeTest]) -> Table:
    rows = [
        (
            g.grade,
            format_count(g.n),
            format_count(g.d),
            format_percent(g.probability),
            format_percent(g.event_rate),
            format_p_value(g.jeffreys_p_value),
            format_p_value(g.binomial_p_value),
            g.light,
        )
        for g in grades
    ]
    return Table(
        caption=f"{model} by grade: is the forecast too low? (one-sided)",
        heads=("grade", "n", "d", "forecast", "observed", "Jeffreys p", "binomial p", "light"),
        rows=tuple(rows),
    )


def difference_table(differences: Sequence[Difference], level: str) -> Table:
    """Paired differences of the main measures."""
    shown = [d for name in _COMPARED for d in differences if d.measure == name]
    pairs = len({(d.first, d.second) for d in shown})
    rows = []
    for d in shown:
        decimals = common_decimals([d.value])
        rows.append(
            (
                _measure_label(d),
                f"{d.first} − {d.second}",
                format_number(d.value, decimals),
                format_interval(d.lower, d.upper, decimals),
                format_p_value(d.p_value),
                "" if d.p_value_holm is None else format_p_value(d.p_value_holm),
            )
        )
    return Table(
        caption=f"Differences between models on the same cases, with {level} intervals; scores by "
        f"{shown[0].method}; Holm's p is adjusted over the pairs",
        heads=("measure", "models", "difference", "interval", "p", "Holm's p"),
        rows=tuple(rows),
        n_labels=2,
        section=pairs if pairs > 1 else 0,
    )


def _measure_label(difference: Difference) -> str:
    name, _, component = difference.measure.partition(" ")
    text = f"{_label(name)} {component}".strip()
    return f"{text} ↑" if difference.higher_is_better else text


def group_table(column: str, groups: Sequence[GroupResult], level: str) -> Table:
    """Brier score and its components, log score and AUC, by subgroup or period."""
    scored = [(g, m) for g in groups for m in g.models]
    numbers = iter(_columns_of_text([_group_numbers(m) for _, m in scored]))
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


_GROUP_HEADS = ("Brier", "MCB", "DSC", "UNC", "log", "AUC ↑")


def _group_numbers(scores: ModelScores) -> list[float]:
    value, brier = {s.name: s.value for s in scores.scores}, scores.decompositions[0]
    components = [brier.score, brier.miscalibration, brier.discrimination, brier.uncertainty]
    return [*components, value["log_loss"], value["roc_auc"]]


def _group_intervals(text: tuple[str, ...], scores: ModelScores) -> tuple[str, ...]:
    brier, mcb, dsc, unc, log, auc = text
    interval = {s.name: s.interval for s in scores.scores}
    test = scores.miscalibration_tests[0]
    p_value = format_p_value(test.p_value if test.p_value_holm is None else test.p_value_holm)
    of_brier, of_auc = (_interval(interval[name], 4) for name in ("brier", "roc_auc"))
    return brier, of_brier, mcb, p_value, dsc, unc, log, auc, of_auc


def heterogeneity_table(evaluation: Evaluation) -> Table:
    """Tests whether models are equally good in all groups."""
    rows = [
        (h.column, h.model, h.test.name, format_number(h.test.statistic, 2), format_p_value(h.test.p_value))
        for h in evaluation.heterogeneity
    ]
    return Table(
        caption="Do groups differ? A small p says so",
        heads=("groups", "model", "test", "statistic", "p"),
        rows=tuple(rows),
        n_labels=3,
    )


def _is_bounded(score: ScoreValue) -> bool:
    return score.name.startswith("bounded_")


def _section(models: Sequence[object]) -> int:
    return len(models) if len(models) > 1 else 0


def _interval(estimate: Estimate | None, decimals: int) -> str:
    return "" if estimate is None else format_interval(estimate.lower, estimate.upper, decimals)


def _percents(estimate: Estimate | None) -> str:
    return "" if estimate is None else format_interval(100 * estimate.lower, 100 * estimate.upper, 1)


def _label(name: str) -> str:
    return REGISTRY[name].label if name in REGISTRY else name


def _head(name: str) -> str:
    score = get_score(name)
    return f"{score.label} ↑" if score.direction is Direction.HIGHER else score.label


def _columns_of_text(numbers: Sequence[Sequence[float]]) -> list[tuple[str, ...]]:
    """Numbers as text, with the same number of decimals down each column."""
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return [tuple(format_number(v, d) for v, d in zip(row, decimals, strict=True)) for row in numbers]
