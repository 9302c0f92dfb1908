"""Agreement of a record with the results document that the history keeps with it.

Values that stand in both are equal by construction. Values that follow from the document are computed again:
verdicts from numbers and limits, the status from verdicts, certificate and drift, the numbers of the snapshot
from those of the evaluation. Numbers are compared to a stated precision, because another machine may verify
them. If another version of the software wrote the record, its rules may have been different, and a value that
does not follow is a note.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from math import isclose, isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from scorereport.audit.absent_evidence import check_absence
from scorereport.audit.record_rules import CLOCK_SKEW, find_status, read_run_times
from scorereport.configuration import Configuration, parse_configuration
from scorereport.configuration.periods import Period
from scorereport.errors import DataError, UsageError
from scorereport.history.audit_record import Record
from scorereport.history.trend.drift_records import Distribution, Number, Snapshot
from scorereport.history.trend.evidence_records import GroupShares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.configuration.limits_table import LimitsTable
    from scorereport.history.trend.drift_records import Trend
    from scorereport.history.trend.evidence_records import Evidence, EvidenceSeries
    from scorereport.report.report_record import ConfigurationSource, Report

#: Relative and absolute tolerance within which numbers of different processors count as equal.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
#: The relative tolerance for a number that is computed in two ways.
_ROUNDED_TOLERANCE = 1e-6
#: The bytes before and after the evaluation in a document, which states the hash of the part between them.
_BEFORE_EVALUATION = b'{"version":1,"evaluation":'
_AFTER_EVALUATION = b',"provenance":{"time":'


#: The fields of a snapshot that later documents show, without those that are records themselves.
_take_shown = attrgetter(
    *(
        one.name
        for one in fields(Snapshot)
        if one.name not in ("period", "numbers", "distributions", "groups")
    )
)
_take_period, _take_number, _take_distribution, _take_shares = (
    attrgetter(*(one.name for one in fields(kind))) for kind in (Period, Number, Distribution, GroupShares)
)


@dataclass(slots=True)
class Agreement:
    """Ends of sentences about a record: what is wrong, and what this version cannot confirm."""

    wrong: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRecords:
    """The records of an audit before one of them.

    `records` are all of the audit, `described` are their snapshots, by `describe_snapshot`, with the number
    of the first record that has each.
    """

    number: int
    records: Sequence[Record]
    described: Mapping[bytes, int]

    def has_snapshot(self, snapshot: Snapshot) -> bool:
        """Whether an earlier record has a snapshot as later documents show it."""
        return self.described.get(describe_snapshot(snapshot), self.number) < self.number

    def list_records(self) -> list[Record]:
        """List the records."""
        return [record for record in self.records if record.id < self.number]


def check_agreement(record: Record, content: bytes, earlier: EarlierRecords | None) -> Agreement:
    """Compare a record with its results document; `earlier` is None if records are missing."""
    found = Agreement()
    try:
        report = read_results(content)
    except DataError as error:
        found.wrong.append(f"has a results document that cannot be read: {error}")
        return found
    if report.trend is None or not report.trend.snapshots:
        found.wrong.append("has a results document that is not one of an audit")
        return found
    if different := list(_list_differences(record, report, report.trend)):
        found.wrong.append(f"does not agree with its results document: {', '.join(different)}")
    found.wrong += [
        *_check_hashes(report, content),
        *_check_scores(report),
        *_check_time(record, report, report.trend),
        *_check_past(report.trend, earlier),
        *_check_snapshot(record, report),
        *_check_evidence(record, report.trend),
    ]
    try:
        configuration = _read_configuration(report.configuration_source)
    except UsageError as error:
        found.unconfirmed.append(f"has limits that this version cannot read: {error}")
        return found
    _check_verdicts(record, report, configuration.limits, found)
    if earlier is not None and wrote_record(record):
        found.wrong += check_absence(record, report.trend, configuration.audit, earlier.list_records)
    return found


def read_results(content: bytes) -> Report:
    """Read the report from a results document."""
    from scorereport._utils.json_documents import load
    from scorereport.report.report_record import Report

    return load(Report, content, "It")


def describe_snapshot(snapshot: Snapshot) -> bytes:
    """Describe a snapshot as documents of later audits show it; equal descriptions mean equal numbers."""
    numbers = [_take_number(number) for number in snapshot.numbers]
    return _pack((*_take_shown(snapshot), _take_period(snapshot.period), numbers))


def _describe_whole(snapshot: Snapshot | None) -> bytes:
    """Describe all of a snapshot."""
    if snapshot is None:
        return b""
    shares = [_take_shares(shares) for shares in snapshot.groups]
    hidden = ([_take_distribution(one) for one in snapshot.distributions], shares)
    return describe_snapshot(snapshot) + _pack(hidden)


def _pack(values: tuple[Any, ...]) -> bytes:
    """Return the bytes of plain values to the last bit: NaN is equal to itself, and 0 differs from 0.0."""
    return marshal.dumps(values, 2)  # later formats depend on which values are the same object


def _list_differences(record: Record, report: Report, trend: Trend) -> Iterator[str]:
    """List the fields that differ between record and document, with both values if they are short."""
    data, source, provenance = report.evaluation.data, report.configuration_source, report.provenance
    for name, theirs in {
        "audit": trend.audit,
        "period": trend.period,
        "as_of": trend.as_of,
        "status": find_status(report),
        "source": data.source,
        "rows": data.row_flow.kept,
        "data_sha256": data.sha256,
        "source_sha256": data.file_sha256,
        "configuration": source.name,
        "configuration_sha256": hashlib.sha256(source.text.encode()).hexdigest(),
        "templates_sha256": provenance.templates_sha256,
        "certificate": "" if report.certificate is None else report.certificate.verdict,
        "machine": provenance.machine,
        "software": provenance.software,
    }.items():
        ours = getattr(record, name)
        if ours != theirs:
            yield f"`{name}` ({_format_short(ours)}, not {_format_short(theirs)})"
    for name, theirs in {"judgements": report.judgements, "drifts": trend.drifts}.items():
        if repr(getattr(record, name)) != repr(theirs):  # NaN is not equal to itself
            yield f"`{name}`"
    if _describe_whole(record.snapshot) != _describe_whole(trend.snapshots[-1]):
        yield "`snapshot`"
    if record.seal_check != trend.seal_check:
        yield "`seal_check`"


def _format_short(value: Any) -> str:
    if isinstance(value, Period):
        return f"{value.label}, {value.describe()}"
    return f"{value!s:.80}" or "nothing"


def _check_hashes(report: Report, content: bytes) -> Iterator[str]:
    """Check the hash of the evaluation that the document and its certificate state."""
    stated = report.results_sha256
    if _hash_part(content) != stated and report.evaluation.sha256 != stated:
        yield "has a results document whose numbers do not have the hash that it states"
    if report.certificate is not None and report.certificate.results_sha256 != stated:
        yield "has a certificate of other results"


def _hash_part(content: bytes) -> str:
    """Return the hash of the evaluation as written in a document: much faster than writing it again."""
    if not content.startswith(_BEFORE_EVALUATION):
        return ""
    end = content.rfind(_AFTER_EVALUATION)
    found = hashlib.sha256(memoryview(content)[len(_BEFORE_EVALUATION) : end])
    found.update(b"\n")
    return found.hexdigest()


def _check_scores(report: Report) -> Iterator[str]:
    """Check that a score is the same in the list of scores, its interval and its decomposition."""
    different = [
        f"{result.scores.model} {score.name}"
        for result in report.evaluation.results
        for score in result.scores.scores
        if not all(
            _is_close(score.value, other, relative=_ROUNDED_TOLERANCE)
            for other in (
                *([] if score.interval is None else [score.interval.value]),
                *(part.score for part in result.scores.decompositions if part.name == score.name),
            )
        )
    ]
    if different:
        yield f"has a results document with several values for one score: {', '.join(different)}"


def _check_time(record: Record, report: Report, trend: Trend) -> Iterator[str]:
    """Check that the report was written between start and end of its run; its snapshot has the start time."""
    times = read_run_times(record)
    if times is None:
        return
    if trend.snapshots[-1].time != record.started:
        yield f"started at {record.started}, but its results are of {_format_short(trend.snapshots[-1].time)}"
    try:
        moment = datetime.fromisoformat(report.provenance.time)
        is_inside = times[0] - CLOCK_SKEW <= moment <= times[1] + CLOCK_SKEW
    except (ValueError, TypeError):
        is_inside = False
    if not is_inside:
        yield (
            f"ran from {record.started} to {record.finished}, but its results were written at "
            f"{_format_short(report.provenance.time)}"
        )


def _check_past(trend: Trend, earlier: EarlierRecords | None) -> Iterator[str]:
    for snapshot in trend.snapshots[:-1]:
        if earlier is not None and not earlier.has_snapshot(snapshot):
            yield (
                f"compares with an audit of {snapshot.period.label} that is in no earlier record of "
                f"{_format_short(trend.audit)}"
            )


def _check_evidence(record: Record, trend: Trend) -> Iterator[str]:
    """Check that the evidence that the document shows is that of the record."""
    shown = {} if trend.evidence is None else {_name_series(one): one for one in trend.evidence.series}
    recorded = () if record.evidence is None else record.evidence.evidence
    for each in recorded:
        one = shown.get(_name_series(each))
        if each.hypothesis == "difference":
            continue
        last = None if one is None or not one.points else one.points[-1]
        if last is None or (last.log_product, last.log_detector) != (each.log_product, each.log_detector):
            yield f"has other evidence about {each.model} than its results document"
            return


def _name_series(one: EvidenceSeries | Evidence) -> tuple[str, str, str, float, bool]:
    return one.model, one.hypothesis, one.measure, one.bound, one.is_upper


def _check_snapshot(record: Record, report: Report) -> Iterator[str]:
    """Check that the snapshot has the numbers of the evaluation."""
    from scorereport.history.trend.snapshot import list_numbers

    if record.snapshot is None:
        return
    evaluation, snapshot = report.evaluation, record.snapshot
    labels = () if evaluation.data.classes is None else evaluation.data.classes.labels
    expected = {
        "rows": evaluation.data.sample.rows,
        "level": evaluation.settings.level,
        "main_score": evaluation.main_score,
        "labels": labels,
        "clusters": evaluation.data.clusters,
        "immature": evaluation.data.row_flow.immature_rows,
        "configuration": record.configuration_sha256,
    }
    different = [name for name, value in expected.items() if getattr(snapshot, name) != value]
    computed = list(list_numbers(evaluation))
    if not _is_same_numbers(snapshot.numbers, computed, is_same_version=wrote_record(record)):
        different.append("numbers")
    if different:
        names = ", ".join(f"`{name}`" for name in different)
        yield f"has a snapshot that does not match its results: {names}"


def _is_same_numbers(ours: Sequence[Number], theirs: Sequence[Number], *, is_same_version: bool) -> bool:
    """Whether two lists have the same numbers; for another version, the values of measures that both have."""
    found = {(number.model, number.measure): number for number in theirs}
    pairs = [(number, found.get((number.model, number.measure))) for number in ours]
    if not is_same_version:
        return all(other is None or _is_close(number.value, other.value) for number, other in pairs)
    names = ("value", "corrected", "lower", "upper", "standard_error", "overfit", "overfit_closed")
    return len(ours) == len(theirs) and all(
        other is not None and all(_is_close(getattr(number, name), getattr(other, name)) for name in names)
        for number, other in pairs
    )


def _check_verdicts(record: Record, report: Report, limits: LimitsTable, found: Agreement) -> None:
    """Check that the verdicts follow from the numbers and the limits."""
    from scorereport.configuration.judgement import judge

    try:
        expected = judge(report.evaluation, limits)
    except UsageError as error:
        found.unconfirmed.append(f"has limits that this version cannot read: {error}")
        return
    is_same_version = wrote_record(record)
    if len(expected) == len(report.judgements) and all(
        _is_equal(one, other, is_same_version=is_same_version)
        for one, other in zip(expected, report.judgements, strict=True)
    ):
        return
    if is_same_version:
        found.wrong.append("has verdicts that do not follow from its numbers and limits")
    else:
        written_by = record.software.get("scorereport", "an unknown version")
        found.unconfirmed.append(
            f"has verdicts that this version of scorereport would not give; it was written by {written_by}"
        )


@lru_cache(maxsize=8)
def _read_configuration(source: ConfigurationSource) -> Configuration:
    """Read a configuration once: it is that of many audits."""
    return parse_configuration(source.text, source.name) if source.text else Configuration()


def _is_equal(one: Judgement, other: Judgement, *, is_same_version: bool) -> bool:
    """Whether two judgements agree; version 0.1 stated the raw components, whose intervals it judged."""
    same = ("model", "group", "measure", "verdict", "warn_lower", "warn_upper", "fail_lower", "fail_upper")
    is_raw = not is_same_version and one.label != other.label
    near = ("lower", "upper", "level") if is_raw else ("value", "lower", "upper", "level")
    return all(getattr(one, name) == getattr(other, name) for name in same) and all(
        _is_close(getattr(one, name), getattr(other, name)) for name in near
    )


def _is_close(one: float, other: float, relative: float = _RELATIVE) -> bool:
    both_undefined = isnan(one) and isnan(other)
    return both_undefined or isclose(one, other, rel_tol=relative, abs_tol=_ABSOLUTE)


def wrote_record(record: Record) -> bool:
    """Whether this version of the software wrote a record."""
    return record.software.get("scorereport", "") == _find_version()


@cache
def _find_version() -> str:
    try:
        return version("scorereport")
    except PackageNotFoundError:  # run from a folder, not installed
        return ""
