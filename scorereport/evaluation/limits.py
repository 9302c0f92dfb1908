"""How much memory work may take."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from scorereport._utils.memory import physical_memory
from scorereport._utils.processes import signals_deferred
from scorereport.errors import UsageError

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.IGNORECASE)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: With less DuckDB cannot sort.
_LEAST = 100_000_000


def check_memory_limit(limit: str | None) -> int:
    """A limit in bytes; a quarter of the machine's memory unless given.

    >>> check_memory_limit("1GB"), check_memory_limit("512 MiB")
    (1000000000, 536870912)
    """
    if limit is None:
        return max(physical_memory() // 4, _LEAST)
    found = _SIZE.fullmatch(limit) if isinstance(limit, str) else None
    if found is None:
        raise UsageError(f'`memory_limit` must be a size such as "1GB" or "512MB"; got {limit!r}.')
    unit = found[2].lower()
    size = int(float(found[1]) * (1024 if unit.endswith("ib") else 1000) ** _POWERS[unit[0]])
    if size < _LEAST:
        raise UsageError(f'`memory_limit` must be at least "100MB"; got {limit!r}.')
    return size


def check_temporary_folder(folder: str | Path | None) -> Path:
    """A folder that exists; that of the system unless given."""
    with (
        signals_deferred()
    ):  # Python tries the folder of the system with a file, which a signal would leave there
        place = Path(tempfile.gettempdir() if folder is None else folder)
    if not place.is_dir():
        raise UsageError(f"`temporary_folder` must be a folder that exists; got {str(folder)!r}.")
    return place
