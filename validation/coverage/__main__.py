"""`python -m validation.coverage`: run the study, write its table, its page and its summary."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.files import write_text
from scorereport.report.methods.measured_coverage import SUMMARY_FILE
from validation.coverage.audit_streams import study_audit_streams
from validation.coverage.bands import study_bands
from validation.coverage.baseline_streams import study_baselines
from validation.coverage.changes import add_before
from validation.coverage.class_cells import study_class_cells
from validation.coverage.classes import study_classes
from validation.coverage.decision_bands import study_decision_bands
from validation.coverage.dependence import study_dependence
from validation.coverage.drawn_in_cells import study_cells
from validation.coverage.explained import TEXTS
from validation.coverage.few_cases import study_few_cases
from validation.coverage.few_clusters import study_few
from validation.coverage.gains import study_gains
from validation.coverage.in_time import study_time
from validation.coverage.intervals import study_intervals
from validation.coverage.needed import study_needed
from validation.coverage.page import render_page
from validation.coverage.parts import study_parts
from validation.coverage.record import Row, read_record, write_record
from validation.coverage.reference_samples import study_reference_samples
from validation.coverage.rejections import study_rejections
from validation.coverage.scaling import study_scaling
from validation.coverage.score_streams import study_score_streams
from validation.coverage.separation import study_separation
from validation.coverage.simulate import Plan
from validation.coverage.simultaneous import study_simultaneous
from validation.coverage.summary import write_summary
from validation.coverage.unknown_outcomes import study_unknown_outcomes
from validation.coverage.values import study_values
from validation.coverage.weights import study_weights
from validation.coverage.without_resamples import study_without_resamples

if TYPE_CHECKING:
    from collections.abc import Sequence

Study = Callable[[Plan], Iterator[Row]]

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDED = REPOSITORY / "validation" / "recorded" / "coverage.json"
PAGE = REPOSITORY / "docs" / "coverage.md"
STUDIES: dict[str, Study] = {
    "bands": study_bands,
    "simultaneous": study_simultaneous,
    "cells": study_cells,
    "intervals": study_intervals,
    "tests": study_rejections,
    "dependence": study_dependence,
    "few-clusters": study_few,
    "classes": study_classes,
    "class-cells": study_class_cells,
    "scaling": study_scaling,
    "weights": study_weights,
    "values": study_values,
    "decisions": study_decision_bands,
    "separation": study_separation,
    "reference": study_reference_samples,
    "few-cases": study_few_cases,
    "missing": study_unknown_outcomes,
    "gains": study_gains,
    "parts": study_parts,
    "time": study_time,
    "needed": study_needed,
    "score-streams": study_score_streams,
    "without-resamples": study_without_resamples,
    "evidence": study_audit_streams,
    "baseline": study_baselines,
}
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested studies; after an interrupt the file contains the finished ones."""
    options = _parse(arguments)
    if options.render:
        _render(options.out or RECORDED)
        return 0
    if options.merge or options.before:
        return _merge(options.merge, options.out or RECORDED, options.before)
    plan = Plan(mode=options.mode, seed=options.seed, least_runs=options.runs)
    is_whole = options.only is None and options.mode != "rehearsal"
    out = options.out or (RECORDED if is_whole else REPOSITORY / "build" / "coverage.json")
    chosen = STUDIES if options.only is None else {options.only: STUDIES[options.only]}
    rows: list[Row] = []
    is_complete = False
    try:
        for study in chosen.values():
            for row in study(plan):
                rows.append(row)
            _write(out, rows, plan, is_complete=False)
        is_complete = options.only is None
    except KeyboardInterrupt:
        print(f"interrupted; {out} contains the finished studies", file=sys.stderr)
        return INTERRUPTED
    finally:
        _write(out, rows, plan, is_complete=is_complete)
    return 0


def _merge(parts: Sequence[Path], out: Path, earlier: Path | None) -> int:
    """Merge studies that were run separately into the recorded table, in the order of `TEXTS`.

    Cells of a part replace the same cells, unless those had more runs; others stay. With an earlier table,
    its values are added to the cells of the parts that it has too or, without parts, to all that both have.
    """
    about, known = read_record(out)
    known = known if parts or earlier is None else add_before(known, read_record(earlier)[1])
    for part in parts:
        found = read_record(part)[1]
        found = found if earlier is None else add_before(found, read_record(earlier)[1])
        new = {row.cell: row for row in found}
        pairs = [(row, new.pop(row.cell, row)) for row in known]
        known = [old if old.runs > row.runs else row for old, row in pairs] + list(new.values())
    place = {study: number for number, study in enumerate(TEXTS)}
    rows = sorted(known, key=lambda row: place[row.study])
    plan = Plan(mode=about["mode"], seed=about["seed"])
    _write(out, rows, plan, is_complete={row.study for row in rows} == set(TEXTS))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m validation.coverage", description=__doc__)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument(
        "--full",
        dest="mode",
        action="store_const",
        const="full",
        help="all sizes and runs: hours",
    )
    modes.add_argument(
        "--rehearse", dest="mode", action="store_const", const="rehearsal", help="two runs of each kind"
    )
    parser.set_defaults(mode="quick")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the table; the page is written beside it")
    parser.add_argument("--only", choices=STUDIES, help="one study, by default into build/coverage.json")
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="merge these tables into the recorded one",
    )
    parser.add_argument(
        "--before", type=Path, metavar="FILE", help="an earlier table, to be compared with the recorded one"
    )
    parser.add_argument(
        "--render",
        action="store_true",
        help="run nothing: write page and summary of the recorded table again",
    )
    parser.add_argument(
        "--runs", type=int, default=0, metavar="N", help="at least this many runs of each cell"
    )
    parser.add_argument("--seed", type=int, default=Plan().seed)
    return parser.parse_args(arguments)


def _write(out: Path, rows: Sequence[Row], plan: Plan, *, is_complete: bool) -> None:
    write_record(out, rows, mode=plan.mode, seed=plan.seed, is_complete=is_complete)
    _render(out)


def _render(table: Path) -> None:
    """Write the page and the summary of a table, as they follow from it."""
    is_recorded = table.resolve() == RECORDED
    record, rows = read_record(table)
    write_text(PAGE if is_recorded else table.with_suffix(".md"), render_page(record, rows))
    write_summary(
        table.with_name(SUMMARY_FILE if is_recorded else f"{table.stem}-summary.json"), record, rows
    )


if __name__ == "__main__":
    sys.exit(main())
