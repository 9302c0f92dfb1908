"""Writing files whole or not at all, several of them together or none."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from scorereport.interrupts import check_not_stopped, undisturbed

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
    check_not_stopped()
    waiting = {target: _name_beside(target) for target in contents}  # known before they are there
    try:
        for target, content in contents.items():
            _fill(waiting[target], content)
        with undisturbed():
            return [waiting[target].replace(target) for target in contents]
    finally:
        with undisturbed():
            for temporary in waiting.values():
                temporary.unlink(missing_ok=True)


def _name_beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{token_hex(4)}")


def _fill(temporary: Path, content: bytes) -> None:
    with temporary.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
