"""Where a report comes from: the time, the command, the software and the state of the user's repository."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scorereport._utils.clock import timestamp
from scorereport.report.repository import Revision, read_revision

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When, how and with what a report was made."""

    time: str
    command: str = ""
    templates_sha256: str = ""
    revision: Revision | None = None
    machine: str = ""
    software: dict[str, str] = field(default_factory=dict)


def trace_provenance(*, command: str = "", templates_sha256: str = "", time: str | None = None) -> Provenance:
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
