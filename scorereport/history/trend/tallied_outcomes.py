"""Outcomes by bin of forecast from an engine that keeps no rows in memory, to which later bets are fitted.

An engine reads rows in batches and keeps sums. Sums by bin give the digests of outcomes, exactly those of
rows in memory. They do not give the evidence of the audit itself: the e-value of a row is a function of its
forecast, not of the bin, and the bets are known only with the history. It would need one more scan of the
rows, with the bets of the audit, and with clusters the rows of each cluster together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.history.trend.evidence_records import OutcomeDigest

if TYPE_CHECKING:
    from scorereport.results.tallies import Tallies


def tally_outcomes(tallies: Tallies) -> tuple[OutcomeDigest, ...]:
    """Return the outcomes of each model in bins of its forecasts; sampling weights count cases."""
    return tuple(_digest(tallies, model) for model in tallies.forecasts)


def _digest(tallies: Tallies, model: str) -> OutcomeDigest:
    weights = tallies.forecasts[model].sum(axis=0)
    held = np.flatnonzero(weights)
    cases = tallies.rows / float(weights.sum())
    return OutcomeDigest(
        model=model,
        bins=tuple(held.tolist()),
        weights=tuple((cases * weights[held]).tolist()),
        events=tuple((cases * tallies.events[model][held]).tolist()),
    )
