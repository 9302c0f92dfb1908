"""Tables of audits: the history, the numbers of one audit, and drift from earlier audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    MeasureFormat,
    common_decimals,
    conjugate,
    format_count,
    format_counted,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_plain,
    format_time,
    join_words,
)
from scorereport.configuration.limit_verdicts import LimitVerdict, count_limit_verdicts
from scorereport.history.seal_sentences import describe_record_seal
from scorereport.history.trend.drift_sentences import describe_drift_numbers
from scorereport.history.trend.evidence_sentences import describe_recorded
from scorereport.history.valid_records import find_annulled
from scorereport.plots.trend_picture import choose_format, label_number
from scorereport.report.tables.evidence_tables import order_evidence
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.drift_records import Drift, Number, Trend
    from scorereport.history.trend.evidence_records import SealedBaseline


#: Characters of a hash that suffice to distinguish records.
_SHORT_HASH = 12
_LONGEST_REASON = 60
#: The measures of a drift of distributions, and the decimals of their stability index.
_INDEXED, _INDEX_DECIMALS = ("forecasts", "groups"), 3


def history_table(records: Sequence[Record]) -> Table:
    """Table of all records: audit, period, run, status, limits, drift and hash."""
    annulled = find_annulled(records)
    heads = ("record", "audit", "period", "run", "status", "limits", "drift", "hash", "rows")
    return Table(
        caption="Audits, oldest first",
        heads=heads,
        rows=tuple(_list_audit(record, annulled.get(record.id)) for record in records),
        n_labels=len(heads) - 1,
    )


def _list_audit(record: Record, annulment: Record | None) -> tuple[str, ...]:
    return (
        str(record.id),
        record.audit,
        record.period.label if record.attempt == 1 else f"{record.period.label} ({record.attempt})",
        format_time(record.finished),
        describe_record_status(record, annulment),
        _count_limits(record),
        _count_changes(record),
        record.sha256[:_SHORT_HASH],
        format_count(rows) if (rows := _count_rows(record)) else "",
    )


def _count_rows(record: Record) -> int:
    if record.seal is not None:
        return record.seal.rows
    return record.rows if record.baseline is None else record.baseline.rows


def describe_record_status(record: Record, annulment: Record | None = None) -> str:
    """Return the status of a record; if it failed or is annulled, with the beginning of the reason."""
    if annulment is not None:
        return f"annulled: {_shorten(annulment.reason)}"
    if record.kind in _EVENTS:
        return _EVENTS[record.kind](record)
    return f"{record.status}: {_shorten(record.reason)}" if record.reason else str(record.status)


def _shorten(reason: str) -> str:
    return f"{reason[:_LONGEST_REASON]}{'…' if len(reason) > _LONGEST_REASON else ''}"


def _name_baseline(record: Record) -> str:
    return f"baseline sealed: {_shorten('' if record.baseline is None else record.baseline.source)}"


def _name_sealed_forecasts(record: Record) -> str:
    forecasts = () if record.seal is None else record.seal.forecasts
    return f"forecasts sealed: {_shorten(join_words(list(forecasts)))}"


#: The status of records that are not of runs, by their kind.
_EVENTS: dict[str, Callable[[Record], str]] = {
    "retention": lambda record: f"{format_counted(len(record.removed), 'file')} removed",
    "annulment": lambda record: f"annuls record {record.annuls}: {_shorten(record.reason)}",
    "baseline": _name_baseline,
    "seal": _name_sealed_forecasts,
    "approval": lambda record: f"limits approved: {_shorten(record.reason)}",
    "key": lambda record: f"key added: {_shorten(record.reason)}",
}


def _count_limits(record: Record) -> str:
    """Count the limits with each verdict that occurs."""
    return ", ".join(f"{n} {verdict}" for verdict, n in count_limit_verdicts(record.judgements).items() if n)


def _count_changes(record: Record) -> str:
    """Count the drifts and the alarms; empty if nothing was compared."""
    evidence = () if record.evidence is None else record.evidence.evidence
    if not (record.drifts or evidence):
        return ""
    return str(sum(d.has_drifted for d in record.drifts) + sum(found.is_alarm for found in evidence))


def number_table(record: Record) -> Table | None:
    """Table of the main numbers of an audit, with their intervals; None if it failed."""
    if record.snapshot is None:
        return None
    numbers = record.snapshot.numbers
    formats = _choose_formats((number.measure, number.value) for number in numbers)
    return Table(
        caption="Main numbers",
        heads=("model", "number", "value", "interval", "raw value"),
        rows=tuple(_list_number(number, formats[number.measure]) for number in numbers),
        n_labels=2,
    )


def _choose_formats(numbers: Iterable[tuple[str, float]]) -> dict[str, MeasureFormat]:
    """Choose one format for all numbers of a measure; forecasts are shares, as prevalence is."""
    values: dict[str, list[float]] = {}
    for measure, value in numbers:
        values.setdefault(measure, []).append(value)
    formats = {measure: choose_format(measure, listed) for measure, listed in values.items()}
    return formats | dict.fromkeys(_INDEXED, MeasureFormat(is_share=True, decimals=0))


def _list_number(number: Number, format_of: MeasureFormat) -> tuple[str, ...]:
    """Format a number with its interval and, if it is overfit-corrected, the raw value."""
    raw = "" if number.corrected == number.value else format_of.number(number.value)
    interval = format_of.interval(number.lower, number.upper)
    return number.model or "all", label_number(number), format_of.number(number.corrected), interval, raw


def record_drift_table(record: Record) -> Table | None:
    """Table of differences from earlier audits; None if there were none to compare with."""
    if not record.drifts:
        return None
    formats = _choose_formats((d.measure, value) for d in record.drifts for value in (d.value, d.reference))
    what = "Comparison with earlier audits" if record.evidence is None else "Population shift"
    return Table(
        caption=f"{what}; p-values are adjusted for all tests and for repeated audits",
        heads=("model", "number", "now", "before", "adjusted p"),
        rows=tuple(
            (
                drift.model or "all",
                _name_number(drift),
                formats[drift.measure].number(drift.value),
                formats[drift.measure].number(drift.reference),
                format_p_value(drift.p_value_adjusted),
            )
            for drift in record.drifts
        ),
        n_labels=2,
    )


def describe_audit_record(record: Record, annulment: Record | None = None) -> Iterator[str]:
    """Yield a record as lines of text: audit, status, data, judgements, drift and hashes.

    `annulment` is the record that annuls it, if there is one.
    """
    yield f"Record {record.id}: {record.audit}, period {record.period.label}, attempt {record.attempt}"
    yield f"Status: {record.status}, exit code {record.exit_code}. {record.reason}".rstrip()
    yield from _describe_annulment(record, annulment)
    yield f"As of {record.as_of}; run from {record.started} to {record.finished}"
    yield from _describe_event(record)
    yield from _describe_limit_changes(record)
    if record.source:
        yield f"Data: {record.source}, {format_count(_count_rows(record))} rows{_describe_immature(record)}"
    if record.certificate:
        yield f"R certificate: {record.current_certificate}"
    yield from describe_record_seal(record)
    for judgement in record.judgements:
        if judgement.verdict is not LimitVerdict.PASS:
            yield f"{judgement.verdict.capitalize()}. {judgement.sentence}"
    yield from _describe_evidence(record)
    name = "Drift" if record.evidence is None else "Population shift"
    for drift in record.drifts:
        if drift.has_drifted:
            yield f"{name}. {drift.sentence}"
    yield from _describe_hashes(record)


def _describe_event(record: Record) -> Iterator[str]:
    """Yield the contents of a record that is not of a run: a baseline, or a change of keys."""
    if record.baseline is not None:
        yield from describe_baseline(record.baseline)
    if record.key is not None:
        instead = f" in place of {record.key.replaces}" if record.key.replaces else ""
        yield f"Key added: {record.key.fingerprint}{instead}"


def _describe_evidence(record: Record) -> Iterator[str]:
    """Yield the evidence of a record in words: alarms first, then the rest from the strongest on."""
    if record.evidence is None:
        return
    for found in order_evidence(record.evidence.evidence):
        if found.hypothesis != "difference":
            yield describe_recorded(found)
    yield from record.evidence.notes


def _describe_limit_changes(record: Record) -> Iterator[str]:
    if record.approval is not None:
        yield f"Approves the limits with the SHA-256 {record.approval.limits_sha256}"
    before = "before" if record.approval is not None else "of the audit before"
    yield from (f"Limit changed against those {before}: {change.clause}" for change in record.limit_changes)


def _describe_annulment(record: Record, annulment: Record | None) -> Iterator[str]:
    if record.annuls is not None:
        yield f"Annuls record {record.annuls}"
    if annulment is not None:
        yield f"Annulled by record {annulment.id} on {format_time(annulment.finished)}: {annulment.reason}"


def _describe_immature(record: Record) -> str:
    """The rows that are too young for a final outcome, in words; empty if every age is accepted."""
    immature = None if record.snapshot is None else record.snapshot.immature
    if immature is None:
        return ""
    return f"; {format_counted(immature, 'immature row')} {conjugate(immature, 'are')} not evaluated"


def describe_baseline(sealed: SealedBaseline) -> Iterator[str]:
    """Yield a sealed baseline as lines of text: its definition, its outcomes and its models."""
    dependent = f", {format_count(round(sealed.size))} independent" if sealed.size < sealed.rows else ""
    yield f"Baseline: {sealed.source}, {format_count(sealed.rows)} rows{dependent}"
    if sealed.records:
        days = f"{sealed.start or 'the beginning'} up to, not including, {sealed.end}"
        yield f"From {days}; records {', '.join(sha256[:_SHORT_HASH] for sha256 in sealed.records)}"
    shares = dict(zip(sealed.labels, sealed.shares, strict=True)) if sealed.labels else {}
    listed = ", ".join(f"“{label}” {format_percent(share)}" for label, share in shares.items())
    yield f"Shares of the classes: {listed}" if listed else f"Prevalence: {format_percent(sealed.shares[0])}"
    models = join_words(list(dict.fromkeys(digest.model for digest in sealed.digests)))
    yield f"Calibration curves of {models}" if models else "No outcomes by forecast, so no calibration curve"


def _describe_hashes(record: Record) -> Iterator[str]:
    hashes = {
        "This record": record.sha256,
        "Record before": record.previous,
        "Key that signed this record": "" if record.signature is None else record.signature.fingerprint,
        "Data": record.data_sha256,
        "Source file": record.source_sha256,
        "Configuration": record.configuration_sha256,
        "Templates": record.templates_sha256,
        "Results": record.results_sha256,
        "Row hashes": "" if record.seal is None else record.seal.hashes_sha256,
        **{file.name: file.sha256 for file in record.files},
        **{f"{file.name} (removed)": file.sha256 for file in record.removed},
    }
    for name, sha256 in hashes.items():
        if sha256:
            yield f"SHA-256 {sha256}  {name}"


def measure_drift_table(trend: Trend, level: str) -> Table | None:
    """Table of scores, miscalibration and prevalence against earlier audits; None if nothing was compared."""
    measures = dict.fromkeys(drift.measure for drift in trend.drifts if drift.measure not in _INDEXED)
    drifts = [drift for measure in measures for drift in trend.drifts if drift.measure == measure]
    if not drifts:
        return None
    decimals = common_decimals([d.value for d in drifts if d.measure == trend.snapshots[-1].main_score])
    return Table(
        caption="Numbers of this audit against those of earlier audits pooled; differences with "
        f"{level} intervals. {_explain_p(trend)}{_find_caution(trend)}",
        heads=("number", "of", "now", "before", "difference", "interval", "p", "adjusted p", "verdict"),
        rows=tuple(
            (
                drift.label,
                drift.model or "all cases",
                *(
                    format_number(number, decimals)
                    for number in (drift.value, drift.reference, drift.difference)
                ),
                format_interval(drift.lower, drift.upper, decimals),
                *_verdict(drift),
            )
            for drift in drifts
        ),
        n_labels=2,
    )


def forecast_drift_table(trend: Trend, level: str) -> Table | None:
    """Table of the distribution of forecasts against earlier audits; None if nothing was compared."""
    drifts = [drift for drift in trend.drifts if drift.measure == "forecasts"]
    if not drifts:
        return None
    return Table(
        caption="Forecasts of this audit against those of earlier audits pooled: their means, and the "
        f"population stability index, with {level} intervals corrected for chance. {_explain_p(trend)}",
        heads=(
            *("number", "of", "mean now", "mean before", "stability index", "interval"),
            *("p", "adjusted p", "verdict"),
        ),
        rows=tuple(
            (
                drift.label,
                drift.model,
                format_percent(drift.value),
                format_percent(drift.reference),
                format_number(drift.difference, _INDEX_DECIMALS),
                format_interval(drift.lower, drift.upper, _INDEX_DECIMALS),
                *_verdict(drift),
            )
            for drift in drifts
        ),
        n_labels=2,
    )


def population_shift_table(trend: Trend, level: str) -> Table | None:
    """Table of prevalence, forecasts and groups against earlier audits; None if nothing was compared."""
    if not trend.drifts:
        return None
    return Table(
        caption="Population shift: shares of this audit against earlier ones. Differences of a prevalence "
        "are in percentage points; those of forecasts and groups are population stability indices; with "
        f"{level} intervals. {_explain_p(trend)}{_find_caution(trend)}",
        heads=("number", "of", "now", "before", "difference", "interval", "p", "adjusted p", "verdict"),
        rows=tuple(
            (
                _name_number(drift),
                drift.model or "all cases",
                *describe_drift_numbers(drift),
                *_verdict(drift),
            )
            for drift in trend.drifts
        ),
        n_labels=2,
    )


def _name_number(drift: Drift) -> str:
    return drift.label if drift.group is None else f"{drift.label}: {drift.group}"


def _explain_p(trend: Trend) -> str:
    return f"Changed: adjusted p is at most {format_plain(trend.alpha)}"


def _find_caution(trend: Trend) -> str:
    """Return the caution on tests against few audits, which one table states for all of them."""
    caution = next((drift.caution for drift in trend.drifts if drift.caution), "")
    return f". {caution}" if caution else ""


def _verdict(drift: Drift) -> Sequence[str]:
    """Return both p-values and the verdict."""
    verdict = "changed" if drift.has_drifted else "not tested" if drift.note else "may be chance"
    return format_p_value(drift.p_value), format_p_value(drift.p_value_adjusted), verdict
