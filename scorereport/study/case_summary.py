"""Summaries of many compared cases, which can be merged: their size does not grow with the number of cases.

For each quantity and each shape the worst line is kept, with counts. Merging does not depend on the order:
of equal differences, the line of the case with the lowest number is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from scorereport._utils.formatting import format_count, format_counted
from scorereport.reference.comparison_records import Comparison, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from scorereport.study.seeded_cases import Case

_T = TypeVar("_T")
#: Unexpected lines that are kept; a broken engine would have one for every number of every case.
MOST_UNEXPECTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedLine:
    """A line, and the number of its case and its place among the lines of the case."""

    place: tuple[int, int]
    line: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantitySummary:
    """The worst line of a quantity with one verdict, the number of such lines, and the first of them."""

    first: tuple[int, int]
    worst: PlacedLine
    count: int

    @property
    def key(self) -> tuple[str, Verdict, str]:
        """Lines with the same key are summarised together: other verdicts than agreement by their reason."""
        line = self.worst.line
        return line.quantity, line.verdict, "" if line.verdict is Verdict.AGREES else line.reason

    def merge(self, other: QuantitySummary) -> QuantitySummary:
        """The summary of the lines of both."""
        return QuantitySummary(
            first=min(self.first, other.first),
            worst=_worse(self.worst, other.worst, _size),
            count=self.count + other.count,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeSummary:
    """The cases of a shape: their number, sizes and agreeing lines, and the line nearest to its tolerance."""

    shape: str
    cases: int
    fewest: int
    most: int
    agreeing: int
    worst: PlacedLine | None = None

    @property
    def key(self) -> str:
        """Cases of one shape are summarised together."""
        return self.shape

    def merge(self, other: ShapeSummary) -> ShapeSummary:
        """The summary of the cases of both."""
        known = [line for line in (self.worst, other.worst) if line is not None]
        return ShapeSummary(
            shape=self.shape,
            cases=self.cases + other.cases,
            fewest=min(self.fewest, other.fewest),
            most=max(self.most, other.most),
            agreeing=self.agreeing + other.agreeing,
            worst=reduce(lambda one, two: _worse(one, two, _share), known) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """The lines of some cases: unexpected ones as they are, up to a number, and the others summarised."""

    unexpected: tuple[PlacedLine, ...] = ()
    unexpected_count: int = 0
    quantities: tuple[QuantitySummary, ...] = ()
    shapes: tuple[ShapeSummary, ...] = ()

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(shape.cases for shape in self.shapes)

    def merge(self, other: CaseSummary) -> CaseSummary:
        """The summary of the cases of both, in whatever order."""
        unexpected = sorted((*self.unexpected, *other.unexpected), key=lambda line: line.place)
        quantities = _merge_by_key(QuantitySummary.merge, (*self.quantities, *other.quantities))
        shapes = _merge_by_key(ShapeSummary.merge, (*self.shapes, *other.shapes))
        return CaseSummary(
            unexpected=tuple(unexpected[:MOST_UNEXPECTED]),
            unexpected_count=self.unexpected_count + other.unexpected_count,
            quantities=tuple(sorted(quantities, key=lambda each: each.first)),
            shapes=tuple(sorted(shapes, key=lambda each: each.shape)),
        )

    def describe(self) -> Iterator[Comparison]:
        """Unexpected lines, a line for each quantity and verdict, and a line for each shape."""
        yield from (each.line for each in self.unexpected)
        if self.unexpected_count > len(self.unexpected):
            more = format_count(self.unexpected_count - len(self.unexpected))
            yield Comparison(
                subject="All shapes",
                quantity="other unexpected lines",
                verdict=Verdict.FAILED,
                reason=f"There are {more} more unexpected lines, which are not listed.",
            )
        yield from map(_describe_quantity, self.quantities)
        yield from map(_describe_shape, self.shapes)


def summarise_case(case: Case, number: int, lines: Sequence[Comparison]) -> CaseSummary:
    """The summary of one case."""
    placed = [PlacedLine(place=(number, index), line=line) for index, line in enumerate(lines)]
    unexpected = tuple(each for each in placed if each.line.is_unexpected)
    rest = [each for each in placed if not each.line.is_unexpected]
    single = (QuantitySummary(first=each.place, worst=each, count=1) for each in rest)
    return CaseSummary(
        unexpected=unexpected,
        unexpected_count=len(unexpected),
        quantities=tuple(_merge_by_key(QuantitySummary.merge, single)),
        shapes=(_summarise_shape(case, rest),),
    )


def _summarise_shape(case: Case, lines: Sequence[PlacedLine]) -> ShapeSummary:
    agreeing = [each for each in lines if each.line.verdict is Verdict.AGREES]
    numbers = [each for each in agreeing if each.line.tolerance and each.line.difference is not None]
    rows = len(case.y_true)
    return ShapeSummary(
        shape=case.shape,
        cases=1,
        fewest=rows,
        most=rows,
        agreeing=len(agreeing),
        worst=max(numbers, key=lambda each: _share(each.line)) if numbers else None,
    )


def _merge_by_key(merge: Callable[[_T, _T], _T], items: Iterable[_T]) -> list[_T]:
    merged: dict[Hashable, _T] = {}
    for item in items:
        key: Hashable = item.key  # type: ignore[attr-defined]
        merged[key] = merge(merged[key], item) if key in merged else item
    return [*merged.values()]


def _worse(one: PlacedLine, other: PlacedLine, size: Callable[[Comparison], float]) -> PlacedLine:
    """The larger of two lines; of equal ones, that of the case with the lower number."""
    return min(one, other, key=lambda each: (-size(each.line), each.place))


def _size(line: Comparison) -> float:
    return line.difference or 0.0


def _share(line: Comparison) -> float:
    """The share of its tolerance that a difference takes."""
    return (line.difference or 0.0) / (line.tolerance or 1.0)


def _describe_quantity(summary: QuantitySummary) -> Comparison:
    line, counted = summary.worst.line, format_counted(summary.count, "case")
    reason = counted if line.verdict is Verdict.AGREES else f"{counted}. {line.reason}"
    return replace(line, subject="All shapes", reason=reason)


def _describe_shape(shape: ShapeSummary) -> Comparison:
    counts = f"{format_counted(shape.agreeing, 'line')} of {format_counted(shape.cases, 'case')}"
    counts += f", {shape.fewest:,} to {shape.most:,} rows"
    if shape.worst is None:
        return Comparison(subject="Shapes", quantity=shape.shape, verdict=Verdict.NOT_COMPARED, reason=counts)
    worst = shape.worst.line
    return replace(
        worst, subject="Shapes", quantity=shape.shape, reason=f"{counts}. The worst: {worst.quantity}"
    )


def merge_summaries(summaries: Iterable[CaseSummary]) -> CaseSummary:
    """The summary of the cases of all."""
    return reduce(CaseSummary.merge, summaries, CaseSummary())
