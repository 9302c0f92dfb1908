"""Summary of the study: for each method of reports, the range over its cells and the worst cell in words."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import write_text
from scorereport._utils.json_documents import encode
from scorereport.report.methods.measured_coverage import CoverageSummary, MeasuredCoverage
from validation.coverage.summary_lines import LINES
from validation.coverage.summary_words import describe_cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.coverage.design_lines import SummaryLine
    from validation.coverage.record import Row


def summarise(rows: Sequence[Row]) -> list[MeasuredCoverage]:
    """Return the summary of each line whose cells were simulated, one for each nominal level."""
    return [
        _summarise_cells(line, cells)
        for line in LINES
        for cells in _group_by_level([row for row in rows if _measures(line, row)])
    ]


def _measures(line: SummaryLine, row: Row) -> bool:
    return any(_matches(pattern, row) for pattern in line.cells)


def _matches(pattern: str, row: Row) -> bool:
    fields = zip(pattern.split(" | "), (row.study, row.setting, row.method), strict=True)
    return all(any(fnmatchcase(text, way) for way in ways.split("; ")) for ways, text in fields)


def _group_by_level(rows: Sequence[Row]) -> list[list[Row]]:
    levels = dict.fromkeys(round(row.nominal, 6) for row in rows)
    return [[row for row in rows if round(row.nominal, 6) == level] for level in levels]


def _summarise_cells(line: SummaryLine, rows: Sequence[Row]) -> MeasuredCoverage:
    values = [row.empirical for row in rows]
    worst = (max if rows[0].is_test else min)(rows, key=lambda row: row.empirical)
    return MeasuredCoverage(
        method=line.method,
        keys=line.keys,
        kinds=line.kinds,
        design=line.design,
        is_test=rows[0].is_test,
        nominal=round(rows[0].nominal, 6),
        lowest=min(values),
        highest=max(values),
        error=max(row.monte_carlo_error for row in rows),
        cells=len(rows),
        sizes=(min(row.n for row in rows), max(row.n for row in rows)),
        unit=line.unit,
        worst_value=worst.empirical,
        worst_error=worst.monte_carlo_error,
        worst_case=describe_cell(worst, line.unit),
    )


def write_summary(path: Path, record: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write the summary, with the date and the version of the study, a line for each method."""
    summary = CoverageSummary(
        written=record["written"], versions=record["versions"], lines=tuple(summarise(rows))
    )
    document = encode(summary)
    lines = ",\n    ".join(json.dumps(line, ensure_ascii=False) for line in document.pop("lines"))
    about = json.dumps({**document, "lines": []}, indent=2)
    write_text(path, about.replace("[]", f"[\n    {lines}\n  ]") + "\n")
