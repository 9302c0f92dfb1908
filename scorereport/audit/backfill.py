"""Backfill: the periods between two labels, and the exit code of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.plan import read_plan
from scorereport.configuration.period_labels import list_labelled
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scorereport.configuration.period_labels import LabelledPeriod

#: Exit codes from the worst to the best: a run without results is worse than one with a breached limit.
_WORST_FIRST = (
    ExitCode.INTERNAL,
    ExitCode.USAGE,
    ExitCode.DATA_REFUSED,
    ExitCode.CERTIFICATE_FAILED,
    ExitCode.LIMIT_BREACHED,
    ExitCode.WARNINGS,
    ExitCode.DONE,
)


def list_backfill(path: Path, first: str, last: str) -> tuple[LabelledPeriod, ...]:
    """List the periods from one label to another; refuse labels that the window does not have or not yet."""
    plan = read_plan(path)
    return tuple(list_labelled(plan.audit.window.period, first, last, plan.zone, plan.schedule))


def find_worst_code(codes: Iterable[int]) -> ExitCode:
    """Return the worst of several exit codes: 70, 2, 4, 5, 1, 3, 0 from the worst to the best.

    >>> find_worst_code([0, 3, 1, 4]).value
    4
    """
    present = set(codes)
    return next((code for code in _WORST_FIRST if code in present), ExitCode.DONE)
