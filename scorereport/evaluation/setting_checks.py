"""Checks of `evaluate()` that depend on the data and the machine: engine, memory and folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import find_temporary_folder
from scorereport._utils.machine import physical_memory
from scorereport._utils.rules import LEAST_MEMORY, Size
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from scorereport.data.roles import Columns


def check_engine_support(data: Any, columns: Columns, engine: str) -> None:
    """Refuse data that must be evaluated in memory: predictions, and models of several classes."""
    if isinstance(data, (Predictions, ClassPredictions)):
        raise UsageError(f'Predictions are in memory: `engine` must be "memory" or "auto"; got {engine!r}.')
    if "classes" in columns:
        raise UsageError(f'`engine` must be "memory" for several classes; got {engine!r}.')


def check_memory_limit(limit: str | None) -> int:
    """The memory limit in bytes; by default a quarter of the machine's memory."""
    if limit is None:
        return max(physical_memory() // 4, LEAST_MEMORY)
    return Size().count_bytes(limit, "memory_limit")


def check_temporary_folder(folder: str | Path | None) -> Path:
    """Check that the temporary folder exists; by default it is that of the system."""
    place = find_temporary_folder() if folder is None else Path(folder)
    if not place.is_dir():
        raise UsageError(f"`temporary_folder` must be a folder that exists; got {str(folder)!r}.")
    return place
