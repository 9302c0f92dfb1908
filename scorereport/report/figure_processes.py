"""Figures that are planned first and then drawn together, by processes beside this one where possible.

A process that draws is started before the evaluation, loads Matplotlib while the evaluation runs, and divides
the figures among copies of itself. If it cannot be started, or fails in any way, figures are drawn here: they
are the same bytes, and an error is raised where it can be handled.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from scorereport._utils.process_copies import (
    can_copy,
    copy_process,
    receive_message,
    send_message,
    separate_copy,
)
from scorereport._utils.progress import parts, report_stage, steps
from scorereport._utils.shared_work import sharing_work
from scorereport._utils.work_plan import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MM_PER_INCH = 25.4


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A figure as SVG, with its size in millimetres."""

    svg: str
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedFigure:
    """A figure that is not drawn yet: the function that draws it, and what it draws."""

    plot: Callable[..., Any]
    data: tuple[Any, ...]
    options: Mapping[str, Any]

    def draw(self) -> DrawnFigure:
        """Draw the figure in this process."""
        from scorereport.plots.canvas import render_svg

        figure = self.plot(*self.data, **self.options)
        width, height = (_MM_PER_INCH * inches for inches in figure.get_size_inches())
        return DrawnFigure(svg=render_svg(figure), width=width, height=height)


class FigureOrder:
    """Figures that are being drawn by the process that was started for them, if there is one."""

    def __init__(self, figures: Sequence[PlannedFigure]) -> None:
        self._figures = figures
        process = _started.get()
        self._process = process if process is not None and figures and process.ask(figures) else None

    def collect(self) -> list[DrawnFigure]:
        """Return the figures in their order; what no other process has drawn is drawn in this one."""
        report_stage(Stage.FIGURES)
        if self._process is not None:
            drawn = self._process.answer()
            if drawn is not None:
                return drawn
        count = len(self._figures)
        return [figure.draw() for figure in parts(steps(self._figures, count, "drawing"), count)]


def draw_figures(figures: Sequence[PlannedFigure]) -> list[DrawnFigure]:
    """Draw figures by the process that was started for them, or one after the other in this one."""
    return FigureOrder(figures).collect()


@contextmanager
def drawing_ahead() -> Iterator[None]:
    """Start a process for the figures that are drawn inside the block; it does not outlive the block."""
    process = _FigureProcess.start() if can_copy() else None
    if process is None:
        yield
        return
    token = _started.set(process)
    try:
        yield
    finally:
        _started.reset(token)
        process.close()


class _FigureProcess:
    """A copy of this process that draws figures once."""

    def __init__(self, number: int, connection: socket.socket) -> None:
        self._number = number
        self._connection = connection

    @classmethod
    def start(cls) -> _FigureProcess | None:
        """Start the process; None if the system refuses."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                number = copy_process()
            except OSError:
                ours.close()
                return None
            if not number:
                _serve(theirs)
            with suppress(OSError):  # the process may have done so itself, or have ended
                os.setpgid(number, number)
        return cls(number, ours)

    def ask(self, figures: Sequence[PlannedFigure]) -> bool:
        """Send figures to be drawn; whether that is possible, which it is once."""
        try:
            send_message(self._connection, figures)
        except (OSError, pickle.PickleError, AttributeError, TypeError):
            return False
        return True

    def answer(self) -> list[DrawnFigure] | None:
        """Wait for the drawn figures and return them; None if the process failed."""
        try:
            drawn: list[DrawnFigure] = receive_message(self._connection)
        except (OSError, EOFError, pickle.PickleError):
            return None
        return drawn

    def close(self) -> None:
        """End the process and its copies."""
        self._connection.close()
        with suppress(OSError):
            os.killpg(self._number, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._number, 0)


_started: ContextVar[_FigureProcess | None] = ContextVar("figure_process", default=None)


def _serve(connection: socket.socket) -> NoReturn:
    """Draw the figures that are received, in a copy of the process that asks for them.

    Nothing of this process is shown. It ends when the other end of the connection is closed.
    """
    from scorereport.plots.canvas import load_matplotlib

    try:
        separate_copy(connection.fileno())
        load_matplotlib()
        send_message(connection, _draw_divided(receive_message(connection)))
    finally:
        os._exit(0)  # nothing that was registered by the original may run


def _draw_divided(figures: Sequence[PlannedFigure]) -> list[DrawnFigure]:
    """Draw figures by this process and copies of it."""
    count = len(figures)
    with sharing_work(lambda place: figures[place].draw(), count, worth=count) as work:
        return work.collect()
