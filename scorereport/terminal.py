"""Tables on a terminal."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from scorereport.tables import describe_data, evaluation_tables

if TYPE_CHECKING:
    from scorereport.evaluation import Evaluation
    from scorereport.tables import Table

#: Wider than any table: rich would rather cut a number than let the terminal wrap a line.
_WIDTH = 1000


def print_evaluation(evaluation: Evaluation, file: IO[str] | None = None) -> None:
    """Print data, tables and notes of an evaluation, to standard output unless a file is given."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    out.print(Text(describe_data(evaluation)))
    for table in evaluation_tables(evaluation):
        out.print()
        out.print(Text(table.caption, style="bold"))
        out.print(_rich_table(table))
    for note in evaluation.notes:
        out.print(Text(f"Note. {note}"))


def _rich_table(table: Table) -> RichTable:
    rich = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for position, head in enumerate(table.heads):
        rich.add_column(Text(head), justify="left" if position < table.n_labels else "right", no_wrap=True)
    for position, row in enumerate(table.rows, start=1):
        ends_section = table.section > 0 and position % table.section == 0
        rich.add_row(*(Text(cell) for cell in row), end_section=ends_section)
    return rich
