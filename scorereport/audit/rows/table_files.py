"""Files of predictions by their names, and which of them is the newest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ENDINGS = (".csv", ".csv.gz", ".parquet")
_UNFINISHED = (".tmp", ".part", "~")


def is_table(name: str) -> bool:
    """Whether a file is one of predictions by its name, and complete."""
    last = Path(name).name.lower()
    return last.endswith(ENDINGS) and not last.startswith(".") and not last.endswith(_UNFINISHED)


def rank_by_time(folder: Path, name: str) -> tuple[Any, ...]:
    """What is larger for a file that was written later; then its name decides."""
    try:
        time = (folder / name).stat().st_mtime_ns
    except OSError:  # it has gone since
        time = -1
    return time, *rank_by_name(folder, name)


def rank_by_name(_: Path, name: str) -> tuple[Any, ...]:
    """Numbers in a name count as numbers: 9 comes before 10; folders count as well."""
    parts = re.split(r"(\d+)", name.casefold(), flags=re.ASCII)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name
