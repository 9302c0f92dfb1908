"""Output of commands: text without control characters, exit codes of verdicts, and a new key."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport._utils.formatting import visible, visible_lines
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorereport.history.audit_record import Record
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.report_record import Report


Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit code 3 for warnings, inconclusive verdicts, and comparisons that could not be made.",
    ),
]


def conclude_report(
    report: Report, *, strict: bool, is_shown: bool = False, with_summary: bool = False
) -> None:
    """Print verdict and certificate on standard error, and exit with their code; or print the whole summary.

    What is shown already is not printed again if one person reads both streams on a terminal.
    """
    from scorereport.configuration.limit_verdicts import verdict_exit_code

    if not (is_shown and sys.stdout.isatty() and sys.stderr.isatty()):
        _print_verdicts(report, with_summary=with_summary)
    is_failed = report.certificate is not None and report.certificate.current_verdict == "failed"
    codes = (
        ExitCode.CERTIFICATE_FAILED if is_failed else ExitCode.DONE,
        verdict_exit_code(report.verdict, strict=strict),
        ExitCode.WARNINGS if strict and _lacks_certificate(report.certificate) else ExitCode.DONE,
    )
    for code in codes:
        if code != ExitCode.DONE:
            raise typer.Exit(code)


def load_terminal() -> None:
    """Load what prints results, while there is nothing else to do."""
    from scorereport.cli import terminal  # noqa: F401


def name_run_command(config: Path, as_of: str | None = None, period: str | None = None) -> str:
    """Return the command line that repeats a run of an audit, for its record."""
    options = {"--as-of": as_of, "--period": period}
    given = [word for name, value in options.items() if value is not None for word in (name, value)]
    return shlex.join(["scorereport", "audit", "run", str(config), *given])


def find_record_code(record: Record, *, strict: bool) -> int:
    """Return the exit code of the record of an audit; with `strict`, 3 for warnings and inconclusive ones."""
    from scorereport.history.audit_record import AuditStatus

    is_open = record.status in (AuditStatus.WARN, AuditStatus.INCONCLUSIVE)
    is_raised = strict and is_open and record.exit_code == ExitCode.DONE
    return ExitCode.WARNINGS if is_raised else record.exit_code


def _print_verdicts(report: Report, *, with_summary: bool) -> None:
    from scorereport.cli.terminal import print_certificate, print_summary, print_verdict
    from scorereport.report.summary_page import summarize_report

    if with_summary:
        print_summary(summarize_report(report).to_texts(), report.judgements, sys.stderr)
    else:
        print_verdict(report, sys.stderr)
    if report.certificate is not None:
        print_certificate(report.certificate, sys.stderr)


def _lacks_certificate(certificate: Certificate | None) -> bool:
    """Whether a certificate was asked for and nothing could be compared."""
    return certificate is not None and certificate.current_verdict == "not checked"


@contextmanager
def new_key_announced(config: Path) -> Iterator[None]:
    """Print a line on standard error if the key that signs records was made in the block."""
    from scorereport.audit.plan import read_plan

    path = read_plan(config).signing_key
    was_there = path.exists()
    try:
        yield
    finally:
        if not was_there and path.exists():
            echo(f"A key that signs records was made: {path}. Keep a copy of it in a safe place.", err=True)


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text without escape sequences, which names and data may contain."""
    typer.echo(visible_lines(text), err=err)


def print_problem(sentence: str) -> None:
    """Print one sentence about a problem on standard error."""
    typer.echo(f"scorereport: {visible(sentence)}", err=True)
