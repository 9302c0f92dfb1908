"""What to say if no file is the one that an audit asks for."""

from __future__ import annotations

import glob
import os
from difflib import SequenceMatcher
from itertools import chain, islice
from pathlib import Path

from scorereport._utils.formatting import join_words
from scorereport.audit.rows.table_files import TABLE_ENDINGS, is_table_file

_MAX_FILES_NAMED = 3
#: How many files of a folder are compared with a pattern that none of them matches.
_MAX_FILES_COMPARED = 10_000


def describe_no_match(pattern: str, folder: Path, matches: list[str]) -> str:
    """Why no file was found, and which are nearest to what was asked for."""
    told = f"No file matches {pattern!r}, the `audit.source.file`, in {folder.resolve()}"
    if matches:
        shown = join_words(sorted(matches)[:_MAX_FILES_NAMED])
        return (
            f"{told}: only names that end in {', '.join(TABLE_ENDINGS)} count, and none that begins with a dot "
            f"or is unfinished (.tmp, .part, ~), unlike {shown}."
        )
    place = _find_search_folder(pattern, folder).resolve()
    if not os.path.isdir(place):
        return f"{told}: there is no folder {place}."
    near = _find_similar_names(Path(pattern).name, place)
    if not near:
        return f"{told}. There is no file that ends in {', '.join(TABLE_ENDINGS)} in {place}."
    return f"{told}. The nearest files in {place} are {join_words(near)}."


def _find_search_folder(pattern: str, folder: Path) -> Path:
    """The folder below which a pattern looks."""
    place = folder
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        place = place / part
    return place


def _find_similar_names(name: str, place: Path) -> list[str]:
    """The files of a folder, and of those in it, whose names are most like the one that was asked for."""
    found = islice(chain(place.glob("*"), place.glob("[!.]*/*")), _MAX_FILES_COMPARED)
    names = [path.relative_to(place).as_posix() for path in found if is_table_file(path.name)]
    likeness = {other: SequenceMatcher(None, name, Path(other).name).ratio() for other in names}
    return sorted(names, key=lambda other: (-likeness[other], other))[:_MAX_FILES_NAMED]
