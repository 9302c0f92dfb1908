"""Columns as Spark's expressions: numbers, labels and days, null where a value is missing.

The rules are those of `scorereport.data.columns`, written once more in the language of Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.data.csv_files import MISSING_WORDS
from scorereport.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column  # noqa: TC004  # of fields, and loaded by who works with Spark
    from pyspark.sql.types import DataType

#: What Python strips off a text.
_BLANKS = " \t\n\r\x0b\x0c"
#: Numbers as Java matches them.
_NUMBER = r"(?i)^([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?)$"
_WHOLE_NUMBER = r"^([+-]?\d+)\.0+$"
#: A time with a zone or a distance from UTC.
_ZONED = r"[T ]\d{1,2}.*(Z|[+-]\d{1,2}(:?\d{2})?)$"
_DAY_IN_MICROSECONDS = 86_400_000_000
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
    """A number as float64; of text only what is numeric."""
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
    """Null for NaN; adding 0 makes -0 the 0 that it equals, so that all of a tie look the same."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(~F.isnan(number), number + F.lit(0.0))


def is_text(kind: DataType) -> bool:
    """Whether a column holds text."""
    return kind.typeName() in {"string", "char", "varchar"}


def clean_label(raw: Column, kind: DataType, name: str) -> Column:
    """What tells labels apart, as text: null where missing or empty."""
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
    """The day of a date or time, in UTC where a zone is given, as days since 1970."""
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
