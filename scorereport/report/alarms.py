"""Alarms: findings that put the use of a model, or the data, in question although no limit asks for them.

They are stated from the record of an evaluation alone, so that a report from a results document has them too.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from scipy.special import ndtri

from scorereport._utils.formatting import format_counted, join_some, join_words
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, find_dependent
from scorereport.configuration.limit_numbers import count_independent
from scorereport.evaluation.notes import find_refuted_note
from scorereport.evaluation.subgroups import count_classes, has_one_class
from scorereport.inference.components import FEW_EVENTS, FewCases
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.report.finding_records import DO_NOT_USE, MODELS, Consequence, Finding
from scorereport.report.tables.table import area_text, score_label, skill_text
from scorereport.results.class_records import THRESHOLD
from scorereport.results.model_records import ModelResult
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ForecastSummary, GroupResult, ScoreValue

#: The AUC of forecasts that do not rank events above non-events.
_NO_RANKING = 0.5
#: Forecasts that are labels have these values only.
_LABELS = (0.0, 1.0)
#: Most groups and pairs that are named; further ones are counted.
_MOST_NAMED = 3


def raise_alarms(evaluation: Evaluation) -> Iterator[Finding]:
    """State all alarms of an evaluation: on models, on the number of cases, on groups, and on the input."""
    dependent = find_dependent(evaluation)
    for result in evaluation.results:
        caution = f" {DEPENDENCE_CAUTION}" if result.model in dependent else ""
        yield from _find_inverted_ranking(result, caution)
        yield from _find_negative_skill(result, evaluation, caution)
        yield from _find_infinite_score(result, evaluation)
        yield from _find_labels(result)
    yield from _find_few_cases(evaluation)
    yield from _find_groups_without_events(evaluation)
    yield from _find_same_forecasts(evaluation)


# ---- Models ----


def _find_inverted_ranking(result: ModelResult | ClassModelResult, caution: str) -> Iterator[Finding]:
    """State an AUC whose interval lies below 0.5; of a model of K classes, those of its views."""
    if isinstance(result, ModelResult):
        shown = [area_text(s) for s in result.scores.scores if s.name == "roc_auc" and _is_inverted(s)]
    else:
        family = result.families[-1]
        areas = [(view.label, view.scores.score("roc_auc")) for view in family.views]
        up_to = "up to " if family.kind == THRESHOLD else ""
        shown = [
            f"{up_to}“{label}” {area_text(area)}"
            for label, area in areas
            if _is_inverted(area, tests=len(areas))
        ]
    if shown:
        yield Finding(
            text=f"{result.model}: the ranking is inverted, AUC {join_words(shown)}: are probability and "
            f"class swapped?{caution}",
            see="auc" if isinstance(result, ModelResult) else "labels",
            consequence=Consequence.INVERTED_RANKING,
            action=f"Check whether {MODELS} has the probability of the event or of its opposite.",
            model=result.model,
            tone="bad",
        )


def _is_inverted(area: ScoreValue, tests: int = 1) -> bool:
    """Whether the interval of an AUC lies below 0.5, also if it is widened for the number of tests."""
    interval = area.interval
    if interval is None or not interval.upper < _NO_RANKING:
        return False
    width = float(ndtri(1 - (1 - interval.level) / (2 * tests))) * interval.standard_error
    return tests == 1 or area.value + width < _NO_RANKING


def _find_negative_skill(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, caution: str
) -> Iterator[Finding]:
    """State a skill in the main score whose interval lies below 0."""
    score = result.scores.score(evaluation.main_score)
    interval = score.skill_interval
    if interval is not None and interval.upper < 0:
        yield Finding(
            text=f"{result.model} is worse than no model: its skill in the "
            f"{inside_sentence(score_label(score.name))}, {skill_text(score, evaluation.kind)}.{caution}",
            see="scores",
            consequence=Consequence.WORSE_THAN_NO_MODEL,
            action=DO_NOT_USE,
            model=result.model,
            tone="bad",
        )


def _find_infinite_score(result: ModelResult | ClassModelResult, evaluation: Evaluation) -> Iterator[Finding]:
    """State a log score that is infinite, by the note that counts the forecasts."""
    if any(score.value == inf for score in result.scores.scores):
        plain = f"{result.model}: the log score is infinite, because a forecast was certain and wrong."
        yield Finding(
            text=find_refuted_note(evaluation.notes, result.model) or plain,
            see="scores",
            consequence=Consequence.INFINITE_SCORE,
            action=f"Examine the forecasts of {MODELS} that were certain and wrong, and avoid 0 and 1.",
            model=result.model,
            tone="bad",
        )


def _find_labels(result: ModelResult | ClassModelResult) -> Iterator[Finding]:
    """State forecasts that are only 0 and 1."""
    views = _summarize(result)
    if all(map(_are_labels, views)) and len({value for view in views for value in _ends(view)}) > 1:
        yield Finding(
            text=f"The forecasts of {result.model} are only 0 and 1: are they predicted classes instead of "
            "probabilities?",
            see="forecasts",
            action=f"Evaluate the probabilities of {MODELS}, not predicted classes.",
            consequence=Consequence.QUESTIONABLE_INPUT,
            model=result.model,
            tone="bad",
        )


def _are_labels(forecasts: ForecastSummary) -> bool:
    return forecasts.n_distinct <= len(_LABELS) and set(_ends(forecasts)) <= set(_LABELS)


def _ends(forecasts: ForecastSummary) -> tuple[float, float]:
    return forecasts.minimum, forecasts.maximum


def _find_same_forecasts(evaluation: Evaluation) -> Iterator[Finding]:
    """State the models whose forecasts are the same in every row."""
    alike: list[list[ModelResult | ClassModelResult]] = []
    for result in evaluation.results:
        known = next((models for models in alike if _are_same(models[0], result, evaluation)), None)
        if known is None:
            alike.append([result])
        else:
            known.append(result)
    for models in (models for models in alike if len(models) > 1):
        names = join_some([model.model for model in models], _MOST_NAMED)
        yield Finding(
            text=f"The forecasts of {names} are the same: was one column used twice?",
            see="scores",
            action=f"Check the columns of {names}.",
            consequence=Consequence.QUESTIONABLE_INPUT,
            tone="bad",
        )


def _are_same(
    first: ModelResult | ClassModelResult, second: ModelResult | ClassModelResult, evaluation: Evaluation
) -> bool:
    """Whether all scores, and with tests all differences of single cases, are the same."""
    # as texts, because scores that are not defined are not equal to themselves
    scores = [[(s.name, repr(s.value)) for s in result.scores.scores] for result in (first, second)]
    if scores[0] != scores[1] or _summarize(first) != _summarize(second):
        return False
    models = {first.model, second.model}
    found = (d for d in evaluation.comparisons.differences if {d.first, d.second} == models)
    main = next((d for d in found if d.measure == evaluation.main_score), None)
    return main is None or main.standard_error == 0


def _summarize(result: ModelResult | ClassModelResult) -> list[ForecastSummary]:
    """The forecasts of a binary model, or those of each class."""
    if isinstance(result, ModelResult):
        return [result.forecasts]
    return [view.forecasts for view in result.families[0].views]


# ---- Cases ----


def _find_few_cases(evaluation: Evaluation) -> Iterator[Finding]:
    """State that there is one class only, or that cases of a class, or clusters, are few."""
    few = _describe_one_class(evaluation) or _describe_few_cases(evaluation)
    for text in filter(None, (few, _describe_clusters(evaluation))):
        yield Finding(
            text=text,
            see="section_data",
            consequence=Consequence.TOO_FEW_CASES,
            tone="bad",
            action="Collect more cases before a decision.",
        )


def _describe_clusters(evaluation: Evaluation) -> str:
    clusters, cases = evaluation.data.clusters, count_independent(evaluation.data.sample)
    if clusters is None or cases.unit != "cluster":
        return ""
    return describe_few_clusters(clusters, cases.total)


def _describe_one_class(evaluation: Evaluation) -> str:
    sample, classes = evaluation.data.sample, evaluation.data.classes
    if classes is None and has_one_class(sample):
        what = "no events" if sample.events == 0 else "no non-events"
        return f"There are {what} in {format_counted(sample.rows, 'case')}: AUC and skill are not defined."
    if classes is not None and has_one_class(sample):
        return f"All {format_counted(sample.rows, 'case')} are of one class: skill is not defined."
    return ""


def _describe_few_cases(evaluation: Evaluation) -> str:
    """Name events, non-events or the class with the fewest cases, if they are fewer than needed."""
    sample, classes = evaluation.data.sample, evaluation.data.classes
    counts = count_classes(sample)
    place = counts.index(min(counts))
    if not counts[place] < FEW_EVENTS:
        return ""
    noun = "case" if classes else ("event", "non-event")[place]
    of_what = f" of the class “{classes.labels[place]}”" if classes else ""
    few = FewCases(
        counts[place],
        noun,
        f"{of_what} in {format_counted(sample.rows, 'case')}",
        are_effective=evaluation.data.weight_kind == "sampling",
    )
    return few.warn("intervals say" if evaluation.settings.infers else "numbers say")


# ---- Groups ----


def _find_groups_without_events(evaluation: Evaluation) -> Iterator[Finding]:
    """State, for each column, the groups in which all outcomes are the same."""
    columns = dict.fromkeys(group.column for group in evaluation.groups)
    for column in columns:
        groups = [group for group in evaluation.groups if group.column == column]
        yield from _find_groups_of_one_class(column, groups)


def _find_groups_of_one_class(column: str, groups: Sequence[GroupResult]) -> Iterator[Finding]:
    found = [group for group in groups if group.sample.total and has_one_class(group.sample)]
    if not found or len(found) == len(groups):
        return
    is_binary = not groups[0].sample.classes
    without = [g.label for g in found if is_binary and g.sample.events == 0]
    rest = [g.label for g in found if g.label not in without]
    parts = [f"there are no events where {column} = {join_some(without, _MOST_NAMED)}"] if without else []
    what = "there are no non-events" if is_binary else "there is only one class"
    parts += [f"{what} where {column} = {join_some(rest, _MOST_NAMED)}"] if rest else []
    cases = format_counted(sum(group.sample.rows for group in found), "case")
    stated = f"{join_words(parts)} ({cases}): the data cannot show how well models do there."
    yield Finding(
        text=f"{stated[0].upper()}{stated[1:]}",
        see="section_groups",
        action=f"Collect cases of both outcomes in all groups of {column}."
        if is_binary
        else f"Collect cases of all classes in all groups of {column}.",
        consequence=Consequence.GROUPS_SERVED_WORSE,
        tone="open",
    )
