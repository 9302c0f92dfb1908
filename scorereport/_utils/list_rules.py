"""Rules for arguments that are lists of numbers: cost interval, thresholds, fractions, cost matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scorereport._utils.formatting import shortest
from scorereport._utils.rules import Shape, is_number, list_items, read_number, show_value
from scorereport.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberList:
    """A list of numbers with a rule of its own, which returns their plain form, or None if it is broken."""

    rule: str
    arrange: Callable[[list[Any]], tuple[float, ...] | None]
    item_schema: Mapping[str, Any]
    fewest: int
    most: int | None = None
    shape: Shape = Shape.REPEATED
    metavar: str = "NUMBER"

    def check(self, value: Any, name: str) -> tuple[float, ...]:
        """Return the numbers as a tuple of float."""
        numbers = list_items(value)
        arranged = self.arrange(numbers) if numbers is not None and all(map(is_number, numbers)) else None
        if arranged is None:
            hint = self._hint(numbers or [])
            raise UsageError(f"`{name}` must be {self.rule}; got {show_value(value)}.{hint}")
        return arranged

    def _hint(self, numbers: list[Any]) -> str:
        """Whether the numbers would be right as percentages."""
        from scorereport._utils.mistakes import hint_at_percentages

        if not all(map(is_number, numbers)) or self.arrange([number / 100 for number in numbers]) is None:
            return ""
        return hint_at_percentages(numbers)

    def read(self, text: str) -> Any:
        """Read one of the numbers."""
        return read_number(text)

    def schema(self) -> dict[str, Any]:
        """A list of numbers."""
        most = {} if self.most is None else {"maxItems": self.most}
        return {"type": "array", "items": dict(self.item_schema), "minItems": self.fewest, **most}


def _are_inside(numbers: Iterable[Any]) -> bool:
    return all(0 < number < 1 for number in numbers)


def _arrange_pair(numbers: list[Any]) -> tuple[float, ...] | None:
    is_pair = len(numbers) == 2 and _are_inside(numbers) and numbers[0] < numbers[1]
    return tuple(map(float, numbers)) if is_pair else None


def _arrange_thresholds(numbers: list[Any]) -> tuple[float, ...] | None:
    return tuple(sorted(set(map(float, numbers)))) if numbers and _are_inside(numbers) else None


def _arrange_fractions(numbers: list[Any]) -> tuple[float, ...] | None:
    rises = len(numbers) > 1 and numbers[0] == 0 and numbers[-1] < 1
    return tuple(map(float, numbers)) if rises and all(a < b for a, b in pairwise(numbers)) else None


_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
#: Two numbers inside (0, 1), the smaller one first.
COST_INTERVAL = NumberList(
    rule="two numbers inside (0, 1), the smaller one first",
    arrange=_arrange_pair,
    item_schema=_SHARE,
    fewest=2,
    most=2,
    shape=Shape.PAIR,
)
#: Numbers inside (0, 1), which are sorted.
THRESHOLDS = NumberList(
    rule="a list of one or more numbers inside (0, 1)",
    arrange=_arrange_thresholds,
    item_schema=_SHARE,
    fewest=1,
)
#: Numbers that rise from 0.
FRACTIONS = NumberList(
    rule="a list of two or more increasing numbers in [0, 1), the first of them 0",
    arrange=_arrange_fractions,
    item_schema={"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    fewest=2,
)


@dataclass(frozen=True, slots=True)
class CostMatrix:
    """Rows of costs, which are finite and not negative; their number depends on the classes."""

    shape: Shape = Shape.FILE
    metavar: str = "FILE"

    def check(self, value: Any, name: str) -> tuple[tuple[float, ...], ...]:
        """Return the rows as tuples of float."""
        rows = [list_items(row) for row in list_items(value) or [None]]
        if not all(row and all(map(is_number, row)) for row in rows):
            raise UsageError(
                f"`{name}` must be a list of rows, each a list of numbers; got {show_value(value)}."
            )
        costs = [[float(number) for number in row or ()] for row in rows]
        wrong = [number for row in costs for number in row if not 0 <= number < math.inf]
        if wrong:
            raise UsageError(
                f"`{name}` must hold finite numbers that are not negative; got {shortest(wrong[0])}."
            )
        return tuple(map(tuple, costs))

    def read(self, text: str) -> Any:
        """Read one of the numbers."""
        return read_number(text)

    def schema(self) -> dict[str, Any]:
        """A list of lists of numbers."""
        row = {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 2}
        return {"type": "array", "items": row, "minItems": 2}
