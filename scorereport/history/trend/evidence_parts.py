"""Evidence of rows in parts, which need not fit into memory together: that of all parts adds up.

Bets and their weights are fixed before the outcomes are read, so that the log evidence of a bet is a sum over
rows. Two numbers of the whole sample are needed first: the largest weight, to which sampling weights are
related, and the forecasts in the bins of a baseline, which bound the mean outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Self

from scorereport.evaluation.engines.duck.disk_sort import map_in_order
from scorereport.history.trend.baselines import add_counts
from scorereport.history.trend.evidence_factors import (
    CountedRows,
    digest_outcomes,
    find_factors,
    list_views,
    mix_bets,
    sum_moments,
)
from scorereport.history.trend.evidence_records import EvidenceFactor, OutcomeDigest, ScoreMoments
from scorereport.inference.panel import PanelRows
from scorereport.reliability.sampling import WeightSums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.history.trend.evidence_factors import Hypotheses
    from scorereport.history.trend.evidence_records import AuditEvidence
    from scorereport.inference.baseline_bands import BaselineBand


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedParts:
    """The rows of an audit that give evidence: panels that can be read repeatedly, and how to score one.

    Panels share no cluster. Rows in memory are one panel.
    """

    panels: Iterable[PanelRows]
    score: Callable[[PanelRows], CountedRows]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: CountedRows) -> Self:
        """Return rows in memory as one part."""
        return cls(panels=(rows.panel,), score=lambda panel: replace(rows, panel=panel), labels=rows.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSums:
    """What the record of an audit contains of its rows: outcomes by forecast, sums of scores, and factors."""

    digests: tuple[OutcomeDigest, ...]
    moments: tuple[ScoreMoments, ...]
    factors: tuple[EvidenceFactor, ...]

    def add(self, other: EvidenceSums) -> EvidenceSums:
        """Return the sums of both parts of a sample."""
        return EvidenceSums(
            digests=_add_digests(self.digests, other.digests),
            moments=tuple(map(_add_moments, self.moments, other.moments)),
            factors=tuple(map(_add_factor, self.factors, other.factors)),
        )


def add_up_evidence(
    parts: CountedParts, hypotheses: Hypotheses, earlier: Sequence[AuditEvidence]
) -> EvidenceSums:
    """Return the evidence of the rows against each hypothesis, and what later audits need to know of them.

    `earlier` is the evidence of the audits that bets are fitted on, oldest first.
    """
    weights, counts = _survey(parts, hypotheses.bands)
    means = {key: hypotheses.bands[key].mean_bounds(found) for key, found in counts.items()}
    bounded = replace(hypotheses, means=means)

    def take_part(panel: PanelRows) -> EvidenceSums:
        rows = parts.score(replace(panel, whole=weights))
        return EvidenceSums(
            digests=digest_outcomes(rows.panel, rows.labels),
            moments=sum_moments(rows),
            factors=find_factors(rows, bounded, earlier),
        )

    return reduce(EvidenceSums.add, map_in_order(take_part, parts.panels))


def digest_panels(panels: Iterable[PanelRows], labels: tuple[str, ...] = ()) -> tuple[OutcomeDigest, ...]:
    """Return the outcomes of each model in bins of its forecasts, from panels that are read twice."""
    weights = reduce(WeightSums.add, (panel.units.weight_sums for panel in panels))
    return reduce(_add_digests, (digest_outcomes(replace(panel, whole=weights), labels) for panel in panels))


def _survey(
    parts: CountedParts, bands: Mapping[tuple[str, str], BaselineBand]
) -> tuple[WeightSums | None, dict[tuple[str, str], FloatArray]]:
    """Return the weights of all rows, and their forecasts in the bins of a baseline by model and class.

    Without a baseline, evidence of independent rows needs neither, so that these are not read for it.
    """
    weights = WeightSums()
    counts: dict[tuple[str, str], FloatArray] = {}
    for panel in parts.panels:
        if not bands and panel.cluster is None and panel.units.are_repeated_rows:
            return None, {}
        weights = weights.add(panel.units.weight_sums)
        for key, found in _count_in_bands(panel, parts.labels, bands):
            counts[key] = counts[key] + found if key in counts else found
    return weights, counts


def _count_in_bands(
    panel: PanelRows, labels: Sequence[str], bands: Mapping[tuple[str, str], BaselineBand]
) -> Iterator[tuple[tuple[str, str], FloatArray]]:
    for model in panel.forecasts:
        for label, forecast, _ in list_views(panel, labels, model):
            if (model, label) in bands:
                yield (model, label), bands[model, label].count(forecast, panel.units.row_weight)


# Sums of parts


def _add_digests(one: Sequence[OutcomeDigest], other: Sequence[OutcomeDigest]) -> tuple[OutcomeDigest, ...]:
    return tuple(add_counts(pair) for pair in zip(one, other, strict=True))


def _add_moments(one: ScoreMoments, other: ScoreMoments) -> ScoreMoments:
    return replace(
        one,
        count=one.count + other.count,
        count_squares=one.count_squares + other.count_squares,
        total=one.total + other.total,
        total_squares=one.total_squares + other.total_squares,
        squares=one.squares + other.squares,
    )


def _add_factor(one: EvidenceFactor, other: EvidenceFactor) -> EvidenceFactor:
    """Multiply the evidence of each bet; their weighted mean follows from all parts together."""
    bets = tuple(
        replace(bet, log_evidence=bet.log_evidence + added.log_evidence)
        for bet, added in zip(one.bets, other.bets, strict=True)
    )
    return replace(one, bets=bets, log_factor=mix_bets(bets))
