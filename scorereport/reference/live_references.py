"""The two live references, the R package reliabilitydiag and a script in base R, and a client of them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from platform import platform, python_version
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.reference.certificate_verdicts import BASE_R
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.r_installation import (
    RInstallation,
    Unavailable,
    explain_misfit,
    find_r,
    rpy2_remedy,
)
from scorereport.reference.r_library import find_library, isolate
from scorereport.reference.r_memory import find_r_memory
from scorereport.reference.r_session import ReferenceFailure, Session, text_of
from scorereport.reliability.sampling import are_whole
from scorereport.results.settings import EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.reference.exchange import SentVector, Vector


PACKAGE, BASE = "reliabilitydiag", "base"
NAMES = {PACKAGE: "reliabilitydiag through rpy2", BASE: f"{BASE_R} (stats::isoreg)"}
#: The R scripts of this package.
R_CODE = Path(__file__).parent / "r"
#: Those that every reference reads, in this order, before its own.
_SHARED = ("shared", "sampling", "regression", "ranks", "intervals", "decisions", "groups", "inference")
_OWN = {PACKAGE: ("installation", "package", "diagrams"), BASE: ("base",)}
#: The software of a reference whose versions are in a certificate.
_SOFTWARE = ("R", "reliabilitydiag", "monotone", "rpy2", "rpy2-rinterface", "rpy2-robjects")
#: The most rows to which whole weights are expanded; beyond, base R uses the weights themselves.
_MOST_REPEATED = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A running reference and the versions of its software."""

    kind: str
    session: Session
    software: dict[str, str]

    @property
    def is_package(self) -> bool:
        """Whether it is the R package, whose known defects are to be expected."""
        return self.kind == PACKAGE

    @property
    def name(self) -> str:
        """The name of the reference."""
        return NAMES[self.kind]

    @property
    def title(self) -> str:
        """The name of the reference with versions."""
        s = self.software
        if self.is_package:
            return f"reliabilitydiag {s['reliabilitydiag']} (R {s['R']}) through rpy2 {s['rpy2']}"
        return f"{BASE_R} {s['R']} (stats::isoreg and plain arithmetic in a script of scorereport)"

    def ask(self, question: Question) -> dict[str, Vector]:
        """The raw answer to a question about one model."""
        vectors = question.vectors() if self.is_package else question.base_vectors()
        return self.session.ask("certify", **vectors)

    def fetch(self, what: str, **vectors: SentVector) -> dict[str, Vector]:
        """The raw answer to any other operation of the reference."""
        return self.session.ask(what, **vectors)


def list_sources(kind: str) -> list[Path]:
    """The R scripts of a reference, in the order in which R reads them."""
    return [R_CODE / f"{name}.R" for name in (*_SHARED, *_OWN[kind])]


@contextmanager
def open_reference(
    kind: str, time_limit: float, on_start: Callable[[Session], None] = lambda _: None
) -> Iterator[Reference]:
    """Start a reference; raises `Unavailable`, with the command that fixes it, if it is not available.

    `on_start` receives the process before it has answered anything.
    """
    r = find_r(time_limit)
    is_package = kind == PACKAGE
    library = find_library(r) if is_package else None
    program = [sys.executable, "-m", "scorereport.reference.worker"]
    if not is_package:
        program = [str(r.rscript), "--vanilla", str(R_CODE / "serve.R")]
    with Session(program, list_sources(kind), time_limit=time_limit, environment=isolate(library)) as session:
        on_start(session)
        versions = _ask_versions(session, r, library)
        if is_package:
            require_package(versions)
        software = {name: versions[name] for name in _SOFTWARE if name in versions}
        machine = {"python": python_version(), "platform": platform()}
        yield Reference(kind=kind, session=session, software={**software, **machine})


def _ask_versions(session: Session, r: RInstallation, library: Path | None) -> dict[str, str]:
    try:
        answer = greet(session, library)
    except ReferenceFailure as failure:
        stage = text_of(failure.answer.get("stage", []))
        if stage == "missing":
            raise Unavailable("The Python package rpy2 is not installed.", rpy2_remedy(r)) from failure
        if stage == "misfit":
            raise explain_misfit(r, text_of(failure.answer["error"])) from failure
        if stage == "start":
            reason = f"R {r.version_text} does not start inside rpy2: {text_of(failure.answer['error'])}"
            raise Unavailable(reason, "R --version, and check your .Rprofile") from failure
        raise
    return answer


def greet(session: Session, library: Path | None) -> dict[str, str]:
    """Request versions; the R package also computes an example, in this library if there is one."""
    answer = session.ask("hello") if library is None else session.ask("hello", library=[str(library)])
    return {name: text_of(vector) for name, vector in answer.items()}


def require_package(versions: dict[str, str]) -> None:
    """Raise `Unavailable` unless reliabilitydiag is installed and gives the right numbers."""
    if versions.get("reliabilitydiag") == "absent":
        raise Unavailable(
            f"The R package reliabilitydiag is not installed in {versions.get('libraries')}.",
            "scorereport r-setup",
        )
    if problem := _describe_problem(versions):
        raise Unavailable(problem, "scorereport r-setup")


def _describe_problem(versions: dict[str, str]) -> str:
    """Say why the installed package cannot be used; empty if its numbers are right."""
    package = f"reliabilitydiag {versions.get('reliabilitydiag')} (in {versions.get('location')})"
    if "caller" in versions:
        both = f"{versions['caller']} and {versions['callee']}"
        return f"The R packages {both} do not fit together: {versions['reason']}."
    if "wrong" in versions:
        return f"The R package {package} gives wrong numbers: the {versions['wrong']} of an example."
    return f"The R package {package} does not work: {versions['reason']}." if "reason" in versions else ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceClient:
    """Asks a reference about models with the same weights and settings.

    `draws` is the number of resamples in R for each band that is compared in distribution.
    """

    reference: Reference
    settings: EvaluationSettings
    weight: FloatArray | None
    draws: int

    def ask(
        self, subject: str, y_true: FloatArray, y_prob: FloatArray, *, is_drawn: bool = True
    ) -> ModelComparer:
        """Ask about one model; the answer is ready to be compared. R resamples bands only if `is_drawn`."""
        question = self._question(y_true, y_prob, self.draws if is_drawn else 0)
        answer = read_answer(self.reference.ask(question), question)
        return ModelComparer(
            subject=subject, question=question, answer=answer, is_package=self.reference.is_package
        )

    def _question(self, y_true: FloatArray, y_prob: FloatArray, draws: int) -> Question:
        """The question about one model; whole weights become repeated rows, others are for base R only."""
        weight = self.weight
        if weight is not None and are_rows(weight):
            counts = weight.astype(np.intp)
            y_true, y_prob, weight = np.repeat(y_true, counts), np.repeat(y_prob, counts), None
        memory = find_r_memory(is_package=self.reference.is_package)
        return Question(
            y_true=y_true,
            y_prob=y_prob,
            weight=weight,
            level=self.settings.band_level,
            costs=self.settings.cost_interval,
            draws=draws,
            seed=self.settings.seed,
            band_rows=memory.choose_band_rows(len(y_prob)),
        )


def count_asked_rows(rows: int, weight: FloatArray | None) -> int:
    """Count the rows of a question: those of the data, each repeated as often as a whole weight says."""
    return int(weight.sum()) if weight is not None and are_rows(weight) else rows


def are_rows(weight: FloatArray | None) -> bool:
    """Whether weights can be expressed by repeating rows, as R packages without weights need."""
    return weight is None or (are_whole(weight) and float(weight.sum()) <= _MOST_REPEATED)
