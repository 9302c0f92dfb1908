"""The two live references: the R package reliabilitydiag through rpy2, and base R by a script of our own."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from platform import platform, python_version
from typing import TYPE_CHECKING, Any

from scorereport.reference.r_installation import (
    RInstallation,
    Unavailable,
    explain_misfit,
    find_r,
    rpy2_remedy,
)
from scorereport.reference.r_session import ReferenceFailure, Session, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reference.exchange import Vector
    from scorereport.reference.questions import Question

PACKAGE, BASE = "reliabilitydiag", "base"
NAMES = {PACKAGE: "reliabilitydiag through rpy2", BASE: "base R (stats::isoreg)"}
#: The R scripts of this package.
R_CODE = Path(__file__).parent / "r"
#: What a reference says about itself that belongs into a certificate.
_SOFTWARE = ("R", "reliabilitydiag", "monotone", "rpy2", "rpy2-rinterface", "rpy2-robjects")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A running reference and what it is made of."""

    kind: str
    session: Session
    software: dict[str, str]

    @property
    def is_package(self) -> bool:
        """Whether it is the R package, whose known defects are to be expected."""
        return self.kind == PACKAGE

    @property
    def name(self) -> str:
        """What it is, in short."""
        return NAMES[self.kind]

    @property
    def title(self) -> str:
        """What it is, with versions."""
        s = self.software
        if self.is_package:
            return f"reliabilitydiag {s['reliabilitydiag']} (R {s['R']}) through rpy2 {s['rpy2']}"
        return f"base R {s['R']} (stats::isoreg and plain arithmetic in a script of scorereport)"

    def ask(self, question: Question) -> dict[str, Vector]:
        """The raw answer to a question about one model."""
        vectors = question.vectors() if self.is_package else question.base_vectors()
        return self.session.ask("certify", **vectors)

    def fetch(self, what: str, **vectors: Any) -> dict[str, Vector]:
        """The answer to any other question that the reference knows."""
        return self.session.ask(what, **vectors)


@contextmanager
def open_reference(kind: str, time_limit: float) -> Iterator[Reference]:
    """Start a reference; `Unavailable`, with what mends it, if it is not there."""
    r = find_r(time_limit)
    is_package = kind == PACKAGE
    program = [sys.executable, "-m", "scorereport.reference.worker"]
    if not is_package:
        program = [str(r.rscript), "--vanilla", str(R_CODE / "serve.R")]
    sources = [R_CODE / "shared.R", R_CODE / ("package.R" if is_package else "base.R")]
    with Session(program, sources, time_limit=time_limit) as session:
        told = _greet(session, r)
        if is_package:
            _require_package(told)
        software = {name: told[name] for name in _SOFTWARE if name in told}
        machine = {"python": python_version(), "platform": platform()}
        yield Reference(kind=kind, session=session, software={**software, **machine})


def _greet(session: Session, r: RInstallation) -> dict[str, str]:
    try:
        answer = session.ask("hello")
    except ReferenceFailure as failure:
        stage = text_of(failure.answer.get("stage", []))
        if stage == "missing":
            raise Unavailable("The Python package rpy2 is not installed.", rpy2_remedy(r)) from failure
        if stage == "misfit":
            raise explain_misfit(r, text_of(failure.answer["error"])) from failure
        if stage == "start":
            reason = f"R {r.version_text} does not start inside rpy2: {text_of(failure.answer['error'])}"
            raise Unavailable(reason, "R --version, and look into your .Rprofile") from failure
        raise
    return {name: text_of(vector) for name, vector in answer.items()}


def _require_package(told: dict[str, str]) -> None:
    if told.get("reliabilitydiag") == "absent":
        raise Unavailable(
            f"The R package reliabilitydiag is not installed in {told.get('libraries')}.",
            "scorereport r-setup",
        )
    if "problem" in told:
        raise Unavailable(
            f"The R package reliabilitydiag does not load: {told['problem']}", "scorereport r-setup --again"
        )
