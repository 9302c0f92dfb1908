"""Choose the engine that evaluates a source (in memory, on disk or on a Spark cluster), and open it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_option
from scorereport._utils.choices import ENGINES
from scorereport._utils.machine import physical_memory
from scorereport._utils.progress import report_work
from scorereport.data.csv_format import CsvFormat
from scorereport.data.sources import locate_source
from scorereport.errors import UsageError
from scorereport.evaluation.setting_checks import check_memory_limit

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.data.roles import Columns
    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.results.settings import EvaluationSettings


#: Memory for each row of an evaluation in memory: copies of each column, and numbers of work space.
_COPIES, _WORK = 3, 12
#: Bytes of a number.
_NUMBER = 8


def choose_engine(
    source: Any,
    engine: str = "auto",
    *,
    columns: int = 2,
    memory_limit: str | None = None,
    table: str | None = None,
    csv_format: CsvFormat | None = None,
) -> str:
    """Return the engine to use: "memory", "duckdb" or "spark".

    Parameters
    ----------
    source : anything that can be evaluated
    engine : one of these, or "auto": Spark evaluates DataFrames of Spark; other frames are evaluated in
        memory, and so are files and tables unless they would need more memory than the limit, or than half
        of the machine's memory if there is no limit
    columns : the number of columns that are used
    memory_limit : as `evaluate` takes it
    table : the table of a database
    csv_format : how a CSV file is written
    """
    check_option(engine, "engine", ENGINES)
    limit = physical_memory() // 2 if memory_limit is None else check_memory_limit(memory_limit)
    if engine != "auto":
        return engine
    if is_spark(source):
        return "spark"
    return "duckdb" if estimate_memory(source, columns, table, csv_format) > limit else "memory"


def is_spark(source: Any) -> bool:
    """Whether this is a DataFrame of Spark; Spark is not imported."""
    return any(kind.__module__.startswith("pyspark.") for kind in type(source).__mro__)


def estimate_memory(
    source: Any, columns: int, table: str | None = None, csv_format: CsvFormat | None = None
) -> int:
    """Bytes that an evaluation in memory would need; 0 for data that are in memory already."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        return 0
    rows = estimate_rows(source, table, csv_format)
    if rows:
        report_work(rows=rows)
    return rows * _NUMBER * (columns * _COPIES + _WORK)


def estimate_rows(source: Any, table: str | None = None, csv_format: CsvFormat | None = None) -> int:
    """The number of rows of a file, folder or table; for CSV files an estimate."""
    place = locate_source(source, table, csv_format)
    return place.kind.count_rows(place)


def open_engine(
    data: Any,
    settings: EvaluationSettings,
    *,
    memory_limit: str | None,
    temporary_folder: str | Path | None,
    columns: Columns,
) -> AbstractContextManager[Engine]:
    """Open the engine that the settings name, and survey the data."""
    if settings.engine == "spark":
        from scorereport.evaluation.engines.spark.spark_engine import open_spark

        if "table" in columns:
            raise UsageError(
                f"`table` is for databases, which Spark does not read here; got {columns['table']!r}. Choose "
                f'engine "memory" or "duckdb", or pass a Spark DataFrame of the table.'
            )
        _refuse_format(columns)
        return open_spark(data, window=settings.window, temporary_folder=temporary_folder, **columns)
    from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

    return open_duckdb(
        data,
        window=settings.window,
        memory_limit=memory_limit,
        temporary_folder=temporary_folder,
        **columns,
    )


def _refuse_format(columns: Columns) -> None:
    """Refuse arguments on the format of a CSV file, which Spark reads by its own rules."""
    for name in CsvFormat.of(columns).given:
        raise UsageError(
            f"`{name}` is not for Spark, which reads CSV files in UTF-8 with decimal points; choose engine "
            '"memory" or "duckdb".'
        )
