"""Progress of a command on standard error: one bar on a terminal, otherwise a line every half minute."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING

from scorereport._utils.formatting import format_duration, format_number, format_rate, visible
from scorereport._utils.progress import PROGRESS_PREFIX, Pace, progress_callback
from scorereport._utils.whole_progress import WholeProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from scorereport._utils.progress import Step

#: Seconds between two lines of progress, and between two changes of a bar.
_SECONDS_BETWEEN_LINES, _SECONDS_BETWEEN_CHANGES = 30.0, 0.1
#: The rate of work is shown on a bar if the terminal is at least this wide.
_WIDTH_WITH_RATE = 100
#: The fewest characters of the bar. In a terminal of this width or more, the time left always takes these
#: characters, so that the bar keeps its length.
_LEAST_BAR, _WIDTH_OF_TIME, _WIDTH_WITH_ROOM = 8, 21, 70
#: The rate of the present work is known after this many samples, as long as its last step is not older than
#: these seconds.
_SAMPLES_OF_A_RATE, _OLDEST_STEP = 4, 5.0
#: Up to these seconds, the time left is rounded to these.
_ROUNDING = ((60, 5), (600, 30), (3600, 300), (36_000, 1800), (math.inf, 3600))
#: Below these seconds, no number is stated.
_FEW_SECONDS = 5


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


class Progress:
    """What is known of the progress of a command: the present stage, its present work, and the whole."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self.pace = Pace(clock=clock)
        self.whole = WholeProgress(clock=clock)

    def describe_stage(self) -> str:
        """Name the present stage and its number, or the present work if no stage has begun."""
        number, total = self.whole.position
        if self.whole.stage is not None:
            return f"{number} of {total} · {self.whole.stage}"
        return "working" if self.pace.step is None else visible(self.pace.step.what)

    def describe_work(self) -> str:
        """Describe the present work and its rate; empty if no rate is known."""
        step, rate = self.pace.step, self.pace.rate
        if step is None or rate is None or not self._is_rate_known:
            return ""
        return f"{visible(step.what)} at {format_rate(rate, step.unit)}"

    @property
    def _is_rate_known(self) -> bool:
        return self.pace.age <= _OLDEST_STEP and self.pace.samples >= _SAMPLES_OF_A_RATE

    @property
    def is_share_known(self) -> bool:
        """Whether the share of the whole is known or, without stages, that of the present work."""
        return self.whole.stage is not None or self.pace.share is not None

    def measure(self) -> tuple[float, str]:
        """Return the share of the whole that is done, and the time left in words; empty if not known.

        Where no stages are reported, the share is that of the present work.
        """
        if self.whole.stage is None:
            return self.pace.share or 0.0, ""
        found = self.whole.measure(self._find_work_left())
        return found.share, "" if found.seconds_left is None else describe_time_left(found.seconds_left)

    def _find_work_left(self) -> float | None:
        """Return the seconds left of the present work; None if not known."""
        left = self.pace.seconds_left
        return None if left is None or not self._is_rate_known else max(left - self.pace.age, 0.0)

    def describe(self) -> str:
        """Return a line with the share of the whole, the stage, the work, the time left, and that so far."""
        share, left = self.measure()
        so_far = f"{format_duration(self._clock() - self._began)} so far"
        percent = format_share(share) if self.is_share_known else ""
        words = (percent, self.describe_stage(), self.describe_work(), left, so_far)
        return PROGRESS_PREFIX + ", ".join(filter(None, words))


def format_share(share: float) -> str:
    """Format a share in percent, rounded down: 100 % is never shown while work goes on.

    >>> format_share(0.429), format_share(0.999)
    ('42 %', '99 %')
    """
    return f"{format_number(math.floor(100 * share), 0)} %"


def describe_time_left(seconds: float) -> str:
    """State the time left as exactly as it can be known.

    >>> [describe_time_left(seconds) for seconds in (2, 12, 58, 100, 7300)]
    ['a few seconds left', 'about 10 s left', 'about 1 min left', 'about 1 min 30 s left', 'about 2 h left']
    """
    if seconds < _FEW_SECONDS:
        return "a few seconds left"
    size = next(size for most, size in _ROUNDING if seconds <= most)
    rounded = format_duration(size * max(round(seconds / size), 1))
    return f"about {rounded.removesuffix(' 0 s').removesuffix(' 0 min')} left"


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
    """Show a bar that a thread of rich redraws, because a step may take long."""
    from rich.console import Console
    from rich.live import Live

    progress, console = Progress(), Console(stderr=True)
    live = Live(
        console=console,
        get_renderable=lambda: render_bar(progress, console.width),
        refresh_per_second=1 / _SECONDS_BETWEEN_CHANGES,
        transient=True,
        redirect_stdout=False,  # it may be a file
    )
    with live, progress_callback(throttle(progress.pace.take), progress.whole):
        yield


def render_bar(progress: Progress, width: int) -> Table:
    """Return a line with the stage, a bar, the share of the whole in percent, and the time left."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    share, left = progress.measure()
    is_known = progress.is_share_known
    line = Table.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(no_wrap=True, overflow="ellipsis")
    line.add_column(ratio=1, min_width=_LEAST_BAR)
    line.add_column(no_wrap=True, justify="right", min_width=4)
    line.add_column(no_wrap=True, min_width=_WIDTH_OF_TIME if width >= _WIDTH_WITH_ROOM else None)
    state = ", ".join(filter(None, (left, progress.describe_work() if width >= _WIDTH_WITH_RATE else "")))
    line.add_row(
        Text(progress.describe_stage()),
        ProgressBar(total=1.0 if is_known else None, completed=share, pulse=not is_known),
        Text(format_share(share) if is_known else ""),
        Text(state),
    )
    return line


@contextmanager
def _write_lines(stream: IO[str], between: float) -> Iterator[None]:
    """Write lines from a separate thread, because a step may take longer than `between` seconds."""
    progress, is_over = Progress(), Event()

    def write() -> None:
        while not is_over.wait(between):
            stream.write(f"{progress.describe()}\n")
            stream.flush()

    writer = Thread(target=write, daemon=True, name="progress")
    writer.start()
    try:
        with progress_callback(throttle(progress.pace.take), progress.whole):
            yield
    finally:
        is_over.set()
        writer.join()
