"""The labels of group columns and the periods of the time column: their codes, rows and events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorereport.data.column_rules import label_text
from scorereport.errors import DataError
from scorereport.evaluation.engines.protocol import LabelCount
from scorereport.evaluation.engines.spark.spark_columns import add_ascending, sum_if
from scorereport.evaluation.engines.spark.spark_session import collect
from scorereport.evaluation.subgroups import label_windows

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from scorereport.evaluation.engines.spark.spark_columns import ColumnLayout

#: The most labels of a column: more would strain the driver, and no report could show them.
_MOST_LABELS = 65_536
#: Sums of weights of a label.
_SUMMED = ("total", "events", "event_squares", "other_squares")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """The labels of a column that count, and the keys by which workers find the label of a row.

    Several keys may have the same label: `codes` has the label code of each key.
    """

    short: str
    counts: tuple[LabelCount, ...]
    weightless: tuple[tuple[str, int], ...]
    keys: tuple[Any, ...]
    codes: NDArray[np.int32]

    def keys_of(self, codes: Container[int]) -> list[Any]:
        """The keys of some labels."""
        return [key for key, code in zip(self.keys, self.codes.tolist(), strict=True) if code in codes]

    def find(self, column: pa.ChunkedArray) -> NDArray[np.int32]:
        """The code of each row, -1 for a label without weight."""
        import pyarrow as pa
        import pyarrow.compute as pc

        place = pc.index_in(column, value_set=pa.array(self.keys, type=column.type))
        return np.append(self.codes, np.int32(-1))[pc.fill_null(place, -1).to_numpy()]


def find_labels(kept: DataFrame, layout: ColumnLayout, column: str, kind: str, *, counted: bool) -> Labels:
    """The labels of a group column; numbers are written as Python writes them, not as Spark does."""
    short = layout.names[column]
    rows = _count_keys(kept, layout, short)
    if len(rows) > _MOST_LABELS:
        raise DataError(f"`{column}` has more than {_MOST_LABELS:,} labels; groups must be fewer.")
    texts = [label_text(_as_python(row["key"], kind)) for row in rows]
    return _merge_keys(rows, texts, short, counted=counted)


def find_windows(kept: DataFrame, layout: ColumnLayout, window: str | None, *, counted: bool) -> Labels:
    """The periods of the time column, from the days that occur."""
    rows = _count_keys(kept, layout, "day")
    days = np.array([row["key"] for row in rows], dtype="datetime64[D]").astype("datetime64[us]")
    return _merge_keys(rows, label_windows(days, window).tolist(), "day", counted=counted)


def _as_python(key: str, kind: str) -> object:
    if kind == "boolean":
        return key == "true"
    return float(key) if kind in {"float", "double"} else key


def _count_keys(kept: DataFrame, layout: ColumnLayout, short: str) -> list[Any]:
    """All rows, rows that count, weight and events of each key.

    Weights are added by partition and then in ascending order, so that every run rounds in the same way.
    """
    from pyspark.sql import functions as F  # noqa: N812

    weight, is_event = F.col("w") if layout.weighted else F.lit(1.0), F.col("key") % 2 == 1
    sums = {
        "all": F.count("*"),
        "rows": sum_if(layout.counts),
        "total": sum_if(layout.counts, weight),
        "events": sum_if(layout.counts & is_event, weight),
        "event_squares": sum_if(layout.counts & is_event, weight * weight),
        "other_squares": sum_if(layout.counts & ~is_event, weight * weight),
    }
    parts = [F.spark_partition_id().alias("partition")] if layout.weighted else []
    found = kept.groupBy(F.col(short).alias("key"), *parts)
    counted = found.agg(*(column.alias(name) for name, column in sums.items()))
    if layout.weighted:
        whole = [F.sum(name).alias(name) for name in ("all", "rows")]
        weights = [add_ascending(name).alias(name) for name in _SUMMED]
        counted = counted.groupBy("key").agg(*whole, *weights)
    return collect(counted.limit(_MOST_LABELS + 1))


def _merge_keys(rows: Sequence[Any], texts: Sequence[str], short: str, *, counted: bool) -> Labels:
    """The labels, each from all keys with its text."""
    members: dict[str, list[Any]] = defaultdict(list)
    for row, text in sorted(zip(rows, texts, strict=True), key=lambda pair: (pair[1], pair[0]["key"])):
        members[text].append(row)
    with_weight = {text: of for text, of in members.items() if any(row["rows"] for row in of)}
    code_of = {text: code for code, text in enumerate(with_weight)}
    counts = (_count(text, code_of[text], of, counted=counted) for text, of in with_weight.items())
    without = ((text, sum(r["all"] for r in of)) for text, of in members.items() if text not in with_weight)
    keys = [row["key"] for of in with_weight.values() for row in of]
    codes = [code_of[text] for text, of in with_weight.items() for _ in of]
    return Labels(
        short=short,
        counts=tuple(counts),
        weightless=tuple(without),
        keys=tuple(keys),
        codes=np.array(codes, dtype=np.int32),
    )


def _count(label: str, code: int, rows: Sequence[Any], *, counted: bool) -> LabelCount:
    def add(name: str) -> int | float:
        total = fsum(row[name] for row in rows)
        return int(total) if counted else total

    return LabelCount(
        label=label,
        code=code,
        rows=sum(row["all"] for row in rows),
        total=add("total"),
        events=add("events"),
        event_squares=add("event_squares"),
        other_squares=add("other_squares"),
    )
