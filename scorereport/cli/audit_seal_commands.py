"""Command `scorereport audit seal`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.cli.audit_commands import DEFAULT_CONFIG, AsJson, Config, errors_redacted
from scorereport.cli.audit_service_commands import app
from scorereport.cli.command_output import echo, new_key_announced, print_problem

if TYPE_CHECKING:
    from scorereport.audit.forecast_sealing import SealResult

__all__ = ["app"]


@app.command()
def seal(
    config: Config = DEFAULT_CONFIG,
    as_of: Annotated[
        str | None, typer.Option(help="Day or time that the period is counted from, instead of now.")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="Label of the period to seal, such as 2026-06; it need not be over."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a run of the same audit.")] = 3600.0,
    as_json: AsJson = False,
) -> None:
    """Seal the forecasts of a period before outcomes are known: record a hash of every row.

    The audit of the period later states whether it evaluated exactly these forecasts. Rows that are sealed
    already are not sealed again.
    """
    from scorereport.audit.forecast_sealing import seal_forecasts
    from scorereport.audit.plan import read_plan

    options = {"--as-of": as_of, "--period": period}
    given = [word for name, value in options.items() if value is not None for word in (name, value)]
    command = shlex.join(["scorereport", "audit", "seal", str(config), *given])
    with errors_redacted(read_plan(config)), new_key_announced(config):
        result = seal_forecasts(config, as_of=as_of, period=period, wait=wait, command=command)
    if as_json:
        typer.echo(result.record.to_json(), nl=False)
    else:
        _print_seal(result)
    for problem in result.problems:
        print_problem(problem)


def _print_seal(result: SealResult) -> None:
    from scorereport._utils.formatting import format_counted, format_time
    from scorereport.history.seal_sentences import describe_seal

    record, sealed = result.record, result.record.seal
    if sealed is None:  # every record of a seal has one
        return
    if result.is_new:
        rows = format_counted(sealed.rows, "row")
        echo(f"{record.audit} {record.period.label}: {rows} sealed, record {record.id}")
    else:
        echo(
            f"{record.audit} {record.period.label}: nothing new to seal; the last seal is record {record.id} "
            f"of {format_time(record.finished)}"
        )
    typer.echo(f"SHA-256 of the record: {record.sha256}")
    for line in (*describe_seal(sealed), *result.notes):
        echo(line)
