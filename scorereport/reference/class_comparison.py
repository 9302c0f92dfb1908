"""Comparison of models of K classes with R: binary views, their sums, and all measures."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.progress import parts, steps
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.reference.band_comparison import compare_bands
from scorereport.reference.binary_views import count_views, list_views, make_views, name_family
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.model_comparison import (
    BASE_SOURCE,
    COMPONENTS,
    SKILL_TOLERANCE,
    check_complete,
    compare_again,
    match_numbers,
)
from scorereport.reference.questions import read_vector
from scorereport.reliability.fit import corp
from scorereport.results.class_records import CLASS, THRESHOLD
from scorereport.scores.registry import get_score
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.predictions import ClassPredictions
    from scorereport.reference.binary_views import BinaryView
    from scorereport.reference.exchange import Vector
    from scorereport.reference.inquiry import Answers
    from scorereport.reference.model_comparison import ModelComparer
    from scorereport.results.class_records import ClassModelResult, ViewResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelScores
    from scorereport.results.settings import EvaluationSettings


#: The score of K classes that is the sum, or mean, of the Brier scores of all views of a kind.
SCORE_OF = {THRESHOLD: "rps", CLASS: "multiclass_brier"}
#: A decrease of recalibrated probabilities by less than this is rounding.
_ROUNDING = 1e-9


# ---- From the views ----


def divisor_of(kind: str, views: int) -> int:
    """The divisor of a sum over views: the ranked probability score is a mean, the Brier score a sum."""
    return views if kind == THRESHOLD else 1


class ViewTally:
    """Sums of R's answers about the views of a kind, and the cases in which thresholds cross."""

    def __init__(self, kind: str) -> None:
        self.kind, self.views = kind, 0
        self.source = ""
        self.parts: FloatArray = np.zeros(len(COMPONENTS))
        self._last: FloatArray | None = None
        self._falls: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._weight: FloatArray = np.zeros(0)

    def add(self, comparer: ModelComparer) -> None:
        """Add the answer about the next view."""
        answer, weight = comparer.answer, comparer.question.weight
        self.views += 1
        self.source = comparer.source
        self.parts = self.parts + answer.scores["brier"]
        if self._last is None:
            self._falls = np.zeros(len(answer.cep), dtype=bool)
            self._weight = np.ones(len(answer.cep)) if weight is None else weight
        else:
            self._falls = self._falls | (answer.cep < self._last - _ROUNDING)
        self._last = answer.cep

    def compare(self, result: ClassModelResult) -> Iterator[Comparison]:
        """Compare the decomposed score of K classes and, for thresholds, the cases in which they cross."""
        yield from self._compare_score(result.scores)
        family = result.family(self.kind)
        if family is not None and self.kind == THRESHOLD:
            crossing = float(self._weight[self._falls].sum())
            quantity = "cases whose recalibrated probabilities cross"
            yield match_numbers(result.model, quantity, family.crossing, crossing, source=self.source)

    def _compare_score(self, scores: ModelScores) -> Iterator[Comparison]:
        name, theirs = SCORE_OF[self.kind], self.parts / divisor_of(self.kind, self.views)
        label = f"{get_score(name).label}, {name_family(self.kind, self.views)}"
        for d in scores.decompositions:
            if d.name == name:
                ours = (d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect)
                for part, engine, reference in zip(COMPONENTS, ours, theirs, strict=True):
                    yield match_numbers(
                        scores.model, f"{label}: {part}", engine, reference, source=self.source
                    )


# ---- From the cases ----


def compare_measures(
    answer: dict[str, Vector], result: ClassModelResult, evaluation: Evaluation, predictions: ClassPredictions
) -> Iterator[Comparison]:
    """Compare every measure of K classes and its skill, the confusion table and the observed classes."""
    size, model = len(predictions.classes), result.model
    for value in result.scores.scores:
        label = get_score(value.name).label
        mean, constant, perfect = read_vector(answer, f"class.{value.name}", 3)
        yield match_numbers(model, f"{label}: as reported", value.value, mean, source=BASE_SOURCE)
        yield match_numbers(
            model,
            f"{label}: skill",
            value.skill,
            relative_skill(mean, constant, perfect),
            source=BASE_SOURCE,
            tolerance=SKILL_TOLERANCE,
        )
    counts = np.ravel(result.confusion.counts)
    joint = read_vector(answer, "joint", size**2)
    yield match_numbers(model, "confusion table", counts, joint, source=BASE_SOURCE)
    yield _compare_classes(model, evaluation, read_vector(answer, "came", size))


def _compare_classes(model: str, evaluation: Evaluation, weights: FloatArray) -> Comparison:
    """Compare the weight and share of each class, and the total weight."""
    data = evaluation.data
    counts = () if data.classes is None else data.classes.counts
    ours = [*(count.weight for count in counts), *(count.share for count in counts)]
    ours += [*data.sample.classes, data.sample.total]
    theirs = np.concatenate([weights, weights / weights.sum(), weights, [weights.sum()]])
    return match_numbers(model, "cases of each class", ours, theirs, source=BASE_SOURCE)


def compare_class_results(
    answers: Answers, evaluation: Evaluation, predictions: ClassPredictions
) -> Iterator[Comparison]:
    """Compare every view of every model, as a binary model; their sums; and all measures of K classes."""
    results = {result.model: result for result in evaluation.class_models}
    count = count_views(predictions)
    views = parts(steps(make_views(predictions), count, "asking R", unit="questions"), count)
    for model, of_model in groupby(views, key=lambda view: view.model):
        result = results[model]
        for kind, of_kind in groupby(of_model, key=lambda view: view.kind):
            tally = ViewTally(kind)
            for view in of_kind:
                comparer = answers.about(view.subject)
                yield from _compare_view(comparer, view, result, evaluation.settings, predictions)
                tally.add(comparer)
            yield from tally.compare(result)
        yield from compare_measures(answers.about_all(), result, evaluation, predictions)
        yield check_complete(model, _parts_of(result), _parts_of_all(predictions))


def _compare_view(
    comparer: ModelComparer,
    view: BinaryView,
    result: ClassModelResult,
    settings: EvaluationSettings,
    predictions: ClassPredictions,
) -> Iterator[Comparison]:
    """Compare the reported numbers of a view, and bins, recalibrated probabilities and bands of its fit."""
    found = _find(result, view)
    if found is None:
        yield comparer.state("scores", Verdict.DIFFERS, "The evaluation has no such view.")
        return
    yield from comparer.compare(found.scores.decompositions)
    yield comparer.sample(found.sample)
    for value in found.scores.scores:
        if value.name == "roc_auc":
            yield comparer.auc(value.value)
            yield comparer.auc_skill(value.skill)
        else:
            yield from comparer.score(value)
    yield from comparer.curve(found.reliability.forecast, found.reliability.cep)
    yield from compare_bands(comparer)
    yield from _compare_drawn_again(view, found, settings, predictions)
    yield check_complete(view.subject, _parts_of_view(found), _parts_of_any_view(settings))


def _find(result: ClassModelResult, view: BinaryView) -> ViewResult | None:
    family = result.family(view.kind)
    views = () if family is None else family.views
    return next((found for found in views if found.label == view.label), None)


def _compare_drawn_again(
    view: BinaryView, found: ViewResult, settings: EvaluationSettings, predictions: ClassPredictions
) -> Iterator[Comparison]:
    """Compare the reported bands of a view with those of the engine, which are compared with R elsewhere."""
    bands = [band for band in found.bands if band.coverage == "pointwise"]
    if bands:
        fit = corp(
            view.y_true,
            view.y_prob,
            predictions.weight,
            weight_kind=predictions.weight_kind,
            cluster=predictions.cluster,
        )
        yield from (compare_again(view.subject, band, fit, settings) for band in bands)


def _parts_of_view(found: ViewResult) -> list[str]:
    return [
        *(d.name for d in found.scores.decompositions),
        "and",
        *(value.name for value in found.scores.scores),
        "and",
        *(band.kind for band in found.bands if band.coverage == "pointwise"),
    ]


def _parts_of_any_view(settings: EvaluationSettings) -> list[str]:
    return ["brier", "and", "brier", "roc_auc", "and", *(["consistency"] if settings.infers else [])]


def _parts_of(result: ClassModelResult) -> list[str]:
    families = {family.kind: family for family in result.families}
    return [
        *(d.name for d in result.scores.decompositions),
        "and",
        *(value.name for value in result.scores.scores),
        "and",
        *(f"{len(f.views)} by {kind}, {f.score} over {f.divisor}" for kind, f in families.items()),
    ]


def _parts_of_all(predictions: ClassPredictions) -> list[str]:
    """The parts of a complete evaluation, which has the views by class first."""
    kinds = {kind: len(labels) for kind, labels in reversed(list_views(predictions).items())}
    return [
        *(SCORE_OF[kind] for kind in kinds),
        "and",
        *list_class_measures(ordered=predictions.ordered),
        "and",
        *(
            f"{views} by {kind}, {SCORE_OF[kind]} over {divisor_of(kind, views)}"
            for kind, views in kinds.items()
        ),
    ]
