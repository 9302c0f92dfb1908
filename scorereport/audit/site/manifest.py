"""Which files of a folder are of the site: the list of them, and what may be written and removed."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scorereport._utils.scorereport_files import write_text
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

MANIFEST_FILE = ".scorereport-site"
_MANIFEST_VERSION = 1


def read_manifest(folder: Path) -> frozenset[str]:
    """The files that an earlier site has in a folder; a folder of anything else is refused."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"The site needs a folder; {folder} is a file.")
    if not (folder / MANIFEST_FILE).is_file():
        _check_empty(folder)
        return frozenset()
    return frozenset(name for name in _parse_manifest(folder / MANIFEST_FILE) if _is_inside(folder, name))


def _check_empty(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"The folder {folder} holds files, and is no site that scorereport wrote; name another one."
        )


def _parse_manifest(path: Path) -> list[str]:
    try:
        document = json.loads(path.read_bytes())
        names = document["files"]
        if document["version"] == _MANIFEST_VERSION and all(isinstance(name, str) for name in names):
            return list(names)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise UsageError(
        f"{path} is no list of files of this scorereport; move the folder away, or name another one."
    )


def _is_inside(folder: Path, name: str) -> bool:
    """Whether a name of the list is one of a file below the folder, also after all links are followed."""
    parts = PurePosixPath(name).parts
    plain = bool(parts) and ".." not in parts and not name.startswith("/") and "\\" not in name
    return plain and (folder / name).parent.resolve().is_relative_to(folder.resolve())


def check_no_foreign_files(folder: Path, names: Iterable[str], own: frozenset[str]) -> None:
    """Refuse to write over what somebody else has put into the folder."""
    for name in names:
        path = folder / name
        if not _is_inside(folder, name):
            raise UsageError(
                f"{path.parent} leads out of the folder {folder}; move it away, or name another one."
            )
        if name not in own and (path.is_symlink() or path.exists()):
            raise UsageError(f"{path} was not written by scorereport; move it away, or name another folder.")


def write_manifest(folder: Path, names: Iterable[str]) -> Path:
    """Write down which files are of the site."""
    document = {"software": "scorereport", "version": _MANIFEST_VERSION, "files": sorted(set(names))}
    return write_text(
        folder / MANIFEST_FILE, json.dumps(document, ensure_ascii=False, indent=0) + "\n", public=True
    )


def remove_site_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of an earlier site, and folders that are empty then."""
    for name in sorted(names):
        path = folder / name
        path.unlink(missing_ok=True)
        for parent in (folder / above for above in PurePosixPath(name).parents if above.parts):
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
