"""The `Engine` protocol, and the records that engines and the evaluation exchange.

An engine sorts rows on disk or on a cluster. The result is a `Digest` of each model: `digest_chunk` computes
it from sorted rows, and digests of neighbouring chunks can be added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import CountArray, FloatArray
from scorereport.data.predictions import RowFlow

if TYPE_CHECKING:
    from scorereport.evaluation.engines.digest import Digest

#: The number of buckets to which rows, or whole clusters, are assigned; intervals leave out one at a time.
BUCKETS = 400
#: With more distinct forecasts than this, a digest keeps only chosen ones.
MOST_DISTINCT = 65_536

Sums = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """Rows of one model with ascending forecasts; ties are in any order and never split between chunks.

    `weight` is None, whole counts, or fractions; rows of the same `bucket` are left out together.
    """

    x: FloatArray
    y: NDArray[np.bool_]
    bucket: NDArray[np.uint16]
    weight: CountArray | None = None

    def __len__(self) -> int:
        return len(self.x)

    def select(self, rows: slice | NDArray[Any]) -> Chunk:
        """Some of the rows, in their order."""
        weight = None if self.weight is None else self.weight[rows]
        return Chunk(x=self.x[rows], y=self.y[rows], bucket=self.bucket[rows], weight=weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsBelow:
    """The weight of all cases, and of the events, below a chunk."""

    n: int | float = 0
    events: int | float = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DigestPlan:
    """Where the digest of a model must have exact counts, and what it sums over the rows.

    `edges` are forecasts, `ranks` numbers of cases from 0, `heights` sums of both rates along the ROC
    curve, from the top; `jumps` is how many of the largest jumps of the Murphy curve are kept. `measures` are
    the names of scores with their options, in the order of the sums. With one bucket, all rows are in it.
    Cases that are `independent` need no sums by kind if there are enough of every kind.
    """

    total: int | float
    events: int | float
    measures: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    ranks: FloatArray = field(default_factory=lambda: np.empty(0))
    heights: FloatArray = field(default_factory=lambda: np.empty(0))
    jumps: int = 0
    buckets: int = BUCKETS
    most_distinct: int = MOST_DISTINCT
    independent: bool = False

    @property
    def prevalence(self) -> float:
        """Share of events among all cases."""
        return self.events / self.total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Rows in any order with the forecasts of all models; `groups` has a code per row and column."""

    y: FloatArray
    forecasts: Mapping[str, FloatArray]
    bucket: NDArray[np.uint16]
    weight: FloatArray | None = None
    groups: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCount:
    """A label of a group column: its code in batches, and the number and weights of its rows.

    `total` is the sum of weights, `events` that of the weights of events; `event_squares` and
    `other_squares` are sums of squared weights, of events and of non-events.
    """

    label: str
    code: int
    rows: int
    total: int | float
    events: int | float
    event_squares: int | float = 0
    other_squares: int | float = 0

    @property
    def squares(self) -> int | float:
        """Sum of squared weights."""
        return self.event_squares + self.other_squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Counts of a first scan over the rows that were kept.

    `rows`, here and of labels, includes rows of weight 0; all other numbers are about rows with a weight.
    `total` is the sum of weights, `events` that of the weights of events; `event_squares` and `other_squares`
    are sums of squared weights by outcome. All four are whole numbers unless weights are fractional;
    `counted` is True if weights are whole and summed as such.
    `groups` lists the labels of each column in ascending order, `windows` the periods of the time column.
    `refuted` has, for each model, the number of rows whose forecast was certain and wrong, and some of these
    rows; `halves` counts forecasts of exactly 1/2, `certain` those of exactly 0 or 1.
    `weightless` lists the groups, as column, label and rows, that are left out because none of their rows has
    a weight.
    """

    source: str
    outcome_name: str
    positive: str
    models: tuple[str, ...]
    rows: int
    total: int | float
    events: int | float
    event_squares: int | float
    other_squares: int | float
    row_flow: RowFlow
    weighted: bool = False
    weight_kind: str = "sampling"
    counted: bool = True
    clusters: int | None = None
    groups: Mapping[str, tuple[LabelCount, ...]] = field(default_factory=dict)
    windows: tuple[LabelCount, ...] = ()
    time_name: str = "time"
    refuted: Mapping[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    halves: Mapping[str, int] = field(default_factory=dict)
    certain: Mapping[str, int] = field(default_factory=dict)
    weightless: tuple[tuple[str, str, int], ...] = ()
    sha256: str = ""
    file_sha256: str = ""
    has_grade: bool = False

    @property
    def are_repeated_rows(self) -> bool:
        """Whether weights are counts of equal rows; without weights, each row counts once."""
        return not self.weighted or self.weight_kind == "frequency"

    @property
    def squares(self) -> int | float:
        """Sum of squared weights."""
        return self.event_squares + self.other_squares

    @property
    def are_independent(self) -> bool:
        """Whether each case was drawn by itself."""
        return self.are_repeated_rows and self.clusters is None

    def weigh_case(self, counts: Survey | LabelCount) -> float:
        """The effective weight of a case, Σw²/Σw, among all rows or in a group: 1 for repeated rows."""
        return 1.0 if self.are_repeated_rows or not counts.squares else counts.squares / counts.total

    def weigh_classes(self, counts: Survey | LabelCount) -> tuple[float, float]:
        """The effective weights of an event and of a non-event, Σw²/Σw in each class: 1 for repeated rows."""
        if self.are_repeated_rows:
            return 1.0, 1.0
        others = counts.total - counts.events
        return (
            counts.event_squares / counts.events if counts.event_squares else 1.0,
            counts.other_squares / others if counts.other_squares and others > 0 else 1.0,
        )


class Engine(Protocol):
    """What an engine offers: it sorts and scans rows that need not fit into memory."""

    name: str
    survey: Survey

    def digest(self, model: str, plan: DigestPlan) -> Digest:
        """The digest of all rows of a model."""

    def digest_groups(self, model: str, column: str, plans: Mapping[int, DigestPlan]) -> dict[int, Digest]:
        """The digests of some labels of a group column, or of the time column, by the codes of the labels."""

    def reduce(self, function: Callable[[Batch], Sums], what: str) -> Sums:
        """Apply a function to each batch of rows, and add up its results in the order of the rows."""

    def close(self) -> None:
        """Remove everything temporary."""
