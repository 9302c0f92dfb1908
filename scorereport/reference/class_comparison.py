"""Scores of K classes, recomputed: from R's numbers of all views, and by plain arithmetic of base R."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.reference.binary_views import name_family
from scorereport.reference.model_comparison import BASE_SOURCE, COMPONENTS, SKILL_TOLERANCE, match_numbers
from scorereport.reference.questions import read_vector
from scorereport.results.class_records import CLASS, THRESHOLD
from scorereport.scores.registry import get_score
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.scorereport_predictions import ClassPredictions
    from scorereport.reference.comparison_records import Comparison
    from scorereport.reference.live_references import Reference
    from scorereport.reference.model_comparison import ModelComparer
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import EvaluationSettings, ModelScores

#: The score that the Brier scores of all views of a kind make.
SCORE_OF = {THRESHOLD: "rps", CLASS: "multiclass_brier"}
#: Recalibrated probabilities that fall by less do not fall.
_ROUNDING = 1e-9


# ---- From the views ----


def divisor_of(kind: str, views: int) -> int:
    """The ranked probability score is a mean over thresholds, the Brier score a sum over classes."""
    return views if kind == THRESHOLD else 1


class ViewTally:
    """What R says of the views of a kind, one after the other: their sums, and where thresholds cross."""

    def __init__(self, kind: str) -> None:
        self.kind, self.views = kind, 0
        self.source = ""
        self.parts: FloatArray = np.zeros(len(COMPONENTS))
        self._last: FloatArray | None = None
        self._falls: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._weight: FloatArray = np.zeros(0)

    def add(self, comparer: ModelComparer) -> None:
        """Take the answer about the next view."""
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
        """The decomposed score of K classes; of thresholds also the cases in which they cross."""
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
    reference: Reference, result: ClassModelResult, evaluation: Evaluation, predictions: ClassPredictions
) -> Iterator[Comparison]:
    """Every measure of K classes and its skill, the confusion table and the classes that came."""
    size, model = len(predictions.classes), result.model
    said = reference.fetch("classes", **_vectors(predictions, model, evaluation.settings))
    for value in result.scores.scores:
        label = get_score(value.name).label
        mean, constant, perfect = read_vector(said, f"class.{value.name}", 3)
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
    joint = read_vector(said, "joint", size**2)
    yield match_numbers(model, "confusion table", counts, joint, source=BASE_SOURCE)
    yield _compare_classes(model, evaluation, read_vector(said, "came", size))


def _compare_classes(model: str, evaluation: Evaluation, came: FloatArray) -> Comparison:
    """Weight and share of each class, and the weight of all."""
    data = evaluation.data
    counts = () if data.classes is None else data.classes.counts
    ours = [*(count.weight for count in counts), *(count.share for count in counts)]
    ours += [*data.sample.classes, data.sample.total]
    theirs = np.concatenate([came, came / came.sum(), came, [came.sum()]])
    return match_numbers(model, "cases of each class", ours, theirs, source=BASE_SOURCE)


def _vectors(predictions: ClassPredictions, model: str, settings: EvaluationSettings) -> dict[str, Any]:
    """The arguments of the R function `classes`; costs that were not given R makes itself."""
    p, weight, costs = predictions.forecasts[model], predictions.weight, settings.cost_matrix
    return {
        "y": predictions.outcome + 1.0,
        "p": p.T.ravel(),
        "weight": np.ones(len(p)) if weight is None else weight,
        "size": [float(p.shape[1])],
        "ordered": [float(predictions.ordered)],
        "cost": [] if costs is None else np.ravel(costs),
    }
