"""Work on a stream by several threads, a few pieces ahead of the reader, with results in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from scorereport._utils.machine import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

_T = TypeVar("_T")
_R = TypeVar("_R")


def map_in_order(function: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
    """What a function gives for each item, in order; no more items are in memory than there are threads."""
    threads = count_threads()
    executor = ThreadPoolExecutor(threads)
    ahead: deque[Future[_R]] = deque()
    try:
        for item in items:
            ahead.append(executor.submit(function, item))
            while len(ahead) > threads or (ahead and ahead[0].done()):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
