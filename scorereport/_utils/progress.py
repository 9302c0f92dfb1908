"""Progress of long computations, reported to a callback.

Kernels report steps; nobody listens unless a watcher is set, as the command line does.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from scorereport._utils.processes import check_not_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_T = TypeVar("_T")
#: The rate is that of the last so many samples, which are so many seconds apart or more.
_SAMPLES, _APART = 30, 1.0


#: What a line of progress begins with, so that logs can tell it from all others.
PROGRESS_PREFIX = "progress: "


class Step(NamedTuple):
    """What is being done, how much of it is done, of how much, and in what it is counted.

    Where nobody knows of how much the total is 0; where nobody sees what is done the unit is empty.
    """

    what: str
    done: int
    total: int
    unit: str = "steps"


class Watcher(Protocol):
    """Is told what is being done, how many steps are done, and of how many."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take notice of a step."""


_callback: ContextVar[Callable[[Step], None] | None] = ContextVar("follower", default=None)


@contextmanager
def progress_callback(follower: Callable[[Step], None]) -> Iterator[None]:
    """Report all progress inside the block, with its units.

    >>> with progress_callback(print):
    ...     report_progress("sorting", 500, 2000, unit="rows")
    Step(what='sorting', done=500, total=2000, unit='rows')
    """
    token = _callback.set(follower)
    try:
        yield
    finally:
        _callback.reset(token)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Report all progress inside the block to the watcher.

    >>> with watched_by(lambda what, done, total: print(what, done, "of", total)):
    ...     total = sum(steps([2, 3], 2, "adding"))
    adding 1 of 2
    adding 2 of 2
    """
    with progress_callback(lambda step: watcher(step.what, step.done, step.total)):
        yield


def steps(items: Iterable[_T], total: int, what: str, *, unit: str = "steps") -> Iterator[_T]:
    """Pass items on, reporting each one once it has been worked on; the unit is a plural.

    A signal that somebody swallowed ends the work with the next step.
    """
    follower = _callback.get()
    for done, item in enumerate(items, start=1):
        yield item
        check_not_stopped()
        if follower is not None:
            follower(Step(what, done, total, unit))


def report_progress(what: str, done: int, total: int, *, unit: str = "steps") -> None:
    """Report how much is done of what comes in lots, such as rows in batches; the total is 0 if not known.

    It costs next to nothing where nobody listens, and is to be called in the thread that was asked for the
    work: others have no watcher.
    """
    check_not_stopped()
    if (follower := _callback.get()) is not None:
        follower(Step(what, done, total, unit))


def report_start(what: str) -> None:
    """Report that something is begun whose steps nobody sees."""
    report_progress(what, 0, 1, unit="")


class Pace:
    """How fast work goes, from the steps that are reported of it; each kind of work has its own pace.

    >>> ticks = iter([0.0, 10.0, 20.0])
    >>> pace = Pace(clock=lambda: next(ticks))
    >>> pace.take(Step("sorting", 100, 400, "rows")), pace.take(Step("sorting", 200, 400, "rows"))
    (None, None)
    >>> pace.rate, pace.seconds_left
    (10.0, 20.0)
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._heard = clock()
        self._samples: deque[tuple[float, int]] = deque([(self._heard, 0)], maxlen=_SAMPLES)
        self.step: Step | None = None

    def take(self, step: Step) -> None:
        """Take notice of a step; work that is new began where the old one ended, if that is known."""
        now, last = self._clock(), self.step
        if last is None or (step.what, step.total) != (last.what, last.total) or step.done < last.done:
            is_next = last is None or (bool(last.unit) and last.done >= last.total)
            first = (self._heard, 0) if is_next and step.done else (now, step.done)
            self._samples = deque([first], maxlen=_SAMPLES)
        if len(self._samples) == 1 or now - self._samples[-2][0] >= _APART:
            self._samples.append((now, step.done))
        else:
            self._samples[-1] = (now, step.done)
        self._heard, self.step = now, step

    @property
    def share(self) -> float | None:
        """How much of the work is done, from 0 to 1; None if nobody knows."""
        if self.step is None or not self.step.unit or self.step.total <= 0:
            return None
        return min(self.step.done / self.step.total, 1.0)

    @property
    def rate(self) -> float | None:
        """How much is done in a second, lately; None if that is not known yet."""
        (began, first), (now, last) = self._samples[0], self._samples[-1]
        if self.step is None or not self.step.unit or now <= began or last <= first:
            return None
        return (last - first) / (now - began)

    @property
    def seconds_left(self) -> float | None:
        """When this work will be done, if it goes on as it does."""
        if self.step is None or self.share is None or not self.rate:
            return None
        return max(self.step.total - self.step.done, 0) / self.rate
