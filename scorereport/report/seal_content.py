"""Sealed forecasts in a report of an audit: a paragraph, a table of counts, and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count
from scorereport.history.seal_sentences import (
    NOT_SEALED,
    describe_broken,
    describe_changed_evaluation,
    describe_changed_limits,
    describe_seal_check,
    describe_unproven,
)
from scorereport.report.finding_records import Consequence, Finding
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.trend.seal_records import SealCheck
    from scorereport.report.report_record import Report

_ACTION = (
    "Find out why the forecasts are not those that were sealed, and do not rely on this audit until then."
)
_ACTION_ON_LIMITS = "Find out why limits were changed after the forecasts were sealed."
_MEANINGS = {
    "sealed": "hashed into a record of the history",
    "unchanged": "in the source with the sealed forecasts",
    "changed": "in the source with other forecasts",
    "missing": "no longer in the source",
    "late": "in the source, but not sealed",
}


def describe_seal_state(report: Report) -> str:
    """State whether the forecasts were sealed; "" if the report is not an audit whose rows have a key."""
    trend = report.trend
    if trend is None:
        return ""
    if trend.seal_check is not None:
        return describe_seal_check(trend.seal_check)
    return NOT_SEALED if report.configuration.audit.seal.key else ""


def describe_seal_reservation(report: Report) -> Iterator[str]:
    """State beside the verdict that it is of other forecasts than those that were sealed, if it is."""
    check = None if report.trend is None else report.trend.seal_check
    if check is not None and check.is_broken:
        yield "The verdict is not of exactly the sealed forecasts: see the findings."


def describe_seal_part(report: Report) -> dict[str, Any]:
    """Return what the template shows of the seal; nothing if forecasts could not be sealed."""
    state, trend = describe_seal_state(report), report.trend
    if not state:
        return {}
    check = None if trend is None else trend.seal_check
    return {"state": state, "changes": [] if check is None else list(check.changes)}


def seal_table(report: Report) -> Table | None:
    """Table of the sealed rows and what became of them; None if forecasts were not sealed."""
    check = None if report.trend is None else report.trend.seal_check
    if check is None:
        return None
    return Table(
        caption="Rows of the period, by what became of the sealed forecasts. The first seal of a row counts",
        heads=("rows", "meaning", "number"),
        rows=tuple((name, text, format_count(getattr(check, name))) for name, text in _MEANINGS.items()),
        n_labels=2,
    )


def find_seal_findings(report: Report) -> Iterator[Finding]:
    """State what is not as it was sealed, with what to do, and rows that were not sealed."""
    check: SealCheck | None = None if report.trend is None else report.trend.seal_check
    if check is None:
        return
    for text in describe_broken(check):
        yield Finding(text=text, see="seal", consequence=Consequence.ALARM, tone="bad", action=_ACTION)
    if text := describe_changed_limits(check):
        consequence = Consequence.CHANGED_LIMITS
        yield Finding(text=text, see="seal", consequence=consequence, tone="open", action=_ACTION_ON_LIMITS)
    for text in filter(None, (describe_changed_evaluation(check), *describe_unproven(check))):
        yield Finding(text=text, see="seal", consequence=Consequence.QUESTIONABLE_INPUT, tone="open")
