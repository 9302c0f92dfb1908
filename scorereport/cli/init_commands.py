"""Commands `scorereport init ...`: write a first configuration for the columns of a file."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.cli.command_output import echo
from scorereport.cli.options import OPTIONS, File
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.first_configuration import AuditSource
    from scorereport.data.column_guesses import Guess

app = typer.Typer(
    help="Write a commented configuration for the columns that a file has; roles of columns are guessed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Outcome = Annotated[str | None, typer.Option("--outcome", help="The column of outcomes, if not guessed.")]
Forecasts = Annotated[
    list[str] | None,
    typer.Option(
        "--forecast", help="A column of probabilities, or a model of several classes; repeat it for more."
    ),
]
Table = Annotated[str | None, typer.Option("--table", help=OPTIONS["table"].help)]
Output = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


@app.command("report")
def init_report(
    file: File = None,
    outcome: Outcome = None,
    forecast: Forecasts = None,
    table: Table = None,
    output: Output = Path("report.toml"),
    force: Force = False,
) -> None:
    """Write a configuration for `scorereport report` on FILE."""
    from scorereport.configuration.first_configuration import draft_report

    source = _check_request(file, output, force=force)
    guesses = _guess(source, table, outcome, forecast or [])
    _write(output, draft_report(guesses, _join("init", "report", source, *_name_table(table))))
    _print_guesses(guesses, output)
    call = ("report", source, *_name_table(table), "--config", str(output), "-o", "report.pdf")
    _print_next([_join(*call)])


@app.command("audit")
def init_audit(
    file: File = None,
    outcome: Outcome = None,
    forecast: Forecasts = None,
    table: Table = None,
    output: Output = Path("audit.toml"),
    force: Force = False,
) -> None:
    """Write a configuration for `scorereport audit` on FILE."""
    from scorereport.configuration.first_configuration import draft_audit

    source = _check_request(file, output, force=force)
    guesses = _guess(source, table, outcome, forecast or [])
    command = _join("init", "audit", source, *_name_table(table))
    _write(output, draft_audit(guesses, _describe_source(source, table, output), command))
    _print_guesses(guesses, output)
    _print_next([_join("audit", action, str(output)) for action in ("run", "history")])


def _check_request(file: str | None, output: Path, *, force: bool) -> str:
    """Return the source; refuse a missing one, and a file that would be replaced, before anything is read."""
    if not file:
        raise UsageError("Missing argument 'FILE'.")
    if output.suffix.lower() != ".toml":
        raise UsageError(f"The name of a configuration must end in .toml; got {output.name!r}.")
    if not output.parent.is_dir():
        raise UsageError(f"The folder {output.parent} does not exist. To fix: create it.")
    if output.exists() and not force:
        raise UsageError(
            f"{output} exists already. To fix: name another file with -o, or replace this one with --force."
        )
    return file


def _guess(
    source: str, table: str | None, outcome: str | None, forecasts: Sequence[str]
) -> tuple[Guess, ...]:
    from scorereport.data.column_guesses import guess_columns
    from scorereport.data.column_samples import read_sample
    from scorereport.data.sources import open_command_source

    with open_command_source(source) as opened:
        sample = read_sample(opened, table)
    return guess_columns(sample, outcome=outcome, forecasts=forecasts)


def _describe_source(source: str, table: str | None, output: Path) -> AuditSource:
    """Return the source as an audit finds it: a path relative to the configuration, or an address."""
    from scorereport.configuration.first_configuration import AuditSource
    from scorereport.data.sources import is_command_address

    if is_command_address(source):
        return AuditSource(name=table or "audit", database=source, table=table or "")
    place = Path(source)
    relative = Path(os.path.relpath(place, output.parent)).as_posix()
    is_folder = place.is_dir()  # an audit distinguishes a folder from a file by the slash
    return AuditSource(
        name=place.name.partition(".")[0], file=f"{relative}/" if is_folder else relative, table=table or ""
    )


def _write(output: Path, text: str) -> None:
    """Write the configuration, which is read once to be sure that it is valid."""
    from scorereport._utils.files import write_text
    from scorereport.configuration import parse_configuration

    parse_configuration(text, output.name)
    write_text(output, text)


def _print_guesses(guesses: Sequence[Guess], output: Path) -> None:
    from scorereport.configuration.configuration_source import write_key

    echo(f"{output} written. Check what was guessed of the columns:")
    for guess in guesses:
        others = f"; or {', '.join(guess.others)}" if guess.others else ""
        echo(f"  {write_key(guess.key, guess.value)}  ({guess.reason}{others})")


def _print_next(commands: Sequence[str]) -> None:
    echo("Next:")
    for command in commands:
        echo(f"  {command}")


def _join(*arguments: str) -> str:
    return shlex.join(("scorereport", *arguments))


def _name_table(table: str | None) -> tuple[str, ...]:
    return () if table is None else ("--table", table)
