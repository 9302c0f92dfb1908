"""The machine: its memory, the garbage collector, and repeated calls of a function on its threads."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from scorereport._utils.progress import steps
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

_T = TypeVar("_T")

#: What each thread knows about itself.
_thread = threading.local()
#: With fewer rows, a step is too short for threads to help.
_ROWS_WORTH_A_THREAD = 100_000
#: With more rows, long calls are made one after the other, because each takes much memory.
MOST_ROWS_TOGETHER = 2_000_000
#: Bytes of memory where the system does not state them.
_DEFAULT_MEMORY = 8 << 30
#: Files in which Linux states the memory limit of a container: a number, or "max".
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def count_threads() -> int:
    """Return the number of threads to use: SCOREREPORT_THREADS, or one for each processor."""
    number = os.environ.get("SCOREREPORT_THREADS") or str(os.cpu_count() or 1)
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(f"`SCOREREPORT_THREADS` must be a whole number of at least 1; got {number!r}.")
    return int(number)


def repeat(
    function: Callable[[int], _T], times: int, *, rows: int, what: str, resamples: int | None = None
) -> Iterator[_T]:
    """Iterate over function(0), function(1), ..., in order, with progress; an interrupt stops at once.

    Each result, including its random numbers, must depend only on the number of the call. `resamples` are
    those of all calls together, if a call is not one resample.
    """
    calls = call_in_order(function, times, rows=rows)
    return steps(calls, times, what, unit="resamples", counted=resamples)


def call_in_order(function: Callable[[int], _T], times: int, *, rows: int) -> Iterator[_T]:
    """Iterate over function(0), function(1), ..., in order, on threads if a call takes many rows.

    A call that is made on one of several threads makes its own calls on its share of the threads.
    """
    threads = _count_own_threads() if are_worth_threads(rows) else 1
    return map(function, range(times)) if threads == 1 else _on_threads(function, times, threads)


def are_worth_threads(rows: int) -> bool:
    """Whether steps over this many rows are long enough for threads; shorter ones wait for each other."""
    return rows >= _ROWS_WORTH_A_THREAD


def call_together(function: Callable[[int], _T], times: int, *, rows: int) -> Iterator[_T]:
    """Iterate over the results of a few long calls, which share the threads.

    Calls over very many rows are made one after the other, and use all threads themselves.
    """
    are_separate = are_worth_threads(rows) and rows <= MOST_ROWS_TOGETHER
    threads = min(_count_own_threads(), times) if are_separate else 1
    return map(function, range(times)) if threads <= 1 else _on_threads(function, times, threads)


def _count_own_threads() -> int:
    """The number of threads that this thread may use: all of them, or its share."""
    share: int | None = getattr(_thread, "share", None)
    return count_threads() if share is None else share


def _on_threads(function: Callable[[int], _T], times: int, threads: int) -> Iterator[_T]:
    """Run a few calls ahead of the consumer, so that results do not accumulate."""
    share = max(_count_own_threads() // threads, 1)
    executor = ThreadPoolExecutor(threads, initializer=_mark_thread, initargs=(share,))
    try:
        calls = (executor.submit(function, number) for number in range(times))
        ahead: deque[Future[_T]] = deque(islice(calls, 2 * threads))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(islice(calls, 1))
    finally:
        executor.shutdown(cancel_futures=True)


def _mark_thread(share: int) -> None:
    _thread.share = share


def physical_memory() -> int:
    """Return the bytes of memory of this machine, or the limit of this container."""
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
    """Release memory that pyarrow, if loaded, and the C library of Linux hold without using it."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
        if trim is not None:
            trim(0)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which would search the same many objects again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
