"""Excel workbooks as sources: values as spreadsheet programs store them, and workbooks that are refused."""

from __future__ import annotations

import builtins
import zipfile
from datetime import date, datetime

import numpy as np
import openpyxl
import pandas as pd
import pytest
from source_tools import ALL, OCTOBER, take

import scorereport as sr
from scorereport.data import excel_files, size_limits
from scorereport.evaluation.dispatch import evaluate
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

COLUMNS = {"outcome": "y", "forecasts": ["m"]}
ROWS = [
    ["y", "m", "g", "t"],
    [0, 0.25, "north", date(2026, 9, 30)],
    [True, 1, 7, datetime(2026, 10, 1, 12, 30)],
    [None, None, None, None],
    ["1", "0.5", "north", date(2026, 10, 31)],
]


def write(path, rows=ROWS, *, title="Scores", change=id):
    workbook = openpyxl.Workbook()
    workbook.active.title = title
    for row in rows:
        workbook.active.append(row)
    change(workbook)
    workbook.save(path)
    return path


def rewrite(path, change):
    """Change the XML of the first sheet."""
    with zipfile.ZipFile(path) as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for name, text in content.items():
            parts.writestr(name, change(text) if name.endswith("sheet1.xml") else text)
    return path


def test_numbers_texts_dates_and_truth_values_are_read(tmp_path):
    path = write(tmp_path / "p.xlsx")
    read = sr.read_predictions(path, **COLUMNS, groups="g", time="t")
    assert read.outcome.tolist() == [0, 1, 1]
    assert read.forecasts["m"].tolist() == [0.25, 1, 0.5]
    assert read.groups["g"].tolist() == ["north", "7", "north"]
    assert read.time[1] == np.datetime64("2026-10-01T12:30:00")
    assert read.source == "p.xlsx"
    assert len(read.file_sha256) == 64


def test_both_engines_read_the_same_rows(tmp_path):
    path = write(tmp_path / "p.xlsx")
    columns = COLUMNS | {"groups": "g", "time": "t"}
    with open_duckdb(path, **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(path, **columns).sha256


def test_the_only_visible_sheet_is_read_unless_another_is_named(tmp_path):
    def add(workbook):
        sheet = workbook.create_sheet("Lists")
        sheet.append(["y", "m"])
        sheet.append([0, 0.125])
        sheet.sheet_state = "hidden"

    path = write(tmp_path / "p.xlsx", change=add)
    assert len(sr.read_predictions(path, **COLUMNS)) == 3
    hidden = sr.read_predictions(path, **COLUMNS, table="Lists")
    assert (hidden.source, hidden.forecasts["m"].tolist()) == ("p.xlsx: Lists", [0.125])


def test_missing_values_are_dropped_and_counted(tmp_path):
    path = write(tmp_path / "p.xlsx", [["y", "m"], [0, 0.25], [1, None], [1, "#N/A"], [None, 0.5]])
    flow = sr.read_predictions(path, **COLUMNS, missing="drop").row_flow
    assert (flow.read, flow.kept) == (4, 1)


@pytest.mark.parametrize("read", [sr.read_predictions, open_duckdb], ids=["memory", "duckdb"])
def test_rows_are_named_as_the_sheet_shows_them(tmp_path, read):
    path = write(tmp_path / "p.xlsx", [*ROWS, [1, "high", "south", None]])
    with pytest.raises(
        sr.DataError, match=r"got 'high' at row 6 of sheet 'Scores' in p\.xlsx \(1 of 4 rows\)\.$"
    ):
        read(path, **COLUMNS)


@pytest.mark.parametrize("work", [{"engine": "memory"}, {"engine": "duckdb"}], ids=["memory", "duckdb"])
def test_audits_read_workbooks_and_name_their_rows(tmp_path, work):
    write(tmp_path / "p.xlsx", change=lambda workbook: workbook.create_sheet("Notes"))
    given = {"file": "p.xlsx", "table": "Scores", "work": work}
    rows = take(tmp_path, **given)
    assert rows.evaluate(evaluate, {"resamples": 0}).data.row_flow.kept == 2
    rows.close()
    write(tmp_path / "p.xlsx", [*ROWS, [1, 1.5, "south", date(2026, 10, 3)]])
    for period, column, count in ((OCTOBER, "t", 3), (ALL, "", 4)):
        sentence = rf"got 1\.5 at row 6 of sheet 'Scores' in p\.xlsx \(1 of {count} rows\)\.$"
        with pytest.raises(sr.DataError, match=sentence):
            take(tmp_path, **given, period=period, column=column).evaluate(evaluate, {"resamples": 0})


def test_a_row_of_formulas_that_were_never_computed_is_not_skipped(tmp_path):
    path = write(tmp_path / "p.xlsx", [["y", "m"], [0, 0.25], ["=1", "=1/2"], [1, 0.75]])
    with pytest.raises(
        sr.DataError, match=r"^p\.xlsx has a formula without a value in cell A3\. Open the file"
    ):
        sr.read_predictions(path, **COLUMNS)


def test_values_of_formulas_that_were_computed_are_read(tmp_path):
    path = write(tmp_path / "p.xlsx", [["y", "m"], [0, "=1/4"], [1, 0.75]])
    rewrite(
        path,
        lambda text: text.replace(b"<f>1/4</f><v></v>", b"<f>1/4</f><v>0.25</v>").replace(
            b"<f>1/4</f><v />", b"<f>1/4</f><v>0.25</v>"
        ),
    )
    assert sr.read_predictions(path, **COLUMNS).forecasts["m"].tolist() == [0.25, 0.75]


def test_errors_in_columns_that_are_not_used_do_not_matter(tmp_path):
    path = write(tmp_path / "p.xlsx", [["y", "m", "x"], [0, 0.25, "#DIV/0!"], [1, 0.75, "=1"]])
    assert len(sr.read_predictions(path, **COLUMNS)) == 2


def test_merged_cells_are_refused_where_values_would_be_missing(tmp_path):
    path = write(tmp_path / "p.xlsx", change=lambda workbook: workbook.active.merge_cells("B2:B3"))
    with pytest.raises(
        sr.DataError, match=r"^p\.xlsx has merged cells B2:B3\. Unmerge them and fill each cell\.$"
    ):
        sr.read_predictions(path, **COLUMNS)
    other = write(tmp_path / "q.xlsx", change=lambda workbook: workbook.active.merge_cells("C2:C3"))
    assert len(sr.read_predictions(other, **COLUMNS)) == 3


def test_without_openpyxl_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path / "p.xlsx")
    load = builtins.__import__

    def refuse(name, *arguments, **named):
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return load(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(sr.UsageError) as refusal:
        sr.read_predictions(path, **COLUMNS)
    assert str(refusal.value) == 'p.xlsx needs the package openpyxl: pip install "scorereport[excel]".'


# ---- hostile workbooks ----


def test_a_workbook_that_expands_out_of_proportion_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(size_limits, "_FREE_WORKBOOK", 1 << 16)
    path = write(tmp_path / "p.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/media/picture.bin", bytes(1 << 21))
    size = path.stat().st_size
    with pytest.raises(sr.DataError) as refusal:
        sr.read_predictions(path, **COLUMNS)
    assert str(refusal.value) == (
        f"p.xlsx must not expand to more than 50 times its {size:,} bytes; got 0.0 GB. "
        "If the file is right, save it as .csv."
    )


def test_a_row_far_below_the_others_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(excel_files, "_MOST_ROWS", 1000)
    path = write(tmp_path / "p.xlsx")
    rewrite(path, lambda text: text.replace(b'<row r="5"', b'<row r="400000000"'))
    with pytest.raises(sr.DataError, match=r"^Sheet 'Scores' must have at most 1,000 rows\.$"):
        sr.read_predictions(path, **COLUMNS)


def test_a_size_that_a_sheet_states_wrongly_does_not_matter(tmp_path):
    path = write(tmp_path / "p.xlsx")
    rewrite(path, lambda text: text.replace(b'<dimension ref="A1:D5"', b'<dimension ref="A1:XFD2"'))
    assert len(sr.read_predictions(path, **COLUMNS)) == 3


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace(b'"B5"', b'"ZZZZZZ5"'),
        lambda text: (
            b"<!DOCTYPE w [<!ENTITY a '"
            + b"x" * 50_000
            + b"'><!ENTITY b '"
            + b"&a;" * 5000
            + b"'>]>"
            + text.replace(b"<v>0.25</v>", b"<v>&b;</v>")
        ),
    ],
    ids=["cut", "column", "entities"],
)
def test_a_sheet_that_is_not_valid_is_refused_in_one_sentence(tmp_path, spoil):
    path = rewrite(write(tmp_path / "p.xlsx"), spoil)
    with pytest.raises(sr.DataError, match=r"^p\.xlsx cannot be read as an Excel workbook: .+\.$"):
        sr.read_predictions(path, **COLUMNS)


def test_a_cut_workbook_is_refused(tmp_path):
    path = write(tmp_path / "p.xlsx")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(
        sr.DataError, match=r"^p\.xlsx is named like an Excel workbook but holds a zip archive\.$"
    ):
        sr.read_predictions(path, **COLUMNS)


def test_a_workbook_of_pandas_equals_its_frame(tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 1], "m": [0.1, 0.2, 1 / 3], "g": ["01", "1.0", "NA"]})
    frame.to_excel(tmp_path / "p.xlsx", index=False)
    columns = COLUMNS | {"groups": "g"}
    assert (
        sr.read_predictions(tmp_path / "p.xlsx", **columns).sha256
        == sr.read_predictions(frame, **columns).sha256
    )
