"""The R package `scorereport` in a library of its own, and sessions of R that use it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from artefact_tools import make_once, shared_folder

from scorereport.r_package.package_installation import install_r_package

ROOT = Path(__file__).parents[1]
#: Seconds after which a session of R is given up.
TIME_LIMIT = 900


def require_r(*packages: str, programs: tuple[str, ...] = ()) -> str:
    """The path of Rscript; skips with the reason where R, a package of R or a program is missing."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    code = "cat(Filter(function(p) !requireNamespace(p, quietly = TRUE), commandArgs(TRUE)))"
    found = subprocess.run([rscript, "-e", code, *packages], capture_output=True, text=True, check=True)
    if found.stdout.strip():
        pytest.skip(f"R has no package {found.stdout.strip()}")
    return rscript


def make_library(factory: pytest.TempPathFactory) -> Path:
    """A library of R with the package, which all workers share."""
    require_r("jsonlite")
    folder = shared_folder(factory, "r-package")
    make_once(folder, lambda: install_r_package(folder / "library 1"))
    return folder / "library 1"


def make_environment(library: Path | None = None, **changed: str) -> dict[str, str]:
    """The environment of a session: this Python, this source, and the library of the package."""
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    own = {"SCOREREPORT_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    libraries = {} if library is None else {"R_LIBS": str(library)}
    return os.environ | own | libraries | changed


def run_r(code: str, library: Path, folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run code that uses the package in a new session of R, in a folder."""
    script = folder / "script.R"
    script.write_text(f"library(scorereport)\n{code}\n", encoding="utf-8")
    return subprocess.run(
        ["Rscript", "--encoding=UTF-8", str(script)],
        capture_output=True,
        cwd=folder,
        env=make_environment(library, **changed),
        encoding="utf-8",
        timeout=TIME_LIMIT,
        check=False,
    )


def require_done(done: subprocess.CompletedProcess[str]) -> str:
    """The output of a session that must not fail."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
