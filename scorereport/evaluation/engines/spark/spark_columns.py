"""The columns of an evaluation as Spark expressions: cleaned, under short names, with the bucket of each row.

The rules are those of `scorereport.data.columns`, as Spark expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import LONGEST_TEXT
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.data.roles import Roles
from scorereport.errors import DataError
from scorereport.evaluation.engines.protocol import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import (
        Column,  # noqa: TC004  # type of fields; imported only with Spark
        DataFrame,
    )
    from pyspark.sql.types import DataType

    from scorereport.evaluation.engines.spark.spark_outcomes import OutcomeKeys
    from scorereport.evaluation.engines.spark.spark_session import SparkTable


#: Characters that are stripped from texts.
_BLANKS = " \t\n\r\x0b\x0c"
#: Numbers, as a regular expression of Java.
_NUMBER = r"(?i)^([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?)$"
_WHOLE_NUMBER = r"^([+-]?\d+)\.0+$"
#: A time with a zone or an offset from UTC.
_ZONED = r"[T ]\d{1,2}.*(Z|[+-]\d{1,2}(:?\d{2})?)$"
_DAY_IN_MICROSECONDS = 86_400_000_000
#: The column with the place of a row in its file, if that is known.
_PLACE = "place"
_SIMPLE = {
    "boolean",
    "byte",
    "tinyint",
    "short",
    "smallint",
    "integer",
    "int",
    "long",
    "bigint",
    "float",
    "double",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanColumn:
    """A column's value, null where missing, and whether it breaks the rule of its type."""

    value: Column
    is_bad: Column


def clean_number(raw: Column, kind: DataType) -> CleanColumn:
    """A column of numbers as float64; texts are bad unless they are numeric."""
    from pyspark.sql import functions as F  # noqa: N812

    name = kind.typeName()
    if name in _SIMPLE or name == "decimal":
        number = raw.cast("double")
        return CleanColumn(value=_without_nan(number), is_bad=F.lit(False))
    if not is_text(kind):
        return CleanColumn(value=F.lit(None).cast("double"), is_bad=raw.isNotNull())
    text = _strip(raw)
    is_missing, is_number = text.isin(*MISSING_WORDS), text.rlike(_NUMBER)
    value = F.when(~is_missing & is_number, text.try_cast("double"))
    return CleanColumn(value=value + F.lit(0.0), is_bad=F.coalesce(~is_missing & ~is_number, F.lit(False)))


def _without_nan(number: Column) -> Column:
    """Null for NaN; adding 0 turns -0 into 0, so that tied values are identical."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(~F.isnan(number), number + F.lit(0.0))


def is_text(kind: DataType) -> bool:
    """Whether a column holds text."""
    return kind.typeName() in {"string", "char", "varchar"}


def clean_label(raw: Column, kind: DataType, name: str) -> Column:
    """A column of labels as texts that are distinct for distinct labels: null where missing or empty."""
    from pyspark.sql import functions as F  # noqa: N812

    if kind.typeName() in {"array", "map", "struct", "variant"}:
        raise DataError(f"`{name}` must hold plain labels; got a column of {kind.simpleString()}.")
    if is_text(kind):
        text = _strip(raw)
        return F.when(text != "", F.regexp_replace(text, _WHOLE_NUMBER, "$1"))
    if kind.typeName() in {"float", "double"}:
        return F.when(~F.isnan(raw), raw.cast("double").cast("string"))
    return raw.cast("string")


def clean_day(raw: Column, kind: DataType) -> CleanColumn:
    """The day of a date or time as days since 1970; in UTC if the time has a zone."""
    from pyspark.sql import functions as F  # noqa: N812

    name = kind.typeName()
    if name == "date":
        day = F.unix_date(raw)
    elif name == "timestamp":
        day = _day_of_moment(raw)
    elif name == "timestamp_ntz":
        day = F.unix_date(raw.cast("date"))
    else:
        text = clean_label(raw, kind, "time")
        moment = _day_of_moment(text.try_cast("timestamp"))
        plain = F.unix_date(text.try_cast("timestamp_ntz").cast("date"))
        day = F.when(text.rlike(_ZONED), moment).otherwise(plain)
    return CleanColumn(value=day.cast("int"), is_bad=day.isNull() & raw.isNotNull())


def _day_of_moment(moment: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    since = F.unix_micros(moment)
    return (since - F.pmod(since, F.lit(_DAY_IN_MICROSECONDS))) / F.lit(_DAY_IN_MICROSECONDS)


def _strip(raw: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.btrim(raw, F.lit(_BLANKS))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLayout:
    """Short names for the columns by their roles, which cannot conflict with names of the source."""

    roles: Roles

    @property
    def names(self) -> dict[str, str]:
        """The short name of each column, in the order in which columns are checked."""
        roles = self.roles
        named = {roles.outcome: "y"}
        named |= {column: f"x{at}" for at, column in enumerate(roles.forecasts)}
        named |= {column: f"g{at}" for at, column in enumerate(roles.groups)}
        others = {"w": roles.weight, "cluster": roles.cluster, "grade": roles.grade, "day": roles.time}
        named |= {column: short for short, column in others.items() if column is not None}
        return {column: named[column] for column in self.columns}

    @property
    def columns(self) -> list[str]:
        """All columns by their names in the source, in the order in which they are checked."""
        roles = self.roles
        time = [] if roles.time is None else [roles.time]
        return [roles.outcome, *roles.numbers, *roles.texts, *time]

    @property
    def models(self) -> dict[str, str]:
        """The short name of each model's column."""
        return {model: self.names[model] for model in self.roles.forecasts}

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.roles.weight is not None

    @property
    def counts(self) -> Column:
        """Whether a complete row has any weight."""
        from pyspark.sql import functions as F  # noqa: N812

        return F.col("w") > 0 if self.weighted else F.lit(True)


def select_raw(table: SparkTable, layout: ColumnLayout) -> DataFrame:
    """The raw columns under their short names, with the place of each row if it has one."""
    from pyspark.sql import functions as F  # noqa: N812

    fields = table.frame.schema.fields
    chosen = [
        _refuse_long(column, _quote(fields[at].name), fields[at].dataType).alias(short)
        for column, short in layout.names.items()
        for at in [table.at(column)]
    ]
    if table.has_places:
        chosen.append(F.xxhash64(F.col("_metadata.file_path"), F.col("_metadata.row_index")).alias(_PLACE))
    return table.frame.select(*chosen)


def _refuse_long(name: str, raw: Column, kind: DataType) -> Column:
    """The column, which raises an error if a text is too long for a label; `spark_session` reports it."""
    from pyspark.sql import functions as F  # noqa: N812

    if not is_text(kind):
        return raw
    rule = f"`{name}` must hold texts of at most {LONGEST_TEXT:,} characters; got one of "
    reason = F.concat(F.lit(rule), F.format_number(F.length(raw), 0), F.lit(" characters."))
    return F.when(F.length(raw) > LONGEST_TEXT, F.raise_error(reason)).otherwise(raw)


def _quote(name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("`" + name.replace("`", "``") + "`")


def clean(raw: DataFrame, layout: ColumnLayout, outcome: OutcomeKeys) -> DataFrame:
    """Clean all columns: null where missing.

    Each has two more columns: `bad_`, whether it breaks the rule of its type, and `raw_`, the raw value.
    """
    cleaned = _clean_columns(raw, layout)
    chosen = [outcome.value(raw).alias("y")]
    for short, column in cleaned.items():
        chosen.append(column.value.alias(short))
        chosen += [column.is_bad.alias(f"bad_{short}"), raw[short].alias(f"raw_{short}")]
    places = [_PLACE] if _PLACE in raw.columns else []
    return raw.select(*chosen, *places)


def _clean_columns(raw: DataFrame, layout: ColumnLayout) -> Mapping[str, CleanColumn]:
    from pyspark.sql import functions as F  # noqa: N812

    kinds, roles = {field.name: field.dataType for field in raw.schema}, layout.roles
    found: dict[str, CleanColumn] = {}
    for column, short in list(layout.names.items())[1:]:
        if column in roles.numbers:
            found[short] = clean_number(raw[short], kinds[short])
        elif column == roles.time:
            found[short] = clean_day(raw[short], kinds[short])
        else:
            value = clean_label(raw[short], kinds[short], column)
            found[short] = CleanColumn(value=value, is_bad=F.lit(False))
    return found


def complete_rows(cleaned: DataFrame, layout: ColumnLayout, *, lack_nothing: bool) -> DataFrame:
    """The complete rows, with their buckets; if no row lacks a value (`lack_nothing`), none is filtered.

    `key` is twice the bucket, plus one for an event. A row is assigned to a bucket by its cluster; else by
    its file and its place in it, which do not depend on how the cluster splits the files; else by its place
    among the rows of its partition, sorted by all columns. Sorting makes the places reproducible: if a worker
    is lost, its rows are computed again in another order, but rows that are equal may change places.
    """
    from pyspark.sql import functions as F  # noqa: N812

    shorts = list(layout.names.values())
    kept = cleaned if lack_nothing else cleaned.dropna(subset=shorts)
    if layout.roles.cluster is not None:
        identity = F.xxhash64("cluster")
    elif _PLACE in cleaned.columns:
        identity = F.col(_PLACE)
    else:
        kept = kept.sortWithinPartitions(*shorts)
        identity = F.xxhash64(F.monotonically_increasing_id())
    key = F.pmod(identity, F.lit(BUCKETS)) * 2 + F.col("y").cast("int")
    others = [short for short in shorts if short not in {"y", "grade"}]
    return kept.select(key.cast("smallint").alias("key"), *others)


def sum_if(condition: Column, value: Any = 1) -> Column:
    """The sum of a value over the rows that fulfil a condition."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.coalesce(F.sum(F.when(condition, value)), F.lit(0))


def add_ascending(column: str) -> Column:
    """The sum of a column by group, added in ascending order: the same for any order of rows."""
    from pyspark.sql import functions as F  # noqa: N812

    in_order = F.sort_array(F.collect_list(F.col(column).cast("double")))
    return F.aggregate(in_order, F.lit(0.0), lambda so_far, value: so_far + value)
