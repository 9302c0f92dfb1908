"""The commands: arguments to functions, exit codes; nothing else.

Everything heavy is imported inside them, so that `--help` answers at once.
"""

from __future__ import annotations

from io import StringIO
from typing import Annotated, Any

import typer

from scorereport.cli.audit_commands import app as audit_app
from scorereport.cli.demonstration import demo
from scorereport.cli.output import echo
from scorereport.cli.report_commands import report, score
from scorereport.cli.software import set_up_r, validate
from scorereport.errors import ExitCode

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
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
    debug: Annotated[  # noqa: ARG001  # `cli` looks for it, also where this is never reached
        bool, typer.Option("--debug", help="Show where an internal error happened.")
    ] = False,
) -> None:
    if version:
        from scorereport._utils.version import package_version

        typer.echo(f"scorereport {package_version()}")
        raise typer.Exit


def run_command_line() -> int:
    """Run the command that was given; its exit code.

    Typer would end the process with 1 for some errors, which means that a limit is breached.
    """
    try:
        code: Any = app(standalone_mode=False)
    except typer.Abort as error:
        raise error.__cause__ or error from None
    except Exception as error:
        show = getattr(error, "show", None)  # what typer says of wrong arguments
        if show is None:
            raise
        text = StringIO()
        show(text)
        echo(text.getvalue().rstrip("\n"), err=True)
        return ExitCode.USAGE
    if code == _INTERRUPTED:  # typer makes an exit of an interrupt
        raise KeyboardInterrupt
    return code if isinstance(code, int) else ExitCode.DONE
