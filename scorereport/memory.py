"""Memory that libraries hold back for later, given back to the machine: of many rows it is a lot."""

from __future__ import annotations

import ctypes
import sys


def give_back_memory() -> None:
    """Give back what pyarrow, if it is loaded, and the C library of Linux hold and do not use."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
        if trim is not None:
            trim(0)
