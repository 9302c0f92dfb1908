"""Find R and its version, and explain how to fix what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scorereport._utils.processes import kill_process_group

#: Later versions of rpy2-rinterface need functions that are new in R 4.5.
_LAST_FOR_OLDER_R, _NEEDS_R = "3.6.5", (4, 5)
_RPY2_PARTS = ("rpy2", "rpy2-rinterface", "rpy2-robjects")


class Unavailable(Exception):  # noqa: N818  # a finding, not an error of ours
    """A reference is not available; with the reason as a sentence, and the command that fixes it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class RInstallation:
    """An installation of R: its script runner, and the seconds within which it must report its version."""

    rscript: Path
    time_limit: float = 60

    @property
    def version(self) -> tuple[int, ...]:
        """The version that R reports, in a process of its own; empty if it is not known."""
        return _ask_version(str(self.rscript), min(self.time_limit, 60))

    @property
    def version_text(self) -> str:
        """The version as text, such as "4.2.2"."""
        return ".".join(map(str, self.version)) or "of unknown version"


def find_r(time_limit: float = 60) -> RInstallation:
    """Find R: that of R_HOME if it is set, otherwise the one on the path."""
    home = os.environ.get("R_HOME") or None
    found = shutil.which("Rscript", path=None if home is None else os.fspath(Path(home, "bin")))
    if found is not None:
        return RInstallation(rscript=Path(found), time_limit=time_limit)
    if home is not None:
        raise Unavailable(f"R_HOME is {home}, where there is no R.", "unset R_HOME")
    raise Unavailable("R is not installed: there is no Rscript on the path.", _r_remedy())


def _ask_version(rscript: str, time_limit: float) -> tuple[int, ...]:
    """The version that R reports; empty if it reports none in time."""
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
            output = process.communicate(timeout=time_limit)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            output = ""
        finally:
            kill_process_group(process)
    numbers = re.search(r"version (\d+)\.(\d+)\.(\d+)", output)
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
    """Explain why an installed rpy2 does not load, and how to fix it."""
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
