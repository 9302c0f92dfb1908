"""The engine that was chosen, opened on its rows; what it needs is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from scorereport.engines.records import Engine
    from scorereport.results import Settings

#: Columns that only predictions in memory have.
_OF_CLASSES = ("classes", "ordered", "normalize")


def open_engine(
    data: Any,
    settings: Settings,
    *,
    memory_limit: str | None,
    temporary_folder: str | Path | None,
    **columns: Any,
) -> AbstractContextManager[Engine]:
    """Open the engine of the settings on some data, and survey them."""
    named: dict[str, Any] = {name: value for name, value in columns.items() if name not in _OF_CLASSES}
    named |= {"window": settings.window, "temporary_folder": temporary_folder}
    if settings.engine == "spark":
        from scorereport.engines.spark.engine import open_spark

        named.pop("table", None)
        return cast("AbstractContextManager[Engine]", open_spark(data, **named))
    from scorereport.engines.duck.engine import open_duckdb

    return cast("AbstractContextManager[Engine]", open_duckdb(data, memory_limit=memory_limit, **named))
