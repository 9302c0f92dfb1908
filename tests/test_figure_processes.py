"""Figures drawn by other processes: the same as drawn here, whatever happens to those processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from process_tools import is_running, record_copies

from scorereport.plots.canvas import Canvas
from scorereport.plots.style import report_style
from scorereport.report import figure_processes
from scorereport.report.figure_processes import PlannedFigure, draw_figures, drawing_ahead
from scorereport.report.section_parts import SVG_ADDRESS, MarkedFigures, draw_parts, figure_part

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems draw figures in one process")


def plot_line(slope, *, width=30.0, height=20.0):
    with report_style():
        canvas = Canvas.of(width, height)
        canvas.panel(5.0, 2.0, 20.0, 12.0).plot([0, 1], [0, slope])
        return canvas.figure


def plot_where(slope):
    """A figure whose size shows in which process it is drawn; the first one waits for another process."""
    folder = Path(os.environ["DRAWING_FOLDER"])
    (folder / str(os.getpid())).touch()
    end_of_wait = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2 and time.monotonic() < end_of_wait:
        time.sleep(0.01)
    more, less = divmod(os.getpid(), 1000)
    return plot_line(slope, width=30.0 + less, height=20.0 + more % 1000)


def where_drawn(figure):
    return round(figure.width) - 30 + 1000 * (round(figure.height) - 20)


def fail(_):
    raise ValueError("no such line")


def end(_):
    os._exit(1)


def plan(plot=plot_line, count=5):
    return [PlannedFigure(plot=plot, data=(float(slope),), options={}) for slope in range(count)]


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "2")
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of the test runner hold no lock


@pytest.fixture
def processes(monkeypatch):
    return record_copies(monkeypatch, figure_processes)


def test_figures_of_other_processes_are_the_same_bytes_in_the_same_order(processes):
    here = draw_figures(plan())
    with drawing_ahead():
        there = draw_figures(plan())
    assert there == here
    assert [figure.width for figure in here] == pytest.approx([30.0] * 5)
    assert len({figure.svg for figure in here}) == 5
    assert len(processes) == 1
    assert not is_running(processes[0])


DRAW_FOUR = """
import os, test_figure_processes as tests
with tests.drawing_ahead():
    drawn = tests.draw_figures(tests.plan(tests.plot_where, 4))
print(os.getpid() % 1_000_000, *map(tests.where_drawn, drawn))
"""


def test_figures_are_divided_among_processes_other_than_this_one(tmp_path):
    """In a new process: libraries that other tests have loaded may abort a copy of a copy."""
    place = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = {**os.environ, "PYTHONPATH": place, "DRAWING_FOLDER": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", DRAW_FOUR], capture_output=True, text=True, check=True, env=environment
    )
    here, *numbers = map(int, run.stdout.split())
    assert len(numbers) == 4
    assert len(set(numbers)) == 2
    assert here not in numbers


def test_a_second_drawing_is_done_here():
    with drawing_ahead():
        assert draw_figures(plan(count=2)) == draw_figures(plan(count=2))


def test_errors_are_those_of_this_process():
    with drawing_ahead(), pytest.raises(ValueError, match=r"^no such line$"):
        draw_figures(plan(fail, 2))


def test_functions_that_cannot_be_sent_are_called_here():
    def plot(slope):
        return plot_line(slope)

    with drawing_ahead():
        assert draw_figures(plan(plot, 2)) == draw_figures(plan(count=2))


def test_a_process_that_ends_is_replaced_by_this_one(monkeypatch):
    here = os.getpid()
    monkeypatch.setattr(PlannedFigure, "draw", lambda self: end(0) if os.getpid() != here else self.data[0])
    with drawing_ahead():
        assert draw_figures(plan(count=3)) == [0.0, 1.0, 2.0]


def test_a_process_that_is_killed_is_replaced_by_this_one(processes):
    with drawing_ahead():
        os.kill(processes[0], signal.SIGKILL)
        assert len(draw_figures(plan(count=1))) == 1
    assert not is_running(processes[0])


def test_a_system_that_refuses_processes_draws_here(monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(figure_processes, "copy_process", refuse)
    with drawing_ahead():
        assert len(draw_figures(plan(count=1))) == 1


@pytest.mark.parametrize(
    ("threads", "active", "expected"), [("2", 1, True), ("1", 1, False), ("2", 2, False)]
)
def test_no_process_is_started_beside_other_threads_or_for_one_thread(threads, active, expected, monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", threads)
    monkeypatch.setattr(threading, "active_count", lambda: active)
    assert figure_processes.can_copy() is expected


def test_an_error_in_the_block_ends_the_process(processes):
    with pytest.raises(KeyError), drawing_ahead():
        raise KeyError
    assert not is_running(processes[0])


ORPHAN = """
import os, sys, time
from scorereport.report import figure_processes
fork = figure_processes.copy_process
def record():
    number = fork()
    if number:
        print(number, flush=True)
    return number
figure_processes.copy_process = record
with figure_processes.drawing_ahead():
    time.sleep(60)
"""


@pytest.mark.sweep
def test_the_process_ends_when_this_one_is_killed():
    environment = {**os.environ, "SCOREREPORT_THREADS": "2"}
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment) as process:
        number = int(process.stdout.readline())
        process.kill()
    waited = time.monotonic() + 30
    while is_running(number) and time.monotonic() < waited:
        time.sleep(0.02)
    assert not is_running(number)


def test_parts_get_address_and_size_when_they_are_drawn():
    part = figure_part(plot_line, "a line", np.float64(1.0), caption="A line", width=40.0)
    assert set(part) == {"kind", "planned", "alt", "caption"}
    draw_parts([{"kind": "table"}, part])
    assert part["src"].startswith(SVG_ADDRESS)
    assert (part["width"], part["height"], part["layout"]) == ("40", "20", "beside")
    assert "planned" not in part


def test_a_wide_figure_stands_above_its_caption():
    part = figure_part(plot_line, "a line", 1.0, caption="A line", width=150.0)
    draw_parts([part])
    assert part["layout"] == "above"


def test_marks_in_a_page_are_replaced_by_what_is_drawn():
    part = figure_part(plot_line, "a line", 1.0, caption="A line", width=40.0)
    drawn = figure_part(plot_line, "a line", 1.0, caption="A line", width=40.0)
    figures = MarkedFigures([part])
    draw_parts([drawn])
    keys = ("src", "width", "height", "layout")
    page = " ".join(part[key] for key in keys)
    assert page.startswith(SVG_ADDRESS)
    assert len(page) < 200
    assert figures.fill(page) == figures.fill(page) == " ".join(drawn[key] for key in keys)
