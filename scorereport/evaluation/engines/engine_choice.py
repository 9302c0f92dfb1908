"""Which engine evaluates a source, in memory, on disk or on a Spark cluster; and opening it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, cast

from scorereport._utils.checks import check_option
from scorereport._utils.machine import physical_memory
from scorereport.data.sources import is_address, locate_source
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.setting_checks import check_memory_limit

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.data.sources import SourceLocation
    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.results.model_records import EvaluationSettings


ENGINES = ("auto", "memory", "duckdb", "spark")
#: What the engine in memory needs of each row: several copies of each column, and work space.
_COPIES, _WORK = 3, 12
_NUMBER = 8
#: What a cell of a CSV file takes on average.
_CELL = 8
#: Bytes of a packed file that are unpacked to see how far it is packed.
_SAMPLE = 1 << 16


def choose_engine(
    source: Any,
    engine: str = "auto",
    *,
    columns: int = 2,
    memory_limit: str | None = None,
    table: str | None = None,
) -> str:
    """The engine to use: "memory", "duckdb" or "spark".

    Parameters
    ----------
    source : anything that can be evaluated
    engine : one of them, or "auto": frames are evaluated in memory, those of Spark by Spark, files and
        tables in memory unless they would take more than the limit, or half of the machine's memory
    columns : how many columns are used
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
    """Whether this is a DataFrame of Spark; found without importing it."""
    return any(kind.__module__.startswith("pyspark.") for kind in type(source).__mro__)


def estimate_memory(source: Any, columns: int, table: str | None = None) -> int:
    """Bytes that the engine in memory would need; 0 for what is in memory already."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        return 0
    rows = estimate_rows(source, table)
    return rows * _NUMBER * (columns * _COPIES + _WORK)


def estimate_rows(source: Any, table: str | None = None) -> int:
    """How many rows a file, folder or table has, at least roughly."""
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
        return 0  # whoever reads it says why it cannot be read


def _estimate_csv(place: SourceLocation) -> int:
    """Rows by the size of the file, its columns being those of the header."""
    from scorereport.data.csv_files import read_header

    path = place.files[0]
    size = path.stat().st_size * (_find_packing(path) if path.name.lower().endswith(".gz") else 1)
    return int(size // (_CELL * max(len(read_header(path)), 1)))


def _find_packing(path: Path) -> float:
    """How many bytes a byte at the beginning of a gzip file stands for."""
    with path.open("rb") as file:
        packed = file.read(_SAMPLE)
    try:
        return len(zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(packed)) / len(packed)
    except zlib.error:
        return 1  # the reader says why it cannot be read


def _count_table(source: Any, place: SourceLocation, table: str) -> int:
    from scorereport.data.database_tables import count_duckdb_rows, count_sql_rows

    try:
        if is_address(source):
            return count_sql_rows(str(source), table)
        return count_duckdb_rows(place.files[0], table, place.name)
    except DataError:
        return 0  # whoever reads it says why it cannot be read


#: Columns that only predictions in memory have.
_OF_CLASSES = ("classes", "ordered", "normalize")


def open_engine(
    data: Any,
    settings: EvaluationSettings,
    *,
    memory_limit: str | None,
    temporary_folder: str | Path | None,
    **columns: Any,
) -> AbstractContextManager[Engine]:
    """Open the engine of the settings on some data, and survey them."""
    _check_kind(**columns)
    named: dict[str, Any] = {name: value for name, value in columns.items() if name not in _OF_CLASSES}
    named |= {"window": settings.window, "temporary_folder": temporary_folder}
    if settings.engine == "spark":
        from scorereport.evaluation.engines.spark.spark_engine import open_spark

        table = named.pop("table", None)
        if table is not None:
            raise UsageError(
                f"`table` is for databases, which Spark does not read here; got {table!r}. Choose "
                f'engine "memory" or "duckdb", or hand over a Spark DataFrame of the table.'
            )
        return cast("AbstractContextManager[Engine]", open_spark(data, **named))
    from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

    return cast("AbstractContextManager[Engine]", open_duckdb(data, memory_limit=memory_limit, **named))


def _check_kind(
    *, forecasts: Any = (), ordered: bool = False, normalize: bool = False, positive: object = None, **_: Any
) -> None:
    """Refuse what belongs to several classes, in the words of `read_predictions`."""
    from scorereport.data import roles

    roles.check_kind(  # one rule, in one place
        None, forecasts, positive=positive, grade=None, ordered=ordered, normalize=normalize
    )
