"""An audit and its models in strings and links, as the board and the page of the audit show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import counted, format_time
from scorereport.audit.site.looks import describe_counts, describe_light, describe_status, tell_status
from scorereport.audit.site.measure_series import describe_direction, writer_of
from scorereport.audit.site.names import link_to
from scorereport.audit.site.site_files import State
from scorereport.audit.site.trend_charts import make_sparkline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.site.audit_runs import Run
    from scorereport.audit.site.measure_series import Series
    from scorereport.audit.site.site_files import Copy
    from scorereport.audit.site.status_board import Entry, Row

#: What a page calls the sample, which is no model.
SAMPLE = "all rows"
_FORMS = ("html", "pdf", "json")


def describe_entry(entry: Entry, copies: Mapping[int, Sequence[Copy]], *, above: int = 0) -> dict[str, Any]:
    """An audit for a page so many folders below the top of the site."""
    shown = entry.measured or entry.newest
    main = next((row.series for row in entry.rows if row.series is not None and row.model), None)
    return {
        "id": f"audit-{entry.audit.key}",
        "name": entry.audit.name,
        "href": link_to(entry.audit.address, above=above),
        "status": describe_status(entry.newest.record.status),
        "sentence": tell_status(entry.newest.record.status),
        "failure": _describe_failure(entry.newest) if entry.has_failed else None,
        "is_old": entry.is_old,
        "has_numbers": entry.measured is not None,
        "numbers_status": describe_status(shown.record.status),
        "period": shown.period,
        "ran": format_time(shown.record.finished),
        "rows": counted(shown.record.rows, "row"),
        "score": "" if main is None else main.label,
        "direction": "" if main is None else describe_direction(main.measure),
        "reports": describe_copies(copies[shown.record.id], above=above),
        "models": [_describe_row(entry, row) for row in entry.rows],
    }


def _describe_failure(run: Run) -> dict[str, str]:
    return {
        "ran": format_time(run.record.finished),
        "period": run.period,
        "reason": run.record.reason or "No reason was recorded.",
    }


def _describe_row(entry: Entry, row: Row) -> dict[str, Any]:
    return {
        "model": row.model or SAMPLE,
        "is_sample": not row.model,
        "verdict": describe_light(row.light),
        "limits": describe_counts(row.counts),
        "drift": _describe_drift(row),
        **_describe_score(entry, row),
    }


def _describe_drift(row: Row) -> dict[str, str]:
    if row.drifted is None:
        return {"tone": "", "text": "not tested"}
    return {"tone": "open", "text": ", ".join(row.drifted)} if row.drifted else {"tone": "", "text": "none"}


def _describe_score(entry: Entry, row: Row) -> dict[str, Any]:
    """The number of a row, how it changed, and its small line; empty if the model has none."""
    if row.series is None or row.reading is None:
        return {"value": "", "interval": "", "label": "", "change": "", "way": "", "spark": None}
    writer = writer_of(row.series.measure, row.series.known)
    way = {True: "better", False: "worse", None: ""}[row.is_better]
    days = [run.day for run in entry.audit.measured]
    return {
        "value": writer.number(row.reading.value),
        "interval": writer.interval(row.reading.lower, row.reading.upper),
        "label": row.series.label,
        "change": "" if math.isnan(row.change) else writer.change(row.change),
        "way": way,
        "spark": {"drawing": make_sparkline(row.series, days), "title": tell_series(row.series)},
    }


def tell_series(series: Series) -> str:
    """A series in a sentence, for those who do not see its line."""
    known = series.known
    writer = writer_of(series.measure, known)
    values = [reading.value for reading in known if not math.isnan(reading.value)]
    if not values:
        return f"{series.label} of {series.model or SAMPLE}: never defined."
    last, least, most = map(writer.number, (values[-1], min(values), max(values)))
    return (
        f"{series.label} of {series.model or SAMPLE} in {counted(len(values), 'audit')}: "
        f"{last} last, between {least} and {most}."
    )


def describe_copies(copies: Sequence[Copy], above: int) -> list[dict[str, str]]:
    """Links to the files of a report, or why there is none; web page, PDF and data in this order."""
    ordered = sorted(
        copies, key=lambda copy: (_FORMS.index(copy.kind) if copy.kind in _FORMS else 9, copy.target)
    )
    return [
        {
            "form": copy.kind.upper(),
            "href": link_to(copy.target, above=above) if copy.state is State.THERE else "",
            "note": "" if copy.state is State.THERE else copy.state.value,
        }
        for copy in ordered
    ]
