"""The first arguments of curves: a fit, or outcomes and forecasts from which it is made."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from scorereport.errors import UsageError
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.blocks import Blocks

_F = TypeVar("_F", bound="Callable[..., Any]")


class IsotonicFit(Protocol):
    """A fit with its distinct forecasts, or with those that a curve needs."""

    @property
    def distinct(self) -> Blocks:
        """One block for each distinct forecast, ascending; of a digest, for those marked and for gaps."""

    @property
    def blocks(self) -> Blocks:
        """The blocks of the isotonic fit."""

    @property
    def n(self) -> float:
        """Number of cases; with weights, their sum."""

    @property
    def events(self) -> float:
        """Number of events; with weights, the sum of their weights."""

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
        """Raise an error if outcomes are real numbers, for results that need events."""


def as_fit(
    y_true: ArrayLike | IsotonicFit, y_prob: ArrayLike | None, sample_weight: ArrayLike | None
) -> IsotonicFit:
    """Return the fit that was given in place of outcomes, or fit the outcomes to the forecasts."""
    if hasattr(y_true, "require_events"):
        if y_prob is not None or sample_weight is not None:
            raise UsageError(
                "A fit has its own forecasts and weights. To fix: give the fit alone, or give outcomes "
                "`y_true` in its place."
            )
        return cast("IsotonicFit", y_true)
    if not hasattr(y_true, "__len__"):
        raise UsageError(
            f"The first argument must be outcomes, or a fit of `sr.corp`; got {type(y_true).__name__}. "
            "The curves of an evaluation are in `evaluation.models[0].curves`."
        )
    if y_prob is None:
        raise UsageError(
            "`y_prob` is missing. To fix: give outcomes and forecasts, `(y_true, y_prob)`, or a fit, "
            "`(sr.corp(y_true, y_prob))`."
        )
    return corp(y_true, y_prob, sample_weight)


def accept_fit_keyword(function: _F) -> _F:
    """Accept a fit by the keyword `fit` as well, which was the name of the first argument."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return function(named.pop("fit"), *args, **named) if "fit" in named else function(*args, **named)

    return cast("_F", call)
