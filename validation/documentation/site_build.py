"""Builds the documentation site, for `make docs-site` and for tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
SITE = _REPOSITORY / "build" / "site"


def build_site() -> int:
    """Build the site into build/site and return the exit code of Sphinx; a warning is an error."""
    quiet = ["-W", "--keep-going", "-q", "-j", "auto"]
    places = ["-c", str(Path(__file__).parent), "-d", str(_REPOSITORY / "build" / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *quiet, *places, "-b", "html", "docs", str(SITE)]
    return subprocess.run(command, cwd=_REPOSITORY, check=False).returncode


if __name__ == "__main__":
    code = build_site()
    if not code:
        print(SITE / "index.html")
    sys.exit(code)
