"""The file that the configuration of an audit names, by a pattern and the days of the period."""

from __future__ import annotations

import glob
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from scorereport.audit.rows.near_files import describe_no_match
from scorereport.audit.rows.table_files import (
    TABLE_ENDINGS,
    is_table_file,
    is_table_folder,
    rank_by_name,
    rank_by_time,
)
from scorereport.configuration.audit_tables import DATABASE_FILES
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.configuration.periods import Period

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def find_source_file(pattern: str, period: Period, folder: Path, *, newest: str, table: str = "") -> Path:
    """The file, or the folder of Parquet files, that `audit.source.file` names: of several, the newest.

    With a table it is the file of a database.
    """
    filled = _fill_placeholders(pattern, period)
    found = glob.glob(filled, root_dir=folder, recursive=True)
    matches = [name for name in found if os.path.isfile(folder / name)]
    candidates = [name for name in matches if is_table_file(name, DATABASE_FILES if table else TABLE_ENDINGS)]
    if not table:
        candidates += [name for name in found if is_table_folder(folder / name, name)]
    if not candidates:
        raise DataError(describe_no_match(filled, folder, matches))
    rank = rank_by_time if newest == "modified" else rank_by_name
    return folder / max(candidates, key=partial(rank, folder))


def _fill_placeholders(pattern: str, period: Period) -> str:
    """The pattern with the days of the period in the places that ask for them."""
    values = {"period": period.label, "start": period.start, "end": period.end}

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
        raise UsageError(f"`audit.source.file` has a brace without its other half: {pattern!r}.")
    return _PLACEHOLDER.sub(fill, pattern)
