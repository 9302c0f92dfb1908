"""What predictions have beside outcomes and forecasts: weights, groups, times, a record of every row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray, IntArray, set_read_only
from scorereport._utils.checks import check_same_length, check_weight
from scorereport.data.columns import label_text
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRows:
    """Rows left out, and why."""

    reason: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValues:
    """How many of the rows read lack a column."""

    column: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFlow:
    """How many rows were read, which were dropped and why, and how many were kept.

    A dropped row is counted once, for the first column that it lacks. `missing` counts it for each, and
    lists every column used; it is empty where no row lacks any.
    """

    read: int
    kept: int
    dropped: tuple[DroppedRows, ...] = ()
    missing: tuple[MissingValues, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cases:
    """Columns beside outcomes and forecasts, checked when built; kinds of predictions add theirs."""

    outcome: NDArray[Any]
    forecasts: Mapping[str, FloatArray]
    weight: FloatArray | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    cluster: NDArray[Any] | None = None
    grade: NDArray[Any] | None = None
    time: NDArray[np.datetime64] | None = None
    outcome_name: str = "outcome"
    time_name: str = "time"
    weight_name: str = "weight"
    weight_kind: str = "sampling"
    row_flow: RowFlow = None  # type: ignore[assignment]  # made from the outcomes unless given
    rows: IntArray | None = None  # where kept rows stood in the source, if some were dropped
    source: str = "arrays"
    file_sha256: str = ""  # of the file they were read from, if there was one

    def __len__(self) -> int:
        return len(self.outcome)

    def _keep(self, outcome: NDArray[Any], forecasts: Mapping[str, FloatArray]) -> None:
        """Check the other columns, and keep copies of all that nobody else can change."""
        weight = check_weight(self.weight, len(outcome), self.weight_name, kind=self.weight_kind)
        groups = {name: _texts(labels) for name, labels in self.groups.items()}
        others = {
            "cluster": None if self.cluster is None else _texts(self.cluster),
            "grade": None if self.grade is None else _texts(self.grade),
            "time": None if self.time is None else _dates(self.time, self.time_name),
        }
        given = [(name, values) for name, values in others.items() if values is not None]
        check_same_length((self.outcome_name, outcome), *forecasts.items(), *given, *groups.items())
        self._set(
            outcome=_own(outcome),
            forecasts=MappingProxyType({name: _own(p) for name, p in forecasts.items()}),
            weight=None if weight is None else _own(weight),
            groups=MappingProxyType({name: _own(labels) for name, labels in groups.items()}),
            row_flow=self.row_flow or RowFlow(read=len(outcome), kept=len(outcome)),
            **{name: None if values is None else _own(values) for name, values in others.items()},
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def sha256(self) -> str:
        """SHA-256 of all columns: outcomes, forecasts, and any weights, groups, clusters, grades and times.

        Of each column in turn: its name in UTF-8, a zero byte, and its values, as little-endian float64, as
        text in UTF-8 with a zero byte after each, or as little-endian int64 nanoseconds since 1970. Of
        classes the column of outcomes holds indices, and each model has a column for each class, named
        after the model and the class with a zero byte between.
        """
        digest = hashlib.sha256()
        labels = [*self.groups.items(), ("cluster", self.cluster), ("grade", self.grade)]
        numbers = [*self._numbers(), (self.weight_name, self.weight)]
        for name, values in (*numbers, *labels, (self.time_name, self.time)):
            if values is not None:
                digest.update(name.encode() + b"\0")
                digest.update(_bytes_of(values))
        return digest.hexdigest()

    def _numbers(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Outcomes and forecasts, column by column."""
        yield self.outcome_name, self.outcome
        yield from self.forecasts.items()


def _bytes_of(values: NDArray[Any]) -> bytes | memoryview:
    if values.dtype == object:
        return b"".join(label.encode() + b"\0" for label in values.tolist())
    if values.dtype.kind == "M":
        return values.astype("datetime64[ns]").astype("<i8").tobytes()
    return np.ascontiguousarray(values, dtype="<f8").data.cast("B")


def _texts(labels: Any) -> NDArray[Any]:
    """Labels as text, whatever they were."""
    return np.array([label_text(label) for label in labels], dtype=object)


def _dates(values: Any, name: str) -> NDArray[np.datetime64]:
    times = np.asarray(values)
    if times.dtype.kind != "M":
        raise DataError(f"`{name}` must hold dates; got {times.dtype}.")
    return times


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that nobody else can change."""
    return set_read_only(array.copy())
