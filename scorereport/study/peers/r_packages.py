"""Comparison of the engine with R packages that are installed, wherever they define the same number.

All packages run in one R process. A package that is not installed is reported as absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import conjugate, format_counted
from scorereport._utils.progress import steps
from scorereport.reference.comparison_records import WHOLE_PACKAGE, Comparison, Verdict
from scorereport.reference.live_references import R_CODE
from scorereport.reference.r_installation import Unavailable, find_r
from scorereport.reference.r_session import ReferenceFailure, Session, text_of
from scorereport.study.peers.peer_checks import Check, run_check
from scorereport.study.peers.peer_samples import GRADES, PeerSample
from scorereport.study.peers.r_package_checks import (
    LAGS,
    MOST_CASES,
    Ask,
    club_sandwich_checks,
    proc_checks,
    psych_checks,
    rms_checks,
    sandwich_checks,
    survey_checks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.study.seeded_cases import Case

_SOURCES = (R_CODE / "shared.R", Path(__file__).with_name("packages.R"))
#: No profile is run, but all libraries are searched that the environment of R names.
_OPTIONS = ("--no-site-file", "--no-init-file", "--no-save", "--no-restore")
_ABSENT = "absent: "
#: Differences below this are the last digit of a number.
_LAST_DIGIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class _RPackage:
    """A package: its name, its checks, and the Debian package that has it."""

    name: str
    checks: Callable[[Ask], tuple[Check, ...]]

    @property
    def remedy(self) -> str:
        """The commands that install it."""
        debian = f"r-cran-{self.name.lower()}"
        return f"install.packages('{self.name}') in R, or {debian} of Debian and Ubuntu"


R_PACKAGES = (
    _RPackage("pROC", proc_checks),
    _RPackage("rms", rms_checks),
    _RPackage("survey", survey_checks),
    _RPackage("sandwich", sandwich_checks),
    _RPackage("clubSandwich", club_sandwich_checks),
    _RPackage("psych", psych_checks),
)


def compare_with_r_packages(cases: Iterable[Case], time_limit: float) -> Iterator[Comparison]:
    """Compare with every installed package: first a line that sums it up, then one for each quantity."""
    samples = [PeerSample(case=case, number=number) for number, case in enumerate(cases)][:MOST_CASES]
    try:
        rscript = find_r(time_limit).rscript
    except Unavailable as error:
        yield _absent("R packages", f"{error} To fix: {error.remedy}")
        return
    program = [str(rscript), *_OPTIONS, str(R_CODE / "serve.R")]
    try:
        with Session(program, _SOURCES, time_limit=time_limit) as session:
            versions = session.ask("hello")
            for package in steps(R_PACKAGES, len(R_PACKAGES), "comparing with R packages"):
                yield from _compare_package(package, text_of(versions[package.name]), session, samples)
    except ReferenceFailure as failure:
        yield Comparison(
            subject="R packages", quantity="the rest", verdict=Verdict.FAILED, reason=str(failure)
        )


def _compare_package(
    package: _RPackage, version: str, session: Session, samples: Sequence[PeerSample]
) -> Iterator[Comparison]:
    if version.startswith(_ABSENT):
        yield _absent(package.name, f"{version.removeprefix(_ABSENT)}. To fix: {package.remedy}")
        return
    subject, answers = f"{package.name} {version}", _Answers(session, package.name)
    lines = [line for check in package.checks(answers.ask) for line in run_check(check, subject, samples)]
    yield _sum_up(subject, lines)
    yield from lines


class _Answers:
    """The answers of a package; those about the last case are kept, because several checks use them."""

    def __init__(self, session: Session, package: str) -> None:
        self._session, self._package = session, package
        self._kept: dict[int, dict[str, FloatArray]] = {}

    def ask(self, sample: PeerSample, quantity: str) -> FloatArray:
        """The numbers of a quantity."""
        if sample.number not in self._kept:
            found = self._session.ask("compute", package=[self._package], **_vectors(sample))
            numbers = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
            self._kept[sample.number] = numbers
        return self._kept[sample.number][quantity]


def _vectors(sample: PeerSample) -> dict[str, FloatArray]:
    grade, predicted = sample.grades
    return {
        "y": sample.y,
        "a": sample.p,
        "b": sample.other,
        "weight": sample.weight,
        "cluster": sample.cluster.astype(np.float64),
        "grade": grade + 1.0,
        "predicted": predicted + 1.0,
        "grades": np.array([float(GRADES)]),
        "lags": np.array([float(LAGS)]),
    }


def _sum_up(subject: str, lines: Sequence[Comparison]) -> Comparison:
    """The number of quantities that agree, to how many digits, and of those that differ by definition."""
    line_of = partial(Comparison, subject=subject, quantity=WHOLE_PACKAGE)
    failed = [line for line in lines if line.is_unexpected]
    if failed:
        named = ", ".join(line.quantity for line in failed)
        return line_of(verdict=Verdict.DIFFERS, reason=f"It differs in {named}.")
    agreeing = [line for line in lines if line.verdict is Verdict.AGREES and line.difference is not None]
    defined = sum(line.verdict is Verdict.EXPECTED for line in lines)
    others = f"; {_count(defined, 'other', 'differ')} by definition" if defined else ""
    if not agreeing:
        return line_of(verdict=Verdict.NOT_COMPARED, reason=f"No quantity was compared{others}.")
    worst = max(agreeing, key=lambda line: line.difference or 0.0)
    digits = f"to {count_digits(worst.difference or 0.0)} digits or more"
    reason = f"{_count(len(agreeing), 'line', 'agree')} {digits}{others}. The worst: {worst.quantity}."
    return line_of(difference=worst.difference, verdict=Verdict.AGREES, reason=reason)


def _count(number: int, noun: str, verb: str) -> str:
    return f"{format_counted(number, noun)} {conjugate(number, verb)}"


def count_digits(difference: float) -> int:
    """The number of digits to which two numbers agree that differ by this.

    >>> count_digits(0.0), count_digits(2e-13), count_digits(0.5)
    (15, 12, 0)
    """
    return max(math.floor(-math.log10(max(difference, _LAST_DIGIT))), 0)


def _absent(subject: str, reason: str) -> Comparison:
    return Comparison(subject=subject, quantity="installed", verdict=Verdict.ABSENT, reason=reason)
