"""`read_predictions()`: outcomes and forecasts out of a table, checked, with a record of every row.

Rows are counted from 0, the first row below a header.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorereport.arrays import FloatArray, IntArray, read_only
from scorereport.checks import (
    check_option,
    check_outcome,
    check_probability,
    check_same_length,
    check_weight,
    refuse_rows,
)
from scorereport.columns import bounded_numbers, dates, label_text, label_texts, outcome_values
from scorereport.errors import DataError, UsageError
from scorereport.sources import describe, hash_file, read_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


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
class Predictions:
    """Binary outcomes with the forecasts of one or more models for the same rows; checked when built."""

    outcome: FloatArray
    forecasts: Mapping[str, FloatArray]
    weight: FloatArray | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    cluster: NDArray[Any] | None = None
    grade: NDArray[Any] | None = None
    time: NDArray[np.datetime64] | None = None
    outcome_name: str = "outcome"
    time_name: str = "time"
    weight_name: str = "weight"
    positive: str = "1"
    row_flow: RowFlow = None  # type: ignore[assignment]  # made from the outcomes unless given
    rows: IntArray | None = None  # where kept rows stood in the source, if some were dropped
    source: str = "arrays"
    file_sha256: str = ""  # of the file they were read from, if there was one

    def __post_init__(self) -> None:
        if not self.forecasts:
            raise UsageError("`forecasts` must name at least one forecast.")
        outcome = check_outcome(self.outcome, self.outcome_name)
        forecasts = {name: check_probability(p, name) for name, p in self.forecasts.items()}
        weight = check_weight(self.weight, len(outcome), self.weight_name)
        groups = {name: _texts(labels) for name, labels in self.groups.items()}
        cluster = None if self.cluster is None else _texts(self.cluster)
        grade = None if self.grade is None else _texts(self.grade)
        time = None if self.time is None else _dates(self.time, self.time_name)
        others = [("cluster", cluster), ("grade", grade), ("time", time), *groups.items()]
        given = [(name, values) for name, values in others if values is not None]
        check_same_length((self.outcome_name, outcome), *forecasts.items(), *given)
        self._set(
            outcome=_own(outcome),
            forecasts=MappingProxyType({name: _own(p) for name, p in forecasts.items()}),
            weight=None if weight is None else _own(weight),
            groups=MappingProxyType({name: _own(labels) for name, labels in groups.items()}),
            cluster=None if cluster is None else _own(cluster),
            grade=None if grade is None else _own(grade),
            time=None if time is None else _own(time),
            row_flow=self.row_flow or RowFlow(read=len(outcome), kept=len(outcome)),
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def sha256(self) -> str:
        """SHA-256 of all columns: outcomes, forecasts, and any weights, groups, clusters, grades and times.

        Of each column in turn: its name in UTF-8, a zero byte, and its values, as little-endian float64, as
        text in UTF-8 with a zero byte after each, or as little-endian int64 nanoseconds since 1970.
        """
        weights = (self.weight_name, self.weight)
        numbers = [(self.outcome_name, self.outcome), *self.forecasts.items(), weights]
        labels = [*self.groups.items(), ("cluster", self.cluster), ("grade", self.grade)]
        digest = hashlib.sha256()
        for name, values in (*numbers, *labels, (self.time_name, self.time)):
            if values is not None:
                digest.update(name.encode() + b"\0")
                digest.update(_bytes_of(values))
        return digest.hexdigest()


def _bytes_of(values: NDArray[Any]) -> bytes:
    if values.dtype == object:
        return b"".join(label.encode() + b"\0" for label in values.tolist())
    if values.dtype.kind == "M":
        return values.astype("datetime64[ns]").astype("<i8").tobytes()
    return values.astype("<f8", copy=False).tobytes()


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
    return read_only(array.copy())


def read_predictions(
    source: Any,
    *,
    outcome: str,
    forecasts: Sequence[str],
    weight: str | None = None,
    group: str | Sequence[str] | None = None,
    cluster: str | None = None,
    grade: str | None = None,
    time: str | None = None,
    positive: object = None,
    missing: str = "refuse",
) -> Predictions:
    """Read binary outcomes and forecast probabilities from a table.

    Parameters
    ----------
    source : a DataFrame (pandas, polars or pyarrow), or the path of a .csv, .csv.gz or .parquet file
    outcome : the column of outcomes: 0/1, True/False, or two labels of which `positive` names one
    forecasts : one column of probabilities for each model
    weight, group, cluster, grade, time : optional columns of case weights, of subgroups (one or several
        columns), of clusters of dependent rows, of rating grades, and of dates
    positive : the label that counts as the event
    missing : "refuse" rows with missing values, or "drop" them and count them in the row flow

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"default": ["no", "yes", "no"], "logit": [0.1, 0.7, None]})
    >>> p = read_predictions(frame, outcome="default", forecasts=["logit"], positive="yes", missing="drop")
    >>> p.outcome, p.row_flow.read, p.row_flow.kept, p.row_flow.dropped
    (array([0., 1.]), 3, 2, (DroppedRows(reason='missing `logit`', rows=1),))
    >>> p.row_flow.missing
    (MissingValues(column='default', rows=0), MissingValues(column='logit', rows=1))
    """
    check_option(missing, "missing", ("refuse", "drop"))
    roles = Roles.of(outcome, forecasts, weight, group, cluster, grade, time)
    frame = read_columns(source, roles.numbers, roles.labels)
    columns = _clean(frame, roles, positive)
    rows, row_flow = _complete_rows(columns, drop=missing == "drop")
    if row_flow.dropped:
        columns = {name: values[rows] for name, values in columns.items()}
    return Predictions(
        outcome=columns[roles.outcome],
        forecasts={name: columns[name] for name in roles.forecasts},
        weight=None if roles.weight is None else columns[roles.weight],
        groups={name: columns[name] for name in roles.groups},
        cluster=None if roles.cluster is None else columns[roles.cluster],
        grade=None if roles.grade is None else columns[roles.grade],
        time=None if roles.time is None else columns[roles.time],
        outcome_name=roles.outcome,
        time_name="time" if roles.time is None else roles.time,
        weight_name="weight" if roles.weight is None else roles.weight,
        positive="1" if positive is None else label_text(positive),
        row_flow=row_flow,
        rows=rows if row_flow.dropped else None,
        source=describe(source),
        file_sha256=hash_file(source),
    )


class Roles(NamedTuple):
    """Which column plays which part."""

    outcome: str
    forecasts: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    cluster: str | None
    grade: str | None
    time: str | None

    @classmethod
    def of(
        cls,
        outcome: str,
        forecasts: Sequence[str],
        weight: str | None,
        group: str | Sequence[str] | None,
        cluster: str | None,
        grade: str | None,
        time: str | None,
    ) -> Roles:
        """Roles from what a caller names; a name that is a number is read as its text."""
        if isinstance(forecasts, str) or len(forecasts) == 0:
            raise UsageError(f"`forecasts` must be a list of at least one column; got {forecasts!r}.")
        groups = [group] if isinstance(group, (str, int)) else list(group or [])
        others = (None if name is None else str(name) for name in (cluster, grade, time))
        weight = None if weight is None else str(weight)
        return cls(str(outcome), tuple(map(str, forecasts)), weight, tuple(map(str, groups)), *others)

    @property
    def numbers(self) -> list[str]:
        """Columns that must hold numbers."""
        return [*self.forecasts, *([self.weight] if self.weight is not None else [])]

    @property
    def labels(self) -> list[str]:
        """Columns whose text must be kept as it is."""
        return [self.outcome, *self.texts, *([self.time] if self.time is not None else [])]

    @property
    def texts(self) -> list[str]:
        """Columns of labels: subgroups, clusters and grades."""
        return [*self.groups, *(name for name in (self.cluster, self.grade) if name is not None)]


def _clean(frame: pd.DataFrame, roles: Roles, positive: object) -> dict[str, NDArray[Any]]:
    """All columns as arrays that obey their rules, missing values apart."""
    columns: dict[str, NDArray[Any]] = {
        roles.outcome: outcome_values(frame[roles.outcome], roles.outcome, positive)
    }
    for name in roles.numbers:
        columns[name] = bounded_numbers(frame[name], name, upper=np.inf if name == roles.weight else 1.0)
    for name in roles.texts:
        columns[name] = label_texts(frame[name], name)
    if roles.time is not None:
        columns[roles.time] = dates(frame[roles.time], roles.time)
    return columns


def _complete_rows(columns: dict[str, NDArray[Any]], *, drop: bool) -> tuple[IntArray, RowFlow]:
    """Rows without missing values; a row that lacks several is counted for the first."""
    n = len(next(iter(columns.values())))
    is_kept = np.ones(n, dtype=bool)
    dropped, missing = [], []
    for name, values in columns.items():
        lacks = _is_missing(values)
        if lacks.any() and not drop:
            way_out = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
            refuse_rows(np.full(n, np.nan), lacks, f"`{name}` must not be missing", way_out)
        if (newly := lacks & is_kept).any():
            dropped.append(DroppedRows(reason=f"missing `{name}`", rows=int(newly.sum())))
        missing.append(MissingValues(column=name, rows=int(lacks.sum())))
        is_kept &= ~lacks
    if not is_kept.any():
        raise DataError(f"No row is complete: all {n} rows lack a value in one of {', '.join(columns)}.")
    kept = np.flatnonzero(is_kept)
    counts = tuple(missing) if dropped else ()
    return kept, RowFlow(read=n, kept=len(kept), dropped=tuple(dropped), missing=counts)


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([value is None for value in values.tolist()])
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
