"""Progress of long work on standard error: a bar on a terminal, otherwise a line every half minute."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING

from scorereport._utils.formatting import format_duration, format_number, format_rate, visible
from scorereport._utils.progress import PROGRESS_PREFIX, Pace, progress_callback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.progress import Step

#: Seconds between two lines of progress, and between two changes of a bar.
_SECONDS_BETWEEN_LINES, _SECONDS_BETWEEN_CHANGES = 30.0, 0.1


@contextmanager
def show_progress(*, quiet: bool = False, between: float = _SECONDS_BETWEEN_LINES) -> Iterator[None]:
    """Show progress on standard error: a bar on a terminal, otherwise a line every `between` seconds.

    Work that takes less than `between` seconds writes no line.
    """
    if quiet:
        yield
    elif sys.stderr.isatty():
        with _show_bar():
            yield
    else:
        with _write_lines(sys.stderr, between):
            yield


def describe_pace(pace: Pace) -> str:
    """Describe the rate of the work and the time left, as far as they are known.

    >>> from scorereport._utils.progress import Step
    >>> ticks = iter([0.0, 10.0])
    >>> pace = Pace(clock=lambda: next(ticks))
    >>> pace.take(Step("sorting", 1_000_000, 4_000_000, "rows"))
    >>> describe_pace(pace)
    '100 k rows/s, 30 s left'
    """
    if pace.step is None or pace.rate is None:
        return ""
    rate, left = format_rate(pace.rate, pace.step.unit), pace.seconds_left
    return rate if left is None else f"{rate}, {format_duration(left)} left"


def describe_progress(pace: Pace, seconds: float) -> str:
    """Return a line with the present step, its share done, its rate, the time left, and the time so far."""
    what = "working" if pace.step is None else visible(pace.step.what)
    so_far = f"{format_duration(seconds)} so far"
    return PROGRESS_PREFIX + ", ".join(
        filter(None, (what, _describe_share(pace), describe_pace(pace), so_far))
    )


def _describe_share(pace: Pace) -> str:
    """Format the share done in percent, rounded down: 100 % is shown at the end only."""
    return "" if pace.share is None else f"{format_number(math.floor(100 * pace.share), 0)} %"


def throttle(
    callback: Callable[[Step], None], between: float = _SECONDS_BETWEEN_CHANGES
) -> Callable[[Step], None]:
    """Limit a callback to one call in `between` seconds, and the first and last call of each step."""
    called, what = -between, ""

    def throttled(step: Step) -> None:
        nonlocal called, what
        now = monotonic()
        if now - called >= between or step.what != what or 0 < step.total <= step.done:
            called, what = now, step.what
            callback(step)

    return throttled


@contextmanager
def _show_bar() -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # a file name may look like markup
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    pace = Pace()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        number = bar.add_task("", total=None, state="")
        (task,) = bar.tasks

        def show(step: Step) -> None:
            pace.take(step)
            task.total = None if pace.share is None else step.total  # `update` cannot reset a total to None
            state = " ".join(filter(None, (_describe_share(pace), describe_pace(pace))))
            bar.update(number, description=visible(step.what), completed=step.done, state=state)

        with progress_callback(throttle(show)):
            yield


@contextmanager
def _write_lines(stream: IO[str], between: float) -> Iterator[None]:
    """Write lines from a separate thread, because a step may take longer than `between` seconds."""
    pace, began, is_over = Pace(), monotonic(), Event()

    def write() -> None:
        while not is_over.wait(between):
            stream.write(f"{describe_progress(pace, monotonic() - began)}\n")
            stream.flush()

    writer = Thread(target=write, daemon=True, name="progress")
    writer.start()
    try:
        with progress_callback(throttle(pace.take)):
            yield
    finally:
        is_over.set()
        writer.join()
