"""Excel workbooks (.xlsx): a sheet with its header in the first row, read with openpyxl.

A workbook stores beside each formula the value that a spreadsheet program computed last; this value is read.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from scorereport._utils.formatting import join_words
from scorereport._utils.row_places import RowNames
from scorereport._utils.suggestions import suggest_name
from scorereport.data.dataframes import FRAME
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_workbook
from scorereport.data.source_kind import SourceKind, unreadable_file
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pandas as pd

    from scorereport.data.source_kind import RawBatches, SourceLocation

_NAME = "an Excel workbook"
#: A part of every workbook, which is a zip archive.
_OFFICE = "[Content_Types].xml"
#: The most rows of a sheet.
_MOST_ROWS = 1 << 20
#: Values of formulas that failed, except #N/A, which stands for a missing value.
_ERRORS = {"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#FIELD!"}
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')


class _Row(NamedTuple):
    """A row of a sheet: its number, from 1, and the values of its cells."""

    number: int
    cells: tuple[Any, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no cell has a value."""
        return all(value is None or value == "" for value in self.cells)


@contextmanager
def _open_sheet(place: SourceLocation, *, has_values: bool = True) -> Iterator[Any]:
    """Open the sheet that `table` names, or the only one, with the values of formulas or their texts."""
    path = place.files[0]
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise UsageError(
            f'{path.name} needs the package openpyxl: pip install "scorereport[excel]".'
        ) from error
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on parts of a workbook that are not read, such as styles
            with ZipFile(file) as parts:
                expanded = sum(part.file_size for part in parts.infolist())
            check_workbook(path.name, path.stat().st_size, expanded)
            workbook = load_workbook(file, read_only=True, data_only=has_values, keep_links=False)
            yield _choose_sheet(workbook, place)
    except ScoreReportError:
        raise
    except Exception as error:  # openpyxl raises errors of many kinds for a workbook that is not valid
        raise unreadable_file(path, _NAME, error if str(error) else type(error)()) from error


def _choose_sheet(workbook: Any, place: SourceLocation) -> Any:
    sheets = {sheet.title: sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"}
    names = join_words([repr(name) for name in sheets])
    file = place.files[0].name
    if not place.table:
        if len(sheets) != 1:
            raise UsageError(
                f"{file} has {len(sheets)} sheets, {names}: name one of them in `table` (--table)."
            )
        return next(iter(sheets.values()))
    if place.table not in workbook.sheetnames:
        meant = suggest_name(place.table, workbook.sheetnames)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise DataError(f"{file} has no sheet {place.table!r}; it has {names}.{hint}")
    return workbook[place.table]


def _iterate(sheet: Any) -> Iterator[_Row]:
    """The rows of a sheet, also empty ones; a sheet states its own size, which may be wrong."""
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > _MOST_ROWS:
            raise DataError(f"Sheet {sheet.title!r} must have at most {_MOST_ROWS:,} rows.")
        yield _Row(number, cells)


def _read_header(rows: Iterator[_Row], place: SourceLocation) -> list[str]:
    first = next(rows, None)
    if first is None or first.is_empty:
        raise DataError(f"{place.name} must begin with its header; the first row is empty.")
    names = ["" if value is None else str(value).strip() for value in first.cells]
    while names and not names[-1]:
        names.pop()
    return names


def _check_header(columns: Sequence[str], header: Sequence[str], name: str) -> None:
    """Check that the columns are there; a first row with one text may be a title."""
    try:
        check_columns(columns, header, name)
    except DataError as error:
        hint = " The header must be in the first row." if len(header) == 1 else ""
        raise DataError(f"{error}{hint}") from error


def _list_columns(place: SourceLocation) -> list[str]:
    with _open_sheet(place) as sheet:
        return [name for name in _read_header(_iterate(sheet), place) if name]


def _read(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    """Read columns with the types of their cells; texts keep their form."""
    import pandas as pd

    columns = [*numbers, *labels]
    with _open_sheet(place) as sheet:
        rows = _iterate(sheet)
        header = _read_header(rows, place)
        _check_header(columns, [name for name in header if name], place.name)
        at = [header.index(name) for name in columns]
        found = [_Row(row.number, _choose_cells(row, at)) for row in rows if not row.is_empty]
    _refuse_errors(place, at, found)
    _refuse_cells_without_values(place, at, {row.number: row.cells for row in found})
    values = zip(*(row.cells for row in found), strict=True) if found else [()] * len(columns)
    return pd.DataFrame(
        {
            name: pd.Series(column, dtype=object).infer_objects()
            for name, column in zip(columns, values, strict=True)
        }
    )


def _choose_cells(row: _Row, at: Sequence[int]) -> tuple[Any, ...]:
    return tuple(row.cells[index] if index < len(row.cells) else None for index in at)


def _refuse_errors(place: SourceLocation, at: Sequence[int], rows: Sequence[_Row]) -> None:
    for row in rows:
        for index, value in zip(at, row.cells, strict=True):
            if isinstance(value, str) and value in _ERRORS:
                cell = _name_cell(index, row.number)
                raise DataError(
                    f"{place.name} has the error {value} in cell {cell}. Correct its formula, or clear the "
                    "cell if its value is missing."
                )


def _refuse_cells_without_values(
    place: SourceLocation, at: Sequence[int], known: Mapping[int, tuple[Any, ...]]
) -> None:
    """Refuse formulas that were never computed, and merged cells, whose values would seem to be missing."""
    with _open_sheet(place, has_values=False) as sheet:
        for row in _iterate(sheet):
            values = known.get(row.number, (None,) * len(at))
            cells = zip(at, _choose_cells(row, at), values, strict=True)
            lacking = [index for index, text, value in cells if text is not None and value is None]
            if lacking and row.number > 1:
                raise DataError(
                    f"{place.name} has a formula without a value in cell "
                    f"{_name_cell(min(lacking), row.number)}. Open the file in a spreadsheet program and "
                    "save it, so that it stores the values."
                )
        merged = _find_merged(sheet)
    for left, top, right, bottom in merged:
        if bottom > 1 and any(left <= index <= right for index in at):
            area = f"{_name_cell(left, top)}:{_name_cell(right, bottom)}"
            raise DataError(f"{place.name} has merged cells {area}. Unmerge them and fill each cell.")


def _find_merged(sheet: Any) -> list[tuple[int, int, int, int]]:
    """The left, top, right and bottom of merged cells; columns count from 0, rows from 1."""
    from openpyxl.utils import column_index_from_string as find_column

    with sheet._get_source() as source:
        found = _MERGED.findall(source.read())
    return [
        (find_column(left.decode()) - 1, int(top), find_column(right.decode()) - 1, int(bottom))
        for left, top, right, bottom in found
    ]


def _name_cell(index: int, row: int) -> str:
    """The name of a cell, such as B17."""
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(index + 1)}{row}"


def _is_workbook(path: Path) -> bool:
    """Whether a file is a workbook, rather than another zip archive."""
    try:
        with ZipFile(path) as parts:
            return _OFFICE in parts.namelist()
    except (BadZipFile, OSError):
        return False


def _name_rows(place: SourceLocation, rows: Sequence[int]) -> RowNames:
    """Name rows by their numbers in the sheet, which a spreadsheet program shows."""
    with _open_sheet(place) as sheet:
        numbers = [row.number for row in _iterate(sheet) if not row.is_empty][1:]
        title = sheet.title
    shown = [numbers[row] for row in rows]
    return RowNames(first=f"row {shown[0]} of sheet {title!r} in {place.files[0].name}", shown=shown)


def _open_batches(
    place: SourceLocation, columns: Sequence[str], settings: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    """Slices of the sheet, which fits into memory; columns of several types become texts, as in CSV."""
    frame = _read(place, [], columns)
    for name in columns:
        types = {type(value) for value in frame[name].tolist() if value is not None}
        if frame[name].dtype.kind == "O" and len(types) > 1:
            frame[name] = frame[name].map(str, na_action="ignore")
    return FRAME.open_batches(replace(place, kind=FRAME, source=frame), columns, settings)


def _count_rows(place: SourceLocation) -> int:
    """The rows that the sheet states; 0 if it cannot be read, which the reader explains."""
    try:
        with _open_sheet(place) as sheet:
            return max(min(int(sheet.max_row or 1), _MOST_ROWS) - 1, 0)
    except ScoreReportError:
        return 0


EXCEL = SourceKind(
    name=_NAME,
    endings=(".xlsx",),
    recognizes=_is_workbook,
    part="sheet",
    read=_read,
    open_batches=_open_batches,
    count_rows=_count_rows,
    list_columns=_list_columns,
    name_rows=_name_rows,
)
