"""Writing files whole or not at all, several of them together or none."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def write_text(path: str | Path, text: str) -> Path:
    """Write text in UTF-8, with the ends of lines it has."""
    return write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write beside the target first and rename: nobody ever sees half a file."""
    return write_together({Path(path): content})[0]


def write_together(contents: Mapping[Path, bytes]) -> list[Path]:
    """Write all files beside their targets first, and rename them once the last of them is complete."""
    waiting: dict[Path, Path] = {}
    try:
        for target, content in contents.items():
            waiting[target] = _reserve(target)
            _fill(waiting[target], content)
        return [waiting[target].replace(target) for target in contents]
    except BaseException:
        for temporary in waiting.values():
            temporary.unlink(missing_ok=True)
        raise


def _reserve(target: Path) -> Path:
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        return Path(file.name)


def _fill(temporary: Path, content: bytes) -> None:
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.chmod(0o666 & ~_umask())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
