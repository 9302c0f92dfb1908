"""The names of the checklists of the package, which are those of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.files import find_package_folder

if TYPE_CHECKING:
    from pathlib import Path

#: The ending of the files of checklists.
ENDING = ".toml"


def list_checklist_names() -> tuple[str, ...]:
    """Return the names of the checklists of the package in alphabetical order.

    >>> "tripod-ai" in list_checklist_names()
    True
    """
    return tuple(sorted(path.stem for path in find_checklist_folder().glob(f"*{ENDING}")))


def find_checklist_folder() -> Path:
    """Return the folder with the checklists of the package."""
    return find_package_folder("templates") / "checklists"
