"""Commands `scorereport audit units`, `site`, `notify` and `serve`: audits on their schedules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scorereport.cli.audit_commands import DEFAULT_CONFIG, Config, app, errors_redacted, open_existing
from scorereport.cli.command_output import echo, print_problem
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from scorereport.audit.plan import Plan

__all__ = ["app"]

#: The command by which a scheduler starts an audit.
_PROGRAM = (sys.executable, "-m", "scorereport")


@app.command()
def units(
    config: Config = DEFAULT_CONFIG,
    kind: Annotated[Literal["systemd", "cron"], typer.Option(help="The scheduler.")] = "systemd",
) -> None:
    """Print a systemd timer or a cron line that runs the audit on its schedule."""
    from scorereport.audit.plan import read_plan
    from scorereport.audit.timers import render_timers

    plan = read_plan(config)
    if plan.schedule is None:
        raise UsageError(f"{config}: `audit.schedule.cron` is missing; it sets when the audit runs.")
    typer.echo(
        render_timers(
            name=plan.name,
            config=config.resolve(),
            schedule=plan.schedule,
            kind=kind,
            command=_PROGRAM,
            folders=_list_folders(plan),
        ),
        nl=False,
    )


def _list_folders(plan: Plan) -> list[Path]:
    """List the folders that an audit writes to."""
    folders = [plan.folder, plan.reports, plan.base]
    return list(dict.fromkeys(folder.resolve() for folder in folders))


@app.command()
def site(
    config: Config = DEFAULT_CONFIG,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")] = Path("site"),
) -> None:
    """Write a web site about all audits of the history: status board, trends, and every report."""
    from scorereport.audit.plan import read_plan
    from scorereport.audit.site.publication import publish_site

    plan = read_plan(config)
    with open_existing(plan) as opened:
        pages = publish_site(plan, opened, output)
    echo(f"{pages} written.")


@app.command()
def notify(config: Config = DEFAULT_CONFIG) -> None:
    """Send the outcomes that wait for the daily digest, those of today included.

    They are those of all audits of the folder that are notified by the same channels. The exit code is 2 if a
    channel failed; what it did not accept waits for the next attempt.
    """
    from scorereport._utils.formatting import format_counted
    from scorereport.audit.digests import send_digests
    from scorereport.audit.plan import read_plan

    plan = read_plan(config)
    with errors_redacted(plan):
        sent = send_digests(plan)
    for channel, count in sent.counts.items():
        echo(f"{format_counted(count, 'outcome')} sent by {channel}.")
    for problem in sent.problems:
        print_problem(problem)
    if sent.problems:
        raise typer.Exit(ExitCode.USAGE)
    if not sent.counts:
        echo("Nothing waits for a digest.")


@app.command()
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
