"""The memory of the machine: how much there is, and what libraries hold back for later, given back to it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

#: Where the machine does not say.
_DEFAULT_MEMORY = 8 << 30
#: Where Linux says what a container may take: a number, or "max".
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def physical_memory() -> int:
    """Bytes of memory that this machine has, or this container may take."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        machine = _DEFAULT_MEMORY
    return min([machine, *filter(None, map(_read_limit, _CONTAINER_LIMITS))])


def _read_limit(file: str) -> int | None:
    try:
        return int(Path(file).read_text())
    except (OSError, ValueError):
        return None


def release_memory() -> None:
    """Give back what pyarrow, if it is loaded, and the C library of Linux hold and do not use."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
        if trim is not None:
            trim(0)
