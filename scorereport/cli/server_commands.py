"""Commands `scorereport audit serve` and `audit notify`, which work without a person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorereport.cli.audit_commands import Config  # noqa: TC001 - typer reads annotations
from scorereport.cli.command_output import echo, print_problem
from scorereport.errors import ExitCode

_DEFAULT = Path("audit.toml")


def notify(config: Config = _DEFAULT) -> None:
    """Send the outcomes that wait for the daily digest, those of today included.

    They are those of all audits of the folder that are notified by the same channels. The exit code is 2 if a
    channel failed; what it did not accept waits for the next attempt.
    """
    from scorereport._utils.formatting import format_counted
    from scorereport.audit.digests import send_digests
    from scorereport.audit.plan import read_plan

    sent = send_digests(read_plan(config))
    for channel, count in sent.counts.items():
        echo(f"{format_counted(count, 'outcome')} sent by {channel}.")
    for problem in sent.problems:
        print_problem(problem)
    if sent.problems:
        raise typer.Exit(ExitCode.USAGE)
    if not sent.counts:
        echo("Nothing waits for a digest.")


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with the configurations.")],
    log: Annotated[
        Path | None, typer.Option(help="File that the log is appended to, instead of standard error.")
    ] = None,
    poll: Annotated[float, typer.Option(min=0.1, help="Seconds between two checks of the folder.")] = 5.0,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that running audits may take to end when the server stops.")
    ] = 300.0,
    longest: Annotated[
        float, typer.Option(min=1, help="Seconds after which a running audit is stopped.")
    ] = 21600.0,
    workers: Annotated[int, typer.Option(min=1, help="Number of audits that may run at the same time.")] = 2,
    notify_after: Annotated[
        float,
        typer.Option(
            min=1, help="Seconds after the scheduled time without a result until people are notified."
        ),
    ] = 7200.0,
) -> None:
    """Run all audits of a folder on their schedules, until SIGTERM stops it."""
    from contextlib import nullcontext

    from scorereport._utils.files import only_owner
    from scorereport.audit.server.startup import serve_audits as serve_folder

    with nullcontext() if log is None else open(log, "a", encoding="utf-8", opener=only_owner) as stream:
        serve_folder(
            folder,
            log=stream,
            poll_seconds=poll,
            grace_seconds=grace,
            longest_seconds=longest,
            workers=workers,
            notify_seconds=notify_after,
        )
