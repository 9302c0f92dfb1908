"""Figures drawn together, by copies of the process where possible: the same whatever happens to copies."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from process_tools import is_running, record_copies

from scorereport._utils import shared_work
from scorereport.plots.canvas import Canvas
from scorereport.plots.style import report_style
from scorereport.report import planned_figures
from scorereport.report.planned_figures import FigureOrder, PlannedFigure, draw_figures
from scorereport.report.section_parts import SVG_ADDRESS, MarkedFigures, draw_parts, figure_part

needs_copies = pytest.mark.skipif(sys.platform != "linux", reason="other systems draw figures in one process")


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


def plan(plot=plot_line, count=5):
    return [PlannedFigure(plot=plot, data=(float(slope),), options={}) for slope in range(count)]


@pytest.fixture
def processes(monkeypatch):
    """A command on two processors, and the copies that it starts."""
    monkeypatch.setenv("SCOREREPORT_THREADS", "2")
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of the test runner hold no lock
    monkeypatch.setattr(planned_figures, "is_own_program", lambda: True)
    return record_copies(monkeypatch, shared_work)


@needs_copies
def test_figures_of_copies_are_the_same_bytes_in_the_same_order(processes, monkeypatch):
    there = draw_figures(plan())
    assert len(processes) == 1
    assert not is_running(processes[0])
    monkeypatch.setattr(planned_figures, "is_own_program", lambda: False)
    here = draw_figures(plan())
    assert len(processes) == 1
    assert there == here
    assert [figure.width for figure in here] == pytest.approx([30.0] * 5)
    assert len({figure.svg for figure in here}) == 5


@needs_copies
def test_figures_are_divided_among_this_process_and_its_copy(processes, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWING_FOLDER", str(tmp_path))
    numbers = {where_drawn(figure) for figure in draw_figures(plan(plot_where, 4))}
    assert numbers == {os.getpid() % 1_000_000, processes[0] % 1_000_000}


@needs_copies
def test_errors_are_those_of_this_process(processes):
    with pytest.raises(ValueError, match=r"^no such line$"):
        draw_figures(plan(fail, 2))
    assert not is_running(processes[0])


@needs_copies
def test_a_copy_that_ends_is_replaced_by_this_process(processes, monkeypatch):
    here = os.getpid()
    monkeypatch.setattr(
        PlannedFigure, "draw", lambda self: os._exit(1) if os.getpid() != here else self.data[0]
    )
    assert draw_figures(plan(count=3)) == [0.0, 1.0, 2.0]
    assert len(processes) == 1


@needs_copies
def test_a_copy_that_is_killed_is_replaced_by_this_process(processes):
    order = FigureOrder(plan(count=2))
    os.kill(processes[0], signal.SIGKILL)
    assert len(order.collect()) == 2
    assert not is_running(processes[0])


@pytest.mark.usefixtures("processes")
def test_a_system_that_refuses_processes_draws_here(monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(shared_work, "copy_process", refuse)
    assert len(draw_figures(plan(count=2))) == 2


def test_one_figure_is_drawn_without_a_copy(processes):
    assert len(draw_figures(plan(count=1))) == 1
    assert processes == []


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
