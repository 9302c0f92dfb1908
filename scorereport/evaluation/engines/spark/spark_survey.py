"""The survey of a source by Spark: checks of every rule, counts of rows, and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from math import fsum
from operator import and_
from typing import TYPE_CHECKING

from scorereport._utils.checks import WEIGHT_RANGE, extreme_weight_rule, fraction_rule
from scorereport.data.column_rules import label_text
from scorereport.data.predictions import DroppedRows, MissingValues, RowFlow
from scorereport.errors import DataError
from scorereport.evaluation.engines.protocol import Survey
from scorereport.evaluation.engines.spark.spark_columns import clean, complete_rows, select_raw, sum_if
from scorereport.evaluation.engines.spark.spark_labels import Labels, find_labels, find_windows
from scorereport.evaluation.engines.spark.spark_outcomes import find_outcomes, refuse_missing, refuse_values
from scorereport.evaluation.engines.spark.spark_session import collect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame  # noqa: TC004  # types of fields; imported only with Spark

    from scorereport.evaluation.engines.spark.spark_columns import ColumnLayout
    from scorereport.evaluation.engines.spark.spark_session import SparkTable


#: Up to this total, sums of whole weights are exact in floating point.
_FLOATS_ARE_EXACT = 2**53
_EXAMPLES = 6
_DECIMAL_COMMA = re.compile(r"\d*,\d+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over all rows, by name, each the exact sum over the sums of the partitions."""

    sums: Mapping[str, float]

    def count(self, name: str) -> int:
        """A number of rows."""
        return int(self.sums.get(name, 0))

    @property
    def counted(self) -> bool:
        """Whether weights are whole, and few enough to be added exactly."""
        return self.sums.get("fractional", 0) == 0 and self.sums["total"] < _FLOATS_ARE_EXACT

    def weight(self, name: str) -> int | float:
        """A sum of weights: a whole number if weights are whole."""
        return int(self.sums[name]) if self.counted else float(self.sums[name])


def add_up(cleaned: DataFrame, layout: ColumnLayout) -> Totals:
    """Count everything that one scan of all rows can count; a second scan counts errors, if there are any."""
    from pyspark.sql import functions as F  # noqa: N812

    checked = cleaned.withColumns({"fine": _is_fine(layout), "counts": _is_complete(layout) & layout.counts})
    sums = {"read": F.count("*"), "kept": sum_if(F.col("fine")), **_sum_complete(layout)}
    found = _sum(checked, sums, weighted=layout.weighted)
    if found["kept"] < found["read"]:
        found |= _sum(cleaned, {**_count_odd(layout), **_count_missing(layout)}, weighted=False)
    return Totals(sums=found)


def _sum(rows: DataFrame, aggregates: Mapping[str, Column], *, weighted: bool) -> dict[str, float]:
    """Sums; weights are summed by partition and then exactly, so the order of partitions has no effect."""
    from pyspark.sql import functions as F  # noqa: N812

    by_partition = rows.groupBy(*([F.spark_partition_id().alias("partition")] if weighted else []))
    found = collect(by_partition.agg(*(column.alias(name) for name, column in aggregates.items())))
    return {name: fsum(row[name] for row in found) for name in aggregates}


def _is_complete(layout: ColumnLayout) -> Column:
    """Whether a row lacks no value."""
    from pyspark.sql import functions as F  # noqa: N812

    return reduce(and_, (F.col(short).isNotNull() for short in layout.names.values()))


def _is_fine(layout: ColumnLayout) -> Column:
    """Whether a row is complete and breaks no rule; infinite numbers are out of bounds."""
    from pyspark.sql import functions as F  # noqa: N812

    numbers = [short for column, short in layout.names.items() if column in layout.roles.numbers]
    inside = (~(_is_outside(short) | _is_infinite(short)) for short in numbers)
    return reduce(and_, (F.coalesce(one, F.lit(False)) for one in inside), _is_complete(layout))


def _count_odd(layout: ColumnLayout) -> dict[str, Column]:
    """Counts of values that are not numbers or dates, not finite, or out of bounds."""
    from pyspark.sql import functions as F  # noqa: N812

    odd = {}
    for column, short in layout.names.items():
        if column in layout.roles.numbers:
            odd[f"infinite_{short}"] = sum_if(_is_infinite(short))
            odd[f"outside_{short}"] = sum_if(_is_outside(short))
        if column in layout.roles.numbers or short == "day":
            odd[f"bad_{short}"] = sum_if(F.col(f"bad_{short}"))
    return odd


def _is_infinite(short: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.abs(F.col(short)) == F.lit(float("inf"))


def _is_outside(short: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    value = F.col(short)
    if short != "w":
        return (value < 0) | (value > 1)
    smallest, largest = WEIGHT_RANGE
    return (value < 0) | (value > largest) | ((value > 0) & (value < smallest))


def _count_missing(layout: ColumnLayout) -> dict[str, Column]:
    """Counts of rows that lack each column, and of rows for which it is the first that they lack."""
    from pyspark.sql import functions as F  # noqa: N812

    counts, lacks_none = {}, F.lit(True)
    for short in layout.names.values():
        lacks = F.col(short).isNull()
        counts[f"missing_{short}"] = sum_if(lacks)
        counts[f"first_{short}"] = sum_if(lacks & lacks_none)
        lacks_none = lacks_none & ~lacks
    counts["kept"] = sum_if(lacks_none)
    return counts


def _sum_complete(layout: ColumnLayout) -> dict[str, Column]:
    """Sums over the complete rows that have a weight."""
    from pyspark.sql import functions as F  # noqa: N812

    counts = F.col("counts")
    is_event, weight = F.col("y"), F.col("w") if layout.weighted else F.lit(1)
    sums = {
        "rows": sum_if(counts),
        "total": sum_if(counts, weight),
        "events": sum_if(counts & is_event, weight),
        "event_squares": sum_if(counts & is_event, weight * weight),
        "other_squares": sum_if(counts & ~is_event, weight * weight),
    }
    if layout.weighted:
        sums["fractional"] = sum_if(counts & (weight != F.floor(weight)))
    for at in range(len(layout.roles.forecasts)):
        x = F.col(f"x{at}")
        sums[f"refuted_{at}"] = sum_if(counts & (x == F.when(is_event, 0.0).otherwise(1.0)))
        sums[f"halves_{at}"] = sum_if(counts & (x == F.lit(0.5)))
        sums[f"certain_{at}"] = sum_if(counts & x.isin(0.0, 1.0))
    return sums


def check_values(cleaned: DataFrame, layout: ColumnLayout, totals: Totals) -> None:
    """Refuse values that are not numbers or dates, not finite, or out of bounds."""
    for column, short in layout.names.items():
        if column in layout.roles.numbers:
            _check_numbers(cleaned, column, short, totals)
        elif short == "day" and (odd := totals.count("bad_day")):
            rule = f"`{column}` must hold dates such as 2026-11-15"
            refuse_values(rule, _examples(cleaned, "bad_day", short), totals.count("read"), odd_rows=odd)
    if layout.roles.weight_kind == "frequency" and totals.count("fractional"):
        rule, way_out = fraction_rule(str(layout.roles.weight))
        examples = _examples(cleaned, "w <> floor(w)", "w")
        refuse_values(rule, examples, totals.count("read"), way_out)


def _check_numbers(cleaned: DataFrame, column: str, short: str, totals: Totals) -> None:
    rows = totals.count("read")
    if odd := totals.count(f"bad_{short}"):
        examples = _examples(cleaned, f"bad_{short}", short)
        has_comma = any(_DECIMAL_COMMA.fullmatch(str(value).strip()) for value, _ in examples)
        way_out = " Write decimals with a point." if has_comma else ""
        refuse_values(f"`{column}` must be numeric", examples, rows, way_out, odd_rows=odd)
    if odd := totals.count(f"infinite_{short}"):
        examples = _examples(cleaned, _is_infinite(short), short)
        refuse_values(f"`{column}` must be finite", examples, rows, odd_rows=odd)
    if odd := totals.count(f"outside_{short}"):
        examples = _examples(cleaned, _is_outside(short), short)
        rule, way_out = f"`{column}` must lie in [0, 1]", ""
        if short == "w":
            is_negative = bool(collect(cleaned.where("w < 0").limit(1)))
            negative = f"`{column}` must not be negative", ""
            rule, way_out = negative if is_negative else extreme_weight_rule(column)
        refuse_values(rule, examples, rows, way_out, odd_rows=odd)


def _examples(cleaned: DataFrame, is_odd: Column | str, short: str) -> list[tuple[object, int]]:
    """The lowest invalid values, unconverted, each with its number of rows."""
    counts = cleaned.where(is_odd).groupBy(f"raw_{short}").count()
    return [(row[0], row[1]) for row in collect(counts.orderBy(f"raw_{short}").limit(_EXAMPLES))]


def flow_of_rows(layout: ColumnLayout, totals: Totals, source: str, *, drop: bool) -> RowFlow:
    """The numbers of rows read, dropped (and why) and kept; unless `drop`, refuses rows that lack a value."""
    read, kept = totals.count("read"), totals.count("kept")
    if read == 0:
        raise DataError(f"{source} holds no rows.")
    missing = {column: totals.count(f"missing_{short}") for column, short in layout.names.items()}
    lacking = next((column for column, rows in missing.items() if rows), None)
    if lacking is not None and not drop:
        refuse_missing(lacking, missing[lacking], read)
    if kept == 0:
        raise DataError(f"No row is complete: all {read} rows lack a value in one of {', '.join(missing)}.")
    first = ((column, totals.count(f"first_{short}")) for column, short in layout.names.items())
    dropped = tuple(DroppedRows(reason=f"missing `{column}`", rows=rows) for column, rows in first if rows)
    counts = tuple(MissingValues(column=column, rows=rows) for column, rows in missing.items())
    return RowFlow(read=read, kept=kept, dropped=dropped, missing=counts if dropped else ())


def check_weights(layout: ColumnLayout, totals: Totals) -> None:
    """Refuse weights that are all zero."""
    if layout.roles.weight is not None and totals.count("rows") == 0:
        raise DataError(
            f"`{layout.roles.weight}` must not be all zero; got 0 in all {totals.count('kept')} rows."
        )


def count_clusters(kept: DataFrame, layout: ColumnLayout) -> int | None:
    """The number of clusters with rows that count; None without clusters."""
    if layout.roles.cluster is None:
        return None
    return kept.where(layout.counts).select("cluster").distinct().count()


def totals_by_model(layout: ColumnLayout, totals: Totals, name: str) -> dict[str, int]:
    """One of the counts for each model."""
    return {model: totals.count(f"{name}_{at}") for at, model in enumerate(layout.roles.forecasts)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurveyedRows:
    """The complete rows, their survey, and the labels of group columns and of the time column."""

    kept: DataFrame
    survey: Survey
    labels: Mapping[str, Labels]
    is_stored: bool


def survey_table(
    table: SparkTable, layout: ColumnLayout, *, positive: object, drop: bool, window: str | None
) -> SurveyedRows:
    """Check every rule on every row, and count what can be counted without sorting."""
    raw = select_raw(table, layout)
    cleaned = clean(raw, layout, find_outcomes(raw, layout.roles.outcome, positive))
    totals = add_up(cleaned, layout)
    check_values(cleaned, layout, totals)
    row_flow = flow_of_rows(layout, totals, table.name, drop=drop)
    check_weights(layout, totals)
    kept = complete_rows(cleaned, layout, lack_nothing=row_flow.kept == row_flow.read)
    is_stored = not table.has_places
    kept = kept.persist() if is_stored else kept  # keeps the partitions, on which places in them depend
    try:
        labels = _find_labels(kept, raw, layout, window, counted=totals.counted)
        clusters = count_clusters(kept, layout)
    except BaseException:
        if is_stored:
            kept.unpersist()
        raise
    event = "1" if positive is None else label_text(positive)
    survey = _describe(table.name, layout, totals, row_flow, labels, event, clusters)
    return SurveyedRows(kept=kept, survey=survey, labels=labels, is_stored=is_stored)


def _find_labels(
    kept: DataFrame, raw: DataFrame, layout: ColumnLayout, window: str | None, *, counted: bool
) -> dict[str, Labels]:
    roles = layout.roles
    kinds = {field.name: field.dataType.typeName() for field in raw.schema}
    labels = {
        column: find_labels(kept, layout, column, kinds[layout.names[column]], counted=counted)
        for column in roles.groups
    }
    if roles.time is not None:
        labels[roles.time] = find_windows(kept, layout, window, counted=counted)
    return labels


def _describe(
    source: str,
    layout: ColumnLayout,
    totals: Totals,
    row_flow: RowFlow,
    labels: Mapping[str, Labels],
    positive: str,
    clusters: int | None,
) -> Survey:
    roles = layout.roles
    refuted = totals_by_model(layout, totals, "refuted")
    return Survey(
        source=source,
        outcome_name=roles.outcome,
        positive=positive,
        models=roles.forecasts,
        rows=totals.count("rows"),
        total=totals.weight("total"),
        events=totals.weight("events"),
        event_squares=totals.weight("event_squares"),
        other_squares=totals.weight("other_squares"),
        row_flow=row_flow,
        weighted=layout.weighted,
        weight_kind=roles.weight_kind,
        counted=totals.counted,
        clusters=clusters,
        groups={column: labels[column].counts for column in roles.groups},
        windows=() if roles.time is None else labels[roles.time].counts,
        time_name="time" if roles.time is None else roles.time,
        refuted={model: (rows, ()) for model, rows in refuted.items() if rows},
        halves=totals_by_model(layout, totals, "halves"),
        certain=totals_by_model(layout, totals, "certain"),
        weightless=tuple((column, *left) for column, of in labels.items() for left in of.weightless),
        has_grade=roles.grade is not None,
    )
