"""Where a report comes from: the time, the command, the software and the state of the user's repository."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scorereport.clock import timestamp

_SOFTWARE = (
    "scorereport",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "matplotlib",
    "seaborn",
    "jinja2",
    "weasyprint",
)
_SECONDS_FOR_GIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit of a git repository, and whether files differed from it."""

    commit: str
    is_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When, how and with what a report was made."""

    time: str
    command: str = ""
    templates_sha256: str = ""
    revision: Revision | None = None
    machine: str = ""
    software: dict[str, str] = field(default_factory=dict)


def trace(*, command: str = "", templates_sha256: str = "", time: str | None = None) -> Provenance:
    """Note what can be known of this run."""
    return Provenance(
        time=timestamp() if time is None else time,
        command=command,
        templates_sha256=templates_sha256,
        revision=read_revision(Path.cwd()),
        machine=f"{platform.system()} {platform.machine()}",
        software={"python": platform.python_version(), **_versions()},
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in _SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder, not installed
            continue
    return found


def read_revision(folder: Path) -> Revision | None:
    """The commit that a folder is at; None outside a repository, or without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    return Revision(commit=commit.strip(), is_changed=bool(_git(folder, "status", "--porcelain", "-uno")))


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=_SECONDS_FOR_GIT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout
