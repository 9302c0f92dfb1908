"""Items that a thread computes ahead of their consumer, which does something else meanwhile."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_T = TypeVar("_T")
#: Items that wait for their consumer at most, to limit memory.
_MOST_WAITING = 8
#: Seconds between two attempts to stop the thread.
_SECONDS_BETWEEN_STOPS = 0.05


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the items, and the error that caused it, if any."""

    error: BaseException | None = None


class Ahead(Generic[_T]):
    """Iterator over the items of a generator that runs in its own thread, a few items ahead.

    An error of the generator is raised in place of the item that it prevented. `close` ends the thread;
    `stop` is called until it has ended, and must make a generator that waits go on. Use it in a `with` block,
    so that neither an error nor an interrupt leaves the thread behind.

    >>> with Ahead(number**2 for number in range(4)) as squares:
    ...     print(*squares)
    0 1 4 9
    """

    def __init__(
        self,
        items: Generator[_T],
        *,
        most: int = _MOST_WAITING,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._waiting: Queue[_T | _End] = Queue(most)
        self._stop = stop
        self._is_closed = Event()
        self._end: _End | None = None
        self._thread = Thread(target=self._run, args=(items,), daemon=True, name="ahead")
        self._thread.start()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> _T:
        """Return the next item; wait for it if necessary."""
        if self._end is not None:
            raise StopIteration
        found = self._waiting.get()
        if not isinstance(found, _End):
            return found
        self._end = found
        if found.error is not None:
            raise found.error
        raise StopIteration

    def close(self) -> None:
        """End the thread, and discard the items that are left; after the end there is nothing to stop."""
        self._is_closed.set()
        while self._end is None and self._thread.is_alive():
            self._stop()
            with suppress(Empty):
                self._waiting.get(timeout=_SECONDS_BETWEEN_STOPS)
        self._thread.join()
        self._end = self._end or _End()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, items: Generator[_T]) -> None:
        try:
            with closing(items):
                for item in items:
                    self._waiting.put(item)
                    if self._is_closed.is_set():
                        break
            end = _End()
        except BaseException as error:
            end = _End(error)
        self._waiting.put(end)
