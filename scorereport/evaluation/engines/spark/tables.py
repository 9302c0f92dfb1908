"""What Spark reads: a frame, files at a path or an address, or a table by its name."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.data.column_names import check_columns
from scorereport.data.sources import describe_source
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.spark.spark_session import collect, first_line, is_frame, quiet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession  # noqa: TC004  # of fields, and loaded by who works with Spark

_CSV_ENDINGS = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """A frame with the name of its source and of its columns, as they are called there.

    Rows of Parquet files know their file and their place in it.
    """

    frame: DataFrame
    name: str
    columns: Sequence[str]
    has_places: bool = False

    def at(self, column: str) -> int:
        """The place of a column."""
        return list(self.columns).index(column)


def open_table(session: SparkSession, source: Any, columns: Sequence[str]) -> SparkTable:
    """The frame of a source, with the named columns among its own."""
    if is_frame(source):
        table = SparkTable(frame=source, name="The frame", columns=source.columns)
    elif isinstance(source, (str, Path)):
        table = _open_path(session, str(source))
    else:
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    check_columns(columns, table.columns, table.name)
    return table


def _open_path(session: SparkSession, path: str) -> SparkTable:
    from pyspark.errors import PySparkException

    name = describe_source(path.rstrip("/"))
    try:
        with quiet():
            if "://" not in path and not Path(path).exists():
                frame = _open_by_name(session, path)
                return SparkTable(frame=frame, name=path, columns=frame.columns)
            if _is_csv(path):
                return _open_csv(session, path, name)
            frame = session.read.parquet(path)
            return SparkTable(frame=frame, name=name, columns=frame.columns, has_places=True)
    except PySparkException as error:
        raise DataError(f"{name} cannot be read by Spark: {first_line(error)}") from error


def _open_by_name(session: SparkSession, name: str) -> DataFrame:
    """A table of the session's catalogue."""
    from pyspark.errors import PySparkException

    try:
        return session.table(name)
    except PySparkException as error:
        raise UsageError(f"{name} is neither a file or folder nor a table that Spark knows.") from error


def _is_csv(path: str) -> bool:
    """Whether the path, or a file in the folder, is named like CSV; a folder far away must be Parquet."""
    if path.lower().endswith(_CSV_ENDINGS):
        return True
    folder = Path(path)
    return folder.is_dir() and any(file.name.lower().endswith(_CSV_ENDINGS) for file in folder.iterdir())


def _open_csv(session: SparkSession, path: str, name: str) -> SparkTable:
    """All columns as text, so that numbers are read to the last bit and labels stay as they are."""
    from pyspark.sql.types import StringType, StructField, StructType

    lines = collect(session.read.text(path).limit(1))
    if not lines or not lines[0][0].strip():
        raise DataError(f"{name} must begin with its header; the first line is empty.")
    line = lines[0][0].removeprefix("\ufeff")
    separator = max(",;\t", key=line.count)
    header = [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    schema = StructType([StructField(f"c{at}", StringType()) for at in range(len(header))])
    reader = session.read.option("mode", "FAILFAST").option("columnPruning", value=False)
    frame = reader.csv(path, schema=schema, sep=separator, header=True, escape='"')
    return SparkTable(frame=frame, name=name, columns=header)
