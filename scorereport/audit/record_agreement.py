"""Agreement of a record with the results document that the history keeps with it.

What stands in both is equal by construction. What follows from the document is computed again: verdicts from
numbers and limits, the status from verdicts, certificate and drift, the numbers of the snapshot from those of
the evaluation. Numbers are compared to stated digits, for another machine may verify; where another version
of the software made the record, rules may have been others, and what does not follow is a note.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import isclose, isnan
from typing import TYPE_CHECKING, Any

from scorereport.audit.record_rules import CLOCK_SKEW, find_status, read_run_times
from scorereport.configuration.periods import Period
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.drift_records import Number, Snapshot, Trend
    from scorereport.report.report_record import Report

#: Numbers that agree to these digits are the same, whatever processor computed them.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
#: The same number computed in two ways agrees to fewer.
_ROUNDED_TOLERANCE = 1e-6
#: Where the part of a document ends whose hash it states.
_AFTER_EVALUATION = b',"provenance":{"time":'
_BEFORE_EVALUATION = b'{"version":1,"evaluation":'


@dataclass(slots=True)
class Agreement:
    """Ends of sentences about a record: what is wrong, and what this version cannot confirm."""

    wrong: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)


def check_agreement(record: Record, content: bytes, known: Collection[str] | None) -> Agreement:
    """Compare a record with its results document.

    `known` are descriptions, by `describe_past`, of the snapshots of its audit in records before it; None if
    records are missing.
    """
    found = Agreement()
    try:
        report = read_results(content)
    except DataError as error:
        found.wrong.append(f"has a results document that cannot be read: {error}")
        return found
    if report.trend is None or not report.trend.snapshots:
        found.wrong.append("has a results document that is not one of an audit")
        return found
    if unlike := list(_list_differences(record, report, report.trend)):
        found.wrong.append(f"does not agree with its results document: {', '.join(unlike)}")
    found.wrong += [
        *_check_hashes(report, content),
        *_check_scores(report),
        *_check_time(record, report, report.trend),
        *_check_past(report.trend, known),
        *_check_snapshot(record, report),
    ]
    _check_verdicts(record, report, found)
    return found


def read_results(content: bytes) -> Report:
    """The report whose document this is."""
    from scorereport._utils.json_documents import load
    from scorereport.report.report_record import Report

    return load(Report, content, "It")


def describe_snapshot(snapshot: Snapshot) -> str:
    """A snapshot as documents of later audits show it: equal texts are of equal numbers."""
    return repr(replace(snapshot, distributions=()))


def _list_differences(record: Record, report: Report, trend: Trend) -> Iterator[str]:
    """What record and document say differently, with both values where they are short."""
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
    for name, theirs in {
        "judgements": report.judgements,
        "drifts": trend.drifts,
        "snapshot": trend.snapshots[-1],
    }.items():
        if repr(getattr(record, name)) != repr(theirs):  # NaN is not equal to itself
            yield f"`{name}`"


def _format_short(value: Any) -> str:
    if isinstance(value, Period):
        return f"{value.label}, {value.describe()}"
    return f"{value!s:.80}" or "nothing"


def _check_hashes(report: Report, content: bytes) -> Iterator[str]:
    """The hash of the evaluation that the document and its certificate state."""
    stated = report.results_sha256
    if _hash_part(content) != stated and report.evaluation.sha256 != stated:
        yield "has a results document whose numbers do not have the hash that it states"
    if report.certificate is not None and report.certificate.results_sha256 != stated:
        yield "has a certificate of other results"


def _hash_part(content: bytes) -> str:
    """The hash of the evaluation as it is written in a document: much faster than writing it again."""
    if not content.startswith(_BEFORE_EVALUATION):
        return ""
    part = content[len(_BEFORE_EVALUATION) : content.rfind(_AFTER_EVALUATION)]
    return hashlib.sha256(part + b"\n").hexdigest()


def _check_scores(report: Report) -> Iterator[str]:
    """A score stands in its list, in its interval and in its decomposition."""
    unlike = [
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
    if unlike:
        yield f"has a results document with several values for one score: {', '.join(unlike)}"


def _check_time(record: Record, report: Report, trend: Trend) -> Iterator[str]:
    """A report is made between start and end of its run, and its snapshot has the time of the start."""
    times = read_run_times(record)
    if times is None:
        return
    if trend.snapshots[-1].time != record.started:
        yield f"started at {record.started}, and its results are of {_format_short(trend.snapshots[-1].time)}"
    try:
        moment = datetime.fromisoformat(report.provenance.time)
        is_inside = times[0] - CLOCK_SKEW <= moment <= times[1] + CLOCK_SKEW
    except (ValueError, TypeError):
        is_inside = False
    if not is_inside:
        yield (
            f"ran from {record.started} to {record.finished}, and its results were made at "
            f"{_format_short(report.provenance.time)}"
        )


def _check_past(trend: Trend, known: Collection[str] | None) -> Iterator[str]:
    for snapshot in trend.snapshots[:-1]:
        if known is not None and describe_snapshot(snapshot) not in known:
            yield (
                f"compares with an audit of {snapshot.period.label} that no record of {_format_short(trend.audit)} "
                "before it has"
            )


def _check_snapshot(record: Record, report: Report) -> Iterator[str]:
    """The snapshot has the numbers of the evaluation."""
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
        "configuration": record.configuration_sha256,
    }
    unlike = [name for name, value in expected.items() if getattr(snapshot, name) != value]
    retaken = list(list_numbers(evaluation))
    if not _is_same_numbers(snapshot.numbers, retaken, is_same_version=_is_same_version(record)):
        unlike.append("numbers")
    if unlike:
        yield f"has a snapshot that is not of its results: {', '.join(f'`{name}`' for name in unlike)}"


def _is_same_numbers(ours: Sequence[Number], theirs: Sequence[Number], *, is_same_version: bool) -> bool:
    """Whether two lists have the same numbers; of another version, the values of those that both know."""
    found = {(number.model, number.measure): number for number in theirs}
    pairs = [(number, found.get((number.model, number.measure))) for number in ours]
    if not is_same_version:
        return all(other is None or _is_close(number.value, other.value) for number, other in pairs)
    names = ("value", "corrected", "lower", "upper", "standard_error", "overfit", "overfit_closed")
    return len(ours) == len(theirs) and all(
        other is not None and all(_is_close(getattr(number, name), getattr(other, name)) for name in names)
        for number, other in pairs
    )


def _check_verdicts(record: Record, report: Report, found: Agreement) -> None:
    """The verdicts follow from the numbers and the limits."""
    from scorereport.configuration.judgement import judge

    try:
        expected = judge(report.evaluation, report.configuration.limits)
    except UsageError as error:
        found.unconfirmed.append(f"has limits that this version cannot read: {error}")
        return
    if len(expected) == len(report.judgements) and all(map(_is_equal, expected, report.judgements)):
        return
    if _is_same_version(record):
        found.wrong.append("has verdicts that do not follow from its numbers and limits")
    else:
        made_by = record.software.get("scorereport", "an unknown version")
        found.unconfirmed.append(
            f"has verdicts that this version of scorereport would not give; it was made by {made_by}"
        )


def _is_equal(one: Judgement, other: Judgement) -> bool:
    same = ("model", "group", "measure", "verdict", "warn_lower", "warn_upper", "fail_lower", "fail_upper")
    near = ("value", "lower", "upper", "level")
    return all(getattr(one, name) == getattr(other, name) for name in same) and all(
        _is_close(getattr(one, name), getattr(other, name)) for name in near
    )


def _is_close(one: float, other: float, relative: float = _RELATIVE) -> bool:
    both_undefined = isnan(one) and isnan(other)
    return both_undefined or isclose(one, other, rel_tol=relative, abs_tol=_ABSOLUTE)


def _is_same_version(record: Record) -> bool:
    return record.software.get("scorereport", "") == _find_version()


@cache
def _find_version() -> str:
    try:
        return version("scorereport")
    except PackageNotFoundError:  # run from a folder, not installed
        return ""
