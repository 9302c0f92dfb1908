"""The bootstrap: one pass of resampling for all statistics of all models, on the same resamples.

Resamples only change how much each row weighs. Mean scores are then sums of products, and skill and
uncertainty follow from them and from the prevalence of the resample; ranks and regressions are
computed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_whole
from scorereport._utils.machine import repeat
from scorereport.errors import UsageError
from scorereport.inference.bootstrap_results import Bootstrap
from scorereport.inference.large_panels import are_many_alike, resample_sums
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.resampled_areas import ResampledAreas
from scorereport.inference.resampled_lines import ResampledLines
from scorereport.inference.resampled_scores import ResampledScores
from scorereport.reliability.sampling import SEED, random_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel, PanelRows
    from scorereport.inference.replicates import ResampledStatistics


def bootstrap(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    scores: Sequence[str | tuple[str, Mapping[str, Any]]] = ("brier", "log_loss"),
    resamples: int = 1000,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Bootstrap:
    """Resample rows, or whole clusters, and compute every statistic of every model on each resample.

    Statistics are each score, its skill and its uncertainty, the AUC (`roc_auc`), and slope, intercept
    and intercept at slope 1 of the calibration line. Miscalibration and discrimination are left out:
    see `component_intervals`.

    Parameters
    ----------
    scores : names of scores, or pairs of a name and its options such as `("net_benefit", {"threshold": 0.2})`

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> p = rng.random(200)
    >>> result = bootstrap(rng.random(200) < p, {"model": p}, resamples=200)
    >>> result.interval("model", "brier", level=0.9).method
    'BCa bootstrap, 200 resamples of rows, seed 2021'
    """
    panel = make_panel(
        y_true, forecasts, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    if isinstance(scores, str) or not scores:
        raise UsageError(f"`scores` must be a list of at least one score; got {scores!r}.")
    measures = [resolve_measure(*(score if isinstance(score, tuple) else (score, {}))) for score in scores]
    labels = [measure.label for measure in measures]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"`scores` must differ; got {label!r} twice.")
    resamples, seed = check_whole(resamples, "resamples", 2), check_whole(seed, "seed", 0)
    return bootstrap_panel(panel, measures, resamples=resamples, seed=seed, whole=True)


def bootstrap_panel(
    panel: ForecastPanel, measures: Sequence[Measure], *, resamples: int, seed: int, whole: bool
) -> Bootstrap:
    """Bootstrap mean scores, skills and uncertainties and, if `whole`, AUC and calibration line too."""
    scores = ResampledScores(panel, measures)
    named = {measure.label: measure for measure in measures}
    if whole:
        parts: list[ResampledStatistics] = [scores, ResampledAreas(panel), ResampledLines(panel)]
        return bootstrap_parts(panel, parts, named, resamples=resamples, seed=seed)
    if not are_many_alike(panel):
        return bootstrap_parts(panel, [scores], named, resamples=resamples, seed=seed)
    sums = resample_sums(
        scores.score, len(panel.outcome), resamples=resamples, seed=seed, what="bootstrapping"
    )
    statistics = tuple(scores.finish(sums.drawn, sums.observed))
    return Bootstrap(panel=panel, measures=named, statistics=statistics, resamples=resamples, seed=seed)


def bootstrap_parts(
    panel: PanelRows,
    parts: Sequence[ResampledStatistics],
    measures: Mapping[str, Measure],
    *,
    resamples: int,
    seed: int,
) -> Bootstrap:
    """Compute all parts on each resample, and collect their statistics."""

    def resample(number: int) -> list[FloatArray]:
        weight = panel.units.draw(random_stream(seed, number))
        return [part.values(weight) for part in parts]

    drawn = list(repeat(resample, resamples, rows=len(panel.outcome), what="bootstrapping"))
    columns = [np.array(values) for values in zip(*drawn, strict=True)]
    statistics = [s for part, values in zip(parts, columns, strict=True) for s in part.finish(values)]
    return Bootstrap(
        panel=panel, measures=measures, statistics=tuple(statistics), resamples=resamples, seed=seed
    )
