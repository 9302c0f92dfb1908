"""Progress: which callbacks receive which steps, how far the whole is, and what is displayed."""

from __future__ import annotations

import io
import itertools
import re
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

import scorereport as sr
from scorereport._utils.formatting import format_duration, format_rate
from scorereport._utils.machine import repeat
from scorereport._utils.progress import (
    Pace,
    Step,
    as_one_stage,
    parts,
    progress_callback,
    report_progress,
    report_stage,
    report_start,
    report_work,
    steps,
    watched_by,
)
from scorereport._utils.whole_progress import WholeProgress
from scorereport._utils.work_plan import Stage, Workload, plan_stages
from scorereport.cli.progress_display import Progress, describe_time_left, render_bar, show_progress, throttle


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


def test_calls_of_many_resamples_count_as_these():
    received = []
    with progress_callback(received.append):
        list(repeat(lambda n: n, 3, rows=1, what="drawing", resamples=10))
    assert [(step.done, step.total) for step in received] == [(3, 10), (6, 10), (10, 10)]


# ---- pace ----


def test_a_pace_has_rate_share_and_time_left():
    pace = paced(Step("sorting", 1000, 5000, "rows"), Step("sorting", 2000, 5000, "rows"))
    assert (pace.share, pace.rate, pace.seconds_left) == (0.4, 100.0, 30.0)


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


# ---- the whole ----


def make_progress(plan, *stages):
    """Progress after stages that lasted these seconds each; the last one goes on."""
    clock = Clock()
    progress = Progress(clock=clock)
    progress.whole.plan(plan)
    for stage, seconds in stages:
        progress.whole.begin(stage)
        clock.now += seconds
    return progress, clock


PLAN = {Stage.READING: 1.0, Stage.INTERVALS: 8.0, Stage.BANDS: 11.0}


def test_a_line_states_share_stage_work_and_times():
    progress, clock = make_progress(PLAN, (Stage.READING, 2.0), (Stage.INTERVALS, 0.0))
    for done in range(1, 6):
        clock.now += 1
        progress.pace.take(Step("drawing outcomes", 100 * done, 1000, "resamples"))
    line = progress.describe()
    work = r"drawing outcomes at 71.4 resamples/s"  # since the beginning of the command
    assert re.fullmatch(rf"progress: \d\d %, 2 of 3 · intervals, {work}, about \d+ s left, 7 s so far", line)


def test_before_the_first_stage_a_line_states_the_time():
    clock = Clock()
    progress = Progress(clock=clock)
    clock.now += 65
    assert progress.describe() == "progress: working, 1 min 5 s so far"
    progress.pace.take(Step("waiting", 0, 1, ""))
    assert progress.describe() == "progress: waiting, 1 min 5 s so far"


def test_a_stage_that_is_over_does_not_begin_again_and_one_without_a_plan_is_added():
    progress, _ = make_progress(PLAN, (Stage.READING, 1.0), (Stage.COMPARISONS, 1.0), (Stage.INTERVALS, 1.0))
    assert (progress.whole.stage, progress.whole.position) == (Stage.COMPARISONS, (3, 4))


def test_no_time_is_stated_in_the_first_moments():
    progress, clock = make_progress(PLAN, (Stage.READING, 1.0), (Stage.INTERVALS, 1.0))
    assert progress.measure()[1] == ""
    clock.now += 2  # little of the whole is measured yet
    assert progress.measure()[1] == ""
    progress.whole.finish_part(1, 2)
    assert progress.measure()[1] != ""


def test_no_time_is_stated_while_a_part_takes_much_longer_than_expected():
    progress, clock = make_progress(PLAN, (Stage.READING, 1.0), (Stage.INTERVALS, 8.0), (Stage.BANDS, 5.0))
    assert "left" in progress.measure()[1]
    clock.now += 60
    share, left = progress.measure()
    assert left == ""
    assert 0.6 < share < 0.95
    clock.now += 1e6
    assert progress.measure()[0] <= 0.99


def test_the_work_in_progress_is_a_lower_bound():
    """The plan expects a second; the rate of the work shows that it takes minutes."""
    progress, clock = make_progress({Stage.INTERVALS: 1.0, Stage.BANDS: 1.0}, (Stage.INTERVALS, 0.0))
    for done in range(1, 11):
        clock.now += 1
        progress.pace.take(Step("drawing", done, 200, "resamples"))
    share, left = progress.measure()
    assert left == "about 3 min left"
    assert share < 0.1
    clock.now += 6  # the last step is old: there may be other work by now
    assert progress.measure()[1] == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds left"),
        (7, "about 5 s left"),
        (57, "about 55 s left"),
        (61, "about 1 min left"),
        (3000, "about 50 min left"),
        (100_000, "about 1 d 4 h left"),
    ],
)
def test_the_time_left_is_rounded(seconds, words):
    assert describe_time_left(seconds) == words


def test_the_bar_does_not_run_ahead_of_a_plan_with_few_rows():
    """Reading takes longer than the plan expects: later stages will as well, once the rows are counted."""
    progress, clock = make_progress({Stage.READING: 1.0, Stage.INTERVALS: 19.0}, (Stage.READING, 60.0))
    assert progress.measure()[0] == pytest.approx(0.05)
    progress.whole.plan({Stage.READING: 60.0, Stage.INTERVALS: 1140.0})
    progress.whole.begin(Stage.INTERVALS)
    clock.now += 1
    assert progress.measure()[0] < 0.06


def test_time_before_the_first_stage_is_not_part_of_the_plan():
    clock = Clock()
    progress = Progress(clock=clock)
    progress.whole.plan(PLAN)
    clock.now += 500
    assert progress.measure() == (0.0, "")
    progress.whole.begin(Stage.READING)
    clock.now += 1
    assert progress.measure()[0] < 0.1


# ---- simulated runs ----

STAGES = (Stage.READING, Stage.SCORES, Stage.INTERVALS, Stage.COMPARISONS, Stage.BANDS, Stage.PDF)
EXPECTED = (2.0, 6.0, 20.0, 10.0, 30.0, 20.0)
#: Parts of the stages; those of one part report nothing until they end.
PARTS = (1, 3, 5, 1, 4, 1)


def simulate(factors):
    """Share, seconds left as stated, and true seconds left, every half second of a run.

    There are as many stages as factors by which their times differ from the expected ones.
    """
    clock = Clock()
    whole = WholeProgress(clock=clock)
    stages = STAGES[: len(factors)]
    whole.plan(dict(zip(stages, EXPECTED, strict=False)))
    seconds = [factor * expected for factor, expected in zip(factors, EXPECTED, strict=False)]
    end, seen = clock.now + sum(seconds), []
    events = []
    began = clock.now
    for stage, duration, count in zip(stages, seconds, PARTS, strict=False):
        events.append((began, partial(whole.begin, stage)))
        for part in range(1, count):
            moment = began + duration * part / count
            events.append((moment, partial(whole.finish_part, part, count)))
        began += duration
    for tick in np.arange(clock.now, end, 0.5):
        while events and events[0][0] <= tick:
            clock.now, act = events.pop(0)
            act()
        clock.now = float(tick)
        found = whole.measure()
        seen.append((found.share, found.seconds_left, end - clock.now))
    return seen


FACTORS = list(itertools.product((1 / 3, 1.0, 3.0), repeat=len(STAGES)))


def test_shares_grow_and_never_reach_the_end():
    for factors in FACTORS[::7]:
        shares = [share for share, _, _ in simulate(factors)]
        assert shares == sorted(shares)
        assert shares[0] == 0
        assert 0.6 < shares[-1] <= 0.99, factors


def test_estimates_improve_as_work_goes_on():
    """The error, as a share of the whole time, shrinks from quarter to quarter and is small at the end."""
    errors = np.zeros(4)
    counts = np.zeros(4)
    for factors in FACTORS[::7]:
        seen = simulate(factors)
        whole = seen[0][2]
        for _, left, true in seen:
            if left is not None:
                quarter = min(int(4 * (1 - true / whole)), 3)
                errors[quarter] += abs(left - true) / whole
                counts[quarter] += 1
    means = errors / counts
    assert list(means) == sorted(means, reverse=True), means
    assert means[0] < 0.4, means
    assert means[-1] < 0.2, means


def test_the_last_estimate_is_sensible():
    """It is wrong by much only if a last stage that reports nothing takes longer than all before suggest."""
    errors = []
    for factors in FACTORS[::7]:
        seen = simulate(factors)
        _, left, true = next(moment for moment in reversed(seen) if moment[1] is not None)
        errors.append(abs(left - true) / seen[0][2])
    assert np.quantile(errors, 0.5) < 0.2
    assert np.quantile(errors, 0.9) < 0.3
    for factors in FACTORS[::21]:
        seen = simulate(factors[:-1])  # ends with a stage in parts
        _, left, true = next(moment for moment in reversed(seen) if moment[1] is not None)
        assert abs(left - true) < 0.15 * seen[0][2]


def test_a_slower_or_faster_machine_is_noticed():
    """If all stages take three times as long, or a third, the time left is right after half of the work."""
    for factor in (1 / 3, 3.0):
        seen = simulate([factor] * len(STAGES))
        whole = seen[0][2]
        later = [(left, true) for _, left, true in seen if left is not None and true < 0.5 * whole]
        assert len(later) > 0.3 * len(seen)
        assert max(abs(left - true) for left, true in later) < 0.2 * whole


def test_a_run_as_planned_is_estimated_well():
    seen = simulate([1.0] * len(STAGES))
    whole = seen[0][2]
    assert all(abs(left - true) < 0.15 * whole for _, left, true in seen if left is not None)
    assert all(abs(share - (1 - true / whole)) < 0.15 for share, _, true in seen)


# ---- plans ----


@pytest.mark.parametrize(
    ("facts", "stages"),
    [
        ({}, []),
        (
            {"evaluates": True},
            ["reading", "fits and scores", "intervals", "bands"],
        ),
        (
            {"evaluates": True, "models": 2, "groups": 1, "certifies": True, "formats": (".pdf",)},
            [
                *("reading", "fits and scores", "intervals", "comparisons", "groups", "bands"),
                *("certificate", "HTML", "figures", "PDF"),
            ],
        ),
        (
            {"evaluates": True, "is_streamed": True, "formats": (".json",), "is_filed": True},
            ["reading", "sorting", "fits and scores", "bands", "filing"],
        ),
        (
            {"cases": 300, "formats": (".html", ".pdf")},
            ["installation and peers", "comparison with R", "papers", "HTML", "figures", "PDF"],
        ),
    ],
)
def test_a_plan_has_the_stages_of_the_work(facts, stages):
    plan = plan_stages(Workload(**facts))
    assert [str(stage) for stage in plan] == stages
    assert all(seconds > 0 for seconds in plan.values())


def test_more_work_is_expected_to_take_longer():
    less = Workload(evaluates=True, models=2, groups=1, certifies=True, formats=(".pdf",))
    for facts in ({"rows": 10**6}, {"models": 5}, {"classes": 7}, {"resamples": 5000}, {"groups": 3}):
        assert sum(plan_stages(replace(less, **facts)).values()) > sum(plan_stages(less).values())


def test_stages_need_no_callback():
    report_work(rows=5)
    report_stage(Stage.READING)
    assert list(parts("ab", 2)) == ["a", "b"]


def test_an_evaluation_inside_a_stage_reports_none():
    whole = WholeProgress()
    with progress_callback(lambda _: None, whole):
        report_stage(Stage.STUDY)
        with as_one_stage():
            sr.evaluate([0, 1, 0, 1], {"a": [0.1, 0.6, 0.4, 0.8]}, resamples=0)
    assert (whole.stage, whole.position) == (Stage.STUDY, (1, 1))


def test_an_evaluation_reports_its_stages_in_order(monkeypatch):
    begun = []
    whole = WholeProgress()
    monkeypatch.setattr(whole, "begin", begun.append)
    frame = pd.DataFrame({"y": [0, 1] * 20, "a": 0.3, "b": np.linspace(0.1, 0.9, 40), "g": list("uv") * 20})
    with progress_callback(lambda _: None, whole):
        sr.evaluate(frame, outcome="y", forecasts=["a", "b"], groups="g", resamples=40)
    assert begun == list(whole._expected) == sorted(begun, key=list(Stage).index)
    assert whole._work.rows == 40


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
        report_stage(Stage.INTERVALS)
        report_progress("sorting", 500, 2000, unit="rows")
        deadline = time.monotonic() + 30  # a busy machine may be slow to write
        while sys.stderr.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) >= 2
    shown = re.compile(r"progress: \d+ %, 1 of 1 · intervals, \d+ s so far")
    assert all(shown.fullmatch(line) for line in lines)


def test_quiet_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress(quiet=True, between=0.01):
        report_progress("sorting", 1, 2, unit="rows")
        time.sleep(0.05)
    assert sys.stderr.getvalue() == ""


def test_a_bar_shows_stage_percent_and_time_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with show_progress():
        report_work(evaluates=True, infers=False)
        report_stage(Stage.SCORES)
        time.sleep(0.3)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    assert re.search(r"2 of 3 · fits and scores +━+.* \d\d? %", text)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_bar_fits_the_terminal(width):
    progress, clock = make_progress(PLAN, (Stage.READING, 1.0), (Stage.INTERVALS, 9.0), (Stage.BANDS, 4.0))
    for done in range(1, 6):
        clock.now += 1
        progress.pace.take(Step("drawing curves of a model with a long name", 100 * done, 1000, "resamples"))
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(render_bar(progress, width))
    (line,) = console.file.getvalue().splitlines()
    assert cell_len(line) <= width
    assert line.startswith("3 of 3 · bands ")
    assert re.search(r" \d\d %  about \d+ s left", line)
    assert ("resamples/s" in line) is (width >= 100)


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
