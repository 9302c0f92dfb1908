"""Commands `scorereport audit ...`: arguments are passed to functions, results become exit codes."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scorereport._utils.exits import format_exit_message, redact_error
from scorereport.cli.command_output import echo, print_problem
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.audit.plan import Plan
    from scorereport.audit.run import RunResult
    from scorereport.history.store import History
    from scorereport.history.verification_findings import Verification

#: How an audit is started again, by a scheduler.
_PROGRAM = (sys.executable, "-m", "scorereport")

app = typer.Typer(
    help="Audit models in production: the same evaluation on new data, judged, compared, recorded.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Config = Annotated[Path, typer.Argument(help="The configuration of the audit: a .toml file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
_DEFAULT = Path("audit.toml")


@app.command()
def run(
    config: Config = _DEFAULT,
    as_of: Annotated[
        str | None,
        typer.Option(help="Count the period from this day, or moment, instead of now: repeats the past."),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Make a new record even if period, data and configuration have one."),
    ] = False,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for another run of the same audit.")
    ] = 3600.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 for warnings, open verdicts and drift.")
    ] = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an unforeseen error happened.")] = False,
) -> None:
    """Read, evaluate, certify, judge, render and record one period; answer from the record if it is there."""
    from scorereport.audit.run import run_audit
    from scorereport.cli.progress_display import show_progress

    with show_progress(quiet=quiet):
        outcome = run_audit(config, as_of=as_of, again=again, wait=wait, command=_name_command(config, as_of))
    if as_json:
        typer.echo(outcome.record.to_json(), nl=False)
    else:
        _print_result(outcome)
    for problem in outcome.problems:
        print_problem(problem)
    if outcome.failure and (debug or "--debug" in sys.argv[1:]):
        echo(outcome.failure.rstrip("\n"), err=True)
    _exit_by_status(outcome, strict=strict)


def _name_command(config: Path, as_of: str | None) -> str:
    words = ["scorereport", "audit", "run", str(config)]
    return shlex.join(words if as_of is None else [*words, "--as-of", as_of])


def _print_result(outcome: RunResult) -> None:
    """What came out of a run, in a few lines on standard output; a failure in one on standard error."""
    from scorereport.cli.terminal import print_verdict
    from scorereport.history.audit_record import AuditStatus

    record = outcome.record
    found = "" if outcome.is_new else " (answered from the record; --again makes a new one)"
    echo(f"{record.audit} {record.period.label}: {record.status}, record {record.id}{found}")
    typer.echo(f"SHA-256 of the record: {record.sha256}")
    for file in outcome.files:
        was = "" if outcome.is_new else " was"
        echo(f"{file}{was} written." if file.exists() else f"{file} is not here.")
    print_verdict(record.judgements, sys.stdout)
    for drift in record.drifts:
        if drift.has_drifted:
            echo(f"Drift. {drift.sentence}")
    if record.certificate:
        echo(f"R certificate: {record.certificate}.")
    if record.status is AuditStatus.FAILED:
        print_problem(format_exit_message(record.reason, record.exit_code))


def _exit_by_status(outcome: RunResult, *, strict: bool) -> None:
    from scorereport.history.audit_record import AuditStatus

    code = outcome.record.exit_code
    is_open = outcome.record.status in (AuditStatus.WARN, AuditStatus.INCONCLUSIVE)
    if code == ExitCode.DONE and strict and is_open:
        code = ExitCode.WARNINGS
    if code != ExitCode.DONE:
        raise typer.Exit(code)


@app.command()
def units(
    config: Config = _DEFAULT,
    kind: Annotated[Literal["systemd", "cron"], typer.Option(help="For which scheduler.")] = "systemd",
) -> None:
    """Print a systemd timer, or a cron line, for those who have a scheduler of their own."""
    from scorereport.audit.plan import read_plan
    from scorereport.audit.timers import render_timers

    plan = read_plan(config)
    if plan.schedule is None:
        raise UsageError(f"{config}: `audit.schedule.cron` is missing: when is the audit to run?")
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
    """The folders that an audit writes into."""
    folders = [plan.folder, plan.reports, plan.base]
    return list(dict.fromkeys(folder.resolve() for folder in folders))


@app.command()
def history(
    config: Config = _DEFAULT,
    every: Annotated[
        bool, typer.Option("--all", help="All audits of the history, not only this one.")
    ] = False,
    last: Annotated[int | None, typer.Option(min=1, help="Only so many, the last ones.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the audits that were made."""
    from scorereport._utils import json_documents
    from scorereport.audit.plan import read_plan
    from scorereport.cli.terminal import print_history

    plan = read_plan(config)
    with _open_existing(plan) as opened:
        records = opened.records(audit=None if every else plan.name, last=last)
    if as_json:
        listed = [{**json_documents.encode(record), "sha256": record.sha256} for record in records]
        typer.echo(json.dumps(listed, ensure_ascii=False, indent=1))
    elif records:
        print_history(records)
    else:
        typer.echo("There are no audits yet.")


@app.command()
def show(
    number: Annotated[int, typer.Argument(metavar="ID", help="The number of the record.")],
    config: Config = _DEFAULT,
    results: Annotated[
        bool, typer.Option("--results", help="Print the results document of the audit instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record: verdicts, numbers, drift, hashes."""
    from scorereport.audit.plan import read_plan
    from scorereport.cli.terminal import print_record

    with _open_existing(read_plan(config)) as opened:
        record = opened.get(number)
        if results and not record.results_sha256:
            raise UsageError(f"Record {number} has no results: it is {record.status}.")
        document = opened.document(record.results_sha256).decode() if results else ""
    if results or as_json:
        typer.echo(document or record.to_json(), nl=False)
    else:
        print_record(record)


@app.command()
def verify(
    config: Config = _DEFAULT,
    head: Annotated[
        list[str] | None,
        typer.Option(help="A hash that was kept elsewhere and must be in the chain; repeat."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no record and no file was changed, removed, inserted or moved; exit code 1 if one was.

    Exit code 3 if the file `head` lacks records that it should remember.
    """
    from scorereport._utils import json_documents
    from scorereport._utils.formatting import format_counted
    from scorereport.audit.integrity import verify_audit_history
    from scorereport.audit.plan import read_plan

    plan = read_plan(config)
    with _errors_redacted(plan):
        found = verify_audit_history(plan, heads=head or ())
    if as_json:
        typer.echo(json_documents.dump(_redact_findings(found, plan)), nl=False)
    else:
        findings = [finding.sentence for finding in found.findings]
        for sentence in (*findings, *found.warnings, *found.notes):
            echo(plan.redactor.redact(sentence))
        looked = f"{format_counted(found.records, 'record')} and {format_counted(found.files, 'file')}"
        told = f"NOT intact, {format_counted(len(found.findings), 'finding')}" if found.findings else "intact"
        typer.echo(f"{looked}: {told}. Last record: {found.head}")
    if found.findings:
        raise typer.Exit(ExitCode.LIMIT_BREACHED)
    if found.warnings:
        raise typer.Exit(ExitCode.WARNINGS)


@app.command()
def export(
    config: Config = _DEFAULT,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .jsonl, .csv or .zip file.")] = Path(
        "audits.zip"
    ),
    every: Annotated[
        bool, typer.Option("--all", help="All audits of the history, not only this one.")
    ] = False,
) -> None:
    """Write the history to a file: records to check by hand, numbers for a spreadsheet, or all of it."""
    from scorereport.audit.plan import read_plan
    from scorereport.history.export import export_history

    plan = read_plan(config)
    with _open_existing(plan) as opened:
        written = export_history(
            opened,
            output,
            find_folder=lambda record: plan.resolve(record.folder),
            audit=None if every else plan.name,
        )
    echo(f"{written} written.")


@app.command()
def site(
    config: Config = _DEFAULT,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")] = Path("site"),
) -> None:
    """Write web pages of all audits of the history: status board, trends, and every report."""
    from scorereport.audit.plan import read_plan
    from scorereport.audit.site.publication import publish_site

    plan = read_plan(config)
    with _open_existing(plan) as opened:
        pages = publish_site(plan, opened, output)
    echo(f"{pages} written.")


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of configurations.")],
    log: Annotated[
        Path | None, typer.Option(help="Append the log to this file; else standard error.")
    ] = None,
    poll: Annotated[float, typer.Option(min=0.1, help="Seconds between looks at the folder.")] = 5.0,
    grace: Annotated[float, typer.Option(min=0, help="Seconds that running audits have to end.")] = 300.0,
    longest: Annotated[float, typer.Option(min=1, help="Seconds after which an audit is ended.")] = 21600.0,
    workers: Annotated[int, typer.Option(min=1, help="Audits that may run at the same time.")] = 2,
    notify_after: Annotated[
        float, typer.Option(min=1, help="Seconds without a result after which people are notified.")
    ] = 7200.0,
) -> None:
    """Run all audits of a folder on their schedules, until SIGTERM."""
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


def _redact_findings(found: Verification, plan: Plan) -> Verification:
    """The same with the secrets taken out of its sentences."""
    hide = plan.redactor.redact
    findings = (replace(f, subject=hide(f.subject), sentence=hide(f.sentence)) for f in found.findings)
    notes, warnings = tuple(map(hide, found.notes)), tuple(map(hide, found.warnings))
    return replace(found, findings=tuple(findings), notes=notes, warnings=warnings)


@contextmanager
def _errors_redacted(plan: Plan) -> Iterator[None]:
    """Take the secrets out of what is refused, and of errors that nobody foresaw."""
    try:
        yield
    except Exception as error:
        shown = redact_error(error, plan.redactor.redact)
        if shown is error:
            raise
        raise shown from error


@contextmanager
def _open_existing(plan: Plan) -> Iterator[History]:
    """The history that is there already: looking at it makes none."""
    from scorereport.history.store import open_history

    with (
        _errors_redacted(plan),
        open_history(plan.database_url, head=plan.chain_head, create=False) as opened,
    ):
        yield opened
