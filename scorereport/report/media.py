"""Kinds of files, by a table of our own."""

from __future__ import annotations

from pathlib import Path

#: Kinds of files by their endings; what a machine knows of others must not change the bytes.
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".webp": "image/webp",
}


def media_type_of(name: str) -> str:
    """The kind of a file by the ending of its name."""
    return _MEDIA_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")
