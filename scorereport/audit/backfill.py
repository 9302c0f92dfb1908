"""Backfill: the periods between two labels are audited in order, one run after the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.audit.plan import read_plan
from scorereport.audit.run import DEFAULT_WAIT_SECONDS, RunResult, run_audit
from scorereport.configuration.period_labels import LabelledPeriod, list_labelled
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """The periods of an audit between two labels, each over, and in order."""

    path: Path
    periods: tuple[LabelledPeriod, ...]

    def run(
        self,
        *,
        again: bool = False,
        wait: float = DEFAULT_WAIT_SECONDS,
        name_command: Callable[[str], str] = lambda _: "",
    ) -> Iterator[RunResult]:
        """Run the periods one after the other; a failed run is recorded and does not stop the rest.

        An error that cannot be recorded ends the backfill: the other runs could not be recorded either.
        `name_command` returns the command line, for the record of a moment.
        """
        for listed in self.periods:
            as_of = listed.as_of.isoformat(timespec="seconds")
            yield run_audit(self.path, as_of=as_of, again=again, wait=wait, command=name_command(as_of))


def plan_backfill(path: Path, first: str, last: str) -> Backfill:
    """Find the periods from one label to another; refuse labels that the window does not have or not yet."""
    plan = read_plan(path)
    periods = list_labelled(plan.audit.window.period, first, last, plan.zone, plan.schedule)
    return Backfill(path=path, periods=tuple(periods))


def find_worst_code(codes: Iterable[int]) -> ExitCode:
    """Return the worst of several exit codes: 70, 2, 4, 5, 1, 3, 0 from the worst to the best.

    >>> find_worst_code([0, 3, 1, 4]).value
    4
    """
    present = set(codes)
    return next((code for code in _WORST_FIRST if code in present), ExitCode.DONE)
