"""Command `audit run --from ... --to ...`: a line for each period, and a summary at the end."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import typer

from scorereport._utils.exits import format_exit_message
from scorereport._utils.formatting import format_counted, join_words
from scorereport.cli.command_output import echo, find_record_code, name_run_command, print_problem
from scorereport.cli.progress_display import show_progress
from scorereport.errors import ExitCode, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorereport.audit.run import RunResult


def check_choice(as_of: str | None, period: str | None, first: str | None, last: str | None) -> bool:
    """Whether several periods are to be run; refuse options that exclude each other."""
    given = {"--as-of": as_of, "--period": period, "--from and --to": first or last}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise UsageError(f"{join_words(chosen)} exclude each other: each of them chooses the period.")
    if (first is None) != (last is None):
        present, missing = ("--to", "--from") if first is None else ("--from", "--to")
        raise UsageError(f"{present} needs {missing}: the labels of the first and of the last period.")
    return first is not None


def run_and_print(
    config: Path,
    labels: tuple[str, str],
    *,
    again: bool,
    wait: float,
    strict: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the periods between two labels in order, print them, and exit with the worst code.

    A run that fails is recorded and does not stop the rest. An error that cannot be recorded does: the other
    runs could not be recorded either.
    """
    from scorereport.audit.backfill import find_worst_code, list_backfill
    from scorereport.audit.run import run_labelled

    periods = list_backfill(config, *labels)
    results: list[RunResult] = []
    try:
        for listed in periods:
            command = name_run_command(config, period=listed.period.label)
            with show_progress(quiet=quiet):
                result = run_labelled(config, listed, again=again, wait=wait, command=command)
            results.append(result)
            _print_line(result, is_shown=not as_json)
    except ScoreReportError as error:
        _print_summary(results, len(periods), as_json=as_json)
        rest = [listed.period.label for listed in periods[len(results) :]]
        raise type(error)(f"{error} Not run: {join_words(rest)}.") from error
    _print_summary(results, len(periods), as_json=as_json)
    code = find_worst_code(find_record_code(result.record, strict=strict) for result in results)
    if code != ExitCode.DONE:
        raise typer.Exit(code)


def _print_line(result: RunResult, *, is_shown: bool) -> None:
    from scorereport.audit.outcomes import name_finding

    record = result.record
    existing = "" if result.is_new else " (existing record)"
    is_open = str(record.status) not in ("done", "pass") and not record.reason
    finding = f" - {name_finding(record)}" if is_open else ""
    if is_shown:
        echo(f"{record.audit} {record.period.label}: {record.status}, record {record.id}{existing}{finding}")
    if record.reason:
        print_problem(format_exit_message(f"{record.period.label}: {record.reason}", record.exit_code))
    for problem in result.problems:
        print_problem(problem)


def _print_summary(results: Sequence[RunResult], periods: int, *, as_json: bool) -> None:
    if as_json:
        records = [json.loads(result.record.to_json()) for result in results]
        typer.echo(json.dumps(records, ensure_ascii=False))
        return
    counts = Counter(str(result.record.status) for result in results)
    listed = join_words(f"{count} {status}" for status, count in counts.items()) or "nothing was run"
    failed = [result.record.period.label for result in results if result.record.reason]
    named = f" Failed: {join_words(failed)}." if failed else ""
    existing = sum(not result.is_new for result in results)
    shown = f" {format_counted(existing, 'existing record')} not repeated." if existing else ""
    echo(f"{format_counted(periods, 'period')}: {listed}.{named}{shown}")
