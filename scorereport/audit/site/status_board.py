"""What the status board shows: the newest state of every audit and model, the worst first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.audit.site.audit_runs import Audit, Run, snapshot_of
from scorereport.audit.site.measure_series import Reading, Series, collect_series, direction_of
from scorereport.configuration.judging import Light, count_lights, worst
from scorereport.history.audit_record import Status
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.judging import Judgement

#: From worst to best: the order of the board.
_SEVERITY = (
    Status.FAILED,
    Status.FAIL,
    Status.UNCERTIFIED,
    Status.INCONCLUSIVE,
    Status.WARN,
    Status.DONE,
    Status.PASS,
)
#: Shown of a model that has no main score, and of the sample.
_OF_THE_SAMPLE = "prevalence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model in the newest audit that came to numbers; the model "" is the sample.

    `change` is against the audit before, NaN if there is none; `drifted` are labels of what differs from
    earlier audits by more than chance, None if nothing was tested.
    """

    model: str
    light: Light | None
    counts: dict[Light, int]
    series: Series | None
    reading: Reading | None
    change: float
    is_better: bool | None
    drifted: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An audit on the board: its newest run, the newest with numbers, and a row for each model."""

    audit: Audit
    newest: Run
    measured: Run | None
    rows: tuple[Row, ...]

    @property
    def is_old(self) -> bool:
        """Whether the numbers are not of the newest run."""
        return self.measured is not None and self.measured is not self.newest

    @property
    def is_in_breach(self) -> bool:
        """Whether a limit fails by the newest numbers there are."""
        if self.measured is None:
            return False
        record = self.measured.record
        return record.status is Status.FAIL or worst(record.judgements) is Light.FAIL

    @property
    def has_failed(self) -> bool:
        """Whether the newest run came to nothing."""
        return not self.newest.has_numbers


def make_board(audits: Sequence[Audit]) -> tuple[Entry, ...]:
    """All audits, the worst first, then by name."""
    entries = [_make_entry(audit) for audit in audits]
    return tuple(sorted(entries, key=lambda entry: (_severity(entry), entry.audit.name)))


def _severity(entry: Entry) -> int:
    """The worse of what the newest run and the newest numbers came to."""
    runs = [run for run in (entry.newest, entry.measured) if run is not None]
    return min(_SEVERITY.index(run.record.status) for run in runs)


def _make_entry(audit: Audit) -> Entry:
    measured = audit.measured[-1] if audit.measured else None
    return Entry(
        audit=audit,
        newest=audit.latest,
        measured=measured,
        rows=() if measured is None else _make_rows(measured, collect_series(audit.measured)),
    )


def _make_rows(run: Run, series: Sequence[Series]) -> tuple[Row, ...]:
    """Models in the order of the snapshot, then the sample if anything is known of it."""
    record = run.record
    named = [number.model for number in snapshot_of(run).numbers]
    judged, drifted = [j.model for j in record.judgements], [drift.model for drift in record.drifts]
    models = sorted(dict.fromkeys([*named, *judged, *drifted]), key=lambda model: model == "")
    return tuple(_make_row(run, model, series) for model in models)


def _make_row(run: Run, model: str, series: Sequence[Series]) -> Row:
    judgements: list[Judgement] = [j for j in run.record.judgements if j.model == model]
    measure = snapshot_of(run).main_score if model else _OF_THE_SAMPLE
    own = next((one for one in series if (one.measure, one.model) == (measure, model)), None)
    change = math.nan if own is None else _change_of(own)
    drifts = [drift for drift in run.record.drifts if drift.model == model]
    return Row(
        model=model,
        light=worst(judgements),
        counts=count_lights(judgements),
        series=own,
        reading=None if own is None else own.readings[-1],
        change=change,
        is_better=_is_better(measure, change),
        drifted=tuple(drift.label for drift in drifts if drift.has_drifted) if drifts else None,
    )


def _change_of(series: Series) -> float:
    """The newest number against the one before it; what two infinite ones come to is not defined."""
    if len(series.readings) < 2:
        return math.nan
    before, now = series.readings[-2:]
    return math.nan if before is None or now is None else now.value - before.value


def _is_better(measure: str, change: float) -> bool | None:
    direction = direction_of(measure)
    if direction is None or math.isnan(change) or change == 0:
        return None
    return (change < 0) == (direction is Direction.LOWER)
