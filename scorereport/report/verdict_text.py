"""Verdicts as plain text, for messages of gates and for files of continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_p_value, shortest, visible
from scorereport.configuration.judgement import format_judgement
from scorereport.configuration.limit_verdicts import LimitVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.report.calibration_decision import CalibrationDecision

#: Most rows of a table; further ones, the best verdicts, are counted.
_MOST_ROWS = 60
_SEVERITY = {verdict: -place for place, verdict in enumerate(LimitVerdict)}


def align_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align cells in columns of a fixed-width font, without control characters.

    >>> print(align_columns(["model", "value"], [["a", "0.25"], ["longer", ""]]))
    model   value
    a       0.25
    longer
    """
    from rich.cells import cell_len, set_cell_size

    cells = [[visible(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    padded = ([*map(set_cell_size, row, widths)] for row in cells)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def format_judgements(judgements: Sequence[Judgement]) -> str:
    """Format judgements as a table with a row for each: of a long table, the rows with the worst verdicts."""
    shown = list(judgements)
    if len(shown) > _MOST_ROWS:
        shown = sorted(shown, key=lambda judgement: _SEVERITY[judgement.verdict])[:_MOST_ROWS]
    table = _format_rows([_show_judgement(judgement) for judgement in shown])
    more = len(judgements) - len(shown)
    return f"{table}\n... and {more} more" if more else table


def _show_judgement(judgement: Judgement) -> dict[str, str]:
    numbers = format_judgement(judgement)
    return {
        "measure": judgement.label,
        "model": judgement.model,
        "group": judgement.group,
        "value": numbers["value"],
        "interval": numbers["interval"],
        "limit": numbers["fail"],
        "warning limit": numbers["warn"],
        "verdict": str(judgement.verdict),
    }


def format_decisions(decisions: Sequence[CalibrationDecision], alpha: float) -> str:
    """Format decisions on calibration as a table with a row for each model."""
    return _format_rows([_show_decision(decision, alpha) for decision in decisions])


def _show_decision(decision: CalibrationDecision, alpha: float) -> dict[str, str]:
    test = decision.test
    adjusted = None if test is None else test.p_value_holm
    return {
        "model": decision.model,
        "test": "" if test is None else test.name,
        "p-value": "" if test is None else format_p_value(test.p_value),
        "adjusted": "" if adjusted is None else format_p_value(adjusted),
        "level": shortest(alpha),
        "verdict": str(decision.verdict),
    }


def _format_rows(rows: Sequence[dict[str, str]]) -> str:
    """Format rows with the same keys; columns that are empty in all rows are left out."""
    heads = [head for head in rows[0] if any(row[head] for row in rows)]
    return align_columns(heads, [[row[head] for head in heads] for row in rows])


def count_verdicts_text(verdicts: Iterable[LimitVerdict]) -> str:
    """Count verdicts, the worst first.

    >>> count_verdicts_text([LimitVerdict.PASS, LimitVerdict.FAIL, LimitVerdict.PASS])
    '1 fail, 2 pass'
    """
    found = list(verdicts)
    return ", ".join(f"{found.count(v)} {v}" for v in reversed(LimitVerdict) if v in found)
