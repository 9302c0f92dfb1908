"""What an evaluation reports of a model beside its scores: held against R, or drawn again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.summaries import choose_measures
from scorereport.reference.comparison_records import Comparison, Verdict, compare_arrays
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.data.scorereport_predictions import Predictions
    from scorereport.reference.model_comparison import ModelComparer
    from scorereport.reliability.bands import Band
    from scorereport.reliability.fit import Corp
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import EvaluationSettings, ModelResult

#: Of lines that hold an evaluation against the engine, not against R.
ITSELF = "the engine"


def compare_reported(
    comparer: ModelComparer, result: ModelResult, evaluation: Evaluation, predictions: Predictions
) -> Iterator[Comparison]:
    """What tables and figures show of a model, against R; each pointwise band against its seed.

    That the engine's bands are right R tells elsewhere: what remains is that these are the engine's.
    """
    settings = evaluation.settings
    yield check_complete(result.model, _parts_of(result), _parts_of_all(settings))
    yield comparer.sample(evaluation.data.sample)
    for value in result.scores.scores:
        if value.name == "roc_auc":
            yield from comparer.counts(value.value, result.murphy)
            yield comparer.auc_skill(value.skill)
        else:
            yield from comparer.score(value)
    yield from comparer.curve(result.curves.reliability.forecast, result.curves.reliability.cep)
    p = predictions
    fit = corp(p.outcome, p.forecasts[result.model], p.weight, weight_kind=p.weight_kind, cluster=p.cluster)
    for band in result.bands:
        if band.coverage == "pointwise":
            yield compare_again(result.model, band, fit, settings)


def _parts_of(result: ModelResult) -> list[str]:
    return [
        *(d.name for d in result.scores.decompositions),
        "and",
        *(value.name for value in result.scores.scores),
        "and",
        *(band.kind for band in result.bands if band.coverage == "pointwise"),
    ]


def _parts_of_all(settings: EvaluationSettings) -> list[str]:
    names = [measure.name for measure in choose_measures(settings)]
    bands = ["consistency", "confidence"] if settings.resamples else []
    return [*names, "and", *names, "roc_auc", "and", *bands]


def check_complete(subject: str, found: Sequence[str], wanted: Sequence[str]) -> Comparison:
    """An evaluation from which a number was taken out must not pass for that."""
    is_complete = list(found) == list(wanted)
    told = f"There are {', '.join(found)}; there must be {', '.join(wanted)}."
    return Comparison(
        subject=subject,
        quantity="scores and bands that an evaluation has",
        verdict=Verdict.AGREES if is_complete else Verdict.DIFFERS,
        reason="" if is_complete else told,
        source=ITSELF,
    )


def compare_again(subject: str, band: Band, fit: Corp, settings: EvaluationSettings) -> Comparison:
    """A pointwise band as it is reported, beside the same drawn again from the data."""
    again = fit.band(
        band.kind,
        settings.band_level,
        resamples=settings.resamples,
        seed=settings.seed,
        points=settings.curve_points,
    )
    quantity = f"reported {band.kind} band ({again.method}), drawn again"
    ours, drawn = (np.concatenate([[b.n], b.x, b.lower, b.upper]) for b in (band, again))
    line = compare_arrays(subject, quantity, ours, drawn, tolerance=0.0)
    if band.label != again.label or (band.seed, band.shape) != (again.seed, again.shape):
        told = f"It is a {band.label}; it must be a {again.label}."
        line = replace(line, verdict=Verdict.DIFFERS, reason=told)
    return replace(line, source=ITSELF)
