"""The software does on this machine what it is for, and refuses what it must."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from scorereport._utils.files import TemporaryFolder
from scorereport.errors import ExitCode
from scorereport.evaluation.dispatch import evaluate
from scorereport.examples import doctor_visits
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.report.report_output import write_report
from scorereport.results.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_COLUMNS = ("--outcome", doctor_visits.OUTCOME, "--forecast", doctor_visits.FORECASTS[0])


def check_operation() -> Iterator[Comparison]:
    """The way of the data from end to end on demonstration data, and the exit codes of the command line."""
    with TemporaryFolder("operation-") as folder:
        evaluation = _evaluate()
        yield _check(
            "the same data give the same bytes", lambda: evaluation.to_json() == _evaluate().to_json()
        )
        yield _check("a results document reads back equal", lambda: _reads_back(evaluation, folder))
        yield _check(
            "a report is written as HTML", lambda: _writes(evaluation, folder / "r.html", b"<!DOCTYPE")
        )
        yield _check("a report is written as PDF", lambda: _writes(evaluation, folder / "r.pdf", b"%PDF-"))
        yield from _check_command_line(folder)


def _evaluate() -> Evaluation:
    frame = doctor_visits.make_demo_predictions()
    return evaluate(frame, outcome=doctor_visits.OUTCOME, forecasts=doctor_visits.FORECASTS, resamples=20)


def _reads_back(evaluation: Evaluation, folder: Path) -> bool:
    evaluation.to_json(folder / "results.json")
    return Evaluation.from_json(folder / "results.json") == evaluation


def _writes(evaluation: Evaluation, path: Path, start: bytes) -> bool:
    write_report(evaluation, path)
    return path.read_bytes().lower().startswith(start.lower())


def _check_command_line(folder: Path) -> Iterator[Comparison]:
    """Good data, a column that is not there, and a forecast of 1.5, by a process of their own."""
    frame = doctor_visits.make_demo_predictions().head(200)
    good, bad = folder / "good.csv", folder / "bad.csv"
    frame.to_csv(good, index=False)
    frame.assign(**{doctor_visits.FORECASTS[0]: 1.5}).to_csv(bad, index=False)
    asked = {
        "the command line scores a file": (
            ["score", str(good), *_COLUMNS, "--resamples", "0"],
            ExitCode.DONE,
        ),
        "it refuses an option it does not know": (["score", "--no-such-option"], ExitCode.USAGE),
        "it refuses data that are wrong": (["score", str(bad), *_COLUMNS], ExitCode.DATA_REFUSED),
    }
    for what, (arguments, code) in asked.items():
        done = subprocess.run(
            [sys.executable, "-m", "scorereport", *arguments], capture_output=True, cwd=folder, check=False
        )
        yield _operation_line(what, done.returncode == code, f"exit code {done.returncode}")


def _check(what: str, holds: Callable[[], bool]) -> Comparison:
    try:
        return _operation_line(what, holds(), "")
    except Exception as error:  # whatever it is, the study must say so and go on
        return _operation_line(what, False, f"{type(error).__name__}: {error}")


def _operation_line(what: str, is_passed: bool, reason: str) -> Comparison:
    return Comparison(
        subject="Operation",
        quantity=what,
        verdict=Verdict.PASSED if is_passed else Verdict.FAILED,
        reason=reason,
    )
