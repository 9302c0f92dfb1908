"""Where R is, which version, how to fix what is missing, and the installation of its package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.formatting import one_line
from scorereport._utils.processes import kill_process_group
from scorereport.errors import ScoreReportError

#: Later rpy2-rinterface distributions call functions that came with R 4.5.
_LAST_FOR_OLDER_R, _NEEDS_R = "3.6.5", (4, 5)
_RPY2_PARTS = ("rpy2", "rpy2-rinterface", "rpy2-robjects")


class Unavailable(Exception):  # noqa: N818  # a finding, not an error of ours
    """A reference is not there; with the sentence that says so, and the command that mends it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class RInstallation:
    """An R: its script runner, and its version if it tells."""

    rscript: Path
    version: tuple[int, ...]

    @property
    def version_text(self) -> str:
        """The version as people write it."""
        return ".".join(map(str, self.version)) or "of unknown version"


def find_r(time_limit: float = 60) -> RInstallation:
    """The R that R_HOME names, or else the one on the path."""
    home = os.environ.get("R_HOME") or None
    found = shutil.which("Rscript", path=None if home is None else os.fspath(Path(home, "bin")))
    if found is not None:
        return RInstallation(rscript=Path(found), version=_ask_version(found, min(time_limit, 60)))
    if home is not None:
        raise Unavailable(f"R_HOME is {home}, where there is no R.", "unset R_HOME")
    raise Unavailable("R is not installed: there is no Rscript on the path.", _r_remedy())


def _ask_version(rscript: str, time_limit: float) -> tuple[int, ...]:
    """The version that R tells; nothing if it tells none in time."""
    try:
        process = subprocess.Popen(
            [rscript, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return ()
    with process:
        try:
            said = process.communicate(timeout=time_limit)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            said = ""
        finally:
            kill_process_group(process)
    numbers = re.search(r"version (\d+)\.(\d+)\.(\d+)", said)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _r_remedy() -> str:
    if shutil.which("apt-get"):
        return "sudo apt-get install r-base-core r-base-dev"
    if sys.platform == "darwin":
        return "brew install r"
    return "winget install RProject.R" if sys.platform == "win32" else "install R from CRAN"


def rpy2_remedy(r: RInstallation) -> str:
    """The command that installs the rpy2 that fits this R."""
    if r.version and r.version < _NEEDS_R:
        return f"pip install {' '.join(f'{name}=={_LAST_FOR_OLDER_R}' for name in _RPY2_PARTS)}"
    return 'pip install "scorereport[r]"'


def explain_misfit(r: RInstallation, message: str) -> Unavailable:
    """Why an installed rpy2 does not load."""
    installed = _installed("rpy2-rinterface")
    newer = tuple(map(int, re.findall(r"\d+", installed)[:3])) > tuple(map(int, _LAST_FOR_OLDER_R.split(".")))
    if newer and r.version and r.version < _NEEDS_R:
        return Unavailable(
            f"rpy2-rinterface {installed} needs R {'.'.join(map(str, _NEEDS_R))} or newer; this is R "
            f"{r.version_text}.",
            rpy2_remedy(r),
        )
    return Unavailable(
        f"rpy2-rinterface {installed} does not load with R {r.version_text}: {message}",
        f"{rpy2_remedy(r)} --force-reinstall --no-cache-dir --no-binary rpy2-rinterface",
    )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "0"


_SCRIPT = Path(__file__).parent / "r" / "setup.R"


class SetupError(ScoreReportError):
    """The R package could not be installed."""


def install_package(*, repository: str = "", again: bool = False, quiet: bool = False) -> str:
    """Install reliabilitydiag; what R says meanwhile goes to standard error.

    Parameters
    ----------
    repository : the address of another repository than CRAN
    again : install also where the package is there already

    Returns
    -------
    A sentence that says what was done.
    """
    try:
        r = find_r()
    except Unavailable as error:
        raise SetupError(f"{error} To mend it: {error.remedy}") from error
    with TemporaryFolder("r-") as folder:
        result = folder / "result"
        _run(
            [str(r.rscript), str(_SCRIPT), str(result), repository, "again" if again else ""],
            str(folder),
            quiet=quiet,
        )
        said = one_line(result.read_text(encoding="utf-8", errors="replace")) if result.exists() else ""
    if said.startswith(("installed ", "nothing to do: ")):
        return f"R {r.version_text}: {said}."
    why = said if said.startswith("failed: ") else "failed: R ended early"
    hint = "Without --quiet R says why" if quiet else "R's messages above say why"
    raise SetupError(f"R set-up {why}. {hint}; the repository must be reachable.")


def _run(program: list[str], folder: str, *, quiet: bool) -> None:
    """Run R to its end; its lines go on to standard error without what would steer a terminal."""
    with subprocess.Popen(
        program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env={**os.environ, "TMPDIR": folder},  # what R leaves behind goes with the folder
        start_new_session=True,
    ) as process:
        try:
            for line in process.stdout or ():
                sys.stderr.write(f"{one_line(line.decode(errors='replace'))}\n")
                sys.stderr.flush()
            process.wait()
        finally:  # also if interrupted, with all that it started
            kill_process_group(process)
