"""The engine that was chosen, opened on its rows; what it needs is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.results.model_records import EvaluationSettings

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
    from scorereport.evaluation.engines.duck.engine import open_duckdb

    return cast("AbstractContextManager[Engine]", open_duckdb(data, memory_limit=memory_limit, **named))


def _check_kind(
    *, forecasts: Any = (), ordered: bool = False, normalize: bool = False, positive: object = None, **_: Any
) -> None:
    """Refuse what belongs to several classes, in the words of `read_predictions`."""
    from scorereport.data import roles

    roles.check_kind(  # one rule, in one place
        None, forecasts, positive=positive, grade=None, ordered=ordered, normalize=normalize
    )
