"""Processor time and memory of a Java process and of the Python workers below it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS_BETWEEN_READINGS = 0.3


class Process(NamedTuple):
    """A process in /proc: processor seconds of its own and of ended children, and memory in bytes."""

    parent: int
    own: float
    ended: float
    held: int


class Watched:
    """A process with all its descendants."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.most_held = {"Java": 0, "a Python worker": 0}

    def spent(self) -> dict[str, float]:
        """Return processor seconds since the start; ended workers are counted with their parents."""
        java, workers = self._read()
        python = java.ended + sum(worker.own + worker.ended for worker in workers)
        return {"processor time of Java": java.own, "processor time of Python": python}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure the memory repeatedly while the block runs."""
        done = Event()
        thread = Thread(target=self._watch, args=(done,))
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _watch(self, done: Event) -> None:
        while not done.wait(_SECONDS_BETWEEN_READINGS):
            java, workers = self._read()
            now = {"Java": java.held, "a Python worker": max((worker.held for worker in workers), default=0)}
            self.most_held = {who: max(held, now[who]) for who, held in self.most_held.items()}

    def _read(self) -> tuple[Process, list[Process]]:
        known = read_processes()
        below, new = {self._number}, {self._number}
        while new:
            new = {number for number, process in known.items() if process.parent in new} - below
            below |= new
        return known[self._number], [known[number] for number in below - {self._number}]


def read_processes() -> dict[int, Process]:
    """Return all processes of this machine by their process ID."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {number: found for number in numbers if (found := _read_process(number)) is not None}


def _read_process(number: int) -> Process | None:
    try:
        text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
    except OSError:  # it has ended
        return None
    fields = text.rpartition(")")[2].split()  # the name before may contain any character
    own, ended = (sum(map(int, fields[at : at + 2])) / _TICKS for at in (11, 13))
    return Process(parent=int(fields[1]), own=own, ended=ended, held=_PAGE * int(fields[21]))
