"""Checks of the installation: libraries, delivered files, fonts, R, and operation on this machine."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from platform import platform, python_version
from typing import TYPE_CHECKING

from scorereport._utils.files import TemporaryFolder, find_package_folder
from scorereport.errors import ExitCode
from scorereport.evaluation.dispatch import evaluate
from scorereport.examples import doctor_visits
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import PACKAGE, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.report.report_output import write_report
from scorereport.results.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import PackagePath


#: Required libraries, and the module that each is imported as.
_LIBRARIES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "pydantic": "pydantic",
    "statsmodels": "statsmodels",
    "typer": "typer",
    "rich": "rich",
    "jinja2": "jinja2",
    "weasyprint": "weasyprint",
}
_FILES = {"templates": "validation.html", "recorded": "reliabilitydiag.json"}
_PANGO = "sudo apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


def software_versions() -> dict[str, str]:
    """Return the versions of this package, Python and every library, and the platform."""
    own = {"scorereport": version("scorereport"), "python": python_version(), "platform": platform()}
    return {**own, **{name: _version(name) or "absent" for name in _LIBRARIES}}


def check_installation(time_limit: float) -> Iterator[Comparison]:
    """Check that libraries, files, fonts and R are present; each failure states how to fix it."""
    yield _present("scorereport", version("scorereport"))
    yield _present("Python", f"{python_version()} on {platform()}")
    for name, module in _LIBRARIES.items():
        yield _check_library(name, module)
    yield _check_delivery()
    for folder, file in _FILES.items():
        is_there = (find_package_folder(folder) / file).is_file()
        yield _line(f"files: {folder}", Verdict.PASSED if is_there else Verdict.FAILED, file)
    yield _check_fonts()
    yield from _check_r(time_limit)


def _check_library(name: str, module: str) -> Comparison:
    """Check that a library can be imported: WeasyPrint, for example, needs system libraries."""
    try:
        import_module(module)
    except Exception as error:
        remedy = _PANGO if name == "weasyprint" else f"pip install {name}"
        return _line(name, Verdict.FAILED, f"{type(error).__name__}: {error}. To fix: {remedy}")
    return _present(name, _version(name) or "of unknown version")


def _check_delivery() -> Comparison:
    """Check that every installed file has the hash that its wheel recorded."""
    recorded = [file for file in distribution("scorereport").files or [] if file.hash is not None]
    code = [file for file in recorded if file.parts[0] == "scorereport"]
    if not code:
        reason = "an editable installation: its files are not those of a wheel"
        return _line("files as delivered", Verdict.NOT_COMPARED, reason)
    changed = [str(file) for file in code if not _is_as_recorded(file)]
    reason = (
        f"{len(code)} files have the SHA-256 of the wheel"
        if not changed
        else f"changed: {', '.join(changed)}"
    )
    return _line("files as delivered", Verdict.FAILED if changed else Verdict.PASSED, reason)


def _is_as_recorded(file: PackagePath) -> bool:
    if file.hash is None or not Path(file.locate()).is_file():
        return False
    return _digest(file.read_binary()) == file.hash.value


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _check_fonts() -> Comparison:
    """Check that the system has a font: the one it chooses for sans-serif."""
    matcher = shutil.which("fc-match")
    if matcher is None:
        return _line(
            "fonts",
            Verdict.ABSENT,
            "fc-match, which lists fonts, is not installed. To fix: install fontconfig",
        )
    asked = subprocess.run([matcher, "sans-serif"], capture_output=True, text=True, check=False)
    is_there = asked.returncode == 0 and asked.stdout.strip()
    if not is_there:
        return _line(
            "fonts", Verdict.FAILED, "there are no fonts. To fix: sudo apt-get install fonts-dejavu-core"
        )
    return _present("fonts", f"sans-serif is {asked.stdout.strip()}")


def _check_r(time_limit: float) -> Iterator[Comparison]:
    try:
        with open_reference(PACKAGE, time_limit) as reference:
            for name in ("R", "rpy2", "rpy2-rinterface", "reliabilitydiag", "monotone"):
                yield _present(name, reference.software[name])
    except Unavailable as error:
        yield _line("R with reliabilitydiag", Verdict.ABSENT, f"{error} To fix: {error.remedy}")
    except ReferenceFailure as failure:
        yield _line("R with reliabilitydiag", Verdict.FAILED, str(failure))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _present(what: str, found: str) -> Comparison:
    return _line(what, Verdict.PASSED, found)


def _line(what: str, verdict: Verdict, reason: str) -> Comparison:
    return Comparison(
        subject="Installation",
        quantity=what,
        verdict=verdict,
        reason=reason,
    )


_COLUMNS = ("--outcome", doctor_visits.OUTCOME, "--forecast", doctor_visits.FORECASTS[0])


def check_operation() -> Iterator[Comparison]:
    """Check evaluation, documents and reports on demonstration data, and exit codes of the command line."""
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
    """Check the exit codes for good data, an unknown option and a forecast of 1.5, in separate processes."""
    frame = doctor_visits.make_demo_predictions().head(200)
    good, bad = folder / "good.csv", folder / "bad.csv"
    frame.to_csv(good, index=False)
    frame.assign(**{doctor_visits.FORECASTS[0]: 1.5}).to_csv(bad, index=False)
    asked = {
        "the command line scores a file": (
            ["score", str(good), *_COLUMNS, "--resamples", "0"],
            ExitCode.DONE,
        ),
        "the command line refuses an unknown option": (["score", "--no-such-option"], ExitCode.USAGE),
        "the command line refuses invalid data": (["score", str(bad), *_COLUMNS], ExitCode.DATA_REFUSED),
    }
    for what, (arguments, code) in asked.items():
        done = subprocess.run(
            [sys.executable, "-m", "scorereport", *arguments], capture_output=True, cwd=folder, check=False
        )
        yield _operation_line(what, done.returncode == code, f"exit code {done.returncode}")


def _check(what: str, holds: Callable[[], bool]) -> Comparison:
    try:
        return _operation_line(what, holds(), "")
    except Exception as error:  # any error becomes a failed line, and the study continues
        return _operation_line(what, False, f"{type(error).__name__}: {error}")


def _operation_line(what: str, is_passed: bool, reason: str) -> Comparison:
    return Comparison(
        subject="Operation",
        quantity=what,
        verdict=Verdict.PASSED if is_passed else Verdict.FAILED,
        reason=reason,
    )
