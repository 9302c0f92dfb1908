"""Copies of this process in tests: how many are started, and whether one still runs."""

from __future__ import annotations

import os


def record_copies(monkeypatch, module):
    """Return a list to which the numbers of the copies are added that a module starts."""
    numbers = []
    copy = module.copy_process

    def record():
        number = copy()
        numbers.append(number)
        return number

    monkeypatch.setattr(module, "copy_process", record)
    return numbers


def is_running(number):
    """Whether a process exists."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
