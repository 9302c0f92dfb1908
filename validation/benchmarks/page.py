"""Page docs/performance.md: the results of the benchmarks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import write_text
from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_difference,
    format_number,
    format_rate,
    join_words,
)
from validation.benchmarks.page_texts import DIAGRAMS, HEAD, OTHERS, PEERS_HEAD, REPEAT, TEXTS, WORKS
from validation.benchmarks.peers import DIAGRAM, MEMORY, OURS, PEERS, SECONDS, read_cells
from validation.benchmarks.record import read_results, results_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from validation.benchmarks.peers import Cell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
_NO_RESULTS = "Not measured yet."
_EARLIER = "These numbers are of an earlier run."
_FAILURES = {
    "time": "too slow",
    "memory": "out of memory",
    "error": "error",
    "absent": "not installed",
    "larger": "not tried",
}


def write_page() -> None:
    """Write the page from the latest results."""
    path = results_file()
    machine = json.loads(path.read_text(encoding="utf-8"))["machine"] if path.exists() else {}
    page = render_page(machine, read_results(), read_cells())
    write_text(PAGE, keep_sections(PAGE.read_text(encoding="utf-8"), page) if PAGE.exists() else page)


def keep_sections(old: str, new: str) -> str:
    """Keep sections of the old page for which the new one has no results, and say so."""
    known = {_title_of(section): section for section in _split_sections(old) if _NO_RESULTS not in section}
    return "".join(
        _mark_earlier(known[title]) if _NO_RESULTS in section and title in known else section
        for section in _split_sections(new)
        for title in [_title_of(section)]
    )


def _split_sections(page: str) -> list[str]:
    return re.split(r"(?m)^(?=## )", page)


def _title_of(section: str) -> str:
    return section.partition("\n")[0]


def _mark_earlier(section: str) -> str:
    return section if _EARLIER in section else f"{section.rstrip()}\n\n{_EARLIER}\n\n"


def render_page(
    machine: Mapping[str, Any], results: Sequence[Mapping[str, Any]], cells: Sequence[Cell]
) -> str:
    """Render the whole page: the machine, a table for each benchmark, the other packages."""
    named = [
        _render_section(*text, [result for result in results if result["benchmark"] == name])
        for name, text in TEXTS.items()
    ]
    rest = [result for result in results if result["benchmark"] not in (*TEXTS, "peers", "diagrams")]
    head = HEAD.format(machine=_describe_machine(machine))
    others = [render_peers(cells), render_diagrams(cells), _render_section(*OTHERS, rest)]
    return "\n".join([head, *named, *others, REPEAT])


def _describe_machine(machine: Mapping[str, Any]) -> str:
    if not machine:
        return "There are no results yet"
    versions = [f"{name} {machine[name]}" for name in ("python", "numpy", "duckdb", "scorereport")]
    return (
        f"Measured {machine['date']} on a machine with {format_counted(machine['processors'], 'core')} and "
        f"{format_number(machine['memory'] / 2**30, 0)} GB of memory, with {join_words(versions)}"
    )


def _render_section(title: str, text: str, results: Sequence[Mapping[str, Any]]) -> str:
    return f"## {title}\n\n{text}\n\n{_render_results(results)}"


def _render_results(results: Sequence[Mapping[str, Any]]) -> str:
    if not results:
        return f"{_NO_RESULTS}\n"
    rows = [_render_result(result) for result in results]
    return render_table(["what", "ratio", "limit", "ours", "per row"], rows)


def _render_result(result: Mapping[str, Any]) -> list[str]:
    if result["kind"] == "Skipped":
        return [result["name"], "skipped", "", result["reason"], ""]
    ours = _format_quantity(result["ours"], result["unit"])
    nanoseconds = result.get("nanoseconds")
    per_row = (
        "" if nanoseconds is None else f"{format_number(nanoseconds, 0 if nanoseconds >= 100 else 1)} ns"
    )
    if result["kind"] != "Comparison":
        return [result["name"], "", "", ours, per_row]
    limit = f"{'≥' if result['at_least'] else '≤'} {result['limit']:,.10g}"
    ratio = format_number(result["ratio"], 2)
    return [result["name"], ratio if result["is_met"] else f"**{ratio}**", limit, ours, per_row]


def _format_quantity(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{format_count(round(value / 1e6))} MB"
    if unit == "rows/s":
        return format_rate(value, "rows")
    return f"{_format_seconds(value)} {unit}"


def _format_seconds(value: float) -> str:
    """Format with about three significant digits, and at most four decimals."""
    return format_number(value, 4 if value < 0.01 else 3 if value < 1 else 2 if value < 10 else 1)


# Other packages


def render_peers(cells: Sequence[Cell]) -> str:
    """Render tables of seconds and memory for each kind of work, and why packages failed."""
    parts = [PEERS_HEAD.format(seconds=format_number(SECONDS, 0), memory=format_number(MEMORY / 1e9, 0))]
    if not any(cell.work in PEERS for cell in cells):
        return "\n".join([*parts, f"{_NO_RESULTS}\n"])
    for work in PEERS:
        mine = [cell for cell in cells if cell.work == work]
        parts += [WORKS[work], "", _render_cells(mine), *_explain(mine), ""]
    return "\n".join(parts)


def render_diagrams(cells: Sequence[Cell]) -> str:
    """Render the table of reliability diagrams by each package."""
    drawn = [cell for cell in cells if cell.work == DIAGRAM]
    found = [_render_cells(drawn), *_explain(drawn), ""] if drawn else [f"{_NO_RESULTS}\n"]
    return "\n".join([DIAGRAMS, *found])


def _render_cells(cells: Sequence[Cell]) -> str:
    sizes = sorted({cell.rows for cell in cells})
    packages = dict.fromkeys((cell.package, cell.version) for cell in cells)
    texts = {(cell.package, cell.rows): _render_cell(cell) for cell in cells}
    rows = [[f"{name} {version}", *(texts.get((name, n), "") for n in sizes)] for name, version in packages]
    return render_table(["package", *(f"{format_count(n)} rows" for n in sizes)], rows)


def _render_cell(cell: Cell) -> str:
    if cell.seconds is None or cell.held is None:
        return _FAILURES[cell.failure]
    return f"{_format_seconds(cell.seconds)} s, {format_count(round(cell.held / 1e6))} MB"


def _explain(cells: Sequence[Cell]) -> Iterable[str]:
    """Sentences on packages that failed, and on the largest difference between the components."""
    for cell in cells:
        if cell.failure in ("time", "memory", "error"):
            what = f"{cell.package} fails at {format_count(cell.rows)} rows, {_FAILURES[cell.failure]}"
            yield f"- {what}: {_quote(cell)}"
    deviations = [find_deviation(cell, cells) for cell in cells if cell.package != OURS and cell.parts]
    if deviations:
        yield (
            "- Wherever a package gives a result, its miscalibration, discrimination and uncertainty agree "
            f"with those of scorereport; the largest difference is {format_difference(max(deviations))}."
        )


def _quote(cell: Cell) -> str:
    reason = " ".join(cell.reason.split())
    return reason if cell.failure == "time" else f"“{reason[:160]}”."


def find_deviation(cell: Cell, cells: Iterable[Cell]) -> float:
    """Return the largest difference between a component of a package and ours, on the same rows."""
    ours = next(c.parts for c in cells if c.package == OURS and c.rows == cell.rows)
    return max((abs(a - b) for a, b in zip(cell.parts, ours, strict=True)), default=float("nan"))


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)
