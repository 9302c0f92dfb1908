"""Evidence of the records that count: the last valid one of each period, no day twice."""

from __future__ import annotations

from bisect import bisect, bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scorereport.history.trend.counted_days import pad_time
from scorereport.history.trend.evidence_chain import EvidenceStep, build_trend_evidence
from scorereport.history.valid_records import is_valid, list_counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import TrendEvidence


def make_step(record: Record) -> EvidenceStep:
    """Return the evidence of a record as a step of the chain."""
    if record.evidence is None:
        raise ValueError(f"record {record.id} has no evidence")
    return EvidenceStep(period=record.period.label, sha256=record.sha256, evidence=record.evidence)


def list_steps(records: Iterable[Record], since: str = "") -> list[EvidenceStep]:
    """List the evidence of the records that count, in the order of time.

    Of two records whose counted days overlap, the earlier one in the chain counts. Audits whose counted days
    begin before `since` do not count.
    """
    return _choose_steps(records, since, make_step).chosen


@dataclass(slots=True)
class _ChosenSteps:
    """Steps in the order of time, by period, and whether each step that is not before the start counts."""

    first: str
    chosen: list[EvidenceStep] = field(default_factory=list)
    by_period: dict[str, EvidenceStep] = field(default_factory=dict)
    have_all: bool = True

    def add(self, step: EvidenceStep) -> None:
        """Add a step of a period that has none, unless it has days in common with another."""
        if step.days[0] < self.first:
            return
        place = bisect(self.chosen, step.days, key=_get_days)
        if any(_have_days_in_common(step, other) for other in self.chosen[max(place - 1, 0) : place + 1]):
            self.have_all = False
            return
        self.chosen.insert(place, step)
        self.by_period[step.period] = step

    def list_others(self, period: str) -> list[EvidenceStep]:
        """List the steps of all other periods."""
        others, step = self.chosen.copy(), self.by_period.get(period)
        if step is not None:
            del others[others.index(step, bisect_left(others, step.days, key=_get_days))]
        return others

    def remove(self, period: str) -> None:
        """Remove the step of a period, if there is one."""
        self.chosen = self.list_others(period)
        self.by_period.pop(period, None)


def _get_days(step: EvidenceStep) -> tuple[str, str]:
    return step.days


def _choose_steps(
    records: Iterable[Record], since: str, make: Callable[[Record], EvidenceStep]
) -> _ChosenSteps:
    steps = _ChosenSteps(pad_time(since))
    for record in sorted(list_counted(records), key=lambda record: record.id):
        if record.evidence is not None:
            steps.add(make(record))
    return steps


def _have_days_in_common(one: EvidenceStep, other: EvidenceStep) -> bool:
    return max(one.days[0], other.days[0]) < min(one.days[1], other.days[1])


class EvidenceLedger:
    """Records of one audit in the order of the chain, to find the evidence that counts after each of them.

    A new record changes the steps that count by itself only, unless steps overlap or records are annulled:
    a history of many records is read in a time that is proportional to their number.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records: list[Record] = []
        self._annulled: set[int] = set()
        self._first: dict[str, Record] = {}
        self._steps: dict[str, EvidenceStep] = {}
        self._chosen: dict[str, _ChosenSteps] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Add the next record of the audit."""
        self._records.append(record)
        if record.evidence is not None:
            self._first.setdefault(record.period.label, record)
            self._steps[record.sha256] = make_step(record)
        if record.kind == "annulment" and record.annuls is not None:
            self._annulled.add(record.annuls)
            self._chosen.clear()
        if record.snapshot is not None and is_valid(record, self._annulled):
            self._chosen = {
                since: steps
                for since, steps in self._chosen.items()
                if steps.have_all and self._replace_step(steps, record)
            }

    def _replace_step(self, steps: _ChosenSteps, record: Record) -> bool:
        """Let a record count in place of the one before of its period; whether no step was left out."""
        if record.period.label in steps.by_period:
            steps.remove(record.period.label)
        if record.evidence is not None:
            steps.add(self._steps[record.sha256])
        return steps.have_all

    def list_others(self, period: str, since: str) -> list[EvidenceStep]:
        """List the evidence that counts of all periods but one, in the order of time."""
        if since not in self._chosen:
            self._chosen[since] = _choose_steps(self._records, since, lambda one: self._steps[one.sha256])
        return self._chosen[since].list_others(period)

    def find_first(self, period: str) -> Record | None:
        """Return the first record of a period with evidence, whether it counts or not."""
        return self._first.get(period)

    def find_steps(self, hashes: Sequence[str]) -> tuple[EvidenceStep, ...] | None:
        """Return the evidence of the records with these hashes; None if one is missing."""
        found = [self._steps.get(sha256) for sha256 in hashes]
        return None if None in found else tuple(step for step in found if step is not None)


def find_trend_evidence(records: Sequence[Record]) -> TrendEvidence | None:
    """Return the evidence over time of the records of one audit that count now; None if there is none."""
    counted = [record.evidence for record in list_counted(records) if record.evidence is not None]
    return build_trend_evidence(list_steps(records, counted[-1].since)) if counted else None
