"""R processes that answer cases in parallel; one that dies is replaced, and its case is asked again once.

Each thread asks an R process of its own. R takes most of the time, so that threads do not wait for each other
in Python. The results of a case depend on its number and the seed only, not on the process that answered it.
"""

from __future__ import annotations

from contextlib import ExitStack
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Self

from scorereport.reference.r_session import ReferenceFailure
from scorereport.study.case_comparison import compare_case_live, failed_case
from scorereport.study.case_summary import CaseSummary, merge_summaries, summarise_case
from scorereport.study.seeded_cases import Case, draw_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from scorereport.reference.comparison_records import Comparison
    from scorereport.reference.live_references import Reference
    from scorereport.reference.r_session import Session

    Opener = Callable[[Callable[[Session], None]], AbstractContextManager[Reference]]

#: An R process is replaced after this many cases, or after a case with this many rows: memory that it has
#: taken once it does not return.
_CASES_OF_A_PROCESS, _MANY_ROWS = 500, 100_000
#: If this many cases one after the other got no answer, there is no use in asking more.
_MOST_FAILURES = 3
#: Seconds that a thread may take to end after its R process has ended.
_GRACE = 20.0


class StudyWorkers:
    """Threads that compare batches of cases; use it in a `with` block, which no thread outlives.

    Parameters
    ----------
    opener : starts a reference, and passes its process on before it has answered
    batches : the numbers of the cases, in batches
    seed : of the cases
    number : of R processes
    finish : called with each finished batch and its summary, by one thread at a time
    """

    def __init__(
        self,
        opener: Opener,
        batches: Sequence[Sequence[int]],
        seed: int,
        number: int,
        finish: Callable[[Sequence[int], CaseSummary], None],
    ) -> None:
        self._opener, self._seed, self._finish = opener, seed, finish
        self._waiting = [*reversed(batches)]
        self._lock = Lock()
        self._sessions: list[Session] = []
        self._is_closed = False
        self._events: SimpleQueue[int | BaseException] = SimpleQueue()
        count = min(number, len(batches))
        self._threads = [Thread(target=self._run, daemon=True, name=f"r-{k + 1}") for k in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End all R processes at once; what they have not answered is lost."""
        with self._lock:
            self._is_closed = True
            sessions = [*self._sessions]
        for session in sessions:
            session.end()
        for thread in self._threads:
            thread.join(_GRACE)

    def wait(self, cases: int) -> Iterator[int]:
        """Yield once for each case that is finished; raises the error of a thread."""
        for number in range(cases):
            event = self._events.get()
            if isinstance(event, BaseException):
                raise event
            yield number

    def _run(self) -> None:
        try:
            with _Worker(self._opener, self._seed, self._hold) as worker:
                while (batch := self._take()) is not None:
                    self._compare(batch, worker)
        except BaseException as error:
            self._events.put(error)

    def _take(self) -> Sequence[int] | None:
        with self._lock:
            return self._waiting.pop() if self._waiting and not self._is_closed else None

    def _compare(self, batch: Sequence[int], worker: _Worker) -> None:
        summaries = []
        for number in batch:
            case = draw_case(number, self._seed)
            summaries.append(summarise_case(case, number, worker.compare(case, number)))
            if self._is_closed:
                return
            if number != batch[-1]:
                self._events.put(number)
        with self._lock:
            if not self._is_closed:
                self._finish(batch, merge_summaries(summaries))
        self._events.put(batch[-1])  # not before the batch is on the disk

    def _hold(self, session: Session) -> None:
        """Remember a process that was started, so that it can be ended."""
        with self._lock:
            self._sessions.append(session)
            is_late = self._is_closed
        if is_late:
            session.end()


class _Worker:
    """An R process, which is started when it is needed and replaced when it has died or grown."""

    def __init__(self, opener: Opener, seed: int, hold: Callable[[Session], None]) -> None:
        self._opener, self._seed, self._hold = opener, seed, hold
        self._stack = ExitStack()
        self._reference: Reference | None = None
        self._asked = self._failures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def compare(self, case: Case, number: int) -> Sequence[Comparison]:
        """Compare a case; if R died over it, ask another process once, unless it had taken too long."""
        try:
            found = self._ask(case, number)
        except ReferenceFailure as failure:
            if failure.is_late:
                self._end()
            is_final = failure.answer or failure.is_late
            found = [failed_case(case, str(failure))] if is_final else self._ask_again(case, number)
        if self._asked >= _CASES_OF_A_PROCESS or len(case.y_true) >= _MANY_ROWS:
            self._end()
        return found

    def _ask_again(self, case: Case, number: int) -> Sequence[Comparison]:
        self._end()
        try:
            found = self._ask(case, number)
        except ReferenceFailure as failure:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                raise
            self._end()
            return [failed_case(case, f"Asked twice: {failure}")]
        self._failures = 0
        return found

    def _ask(self, case: Case, number: int) -> Sequence[Comparison]:
        if self._reference is None:
            self._reference = self._stack.enter_context(self._opener(self._hold))
        self._asked += 1
        return compare_case_live(case, number, self._reference, self._seed)

    def _end(self) -> None:
        self._reference, self._asked = None, 0
        self._stack.close()
