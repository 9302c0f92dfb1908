"""Description of the machine and the versions with which numbers were measured."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version


def describe_machine() -> dict[str, str | int]:
    """Return date, processors, memory and versions."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count() or 1,
        "memory": physical_memory(),
        **{name: version(name) for name in ("scorereport", "numpy", "duckdb")},
    }


def physical_memory() -> int:
    """Return the physical memory of the machine in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
