"""Source files of an audit: found by a pattern and the period, with similar names if none matches."""

from __future__ import annotations

import glob
import os
import re
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import join_words
from scorereport.data.parquet_files import PARQUET
from scorereport.data.sources import DATABASE_ENDINGS, PART_ENDINGS, TABLE_ENDINGS, locate_source
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from scorereport.configuration.periods import Period


#: The folder of unfinished files that Spark and similar programs write.
_IN_PROGRESS = "_temporary"
_UNFINISHED = (".tmp", ".part", "~")
_MAX_FILES_NAMED = 3
#: How many files of a folder are compared with a pattern that none of them matches.
_MAX_FILES_COMPARED = 10_000
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def is_table_file(name: str, endings: tuple[str, ...] = TABLE_ENDINGS) -> bool:
    """Whether a file is a complete table by its name."""
    last = Path(name).name.lower()
    return last.endswith(endings) and not last.startswith((".", "~$")) and not last.endswith(_UNFINISHED)


def is_table_folder(path: Path, name: str) -> bool:
    """Whether a pattern matches a folder, by a final slash or its name, with complete Parquet files."""
    is_meant = name.endswith("/") or is_table_file(name, PARQUET.endings)
    return is_meant and path.is_dir() and not (path / _IN_PROGRESS).exists() and bool(_list_files(path))


def _list_files(path: Path) -> tuple[Path, ...]:
    try:
        return locate_source(path).files if path.is_dir() else (path,)
    except (ScoreReportError, OSError):
        return ()


def rank_by_time(folder: Path, name: str) -> tuple[Any, ...]:
    """Return a sort key by time of writing (of a folder: its newest file), then by name."""
    try:
        time = max(file.stat().st_mtime_ns for file in _list_files(folder / name))
    except (OSError, ValueError):  # it was removed since
        time = -1
    return time, *rank_by_name(folder, name)


def rank_by_name(_: Path, name: str) -> tuple[Any, ...]:
    """Return a sort key by name, with folders; digits in a name count as numbers: 9 comes before 10."""
    parts = re.split(r"(\d+)", name.casefold(), flags=re.ASCII)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name


def describe_no_match(pattern: str, folder: Path, matches: list[str]) -> str:
    """State why no file was found, and list similar file names."""
    sentence = f"No file matches {pattern!r}, the `audit.source.file`, in {folder.resolve()}"
    if matches:
        shown = join_words(sorted(matches)[:_MAX_FILES_NAMED])
        return (
            f"{sentence}: only names that end in {', '.join(TABLE_ENDINGS)} count, except names that begin "
            f"with a dot or are unfinished (.tmp, .part, ~); found {shown}."
        )
    place = _find_search_folder(pattern, folder).resolve()
    if not os.path.isdir(place):
        return f"{sentence}: there is no folder {place}."
    similar = _find_similar_names(Path(pattern).name, place)
    if not similar:
        return f"{sentence}. There is no file that ends in {', '.join(TABLE_ENDINGS)} in {place}."
    return f"{sentence}. Similar file names in {place}: {join_words(similar)}."


def _find_search_folder(pattern: str, folder: Path) -> Path:
    """Return the folder in which a pattern searches."""
    place = folder
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        place = place / part
    return place


def _find_similar_names(name: str, place: Path) -> list[str]:
    """Return the files of a folder and its subfolders whose names are most similar to a name."""
    found = islice(chain(place.glob("*"), place.glob("[!.]*/*")), _MAX_FILES_COMPARED)
    names = [path.relative_to(place).as_posix() for path in found if is_table_file(path.name)]
    similarity = {other: SequenceMatcher(None, name, Path(other).name).ratio() for other in names}
    return sorted(names, key=lambda other: (-similarity[other], other))[:_MAX_FILES_NAMED]


def find_source_file(pattern: str, period: Period, folder: Path, *, newest: str, table: str = "") -> Path:
    """Find the file, or the folder of Parquet files, that `audit.source.file` names; of several, the newest.

    With a table, it is a database file.
    """
    filled = _fill_placeholders(pattern, period)
    found = glob.glob(filled, root_dir=folder, recursive=True)
    matches = [name for name in found if os.path.isfile(folder / name)]
    endings = (*DATABASE_ENDINGS, *PART_ENDINGS) if table else TABLE_ENDINGS
    candidates = [name for name in matches if is_table_file(name, endings)]
    if not table:
        candidates += [name for name in found if is_table_folder(folder / name, name)]
    if not candidates:
        raise DataError(describe_no_match(filled, folder, matches))
    rank = rank_by_time if newest == "modified" else rank_by_name
    return folder / max(candidates, key=partial(rank, folder))


def _fill_placeholders(pattern: str, period: Period) -> str:
    """Return the pattern with its placeholders replaced by the days of the period."""
    start, end = period.file_bounds
    values = {"period": period.label, "start": start, "end": end}

    def fill(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UsageError(
                f"`audit.source.file` may hold {{period}}, {{start}} and {{end}}; "
                f"got {match[0]} in {pattern!r}."
            )
        value = values[match[1]]
        if value is None:
            raise UsageError(
                "`audit.source.file` holds {start}, but a period of all rows has none: "
                "name a period in `audit.window.period`."
            )
        return glob.escape(value)

    if any(sign in _PLACEHOLDER.sub("", pattern) for sign in "{}"):
        raise UsageError(f"`audit.source.file` has an unmatched brace: {pattern!r}.")
    return _PLACEHOLDER.sub(fill, pattern)
