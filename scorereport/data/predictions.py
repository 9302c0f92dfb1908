"""`Predictions` and `ClassPredictions`: outcomes, forecasts, weights, groups and times of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray, IntArray, set_read_only
from scorereport._utils.checks import (
    check_distribution,
    check_labels,
    check_outcome,
    check_probability,
    check_same_length,
    check_weight,
)
from scorereport._utils.formatting import format_count, format_counted, format_fixed
from scorereport._utils.overviews import Overview, overview_repr
from scorereport._utils.representation import describe_range, short_repr
from scorereport.data.column_rules import check_class_names, label_text
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRows:
    """The number of rows dropped for one reason."""

    reason: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValues:
    """The number of rows read that lack a value in a column."""

    column: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImmatureRows:
    """Rows that are too young for a final outcome: their number, and the age at which outcomes are final.

    `final_on` is the day on which the youngest of them is as old; it is empty if there are none.
    """

    rows: int
    mature_after: str
    final_on: str = ""

    __repr__ = short_repr

    @property
    def reason(self) -> str:
        """Why the rows are dropped."""
        return f"outcome not final: younger than {self.mature_after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFlow:
    """How many rows were read, which were dropped and why, and how many were kept.

    `dropped` counts a row once: as immature, or for the first column in which it lacks a value. `missing`
    counts it for each such column, and lists every column used; it is empty if no value is missing. Outcomes
    of immature rows count neither as present nor as missing. `immature` is None if every age is accepted.
    """

    read: int
    kept: int
    dropped: tuple[DroppedRows, ...] = ()
    missing: tuple[MissingValues, ...] = ()
    immature: ImmatureRows | None = None

    OPTIONAL: ClassVar = ("immature",)

    __repr__ = short_repr

    @property
    def immature_rows(self) -> int | None:
        """The number of rows that are too young for a final outcome; None if every age is accepted."""
        return None if self.immature is None else self.immature.rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnknownOutcomes:
    """Rows that lack the outcome and nothing else: their forecasts, and their weights if rows have any.

    With K classes, the forecasts of a model are a table, as in `ClassPredictions`.

    Of these, `immature` rows are too young for a final outcome; what their outcomes say now is not used.
    """

    forecasts: Mapping[str, FloatArray]
    weight: FloatArray | None = None
    immature: int = 0

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(next(iter(self.forecasts.values())))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cases:
    """Rows of predictions of any kind; columns beside outcomes and forecasts are checked when built.

    `without_outcome` holds the rows that were dropped because they lack the outcome, or because it is not
    final; they are not hashed.
    """

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
    rows: IntArray | None = None  # positions in the source, if some rows were dropped or put in another order
    source: str = "arrays"
    file_sha256: str = ""  # of the file they were read from, if there was one
    without_outcome: UnknownOutcomes | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    def _keep(self, outcome: NDArray[Any], forecasts: Mapping[str, FloatArray]) -> None:
        """Check the other columns, and keep read-only copies of all."""
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

        Rows are in the order of the source. For each column in turn, the hash covers its name in UTF-8, a
        zero byte, and its values: as little-endian float64, as text in UTF-8 with a zero byte after each, or
        as little-endian int64 nanoseconds since 1970. With classes, the column of outcomes holds indices, and
        each model has a column for each class, named by the model and the class with a zero byte between.
        """
        digest = hashlib.sha256()
        labels = [*self.groups.items(), ("cluster", self.cluster), ("grade", self.grade)]
        numbers = [*self._numbers(), (self.weight_name, self.weight)]
        order = self._order_in_source()
        for name, values in (*numbers, *labels, (self.time_name, self.time)):
            if values is not None:
                digest.update(name.encode() + b"\0")
                digest.update(_bytes_of(values[order]))
        return digest.hexdigest()

    def _order_in_source(self) -> slice | IntArray:
        """What puts rows in the order of their source."""
        if self.rows is None or (self.rows[1:] > self.rows[:-1]).all():
            return slice(None)
        return np.argsort(self.rows)

    def in_order(self, order: IntArray) -> Self:
        """Return the same rows in another order."""
        return replace(
            self,
            outcome=self.outcome[order],
            forecasts={name: p[order] for name, p in self.forecasts.items()},
            weight=None if self.weight is None else self.weight[order],
            groups={name: labels[order] for name, labels in self.groups.items()},
            cluster=None if self.cluster is None else self.cluster[order],
            grade=None if self.grade is None else self.grade[order],
            time=None if self.time is None else self.time[order],
            rows=order if self.rows is None else self.rows[order],
        )

    def _describe(self) -> Overview:
        columns = {"weight": self.weight, "cluster": self.cluster, "grade": self.grade, "time": self.time}
        facts = [
            ("source", self.source),
            ("outcome", f"{self.outcome_name}: {self._describe_outcome()}"),
            ("models", ", ".join(self.forecasts)),
            ("forecasts", describe_range(np.array([_ends_of(p) for p in self.forecasts.values()]))),
            ("groups", ", ".join(self.groups)),
            ("also", ", ".join(name for name, values in columns.items() if values is not None)),
            ("dropped", format_counted(self.row_flow.read - self.row_flow.kept, "row")),
        ]
        title = f"{type(self).__name__} of {format_counted(len(self.forecasts), 'model')}"
        shown = tuple(fact for fact in facts if fact[1] not in ("", "0 rows"))
        return Overview(title=f"{title} for {format_counted(len(self), 'row')}", facts=shown)

    def _describe_outcome(self) -> str:
        return ""

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
    """Labels of any type as text."""
    return np.array([label_text(label) for label in labels], dtype=object)


def _dates(values: Any, name: str) -> NDArray[np.datetime64]:
    times = np.asarray(values)
    if times.dtype.kind != "M":
        raise DataError(f"`{name}` must hold dates; got {times.dtype}.")
    return times


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy."""
    return set_read_only(array.copy())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions(Cases):
    """Binary outcomes with the forecasts of one or more models for the same rows; checked when built."""

    outcome: FloatArray
    forecasts: Mapping[str, FloatArray]
    positive: str = "1"

    __repr__ = overview_repr

    def __post_init__(self) -> None:
        _check_forecasts(self.forecasts)
        outcome = check_outcome(self.outcome, self.outcome_name)
        self._keep(outcome, {name: check_probability(p, name) for name, p in self.forecasts.items()})

    def _describe_outcome(self) -> str:
        events = format_counted(int(np.count_nonzero(self.outcome)), "event")
        return f"{events} ({format_fixed(100 * self.outcome.mean(), 1)} % of rows), event {self.positive!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaledRows:
    """Rows of a model that were divided by their sum: their number, and the sum furthest from 1."""

    model: str
    rows: int
    furthest_sum: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassPredictions(Cases):
    """Observed classes, as indices, with the probabilities of all K classes; checked when built.

    `classes` lists the classes in the order of the columns, which is meaningful if they are `ordered`. Some
    may never be observed.
    """

    outcome: IntArray
    forecasts: Mapping[str, FloatArray]
    classes: tuple[str, ...]
    ordered: bool = False
    rescaled: tuple[RescaledRows, ...] = ()

    __repr__ = overview_repr

    def __post_init__(self) -> None:
        _check_forecasts(self.forecasts)
        classes = check_class_names(self.classes)
        outcome = check_labels(self.outcome, self.outcome_name, len(classes))
        forecasts = {name: check_distribution(p, name) for name, p in self.forecasts.items()}
        for name, p in forecasts.items():
            if p.shape[1] != len(classes):
                raise UsageError(
                    f"`{name}` must have a column for each of the {len(classes)} classes; got {p.shape[1]}."
                )
        self._keep(outcome, forecasts)
        self._set(classes=classes)

    def _describe_outcome(self) -> str:
        counts = np.bincount(self.outcome, minlength=len(self.classes)).tolist()
        shown = ", ".join(f"{label} {format_count(n)}" for label, n in zip(self.classes, counts, strict=True))
        return f"{len(self.classes)} {'ordered ' if self.ordered else ''}classes, {shown}"

    def _numbers(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Class indices, and the probabilities of each model and class."""
        yield self.outcome_name, self.outcome
        for model, p in self.forecasts.items():
            for label, column in zip(self.classes, np.ascontiguousarray(p.T), strict=True):
                yield f"{model}\0{label}", column


def _ends_of(forecast: FloatArray) -> tuple[float, float]:
    return float(forecast.min()), float(forecast.max())


def _check_forecasts(forecasts: Mapping[str, Any]) -> None:
    if not forecasts:
        raise UsageError("`forecasts` must name at least one forecast.")
