"""The machine: its memory, and the same function run many times on its threads."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from scorereport._utils.progress import steps
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future


_T = TypeVar("_T")

#: Below this many rows a step is over before a second thread could help.
_ROWS_WORTH_A_THREAD = 100_000


def count_threads() -> int:
    """Threads to use: SCOREREPORT_THREADS, or one for each processor."""
    wanted = os.environ.get("SCOREREPORT_THREADS") or str(os.cpu_count() or 1)
    if not wanted.isdecimal() or int(wanted) < 1:
        raise UsageError(f"`SCOREREPORT_THREADS` must be a whole number of at least 1; got {wanted!r}.")
    return int(wanted)


def repeat(function: Callable[[int], _T], times: int, *, rows: int, what: str) -> Iterator[_T]:
    """Results of function(0), function(1), ..., in order, with progress; an interrupt stops at once.

    Each call must depend on its number alone, random numbers included.
    """
    threads = count_threads() if rows >= _ROWS_WORTH_A_THREAD else 1
    results = map(function, range(times)) if threads == 1 else _on_threads(function, times, threads)
    return steps(results, times, what, unit="resamples")


def _on_threads(function: Callable[[int], _T], times: int, threads: int) -> Iterator[_T]:
    """Keep a few calls ahead of the reader, so that results never pile up."""
    executor = ThreadPoolExecutor(threads)
    try:
        calls = (executor.submit(function, number) for number in range(times))
        ahead: deque[Future[_T]] = deque(islice(calls, 2 * threads))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(islice(calls, 1))
    finally:
        executor.shutdown(cancel_futures=True)


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
