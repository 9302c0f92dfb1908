"""Where the rows of an audit come from: the newest file or a database, and of it the days of the period."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport.audit.databases import Database, find_database
from scorereport.cases import DroppedRows, MissingValues, RowFlow
from scorereport.checks import refuse_rows
from scorereport.columns import label_text
from scorereport.errors import DataError, UsageError
from scorereport.formatting import counted, join_words
from scorereport.predictions import ClassPredictions, Predictions, check_class_names
from scorereport.reading import Roles, _columns_of, read_predictions
from scorereport.sources import MISSING_WORDS, hash_file, read_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from zoneinfo import ZoneInfo

    import pandas as pd
    from numpy.typing import NDArray

    from scorereport.arrays import IntArray
    from scorereport.configuration.audit_tables import SourceTable, WindowTable
    from scorereport.periods import Period

#: Parts beside outcomes and forecasts that columns may play.
_PARTS = ("weight", "group", "cluster", "grade", "time")
_ENDINGS = (".csv", ".csv.gz", ".parquet")
_UNFINISHED = (".tmp", ".part", "~")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_FILES_NAMED = 3
#: How many files of a folder are compared with a pattern that none of them matches.
_FILES_COMPARED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """The rows of an audit, what they were read from, and the hash of the file if it was one."""

    predictions: Predictions | ClassPredictions
    source: str
    source_sha256: str


class _Read(NamedTuple):
    """Columns as they came, and where from.

    `order` says in which order the rows are, `find_times` finds times that the source has, of any day.
    `counts_others` tells whether rows of other days were read as well.
    """

    frame: pd.DataFrame
    source: str
    order: str
    find_times: Callable[[], pd.Series[Any]]
    sha256: str = ""
    counts_others: bool = True


class _Chosen(NamedTuple):
    """The rows of the period, where they stood, and how many were read, were others, or had no time."""

    frame: pd.DataFrame
    rows: IntArray
    read: int
    others: int = 0
    without_time: int = 0


def gather(
    source: SourceTable,
    window: WindowTable,
    period: Period,
    columns: Mapping[str, Any],
    *,
    folder: Path,
    zone: ZoneInfo,
    expand: Callable[[str, str], str],
) -> Gathered:
    """Read the rows that an audit of a period is about.

    Parameters
    ----------
    source, window : the tables of the configuration
    period : the days of the audit
    columns : which column plays which part, as `read_predictions` takes them
    folder : the folder of the configuration, which paths are relative to
    zone : the time zone in which days begin, and that of times which name none
    expand : puts environment variables into a text; what it returns is secret
    """
    _check_source(source)
    roles = _find_roles(columns)
    if source.file:
        read = _read_file(source, window, period, roles, folder)
    else:
        database = find_database(source, folder=folder, zone=zone, expand=expand)
        read = _read_database(database, window, period, roles)
    is_time, drop = window.column == roles.time, columns.get("missing") == "drop"
    chosen = _choose(read, window.column, period, zone, is_time=is_time, drop=drop)
    predictions = _read_chosen(chosen, read, period, columns)
    predictions = replace(
        predictions,
        source=read.source,
        file_sha256=read.sha256,
        rows=_find_rows(predictions, chosen),
        row_flow=_extend_flow(predictions.row_flow, chosen, window.column, period, roles),
    )
    return Gathered(predictions=predictions, source=read.source, source_sha256=read.sha256)


def _check_source(source: SourceTable) -> None:
    """One source, and what belongs to it."""
    if bool(source.file) == bool(source.database):
        raise UsageError("`audit.source` must name either a `file` or a `database`, and not both.")
    if source.database and bool(source.query) == bool(source.table):
        raise UsageError("`audit.source.database` needs either a `query` or a `table`, and not both.")
    if source.file and (source.query or source.table):
        raise UsageError("`audit.source.file` has neither a `query` nor a `table`; these need a `database`.")


def _find_roles(columns: Mapping[str, Any]) -> Roles:
    """Which columns are needed, and for what."""
    classes = columns.get("classes")
    labels = None if classes is None else check_class_names(classes)
    parts = {part: columns.get(part) for part in _PARTS}
    return Roles.of(columns["outcome"], _columns_of(columns["forecasts"], labels), **parts)


def _beside(roles: Roles, column: str) -> list[str]:
    """The column of the window, unless it plays a part anyway."""
    return [column] if column and column not in (*roles.numbers, *roles.labels) else []


# ---- files ----


def _read_file(source: SourceTable, window: WindowTable, period: Period, roles: Roles, folder: Path) -> _Read:
    path = find_file(source.file, period, folder, newest=source.newest)
    frame, sha256 = _read_unchanged(path, roles.numbers, [*roles.labels, *_beside(roles, window.column)])
    return _Read(
        frame=frame,
        source=path.name,
        order="in the order of the file",
        find_times=lambda: frame[window.column],
        sha256=sha256,
    )


def _read_unchanged(path: Path, numbers: list[str], labels: list[str]) -> tuple[pd.DataFrame, str]:
    """The columns and the hash of a file that nobody writes while it is read."""
    try:
        before = hash_file(path)
        frame = read_columns(path, numbers, labels)
        after = hash_file(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or type(error).__name__}.") from error
    if before != after:
        raise DataError(
            f"{path.name} changed while it was read. Write it under another name, such as "
            f"{path.name}.tmp, and rename it once it is complete."
        )
    return frame, before


def find_file(pattern: str, period: Period, folder: Path, *, newest: str) -> Path:
    """The file that `audit.source.file` names: of several that match, the newest."""
    filled = _fill(pattern, period)
    found = glob.glob(filled, root_dir=folder, recursive=True)
    matches = [name for name in found if os.path.isfile(folder / name)]
    candidates = [name for name in matches if _is_table(name)]
    if not candidates:
        raise DataError(_describe_no_match(filled, folder, matches))
    rank = _rank_by_time if newest == "modified" else _rank_by_name
    return folder / max(candidates, key=partial(rank, folder))


def _fill(pattern: str, period: Period) -> str:
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


def _is_table(name: str) -> bool:
    """Whether a file is one of predictions by its name, and complete."""
    last = Path(name).name.lower()
    return last.endswith(_ENDINGS) and not last.startswith(".") and not last.endswith(_UNFINISHED)


def _rank_by_time(folder: Path, name: str) -> tuple[Any, ...]:
    try:
        time = (folder / name).stat().st_mtime_ns
    except OSError:  # it has gone since
        time = -1
    return time, *_rank_by_name(folder, name)


def _rank_by_name(_: Path, name: str) -> tuple[Any, ...]:
    """Numbers in a name count as numbers: 9 comes before 10; folders count as well."""
    parts = re.split(r"(\d+)", name.casefold(), flags=re.ASCII)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name


def _describe_no_match(pattern: str, folder: Path, matches: list[str]) -> str:
    """Why no file was found, and which are nearest to what was asked for."""
    told = f"No file matches {pattern!r}, the `audit.source.file`, in {folder.resolve()}"
    if matches:
        shown = join_words(sorted(matches)[:_FILES_NAMED])
        return (
            f"{told}: only names that end in {', '.join(_ENDINGS)} count, and none that begins with a dot "
            f"or is unfinished (.tmp, .part, ~), unlike {shown}."
        )
    place = _find_place(pattern, folder).resolve()
    if not os.path.isdir(place):
        return f"{told}: there is no folder {place}."
    near = _find_nearest(Path(pattern).name, place)
    if not near:
        return f"{told}. There is no file that ends in {', '.join(_ENDINGS)} in {place}."
    return f"{told}. The nearest files in {place} are {join_words(near)}."


def _find_place(pattern: str, folder: Path) -> Path:
    """The folder below which a pattern looks."""
    place = folder
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        place = place / part
    return place


def _find_nearest(name: str, place: Path) -> list[str]:
    """The files of a folder, and of those in it, whose names are most like the one that was asked for."""
    found = islice(chain(place.glob("*"), place.glob("[!.]*/*")), _FILES_COMPARED)
    names = [path.relative_to(place).as_posix() for path in found if _is_table(path.name)]
    likeness = {other: SequenceMatcher(None, name, Path(other).name).ratio() for other in names}
    return sorted(names, key=lambda other: (-likeness[other], other))[:_FILES_NAMED]


# ---- databases ----


def _read_database(database: Database, window: WindowTable, period: Period, roles: Roles) -> _Read:
    columns = [*roles.numbers, *roles.labels, *_beside(roles, window.column)]
    frame = database.read_rows(columns, window.column, period)
    if frame.empty and not (window.column and period.start):
        raise DataError(f"The {database.source} gave no rows.")
    return _Read(
        frame=frame,
        source=database.source,
        order="sorted by all columns",
        find_times=lambda: database.read_edges(window.column) if database.table else frame[window.column],
        counts_others=not database.table,
    )


# ---- the window ----


def _choose(
    read: _Read, column: str, period: Period, zone: ZoneInfo, *, is_time: bool, drop: bool
) -> _Chosen:
    """The rows of the period; all of them if there is no column to tell by."""
    if not column:
        return _Chosen(frame=read.frame, rows=np.arange(len(read.frame)), read=len(read.frame))
    times = local_times(read.frame[column], column, zone)
    frame = read.frame.assign(**{column: times}) if is_time else read.frame
    is_missing, is_inside = np.isnat(times), _is_inside(times, period)
    if is_missing.any() and not drop:
        way_out = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
        refuse_rows(np.full(len(times), np.nan), is_missing, f"`{column}` must not be missing", way_out)
    if not is_inside.any():
        known = local_times(read.find_times(), column, zone)
        raise DataError(_describe_days(read.source, column, period, known[~np.isnat(known)]))
    without, inside = int(is_missing.sum()), int(is_inside.sum())
    others = len(times) - without - inside if read.counts_others else 0
    return _Chosen(
        frame=frame[is_inside].reset_index(drop=True),
        rows=np.flatnonzero(is_inside),
        read=inside + without + others,
        others=others,
        without_time=without,
    )


def local_times(column: pd.Series[Any], name: str, zone: ZoneInfo) -> NDArray[np.datetime64]:
    """Times as the clocks of the zone show them: those that name no zone as they are, NaT for missing."""
    if column.dtype.kind == "M":
        aware = column.dt.tz is not None
        local = column.dt.tz_convert(zone).dt.tz_localize(None) if aware else column
        return local.to_numpy(dtype="datetime64[us]")
    codes, values = column.factorize()
    parsed = [_parse_time(label_text(value), zone) for value in values]
    is_bad = np.array([*(time is None for time in parsed), False])[codes]
    if is_bad.any():
        refuse_rows(column.to_numpy(), is_bad, f"`{name}` must hold dates such as 2026-11-15")
    return np.array([*parsed, np.datetime64("NaT")], dtype="datetime64[us]")[codes]


def _parse_time(text: str, zone: ZoneInfo) -> datetime | np.datetime64 | None:
    """A time of the zone; NaT for a missing one, None for what is no time."""
    if text in MISSING_WORDS:
        return np.datetime64("NaT")
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo is None else time.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def _is_inside(times: NDArray[np.datetime64], period: Period) -> NDArray[np.bool_]:
    start = np.datetime64("NaT" if period.start is None else period.start)
    return (np.isnat(start) | (times >= start)) & (times < np.datetime64(period.end))


def _describe_period(period: Period) -> str:
    """Its first and its last day."""
    last = (period.day_after - timedelta(days=1)).isoformat()
    if period.start is None:
        return f"the days up to {last}"
    return last if period.start == last else f"{period.start} to {last}"


def _describe_days(source: str, column: str, period: Period, known: NDArray[np.datetime64]) -> str:
    """That there is nothing of the period, and which days there are."""
    told = f"No row of {source} has a `{column}` of {_describe_period(period)}"
    if not len(known):
        return f"{told}: there are no rows at all."
    days = known.astype("datetime64[D]")
    return f"{told}: its rows are of {days.min()} to {days.max()}."


# ---- predictions ----


def _read_chosen(
    chosen: _Chosen, read: _Read, period: Period, columns: Mapping[str, Any]
) -> Predictions | ClassPredictions:
    """Check the rows of the period; a refusal says how rows are counted, if it names any."""
    try:
        return read_predictions(chosen.frame, **columns)
    except DataError as error:
        is_file_order = len(chosen.frame) == chosen.read and read.sha256
        if " at row " not in str(error) or is_file_order:
            raise
        which = "" if len(chosen.frame) == chosen.read else f" of {_describe_period(period)}"
        among = f"the {counted(len(chosen.frame), 'row')}{which}"
        raise DataError(f"{error} Rows are counted from 0 among {among}, {read.order}.") from error


def _find_rows(predictions: Predictions | ClassPredictions, chosen: _Chosen) -> IntArray | None:
    """Where the rows stood in the source, if some were left out."""
    if predictions.rows is not None:
        return chosen.rows[predictions.rows]
    return None if len(chosen.rows) == chosen.read else chosen.rows


def _extend_flow(flow: RowFlow, chosen: _Chosen, column: str, period: Period, roles: Roles) -> RowFlow:
    """The flow of rows from the source, those of other days and those without a time first."""
    counts = {
        f"missing `{column}`": chosen.without_time,
        f"outside of {_describe_period(period)}": chosen.others,
    }
    dropped = tuple(DroppedRows(reason=reason, rows=rows) for reason, rows in counts.items() if rows)
    missing = {item.column: item.rows for item in flow.missing}
    if chosen.without_time:
        used = dict.fromkeys([roles.outcome, *roles.numbers, *roles.labels, *_beside(roles, column)], 0)
        missing = used | missing | {column: chosen.without_time}
    return RowFlow(
        read=chosen.read,
        kept=flow.kept,
        dropped=(*dropped, *flow.dropped),
        missing=tuple(MissingValues(column=name, rows=rows) for name, rows in missing.items()),
    )
