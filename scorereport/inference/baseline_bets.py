"""Bets against the calibration curve of a baseline: on the curve, and on the mean outcome of an audit.

The band of a baseline is wide, and a bet on the curve gains only outside of it: fixed bets are therefore
farther out than those against calibration. Half of the fitted bets use the last audit alone, which shows a
new change first. The mean event probability of an audit has closer bounds than the curve at any forecast, so
that bets on the mean outcome find shifts of the whole curve that the band contains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from scorereport.inference.calibration_bets import CalibrationBet, fit_calibration_bets
from scorereport.inference.score_bets import fit_score_bets, score_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.calibration_bets import BinnedOutcomes
    from scorereport.inference.score_bets import ScoreBet
    from scorereport.reliability.sampling import SamplingUnits

#: The share of bets on the mean outcome; the rest are on the curve.
MEAN_SHARE = 0.5
#: Shifts of the log-odds and slopes of the fixed bets.
_SHIFTS = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5)
_SLOPES = (0.5, 0.7, 1.4, 2.0)
#: Shares of the fitted bets: those of all earlier audits, and those of the last one.
_ALL_SHARE, _LAST_SHARE = 0.3, 0.4
#: Fitted bets, which share their weight equally.
_FITTED = ("logistic", "isotonic")


def fit_baseline_bets(earlier: Sequence[BinnedOutcomes]) -> tuple[CalibrationBet, ...]:
    """Return the bets of an audit against a baseline, with weights that sum to 1, from earlier audits.

    >>> bets = fit_baseline_bets([])
    >>> len(bets), round(sum(bet.weight for bet in bets), 9)
    (10, 1.0)
    """
    fitted = [*_fit(earlier, _ALL_SHARE), *_fit(earlier[-1:], _LAST_SHARE)]
    rest = 1 - sum(bet.weight for bet in fitted)
    fixed = [("shift", value) for value in _SHIFTS] + [("slope", value) for value in _SLOPES]
    return (
        *fitted,
        *(CalibrationBet(name=name, parameters=(v,), weight=rest / len(fixed)) for name, v in fixed),
    )


def _fit(earlier: Sequence[BinnedOutcomes], share: float) -> Iterator[CalibrationBet]:
    """Yield the fitted bets of some audits; none without cases."""
    for bet in fit_calibration_bets(earlier):
        if bet.name in _FITTED:
            yield replace(bet, weight=share / len(_FITTED))


class MeanBet(NamedTuple):
    """A bet that the mean outcome is beyond a bound, its weight, and the log evidence of the rows."""

    name: str
    bound: float
    fraction: float
    weight: float
    log_evidence: float


def bet_on_mean(outcome: FloatArray, units: SamplingUnits, lower: float, upper: float) -> tuple[MeanBet, ...]:
    """Return the bets that the mean outcome is above or below what a baseline allows; weights sum to 1."""
    return (
        *_bet_beyond(outcome, units, upper, is_upper=True),
        *_bet_beyond(outcome, units, lower, is_upper=False),
    )


def list_mean_bets(bound: float, *, is_upper: bool) -> tuple[ScoreBet, ...]:
    """Return the bets on a mean outcome beyond a bound, which need no earlier audit."""
    return fit_score_bets([], bound, is_upper=is_upper)


def name_mean_bet(*, is_upper: bool) -> str:
    """Return the name of the bets that the mean outcome is above, or below, a bound."""
    return "mean above" if is_upper else "mean below"


def _bet_beyond(
    outcome: FloatArray, units: SamplingUnits, bound: float, *, is_upper: bool
) -> Iterator[MeanBet]:
    bets = list_mean_bets(bound, is_upper=is_upper)
    logs = score_evidence(outcome, units, bets, bound, is_upper=is_upper)
    for bet, log in zip(bets, logs, strict=True):
        yield MeanBet(name_mean_bet(is_upper=is_upper), bound, bet.fraction, bet.weight / 2, float(log))
