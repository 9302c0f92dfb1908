"""Tables of mean scores, skills, and differences between models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_plain,
)
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.report.tables.table import (
    Table,
    interval_text,
    percent_interval_text,
    score_heading,
    score_label,
    section_size,
)
from scorereport.scores.registry import REGISTRY, Kind, Reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Difference


if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.inference.estimates import Estimate, Rank
    from scorereport.results.model_records import ModelScores, ScoreValue

    #: The rank of a model by a measure.
    Ranks = Mapping[tuple[str, str], Rank]
    #: A score and its label.
    Named = tuple[str, ScoreValue]

_SKILL = "skill (0 % the prevalence forecast, 100 % the perfect one)"
_SKILL_OF_CLASSES = (
    "skill (0 % the class-frequency forecast or, for labels, the best constant one; 100 % the perfect one)"
)
#: With two classes, scores have only one scale, and sa-RPS is proper.
_TWO = 2
#: Scores of ordered classes on the scale [0, 1], and on another one that some books and packages use.
_SCALINGS = {
    "rps": ("RPS, divided by K − 1", "RPS, plain sum"),
    "sa_rps": ("sa-RPS (not proper), in [0, 1]", "sa-RPS (not proper), × {}"),
}


def score_table(models: Sequence[ModelScores], ranks: Ranks, level: str, *, n_classes: int = 0) -> Table:
    """Table of mean scores and skills of all models; with K ordered classes, some on both scales."""
    named = [
        (m.model, [named for s in m.scores if not _is_bounded(s) for named in _name(s, n_classes)])
        for m in models
    ]
    names = {score.name for score in models[0].scores}
    skill = _SKILL if any(REGISTRY[name].kind is Kind.BINARY for name in names) else _SKILL_OF_CLASSES
    return _score_table(
        named,
        ranks,
        f"Mean scores (lower is better; ↑ higher is better) and {skill}, with {level} intervals",
    )


def bounded_table(
    models: Sequence[ModelScores], ranks: Ranks, level: str, lower: float, upper: float
) -> Table:
    """Table of mean regret and net benefit over an interval of costs, with skills."""
    return _score_table(
        [(m.model, [(score_heading(s.name), s) for s in m.scores if _is_bounded(s)]) for m in models],
        ranks,
        f"Costs between {format_plain(lower)} and {format_plain(upper)}: mean regret (lower is better) and "
        f"net benefit, with {level} intervals",
    )


def _score_table(models: Sequence[tuple[str, list[Named]]], ranks: Ranks, caption: str) -> Table:
    has_intervals = models[0][1][0][1].interval is not None
    rows = []
    for of_score in zip(*(scores for _, scores in models), strict=True):
        decimals = common_decimals(score.value for _, score in of_score)
        for (model, _), (label, score) in zip(models, of_score, strict=True):
            numbers = [format_number(score.value, decimals), format_percent(score.skill)]
            if has_intervals:
                intervals = [
                    interval_text(score.interval, decimals),
                    percent_interval_text(score.skill_interval),
                ]
                numbers = [text for pair in zip(numbers, intervals, strict=True) for text in pair]
            place = [_rank(ranks[model, score.name])] if ranks else []
            rows.append((label, model, *numbers, *place))
    heads = ("mean", "interval", "skill", "interval") if has_intervals else ("mean", "skill")
    tied = "; = in the rank: tied, no significant difference" if ranks else ""
    return Table(
        caption=f"{caption}{tied}" if has_intervals else caption.partition(", with")[0],
        heads=("score", "model", *heads, *(["rank"] if ranks else [])),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(models),
    )


def _name(score: ScoreValue, n_classes: int) -> Iterator[Named]:
    """Return a score with its label; a score with two scales on both, if they differ."""
    if score.name not in _SCALINGS or not n_classes:
        yield score_heading(score.name), score
        return
    unit, other = _SCALINGS[score.name]
    if n_classes > _TWO:
        yield unit, score
        yield other.format(n_classes - 1), _times(score, n_classes - 1)
    else:
        yield unit.replace(" (not proper)", ""), score


def _times(score: ScoreValue, factor: int) -> ScoreValue:
    """Return a score on a scale that is `factor` times as large; its skill is the same."""
    interval = None if score.interval is None else _times_estimate(score.interval, factor)
    return replace(score, value=factor * score.value, interval=interval)


def _times_estimate(estimate: Estimate, factor: int) -> Estimate:
    return replace(
        estimate,
        value=factor * estimate.value,
        standard_error=factor * estimate.standard_error,
        lower=factor * estimate.lower,
        upper=factor * estimate.upper,
    )


def describe_scalings(n_classes: int) -> str:
    """Describe the names of the scores of ordered classes, and the scales on which they are given."""
    names = "RPS is the ranked probability score, sa-RPS the squared absolute RPS"
    if n_classes == _TWO:
        return f"{names}; with two classes, both are half of the Brier score."
    return (
        f"{names}. Both are given on [0, 1] and {n_classes - 1} times as large, as in some packages and in "
        "the paper on sa-RPS. sa-RPS is not proper: a model can improve it by forecasting probabilities "
        "other than the true ones."
    )


def _rank(rank: Rank) -> str:
    return f"{rank.rank}=" if rank.tied_with else f"{rank.rank} "


def _is_bounded(score: ScoreValue) -> bool:
    return REGISTRY[score.name].reported is Reported.WITH_COSTS


#: Differences that tables show; the results document has all of them.
_COMPARED = (
    "brier",
    "log_loss",
    "roc_auc",
    *list_class_measures(ordered=True),
    "bounded_brier",
    "bounded_net_benefit",
    "brier miscalibration",
    "brier discrimination",
    "multiclass_brier miscalibration",
    "multiclass_brier discrimination",
    "rps miscalibration",
    "rps discrimination",
)


def difference_table(differences: Sequence[Difference], level: str) -> Table:
    """Table of paired differences of the main measures."""
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
        f"{shown[0].method}; Holm's p is adjusted for the number of pairs{_explain_components(shown)}",
        heads=("measure", "models", "difference", "interval", "p", "Holm's p"),
        rows=tuple(rows),
        n_labels=2,
        section=pairs if pairs > 1 else 0,
    )


def _explain_components(shown: Sequence[Difference]) -> str:
    """State that differences of components are raw, unlike their intervals; empty if there are none."""
    if not any(" " in difference.measure for difference in shown):
        return ""
    return "; differences of miscalibration and discrimination are raw, their intervals overfit-corrected"


def _measure_label(difference: Difference) -> str:
    name, _, component = difference.measure.partition(" ")
    short = REGISTRY[name].short.removesuffix(" (K classes)")  # leaves room for the component
    text = f"{short} {component}" if component else score_label(name)
    return f"{text} ↑" if difference.higher_is_better else text
