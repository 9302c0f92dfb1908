"""Text that commands print, free of control characters, and the exit code that a verdict leads to."""

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
    bool, typer.Option("--strict", help="Exit code 3 for warnings, open verdicts, and what is missing.")
]


def conclude_report(made: Report, *, strict: bool) -> None:
    """Tell the verdicts on limits and of the certificate on standard error, and by the exit code."""
    from scorereport.cli.terminal import print_verdict
    from scorereport.configuration.limit_verdicts import verdict_exit_code

    print_verdict(made.judgements, sys.stderr)
    _conclude_certificate(made.certificate, strict=False)
    code = verdict_exit_code(made.verdict, strict=strict)
    if code != ExitCode.DONE:
        raise typer.Exit(code)
    _conclude_certificate(made.certificate, strict=strict, silent=True)


def _conclude_certificate(certificate: Certificate | None, *, strict: bool, silent: bool = False) -> None:
    """Tell the verdict of a certificate on standard error, and by the exit code."""
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
    """Print lines of text; names of files and columns, and data, may hold escape sequences."""
    typer.echo(visible_lines(text), err=err)


def print_problem(sentence: str) -> None:
    """Print one sentence about a problem on standard error."""
    typer.echo(f"scorereport: {visible(sentence)}", err=True)
