"""Progress: which callbacks receive which steps, how fast work goes, and what is displayed."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest

from scorereport._utils.formatting import format_duration, format_rate
from scorereport._utils.machine import repeat
from scorereport._utils.progress import (
    Pace,
    Step,
    progress_callback,
    report_progress,
    report_start,
    steps,
    watched_by,
)
from scorereport.cli.progress_display import describe_pace, describe_progress, show_progress, throttle


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def paced(*reported, every=10.0):
    """A pace after steps that arrived `every` seconds apart."""
    clock = Clock()
    pace = Pace(clock=clock)
    for step in reported:
        clock.now += every
        pace.take(step)
    return pace


class Terminal(io.StringIO):
    def isatty(self):
        return True


# ---- callbacks ----


def test_a_progress_callback_receives_units_and_a_watcher_does_not():
    received, seen = [], []
    with progress_callback(received.append):
        list(steps("ab", 2, "walking", unit="models"))
        report_progress("sorting", 5, 9, unit="rows")
        report_start("waiting")
    with watched_by(lambda *step: seen.append(step)):
        report_progress("sorting", 5, 9, unit="rows")
        report_start("waiting")
    assert received == [
        Step("walking", 1, 2, "models"),
        Step("walking", 2, 2, "models"),
        Step("sorting", 5, 9, "rows"),
        Step("waiting", 0, 1, ""),
    ]
    assert seen == [("sorting", 5, 9), ("waiting", 0, 1)]


def test_progress_needs_no_callback():
    assert list(steps([1, 2], 2, "walking")) == [1, 2]
    report_progress("sorting", 1, 2)
    report_start("waiting")


def test_repeated_work_is_counted_in_resamples():
    received = []
    with progress_callback(received.append):
        assert list(repeat(lambda n: n, 2, rows=1, what="drawing")) == [0, 1]
    assert {step.unit for step in received} == {"resamples"}


# ---- pace ----


def test_a_pace_has_rate_share_and_time_left():
    pace = paced(Step("sorting", 1000, 5000, "rows"), Step("sorting", 2000, 5000, "rows"))
    assert (pace.share, pace.rate, pace.seconds_left) == (0.4, 100.0, 30.0)
    assert describe_pace(pace) == "100 rows/s, 30 s left"


def test_new_work_has_a_pace_of_its_own():
    pace = paced(Step("sorting", 5000, 5000, "rows"), Step("drawing", 1, 10, "resamples"))
    assert (pace.rate, pace.seconds_left) == (0.1, 90.0)
    pace.take(Step("sorting", 0, 5000, "rows"))
    assert (pace.rate, pace.seconds_left) == (None, None)


def test_the_rate_is_that_of_recent_steps():
    """A slow beginning is forgotten: after many samples only the last of them count."""
    slow = [Step("sorting", n, 100_000, "rows") for n in range(1, 6)]
    fast = [Step("sorting", 5 + 100 * n, 100_000, "rows") for n in range(1, 60)]
    assert paced(*slow, *fast).rate == pytest.approx(10.0)


def test_many_steps_a_second_cost_no_memory_and_no_accuracy():
    reported = [Step("sorting", n, 10_000, "rows") for n in range(1, 5001)]
    pace = paced(*reported, every=0.01)
    assert pace.rate == pytest.approx(100.0, rel=1e-6)
    assert len(pace._samples) <= 30


@pytest.mark.parametrize(
    ("step", "share", "words"),
    [
        (Step("waiting", 0, 1, ""), None, "progress: waiting, 42 s so far"),
        (Step("reading", 2000, 0, "rows"), None, "progress: reading, 200 rows/s, 42 s so far"),
        (
            Step("sorting", 999, 1000, "rows"),
            0.999,
            "progress: sorting, 99 %, 99.9 rows/s, 0 s left, 42 s so far",
        ),
    ],
)
def test_a_line_states_what_is_known(step, share, words):
    pace = paced(step)
    assert pace.share == share
    assert describe_progress(pace, 42.0) == words


def test_before_the_first_step_a_line_states_the_time():
    assert describe_progress(Pace(), 65.0) == "progress: working, 1 min 5 s so far"


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.004, "0.2 rows/min"),
        (0.999, "59.9 rows/min"),
        (1.0, "1.0 rows/s"),
        (999.4, "999 rows/s"),
        (999.96, "1.00 k rows/s"),
        (12_345, "12.3 k rows/s"),
        (999_999, "1.00 M rows/s"),
        (2.5e12, "2500 G rows/s"),
    ],
)
def test_rates_have_three_figures(rate, text):
    assert format_rate(rate, "rows") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"), (90_000, "1 d 1 h")],
)
def test_durations_have_two_units(seconds, text):
    assert format_duration(seconds) == text


# ---- what is shown ----


def test_a_throttled_callback_receives_few_steps_a_second():
    received = []
    throttled = throttle(received.append, between=60)
    for done in range(1, 1001):
        throttled(Step("drawing", done, 1000))
    throttled(Step("reading", 10, 0, "rows"))
    throttled(Step("reading", 20, 0, "rows"))
    assert received == [Step("drawing", 1, 1000), Step("drawing", 1000, 1000), Step("reading", 10, 0, "rows")]


def test_short_work_writes_no_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress():
        report_progress("sorting", 1, 2, unit="rows")
    assert sys.stderr.getvalue() == ""


def test_long_work_writes_lines_even_where_no_step_ends(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress(between=0.05):
        time.sleep(0.02)
        report_progress("sorting", 500, 2000, unit="rows")
        deadline = time.monotonic() + 30  # a busy machine may be slow to write
        while sys.stderr.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) >= 2
    shown = re.compile(r"progress: sorting, 25 %, [\d.]+ (k )?rows/s, \d+ s left, \d+ s so far")
    assert all(shown.fullmatch(line) for line in lines)


def test_quiet_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress(quiet=True, between=0.01):
        report_progress("sorting", 1, 2, unit="rows")
        time.sleep(0.05)
    assert sys.stderr.getvalue() == ""


def test_a_bar_shows_percent_rate_and_time_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with show_progress():
        time.sleep(0.02)
        report_progress("sorting", 2000, 2000, unit="rows")
        time.sleep(0.25)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    assert re.search(r"sorting .*100 % [\d.]+ k rows/s, 0 s left", text)


def test_an_interrupt_ends_the_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    def work():
        with show_progress(between=0.01):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    written = sys.stderr.getvalue()
    time.sleep(0.05)
    assert sys.stderr.getvalue() == written
