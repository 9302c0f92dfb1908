"""Snapshot of an evaluation, with its effective number of independent rows, for later comparison.

References
----------
Kish (1965), Survey Sampling, Wiley
Rao, Scott (1981), J. Am. Stat. Assoc. 76, doi:10.1080/01621459.1981.10477633
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.configuration.measure_limits import MEASURES
from scorereport.data.predictions import Predictions
from scorereport.errors import UsageError
from scorereport.evaluation.prediction_panels import class_panel_of, panel_of
from scorereport.history.trend.drift_records import Distribution, Number, Snapshot
from scorereport.history.trend.drift_tests import group_bins
from scorereport.history.trend.evidence_records import GroupShares
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.tallies import find_bins

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.configuration.periods import Period
    from scorereport.inference.estimates import ComponentEstimate, Estimate
    from scorereport.inference.panel import PanelRows
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelScores
    from scorereport.results.tallies import Tallies


_COMPONENTS = ("miscalibration", "discrimination")


def effective_size(units: SamplingUnits, group: IntArray) -> float:
    """Return the number of independent rows that estimate the shares of some groups as precisely.

    Without clusters, and without weights or with frequency weights, it is the number of rows. Sampling
    weights make it Kish's effective size, (Σw)²/Σw². Weights and clusters divide it by the largest design
    effect of any share, which is the variance of the share relative to that of independent rows. Rao and
    Scott take the mean design effect, with which a chi-square test of few clusters rejects too often. A
    design effect below 1 counts as 1. If all rows are in one group, the design effect is not known, and
    the result is at most the number of sampling units. Groups without weight do not count.
    """
    rows = units.total / units.case_weight
    if units.cluster is None and units.are_repeated_rows:
        return rows
    members = [(group == number).astype(np.float64) for number in np.unique(group[units.row_weight > 0])]
    if units.size <= 1 or len(members) == 1:
        return min(rows, units.size)
    return _divide(rows, [(units.mean(member), units.standard_error(member)) for member in members])


def effective_size_by_bucket(rows: float, sums: FloatArray) -> float:
    """Return the effective size from the weights of groups (columns) in buckets (rows), as if clusters.

    `rows` is the number of independent rows if there were no clusters. Rows, or clusters, are assigned to
    buckets at random, so that the variance between buckets estimates the variance between them.
    """
    filled = sums[sums.sum(axis=1) > 0][:, sums.sum(axis=0) > 0]
    buckets, groups = filled.shape
    if buckets <= 1 or groups == 1:
        return min(rows, float(buckets))
    total = filled.sum()
    shares = filled.sum(axis=0) / total
    deviations = filled - filled.sum(axis=1, keepdims=True) * shares
    errors = np.sqrt((deviations**2).sum(axis=0) * buckets / (buckets - 1)) / total
    return _divide(rows, list(zip(shares.tolist(), errors.tolist(), strict=True)))


def _divide(rows: float, shares: Sequence[tuple[float, float]]) -> float:
    """Divide the rows by the largest design effect of the shares, which are given with standard errors."""
    return float(rows / max(1.0, *(rows * error**2 / (share * (1 - share)) for share, error in shares)))


def take_snapshot(evaluation: Evaluation, period: Period, *, time: str, configuration: str = "") -> Snapshot:
    """Take the main numbers of an evaluation and its forecast distributions, for comparison with others.

    Parameters
    ----------
    evaluation : evaluation of the rows of the period; refused if read from a document, without forecasts
    period : the days that the rows are from
    time : when the evaluation was made, in ISO format; the later of two snapshots of one period counts
    configuration : the SHA-256 of the configuration of the audit
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
        groups=tuple(list_group_shares(evaluation)),
        immature=data.row_flow.immature_rows,
    )


def list_group_shares(evaluation: Evaluation) -> Iterator[GroupShares]:
    """Yield the numbers of independent cases by value, for each column of groups of an evaluation."""
    for column in dict.fromkeys(group.column for group in evaluation.groups):
        found = [group for group in evaluation.groups if group.column == column]
        weights = np.array([group.sample.total for group in found])
        size = _find_group_size(evaluation, column)
        yield GroupShares(
            column=column,
            values=tuple(group.label for group in found),
            weights=tuple((weights * (size / weights.sum())).tolist()),
        )


def _find_group_size(evaluation: Evaluation, column: str) -> float:
    """Return the number of independent cases that estimate the shares of the groups of a column.

    For rows that are not in memory, it is at most the number of clusters, which is safe.
    """
    predictions, tallies = evaluation.predictions, getattr(evaluation, "tallies", None)
    if predictions is None:
        rows = evaluation.data.sample.total if tallies is None else tallies.rows
        return float(min(rows, evaluation.data.clusters or rows))
    cluster = predictions.cluster
    units = SamplingUnits(
        rows=len(predictions),
        weight=predictions.weight,
        cluster=None if cluster is None else np.unique(cluster, return_inverse=True)[1],
        weight_kind=predictions.weight_kind,
    )
    if cluster is None and units.are_repeated_rows:
        return units.total
    return effective_size(units, np.unique(predictions.groups[column], return_inverse=True)[1])


def _describe_rows(evaluation: Evaluation) -> tuple[float, tuple[Distribution, ...]]:
    """Return the effective number of independent rows, and the forecast distributions of each model."""
    tallies: Tallies | None = getattr(evaluation, "tallies", None)
    if tallies is not None:
        size = tallies.rows if tallies.are_rows else effective_size_by_bucket(tallies.rows, tallies.outcomes)
        return size, tuple(_describe_tallies(tallies, model) for model in tallies.forecasts)
    panel, classes = find_panel(evaluation), evaluation.data.classes
    size = effective_size(panel.units, panel.outcome.astype(np.int64))
    return size, tuple(_list_distributions(panel, () if classes is None else classes.labels))


def _describe_tallies(tallies: Tallies, model: str) -> Distribution:
    """Return the forecast distribution of a model from counts by bucket, without rows in memory."""
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


def find_panel(evaluation: Evaluation) -> PanelRows:
    """Return the evaluated rows, without those of zero weight."""
    predictions = evaluation.predictions
    if predictions is None:
        raise UsageError(
            "`evaluation` must have its predictions, which documents do not contain; evaluate the data again."
        )
    return panel_of(predictions) if isinstance(predictions, Predictions) else class_panel_of(predictions)


def list_numbers(evaluation: Evaluation) -> Iterator[Number]:
    """Yield the main score of each model, its components, the AUC of binary models, and the prevalence."""
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
        label=MEASURES[measure].label_of(np.nan if interval is None else interval.lower),
        value=value,
        corrected=value,
        lower=np.nan if interval is None else interval.lower,
        upper=np.nan if interval is None else interval.upper,
        standard_error=np.nan if interval is None else interval.standard_error,
    )


def _component_number(scores: ModelScores, score: str, component: str) -> Number:
    """Return a component, raw and overfit-corrected; only the raw one if there is no interval."""
    raw = float(getattr(scores.decomposition(score), component))
    known: ComponentEstimate | None = scores.component(score, component)
    name = f"{score}_{component}"
    if known is None:
        return _interval_number(scores.model, name, raw, None)
    return Number(
        model=scores.model,
        measure=name,
        label=MEASURES[name].label_of(known.lower),
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
    """Return the weights of the non-empty bins of a model's forecasts, and their effective size."""
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
