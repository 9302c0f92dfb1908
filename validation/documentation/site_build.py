"""Builds the documentation site, for `make docs-site` and for tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
SITE = _REPOSITORY / "build" / "site"
_DOCTREES = _REPOSITORY / "build" / "doctrees"


def build_site() -> int:
    """Build the site into build/site and return the exit code of Sphinx; a warning is an error.

    Sphinx reads only pages that have changed. After a failure all are read again: otherwise the next build
    would not repeat the warnings.
    """
    quiet = ["-W", "--keep-going", "-q", "-j", "auto"]
    places = ["-c", str(Path(__file__).parent), "-d", str(_DOCTREES)]
    command = [sys.executable, "-m", "sphinx", *quiet, *places, "-b", "html", "docs", str(SITE)]
    code = subprocess.run(command, cwd=_REPOSITORY, check=False).returncode
    if code:
        shutil.rmtree(_DOCTREES, ignore_errors=True)
    return code


if __name__ == "__main__":
    code = build_site()
    if not code:
        print(SITE / "index.html")
    sys.exit(code)
