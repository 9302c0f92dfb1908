"""Progress of long computations, reported to a callback.

Kernels report steps, and functions that call them report stages of the whole; the reports have no effect
unless a callback is set, as the command line does.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from scorereport._utils.processes import check_not_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scorereport._utils.whole_progress import WholeProgress
    from scorereport._utils.work_plan import Stage

_T = TypeVar("_T")
#: The rate is computed from up to this many samples, which are at least this many seconds apart.
_SAMPLES, _APART = 30, 1.0
#: The beginning of a line of progress, by which logs can distinguish it from other lines.
PROGRESS_PREFIX = "progress: "


class Step(NamedTuple):
    """The current work, how much of it is done, the total, and the unit of both.

    The total is 0 if it is not known; the unit is empty if progress within the work is not known.
    """

    what: str
    done: int
    total: int
    unit: str = "steps"


class Watcher(Protocol):
    """A callback that receives the current work, the number of steps done, and the total."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Receive a step."""


_callback: ContextVar[Callable[[Step], None] | None] = ContextVar("callback", default=None)
_whole: ContextVar[WholeProgress | None] = ContextVar("whole", default=None)


@contextmanager
def progress_callback(callback: Callable[[Step], None], whole: WholeProgress | None = None) -> Iterator[None]:
    """Report all progress inside the block to a callback, with its units, and stages to the whole.

    >>> with progress_callback(print):
    ...     report_progress("sorting", 500, 2000, unit="rows")
    Step(what='sorting', done=500, total=2000, unit='rows')
    """
    token, token_of_whole = _callback.set(callback), _whole.set(whole)
    try:
        yield
    finally:
        _callback.reset(token)
        _whole.reset(token_of_whole)


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


def steps(
    items: Iterable[_T], total: int, what: str, *, unit: str = "steps", counted: int | None = None
) -> Iterator[_T]:
    """Iterate over items and report each one after it has been processed; the unit is a plural.

    `counted` is how many of this unit all items are together, if an item is not one. A signal whose exception
    a library caught ends the work at the next step.
    """
    callback, units = _callback.get(), total if counted is None else counted
    for done, item in enumerate(items, start=1):
        yield item
        check_not_stopped()
        if callback is not None:
            callback(Step(what, done * units // total, units, unit))


def parts(items: Iterable[_T], total: int) -> Iterator[_T]:
    """Iterate over items that make up the present stage of the whole, and report each one that is done."""
    whole = _whole.get()
    for done, item in enumerate(items, start=1):
        yield item
        if whole is not None:
            whole.finish_part(done, total)


@contextmanager
def as_one_stage() -> Iterator[None]:
    """Report steps but no stages inside the block, which belongs to the present stage as a whole."""
    token = _whole.set(None)
    try:
        yield
    finally:
        _whole.reset(token)


def report_work(**facts: float | Sequence[str]) -> None:
    """Report facts about the work, the fields of a `Workload`, from which its stages are planned."""
    if (whole := _whole.get()) is not None:
        whole.learn(facts)


def report_stage(stage: Stage) -> None:
    """Report the beginning of a stage of the whole, which ends the one before."""
    check_not_stopped()
    if (whole := _whole.get()) is not None:
        whole.begin(stage)


def report_progress(what: str, done: int, total: int, *, unit: str = "steps") -> None:
    """Report progress of work in batches, such as rows read; the total is 0 if not known.

    It costs almost nothing without a callback, and must be called in the thread that started the work: other
    threads have no callback.
    """
    check_not_stopped()
    if (callback := _callback.get()) is not None:
        callback(Step(what, done, total, unit))


def report_start(what: str) -> None:
    """Report the start of work whose progress is not known."""
    report_progress(what, 0, 1, unit="")


class Pace:
    """The rate of work and the time left, from the steps reported; each kind of work has its own rate.

    >>> ticks = iter([0.0, 10.0, 20.0])
    >>> pace = Pace(clock=lambda: next(ticks))
    >>> pace.take(Step("sorting", 100, 400, "rows")), pace.take(Step("sorting", 200, 400, "rows"))
    (None, None)
    >>> pace.rate, pace.seconds_left
    (10.0, 20.0)
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._last_time = clock()
        self._samples: deque[tuple[float, int]] = deque([(self._last_time, 0)], maxlen=_SAMPLES)
        self.step: Step | None = None

    def take(self, step: Step) -> None:
        """Record a step; new work began when the previous work ended, if that is known."""
        now, last = self._clock(), self.step
        if last is None or (step.what, step.total) != (last.what, last.total) or step.done < last.done:
            is_next = last is None or (bool(last.unit) and last.done >= last.total)
            first = (self._last_time, 0) if is_next and step.done else (now, step.done)
            self._samples = deque([first], maxlen=_SAMPLES)
        if len(self._samples) == 1 or now - self._samples[-2][0] >= _APART:
            self._samples.append((now, step.done))
        else:
            self._samples[-1] = (now, step.done)
        self._last_time, self.step = now, step

    @property
    def share(self) -> float | None:
        """The share of the work that is done, from 0 to 1; None if not known."""
        if self.step is None or not self.step.unit or self.step.total <= 0:
            return None
        return min(self.step.done / self.step.total, 1.0)

    @property
    def samples(self) -> int:
        """The number of samples, at most one a second, from which the rate is computed."""
        return len(self._samples) - 1

    @property
    def age(self) -> float:
        """The seconds since the last step."""
        return self._clock() - self._last_time

    @property
    def rate(self) -> float | None:
        """The recent rate per second; None if not known yet."""
        (began, first), (now, last) = self._samples[0], self._samples[-1]
        if self.step is None or not self.step.unit or now <= began or last <= first:
            return None
        return (last - first) / (now - began)

    @property
    def seconds_left(self) -> float | None:
        """The seconds until this work is done at the current rate; None if not known."""
        if self.step is None or self.share is None or not self.rate:
            return None
        return max(self.step.total - self.step.done, 0) / self.rate
