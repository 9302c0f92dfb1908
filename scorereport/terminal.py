"""Tables on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from scorereport.progress import watched_by
from scorereport.tables import describe_bands, describe_data, describe_uncertainty, evaluation_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation import Evaluation
    from scorereport.tables import Table

#: Wider than any table: rich would rather cut a number than let the terminal wrap a line.
_WIDTH = 1000


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[None]:
    """Show the progress of long work on standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def watch(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        with watched_by(watch):
            yield


def print_evaluation(evaluation: Evaluation, file: IO[str] | None = None) -> None:
    """Print data, tables and notes of an evaluation, to standard output unless a file is given."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    out.print(Text(describe_data(evaluation)))
    if how := describe_uncertainty(evaluation):
        out.print(Text(how))
    for table in evaluation_tables(evaluation):
        out.print()
        out.print(Text(table.caption, style="bold"))
        out.print(_rich_table(table))
    verdicts = [sentence for model in evaluation.models for sentence in describe_bands(model)]
    verdicts += [curve.sentence for curve in evaluation.comparisons.murphy]
    if verdicts:
        out.print()
    for sentence in verdicts:
        out.print(Text(sentence))
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
