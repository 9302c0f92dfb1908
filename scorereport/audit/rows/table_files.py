"""Files and folders of predictions by their names, and which of them is the newest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scorereport.data.sources import locate_source
from scorereport.errors import ScoreReportError

TABLE_ENDINGS = (".csv", ".csv.gz", ".parquet")
#: Where Spark and its like keep what they have not finished.
_IN_PROGRESS = "_temporary"
_UNFINISHED = (".tmp", ".part", "~")


def is_table_file(name: str, endings: tuple[str, ...] = TABLE_ENDINGS) -> bool:
    """Whether a file is one of predictions by its name, and complete."""
    last = Path(name).name.lower()
    return last.endswith(endings) and not last.startswith(".") and not last.endswith(_UNFINISHED)


def is_table_folder(path: Path, name: str) -> bool:
    """Whether a folder is meant, by a slash at its end or by its name, and holds Parquet files, complete."""
    is_meant = name.endswith("/") or is_table_file(name, (".parquet",))
    return is_meant and path.is_dir() and not (path / _IN_PROGRESS).exists() and bool(_list_files(path))


def _list_files(path: Path) -> tuple[Path, ...]:
    try:
        return locate_source(path).files if path.is_dir() else (path,)
    except (ScoreReportError, OSError):
        return ()


def rank_by_time(folder: Path, name: str) -> tuple[Any, ...]:
    """What is larger for a file, or the last of a folder, that was written later; then its name decides."""
    try:
        time = max(file.stat().st_mtime_ns for file in _list_files(folder / name))
    except (OSError, ValueError):  # it has gone since
        time = -1
    return time, *rank_by_name(folder, name)


def rank_by_name(_: Path, name: str) -> tuple[Any, ...]:
    """Numbers in a name count as numbers: 9 comes before 10; folders count as well."""
    parts = re.split(r"(\d+)", name.casefold(), flags=re.ASCII)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name
