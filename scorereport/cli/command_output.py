"""Output of commands: text without control characters, and the exit code that follows from a verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport._utils.formatting import visible, visible_lines
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.report_record import Report


Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit code 3 for warnings, inconclusive verdicts, and comparisons that could not be made.",
    ),
]


def conclude_report(report: Report, *, strict: bool) -> None:
    """Print the verdicts on limits and of the certificate on standard error, and exit with their code."""
    from scorereport.cli.terminal import print_verdict
    from scorereport.configuration.limit_verdicts import verdict_exit_code

    print_verdict(report.judgements, sys.stderr)
    _conclude_certificate(report.certificate, strict=False)
    code = verdict_exit_code(report.verdict, strict=strict)
    if code != ExitCode.DONE:
        raise typer.Exit(code)
    _conclude_certificate(report.certificate, strict=strict, silent=True)


def _conclude_certificate(certificate: Certificate | None, *, strict: bool, silent: bool = False) -> None:
    """Print the verdict of a certificate on standard error, and exit with its code."""
    from scorereport.cli.terminal import print_certificate

    if certificate is None:
        return
    if not silent:
        print_certificate(certificate, sys.stderr)
    if certificate.verdict == "failed":
        raise typer.Exit(ExitCode.CERTIFICATE_FAILED)
    if certificate.verdict == "not certified" and strict:
        raise typer.Exit(ExitCode.WARNINGS)


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text without escape sequences, which names and data may contain."""
    typer.echo(visible_lines(text), err=err)


def print_problem(sentence: str) -> None:
    """Print one sentence about a problem on standard error."""
    typer.echo(f"scorereport: {visible(sentence)}", err=True)
