"""Bets against the calibration curve of a baseline, which find changes that are larger than its band.

The band of a baseline is wide, and a bet gains only outside of it: fixed bets are therefore farther out than
those against calibration. Half of the fitted bets use the last audit alone, which shows a new change first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.inference.calibration_bets import CalibrationBet, fit_calibration_bets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.calibration_bets import BinnedOutcomes

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
