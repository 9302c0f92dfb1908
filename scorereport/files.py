"""Writing files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_text(path: str | Path, text: str) -> Path:
    """Write beside the target first and rename: nobody ever sees half a file."""
    target = Path(path)
    with NamedTemporaryFile(
        "w", dir=target.parent, prefix=f".{target.name}.", delete=False, encoding="utf-8"
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    Path(file.name).chmod(0o666 & ~_umask())
    return Path(file.name).replace(target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
