"""What curves are made of: an isotonic fit, of rows in memory or of a digest of rows elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.blocks import Blocks


class IsotonicFit(Protocol):
    """A fit with its distinct forecasts, or with as many of them as a curve is asked about."""

    @property
    def distinct(self) -> Blocks:
        """One block for each distinct forecast, ascending; of a digest, those marked and what is between."""

    @property
    def blocks(self) -> Blocks:
        """The blocks of the isotonic fit."""

    @property
    def n(self) -> float:
        """Number of cases; with weights, their sum."""

    @property
    def events(self) -> float:
        """Number of events; with weights, the sum of theirs."""

    @property
    def prevalence(self) -> float:
        """Share of events."""

    @property
    def forecast_type(self) -> str:
        """Either "discrete" or "continuous"."""

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """The reliability curve at both ends of each block."""

    def require_events(self, what: str) -> None:
        """Refuse what is made of events where outcomes are real numbers."""
