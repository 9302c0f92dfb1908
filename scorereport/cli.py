"""The command line: which commands there are, and how they end if they are refused or stopped."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from scorereport.commands.audits import app as audit_app
from scorereport.commands.demonstration import demo
from scorereport.commands.reports import report, score
from scorereport.commands.software import set_up_r, validate
from scorereport.errors import ExitCode, ScoreReportError
from scorereport.interrupts import Stopped, stopped_by_signals

#: What typer, as shells expect, ends with after an interrupt.
_INTERRUPTED = 130

app = typer.Typer(
    help="Show that a probabilistic classifier is good enough to be used.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(audit_app, name="audit")
app.command("score")(score)
app.command("report")(report)
app.command("validate")(validate)
app.command("r-setup")(set_up_r)
app.command("demo")(demo)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from scorereport import __version__

        typer.echo(f"scorereport {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a refusal is one line on stderr and its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ↑ or ∞ still gets its numbers
    code = _run()
    gc.collect()  # DuckDB complains of what outlives it, such as the frames of an error
    sys.exit(code)


def _run() -> int | str | None:
    """The exit code of the command that was given; what went wrong is told, and forgotten."""
    try:
        with stopped_by_signals():
            app()
    except ScoreReportError as error:
        typer.echo(f"scorereport: {error}", err=True)
        return error.exit_code
    except OSError as error:
        typer.echo(f"scorereport: {error}", err=True)
        return ExitCode.USAGE
    except Stopped as stop:
        typer.echo(f"scorereport: {stop.sentence}", err=True)
        atexit.register(_hush)
        return stop.code
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:  # typer makes one of an interrupt
            typer.echo("scorereport: interrupted.", err=True)
        return stop.code
    return ExitCode.DONE


def _hush() -> None:
    """Close standard error at the very end: DuckDB complains there of what a signal left to Python."""
    if "duckdb" in sys.modules:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
