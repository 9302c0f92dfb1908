"""Status board: the newest state of every audit and model, the worst first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.audit.site.audit_runs import AuditRuns, RecordedRun, get_snapshot
from scorereport.audit.site.measure_series import collect_runs, find_direction
from scorereport.configuration.limit_verdicts import LimitVerdict, count_limit_verdicts, find_worst_verdict
from scorereport.history.audit_record import AuditStatus
from scorereport.plots.trend_picture import MeasuredValue, MeasureSeries
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.limit_verdicts import Judgement

#: From worst to best: the order of the board.
SEVERITY = (
    AuditStatus.FAILED,
    AuditStatus.FAIL,
    AuditStatus.UNCERTIFIED,
    AuditStatus.INCONCLUSIVE,
    AuditStatus.WARN,
    AuditStatus.DONE,
    AuditStatus.PASS,
)
#: The measure that is shown for the sample.
_SAMPLE_MEASURE = "prevalence"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """A model in the newest audit with results; the model "" is the sample.

    `change` is relative to the previous audit, NaN if there is none; `drifted` are the labels of measures
    that differ from earlier audits by more than chance, None if nothing was tested.
    """

    model: str
    verdict: LimitVerdict | None
    counts: dict[LimitVerdict, int]
    series: MeasureSeries | None
    reading: MeasuredValue | None
    change: float
    is_better: bool | None
    drifted: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """An audit on the board: its newest run, its newest run with results, and a row for each model."""

    audit: AuditRuns
    newest: RecordedRun
    measured: RecordedRun | None
    rows: tuple[BoardRow, ...]

    @property
    def is_old(self) -> bool:
        """Whether the numbers are not those of the period that is due."""
        return self.measured is not None and (self.audit.is_missing or self.measured is not self.newest)

    @property
    def is_in_breach(self) -> bool:
        """Whether a limit is breached in the newest run with results."""
        if self.measured is None:
            return False
        record = self.measured.record
        return record.status is AuditStatus.FAIL or find_worst_verdict(record.judgements) is LimitVerdict.FAIL

    @property
    def has_failed(self) -> bool:
        """Whether the run of the due period has no results."""
        return not self.audit.is_missing and not self.newest.has_numbers and self.newest.annulment is None


def build_board(audits: Sequence[AuditRuns]) -> tuple[BoardEntry, ...]:
    """Build the entries of all audits, the worst first, then by name."""
    entries = [_build_entry(audit) for audit in audits]
    return tuple(sorted(entries, key=lambda entry: (_severity(entry), entry.audit.name)))


def _severity(entry: BoardEntry) -> int:
    """Return the worse rank of the newest run and the newest run with results; 0 is the worst."""
    runs = [run for run in (entry.newest, entry.measured) if run is not None and run.annulment is None]
    missing = [SEVERITY.index(AuditStatus.INCONCLUSIVE)] if entry.audit.is_missing else []
    return min([*missing, *(SEVERITY.index(run.record.status) for run in runs)], default=len(SEVERITY))


def _build_entry(audit: AuditRuns) -> BoardEntry:
    measured = audit.measured[-1] if audit.measured else None
    return BoardEntry(
        audit=audit,
        newest=audit.latest,
        measured=measured,
        rows=() if measured is None else _build_rows(measured, collect_runs(audit.measured)),
    )


def _build_rows(run: RecordedRun, series: Sequence[MeasureSeries]) -> tuple[BoardRow, ...]:
    """Build rows for the models in the order of the snapshot, then for the sample if it has numbers."""
    record = run.record
    named = [number.model for number in get_snapshot(run).numbers]
    judged, drifted = [j.model for j in record.judgements], [drift.model for drift in record.drifts]
    models = sorted(dict.fromkeys([*named, *judged, *drifted]), key=lambda model: model == "")
    return tuple(_build_row(run, model, series) for model in models)


def _build_row(run: RecordedRun, model: str, series: Sequence[MeasureSeries]) -> BoardRow:
    judgements: list[Judgement] = [j for j in run.record.judgements if j.model == model]
    measure = get_snapshot(run).main_score if model else _SAMPLE_MEASURE
    own = next((one for one in series if (one.measure, one.model) == (measure, model)), None)
    change = math.nan if own is None else _find_change(own)
    drifts = [drift for drift in run.record.drifts if drift.model == model]
    return BoardRow(
        model=model,
        verdict=find_worst_verdict(judgements),
        counts=count_limit_verdicts(judgements),
        series=own,
        reading=None if own is None else own.readings[-1],
        change=change,
        is_better=_is_better(measure, change),
        drifted=tuple(drift.label for drift in drifts if drift.has_drifted) if drifts else None,
    )


def _find_change(series: MeasureSeries) -> float:
    """Return the newest number minus the previous one; NaN if it is not defined, as for two infinite ones."""
    if len(series.readings) < 2:
        return math.nan
    before, now = series.readings[-2:]
    return math.nan if before is None or now is None else now.value - before.value


def _is_better(measure: str, change: float) -> bool | None:
    direction = find_direction(measure)
    if direction is None or math.isnan(change) or change == 0:
        return None
    return (change < 0) == (direction is Direction.LOWER)
