"""Sentences on sealed forecasts, for reports, records and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    conjugate,
    format_count,
    format_counted,
    format_time,
    join_some,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.seal_records import ForecastSeal, SealCheck

#: What a report says of forecasts that were not sealed, if rows have a key by which they could be.
NOT_SEALED = "These forecasts were not sealed before outcomes were known."
#: How changes since the seal begin that concern limits, and those that concern how forecasts are evaluated.
_OF_LIMITS = ("`limits",)
_OF_EVALUATION = ("`evaluation", "The analysis plan ")
#: Most changes that a sentence names; further ones are counted.
_MOST_NAMED = 3


def describe_seal_check(check: SealCheck) -> str:
    """State when the forecasts of a period were sealed, whether outcomes were known, and what became of them.

    >>> from scorereport.history.trend.seal_records import SealCheck
    >>> at = "2026-07-01T08:00:00+00:00"
    >>> counts = {"sealed": 9, "unchanged": 9, "changed": 0, "missing": 0, "late": 0}
    >>> describe_seal_check(SealCheck(seals=("",), first=at, last=at, **counts))
    'Sealed on 2026-07-01 08:00 UTC, before outcomes were known: all 9 sealed forecasts are unchanged.'
    """
    return f"{_describe_time(check)}: {_describe_counts(check)}."


def _describe_time(check: SealCheck) -> str:
    first, last = format_time(check.first), format_time(check.last)
    when = f"on {first}" if first == last else f"from {first} to {last}"
    late, known = _describe_after_audit(check), _describe_outcomes(check)
    if not late and not known:
        return f"Sealed {when}, before outcomes were known"
    doubts = " and ".join(filter(None, [late, known]))
    end = "so not before outcomes were known" if known else "so outcomes may have been known"
    return f"Sealed {when}, {doubts}, {end}"


def _describe_after_audit(check: SealCheck) -> str:
    """Describe how many rows were sealed after an audit of the period; "" if none were."""
    if not check.after_audit:
        return ""
    rows = f"{format_count(check.after_audit)} of {format_counted(check.sealed, 'row')} "
    return f"{rows if check.after_audit < check.sealed else ''}after an audit had evaluated the period"


def _describe_outcomes(check: SealCheck) -> str:
    """Describe how many outcomes were known at the seal; "" if none were."""
    if not check.outcomes:
        return ""
    known = f"{format_count(check.outcomes)} of {format_counted(check.sealed, 'outcome')}"
    return f"when {known} {'was' if check.outcomes == 1 else 'were'} in the source already"


def _describe_counts(check: SealCheck) -> str:
    sealed = format_counted(check.sealed, "sealed forecast")
    late = (
        f", and {format_counted(check.late, 'row')} {conjugate(check.late, 'are')} late" if check.late else ""
    )
    if check.unchanged == check.sealed:
        which = f"the {sealed} is" if check.sealed == 1 else f"all {sealed} are"
        return f"{which} unchanged{late}"
    parts = {"unchanged": check.unchanged, "changed": check.changed, "missing": check.missing}
    named = join_words([f"{format_count(n)} {conjugate(n, 'are')} {what}" for what, n in parts.items() if n])
    return f"of {sealed}, {named}{late}"


def describe_broken(check: SealCheck) -> Iterator[str]:
    """Yield what is not as it was sealed, in sentences."""
    if check.changed or check.missing:
        broken = {"changed": check.changed, "missing": check.missing}
        named = join_words(
            [f"{format_count(n)} {conjugate(n, 'are')} {what}" for what, n in broken.items() if n]
        )
        sealed = format_counted(check.sealed, "sealed row")
        yield f"The audit did not evaluate exactly the sealed forecasts: of {sealed}, {named}."
    if check.unsealed:
        names = join_words(list(check.unsealed))
        yield f"The forecasts of {names} were evaluated, but not sealed before outcomes were known."


def describe_unproven(check: SealCheck) -> Iterator[str]:
    """Yield sentences on rows that were not sealed, or not before outcomes, and on annulled seals."""
    if check.outcomes:
        was, whose = ("was", "its outcome was") if check.outcomes == 1 else ("were", "their outcomes were")
        yield f"{format_counted(check.outcomes, 'row')} {was} sealed when {whose} in the source already."
    if check.after_audit:
        sealed = format_counted(check.after_audit, "row")
        was = "was" if check.after_audit == 1 else "were"
        yield f"{sealed} {was} sealed after an audit had evaluated the period: outcomes may have been known."
    for seal in check.annulled:
        rows, time = format_counted(seal.rows, "row"), format_time(seal.time)
        reason = seal.reason.removesuffix(".")
        yield f"Record {seal.record}, which sealed {rows} on {time}, was annulled: {reason}."
    if check.late:
        yield (
            f"{format_counted(check.late, 'row')} of the period {conjugate(check.late, 'are')} late: "
            f"{'it was' if check.late == 1 else 'they were'} not sealed before outcomes were known."
        )


def describe_changed_limits(check: SealCheck) -> str:
    """State which limits were changed after the forecasts were sealed; "" if none were."""
    return _describe_changed(check, _OF_LIMITS)


def describe_changed_evaluation(check: SealCheck) -> str:
    """State what else was changed after the seal that results depend on: settings, and the analysis plan."""
    return _describe_changed(check, _OF_EVALUATION)


def _describe_changed(check: SealCheck, beginnings: tuple[str, ...]) -> str:
    found = [change for change in check.changes if change.startswith(beginnings)]
    clauses = [change.replace("`", "").replace("The ", "the ", 1).removesuffix(".") for change in found]
    return f"After the forecasts were sealed, {join_some(clauses, _MOST_NAMED)}." if clauses else ""


def describe_seal(seal: ForecastSeal) -> Iterator[str]:
    """Yield a seal as lines of text: its rows, its outcomes, its columns and its hashes."""
    columns, keys = join_words(list(seal.forecasts)), join_words(list(seal.keys))
    yield f"Seals the forecasts {columns} of {format_counted(seal.rows, 'row')}, by {keys}"
    yield describe_known(seal)
    if seal.plan:
        yield f"Analysis plan {seal.plan}: SHA-256 {seal.plan_sha256}"
    yield f"Merkle root {seal.merkle_root}"


def describe_known(seal: ForecastSeal) -> str:
    """State how many outcomes were known when rows were sealed."""
    if seal.outcomes is None:
        return "The source had no column of outcomes."
    if not seal.outcomes:
        return f"None of {format_counted(seal.rows, 'outcome')} was in the source."
    known = f"{format_count(seal.outcomes)} of {format_counted(seal.rows, 'outcome')}"
    return f"{known} {'was' if seal.outcomes == 1 else 'were'} in the source already."


def describe_record_seal(record: Record) -> Iterator[str]:
    """Yield what a record says about sealed forecasts: of a seal, or of an audit."""
    if record.seal is not None:
        yield from describe_seal(record.seal)
    if record.seal_check is not None:
        yield describe_seal_check(record.seal_check)
        yield from describe_broken(record.seal_check)
        yield from describe_unproven(record.seal_check)
        yield from (f"Since the seal: {change}" for change in record.seal_check.changes)
