"""Choose the engine that evaluates a source (in memory, on disk or on a Spark cluster), and open it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_option
from scorereport._utils.choices import ENGINES
from scorereport._utils.machine import physical_memory
from scorereport.data.sources import is_address, locate_source
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.setting_checks import check_memory_limit

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.data.roles import Columns
    from scorereport.data.sources import SourceLocation
    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.results.settings import EvaluationSettings


#: Memory for each row of an evaluation in memory: copies of each column, and numbers of work space.
_COPIES, _WORK = 3, 12
#: Bytes of a number.
_NUMBER = 8
#: Bytes of a cell of a CSV file on average.
_CELL = 8
#: Bytes of a compressed file that are decompressed to estimate its compression ratio.
_SAMPLE = 1 << 16


def choose_engine(
    source: Any,
    engine: str = "auto",
    *,
    columns: int = 2,
    memory_limit: str | None = None,
    table: str | None = None,
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
    """
    check_option(engine, "engine", ENGINES)
    limit = physical_memory() // 2 if memory_limit is None else check_memory_limit(memory_limit)
    if engine != "auto":
        return engine
    if is_spark(source):
        return "spark"
    return "duckdb" if estimate_memory(source, columns, table) > limit else "memory"


def is_spark(source: Any) -> bool:
    """Whether this is a DataFrame of Spark; Spark is not imported."""
    return any(kind.__module__.startswith("pyspark.") for kind in type(source).__mro__)


def estimate_memory(source: Any, columns: int, table: str | None = None) -> int:
    """Bytes that an evaluation in memory would need; 0 for data that are in memory already."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        return 0
    rows = estimate_rows(source, table)
    return rows * _NUMBER * (columns * _COPIES + _WORK)


def estimate_rows(source: Any, table: str | None = None) -> int:
    """The number of rows of a file, folder or table; for CSV files an estimate."""
    place = locate_source(source, table)
    if place.kind in ("Parquet", "folder"):
        return _count_parquet(place)
    if place.kind == "CSV":
        return _estimate_csv(place)
    return _count_table(source, place, table or "")


def _count_parquet(place: SourceLocation) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return sum(pq.read_metadata(file).num_rows for file in place.files)
    except (pa.ArrowInvalid, OSError):
        return 0  # the reader reports why it cannot be read


def _estimate_csv(place: SourceLocation) -> int:
    """Estimate the rows of a CSV file from its size and the number of columns of its header."""
    from scorereport.data.csv_files import read_header

    path = place.files[0]
    size = path.stat().st_size * (_compression_ratio(path) if path.name.lower().endswith(".gz") else 1)
    return int(size // (_CELL * max(len(read_header(path)), 1)))


def _compression_ratio(path: Path) -> float:
    """Decompressed bytes per byte at the beginning of a gzip file."""
    with path.open("rb") as file:
        packed = file.read(_SAMPLE)
    try:
        return len(zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(packed)) / len(packed)
    except zlib.error:
        return 1  # the reader reports why it cannot be read


def _count_table(source: Any, place: SourceLocation, table: str) -> int:
    from scorereport.data.database_tables import count_duckdb_rows, count_sql_rows

    try:
        if is_address(source):
            return count_sql_rows(str(source), table)
        return count_duckdb_rows(place.files[0], table, place.name)
    except DataError:
        return 0  # the reader reports why it cannot be read


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
        return open_spark(data, window=settings.window, temporary_folder=temporary_folder, **columns)
    from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

    return open_duckdb(
        data,
        window=settings.window,
        memory_limit=memory_limit,
        temporary_folder=temporary_folder,
        **columns,
    )
