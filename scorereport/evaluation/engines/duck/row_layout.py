"""SQL for the rows that count: outcomes, weights, buckets, and the codes of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import IntArray
from scorereport.data.column_rules import label_text
from scorereport.data.roles import Roles
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.duck_tables import ScannableRows
from scorereport.evaluation.engines.protocol import LabelCount
from scorereport.evaluation.subgroups import label_windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.evaluation.engines.duck.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """The labels of a column in ascending order, and SQL for the code of each row's label: its place there.

    As in memory, the rows of a label include complete rows of weight 0; `counts` leaves out labels whose
    rows all have weight 0, which are in `weightless`.
    """

    labels: tuple[str, ...]
    code: str
    counts: tuple[LabelCount, ...] = ()
    weightless: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SqlLayout:
    """Columns and conditions in SQL; `kept` rows are complete, and rows that count also have a weight."""

    rows: ScannableRows
    roles: Roles
    outcome: str
    kept: tuple[str, ...] = ()
    has_zeros: bool = False
    counted: bool = True
    codings: Mapping[str, Coding] = field(default_factory=dict)
    bins: Mapping[str, IntArray] = field(default_factory=dict)

    @property
    def counts(self) -> str:
        """The WHERE clause that selects the rows that count."""
        return sql.where([*self.kept, *([f"{self.weight} > 0"] if self.has_zeros else [])])

    @property
    def weight(self) -> str:
        """The weight as float64; 1 if there is none."""
        return "1.0::DOUBLE" if self.roles.weight is None else sql.number(self.rows, self.roles.weight)

    @property
    def whole_weight(self) -> str:
        """The weight as a whole number, if it is one."""
        return "1" if self.roles.weight is None else f"CAST({self.weight} AS BIGINT)"

    @property
    def bucket(self) -> str:
        """The bucket of the row, or of its cluster."""
        if self.roles.cluster is None:
            return sql.bucket_of_row(self.rows.number)
        return sql.bucket_of_cluster(self.rows, self.roles.cluster)

    def forecast(self, model: str) -> str:
        """The forecast of a model."""
        return sql.number(self.rows, model)


@dataclass(slots=True, kw_only=True)
class _Sums:
    """The raw values of a label, its complete rows, and the number and sums of its rows that count."""

    keys: list[str] = field(default_factory=list)
    kept: int = 0
    rows: int = 0
    total: int = 0
    events: int = 0
    event_squares: int = 0
    other_squares: int = 0

    def add(self, row: dict[str, Any]) -> None:
        self.keys.append(row["key"])
        self.kept += row["kept"]
        self.rows += row["rows"]
        self.total += int(row["total"])
        self.events += int(row["events"])
        self.event_squares += int(row["event_squares"])
        self.other_squares += int(row["other_squares"])


def code_labels(workspace: Workspace, layout: SqlLayout, column: str) -> Coding:
    """The coding of the labels of a group column."""
    raw = layout.rows.columns[column]
    found = _count_by(workspace, layout, raw)
    values = found.column("raw").to_pandas()
    texts = [label_text(value) for value in values]
    place = layout.roles.groups.index(column)
    return _make(workspace, found.to_pylist(), texts, f"group{place}", f"CAST({raw} AS VARCHAR)")


def code_windows(workspace: Workspace, layout: SqlLayout, column: str, window: str | None) -> Coding:
    """The coding of the periods of the time column; a day is never split."""
    day = f"CAST({sql.time(layout.rows, column)} AS DATE)"
    found = _count_by(workspace, layout, day)
    days = found.column("raw").to_numpy().astype("datetime64[us]")
    texts = label_windows(days, window).tolist()
    return _make(workspace, found.to_pylist(), texts, "days", f"CAST({day} AS VARCHAR)")


def _count_by(workspace: Workspace, layout: SqlLayout, raw: str) -> Any:
    """Rows and whole weights by raw value; fractional weights are summed elsewhere, in the order of rows."""
    weight = layout.whole_weight if layout.counted else "0"
    counts = f"FILTER ({layout.weight} > 0)" if layout.has_zeros else ""
    return workspace.table(
        f"SELECT raw, CAST(raw AS VARCHAR) AS key, * EXCLUDE (raw) FROM (SELECT {raw} AS raw, "
        f"count(*) AS kept, count(*) {counts} AS rows, {', '.join(sums_of_weights(weight, layout.outcome))} "
        f"FROM {layout.rows.relation}{sql.where(layout.kept)} GROUP BY raw)"
    )


def sums_of_weights(weight: str, outcome: str) -> list[str]:
    """SQL for the sums of whole weights, of the weights of events, and of squared weights by outcome."""
    if weight == "1":
        events = f"sum({outcome})"
        return [
            "count(*) AS total",
            f"{events} AS events",
            f"{events} AS event_squares",
            f"count(*) - {events} AS other_squares",
        ]
    square = f"CAST({weight} AS HUGEINT) * {weight}"
    return [
        f"sum({weight}) AS total",
        f"sum({weight} * {outcome}) AS events",
        f"sum({square} * {outcome}) AS event_squares",
        f"sum({square} * (1 - {outcome})) AS other_squares",
    ]


def _make(
    workspace: Workspace, found: Iterable[dict[str, Any]], texts: Sequence[str], name: str, key: str
) -> Coding:
    sums: defaultdict[str, _Sums] = defaultdict(_Sums)
    for row, text in zip(found, texts, strict=True):
        sums[text].add(row)
    labels = sorted(sums)
    keys = [(each, code) for code, label in enumerate(labels) for each in sums[label].keys]
    return Coding(
        labels=tuple(labels),
        code=_make_code(workspace, keys, name, key),
        counts=tuple(
            LabelCount(
                label=label,
                code=code,
                rows=of.kept,
                total=of.total,
                events=of.events,
                event_squares=of.event_squares,
                other_squares=of.other_squares,
            )
            for code, (label, of) in enumerate((label, sums[label]) for label in labels)
            if of.rows
        ),
        weightless=tuple((label, sums[label].kept) for label in labels if not sums[label].rows),
    )


def _make_code(workspace: Workspace, keys: Sequence[tuple[str, int]], name: str, key: str) -> str:
    """SQL for the code of a row's label; where several raw values have one label, a list maps them to it."""
    import pyarrow as pa

    places = pa.table({"place": np.arange(len(keys)), "key": pa.array([key for key, _ in keys], pa.string())})
    workspace.execute(f"CREATE TABLE keys_{name} (place BIGINT, key VARCHAR)")
    workspace.fill(f"keys_{name}", [places])
    workspace.execute(f"CREATE TYPE codes_{name} AS ENUM (SELECT key FROM keys_{name} ORDER BY place)")
    code = f"CAST(enum_code(CAST({key} AS codes_{name})) AS INTEGER)"
    codes = [code for _, code in keys]
    if codes == list(range(len(codes))):
        return code
    return f"list_extract([{', '.join(map(str, codes))}]::INTEGER[], {code} + 1)"
