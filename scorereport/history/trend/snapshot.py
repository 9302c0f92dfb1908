"""What later audits need to know of this one, taken from its evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.configuration.measure_limits import MEASURES
from scorereport.data.scorereport_predictions import Predictions
from scorereport.errors import UsageError
from scorereport.evaluation.class_evaluation import class_panel_of
from scorereport.evaluation.summaries import panel_of
from scorereport.history.trend.bins import find_bins, group_bins
from scorereport.history.trend.drift_records import Distribution, Number, Snapshot
from scorereport.history.trend.sizes import effective_size, effective_size_by_bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.configuration.periods import Period
    from scorereport.inference.components import ComponentEstimate
    from scorereport.inference.estimates import Estimate
    from scorereport.inference.panel import PanelRows
    from scorereport.reliability.sampling import SamplingUnits
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelScores
    from scorereport.results.tallies import Tallies

_COMPONENTS = ("miscalibration", "discrimination")


def take_snapshot(evaluation: Evaluation, period: Period, *, time: str, configuration: str = "") -> Snapshot:
    """The main numbers of an evaluation and the distribution of its forecasts, for comparison with others.

    Parameters
    ----------
    evaluation : of the rows of the period; one that was read from a document has no forecasts and is refused
    period : the days that it is about
    time : when it was made, in ISO format; the later of two snapshots of one period counts
    configuration : the SHA-256 of the configuration that it was made by
    """
    data = evaluation.data
    size, distributions = _describe_rows(evaluation)
    return Snapshot(
        period=period,
        time=time,
        rows=data.sample.rows,
        size=size,
        level=evaluation.settings.level,
        main_score=evaluation.main_score,
        numbers=tuple(list_numbers(evaluation)),
        distributions=distributions,
        classes=data.sample.classes,
        labels=() if data.classes is None else data.classes.labels,
        clusters=data.clusters,
        configuration=configuration,
    )


def _describe_rows(evaluation: Evaluation) -> tuple[float, tuple[Distribution, ...]]:
    """How many independent rows there are, and how the forecasts of each model are distributed."""
    tallies: Tallies | None = getattr(evaluation, "tallies", None)
    if tallies is not None:
        size = tallies.rows if tallies.are_rows else effective_size_by_bucket(tallies.rows, tallies.outcomes)
        return size, tuple(_describe_tallies(tallies, model) for model in tallies.forecasts)
    panel, classes = _find_panel(evaluation), evaluation.data.classes
    size = effective_size(panel.units, panel.outcome.astype(np.int64))
    return size, tuple(_list_distributions(panel, () if classes is None else classes.labels))


def _describe_tallies(tallies: Tallies, model: str) -> Distribution:
    """The same of rows that were never in memory together, from their counts by bucket."""
    by_bucket = tallies.forecasts[model]
    weights = by_bucket.sum(axis=0)
    held = np.flatnonzero(weights)
    group = group_bins(weights, tallies.rows)
    sums = np.stack([by_bucket[:, group == number].sum(axis=1) for number in np.unique(group)], axis=1)
    return Distribution(
        model=model,
        label="",
        bins=tuple(held.tolist()),
        weights=tuple(weights[held].tolist()),
        mean=tallies.means[model],
        size=tallies.rows if tallies.are_rows else effective_size_by_bucket(tallies.rows, sums),
    )


def _find_panel(evaluation: Evaluation) -> PanelRows:
    """The rows that were evaluated, without those of no weight."""
    predictions = evaluation.predictions
    if predictions is None:
        raise UsageError(
            "`evaluation` must have its predictions, which documents do not hold; evaluate the data again."
        )
    return panel_of(predictions) if isinstance(predictions, Predictions) else class_panel_of(predictions)


def list_numbers(evaluation: Evaluation) -> Iterator[Number]:
    """The main score of each model with its components, the AUC of binary models, and the prevalence."""
    for result in evaluation.results:
        yield _mean_number(result.scores, evaluation.main_score)
        for component in _COMPONENTS:
            yield _component_number(result.scores, evaluation.main_score, component)
        if evaluation.kind == "binary":
            yield _mean_number(result.scores, "roc_auc")
    if evaluation.kind == "binary":
        sample = evaluation.data.sample
        yield _interval_number("", "prevalence", sample.prevalence, sample.prevalence_interval)


def _mean_number(scores: ModelScores, name: str) -> Number:
    score = scores.score(name)
    return _interval_number(scores.model, name, score.value, score.interval)


def _interval_number(model: str, measure: str, value: float, interval: Estimate | None) -> Number:
    return Number(
        model=model,
        measure=measure,
        label=MEASURES[measure].label,
        value=value,
        corrected=value,
        lower=np.nan if interval is None else interval.lower,
        upper=np.nan if interval is None else interval.upper,
        standard_error=np.nan if interval is None else interval.standard_error,
    )


def _component_number(scores: ModelScores, score: str, component: str) -> Number:
    """A raw component; with what is known of the true one, if outcomes were drawn."""
    raw = float(getattr(scores.decomposition(score), component))
    known: ComponentEstimate | None = scores.component(score, component)
    name = f"{score}_{component}"
    if known is None:
        return _interval_number(scores.model, name, raw, None)
    return Number(
        model=scores.model,
        measure=name,
        label=MEASURES[name].label,
        value=raw,
        corrected=known.corrected,
        lower=known.lower,
        upper=known.upper,
        standard_error=known.standard_error,
        overfit=known.overfit_resampled,
        overfit_closed=known.overfit_closed,
    )


def _list_distributions(panel: PanelRows, labels: tuple[str, ...]) -> Iterator[Distribution]:
    for model, forecast in panel.forecasts.items():
        if not labels:
            yield count_forecasts(model, "", forecast, panel.units)
        for place, label in enumerate(labels):
            yield count_forecasts(model, label, forecast[:, place], panel.units)


def count_forecasts(model: str, label: str, forecast: FloatArray, units: SamplingUnits) -> Distribution:
    """Weights of the bins that hold any forecast, and how many independent rows they are worth."""
    place = find_bins(forecast)
    weights = np.bincount(place, weights=units.row_weight).astype(np.float64)
    group = group_bins(weights, units.total / units.case_weight)
    held = np.flatnonzero(weights)
    return Distribution(
        model=model,
        label=label,
        bins=tuple(held.tolist()),
        weights=tuple(weights[held].tolist()),
        mean=units.mean(forecast),
        size=effective_size(units, group[place]),
    )
