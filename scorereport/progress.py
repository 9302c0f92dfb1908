"""Progress of long work, for whoever wants to watch.

Kernels report steps; nobody listens unless a watcher is set, as the command line does on a terminal.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_T = TypeVar("_T")


class Watcher(Protocol):
    """Is told what is being done, how many steps are done, and of how many."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take notice of a step."""


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Report all progress inside the block to the watcher.

    >>> with watched_by(lambda what, done, total: print(what, done, "of", total)):
    ...     total = sum(steps([2, 3], 2, "adding"))
    adding 1 of 2
    adding 2 of 2
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def steps(items: Iterable[_T], total: int, what: str) -> Iterator[_T]:
    """Pass items on, reporting each one once it has been worked on."""
    watcher = _watcher.get()
    for done, item in enumerate(items, start=1):
        yield item
        if watcher is not None:
            watcher(what, done, total)


def announce(what: str) -> None:
    """Report that something is begun whose steps nobody sees."""
    if (watcher := _watcher.get()) is not None:
        watcher(what, 0, 1)
