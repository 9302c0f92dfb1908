"""Nelson's probability scale with intervals: probabilities of observed classes and their frequencies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import read_only
from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import format_counted
from scorereport.errors import UsageError
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.panel import make_panel
from scorereport.inference.scale_draws import ScaleForecast, ScaleMarks, ScaleTarget
from scorereport.inference.scale_groups import group_forecast, is_groupable
from scorereport.inference.scale_intervals import (
    EXPONENTS,
    MOST_DRAWS,
    ScaleDraws,
    ScaleRequest,
    draw_overfit,
    estimate_marks,
    judge_angle,
)
from scorereport.inference.scale_powers import power_means
from scorereport.inference.scale_results import (
    CLASS_BIAS,
    CORP,
    EQUAL_COUNT,
    KINDS_OF_BINS,
    OVER,
    UNDER,
    ScaleMark,
    ScaleResult,
)
from scorereport.inference.scale_sums import draw_marks, resample_marks
from scorereport.scores.probability import ROBUSTNESS
from scorereport.scores.scale import event_shares

__all__ = ["ScaleMark", "ScaleResult", "model_source", "scale_forecast", "scale_panel"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.panel import ForecastPanel

#: More draws of outcomes than this hardly change the angle of a calibrated model.
_MOST_DRAWS = 200
#: The most resamples in an evaluation: with more, percentiles of marks hardly change.
_MOST_RESAMPLES = 400
#: The exponents of the spectrum, which include those of the three marks.
_SPECTRUM = np.union1d(np.arange(-20, 21) / 10, ROBUSTNESS)
_MEANS = tuple(_SPECTRUM.tolist())


def model_source(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    bins: int | str = 10,
    limit: float = 0.0,
    target: int | None = None,
    level: float = 0.95,
    resamples: int = 0,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> ScaleResult:
    """Compare model and source probabilities on Nelson's scale, with intervals and the angle of the marks.

    Without `target` the numbers are those of `scores.probability_scale`, over all pairs of case and class.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or class indices
    y_prob : probabilities of the event, or one row of K class probabilities per case
    bins : number of equal-count bins, as in the paper, at most one for each pair; or "CORP blocks", the steps
        of an isotonic fit, which determines their number and edges
    limit : probabilities are clipped to [limit, 1 - limit] first (the paper uses 0.01)
    target : the index of a class that is compared with the rest, 0 or 1 for outcomes; None for all classes
    level : confidence level of the intervals
    resamples, seed : number of resamples of rows, or whole clusters, for intervals and the verdict, 0 for
        neither; and their seed
    sample_weight, weight_kind, cluster : as in `bootstrap`

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> result = model_source([1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1], bins=2)
    >>> round(result.accuracy.model.value, 4), result.accuracy.source.value, result.contribution
    (0.7416, 1.0, array([0., 1.]))
    """
    kind = check_option(bins, "bins", (CORP,)) if isinstance(bins, str) else EQUAL_COUNT
    request = ScaleRequest(
        n_bins=1 if isinstance(bins, str) else check_whole(bins, "bins", 1),
        limit=check_inside(limit, "limit", 0, 0.5, closed="left"),
        level=check_inside(level, "level", 0, 1, closed="neither"),
        resamples=check_whole(resamples, "resamples", 0),
        seed=check_whole(seed, "seed", 0),
    )
    make: Any
    read: Any
    make, read = (make_panel, _of_event) if np.ndim(y_prob) == 1 else (make_class_panel, _of_classes)
    panel = make(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    forecast = read(panel, "y_prob", request.limit)
    label = None if target is None else _check_target(target, forecast.given.shape[1])
    named = [(label, "" if label is None else str(label))]
    return next(result for result in _scale(forecast, named, request) if result.bins == kind)


def scale_panel(
    panel: ClassPanel,
    model: str,
    labels: Sequence[str],
    *,
    n_bins: int,
    limit: float,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[ScaleResult, ...]:
    """Return the scale of all classes together, then of each against the rest, with both kinds of bins."""
    request = _make_request(n_bins, limit, level, resamples, seed)
    return _scale(_of_classes(panel, model, limit), [(None, ""), *enumerate(labels)], request)


def scale_forecast(
    panel: ForecastPanel,
    model: str,
    labels: Sequence[str] = ("non-event", "event"),
    *,
    n_bins: int,
    limit: float,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[ScaleResult, ...]:
    """Return the scale of event and non-event together, then of each, with both kinds of bins."""
    request = _make_request(n_bins, limit, level, resamples, seed)
    targets = [(None, ""), (1, labels[1]), (0, labels[0])]
    return _scale(_read_event(panel, model, request), targets, request)


def _make_request(n_bins: int, limit: float, level: float, resamples: int, seed: int) -> ScaleRequest:
    """The request of an evaluation, in which the scale is one part of many and needs fewer resamples."""
    few = min(resamples, _MOST_RESAMPLES)
    return ScaleRequest(n_bins=n_bins, limit=limit, level=level, resamples=few, seed=seed)


def _of_classes(panel: ClassPanel, model: str, limit: float) -> ScaleForecast:
    given = panel.forecasts[model]
    return ScaleForecast(given=given, limit=limit, outcome=panel.outcome, units=panel.units)


def _read_event(panel: ForecastPanel, model: str, request: ScaleRequest) -> ScaleForecast:
    """The forecast of an event, in groups if rows are many."""
    if not is_groupable(panel):
        return _of_event(panel, model, request.limit)
    return group_forecast(panel.outcome, panel.forecasts[model], request.limit, request.n_bins, _MEANS)


def _of_event(panel: ForecastPanel, model: str, limit: float) -> ScaleForecast:
    p = panel.forecasts[model]
    given = np.column_stack([1 - p, p])
    return ScaleForecast(given=given, limit=limit, outcome=panel.outcome.astype(np.int64), units=panel.units)


def _check_target(target: int, n_classes: int) -> int:
    label = check_whole(target, "target", 0)
    if label >= n_classes:
        raise UsageError(f"`target` must be the index of a class, 0 to {n_classes - 1}; got {target!r}.")
    return label


def _scale(
    forecast: ScaleForecast, named: Sequence[tuple[int | None, str]], request: ScaleRequest
) -> tuple[ScaleResult, ...]:
    results = _measure(forecast, named, request)
    doubtful = {result.bins for result in results if result.verdict in {OVER, UNDER}}
    if not doubtful:
        return results
    rescaled = _measure(forecast.rescaled(), [(None, "")], request)
    confirmed = {result.bins: result.verdict for result in rescaled}
    return tuple(
        replace(result, verdict=CLASS_BIAS)
        if result.verdict in {OVER, UNDER} and confirmed[result.bins] != result.verdict
        else result
        for result in results
    )


def _measure(
    forecast: ScaleForecast,
    named: Sequence[tuple[int | None, str]],
    request: ScaleRequest,
) -> tuple[ScaleResult, ...]:
    targets = [ScaleTarget(forecast, label, request.n_bins) for label, _ in named]
    drawn = _draw(forecast, targets, request)
    return tuple(
        _describe(target, name, kind, drawn[place][kind], request)
        for place, (target, (_, name)) in enumerate(zip(targets, named, strict=True))
        for kind in range(len(KINDS_OF_BINS))
    )


def _draw(
    forecast: ScaleForecast,
    targets: Sequence[ScaleTarget],
    request: ScaleRequest,
) -> list[list[ScaleDraws]]:
    """Compute the marks of all resamples and all draws, for each target and kind of bins."""
    resamples = request.resamples if forecast.units.size > 1 else 0
    draws, refits = min(resamples, _MOST_DRAWS), min(resamples, MOST_DRAWS)
    resampled = resample_marks(forecast, targets, resamples=resamples, seed=request.seed)
    drawn = draw_marks(forecast, targets, draws=draws, seed=request.seed)
    overfits = [draw_overfit(target, draws=refits, seed=request.seed) for target in targets]
    return [
        [
            ScaleDraws(
                resampled[place][kind],
                drawn[place][kind],
                overfits[place] if KINDS_OF_BINS[kind] == CORP else None,
                refits,
            )
            for kind in range(len(KINDS_OF_BINS))
        ]
        for place in range(len(targets))
    ]


def _describe(
    target: ScaleTarget, name: str, kind: int, drawn: ScaleDraws, request: ScaleRequest
) -> ScaleResult:
    bins, is_observed = target.bins[kind], target.is_observed
    n, events = bins.sums(target.weight), bins.sums(target.weight * is_observed)
    source = event_shares(events, n)
    of_model, of_source = target.power_means(_MEANS), power_means(source, _MEANS, events)
    marks = ScaleMarks(*(np.array([means[m] for m in EXPONENTS]) for means in (of_model, of_source)))
    decisiveness, accuracy, robustness = estimate_marks(marks, drawn, target, request)
    return ScaleResult(
        target=name,
        bins=KINDS_OF_BINS[kind],
        n_bins=target.n_bins if kind == 0 else 0,
        decisiveness=decisiveness,
        accuracy=accuracy,
        robustness=robustness,
        n=read_only(n),
        events=read_only(events),
        model=read_only(target.geometric_means(kind)),
        source=read_only(source),
        limit=float(request.limit),
        **judge_angle(marks, drawn, decisiveness.divergence, request, is_overall=target.label is None),
        spectrum_exponent=read_only(_SPECTRUM.copy()),
        spectrum_model=read_only(np.array([of_model[m] for m in _MEANS])),
        spectrum_source=read_only(np.array([of_source[m] for m in _MEANS])),
        note=_explain(target, kind, request),
    )


def _explain(target: ScaleTarget, kind: int, request: ScaleRequest) -> str:
    """Describe what is unusual about a result."""
    notes = []
    if not target.is_observed.any():
        notes.append("It was never observed, so there is no mean of the probabilities of observed cases.")
    if kind == 0 and target.n_bins < request.n_bins:
        made = format_counted(target.n_bins, "bin")
        notes.append(f"There are {made} instead of {request.n_bins}: pairs of case and class are too few.")
    return " ".join(notes)
