"""Comparison of groups and periods with base R: scores and AUCs in each, and tests of whether they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.bootstrap_results import FROM_INFLUENCE
from scorereport.inference.differences import AUC
from scorereport.inference.rare_cases import WIDENED
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.inference_comparison import (
    LIKELIHOOD_NOISE,
    STATISTIC_NOISE,
    InferenceComparer,
    compare_intervals,
    compare_sample_intervals,
)
from scorereport.reference.inference_questions import MOST_GROUPS
from scorereport.scores.registry import Direction, get_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.inference.estimates import HypothesisTest
    from scorereport.reference.inference_questions import GroupQuestion, InferenceAnswer
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import GroupResult, ModelScores

#: What rounding adds to a component, which is a difference of mean scores.
_NOISE = 1e-14
#: The names of R's answers about tests of the calibration line.
_LINE_TESTS = {
    "Calibration intercept by group": "intercept",
    "Calibration intercept and slope by group": "line",
}
_DRAWN = "The errors of the groups come from random resamples."
_HOLM = "The p-values adjusted by Holm are for all tests of the column, some of which R does not have."


def compare_groups(
    answer: InferenceAnswer, evaluation: Evaluation, asked: GroupQuestion, *, has_rows: bool
) -> Iterator[Comparison]:
    """Compare all groups of a column, or all periods, and the tests of whether groups differ."""
    topic = f"periods of {asked.column}" if asked.is_period else f"groups of {asked.column}"
    results = evaluation.windows if asked.is_period else evaluation.groups
    by_label = {group.label: group for group in results if group.column == asked.column}
    everything = InferenceComparer(subject="All models", prefix="", answer=answer)
    if asked.asked:
        yield _compare_counts(everything, by_label, asked, topic)
    for place, label in enumerate(asked.asked, start=1):
        group = by_label.pop(label, None)
        if group is None:
            yield everything.state(topic, Verdict.DIFFERS, f"The evaluation has no group {label}.")
        else:
            yield from _compare_group(answer, group, place, evaluation, topic, has_rows=has_rows)
    if by_label:
        reason = f"R is asked about the first {MOST_GROUPS} groups of a column."
        yield everything.state(topic, Verdict.NOT_COMPARED, reason)
    if has_rows and not asked.is_period:
        yield from _compare_tests(answer, evaluation, asked, topic)


def _compare_counts(
    c: InferenceComparer, by_label: Mapping[str, GroupResult], asked: GroupQuestion, topic: str
) -> Comparison:
    """Compare rows, cases and events of all groups."""
    samples = [by_label[label].sample for label in asked.asked if label in by_label]
    parts = ("rows", "total", "events")
    ours = [float(getattr(sample, part)) for part in parts for sample in samples]
    return c.match_named(f"{topic}: cases and events", ours, "counts")


def _compare_group(
    answer: InferenceAnswer,
    group: GroupResult,
    place: int,
    evaluation: Evaluation,
    topic: str,
    *,
    has_rows: bool,
) -> Iterator[Comparison]:
    where = f"{topic}: {group.label}"
    c = InferenceComparer(subject="All models", prefix=f"g{place}.", answer=answer)
    if not group.models:  # too small: it is counted only
        return
    if has_rows:
        yield from compare_sample_intervals(c, group.sample, where)
    for number, scores in enumerate(group.models, start=1):
        of_model = InferenceComparer(subject=scores.model, prefix=f"g{place}.m{number}.", answer=answer)
        yield from _compare_scores(of_model, scores, where)
        if has_rows:
            method = evaluation.settings.interval_method
            yield from compare_intervals(of_model, scores.scores, method=method, topic=where)


def _compare_scores(c: InferenceComparer, scores: ModelScores, where: str) -> Iterator[Comparison]:
    """Compare mean, MCB, DSC, UNC and perfect score of each score, the skills, and the AUC."""
    for d in scores.decompositions:
        theirs = c.find(f"parts.{d.name}")
        if theirs is None:
            yield c.miss(f"{where}, {d.name}", "parts")
            continue
        signs = [-1, 1, 1, -1, -1] if get_score(d.name).direction is Direction.HIGHER else [1] * 5
        ours = [d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect]
        yield c.match(f"{where}, {d.name} and components", ours, theirs * signs, noise=_NOISE)
        raw = [part.value for part in scores.components if part.measure == d.name]
        if raw:
            yield c.match(f"{where}, {d.name} components, uncorrected", raw, theirs[1:3], noise=_NOISE)
        constant, gap = theirs[3] - theirs[0], theirs[3] - theirs[4]
        skill = constant / gap if gap else np.nan
        reported = scores.score(d.name)
        noise = _NOISE / abs(gap) if gap else 0.0
        if np.isfinite(skill):
            yield c.match(
                f"{where}, {d.name} as reported and skill",
                [reported.value, reported.skill],
                [theirs[0] * signs[0], skill],
                noise=noise,
            )
    reported, area = scores.score(AUC), c.find("auc.interval")
    if area is None:
        yield c.miss(f"{where}, AUC", "auc")
        return
    expected = [area[0], 2 * area[0] - 1]
    yield c.match(f"{where}, AUC and its skill", [reported.value, reported.skill], expected, noise=_NOISE)


# ---- Tests ----


def _compare_tests(
    answer: InferenceAnswer, evaluation: Evaluation, asked: GroupQuestion, topic: str
) -> Iterator[Comparison]:
    """Compare the tests of each model over all groups, and their p-values adjusted by Holm."""
    names = [result.model for result in evaluation.models]
    tests = [found for found in evaluation.heterogeneity if found.column == asked.column]
    groups = [group for group in evaluation.groups if group.column == asked.column and group.models]
    known: list[float] = []
    for found in tests:
        number = names.index(found.model) + 1
        c = InferenceComparer(subject=found.model, prefix=f"m{number}.", answer=answer)
        line = _compare_test(c, found.test, groups, number - 1, topic)
        yield from line
        theirs = c.find(f"tests.{_name_of(found.test)}")
        is_compared = theirs is not None and line[0].verdict is not Verdict.NOT_COMPARED
        known += [float(theirs[2])] if theirs is not None and is_compared else []
    c = InferenceComparer(subject="All models", prefix="", answer=answer)
    if tests and len(known) < len(tests):
        yield c.state(f"{topic}: adjusted by Holm", Verdict.NOT_COMPARED, _HOLM)
    elif tests:
        theirs = answer.find("holm")
        ours = [np.nan if found.test.p_value_holm is None else found.test.p_value_holm for found in tests]
        if theirs is None:
            yield c.miss(f"{topic}: adjusted by Holm", "holm")
        else:
            yield c.match(f"{topic}: adjusted by Holm", sorted(ours), np.sort(theirs), noise=STATISTIC_NOISE)


def _name_of(test: HypothesisTest) -> str:
    """R's name of a test: that of the calibration line, or of the score in Cochran's Q."""
    return _LINE_TESTS.get(test.name, test.name.partition("(")[2].rstrip(")"))


def _compare_test(
    c: InferenceComparer, test: HypothesisTest, groups: Sequence[GroupResult], place: int, topic: str
) -> list[Comparison]:
    quantity, name = f"{topic}: {test.name}", _name_of(test)
    theirs = c.find(f"tests.{name}")
    if theirs is None:
        return [c.miss(quantity, "tests")]
    if name not in (*_LINE_TESTS.values(), AUC) and not _are_exact(groups, place, name):
        return [c.state(quantity, Verdict.NOT_COMPARED, _DRAWN)]
    noise = STATISTIC_NOISE + LIKELIHOOD_NOISE * test.n * (name in _LINE_TESTS.values())
    freedom = np.nan if test.degrees_of_freedom is None else test.degrees_of_freedom
    ours = [test.statistic, freedom, test.p_value]
    return [c.match(quantity, ours, theirs, noise=noise * np.array([1, 0, np.nan_to_num(theirs[2])]))]


def _are_exact(groups: Sequence[GroupResult], place: int, name: str) -> bool:
    """Whether the standard errors of a score come from the influence of rows in all groups."""
    intervals = [group.models[place].score(name).interval for group in groups]
    methods = ["" if each is None else each.method.removesuffix(f", {WIDENED}") for each in intervals]
    return all(FROM_INFLUENCE in method for method in methods)
