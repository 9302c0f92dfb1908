"""The R library of scorereport's own, in the data folder of the user: one for each version of R and platform.

Packages of the user's library would not always fit together with those of reliabilitydiag. So the package is
installed here with all that it needs, and R then searches neither the libraries nor the profile of the user.
Without it, R searches the libraries of the user and of the system.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorereport.reference.r_installation import RInstallation

#: Names another folder for the libraries.
VARIABLE = "SCOREREPORT_R_LIBRARY"
_PACKAGE = "reliabilitydiag"


def locate_library(r: RInstallation) -> Path | None:
    """Return where the library for this R belongs; None if its version or the home folder is not known."""
    root, version = _find_root(), ".".join(map(str, r.version[:2]))
    if root is None or not version:
        return None
    return root / f"{sys.platform}-{platform.machine().lower()}" / version


def find_library(r: RInstallation) -> Path | None:
    """Return the library for this R, if reliabilitydiag is installed in it."""
    root = _find_root()
    if root is None or not root.is_dir():  # without asking R for its version
        return None
    library = locate_library(r)
    return library if library is not None and (library / _PACKAGE / "DESCRIPTION").is_file() else None


def isolate(library: Path | None) -> dict[str, str]:
    """Return variables for a process of R, whose profile must not load packages of other libraries.

    The operation `hello` sets the libraries themselves, because some of them only R knows.
    """
    if library is None:
        return {}
    return {"R_PROFILE_USER": str(library / "no profile"), "R_LIBS": "", "R_LIBS_USER": str(library)}


def _find_root() -> Path | None:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    folder = _find_data_folder()
    return None if folder is None else folder / "scorereport" / "R"


def _find_data_folder() -> Path | None:
    """Return the folder for data of programs of this user, as the system wants it."""
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support"
        name, inside = "XDG_DATA_HOME", Path(".local", "share")
        if sys.platform == "win32":
            name, inside = "LOCALAPPDATA", Path("AppData", "Local")
        chosen = Path(os.environ.get(name, ""))
        # A relative path is to be ignored, by the specification of these variables.
        return chosen if chosen.is_absolute() else Path.home() / inside
    except RuntimeError:  # the user has no home folder
        return None
