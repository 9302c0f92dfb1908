"""Tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from scorereport.tables import describe_data, evaluation_tables

if TYPE_CHECKING:
    from scorereport.evaluation import Evaluation
    from scorereport.tables import Table

#: Wide enough that a table sent to a file or a pipe is never cut.
_WIDTH_OF_A_PIPE = 1000


def print_evaluation(evaluation: Evaluation, console: Console | None = None) -> None:
    """Print data, tables and notes of an evaluation."""
    out = console or make_console()
    out.print(Text(describe_data(evaluation)), soft_wrap=True)
    for table in evaluation_tables(evaluation):
        out.print()
        out.print(Text(table.caption, style="bold"), soft_wrap=True)
        out.print(_rich_table(table))
    for note in evaluation.notes:
        out.print(Text(f"Note. {note}"), soft_wrap=True)


def make_console() -> Console:
    """A console for standard output, as wide as needed where nobody looks at a screen."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH_OF_A_PIPE)


def _rich_table(table: Table) -> RichTable:
    rich = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for position, head in enumerate(table.heads):
        is_label = position < table.n_labels
        rich.add_column(
            Text(head), justify="left" if is_label else "right", no_wrap=not is_label, overflow="fold"
        )
    for position, row in enumerate(table.rows, start=1):
        ends_section = table.section > 0 and position % table.section == 0
        rich.add_row(*(Text(cell) for cell in row), end_section=ends_section)
    return rich
