"""The Spark session in use, and the frames, files and tables that it reads."""

from __future__ import annotations

import csv
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import TemporaryFolder
from scorereport.data.csv_files import CSV
from scorereport.data.roles import check_columns
from scorereport.data.sources import FILE_KINDS, describe_source, find_file_kind
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession  # noqa: TC004  # types of fields; imported only with Spark


_numbers = count(1)
#: Rows that a session started by us passes to Python at a time.
_ROWS_AT_A_TIME = 100_000
_SECONDS_TO_EXIT = 30
#: The error that a column raises if it holds a text too long for a label.
_LONG_TEXT = re.compile(r"`.*` must hold texts of at most [\d,]+ characters; got one of [\d,]+ characters\.")
#: Spark unpacks more than we do.
_CSV_ENDINGS = (*CSV.endings, ".csv.bz2", ".csv.zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkConnection:
    """A Spark session and the tag of our jobs; if we started it, its folder and whether we started Java."""

    session: SparkSession
    tag: str
    folder: TemporaryFolder | None = None
    owns_machine: bool = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run jobs under our tag; an error or an interrupt ends the jobs that still run."""
        self.session.addTag(self.tag)
        try:
            with _plain_errors():
                yield
        except BaseException:
            self._interrupt()
            raise
        finally:
            self.session.removeTag(self.tag)

    def _interrupt(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.session.interruptTag(self.tag)

    def close(self) -> None:
        """Stop the session and remove its folder, if they are ours."""
        if self.folder is not None:
            self.session.stop()
            if self.owns_machine:
                end_java()
            self.folder.close()


def connect_spark(source: Any, temporary_folder: str | Path | None) -> SparkConnection:
    """Connect to the session of a frame, else to the active one, else to a new one on this machine."""
    _check_installed()
    from pyspark.sql import SparkSession

    tag = f"scorereport-{os.getpid()}-{next(_numbers)}"
    session = source.sparkSession if is_frame(source) else SparkSession.getActiveSession()
    if session is not None:
        return SparkConnection(session=session, tag=tag)
    folder = TemporaryFolder("spark-", temporary_folder)
    owns_machine = not _java_runs()
    try:
        return SparkConnection(session=_start(folder.path), tag=tag, folder=folder, owns_machine=owns_machine)
    except BaseException:
        folder.close()
        raise


def _java_runs() -> bool:
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def end_java() -> None:
    """End the Java process, which pyspark would keep until Python ends; on exit it removes its files."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(_SECONDS_TO_EXIT)
        SparkContext._gateway = SparkContext._jvm = None


def is_frame(source: Any) -> bool:
    """Whether a source is a DataFrame of Spark, of a local session or of Spark Connect."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "sparkSession")


def _check_installed() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark.sql  # noqa: F401  # checks whether it is installed
    except ImportError as error:
        raise UsageError(
            'engine="spark" needs the package pyspark; install it with `pip install scorereport[spark]`.'
        ) from error


def _start(folder: Path) -> SparkSession:
    """Start a session whose workers run this Python and write only to our folder."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_AT_A_TIME),
    }
    builder = SparkSession.builder.appName("scorereport").config(map=settings)
    if not {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"} & set(os.environ):
        builder = builder.master("local[*]")  # the environment names no cluster
    try:
        with quiet():
            return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise UsageError(
            f"Spark cannot be started, which needs Java 17 or later: {first_line(error)}"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore the warnings of pyspark about versions of other packages that are newer than it supports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def collect(frame: DataFrame) -> list[Any]:
    """Collect the rows of a small frame."""
    with quiet():
        return frame.collect()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise errors of the cluster as ours, in one sentence."""
    from pyspark.errors import PySparkException

    try:
        yield
    except Exception as error:
        if isinstance(error, PySparkException) or type(error).__module__.startswith("py4j."):
            raise _explain(str(error)) from error
        raise


def _explain(text: str) -> ScoreReportError:
    if "No module named 'scorereport'" in text:
        return UsageError(
            "The workers of the cluster lack scorereport: install the same version in their Python."
        )
    if "MALFORMED_CSV_RECORD" in text:
        return DataError("The source is not valid CSV: a row has more or fewer fields than its header.")
    if long := _LONG_TEXT.search(text):
        return DataError(long[0])
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ")]
    return ScoreReportError(f"Spark could not finish: {first_line((causes or [text])[-1])}")


def first_line(error: object) -> str:
    """The first line of the text of an error, which ends before its trace."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".") + "."


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """A frame with the name of its source, and the names of its columns in the source.

    `has_places` is True for Parquet files, whose rows have a file and a place in it.
    """

    frame: DataFrame
    name: str
    columns: Sequence[str]
    has_places: bool = False

    def at(self, column: str) -> int:
        """The place of a column."""
        return list(self.columns).index(column)


def open_table(session: SparkSession, source: Any, columns: Sequence[str]) -> SparkTable:
    """Open a source as a frame, and check that it has the given columns."""
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
    _check_kind(path, name)
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


def _check_kind(path: str, name: str) -> None:
    """Refuse a file of a kind that Spark does not read."""
    kind = find_file_kind(path)
    if kind is not None and "spark" not in kind.engines and Path(path).is_file():
        known = " or ".join(kind.name for kind in FILE_KINDS if "spark" in kind.engines)
        raise DataError(f"{name} cannot be read by Spark: it must be {known}.")


def _open_by_name(session: SparkSession, name: str) -> DataFrame:
    """Open a table of the session's catalogue."""
    from pyspark.errors import PySparkException

    try:
        return session.table(name)
    except PySparkException as error:
        raise UsageError(f"{name} is neither a file or folder nor a table in Spark's catalogue.") from error


def _is_csv(path: str) -> bool:
    """Whether the path, or a file in the folder, has an ending of CSV; a remote folder must be Parquet."""
    if path.lower().endswith(_CSV_ENDINGS):
        return True
    folder = Path(path)
    return folder.is_dir() and any(file.name.lower().endswith(_CSV_ENDINGS) for file in folder.iterdir())


def _open_csv(session: SparkSession, path: str, name: str) -> SparkTable:
    """Open a CSV file with all columns as text: numbers are parsed exactly later, labels stay unchanged."""
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
