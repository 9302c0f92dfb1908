"""Installing the R package reliabilitydiag from CRAN, into the user's own library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.formatting import one_line
from scorereport._utils.scorereport_processes import kill_process_group
from scorereport.errors import ScoreReportError
from scorereport.reference.r_installation import Unavailable, find_r

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
