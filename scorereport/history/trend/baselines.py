"""Baselines: the fixed sample that audits are compared with, built from a file or from audits of the history.

A baseline is sealed once, in a record of its own, so that months that have drifted never join it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from scorereport.configuration.periods import Period
from scorereport.history.trend.drift_records import Distribution, Number, Snapshot
from scorereport.history.trend.evidence_records import GroupShares, OutcomeDigest, SealedBaseline
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.results.tallies import EDGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.configuration.audit_tables import BaselineTable
    from scorereport.inference.baseline_bands import BaselineBand

#: The label of the period of a baseline that is a file.
BASELINE = "baseline"


def name_baseline(table: BaselineTable) -> str:
    """Return the definition of a baseline as records and reports name it; "" if there is none."""
    if table.file:
        return table.file
    if table.period:
        return f"the audit of {table.period}"
    return "" if table.audits is None else f"the first {table.audits} audits"


def find_band_level(alpha: float) -> float:
    """Return the level of the band of a baseline: half of `alpha` is for a band that does not hold."""
    return 1 - alpha / 2


def build_baseline(
    source: str,
    snapshots: Sequence[Snapshot],
    digests: Sequence[Sequence[OutcomeDigest]],
    *,
    level: float,
    data_sha256: str = "",
    records: Sequence[str] = (),
) -> SealedBaseline:
    """Build a baseline from the snapshots of one sample or of several, and their binned outcomes.

    Parameters
    ----------
    source : the definition, as `name_baseline` gives it
    snapshots : of a file, or of audits that share no day, by time
    digests : those of each snapshot
    level : that of the band of the calibration curve
    data_sha256 : the hash of the rows of a file
    records : the hashes of the records of the audits
    """
    first, sizes = snapshots[0], np.array([snapshot.size for snapshot in snapshots])
    shares = np.array([_list_shares(snapshot) for snapshot in snapshots])
    pooled = _pool_digests(digests)
    distributions = [_pool_forecasts(snapshots, digest) for digest in pooled]
    clusters = [snapshot.clusters for snapshot in snapshots if snapshot.clusters is not None]
    return SealedBaseline(
        source=source,
        start=first.period.start,
        end=snapshots[-1].period.end,
        rows=sum(snapshot.rows for snapshot in snapshots),
        size=float(sizes.sum()),
        data_sha256=data_sha256,
        records=tuple(records),
        labels=first.labels,
        shares=tuple((sizes @ shares / sizes.sum()).tolist()),
        level=level,
        digests=pooled,
        groups=tuple(_pool_groups(snapshots)),
        means=tuple(mean for mean, _ in distributions),
        sizes=tuple(size for _, size in distributions),
        clusters=sum(clusters) if clusters else None,
    )


def _list_shares(snapshot: Snapshot) -> list[float]:
    """Return the shares of event and non-event, or of each class."""
    known = [number.value for number in snapshot.numbers if number.measure == "prevalence"]
    if known:
        return [known[0], 1 - known[0]]
    return [weight / sum(snapshot.classes) for weight in snapshot.classes]


def _pool_digests(digests: Sequence[Sequence[OutcomeDigest]]) -> tuple[OutcomeDigest, ...]:
    """Add the counts of several samples; models and classes that one of them lacks are left out."""
    by_key = [{(digest.model, digest.label): digest for digest in found} for found in digests]
    return tuple(
        add_counts([found[key] for found in by_key])
        for key in by_key[0]
        if all(key in found for found in by_key)
    )


def add_counts(digests: Sequence[OutcomeDigest]) -> OutcomeDigest:
    """Add the outcomes of several samples, or of parts of one, of the same model and class."""
    cases, events = (sum(found) for found in zip(*map(count_in_bins, digests), strict=True))
    held = np.flatnonzero(cases)
    return OutcomeDigest(
        model=digests[0].model,
        label=digests[0].label,
        bins=tuple(held.tolist()),
        weights=tuple(cases[held].tolist()),
        events=tuple(events[held].tolist()),
    )


def count_in_bins(digest: OutcomeDigest) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of cases and of events in each of all bins."""
    cases, events = np.zeros(len(EDGES) + 1), np.zeros(len(EDGES) + 1)
    cases[list(digest.bins)], events[list(digest.bins)] = digest.weights, digest.events
    return cases, events


def _pool_forecasts(snapshots: Sequence[Snapshot], digest: OutcomeDigest) -> tuple[float, float]:
    """Return the mean forecast of several samples, weighted by size, and the number of independent ones."""
    found = [
        d for s in snapshots for d in s.distributions if (d.model, d.label) == (digest.model, digest.label)
    ]
    size = sum(distribution.size for distribution in found)
    return (sum(d.size * d.mean for d in found) / size if size else 0.0), size


def _pool_groups(snapshots: Sequence[Snapshot]) -> Iterator[GroupShares]:
    """Add the cases of each group of the columns that all samples have."""
    columns = [{shares.column: shares for shares in snapshot.groups} for snapshot in snapshots]
    for column in columns[0]:
        if not all(column in found for found in columns):
            continue
        sums: dict[str, float] = defaultdict(float)
        for found in columns:
            for value, weight in zip(found[column].values, found[column].weights, strict=True):
                sums[value] += weight
        yield GroupShares(column=column, values=tuple(sums), weights=tuple(sums.values()))


def baseline_band(
    sealed: SealedBaseline, model: str, alpha: float, *, label: str = ""
) -> BaselineBand | None:
    """Return the honest band of a baseline's calibration curve for a model, or for a class of it.

    Half of the error is for the band, half for bounds of means; with several classes, each has its share.
    Cases that are clustered or weighted count as
    the effective number of independent cases; the band is then approximate. None if the baseline has no
    outcomes of the model, or if its bounds cross, because the curve falls somewhere.
    """
    digests = [digest for digest in sealed.digests if digest.model == model]
    found = next((digest for digest in digests if digest.label == label), None)
    if found is None:
        return None
    cases, events = count_in_bins(found)
    independent = min(sealed.size / float(cases.sum()), 1.0)
    level = 1 - (1 - find_band_level(alpha)) / (2 * len(digests))
    band = find_baseline_band(EDGES, cases * independent, events * independent, level=level)
    return None if band.is_crossing else band


def list_bands(sealed: SealedBaseline, alpha: float) -> dict[tuple[str, str], BaselineBand]:
    """Return the bands of a baseline by model and class label, without those that do not exist."""
    keys = [(digest.model, digest.label) for digest in sealed.digests]
    found = {(model, label): baseline_band(sealed, model, alpha, label=label) for model, label in keys}
    return {key: band for key, band in found.items() if band is not None}


def explain_missing_band(sealed: SealedBaseline, model: str) -> str:
    """Explain why a baseline has no band for a model."""
    if any(digest.model == model for digest in sealed.digests):
        return (
            f"The calibration curve of {model} in the baseline falls somewhere, so that it has no honest "
            "band and gives no evidence of a change."
        )
    return f"The baseline has no forecasts of {model}, so that there is no evidence of a change."


def describe_as_snapshot(sealed: SealedBaseline, like: Snapshot) -> Snapshot:
    """Return a baseline as the snapshot of an audit with the main score of `like`, to compare with."""
    is_binary = not sealed.labels
    prevalence = Number(
        model="",
        measure="prevalence",
        label="prevalence",
        value=sealed.shares[0],
        corrected=sealed.shares[0],
        lower=np.nan,
        upper=np.nan,
        standard_error=np.nan,
    )
    return Snapshot(
        period=Period(label=BASELINE, start=sealed.start, end=sealed.end),
        time="",
        rows=sealed.rows,
        size=sealed.size,
        level=like.level,
        main_score=like.main_score,
        numbers=(prevalence,) if is_binary else (),
        distributions=tuple(
            Distribution(
                model=digest.model,
                label=digest.label,
                bins=digest.bins,
                weights=digest.weights,
                mean=mean,
                size=size,
            )
            for digest, mean, size in zip(sealed.digests, sealed.means, sealed.sizes, strict=True)
        ),
        classes=() if is_binary else sealed.shares,
        labels=sealed.labels,
        clusters=sealed.clusters,
        groups=sealed.groups,
    )


def overlaps_baseline(sealed: SealedBaseline, period: Period) -> bool:
    """Whether rows of a period may be part of the baseline, which then gives no evidence about them."""
    return bool(sealed.records) and share_days(period, Period(label="", start=sealed.start, end=sealed.end))


def share_days(one: Period, other: Period) -> bool:
    """Whether two periods overlap."""
    (start, end), (other_start, other_end) = map(_find_ends, (one, other))
    return start < other_end and other_start < end


def _find_ends(period: Period) -> tuple[datetime, datetime]:
    start = datetime.min if period.start is None else datetime.fromisoformat(period.start)
    return start, datetime.fromisoformat(period.end)
