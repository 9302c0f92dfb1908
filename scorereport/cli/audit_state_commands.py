"""Commands `scorereport audit status`, `annul` and `approve`; `app` has all commands of audits."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path  # noqa: TC003  # typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scorereport.cli.audit_commands import DEFAULT_CONFIG, AsJson, Config, errors_redacted
from scorereport.cli.audit_seal_commands import app
from scorereport.cli.command_output import echo, new_key_announced, print_problem
from scorereport.cli.key_commands import keys_app
from scorereport.errors import ExitCode, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.audit.audit_status import AuditState

__all__ = ["app"]

app.add_typer(keys_app, name="keys")


@app.command()
def annul(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the record.")],
    config: Config = DEFAULT_CONFIG,
    reason: Annotated[str, typer.Option(help="Why the record is annulled; required.")] = "",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a run of the same audit.")] = 3600.0,
    as_json: AsJson = False,
) -> None:
    """Annul a record: add a record that takes it out of status, trend, site and evidence.

    The record and its report files stay, and the next run of its period adds a new record.
    """
    from scorereport.audit.annulment import annul_record
    from scorereport.audit.plan import read_plan

    command = shlex.join(["scorereport", "audit", "annul", str(number), str(config), "--reason", reason])
    with errors_redacted(read_plan(config)):
        result = annul_record(config, number, reason=reason, wait=wait, command=command)
    if as_json:
        typer.echo(result.record.to_json(), nl=False)
    else:
        annulled = result.annulled
        echo(
            f"Record {number} ({annulled.audit} {annulled.period.label}, {annulled.status}) is annulled by "
            f"record {result.record.id}."
        )
        typer.echo(f"SHA-256 of the record: {result.record.sha256}")
    for problem in result.problems:
        print_problem(problem)


@app.command()
def approve(
    config: Config = DEFAULT_CONFIG,
    reason: Annotated[str, typer.Option(help="Why these limits are right; required.")] = "",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a run of the same audit.")] = 3600.0,
    as_json: AsJson = False,
) -> None:
    """Approve the limits of the audit as a second person: add a record that your key signs.

    It prints the limits and what has changed; without --reason nothing else is done. With `approve_limits =
    true` in the table [audit], a run needs such a record of another key than its own. To withdraw an
    approval, annul its record.
    """
    from scorereport.audit.limit_approval import approve_limits, preview_limits
    from scorereport.audit.plan import read_plan

    if not reason.strip():
        with errors_redacted(read_plan(config)):
            for line in [] if as_json else preview_limits(config):
                echo(line)
        raise UsageError(
            "`--reason` must say why these limits are approved. To fix: read the limits above, and give it."
        )
    command = shlex.join(["scorereport", "audit", "approve", str(config), "--reason", reason])
    with errors_redacted(read_plan(config)), new_key_announced(config):
        result = approve_limits(config, reason=reason, wait=wait, command=command)
    if as_json:
        typer.echo(result.record.to_json(), nl=False)
    else:
        for line in result.describe():
            echo(line)
    for problem in result.problems:
        print_problem(problem)


@app.command()
def status(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CONFIG...", help="Configurations, or folders of them; audit.toml by default."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 unless the status of every audit is pass or done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print one line for each audit: the status of the last period that is due, and its age."""
    states, is_refused = [], False
    for path in _list_configurations(configs or [DEFAULT_CONFIG]):
        try:
            states.append(_read_state(path))
        except ScoreReportError as error:
            is_refused = True
            print_problem(f"{path}: {error}")
    if as_json:
        typer.echo(json.dumps([_describe_state(state) for state in states], ensure_ascii=False, indent=1))
    for state in [] if as_json else states:
        echo(state.describe())
    if is_refused:
        raise typer.Exit(ExitCode.USAGE)
    if strict and not all(state.is_good for state in states):
        raise typer.Exit(ExitCode.WARNINGS)


def _read_state(path: Path) -> AuditState:
    from scorereport.audit.audit_status import read_audit_state
    from scorereport.audit.plan import read_plan

    plan = read_plan(path)
    with errors_redacted(plan):
        return read_audit_state(plan)


def _list_configurations(paths: Sequence[Path]) -> Iterator[Path]:
    """List the files, and of a folder those with a table `[audit]`."""
    from scorereport.audit.server.configuration_folder import list_audit_configurations

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = list_audit_configurations(path)
        if not found:
            raise UsageError(f"The folder {path} has no .toml file with a table [audit].")
        yield from found


def _describe_state(state: AuditState) -> dict[str, Any]:
    return {
        "audit": state.audit,
        "period": None if state.period is None else asdict(state.period),
        "due": state.due,
        "status": state.status,
        "record": None if state.record is None else state.record.id,
        "age": state.age,
        "days_late": state.days_late,
        "note": state.note,
        "approval": state.approval,
    }
