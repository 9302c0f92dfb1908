"""The engine against R on seeded cases of every shape: several R processes, in a run that can be resumed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path  # the type of a field
from typing import TYPE_CHECKING, Self

from scorereport._utils.machine import count_threads
from scorereport._utils.progress import parts, steps
from scorereport.reference.live_references import Reference, open_reference
from scorereport.study.case_records import CaseRecords, describe_run
from scorereport.study.case_summary import CaseSummary
from scorereport.study.case_workers import StudyWorkers
from scorereport.study.installation_checks import software_versions
from scorereport.study.seeded_cases import MILLION, number_cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.study.case_workers import Opener

#: Cases whose results are written together.
_BATCH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCases:
    """The cases that a reference is asked about, and where the finished ones are written, if anywhere."""

    cases: int
    seed: int
    time_limit: float
    folder: Path | None = None


class LiveComparison:
    """The comparison of seeded cases with a reference; it runs in threads from the start of a `with` block.

    `reference` runs already and is not asked about any case: its software is that of the processes that are
    started. `opener` starts one of them.
    """

    def __init__(self, reference: Reference, asked: LiveCases, opener: Opener | None = None) -> None:
        kind = reference.kind
        self.reference, self.asked = reference, asked
        self._opener = opener or partial(open_reference, kind, asked.time_limit)
        settings = describe_run(kind, asked.seed, {**software_versions(), **reference.software})
        self._records = CaseRecords(asked.folder, kind, settings)
        self._summary = CaseSummary()
        self._stack = ExitStack()
        self.resumed = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._records)
            batches = self._resume(_make_batches(self.asked.cases))
            self._left = sum(map(len, batches))
            self._workers = stack.enter_context(
                StudyWorkers(self._opener, batches, self.asked.seed, count_threads(), self._finish)
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def wait(self) -> CaseSummary:
        """Wait for the cases, with progress, and return their summary."""
        what = f"asking {self.reference.name}"
        for _ in parts(steps(self._workers.wait(self._left), self._left, what, unit="cases"), self._left):
            pass
        return self._summary

    def _resume(self, batches: Iterable[Sequence[int]]) -> list[Sequence[int]]:
        """Take the summaries of finished batches; returns the others."""
        left = {_name(batch): batch for batch in batches}
        for name, summary in self._records.read():
            if left.pop(name, None) is not None:
                self._summary = self._summary.merge(summary)
        self.resumed = self._summary.cases
        return [*left.values()]

    def _finish(self, batch: Sequence[int], summary: CaseSummary) -> None:
        self._records.add(_name(batch), summary)
        self._summary = self._summary.merge(summary)


def _make_batches(cases: int) -> Iterator[Sequence[int]]:
    """The numbers of the cases in batches; the case of a million rows, which takes longest, is the first."""
    numbers = number_cases(cases)
    if numbers[-1] == MILLION:
        yield [MILLION]
        numbers = numbers[:-1]
    yield from (numbers[start : start + _BATCH] for start in range(0, len(numbers), _BATCH))


def _name(batch: Sequence[int]) -> str:
    return f"{batch[0]}-{batch[-1]}"
