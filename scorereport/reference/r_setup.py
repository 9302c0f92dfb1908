"""Install the R package reliabilitydiag, with all that it needs, into the library of scorereport's own.

A new library is built beside the old one and takes its place only once an example came out right in it. What
was built stays for the next call if this one is interrupted.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scorereport._utils.processes import signals_deferred
from scorereport._utils.progress import report_start
from scorereport.errors import ScoreReportError
from scorereport.reference.distribution_packages import NotInstalled, gain_rights, install_ready_built
from scorereport.reference.live_references import PACKAGE, R_CODE, greet, list_sources, require_package
from scorereport.reference.r_installation import RInstallation, Unavailable, find_r, rpy2_remedy
from scorereport.reference.r_library import VARIABLE, find_library, isolate, locate_library
from scorereport.reference.r_repository import Repository, count_packages, find_reason
from scorereport.reference.r_session import ReferenceFailure, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Display = Callable[[], AbstractContextManager[None]]

#: Seconds within which R must have computed an example, and for which a call waits for another one.
_TO_CHECK, _TO_WAIT = 300.0, 7200.0
_OTHER_FOLDER = f"To fix: name a folder for R packages in {VARIABLE}"


class SetupError(ScoreReportError):
    """The R package could not be installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What R answers about reliabilitydiag: its version and library, or why certificates cannot use it."""

    version: str = ""
    place: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where a library belongs, and what lies beside it."""

    library: Path

    def beside(self, ending: str) -> Path:
        """Return the path of a neighbour, such as that of the lock."""
        return self.library.with_name(f"{self.library.name}.{ending}")

    def new(self, *, is_alone: bool) -> Path:
        """Return the folder in which a library is built, with or without packages of the distribution."""
        return self.beside("new-alone" if is_alone else "new")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupRequest:
    """What is to be done.

    repository : the address of a repository other than CRAN
    again : install even if the package works already
    system : install what Debian or Ubuntu have ready-built first, as root or by sudo
    most_builds : give up if more packages than these would have to be built
    """

    repository: str = ""
    again: bool = False
    system: bool = False
    most_builds: int | None = None


def install_package(request: SetupRequest, show: Display = nullcontext) -> str:
    """Install the R package reliabilitydiag unless it gives the right numbers already.

    `show` shows the progress that is reported inside its block. Returns a sentence that states what was done.
    """
    try:
        r = find_r()
    except Unavailable as error:
        raise SetupError(f"{error} To fix: {error.remedy}") from error
    places = _find_places(r)
    with _lock(places, show):
        with show():
            report_start("checking the R package reliabilitydiag")
            state = _check(r, find_library(r))
        if not state.problem and not request.again:
            found = f"reliabilitydiag {state.version} in {state.place}"
            return f"R {r.version_text}: nothing to do: {found} gives the right numbers.{_mention_rpy2(r)}"
        try:
            return _install(r, places, state, request, show)
        except ReferenceFailure as failure:
            reason = find_reason(failure)
        except OSError as error:
            reason = f"{places.library} cannot be written to: {error.strerror or error}"
        if state.problem:
            raise SetupError(f"R set-up failed: {reason}; certificates use base R.")
        raise SetupError(f"R set-up failed: {reason}; reliabilitydiag in {state.place} stays in use.")


def _find_places(r: RInstallation) -> _Places:
    if not r.version:
        raise SetupError("R set-up failed: R does not report its version. To fix: install R anew")
    library = locate_library(r)
    if library is None:
        raise SetupError(f"R set-up failed: your home folder is not known. {_OTHER_FOLDER}")
    return _Places(library=library)


@contextmanager
def _lock(places: _Places, show: Display) -> Iterator[None]:
    """Wait until no other call works on the library, and put back what an interrupted one put aside."""
    from filelock import FileLock, Timeout

    try:
        places.library.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(places.beside("lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with show():
                report_start("waiting for another r-setup")
                lock.acquire(timeout=_TO_WAIT)
    except OSError as error:  # a Timeout is one
        reason = f"{places.library.parent} cannot be written to: {error.strerror or error}"
        raise SetupError(f"R set-up failed: {reason}. {_OTHER_FOLDER}") from error
    try:
        if places.beside("old").exists() and not places.library.exists():
            places.beside("old").rename(places.library)
        yield
    finally:
        lock.release()


def _check(r: RInstallation, library: Path | None) -> _State:
    """Compute an example in R, without rpy2."""
    try:
        with Session(
            [str(r.rscript), str(R_CODE / "serve.R")],
            list_sources(PACKAGE),
            time_limit=_TO_CHECK,
            environment=isolate(library),
        ) as session:
            versions = greet(session, library)
        require_package(versions)
    except (Unavailable, ReferenceFailure) as error:
        return _State(problem=str(error))
    return _State(version=versions["reliabilitydiag"], place=versions["location"])


def _install(r: RInstallation, places: _Places, state: _State, request: SetupRequest, show: Display) -> str:
    with places.beside("log").open("w", encoding="utf-8") as log, Repository(r, log) as source:
        with show():
            source.reach(request.repository)
        without = _take_ready_built(source, log, show) if request.system else ""
        with show():
            installed, count = _build(r, places, source, request.most_builds)
    return (
        f"R {r.version_text}: installed reliabilitydiag {installed.version} in {places.library}, built with "
        f"{count_packages(count)} from {source.address}{without}.{_mention_rpy2(r)}"
        + (f" It replaces what did not work: {state.problem}" if "not fit" in state.problem else "")
    )


def _take_ready_built(source: Repository, log: IO[str], show: Display) -> str:
    """Install packages of the distribution; return a clause if that failed, for then they are built."""
    try:
        rights = gain_rights()  # may ask for a password, which progress would overwrite
        with show():
            report_start("installing ready-built R packages of the distribution")
            install_ready_built(source.list_needed(), rights, log)
    except NotInstalled as error:
        return f", without packages of the distribution ({error})"
    return ""


def _build(
    r: RInstallation, places: _Places, source: Repository, most_builds: int | None
) -> tuple[_State, int]:
    """Build a library that works; return what is in it, and the number of packages that it took.

    If packages of the distribution do not work, a library without them is built.
    """
    for is_alone in (False, True):
        new = places.new(is_alone=is_alone)
        new.mkdir(parents=True, exist_ok=True)
        count, is_mixed = source.fill(new, most_builds, is_alone=is_alone)
        report_start("computing an example")
        state = _check(r, new)
        if not state.problem:
            _replace(places, new)
            return state, count
        shutil.rmtree(new)  # so that nothing of it is kept
        if not is_mixed:
            break
    raise ReferenceFailure(f"{state.problem.rstrip('.')} (all output is in {places.beside('log')})")


def _replace(places: _Places, new: Path) -> None:
    old = places.beside("old")
    shutil.rmtree(old, ignore_errors=True)
    with signals_deferred():
        if places.library.exists():
            places.library.rename(old)
        new.rename(places.library)
    for folder in (old, places.new(is_alone=False), places.new(is_alone=True)):
        shutil.rmtree(folder, ignore_errors=True)


def _mention_rpy2(r: RInstallation) -> str:
    """Say what certificates still need."""
    return "" if find_spec("rpy2") else f" Certificates also need rpy2: {rpy2_remedy(r)}"
