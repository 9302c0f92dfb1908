"""Page docs/coverage.md: the recorded table as percentages, with the values of INTERVALS.md in brackets."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from scorereport._utils.rounding import exceeds
from scorereport.report.methods.measured_coverage import (
    SUMMARY_TITLES,
    MeasuredCoverage,
    format_nominal,
    format_range,
    format_sizes,
    format_worst,
)
from validation.coverage.audit_streams import DELAYS
from validation.coverage.changes import render_changes
from validation.coverage.delays import render_delays
from validation.coverage.explained import DISAGREEMENTS, REASONS, TEXTS
from validation.coverage.record import ERRORS_ALLOWED
from validation.coverage.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from validation.coverage.record import Row

_HEAD = """# Coverage study

How often [intervals](glossary.md#interval) and bands cover the true value or curve, and how often
[tests](glossary.md#test) reject a true hypothesis, in simulated data.

Last written {written}, seed {seed}, with {versions}.{unfinished}
"""
_READING = """## How to read the tables

`make coverage` runs the quick study, in minutes, and `python -m validation.coverage --full` the whole study,
in hours; both write this page and the same table as JSON, validation/recorded/coverage.json. `--only STUDY`
runs one study, `--merge FILE` merges its table into the recorded one, and `--render` writes this page again
from the recorded table.

Numbers are percentages, with their Monte-Carlo errors as ±. A number in [brackets] is the value of the design
document by which the methods were chosen, where it has one; a ✗ marks a difference of more than three
Monte-Carlo errors, among {compared} values compared. Below each table, a sentence explains every cell that is
more than {most} points from its nominal value. "Safe" means that an interval or band covers more often than
its level, or that a test rejects less often than its level.
"""
_SUMMARY_HEAD = """## What you can rely on

Each line summarises the cells of a method as reports use it, over all settings and sample sizes of the
studies below, in percent. "Measured" is the range over these cells, with their largest Monte-Carlo error.
The worst cell is that with the lowest coverage or with the most rejections; the worst of many cells is also
the one that chance has made worse. The annex of a report carries the lines of the methods that it uses, from
the same data: validation/recorded/coverage-summary.json.
"""
#: Points from the nominal value beyond which a cell needs a sentence.
_MOST = 3
NOT_EXPLAINED = "Not explained yet."
MAYBE_CHANCE = "Within three Monte-Carlo errors of the nominal value, which chance may explain."


def render_page(record: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Render a table for each study, sample sizes side by side, with a sentence for each cell that is off."""
    head = _HEAD.format(
        written=record["written"],
        seed=record["seed"],
        versions=", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        unfinished="" if record["is_complete"] else " It does not contain the whole study.",
    )
    reading = _READING.format(compared=sum(row.agrees is not None for row in rows), most=_MOST)
    studies = dict.fromkeys(row.study for row in rows)
    parts = [_render_study(study, TEXTS[study], [r for r in rows if r.study == study]) for study in studies]
    disagreements = _render_disagreements(rows, DISAGREEMENTS)
    return "\n".join([head, *_render_summary(rows), reading, *disagreements, *render_changes(rows), *parts])


def _render_summary(rows: Sequence[Row]) -> Iterable[str]:
    """Render a table of intervals and bands, and one of tests, with a line for each method and design."""
    lines = summarise(rows)
    yield _SUMMARY_HEAD
    for title, is_test in SUMMARY_TITLES.items():
        yield f"### {title}\n"
        table = [["method", "design", "nominal", "measured", "cells", "sizes", "worst cell"], ["---"] * 7]
        table += [_summary_cells(line) for line in lines if line.is_test == is_test]
        yield _join_lines(table)


def _summary_cells(line: MeasuredCoverage) -> list[str]:
    measured = (format_nominal(line), format_range(line), str(line.cells), format_sizes(line))
    return [line.method, line.design, *measured, format_worst(line)]


def _render_disagreements(
    rows: Sequence[Row], reasons: Mapping[tuple[str, str, int, str], str]
) -> Iterable[str]:
    for row in rows:
        if row.agrees is False:
            reason = reasons.get((row.study, row.setting, row.n, row.method), "Not explained yet.")
            yield f"✗ {row.study}, {row.setting}, n = {row.n}, {row.method}: {reason}\n"


def _render_study(study: str, text: str, rows: Sequence[Row]) -> str:
    if study == DELAYS:
        return "\n\n".join(
            [f"## {study.capitalize()}", f"{text} {_render_runs(rows)}", _join_lines(render_delays(rows))]
        )
    sizes = sorted({row.n for row in rows})
    lines = dict.fromkeys((row.setting, row.method, row.nominal) for row in rows)
    cells = {(row.setting, row.method, row.n): _render_cell(row) for row in rows}
    table = [["setting", "method", "nominal", *(f"n = {n}" for n in sizes)], ["---"] * (3 + len(sizes))]
    table += [
        [setting, method, f"{100 * nominal:g}", *(cells.get((setting, method, n), "") for n in sizes)]
        for setting, method, nominal in lines
    ]
    parts = [f"## {study.capitalize()}", f"{text} {_render_runs(rows)}", _join_lines(table)]
    return "\n\n".join([*parts[:2], "".join([parts[2], *_render_reasons(rows)])])


def _render_reasons(rows: Sequence[Row]) -> Iterable[str]:
    """Count the cells that are off, grouped by the sentence that explains them."""
    by_reason: dict[str, list[Row]] = {}
    for row in rows:
        if is_off(row):
            by_reason.setdefault(find_reason(row), []).append(row)
    for reason, off in by_reason.items():
        safe = sum(is_safe(row) for row in off)
        how = {0: "", len(off): ", all safe"}.get(safe, f", {safe} of them safe")
        yield f"\n{len(off)} of {len(rows)} cells{how}: {reason}\n"


def is_off(row: Row) -> bool:
    """Whether a cell is more than three points from its nominal value."""
    return bool(exceeds(abs(row.empirical - row.nominal), _MOST / 100))


def is_safe(row: Row) -> bool:
    """Whether a cell is on the safe side: an interval that covers more often, a test that rejects less."""
    return (row.empirical > row.nominal) != row.is_test


def find_reason(row: Row) -> str:
    """Return the sentence for a cell: that chance may explain it, else the first whose patterns match."""
    if abs(row.empirical - row.nominal) <= ERRORS_ALLOWED * row.monte_carlo_error:
        return MAYBE_CHANCE
    about = (row.study, row.setting, row.method, "safe" if is_safe(row) else "unsafe")
    for patterns, reason in REASONS.items():
        if all(map(fnmatchcase, about, patterns.split(" | "))):
            return reason
    return NOT_EXPLAINED


def _render_cell(row: Row) -> str:
    found = f"{100 * row.empirical:.1f} ±{100 * row.monte_carlo_error:.1f}"
    if row.reference is None:
        return found
    return f"{found} [{100 * row.reference:.1f}]{'' if row.agrees else ' ✗'}"


def _render_runs(rows: Sequence[Row]) -> str:
    runs = sorted({row.runs for row in rows})
    return f"Runs per cell: {', '.join(map(str, runs))}."


def _join_lines(table: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)
