"""The Spark session to work with: the one there is, or one of our own that ends with the work."""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import TemporaryFolder
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession  # noqa: TC004  # of fields, and loaded by who works with Spark

_numbers = count(1)
#: Rows that a session of our own hands to Python at a time.
_ROWS_AT_A_TIME = 100_000
_SECONDS_TO_LEAVE = 30
#: What a column raises that holds a text too long for a label.
_LONG_TEXT = re.compile(r"`.*` must hold texts of at most [\d,]+ characters; got one of [\d,]+ characters\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkConnection:
    """A session and the name of our jobs; if we started it, its folder, and whether we started Java, too."""

    session: SparkSession
    tag: str
    folder: TemporaryFolder | None = None
    owns_machine: bool = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run jobs under our name; whatever goes wrong, an interrupt above all, ends those still running."""
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
    """The session of a frame, else the active one, else a new one on this machine."""
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
    """End the Java process that pyspark would keep until Python ends: it leaves by removing what it wrote."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(_SECONDS_TO_LEAVE)
        SparkContext._gateway = SparkContext._jvm = None


def is_frame(source: Any) -> bool:
    """Whether a source is a DataFrame of Spark, of a session here or of one reached by Spark Connect."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "sparkSession")


def _check_installed() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark.sql  # noqa: F401  # whether it is there
    except ImportError as error:
        raise UsageError(
            'engine="spark" needs the package pyspark; install it with `pip install scorereport[spark]`.'
        ) from error


def _start(folder: Path) -> SparkSession:
    """A session whose workers run the Python that we run, and write nowhere but to our folder."""
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
        builder = builder.master("local[*]")  # nobody told where to run
    try:
        with quiet():
            return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise UsageError(
            f"Spark cannot be started, which needs Java 17 or later: {first_line(error)}"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings by which pyspark tells what versions of other packages it does not know yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def collect(frame: DataFrame) -> list[Any]:
    """The few rows of a frame."""
    with quiet():
        return frame.collect()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Say in a sentence what fails on the cluster."""
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
        return DataError("The source is no CSV: a row has more or fewer fields than its header.")
    if long := _LONG_TEXT.search(text):
        return DataError(long[0])
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ")]
    return ScoreReportError(f"Spark could not finish: {first_line((causes or [text])[-1])}")


def first_line(error: object) -> str:
    """What an error says, without its trace."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".") + "."
