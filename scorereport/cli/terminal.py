"""Printing of tables, verdicts and records on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from scorereport._utils.formatting import visible
from scorereport.configuration.limit_verdicts import LimitVerdict, count_limit_verdicts
from scorereport.report.tables.history_tables import (
    describe_audit_record,
    history_table,
    number_table,
    record_drift_table,
)
from scorereport.report.tables.overview import (
    describe_all_bands,
    describe_data,
    describe_uncertainty,
    evaluation_tables,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.audit_record import Record
    from scorereport.reference.comparison_records import Comparison
    from scorereport.reference.reference_documents import Certificate, Study
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation

#: Wider than any table: within a narrower width, rich would truncate numbers instead of wrapping lines.
_WIDTH = 1000


def print_evaluation(evaluation: Evaluation, file: IO[str] | None = None) -> None:
    """Print data, tables and notes of an evaluation, to standard output unless a file is given."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    out.print(_text(describe_data(evaluation)))
    if uncertainty := describe_uncertainty(evaluation):
        out.print(_text(uncertainty))
    for table in evaluation_tables(evaluation):
        _print_table(out, table)
    sentences = list(describe_all_bands(evaluation))
    sentences += [curve.sentence for curve in evaluation.comparisons.murphy]
    if sentences:
        out.print()
    for sentence in sentences:
        out.print(_text(sentence))
    for note in evaluation.notes:
        out.print(_text(f"Note. {note}"))


def _print_table(out: Console, table: Table) -> None:
    out.print()
    out.print(_text(table.caption, style="bold"))
    out.print(_rich_table(table))


def print_certificate(certificate: Certificate, file: IO[str] | None = None) -> None:
    """Print the verdict of a certificate, the references that could not be used, and all differences."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    out.print(_text(f"R certificate: {certificate.sentence}", style="bold"))
    for attempt in certificate.attempts:
        advice = f" To fix: {attempt.remedy}" if attempt.remedy else ""
        out.print(_text(f"{attempt.reference}: {attempt.reason}{advice}"))
    if certificate.left_out:
        out.print(_text(f"Not compared: {'; '.join(certificate.left_out)}."))
    _print_unexpected(out, certificate.unexpected)


def print_verdict(judgements: Sequence[Judgement], file: IO[str] | None = None) -> None:
    """Print the number of limits with each verdict, and a sentence for each limit that is not passed."""
    if not judgements:
        return
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in count_limit_verdicts(judgements).items() if n)
    out.print(_text(f"Limits: {counts}.", style="bold"))
    for judgement in judgements:
        if judgement.verdict is not LimitVerdict.PASS:
            out.print(_text(f"{judgement.verdict.capitalize()}. {judgement.sentence}"))


def print_history(records: Sequence[Record], file: IO[str] | None = None) -> None:
    """Print a table with a line for each record."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    out.print(_rich_table(history_table(records)))


def print_record(record: Record, file: IO[str] | None = None) -> None:
    """Print the contents of a record."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    for line in describe_audit_record(record):
        out.print(_text(line))
    for table in (number_table(record), record_drift_table(record)):
        if table is not None:
            _print_table(out, table)


def print_study(study: Study, file: IO[str] | None = None) -> None:
    """Print the results of a validation study: a line for each section, and all unexpected differences."""
    out = Console(file=file, highlight=False, width=_WIDTH, soft_wrap=True)
    for section in study.sections:
        counts = Counter(line.verdict for line in section.comparisons)
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        out.print(_text(f"{section.title}: {verdicts}"))
    _print_unexpected(out, study.unexpected)


def _print_unexpected(out: Console, lines: Sequence[Comparison]) -> None:
    for line in lines:
        out.print(
            _text(f"{line.subject}, {line.quantity}: {line.verdict}. {_describe_comparison(line)}".strip())
        )


def _describe_comparison(line: Comparison) -> str:
    if line.difference is None:
        return line.reason
    return f"{line.engine} in scorereport, {line.reference} in the reference. {line.reason}"


def _rich_table(table: Table) -> RichTable:
    rich = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for position, head in enumerate(table.heads):
        rich.add_column(_text(head), justify="left" if position < table.n_labels else "right", no_wrap=True)
    for position, row in enumerate(table.rows, start=1):
        ends_section = table.section > 0 and position % table.section == 0
        rich.add_row(*(_text(cell) for cell in row), end_section=ends_section)
    return rich


def _text(line: str, style: str = "") -> RichText:
    """Return one line of text without control characters, which names and labels from data may contain."""
    return RichText(visible(line), style=style)
