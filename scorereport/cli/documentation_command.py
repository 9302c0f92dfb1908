"""Command `scorereport docs`: opens the documentation that is installed with the package."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.cli.command_output import echo

if TYPE_CHECKING:
    from pathlib import Path

Topic = Annotated[
    str,
    typer.Argument(help="A page, a public name or a term of the glossary: limits, evaluate, skill."),
]
PathOnly = Annotated[bool, typer.Option("--path", help="Print the path of the page, and do not open it.")]


def docs(topic: Topic = "", path_only: PathOnly = False) -> None:
    """Open the documentation of this version in a browser, or print its path; no network is needed."""
    from scorereport._utils.documentation import find_documentation

    documentation = find_documentation()
    path, anchor = documentation.find(topic)
    echo(str(path))
    if not documentation.is_site:
        echo(
            "This installation has the pages as Markdown; a wheel of `make wheel` has the site.",
            err=True,
        )
    elif not path_only and _has_browser():
        webbrowser.open(_write_address(path, anchor))


def _write_address(path: Path, anchor: str) -> str:
    return path.as_uri() + (f"#{anchor}" if anchor else "")


def _has_browser() -> bool:
    """Whether a person at a graphical screen asked; a text browser would take over the terminal."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
