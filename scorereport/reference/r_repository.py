"""A repository of R packages, such as CRAN, and the process of R that installs packages of it."""

from __future__ import annotations

from time import monotonic
from typing import IO, TYPE_CHECKING

from scorereport._utils.formatting import format_plain, one_line
from scorereport._utils.machine import count_threads
from scorereport._utils.progress import report_start
from scorereport.reference.live_references import R_CODE
from scorereport.reference.r_build_output import BuildOutput
from scorereport.reference.r_session import ReferenceFailure, Session, text_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from scorereport.reference.exchange import SentVector, Vector
    from scorereport.reference.r_installation import RInstallation

#: Seconds within which a repository must answer; for its index; and for all builds together.
_TO_ANSWER, _TO_LIST, _TO_BUILD = 15.0, 300.0, 7200.0


class Repository:
    """A repository and the process of R that uses it; what R prints goes to the log."""

    def __init__(self, r: RInstallation, log: IO[str]) -> None:
        self._log = log
        self._output = BuildOutput([])
        self.address = ""
        self._session = Session(
            [str(r.rscript), str(R_CODE / "serve.R")],
            [R_CODE / "shared.R", R_CODE / "installation.R", R_CODE / "setup.R"],
            time_limit=_TO_ANSWER,
            on_output=self._take,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self._session.__exit__(kind, *details)

    def _take(self, line: str) -> None:
        self._log.write(f"{one_line(line)}\n")
        self._output.take(line)

    def reach(self, repository: str) -> None:
        """Find the repository, and wait until it answers."""
        began = monotonic()
        answer = self._session.ask("find_repository", repository=[repository])
        self.address = text_of(answer["address"])
        report_start(f"waiting for {self.address}")
        self._session.time_limit = max(_TO_ANSWER - (monotonic() - began), 0.1)
        try:
            self._session.ask("reach", repository=[self.address])
        except ReferenceFailure as failure:
            what = f"did not answer within {format_plain(_TO_ANSWER)} seconds"
            if "error" in failure.answer:
                what = f"cannot be used: {find_reason(failure)}"
            raise ReferenceFailure(f"the repository {self.address} {what}") from failure
        self._session.time_limit = _TO_LIST

    def list_needed(self) -> list[str]:
        """Return the names of all packages that are needed and that R does not bring."""
        return _names_in(self._ask("list_needed")["packages"])

    def fill(self, library: Path, most_builds: int | None, *, is_alone: bool) -> tuple[int, bool]:
        """Install what a library lacks.

        Returns the number of its packages, and whether packages of the distribution are used with them.
        """
        report_start("choosing packages")
        plan = self._ask("plan", library=[str(library)], is_alone=[float(is_alone)])
        packages = _names_in(plan["packages"])
        if most_builds is not None and len(packages) > most_builds and plan["is_source"][0]:
            takes = f"{count_packages(len(packages))} would have to be built, which takes minutes"
            raise ReferenceFailure(f"{takes} (`scorereport r-setup` does it)")
        if packages:
            self._install(library, packages)
        return int(plan["count"][0]), bool(plan["is_mixed"][0])

    def _install(self, library: Path, packages: list[str]) -> None:
        self._output = BuildOutput(packages)
        self._session.time_limit = _TO_BUILD
        cores = [float(count_threads())]
        answer = self._ask("install", library=[str(library)], packages=packages, cores=cores)
        if failed := _names_in(answer["failed"]):
            reason = one_line(self._output.explain(failed))
            raise ReferenceFailure(f"{reason} (all output is in {self._log.name})")

    def _ask(self, what: str, **vectors: SentVector) -> dict[str, Vector]:
        try:
            return self._session.ask(what, repository=[self.address], **vectors)
        except ReferenceFailure as failure:
            if "error" not in failure.answer:
                raise
            reason = f"the repository {self.address} cannot be used: {find_reason(failure)}"
            raise ReferenceFailure(reason) from failure


def find_reason(failure: ReferenceFailure) -> str:
    """Return the reason alone if an operation of R failed."""
    reason = text_of(failure.answer["error"]) if "error" in failure.answer else str(failure)
    return one_line(reason).rstrip(".")


def count_packages(count: int) -> str:
    """Describe a number of packages."""
    return "1 package" if count == 1 else f"{count} packages"


def _names_in(vector: Vector) -> list[str]:
    return [str(name) for name in vector]
