"""Commands `scorereport audit keys ...`: the keys that sign records, and those that are trusted."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.cli.audit_commands import DEFAULT_CONFIG, AsJson, Config, errors_redacted
from scorereport.cli.command_output import echo, print_problem

if TYPE_CHECKING:
    from scorereport.audit.key_changes import ListedKey

keys_app = typer.Typer(
    help="List, add and trust the keys that sign the records of a history.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@keys_app.command("list")
def list_all(config: Config = DEFAULT_CONFIG, as_json: AsJson = False) -> None:
    """List the keys that signed records, those that are trusted, and the key of this machine or person."""
    from scorereport.audit.key_changes import list_keys
    from scorereport.audit.plan import read_plan

    plan = read_plan(config)
    with errors_redacted(plan):
        found = list_keys(plan)
    if as_json:
        typer.echo(json.dumps([asdict(key) for key in found], ensure_ascii=False, indent=1))
        return
    for key in found:
        echo(f"{key.fingerprint}  {_describe_key(key)}")


def _describe_key(key: ListedKey) -> str:
    signed = f"signed {key.records}, records {key.first} to {key.last}" if key.records else "signed no record"
    parts = [
        "trusted" if key.is_trusted else "NOT trusted",
        signed,
        *(["key of this machine"] if key.is_own else []),
        *([f"replaced by {key.replaced_by}"] if key.replaced_by else []),
        *([key.note] if key.note else []),
    ]
    return ", ".join(parts)


@keys_app.command()
def add(
    config: Config = DEFAULT_CONFIG,
    reason: Annotated[str, typer.Option(help="Why the key is added; required.")] = "",
    replaces: Annotated[
        str,
        typer.Option(help="Fingerprint of a lost or stolen key, which must not sign any more."),
    ] = "",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a run of the same audit.")] = 3600.0,
    as_json: AsJson = False,
) -> None:
    """Record that the key of this machine or person signs records from now on; make it if there is none.

    The first key of a history needs no command. A further one does: a second machine or person, or a new key
    in place of a lost one.
    """
    from scorereport.audit.key_changes import add_key
    from scorereport.audit.plan import read_plan

    words = ["scorereport", "audit", "keys", "add", str(config), "--reason", reason]
    command = shlex.join([*words, *(["--replaces", replaces] if replaces else [])])
    with errors_redacted(read_plan(config)):
        result = add_key(config, reason=reason, replaces=replaces, wait=wait, command=command)
    change = result.record.key
    if as_json or change is None:
        typer.echo(result.record.to_json(), nl=False)
    else:
        echo(f"Record {result.record.id} adds {change.describe()}.")
        typer.echo(f"SHA-256 of the record: {result.record.sha256}")
    for problem in result.problems:
        print_problem(problem)


@keys_app.command()
def trust(
    fingerprint: Annotated[str, typer.Argument(help="Fingerprint of the key, or its first 12 characters.")],
    config: Config = DEFAULT_CONFIG,
    note: Annotated[str, typer.Option(help="Whose key it is, for people who list the keys.")] = "",
) -> None:
    """Trust a key of another machine or person here, so that `verify` accepts the records that it signed.

    Compare the fingerprint with its owner first, by another way than the history.
    """
    from scorereport.audit.key_changes import trust_key
    from scorereport.audit.plan import read_plan

    plan = read_plan(config)
    with errors_redacted(plan):
        found = trust_key(plan, fingerprint, note=note)
    echo(f"The key {found} is trusted, in {plan.trusted_keys}.")
