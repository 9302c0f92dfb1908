"""The table as a page to read: percentages, with the document's value in brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from validation.coverage.record import Row

_HEAD = """# Coverage study

How often bands and intervals cover what they should, and how often tests reject what is true, in
simulated data. `make coverage` runs the quick study, in minutes, and `python -m validation.coverage --full`
the whole, in hours; both write this page and the same table for machines, validation/recorded/coverage.json.

This is the {mode} study of {written}, seed {seed}, with {versions}.{unfinished}

Numbers are percentages, with their Monte-Carlo errors as ±. In [brackets] stands the value of the
document that the methods were chosen by, where it has one; a ✗ marks a difference of more than three
Monte-Carlo errors, of {compared} values compared.
"""


def render_page(
    record: Mapping[str, Any],
    rows: Sequence[Row],
    texts: Mapping[str, str],
    disagreements: Mapping[tuple[str, str, int, str], str],
) -> str:
    """One table for each study, sample sizes side by side; `texts` introduce them."""
    head = _HEAD.format(
        mode=record["mode"],
        written=record["written"],
        seed=record["seed"],
        versions=", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        unfinished="" if record["is_complete"] else " It does not hold the whole study.",
        compared=sum(row.agrees is not None for row in rows),
    )
    studies = dict.fromkeys(row.study for row in rows)
    parts = [_render_study(study, texts[study], [r for r in rows if r.study == study]) for study in studies]
    return "\n".join([head, *_render_disagreements(rows, disagreements), *parts])


def _render_disagreements(
    rows: Sequence[Row], reasons: Mapping[tuple[str, str, int, str], str]
) -> Iterable[str]:
    for row in rows:
        if row.agrees is False:
            reason = reasons.get((row.study, row.setting, row.n, row.method), "Not explained yet.")
            yield f"✗ {row.study}, {row.setting}, n = {row.n}, {row.method}: {reason}\n"


def _render_study(study: str, text: str, rows: Sequence[Row]) -> str:
    sizes = sorted({row.n for row in rows})
    lines = dict.fromkeys((row.setting, row.method, row.nominal) for row in rows)
    cells = {(row.setting, row.method, row.n): _render_cell(row) for row in rows}
    table = [["setting", "method", "nominal", *(f"n = {n}" for n in sizes)], ["---"] * (3 + len(sizes))]
    table += [
        [setting, method, f"{100 * nominal:g}", *(cells.get((setting, method, n), "") for n in sizes)]
        for setting, method, nominal in lines
    ]
    return f"## {study.capitalize()}\n\n{text} {_render_runs(rows)}\n\n{_join_lines(table)}"


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
