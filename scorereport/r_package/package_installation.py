"""Install the R package `scorereport` from its source in this package, or copy the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.formatting import one_line
from scorereport.errors import ScoreReportError, UsageError
from scorereport.reference.r_installation import RInstallation, Unavailable, find_r

SOURCE = Path(__file__).parent / "source"
#: The oldest R whose functions the package uses, as its DESCRIPTION states.
_OLDEST_R = (4, 0)
#: Seconds after which R is given up.
_TIME_LIMIT = 300
#: Prints the library to install into and whether it can be written, then whether jsonlite is there.
_SURVEY = """
given <- commandArgs(TRUE)
library <- if (length(given)) given[1] else {
  writable <- .libPaths()[file.access(.libPaths(), 2) == 0]
  own <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]]
  c(writable, path.expand(own), .libPaths())[1]
}
dir.create(library, recursive = TRUE, showWarnings = FALSE)
cat(normalizePath(library, mustWork = FALSE), file.access(library, 2) == 0,
    nzchar(system.file(package = "jsonlite")), sep = "\\n")
"""


class RPackageError(ScoreReportError):
    """The R package could not be installed."""


def install_r_package(library: Path | None = None) -> str:
    """Install the R package into a library, by default the first that the user may write; return a sentence."""
    r = _find_new_r()
    with TemporaryFolder("r-") as folder:
        where = _find_library(r, library, folder)
        copy = _copy_files(folder / "scorereport")
        command = ["CMD", "INSTALL", "--no-test-load", f"--library={where}", str(copy)]
        process = _run_r(r.rscript.with_name(f"R{r.rscript.suffix}"), command, folder)
    if process.returncode:
        raise RPackageError(f"R could not install the package into {where}: {_find_reason(process.stdout)}")
    return (
        f"The R package scorereport {read_version()} is installed into {where} (R {r.version_text}). "
        'In R: library(scorereport); help(package = "scorereport").'
    )


def copy_source(folder: Path) -> str:
    """Copy the source of the package into a new folder, to be inspected, built and checked."""
    if folder.exists():
        raise UsageError(f"{folder} exists already. To fix: name a folder that is to be made.")
    if not folder.parent.is_dir():
        raise UsageError(f"The folder {folder.parent} does not exist. To fix: create it, or name another.")
    _copy_files(folder)
    return f"The source of the R package is in {folder}; R CMD INSTALL {folder} installs it."


def read_version() -> str:
    """The version of the R package, as its DESCRIPTION states it."""
    found = re.search(r"^Version: (\S+)$", (SOURCE / "DESCRIPTION").read_text(encoding="utf-8"), flags=re.M)
    if found is None:
        raise RPackageError(f"{SOURCE / 'DESCRIPTION'} states no version.")
    return found[1]


def _copy_files(folder: Path) -> Path:
    """Copy the files without their times and permissions, which an installation may not have."""
    return Path(shutil.copytree(SOURCE, folder, copy_function=shutil.copyfile))


def _find_new_r() -> RInstallation:
    try:
        r = find_r()
    except Unavailable as error:
        raise RPackageError(f"{error} To fix: {error.remedy}") from error
    if r.version and r.version < _OLDEST_R:
        raise RPackageError(f"R {r.version_text} is too old: the package needs R 4.0 or newer.")
    return r


def _find_library(r: RInstallation, library: Path | None, folder: Path) -> str:
    """The library to install into; refuse one that cannot be written, or an R without jsonlite."""
    script = folder / "survey.R"
    script.write_text(_SURVEY, encoding="utf-8")
    given = [] if library is None else [str(library.absolute())]
    process = _run_r(r.rscript, ["--no-init-file", str(script), *given], folder)
    lines = process.stdout.splitlines()[-3:]
    if process.returncode or len(lines) < 3:
        raise RPackageError(f"R did not start: {_find_reason(process.stdout)}")
    where, is_writable, has_jsonlite = lines
    if is_writable != "TRUE":
        raise RPackageError(
            f"The R library {where} cannot be written. To fix: name another folder with --library, which R "
            "finds if the environment variable R_LIBS_USER names it."
        )
    if has_jsonlite != "TRUE":
        raise RPackageError(f"R has no package jsonlite. To fix: {_jsonlite_remedy()}")
    return where


def _jsonlite_remedy() -> str:
    if shutil.which("apt-get"):
        return "sudo apt-get install r-cran-jsonlite"
    return "Rscript -e 'install.packages(\"jsonlite\")'"


def _run_r(program: Path, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run R to its end; temporary files of R are removed with the folder."""
    try:
        return subprocess.run(
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder)},
            encoding="utf-8",
            errors="replace",
            timeout=_TIME_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RPackageError(f"R did not run: {error}") from error


def _find_reason(output: str) -> str:
    """The line of R's output that says what is wrong, or else its last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR") or "rror" in line]
    return one_line((errors or lines or ["R said nothing."])[0])
