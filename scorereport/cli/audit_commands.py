"""Commands `scorereport audit ...`: each calls a function and turns its result into text and an exit code."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport._utils.exits import format_exit_message, redact_error
from scorereport.cli.command_output import (
    echo,
    find_record_code,
    name_run_command,
    new_key_announced,
    print_problem,
)
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.audit.plan import Plan
    from scorereport.audit.run import RunResult
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History
    from scorereport.history.verification_findings import Verification
    from scorereport.results.summary_texts import SummaryTexts

app = typer.Typer(
    help="Audit models in production: evaluate new data with the same configuration, and record the results.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Config = Annotated[Path, typer.Argument(help="Configuration of the audit, a .toml file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
DEFAULT_CONFIG = Path("audit.toml")


@app.command()
def run(  # noqa: PLR0913, PLR0917  # each argument is an option
    config: Config = DEFAULT_CONFIG,
    as_of: Annotated[
        str | None,
        typer.Option(help="Day or time that the period is counted from, instead of now: audits the past."),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="Label of the period to audit, such as 2026-06; it must be over."),
    ] = None,
    first: Annotated[
        str | None,
        typer.Option("--from", help="Label of the first of several periods to audit in order; needs --to."),
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", help="Label of the last of several periods; needs --from.")
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Add a new record even if there is one of the same period, data and configuration.",
        ),
    ] = False,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Show the record of the same time (--as-of), if there is one that did not fail, whatever "
            "its data: for schedulers on several machines.",
        ),
    ] = False,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for another run of the same audit.")
    ] = 3600.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 for warnings, inconclusive verdicts and drift.")
    ] = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")] = False,
) -> None:
    """Evaluate the rows of one period, judge the limits, file a report and add a record to the history.

    If the history has a record of the same period, data and configuration, show it and change nothing. With
    --from and --to, all periods between are audited, one after the other.
    """
    from scorereport.audit.anchors import describe_anchor
    from scorereport.audit.plan import read_plan
    from scorereport.audit.run import run_audit
    from scorereport.cli.backfill_output import check_choice, run_and_print
    from scorereport.cli.progress_display import show_progress

    if check_choice(as_of, period, first, last):
        run_and_print(
            config,
            (first or "", last or ""),
            again=again,
            wait=wait,
            strict=strict,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if once and again:
        raise UsageError("`--once` and `--again` exclude each other; give one of them.")
    command = name_run_command(config, as_of, period)
    with new_key_announced(config), show_progress(quiet=quiet):
        outcome = run_audit(
            config, as_of=as_of, period=period, again=again, once=once, wait=wait, command=command
        )
    if as_json:
        typer.echo(outcome.record.to_json(), nl=False)
    else:
        _print_result(outcome, describe_anchor(read_plan(config), outcome.record))
    for problem in outcome.problems:
        print_problem(problem)
    if outcome.failure and (debug or "--debug" in sys.argv[1:]):
        echo(outcome.failure.rstrip("\n"), err=True)
    _exit_by_status(outcome, strict=strict)


def _summarize_record(record: Record) -> SummaryTexts:
    """Summarize a record of version 0.1, which has no summary: limits that are not met, and drifts."""
    from scorereport.report.summary_page import describe_verdict_sentence
    from scorereport.results.summary_texts import SummaryTexts

    _, _, verdict = describe_verdict_sentence(record.judgements)
    open_limits = [each.sentence for each in record.judgements if str(each.verdict) != "pass"]
    drifts = [drift.sentence for drift in record.drifts if drift.has_drifted]
    return SummaryTexts(verdict=f"{verdict}.", findings=(*open_limits, *drifts))


def _print_result(outcome: RunResult, anchored: str) -> None:
    """Print the result of a run on standard output; a failure also as one line on standard error."""
    from scorereport.cli.terminal import print_summary
    from scorereport.history.audit_record import AuditStatus
    from scorereport.history.seal_sentences import describe_seal_check

    record = outcome.record
    existing = "" if outcome.is_new else " (existing record; --again adds a new one)"
    echo(f"{record.audit} {record.period.label}: {record.status}, record {record.id}{existing}")
    typer.echo(f"SHA-256 of the record: {record.sha256}")
    if anchored:
        echo(anchored)
    for file in outcome.files:
        was = "" if outcome.is_new else " was"
        echo(f"{file}{was} written." if file.exists() else f"{file} does not exist.")
    if record.judgements or record.summary is not None:
        print_summary(record.current_summary or _summarize_record(record), record.judgements, sys.stdout)
    if record.certificate:
        echo(f"R certificate: {record.current_certificate}.")
    if record.seal_check is not None:
        echo(describe_seal_check(record.seal_check))
    if record.status is AuditStatus.FAILED:
        print_problem(format_exit_message(record.reason, record.exit_code))


def _exit_by_status(outcome: RunResult, *, strict: bool) -> None:
    code = find_record_code(outcome.record, strict=strict)
    if code != ExitCode.DONE:
        raise typer.Exit(code)


@app.command()
def history(
    config: Config = DEFAULT_CONFIG,
    every: Annotated[
        bool, typer.Option("--all", help="List all audits of the history, not only this one.")
    ] = False,
    last: Annotated[
        int | None, typer.Option(min=1, help="List only this many of the latest records.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the records of the audit, oldest first."""
    from scorereport._utils import json_documents
    from scorereport.audit.plan import read_plan
    from scorereport.cli.terminal import print_history

    plan = read_plan(config)
    with open_existing(plan) as opened:
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
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the record.")],
    config: Config = DEFAULT_CONFIG,
    results: Annotated[
        bool, typer.Option("--results", help="Print the results document of the audit instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record: verdicts, numbers, drift, hashes."""
    from scorereport.audit.anchors import describe_anchor
    from scorereport.audit.plan import read_plan
    from scorereport.cli.terminal import print_record
    from scorereport.history.valid_records import find_annulled

    plan = read_plan(config)
    with open_existing(plan) as opened:
        record = opened.get(number)
        if results and not record.results_sha256:
            raise UsageError(f"Record {number} has no results: its status is {record.status}.")
        document = opened.document(record.results_sha256).decode() if results else ""
        annulled = find_annulled(opened.records(record.audit, kind="annulment"))
    if results or as_json:
        typer.echo(document or record.to_json(), nl=False)
    else:
        print_record(record, annulment=annulled.get(record.id))
        if anchored := describe_anchor(plan, record):
            echo(anchored)


@app.command()
def verify(
    config: Config = DEFAULT_CONFIG,
    head: Annotated[
        list[str] | None,
        typer.Option(help="Hash of a record, kept elsewhere, that must be in the chain; repeat for more."),
    ] = None,
    anchor: Annotated[
        list[Path] | None,
        typer.Option(help="Attestation or time stamp of a record, kept elsewhere; repeat for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no record and no file was changed, removed, inserted or moved.

    Anchors are checked offline. The exit code is 1 if something was changed, or if a record cannot have been
    written by a run. It is 3 if the chain head file or the anchors lack records.
    """
    from scorereport._utils import json_documents
    from scorereport._utils.formatting import format_counted
    from scorereport.audit.integrity import verify_audit_history
    from scorereport.audit.plan import read_plan

    plan = read_plan(config)
    with errors_redacted(plan):
        found = verify_audit_history(plan, heads=head or (), anchors=anchor or ())
    if as_json:
        typer.echo(json_documents.dump(_redact_findings(found, plan)), nl=False)
    else:
        findings = [finding.sentence for finding in found.findings]
        for sentence in (*findings, *found.warnings, *found.notes):
            echo(plan.redactor.redact(sentence))
        checked = f"{format_counted(found.records, 'record')} and {format_counted(found.files, 'file')}"
        count = format_counted(len(found.findings), "finding")
        state = f"NOT intact, {count}" if found.findings else "intact"
        typer.echo(f"{checked}: {state}. Last record: {found.head}")
    if found.findings:
        raise typer.Exit(ExitCode.LIMIT_BREACHED)
    if found.warnings:
        raise typer.Exit(ExitCode.WARNINGS)


@app.command()
def export(
    config: Config = DEFAULT_CONFIG,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .jsonl for the records, .csv for their numbers, .zip for everything.",
        ),
    ] = Path("audits.zip"),
    every: Annotated[
        bool, typer.Option("--all", help="Export all audits of the history, not only this one.")
    ] = False,
) -> None:
    """Write the history to a file: the records, their numbers as a table, or everything as an archive."""
    from scorereport.audit.anchors import list_anchors
    from scorereport.audit.plan import read_plan
    from scorereport.history.export import export_history

    plan = read_plan(config)
    with open_existing(plan) as opened:
        written = export_history(
            opened,
            output,
            find_folder=lambda record: plan.resolve(record.folder),
            audit=None if every else plan.name,
            anchors=list_anchors(plan),
        )
    echo(f"{written} written.")


def _redact_findings(found: Verification, plan: Plan) -> Verification:
    """Remove the secrets from all sentences of a verification."""
    redact = plan.redactor.redact
    findings = (replace(f, subject=redact(f.subject), sentence=redact(f.sentence)) for f in found.findings)
    notes, warnings = tuple(map(redact, found.notes)), tuple(map(redact, found.warnings))
    return replace(found, findings=tuple(findings), notes=notes, warnings=warnings)


@contextmanager
def errors_redacted(plan: Plan) -> Iterator[None]:
    """Remove the secrets from the messages of errors, expected and internal ones."""
    try:
        yield
    except Exception as error:
        shown = redact_error(error, plan.redactor.redact)
        if shown is error:
            raise
        raise shown from error


@contextmanager
def open_existing(plan: Plan) -> Iterator[History]:
    """Open an existing history; commands that only read must not create one."""
    from scorereport.history.store import open_history

    with (
        errors_redacted(plan),
        open_history(plan.database_url, head=plan.chain_head, create=False) as opened,
    ):
        yield opened
