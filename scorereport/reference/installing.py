"""Installing the R package reliabilitydiag from CRAN, into the user's own library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scorereport.errors import ScoreReportError
from scorereport.reference.installation import Unavailable, find_r

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
    with TemporaryDirectory(prefix="scorereport-r-") as folder:
        result = Path(folder, "result")
        subprocess.run(
            [str(r.rscript), str(_SCRIPT), str(result), repository, "again" if again else ""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else sys.stderr,
            stderr=subprocess.DEVNULL if quiet else None,
            cwd=folder,
            check=False,
        )
        said = "failed: R ended early"
        if result.exists():
            said = result.read_text(encoding="utf-8", errors="replace").strip()
    if not said.startswith(("installed ", "nothing to do: ")):
        hint = "Without --quiet R says why" if quiet else "R's messages above say why"
        raise SetupError(f"R set-up {said}. {hint}; the repository must be reachable.")
    return f"R {r.version_text}: {said}."
