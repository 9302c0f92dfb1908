"""R packages that Debian and Ubuntu have ready-built, installed by apt."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

_PREFIX = "r-cran-"
#: A new machine may be busy with its first upgrades: apt waits this many seconds for its lock.
_APT = ("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300")


class NotInstalled(Exception):  # noqa: N818  # a finding: the packages can be built instead
    """Ready-built packages cannot be installed; the message is a clause with the reason."""


def gain_rights() -> list[str]:
    """Return what goes before a command that root must run; asks for the password where sudo needs it."""
    if shutil.which("apt-get") is None:
        raise NotInstalled("this system has no apt-get")
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        raise NotInstalled("apt-get needs root, and there is no sudo")
    if subprocess.run(["sudo", "-v"], check=False).returncode != 0:
        raise NotInstalled("apt-get needs root, and sudo refused")
    return ["sudo", "-n"]


def install_ready_built(packages: Sequence[str], rights: Sequence[str], log: IO[str]) -> list[str]:
    """Install those of these R packages that the distribution has; return the names of its packages."""
    _run([*rights, *_APT, "update"], log)  # without new lists, the old ones may do
    known = subprocess.run(
        ["apt-cache", "pkgnames", _PREFIX], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    ).stdout.decode()
    names = sorted({_PREFIX + package.lower() for package in packages} & set(known.split()))
    options = ["install", "-y", "--no-install-recommends", "--no-remove"]
    if names and _run([*rights, *_APT, *options, *names], log) != 0:
        raise NotInstalled("apt-get failed")
    return names


def _run(command: list[str], log: IO[str]) -> int:
    """Run a command to its end; after an interrupt apt itself ends, where nothing is half-installed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
    ) as process:
        return process.wait()
