"""Text on standard output and standard error, which cannot steer the terminal that shows it."""

from __future__ import annotations

import typer

from scorereport._utils.formatting import visible, visible_lines


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text; names of files and columns, and data, may hold escape sequences."""
    typer.echo(visible_lines(text), err=err)


def print_problem(sentence: str) -> None:
    """Print one sentence about a problem on standard error."""
    typer.echo(f"scorereport: {visible(sentence)}", err=True)
