"""A line of the agreement with R packages: a quantity that we compute too, or one that we do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from validation.r_agreement.r_case import RCase

    Computation = Callable[[RCase], Any]

#: Answers are recorded with 15 digits; differences are absolute up to 1 and relative beyond.
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Answers of a package, and our number for them.

    Without `theirs` both are equal. Where definitions differ, `theirs` and `plain` are the two formulas in
    plain arithmetic: the answer must be the first and the number of our engine the second. `answer` makes
    comparable numbers of the answers at the places, in their order.
    """

    group: str
    package: str
    places: tuple[str, ...]
    quantity: str
    ours: str
    engine: Computation
    relation: str = "equal"
    theirs: Computation | None = None
    plain: Computation | None = None
    tolerance: float = TOLERANCE
    plain_tolerance: float = 1e-9
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    answer: Callable[..., Any] | None = None

    def is_about(self, case: RCase) -> bool:
        """Whether the case has these answers."""
        if self.group != case.group or (self.only and case.name not in self.only) or case.name in self.unless:
            return False
        return all(map(case.has, self.places))


@dataclass(frozen=True, slots=True, kw_only=True)
class NotComputed:
    """Answers that are no number of ours: labels and settings, or a quantity that we do not compute.

    `plain` is their formula, if it is confirmed all the same.
    """

    group: str
    package: str
    places: tuple[str, ...]
    quantity: str
    reason: str
    plain: Computation | None = None
    tolerance: float = TOLERANCE
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    is_input: bool = False

    def is_about(self, case: RCase) -> bool:
        """Whether the case has any of these answers."""
        if self.group != case.group or (self.only and case.name not in self.only) or case.name in self.unless:
            return False
        return any(map(case.has, self.places))
