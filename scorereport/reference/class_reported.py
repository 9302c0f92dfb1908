"""Models of K classes: every view of the evaluation against R, then what the views make together."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from scorereport._utils.progress import steps
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.reference.band_comparison import compare_bands
from scorereport.reference.binary_views import count_views, list_views, make_views
from scorereport.reference.class_comparison import SCORE_OF, ViewTally, compare_measures, divisor_of
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.reported import check_complete, compare_again
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.data.scorereport_predictions import ClassPredictions
    from scorereport.reference.asking import ReferenceClient
    from scorereport.reference.binary_views import BinaryView
    from scorereport.reference.model_comparison import ModelComparer
    from scorereport.results.class_records import ClassModelResult, ViewResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import EvaluationSettings


def compare_class_results(
    asker: ReferenceClient, evaluation: Evaluation, predictions: ClassPredictions
) -> Iterator[Comparison]:
    """Every view of every model, as if it were a binary model; their sums, and all measures of K classes."""
    results = {result.model: result for result in evaluation.class_models}
    views = steps(make_views(predictions), count_views(predictions), "asking R", unit="questions")
    for model, of_model in groupby(views, key=lambda view: view.model):
        result = results[model]
        for kind, of_kind in groupby(of_model, key=lambda view: view.kind):
            tally = ViewTally(kind)
            for view in of_kind:
                comparer = asker.ask(view.subject, view.y_true, view.y_prob, is_drawn=view.is_drawn)
                yield from _compare_view(comparer, view, result, evaluation.settings, predictions)
                tally.add(comparer)
            yield from tally.compare(result)
        yield from compare_measures(asker.reference, result, evaluation, predictions)
        yield check_complete(model, _parts_of(result), _parts_of_all(predictions))


def _compare_view(
    comparer: ModelComparer,
    view: BinaryView,
    result: ClassModelResult,
    settings: EvaluationSettings,
    predictions: ClassPredictions,
) -> Iterator[Comparison]:
    """What the evaluation says of a view; bins, recalibrated probabilities and R's bands of the same data."""
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
    """That the bands of the evaluation are the engine's; that the engine's are right R tells."""
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
    return ["brier", "and", "brier", "roc_auc", "and", *(["consistency"] if settings.resamples else [])]


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
    """The same of every sound evaluation, which has the views by class first."""
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
