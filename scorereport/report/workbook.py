"""Excel workbook of a report: contents with links and provenance, then a sheet for each table.

Cells are written with their type, never by what a text looks like, so that a name such as `=1+1` is no
formula. Numbers are written with all digits, which openpyxl would round to 16.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import BytesIO
from itertools import chain
from math import ceil, isfinite, isnan
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from scorereport._utils.formatting import common_decimals, conjugate, format_counted, format_number, visible
from scorereport._utils.version import package_version
from scorereport.report.assembly import name_report
from scorereport.report.report_tables import list_number_tables
from scorereport.report.sections.closing_sections import describe_provenance_section
from scorereport.report.sections.summary_section import describe_overall_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from scorereport.report.report_record import Report
    from scorereport.report.report_tables import NumberTable

_CONTENTS = "Contents"
#: What a sheet can hold: rows, characters of a cell, characters of a sheet's name.
_MOST_ROWS, _LONGEST_TEXT, _LONGEST_NAME = 1 << 20, 32_767, 31
#: The row of the header; the caption is above it.
_HEADER_ROW = 2
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
#: Column widths in characters, and the rows that determine them.
_NARROWEST, _WIDEST, _ROWS_MEASURED = 8, 60, 200
#: The width of a sheet with one column of sentences, which are wrapped.
_WIDTH_OF_SENTENCES = 100
#: The font of the workbook, which openpyxl leaves to the program wherever another property is set; the height
#: of a line of it in points.
_FONT, _LINE = "Calibri", 15
#: Formats of whole numbers, and of p-values, which are never shown as 0.
_WHOLE, _P_VALUE = "#,##0", '[<0.0005]"<0.001";0.000'
_READING = (
    "Numbers have all digits that were computed; cells show some of them.",
    "An empty cell is a number that is not defined or was not computed; ∞ and −∞ are infinite numbers, which "
    "Excel cannot hold, as text.",
    "Each sheet has its caption in row 1 and its header in row 2. "
    'With pandas: pd.read_excel("tables.xlsx", sheet_name="scores", header=1).',
)


def render_workbook(report: Report) -> bytes:
    """Render all tables of a report as a workbook; the same report gives the same bytes."""
    from openpyxl import Workbook

    tables = list_number_tables(report)
    names = _name_sheets(tables)
    workbook = Workbook(write_only=True)
    _write_contents(workbook.create_sheet(_CONTENTS), report, tables, names)
    for table in tables:
        _write_table(workbook.create_sheet(names[table.name]), table)
    return _pack(workbook, report)


def _name_sheets(tables: Sequence[NumberTable]) -> dict[str, str]:
    """The names of the sheets by those of the tables: legal, and unique whatever the case of letters."""
    names: dict[str, str] = {}
    taken = {_CONTENTS.lower(), "history"}  # Excel reserves the second
    for table in tables:
        plain = _FORBIDDEN.sub("-", table.name).strip("'")[:_LONGEST_NAME] or "table"
        endings = ("" if number == 1 else f"-{number}" for number in range(1, len(tables) + 3))
        cut = (f"{plain[: _LONGEST_NAME - len(ending)]}{ending}" for ending in endings)
        names[table.name] = next(name for name in cut if name.lower() not in taken)
        taken.add(names[table.name].lower())
    return names


# ---- Sheets ----


def _write_contents(
    sheet: Any, report: Report, tables: Sequence[NumberTable], names: Mapping[str, str]
) -> None:
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 28, 100
    _prepare_for_paper(sheet)
    provenance = describe_provenance_section(report, report.provenance.templates_sha256)
    facts = [(fact["label"], fact["text"].strip("`")) for fact in provenance.content["facts"]]
    sheet.append([_make_text(sheet, name_report(report), "title")])
    sheet.append([_make_text(sheet, "Verdict", "bold"), _make_text(sheet, _state_verdict(report))])
    sheet.append([_make_text(sheet, "Version", "bold"), _make_text(sheet, f"scorereport {_version(report)}")])
    for label, text in facts:
        sheet.append([_make_text(sheet, label, "bold"), _make_text(sheet, text)])
    sheet.append([])
    for sentence in _READING:
        sheet.append([None, _make_text(sheet, sentence)])
    sheet.append([])
    sheet.append([_make_text(sheet, "Sheet", "head"), _make_text(sheet, "Content", "head")])
    first = len(facts) + len(_READING) + 7
    for row, table in enumerate(tables, start=first):
        rows = format_counted(len(table.frame), "row")
        link = _make_link(sheet, names[table.name], row)
        sheet.append([link, _make_text(sheet, f"{table.caption} {rows.capitalize()}.".lstrip())])


def _state_verdict(report: Report) -> str:
    return str(describe_overall_verdict(report)["sentence"])


def _version(report: Report) -> str:
    return report.evaluation.software.get("scorereport") or package_version()


def _write_table(sheet: Any, table: NumberTable) -> None:
    from openpyxl.utils import get_column_letter

    frame = table.frame.iloc[: _MOST_ROWS - _HEADER_ROW]
    columns = [frame.iloc[:, place].tolist() for place in range(frame.shape[1])]
    heads = [_clean(str(name)) for name in frame.columns]
    sheet.freeze_panes = f"B{_HEADER_ROW + 1}"
    last = f"{get_column_letter(max(len(heads), 1))}{_HEADER_ROW + len(frame)}"
    sheet.auto_filter.ref = f"A{_HEADER_ROW}:{last}"
    formats = [_choose_format(head, values) for head, values in zip(heads, columns, strict=True)]
    widths = [_measure(*column) for column in zip(heads, columns, formats, strict=True)]
    for place, width in enumerate(widths if len(heads) > 1 else [_WIDTH_OF_SENTENCES], start=1):
        sheet.column_dimensions[get_column_letter(place)].width = width
    _prepare_for_paper(sheet, f"1:{_HEADER_ROW}")
    look = "wrapped" if len(heads) == 1 else ""
    if look:
        _make_room_for_lines(sheet, columns[0])
    sheet.append([_make_text(sheet, _describe_cut(table, frame), "bold")])
    sheet.append([_make_head(sheet, *column) for column in zip(heads, columns, strict=True)])
    for row in zip(*columns, strict=True):
        sheet.append([_make_cell(sheet, value, form, look) for value, form in zip(row, formats, strict=True)])


def _prepare_for_paper(sheet: Any, repeated: str | None = None) -> None:
    """Print a sheet as wide as a page across, with the given rows at the top of each page."""
    from openpyxl.worksheet.properties import PageSetupProperties

    sheet.page_setup.orientation = "landscape"
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.fitToHeight = 0  # as many pages as the rows need
    sheet.print_title_rows = repeated


def _make_room_for_lines(sheet: Any, sentences: Sequence[object]) -> None:
    """Set the heights of rows with wrapped sentences: not every program computes them from the text."""
    for row, sentence in enumerate(sentences, start=_HEADER_ROW + 1):
        lines = sum(max(1, ceil(len(line) / _WIDTH_OF_SENTENCES)) for line in _as_text(sentence).split("\n"))
        sheet.row_dimensions[row].height = _LINE * lines


def _describe_cut(table: NumberTable, shown: pd.DataFrame) -> str:
    """The caption, which says so if the sheet cannot hold all rows."""
    if len(shown) == len(table.frame):
        return table.caption
    hidden = len(table.frame) - len(shown)
    rest = f"{format_counted(hidden, 'more row')} {conjugate(hidden, 'are')} in the results document"
    return f"{table.caption} A sheet holds no more rows; {rest}."


def _choose_format(head: str, values: Sequence[object]) -> str:
    """The number format of a column."""
    numbers = [float(number) for number in map(_as_number, values) if number is not None]
    finite = [number for number in numbers if isfinite(number)]
    if "p_value" in head:
        return _P_VALUE
    if all(number.is_integer() for number in finite):
        return _WHOLE if head != "seed" else "0"
    return f"0.{'0' * common_decimals(finite)}"


def _measure(head: str, values: Sequence[object], form: str) -> int:
    shown = (_show(value, form) for value in values[:_ROWS_MEASURED])
    longest = max(map(len, chain([head], shown)))
    return min(max(longest + 3, _NARROWEST), _WIDEST)  # with room for the arrow of the filter


def _show(value: object, form: str) -> str:
    """About what a cell shows."""
    number = _as_number(value)
    return _as_text(value) if number is None else format_number(number, len(form.partition(".")[2]))


# ---- Cells ----


def _as_number(value: object) -> int | float | None:
    """The number that a value is; None if it is something else, such as true or a text."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _make_cell(sheet: Any, value: object, form: str, look: str) -> Any:
    """A cell of the type of a value; None if it is not defined."""
    number = _as_number(value)
    if value is None or (number is not None and isnan(number)):
        return None
    if number is None:
        return _make_text(sheet, _as_text(value), look)
    return (
        _make_number(sheet, number, form) if isfinite(number) else _make_text(sheet, format_number(number, 0))
    )


def _make_number(sheet: Any, number: int | float, form: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    # As text with the type of numbers: openpyxl would round a number to 16 digits.
    cell = WriteOnlyCell(sheet, str(number) if isinstance(number, int) else repr(float(number)))
    cell.data_type, cell.number_format = "n", form
    return cell


def _make_text(sheet: Any, text: str, look: str = "") -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font, PatternFill

    clean = _clean(text)
    cell = WriteOnlyCell(sheet, clean)
    cell.data_type = "s"  # also if it begins like a formula or is the name of an error
    if clean[:1] in tuple("=+-@"):
        cell.quotePrefix = True  # it stays text when a person edits the cell
    if look == "wrapped":
        cell.alignment = Alignment(vertical="top", wrap_text=True)
    elif look:
        cell.font = Font(name=_FONT, bold=True, size=14 if look == "title" else 11)
    if look == "head":
        cell.fill = PatternFill("solid", start_color="E7EBF0")
    return cell


def _make_head(sheet: Any, head: str, values: Sequence[object]) -> Any:
    """The head of a column, above its numbers on the right if it has any."""
    from openpyxl.styles import Alignment

    cell = _make_text(sheet, head, "head")
    if any(_as_number(value) is not None for value in values):
        cell.alignment = Alignment(horizontal="right")
    return cell


def _make_link(sheet: Any, name: str, row: int) -> Any:
    from openpyxl.styles import Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    cell = _make_text(sheet, name)
    cell.row = row
    cell.hyperlink = Hyperlink(ref=f"A{row}", location=f"'{name}'!A1")
    cell.font = Font(name=_FONT, color="0B5394", underline="single")
    return cell


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_as_text, value))
    return "" if value is None else str(value)


def _clean(text: str) -> str:
    """A text that a cell can hold, without characters that XML does not know."""
    lines = "\n".join(visible(line) for line in text.split("\n"))
    shown = "".join(char if ord(char) not in (0xFFFE, 0xFFFF) else "\ufffd" for char in lines)
    return shown if len(shown) <= _LONGEST_TEXT else f"{shown[: _LONGEST_TEXT - 1]}…"


# ---- The file ----


def _pack(workbook: Any, report: Report) -> bytes:
    """Write the workbook with the time of the report instead of the present one, also inside the archive."""
    from openpyxl.writer.excel import ExcelWriter

    time = datetime.fromisoformat(report.provenance.time).astimezone(UTC).replace(tzinfo=None)
    facts = workbook.properties
    facts.creator, facts.title = f"scorereport {_version(report)}", _clean(name_report(report))
    facts.created = facts.modified = time
    written = BytesIO()
    ExcelWriter(workbook, ZipFile(written, "w", ZIP_DEFLATED)).save()
    packed = BytesIO()
    with ZipFile(written) as parts, ZipFile(packed, "w", ZIP_DEFLATED) as target:
        for name, content in _list_parts(parts):
            entry = ZipInfo(name, date_time=max(time, datetime(1980, 1, 1)).timetuple()[:6])
            entry.compress_type, entry.create_system, entry.external_attr = ZIP_DEFLATED, 3, 0o600 << 16
            target.writestr(entry, content)
    return packed.getvalue()


def _list_parts(archive: ZipFile) -> Iterator[tuple[str, bytes]]:
    for name in archive.namelist():
        yield name, archive.read(name)
