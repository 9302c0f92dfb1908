"""System libraries of the PDF renderer, loaded by their names instead of searched by other programs."""

from __future__ import annotations

import ctypes
import ctypes.util
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The libraries that WeasyPrint loads, by their names on Linux.
_NAMES = (
    "libgobject-2.0.so.0",
    "libpango-1.0.so.0",
    "libpangoft2-1.0.so.0",
    "libharfbuzz.so.0",
    "libharfbuzz-subset.so.0",
    "libfontconfig.so.1",
)


@contextmanager
def libraries_not_searched() -> Iterator[None]:
    """Let an import in the block load libraries by name only, if all of them can be loaded so.

    WeasyPrint tries the names of other systems first, and for each of them Python would start `ldconfig`, a
    compiler and a linker: dozens of processes in each run.
    """
    if not all(map(_is_loadable, _NAMES)):
        yield
        return
    search = ctypes.util.find_library
    ctypes.util.find_library = _find_nothing
    try:
        yield
    finally:
        ctypes.util.find_library = search


def _find_nothing(name: str) -> str | None:  # noqa: ARG001  # the signature of the function it replaces
    return None


def _is_loadable(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
