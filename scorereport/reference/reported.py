"""What an evaluation reports of a model beside its scores: held against R, or drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.comparison import Comparison, compare_arrays
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.predictions import Predictions
    from scorereport.reference.comparing import Comparer
    from scorereport.reliability.bands import Band
    from scorereport.reliability.fit import Corp
    from scorereport.results import ModelResult, Settings


def compare_reported(
    comparer: Comparer, result: ModelResult, predictions: Predictions, settings: Settings
) -> Iterator[Comparison]:
    """AUC, Murphy's parts and the reliability curve against R; each pointwise band against its seed.

    That the engine's bands are right R has told by then: what remains is that these are the engine's.
    """
    auc = next(score.value for score in result.scores.scores if score.name == "roc_auc")
    yield from comparer.counts(auc, result.murphy)
    yield from comparer.curve(result.curves.reliability.forecast, result.curves.reliability.cep)
    p = predictions
    fit = corp(p.outcome, p.forecasts[result.model], p.weight, cluster=p.cluster)
    for band in result.bands:
        if band.coverage == "pointwise":
            yield _compare_again(result.model, band, fit, settings)


def _compare_again(subject: str, band: Band, fit: Corp, settings: Settings) -> Comparison:
    again = fit.band(
        band.kind,
        band.level,
        method=band.method,
        resamples=settings.resamples,
        seed=settings.seed,
        points=settings.curve_points,
    )
    ours, drawn = (np.concatenate([b.x, b.lower, b.upper]) for b in (band, again))
    return compare_arrays(
        subject,
        f"reported {band.kind} band ({band.method}), drawn again by the engine",
        ours,
        drawn,
        tolerance=0.0,
    )
