"""Printing of findings, tables, verdicts and records on a terminal, within its width."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from scorereport._utils.formatting import format_counted, visible
from scorereport.cli.table_layout import fit_labels, lay_out
from scorereport.configuration.limit_verdicts import count_limit_verdicts
from scorereport.reference.comparison_records import WHOLE_PACKAGE
from scorereport.report.findings import list_report_findings
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import Report
from scorereport.report.summary_page import summarize_report
from scorereport.report.tables.evidence_tables import record_evidence_table
from scorereport.report.tables.history_tables import (
    describe_audit_record,
    history_table,
    number_table,
    record_drift_table,
)
from scorereport.report.tables.limit_tables import arrange_limits, describe_data_limits, limit_matrix_table
from scorereport.report.tables.overview import (
    describe_all_bands,
    describe_data,
    describe_uncertainty,
    evaluation_tables,
)
from scorereport.report.tables.short_tables import (
    describe_chosen_models,
    list_table_names,
    short_tables,
)
from scorereport.results.summary_texts import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.cli.table_layout import Block
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.audit_record import Record
    from scorereport.reference.comparison_records import Comparison
    from scorereport.reference.reference_documents import Certificate, Study
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.summary_texts import SummaryTexts

#: Wider than any table: rich would cut numbers that do not fit, while the layout of tables is ours.
_WIDER_THAN_TABLES = 100_000
#: The narrowest width that texts and tables are fitted to.
_LEAST_WIDTH = 20


def find_width(file: IO[str] | None = None) -> int | None:
    """Return the width of a terminal; for other output COLUMNS or, without it, None: lines stay whole."""
    stream = sys.stdout if file is None else file
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return max(int(given), _LEAST_WIDTH)
    if stream is None or not stream.isatty():
        return None
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        size = shutil.get_terminal_size()
    return max(size.columns, _LEAST_WIDTH) if size.columns else None


class _Printer:
    """Prints sentences and tables to a stream, within its width; colours and styles on a terminal only."""

    def __init__(self, file: IO[str] | None) -> None:
        self._console = Console(file=file, highlight=False, width=_WIDER_THAN_TABLES, soft_wrap=True)
        self._width = find_width(file)

    def sentence(self, text: str, *, style: str = "", bullet: str = "") -> None:
        """Print a sentence, wrapped at the width; further lines are indented as far as its bullet reaches."""
        line = _text(text, style)
        if self._width is None:
            self._console.print(_text(bullet).append_text(line))
            return
        for place, part in enumerate(line.wrap(self._console, self._width - len(bullet))):
            part.rstrip()
            start = bullet if place == 0 else " " * len(bullet)
            self._console.print(_text(start).append_text(part))

    def sentences(self, texts: Iterable[str], *, title: str = "", bullet: str = "") -> None:
        """Print sentences below a title; nothing if there are none."""
        listed = list(texts)
        if not listed:
            return
        if title:
            self.sentence(title, style="bold")
        for text in listed:
            self.sentence(text, bullet=bullet)

    def table(self, table: Table, *, has_caption: bool = True) -> None:
        """Print a table, in several blocks if it is wider than the terminal."""
        if has_caption:
            self.sentence(table.caption, style="bold")
        plain = _make_visible(table)
        for place, block in enumerate(lay_out(plain, self._width)):
            if place:
                self.space()
            self._console.print(_rich_table(plain, block))

    def space(self) -> None:
        """Print an empty line."""
        self._console.print()


def print_results(report: Report, file: IO[str] | None = None, *, everything: bool = False) -> None:
    """Print the summary of a report, then data, tables and notes of its evaluation.

    Without `everything`, the most important findings and the short tables are printed, and the names of the
    other tables.
    """
    out, evaluation = _Printer(file), report.evaluation
    page = summarize_report(report)
    texts, others = page.to_texts(), tuple(finding.text for finding in page.other_findings)
    if everything:
        texts, others = replace(texts, findings=(*texts.findings, *others)), ()
    _print_summary(out, texts, report.judgements, left_out=len(others))
    if report.certificate is not None:
        _print_certificate(out, report.certificate)
        out.space()
    out.sentence(describe_data(evaluation))
    if everything:
        for table in evaluation_tables(evaluation):
            out.space()
            out.table(table)
    else:
        _print_short_tables(out, evaluation)
    _print_explanations(out, evaluation, everything=everything)


def print_evaluation(
    evaluation: Evaluation,
    file: IO[str] | None = None,
    *,
    everything: bool = False,
    judgements: Sequence[Judgement] = (),
    certificate: Certificate | None = None,
) -> None:
    """Print an evaluation that is not part of a report as `print_results` prints a report."""
    provenance = Provenance(time="")
    report = Report(
        evaluation=evaluation,
        provenance=provenance,
        judgements=tuple(judgements),
        certificate=certificate,
    )
    print_results(report, file, everything=everything)


def print_summary(
    summary: SummaryTexts, judgements: Sequence[Judgement], file: IO[str] | None = None
) -> None:
    """Print the summary of a report: verdict, limits, findings, what to do, and what is missing."""
    out = _Printer(file)
    _print_summary(out, summary, judgements)
    out.sentences(summary.basis)


def _print_summary(
    out: _Printer, summary: SummaryTexts, judgements: Sequence[Judgement], left_out: int = 0
) -> None:
    if judgements:
        out.sentence(summary.verdict, style="bold")
        out.sentences(summary.fitness)
        out.space()
    matrix = arrange_limits(judgements)
    if matrix is not None:
        out.table(limit_matrix_table(matrix))
        out.sentences(filter(None, [describe_data_limits(matrix.on_data)]))
        out.space()
    for name, sentences in summary.list_blocks():
        out.sentences(sentences, title=TITLES[name], bullet="- ")
        if name == "findings" and left_out:
            out.sentence(f"{format_counted(left_out, 'more finding')}: --show findings")
        out.space()


def _print_short_tables(out: _Printer, evaluation: Evaluation) -> None:
    if choice := describe_chosen_models(evaluation):
        out.sentence(choice)
    for short in short_tables(evaluation):
        out.space()
        out.table(short.table)
        if short.left_out:
            out.sentence(f"{format_counted(short.left_out, 'more row')}: --show {short.name}")


def _print_explanations(out: _Printer, evaluation: Evaluation, *, everything: bool) -> None:
    """Print how intervals were computed, the notes, and either all sentences or the names of the tables."""
    sentences = [describe_uncertainty(evaluation)]
    if everything:
        sentences += describe_all_bands(evaluation)
        sentences += [curve.sentence for curve in evaluation.comparisons.murphy]
    sentences += [f"Note. {note}" for note in evaluation.notes]
    if any(sentences):
        out.space()
    out.sentences(filter(None, sentences))
    if not everything:
        out.space()
        names = ", ".join(list_table_names(evaluation))
        out.sentence(f"Tables of scorereport score, with --show NAME: {names}; or all.")


def print_tables(tables: Sequence[Table], file: IO[str] | None = None) -> None:
    """Print tables alone."""
    out = _Printer(file)
    for place, table in enumerate(tables):
        if place:
            out.space()
        out.table(table)


def print_findings(report: Report, file: IO[str] | None = None) -> None:
    """Print all findings alone."""
    _Printer(file).sentences((found.text for found in list_report_findings(report)), bullet="- ")


def print_certificate(certificate: Certificate, file: IO[str] | None = None) -> None:
    """Print the verdict of a certificate, the references that could not be used, and all differences."""
    _print_certificate(_Printer(file), certificate)


def _print_certificate(out: _Printer, certificate: Certificate) -> None:
    out.sentence(f"R certificate: {certificate.current_sentence}", style="bold")
    for attempt in certificate.attempts:
        advice = f" To fix: {attempt.remedy}" if attempt.remedy else ""
        out.sentence(f"{attempt.reference}: {attempt.reason}{advice}")
    out.sentences(certificate.notes)
    if certificate.left_out:
        out.sentence(f"Not compared: {'; '.join(certificate.left_out)}.")
    _print_unexpected(out, certificate.unexpected)


def print_verdict(report: Report, file: IO[str] | None = None) -> None:
    """Print the verdicts on limits in numbers and words, and which models are fit for use."""
    if report.judgements:
        summary, out = summarize_report(report).to_texts(), _Printer(file)
        counts = count_limit_verdicts(report.judgements)
        out.sentence(f"Limits: {', '.join(f'{n} {verdict}' for verdict, n in counts.items() if n)}.")
        out.sentence(summary.verdict, style="bold")
        out.sentences(summary.fitness)


def print_history(records: Sequence[Record], file: IO[str] | None = None) -> None:
    """Print a table with a line for each record."""
    _Printer(file).table(history_table(records), has_caption=False)


def print_record(record: Record, file: IO[str] | None = None, annulment: Record | None = None) -> None:
    """Print the contents of a record, and the annulment of it, if there is one."""
    out = _Printer(file)
    out.sentences(describe_audit_record(record, annulment))
    for table in (number_table(record), record_evidence_table(record), record_drift_table(record)):
        if table is not None:
            out.space()
            out.table(table)


def print_study(study: Study, file: IO[str] | None = None) -> None:
    """Print the results of a validation study: a line for each section, and all unexpected differences."""
    out = _Printer(file)
    for section in study.sections:
        counts = Counter(line.verdict for line in section.comparisons)
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        out.sentence(f"{section.title}: {verdicts}")
        for line in section.comparisons:
            if line.quantity == WHOLE_PACKAGE:
                out.sentence(f"{line.subject}: {line.reason}")
    _print_unexpected(out, study.unexpected)


def _print_unexpected(out: _Printer, lines: Sequence[Comparison]) -> None:
    for line in lines:
        out.sentence(f"{line.subject}, {line.quantity}: {line.verdict}. {_describe_comparison(line)}".strip())


def _describe_comparison(line: Comparison) -> str:
    if line.difference is None:
        return line.reason
    return f"{line.engine} in scorereport, {line.reference} in the reference. {line.reason}"


def _make_visible(table: Table) -> Table:
    """Return a table without control characters, whose cells have the width at which they are shown."""
    rows = tuple(tuple(map(visible, row)) for row in table.rows)
    return replace(table, heads=tuple(map(visible, table.heads)), rows=rows)


def _rich_table(table: Table, block: Block) -> RichTable:
    padding = (0, block.gap - 1, 0, 0)  # the box adds a blank between columns
    rich = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=padding)
    columns = []
    for place, width in zip(block.places, block.widths, strict=True):
        is_label = place < table.n_labels
        justify: Literal["left", "right"] = "left" if is_label else "right"
        rich.add_column(_text(table.heads[place]), justify=justify, width=width, overflow="fold")
        cells = [row[place] for row in table.rows]
        columns.append(fit_labels(cells, width) if is_label else cells)
    for position, row in enumerate(zip(*columns, strict=True), start=1):
        ends_section = table.section > 0 and position % table.section == 0
        rich.add_row(*map(_text, row), end_section=ends_section)
    return rich


def _text(line: str, style: str = "") -> RichText:
    """Return one line of text without control characters, which names and labels from data may contain."""
    return RichText(visible(line), style=style)
