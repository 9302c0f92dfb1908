"""The digest of what the documentation site is built from, by which a site that is out of date is recognised.

The module uses the standard library alone: the build of a wheel runs it without the package.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The file of the site that holds the digest of its sources.
DIGEST_FILE = "sources.sha256"
_PACKAGE = ("pyproject.toml", "scorereport", "templates")
_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "docs", "validation/documentation")
_IGNORED = ("__pycache__",)


def digest_sources(root: Path) -> str:
    """Return the SHA-256 of the names and contents of all files that the site depends on."""
    return _digest(root, (*_PACKAGE, *_PAGES))


def digest_package(root: Path) -> str:
    """Return the SHA-256 of the package, on which the output of code on pages depends."""
    return _digest(root, _PACKAGE)


def _digest(root: Path, sources: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for source in sources for path in _list_files(root / source)):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _list_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    return [path for path in source.rglob("*") if path.is_file() and path.parent.name not in _IGNORED]


def is_current(root: Path) -> bool:
    """Whether build/site was built from the present sources."""
    written = root / "build" / "site" / DIGEST_FILE
    return written.is_file() and written.read_text(encoding="utf-8") == digest_sources(root)
