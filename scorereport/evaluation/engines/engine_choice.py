"""Choose the engine that evaluates a source (in memory, on disk or on a Spark cluster), and open it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scorereport._utils.checks import check_option
from scorereport._utils.machine import physical_memory
from scorereport.data.source_kind import ENGINES
from scorereport.data.sources import locate_source
from scorereport.errors import UsageError
from scorereport.evaluation.setting_checks import check_memory_limit

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.results.model_records import EvaluationSettings


#: Memory for each row of an evaluation in memory: copies of each column, and numbers of work space.
_COPIES, _WORK = 3, 12
#: Bytes of a number.
_NUMBER = 8
#: Arguments that only predictions in memory take.
_OF_CLASSES = ("classes", "ordered", "normalize")


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
    return place.kind.count_rows(place)


def open_engine(
    data: Any,
    settings: EvaluationSettings,
    *,
    memory_limit: str | None,
    temporary_folder: str | Path | None,
    **columns: Any,
) -> AbstractContextManager[Engine]:
    """Open the engine that the settings name, and survey the data."""
    _check_kind(**columns)
    named: dict[str, Any] = {name: value for name, value in columns.items() if name not in _OF_CLASSES}
    named |= {"window": settings.window, "temporary_folder": temporary_folder}
    if settings.engine == "spark":
        from scorereport.evaluation.engines.spark.spark_engine import open_spark

        table = named.pop("table", None)
        if table is not None:
            raise UsageError(
                f"`table` is for databases, which Spark does not read here; got {table!r}. Choose "
                f'engine "memory" or "duckdb", or pass a Spark DataFrame of the table.'
            )
        return cast("AbstractContextManager[Engine]", open_spark(data, **named))
    from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

    return cast("AbstractContextManager[Engine]", open_duckdb(data, memory_limit=memory_limit, **named))


def _check_kind(
    *, forecasts: Any = (), ordered: bool = False, normalize: bool = False, positive: object = None, **_: Any
) -> None:
    """Refuse options of several classes, with the messages of `read_predictions`."""
    from scorereport.data import roles

    roles.check_kind(None, forecasts, positive=positive, grade=None, ordered=ordered, normalize=normalize)
