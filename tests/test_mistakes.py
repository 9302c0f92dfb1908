"""Usual mistakes in data and files: each is refused with a sentence that says what to do.

The tables hold the full sentence of every mistake, by the door through which the data come in.
"""

from __future__ import annotations

import gzip

import numpy as np
import openpyxl
import pandas as pd
import pytest

import scorereport as sr
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

NAMED = {"outcome": "y", "forecasts": ["m"]}


def refuse(call):
    """Return the sentence with which a call is refused."""
    with pytest.raises(sr.ScoreReportError) as refusal:
        call()
    return str(refusal.value)


def table(rows):
    """Name the tests after the mistakes."""
    return [pytest.param(*row[1:], id=row[0]) for row in rows]


ARRAYS = [
    (
        "percentages",
        lambda: sr.corp([0, 1, 1], [12.5, 37.5, 90.0]),
        (
            "`y_prob` must lie in [0, 1]; got 12.5 at row 0 (3 of 3 rows: 0, 1, 2). If they are "
            "percentages, divide them by 100."
        ),
    ),
    (
        "log-odds",
        lambda: sr.corp([0, 1, 1], [-2.2, 0.4, 3.1]),
        (
            "`y_prob` must lie in [0, 1]; got -2.2 at row 0 (2 of 3 rows: 0, 2). If they are "
            "log-odds, convert them with 1 / (1 + exp(-x))."
        ),
    ),
    (
        "slightly outside",
        lambda: sr.corp([0, 1, 1], [-0.01, 0.4, 1.02]),
        "`y_prob` must lie in [0, 1]; got -0.01 at row 0 (2 of 3 rows: 0, 2).",
    ),
    (
        "two columns",
        lambda: sr.corp([0, 1], [[0.9, 0.1], [0.3, 0.7]]),
        (
            "`y_prob` must be one-dimensional; got shape (2, 2). Pass the column of the event, such "
            "as np.asarray(y_prob)[:, 1]."
        ),
    ),
    (
        "two columns of a frame",
        lambda: sr.corp([0, 1], pd.DataFrame({"no": [0.9, 0.3], "yes": [0.1, 0.7]})),
        (
            "`y_prob` must be one-dimensional; got shape (2, 2). Pass the column of the event, such "
            "as y_prob.iloc[:, 1]."
        ),
    ),
    (
        "one column",
        lambda: sr.scores.brier([0, 1], [[0.1], [0.7]]),
        (
            "`y_prob` must be one-dimensional; got shape (2, 1). Pass its only column, "
            "np.asarray(y_prob)[:, 0]."
        ),
    ),
    (
        "three columns",
        lambda: sr.corp([0, 1], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]),
        (
            "`y_prob` must be one-dimensional; got shape (2, 3). For models of several classes, use "
            "`evaluate` with `classes`."
        ),
    ),
    (
        "one-hot outcomes",
        lambda: sr.corp([[1, 0], [0, 1]], [0.1, 0.7]),
        (
            "`y_true` must be one-dimensional; got shape (2, 2). Pass the column of the event, such "
            "as np.asarray(y_true)[:, 1]."
        ),
    ),
    (
        "swapped",
        lambda: sr.corp([0.1, 0.7, 0.4], [0, 1, 1]),
        (
            "`y_true` must be 0 or 1; got 0.1 at row 0 (3 of 3 rows: 0, 1, 2). `y_true` and `y_prob` "
            "look swapped: outcomes come first."
        ),
    ),
    (
        "swapped scores",
        lambda: sr.scores.log_loss([0.1, 0.7, 0.4], [0, 1, 1]),
        (
            "`y_true` must be 0 or 1; got 0.1 at row 0 (3 of 3 rows: 0, 1, 2). `y_true` and `y_prob` "
            "look swapped: outcomes come first."
        ),
    ),
    (
        "words",
        lambda: sr.corp(["no", "yes", "no"], [0.1, 0.7, 0.2]),
        (
            "`y_true` must be 0 or 1; got 'no' at row 0 (3 of 3 rows: 0, 1, 2). If 'yes' is the "
            "event, pass np.asarray(y_true) == 'yes'."
        ),
    ),
    (
        "words for true",
        lambda: sr.corp(["False", "True"], [0.1, 0.7]),
        (
            "`y_true` must be 0 or 1; got 'False' at row 0 (2 of 2 rows: 0, 1). If 'True' is the "
            "event, pass np.asarray(y_true) == 'True'."
        ),
    ),
    (
        "one and two",
        lambda: sr.corp([1, 2, 1], [0.1, 0.7, 0.2]),
        (
            "`y_true` must be 0 or 1; got 2.0 at row 1 (1 of 3 rows). If 2 is the event, pass "
            "np.asarray(y_true) == 2."
        ),
    ),
    (
        "minus one and one",
        lambda: sr.corp([-1, 1, 1], [0.1, 0.7, 0.2]),
        (
            "`y_true` must be 0 or 1; got -1.0 at row 0 (1 of 3 rows). If 1 is the event, pass "
            "np.asarray(y_true) == 1."
        ),
    ),
    (
        "three classes",
        lambda: sr.corp([0, 1, 2], [0.1, 0.7, 0.2]),
        (
            "`y_true` must be 0 or 1; got 2.0 at row 2 (1 of 3 rows). For models of several classes, "
            "use `evaluate` with `classes`."
        ),
    ),
    (
        "missing forecast",
        lambda: sr.corp([0, 1, 1], [0.1, np.nan, 0.2]),
        "`y_prob` must not be missing; got nan at row 1 (1 of 3 rows). Drop these rows first.",
    ),
    (
        "missing outcome",
        lambda: sr.corp([0, 1, None], [0.1, 0.7, 0.2]),
        "`y_true` must not be missing; got nan at row 2 (1 of 3 rows). Drop these rows first.",
    ),
    (
        "infinite",
        lambda: sr.corp([0, 1], [0.1, np.inf]),
        "`y_prob` must be finite; got inf at row 1 (1 of 2 rows).",
    ),
    (
        "code of missing",
        lambda: sr.corp([0, 1, 1], [0.1, -99, 0.2]),
        (
            "`y_prob` must lie in [0, 1]; got -99.0 at row 1 (1 of 3 rows). If -99 stands for a "
            "missing value, mark it as missing, or drop these rows."
        ),
    ),
    (
        "lengths",
        lambda: sr.corp([0, 1, 1], [0.1, 0.7]),
        "`y_true` (3) and `y_prob` (2) must have the same length.",
    ),
    ("empty", lambda: sr.corp([], []), "`y_true` is empty."),
    (
        "one number",
        lambda: sr.corp(1, 0.7),
        ("`y_true` must be one-dimensional; got shape (). Pass one value per case, in a list or an array."),
    ),
    (
        "ragged",
        lambda: sr.corp([0, 1], [[0.1], [0.2, 0.8]]),
        "`y_prob` must be an array; got rows of different lengths.",
    ),
    (
        "texts of numbers",
        lambda: sr.corp([0, 1], ["0.1", "0.7"]),
        ("`y_prob` must be numeric; got '0.1' at row 0 (2 of 2 rows: 0, 1). Convert texts to numbers first."),
    ),
    (
        "percent signs",
        lambda: sr.corp([0, 1], ["37 %", "12%"]),
        (
            "`y_prob` must be numeric; got '37 %' at row 0 (2 of 2 rows: 0, 1). Write '37 %' as a "
            "number without the percent sign, divided by 100."
        ),
    ),
    (
        "decimal commas",
        lambda: sr.corp([0, 1], ["0,1", "0,7"]),
        (
            "`y_prob` must be numeric; got '0,1' at row 0 (2 of 2 rows: 0, 1). Write decimals with a "
            'point; for a CSV file, pass decimal="," (--decimal ,).'
        ),
    ),
    (
        "dates",
        lambda: sr.corp([0, 1], np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")),
        "`y_prob` must be numeric; got '2026-01-01' at row 0 (2 of 2 rows: 0, 1).",
    ),
    (
        "negative weight",
        lambda: sr.corp([0, 1], [0.1, 0.7], sample_weight=[1, -1]),
        "`sample_weight` must not be negative; got -1.0 at row 1 (1 of 2 rows).",
    ),
    (
        "too few weights",
        lambda: sr.corp([0, 1], [0.1, 0.7], sample_weight=[1]),
        "`sample_weight` must have one value per case; got 1 for 2 cases.",
    ),
    (
        "class labels",
        lambda: sr.scores.multiclass_brier(["a", "b"], [[0.9, 0.1], [0.3, 0.7]]),
        (
            "`y_true` must hold class indices 0 to 1; got 'a' at row 0 (2 of 2 rows: 0, 1). Pass the "
            "index of each label among the classes."
        ),
    ),
    (
        "classes from one",
        lambda: sr.scores.multiclass_brier([1, 2], [[0.9, 0.1], [0.3, 0.7]]),
        (
            "`y_true` must hold class indices 0 to 1; got 2.0 at row 1 (1 of 2 rows). If classes are "
            "numbered from 1, subtract 1."
        ),
    ),
    (
        "class percentages",
        lambda: sr.scores.multiclass_brier([0, 1], [[90, 10], [30, 70]]),
        (
            "`y_prob` must lie in [0, 1]; got 90.0 at row 0 (2 of 2 rows: 0, 1). If they are "
            "percentages, divide them by 100."
        ),
    ),
    (
        "class logits",
        lambda: sr.scores.multiclass_brier([0, 1], [[2.5, -1.5], [-0.5, 3.5]]),
        (
            "`y_prob` must lie in [0, 1]; got 2.5 at row 0 (2 of 2 rows: 0, 1). If they are logits, "
            "convert each row with the softmax function."
        ),
    ),
    (
        "sums",
        lambda: sr.scores.multiclass_brier([0, 1], [[0.9, 0.1], [0.3, 0.6]]),
        (
            "Each row of `y_prob` must sum to 1 within 1e-06; got 0.8999999999999999 at row 1 (1 of 2"
            " rows). Divide each row by its sum."
        ),
    ),
]


@pytest.mark.parametrize(("call", "sentence"), table(ARRAYS))
def test_mistakes_in_arrays(call, sentence):
    assert refuse(call) == sentence


FRAMES = [
    (
        "misspelt column",
        {"y": [0, 1], "logit": [0.1, 0.7]},
        {"forecasts": ["logti"]},
        "The frame has no column `logti`; it has `y`, `logit`. Did you mean `logit`?",
    ),
    (
        "words",
        {"y": ["Yes", "No"], "m": [0.1, 0.7]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 'Yes' at row 0 (2 of 2 rows: 0, 1). Its "
            "labels are 'No' and 'Yes': pass the one that is the event, such as positive=\"Yes\""
            " (--positive Yes)."
        ),
    ),
    (
        "words of other meaning",
        {"y": ["paid", "default"], "m": [0.1, 0.7]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 'paid' at row 0 (2 of 2 rows: 0, 1). Its "
            "labels are 'default' and 'paid': pass the one that is the event, such as "
            'positive="default" (--positive default).'
        ),
    ),
    (
        "one and two",
        {"y": [1, 2], "m": [0.1, 0.7]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 2 at row 1 (1 of 2 rows). Its labels are "
            "'1' and '2': pass the one that is the event, such as positive=2 (--positive 2)."
        ),
    ),
    (
        "minus one and one",
        {"y": [-1, 1], "m": [0.1, 0.7]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got -1 at row 0 (1 of 2 rows). Its labels are "
            "'-1' and '1': pass the one that is the event, such as positive=1 (--positive 1)."
        ),
    ),
    (
        "three labels",
        {"y": ["a", "b", "c"], "m": [0.1, 0.7, 0.2]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 'a' at row 0 (3 of 3 rows: 0, 1, 2). For "
            "models of several classes, name these in `classes` (--classes)."
        ),
    ),
    (
        "one label",
        {"y": ["no", "no"], "m": [0.1, 0.7]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 'no' at row 0 (2 of 2 rows: 0, 1). For "
            "other labels, name the one that counts as the event in `positive` (--positive)."
        ),
    ),
    (
        "case of a label",
        {"y": ["No", "Yes"], "m": [0.1, 0.7]},
        {"positive": "yes"},
        ("`y` has no label 'yes' to count as positive; its labels are 'No', 'Yes'. Did you mean 'Yes'?"),
    ),
    (
        "absent label",
        {"y": ["No", "Yes"], "m": [0.1, 0.7]},
        {"positive": "default"},
        "`y` has no label 'default' to count as positive; its labels are 'No', 'Yes'.",
    ),
    (
        "forecasts as outcome",
        {"y": [0.12, 0.7, 0.34], "m": [0, 1, 0]},
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 0.12 at row 0 (3 of 3 rows: 0, 1, 2). If "
            "it holds forecasts, name it in `forecasts` (--forecast) instead."
        ),
    ),
    (
        "percentages",
        {"y": [0, 1, 1], "m": [12.5, 37.5, 90.0]},
        {},
        (
            "`m` must lie in [0, 1]; got 12.5 at row 0 (3 of 3 rows: 0, 1, 2). If they are "
            "percentages, divide them by 100."
        ),
    ),
    (
        "log-odds",
        {"y": [0, 1, 1], "m": [-2.2, 0.4, 3.1]},
        {},
        (
            "`m` must lie in [0, 1]; got -2.2 at row 0 (2 of 3 rows: 0, 2). If they are log-odds, "
            "convert them with 1 / (1 + exp(-x))."
        ),
    ),
    (
        "code of missing",
        {"y": [0, 1, 1], "m": [0.1, -9, 0.3]},
        {},
        (
            "`m` must lie in [0, 1]; got -9.0 at row 1 (1 of 3 rows). If -9 stands for a missing "
            "value, mark it as missing, or drop these rows."
        ),
    ),
    (
        "missing",
        {"y": [0, 1, 1], "m": [0.1, np.nan, 0.3]},
        {},
        (
            "`m` must not be missing; got nan at row 1 (1 of 3 rows). Fill them, or pass "
            'missing="drop" (--missing drop) to leave these rows out.'
        ),
    ),
    (
        "percent signs",
        {"y": [0, 1], "m": ["37 %", "0.2"]},
        {},
        (
            "`m` must be numeric; got '37 %' at row 0 (1 of 2 rows). Write '37 %' as a number without"
            " the percent sign, divided by 100."
        ),
    ),
    (
        "thousands",
        {"y": [0, 1], "m": [0.1, 0.2], "w": ["1,200", "900"]},
        {"weight": "w"},
        (
            "`w` must be numeric; got '1,200' at row 0 (1 of 2 rows). Write '1,200' without thousands"
            " separators."
        ),
    ),
    (
        "words for missing",
        {"y": [0, 1], "m": ["0.1", "unknown"]},
        {},
        (
            "`m` must be numeric; got 'unknown' at row 1 (1 of 2 rows). If 'unknown' stands for a "
            "missing value, leave it empty."
        ),
    ),
    (
        "fractions",
        {"y": [0, 1], "m": ["0.1", "1/3"]},
        {},
        "`m` must be numeric; got '1/3' at row 1 (1 of 2 rows). Write '1/3' as a decimal number.",
    ),
    (
        "day first",
        {"y": [0, 1], "m": [0.1, 0.2], "t": ["2026-05-12", "13.05.2026"]},
        {"time": "t"},
        (
            "`t` must hold dates such as 2026-11-15; got '13.05.2026' at row 1 (1 of 2 rows). Write "
            "the year first: '13.05.2026' is 2026-05-13."
        ),
    ),
    (
        "month first",
        {"y": [0, 1], "m": [0.1, 0.2], "t": ["2026-05-12", "05/13/2026"]},
        {"time": "t"},
        (
            "`t` must hold dates such as 2026-11-15; got '05/13/2026' at row 1 (1 of 2 rows). Write "
            "the year first: '05/13/2026' is 2026-05-13."
        ),
    ),
    (
        "day or month first",
        {"y": [0, 1], "m": [0.1, 0.2], "t": ["2026-05-12", "03/04/2026"]},
        {"time": "t"},
        (
            "`t` must hold dates such as 2026-11-15; got '03/04/2026' at row 1 (1 of 2 rows). Write "
            "the year first, then the month and the day."
        ),
    ),
    (
        "short years",
        {"y": [0, 1], "m": [0.1, 0.2], "t": ["2026-05-12", "13.05.26"]},
        {"time": "t"},
        (
            "`t` must hold dates such as 2026-11-15; got '13.05.26' at row 1 (1 of 2 rows). Write the"
            " year first, with four digits."
        ),
    ),
    (
        "day numbers",
        {"y": [0, 1], "m": [0.1, 0.2], "t": ["2026-05-12", "46155"]},
        {"time": "t"},
        (
            "`t` must hold dates such as 2026-11-15; got '46155' at row 1 (1 of 2 rows). If 46155 is "
            "the day number of a spreadsheet, format its cells as dates."
        ),
    ),
    (
        "negative weight",
        {"y": [0, 1], "m": [0.1, 0.2], "w": [1, -2]},
        {"weight": "w"},
        "`w` must not be negative; got -2.0 at row 1 (1 of 2 rows).",
    ),
    (
        "fractional frequencies",
        {"y": [0, 1], "m": [0.1, 0.2], "w": [1, 2.5]},
        {"weight": "w", "weight_kind": "frequency"},
        (
            '`w` must be whole numbers where `weight_kind` is "frequency"; got 2.5 at row 1 (1 of 2 '
            'rows). Weights of other kinds are "sampling" weights.'
        ),
    ),
    (
        "sums of classes",
        {"y": ["a", "b"], "m_a": [0.5, 0.5], "m_b": [0.5, 0.4]},
        {"classes": ["a", "b"]},
        (
            "The probabilities of m must sum to 1 within 1e-06 in each row; got 0.9 at row 1 (1 of 2 "
            "rows). Correct them, or pass normalize=True (--normalize) to divide each row by its sum."
        ),
    ),
    (
        "unknown class",
        {"y": ["a", "c"], "m_a": [0.5, 0.5], "m_b": [0.5, 0.5]},
        {"classes": ["a", "b"]},
        "`y` must hold one of the 2 classes ('a', 'b'); got 'c' at row 1 (1 of 2 rows).",
    ),
]


@pytest.mark.parametrize(("columns", "arguments", "sentence"), table(FRAMES))
def test_mistakes_in_frames(columns, arguments, sentence):
    assert refuse(lambda: sr.read_predictions(pd.DataFrame(columns), **NAMED | arguments)) == sentence


@pytest.mark.parametrize(("columns", "arguments", "sentence"), table(FRAMES))
def test_the_engine_on_disk_refuses_frames_in_the_same_words(columns, arguments, sentence):
    if "classes" not in arguments:
        assert refuse(lambda: open_duckdb(pd.DataFrame(columns), **NAMED | arguments)) == sentence


INDEXES = [
    (
        "names",
        ["A17", "B4", "C9"],
        "`m` must lie in [0, 1]; got 1.2 at row 1, index 'B4' (2 of 3 rows: 1, 2).",
    ),
    ("numbers", [10, 20, 30], "`m` must lie in [0, 1]; got 1.2 at row 1, index 20 (2 of 3 rows: 1, 2)."),
    (
        "dates",
        pd.date_range("2026-05-01", periods=3),
        "`m` must lie in [0, 1]; got 1.2 at row 1, index 2026-05-02 00:00:00 (2 of 3 rows: 1, 2).",
    ),
]


@pytest.mark.parametrize("read", [sr.read_predictions, open_duckdb], ids=["memory", "duckdb"])
@pytest.mark.parametrize(("index", "sentence"), table(INDEXES))
def test_rows_of_frames_are_named_by_position_and_index(read, index, sentence):
    frame = pd.DataFrame({"y": [0, 1, 1], "m": [0.1, 1.2, -0.1]}, index=index)
    assert refuse(lambda: read(frame, **NAMED)) == sentence


def write_workbook(path, sheets):
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    workbook.save(path)


def write(path, content):
    """Write a file: text, bytes, the sheets of a workbook, or the columns of a Parquet file."""
    if path.suffix == ".parquet":
        pd.DataFrame(content).to_parquet(path)
    elif isinstance(content, dict):
        write_workbook(path.with_suffix(".xlsx"), content)
        path.with_suffix(".xlsx").rename(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FILES = [
    (
        "decimal commas",
        "p.csv",
        "y;m\n0;0,25\n1;0,75\n",
        {},
        (
            "`m` must be numeric; got '0,25' at line 2 of p.csv (2 of 2 rows: lines 2, 3). Write "
            'decimals with a point; for a CSV file, pass decimal="," (--decimal ,).'
        ),
    ),
    (
        "decimal commas in a file with commas",
        "p.csv",
        "y,m\n0,0,25\n1,0,75\n",
        {},
        (
            "Each line of p.csv must have as many values as its header, 2; got 3 in line 2. If "
            'decimals have commas, separate columns by semicolons and pass decimal="," (--decimal ,).'
        ),
    ),
    (
        "other separator",
        "p.csv",
        "y|m\n0|0.25\n",
        {},
        (
            'p.csv has no column `m`; it has `y|m`. If its columns are separated by "|", pass '
            'separator="|" (--separator "|").'
        ),
    ),
    (
        "wrong separator",
        "p.csv",
        "y;m\n0;0.25\n",
        {"separator": ","},
        (
            'p.csv has no column `m`; it has `y;m`. If its columns are separated by ";", pass '
            'separator=";" (--separator ";").'
        ),
    ),
    (
        "Latin-1",
        "p.csv",
        b"y,m,g\n0,0.25,M\xfcnchen\n",
        {"groups": "g"},
        (
            "p.csv must be UTF-8 text; got the byte 0xFC in line 2. If it stands for 'ü', pass "
            'encoding="latin-1" (--encoding latin-1).'
        ),
    ),
    (
        "Windows-1252",
        "p.csv",
        b"y,m,g\n0,0.25,5 \x80\n",
        {"groups": "g"},
        (
            "p.csv must be UTF-8 text; got the byte 0x80 in line 2. If it stands for '€', pass "
            'encoding="cp1252" (--encoding cp1252).'
        ),
    ),
    (
        "UTF-16",
        "p.csv",
        b"\xff\xfey\x00,\x00m\x00\n\x000\x00,\x000\x00.\x002\x005\x00\n\x00",
        {},
        ('p.csv is named like CSV but holds UTF-16 text; pass encoding="utf-16" (--encoding utf-16).'),
    ),
    (
        "UTF-16 without a mark",
        "p.csv",
        "y,m\n0,0.25\n".encode("utf-16-be"),
        {},
        'p.csv is named like CSV but holds UTF-16 text; pass encoding="utf-16-be" (--encoding utf-16-be).',
    ),
    (
        "UTF-16 in gzip",
        "p.csv.gz",
        gzip.compress("y,m\n0,0.25\n".encode("utf-16")),
        {},
        'p.csv.gz must be UTF-8 text; got UTF-16 text; pass encoding="utf-16" (--encoding utf-16).',
    ),
    (
        "wrong encoding",
        "p.csv",
        "y,m,g\n0,0.25,München\n",
        {"encoding": "ascii"},
        (
            "p.csv is not text in the encoding 'ascii'; pass another `encoding` (--encoding), or none"
            " for UTF-8."
        ),
    ),
    (
        "not UTF-16",
        "p.csv",
        "y,m\n0,0.25\n",
        {"encoding": "utf-16"},
        (
            "p.csv is not text in the encoding 'utf-16'; pass another `encoding` (--encoding), or "
            "none for UTF-8."
        ),
    ),
    (
        "points with decimal commas",
        "p.csv",
        "y;m\n0;0,25\n1;0.75\n",
        {"decimal": ","},
        (
            "`m` must have decimal commas, because `decimal` is \",\"; got '0.75' at line 3 of p.csv. "
            "Leave `decimal` (--decimal) out if decimals have points."
        ),
    ),
    (
        "thousands with decimal commas",
        "p.csv",
        "y;m;w\n0;0,25;1.200,5\n1;0,75;900\n",
        {"decimal": ",", "weight": "w"},
        (
            "`w` must be numeric; got '1.200,5' at line 2 of p.csv (1 of 2 rows). Write '1.200,5' "
            "without thousands separators."
        ),
    ),
    (
        "format of another file",
        "p.parquet",
        {"y": [0, 1], "m": [0.1, 0.7]},
        {"decimal": ","},
        "`decimal` is for CSV files; p.parquet is not one. Leave it out.",
    ),
    (
        "percentages",
        "p.csv",
        "y,m\n0,12.5\n1,37.5\n",
        {},
        (
            "`m` must lie in [0, 1]; got 12.5 at line 2 of p.csv (2 of 2 rows: lines 2, 3). If they "
            "are percentages, divide them by 100."
        ),
    ),
    (
        "line after empty lines",
        "p.csv",
        "y,m\n\n0,0.2\n\n\n1,1.5\n",
        {},
        "`m` must lie in [0, 1]; got 1.5 at line 6 of p.csv (1 of 2 rows).",
    ),
    (
        "lines",
        "p.csv",
        "y,m\n0,high\n1,0.2\n0,low\n",
        {},
        "`m` must be numeric; got 'high' at line 2 of p.csv (2 of 3 rows: lines 2, 4).",
    ),
    (
        "words",
        "p.csv",
        "y,m\nno,0.2\nyes,0.7\n",
        {},
        (
            "`y` must hold 0 and 1, or True and False; got 'no' at line 2 of p.csv (2 of 2 rows: "
            "lines 2, 3). Its labels are 'no' and 'yes': pass the one that is the event, such "
            'as positive="yes" (--positive yes).'
        ),
    ),
    (
        "missing",
        "p.csv",
        "y,m\n0,\n1,0.7\n",
        {},
        (
            "`m` must not be missing; got nan at line 2 of p.csv (1 of 2 rows). Fill them, or pass "
            'missing="drop" (--missing drop) to leave these rows out.'
        ),
    ),
    (
        "open quote",
        "p.csv",
        'y,m,g\n0,0.2,"5 inch\n1,0.7,b\n',
        {},
        (
            "p.csv must close each quoted field in its line; the quote that opens in line 2 is not "
            "closed there. Close it, or write a quote that is part of a text twice."
        ),
    ),
    (
        "too many values",
        "p.tsv",
        "y\tm\tg\n0\t0.2\ta\tb\n",
        {},
        (
            "Each line of p.tsv must have as many values as its header, 3; got 4 in line 2. If a text"
            " holds the separator, write the text in double quotes."
        ),
    ),
    (
        "too few values",
        "p.csv",
        "y,m\n0,0.2\n1\n",
        {},
        "Each line of p.csv must have as many values as its header, 2; got 1 in line 3.",
    ),
    (
        "no header",
        "p.csv",
        "0,0.2\n1,0.7\n",
        {},
        ("p.csv has no column `m`; it has `0`, `0.2`. Write the names of the columns in the first line."),
    ),
    ("only a header", "p.csv", "y,m\n", {}, "p.csv holds no rows."),
    ("nothing", "p.csv", "", {}, "p.csv is empty."),
    (
        "repeated column",
        "p.csv",
        "y,m,m\n0,0.2,0.3\n",
        {},
        "p.csv has 2 columns named `m`; names must differ.",
    ),
    (
        "workbook named .csv",
        "p.csv",
        {"May": [["y", "m"]]},
        {},
        "p.csv is named like CSV but holds an Excel workbook.",
    ),
    (
        "CSV named .xlsx",
        "p.xlsx",
        "y,m\n0,0.2\n",
        {},
        "p.xlsx is named like an Excel workbook but holds CSV.",
    ),
    (
        "old workbook",
        "p.xls",
        b"\xd0\xcf\x11\xe0",
        {},
        (
            "p.xls must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .xlsx, .rds, .rdata, .rda. "
            "Save it as .xlsx or .csv."
        ),
    ),
    (
        "workbook with a password",
        "p.xlsx",
        b"\xd0\xcf\x11\xe0",
        {},
        (
            "p.xlsx is named like an Excel workbook but holds an old or encrypted Office file; save "
            "it as .xlsx without a password."
        ),
    ),
    (
        "OpenDocument",
        "p.ods",
        b"PK\x03\x04",
        {},
        (
            "p.ods must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .xlsx, .rds, .rdata, .rda. "
            "Save it as .xlsx or .csv."
        ),
    ),
    (
        "Stata",
        "p.dta",
        b"<stata_dta>",
        {},
        (
            "p.dta must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .xlsx, .rds, .rdata, .rda. "
            "Save it as .csv or .parquet."
        ),
    ),
    (
        "text file",
        "p.txt",
        "y,m\n0,0.2\n",
        {},
        (
            "p.txt must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .xlsx, .rds, .rdata, .rda. "
            "Save it as .csv."
        ),
    ),
    (
        "packed without gzip",
        "p.csv.gz",
        "y,m\n0,0.2\n",
        {},
        "p.csv.gz is named like CSV but holds no gzip data.",
    ),
    (
        "table of a CSV file",
        "p.csv",
        "y,m\n0,0.2\n",
        {"table": "scores"},
        (
            "`table` is for a database file (.duckdb, .ddb), the address of a database, an Excel workbook "
            "(.xlsx) or R data (.rds, .rdata, .rda); p.csv is none of them."
        ),
    ),
    (
        "sheet: several sheets",
        "p.xlsx",
        {"May": [["y", "m"], [0, 0.2]], "June": [["y", "m"], [0, 0.2]]},
        {},
        "p.xlsx has 2 sheets, 'May' and 'June': name one of them in `table` (--table).",
    ),
    (
        "sheet: misspelt sheet",
        "p.xlsx",
        {"May": [["y", "m"], [0, 0.2]], "June": [["y", "m"], [0, 0.2]]},
        {"table": "Jume"},
        "p.xlsx has no sheet 'Jume'; it has 'May' and 'June'. Did you mean 'June'?",
    ),
    (
        "sheet: row of a sheet",
        "p.xlsx",
        {"May": [["y", "m"], [0, 0.2], [], [1, 37.5], [1, 60]]},
        {},
        (
            "`m` must lie in [0, 1]; got 37.5 at row 4 of sheet 'May' in p.xlsx (2 of 3 rows: 4, 5). "
            "If they are percentages, divide them by 100."
        ),
    ),
    (
        "sheet: error",
        "p.xlsx",
        {"May": [["y", "m"], [0, 0.2], [1, "#DIV/0!"]]},
        {},
        (
            "p.xlsx has the error #DIV/0! in cell B3. Correct its formula, or clear the cell if its "
            "value is missing."
        ),
    ),
    (
        "sheet: formula",
        "p.xlsx",
        {"May": [["y", "m"], [0, "=1/5"], [1, 0.7]]},
        {},
        (
            "p.xlsx has a formula without a value in cell B2. Open the file in a spreadsheet program "
            "and save it, so that it stores the values."
        ),
    ),
    (
        "sheet: title",
        "p.xlsx",
        {"May": [["Scores of May"], ["y", "m"], [0, 0.2]]},
        {},
        "p.xlsx has no column `m`; it has `Scores of May`. The header must be in the first row.",
    ),
    (
        "sheet: empty first row",
        "p.xlsx",
        {"May": [[], ["y", "m"], [0, 0.2]]},
        {},
        "p.xlsx must begin with its header; the first row is empty.",
    ),
    ("sheet: only a header", "p.xlsx", {"May": [["y", "m"]]}, {}, "p.xlsx holds no rows."),
    (
        "sheet: missing",
        "p.xlsx",
        {"May": [["y", "m"], [0, None], [1, 0.7]]},
        {},
        (
            "`m` must not be missing; got nan at row 2 of sheet 'May' in p.xlsx (1 of 2 rows). Fill "
            'them, or pass missing="drop" (--missing drop) to leave these rows out.'
        ),
    ),
    (
        "sheet: repeated column",
        "p.xlsx",
        {"May": [["y", "m", "m"], [0, 0.2, 0.3]]},
        {},
        "p.xlsx has 2 columns named `m`; names must differ.",
    ),
]


@pytest.mark.parametrize("read", [sr.read_predictions, open_duckdb], ids=["memory", "duckdb"])
@pytest.mark.parametrize(("name", "content", "arguments", "sentence"), table(FILES))
def test_mistakes_in_files(tmp_path, read, name, content, arguments, sentence):
    path = write(tmp_path / name, content)
    assert refuse(lambda: read(path, **NAMED | arguments)) == sentence


COMMANDS = [
    (
        "costs in percent",
        "y,m\n0,0.2\n1,0.7\n",
        ["--cost-interval", "5", "20"],
        (
            "`--cost-interval` must be two numbers inside (0, 1), the smaller one first; got [5, 20]."
            " If they are percentages, divide them by 100: 0.05, 0.2."
        ),
    ),
    (
        "thresholds in percent",
        "y,m\n0,0.2\n1,0.7\n",
        ["--threshold", "10", "--threshold", "20"],
        (
            "`--threshold` must be a list of one or more numbers inside (0, 1); got [10, 20]. If they"
            " are percentages, divide them by 100: 0.1, 0.2."
        ),
    ),
    (
        "decimal",
        "y,m\n0,0.2\n1,0.7\n",
        ["--decimal", "comma"],
        '`--decimal` must be one of ".", ","; got \'comma\'.',
    ),
    (
        "separator",
        "y,m\n0,0.2\n1,0.7\n",
        ["--separator", ";;"],
        '`--separator` must be one character, such as ";", or "tab"; got \';;\'.',
    ),
    (
        "encoding",
        "y,m\n0,0.2\n1,0.7\n",
        ["--encoding", "latin9x"],
        (
            '`--encoding` must be an encoding, such as "utf-8", "latin-1", "cp1252" or "utf-16"; got '
            "'latin9x'."
        ),
    ),
    (
        "words",
        "y,m\nno,0.2\nyes,0.7\n",
        [],
        (
            "`y` must hold 0 and 1, or True and False; got 'no' at line 2 of p.csv (2 of 2 rows: "
            "lines 2, 3). Its labels are 'no' and 'yes': pass the one that is the event, such "
            'as positive="yes" (--positive yes).'
        ),
    ),
    (
        "percentages",
        "y,m\n0,12.5\n1,37.5\n",
        [],
        (
            "`m` must lie in [0, 1]; got 12.5 at line 2 of p.csv (2 of 2 rows: lines 2, 3). If they "
            "are percentages, divide them by 100."
        ),
    ),
    (
        "decimal commas",
        "y;m\n0;0,2\n1;0,7\n",
        [],
        (
            "`m` must be numeric; got '0,2' at line 2 of p.csv (2 of 2 rows: lines 2, 3). Write "
            'decimals with a point; for a CSV file, pass decimal="," (--decimal ,).'
        ),
    ),
    (
        "sheet of a CSV file",
        "y,m\n0,0.2\n1,0.7\n",
        ["--table", "May"],
        (
            "`table` is for a database file (.duckdb, .ddb), the address of a database, an Excel workbook "
            "(.xlsx) or R data (.rds, .rdata, .rda); p.csv is none of them. "
            "To print one table of the results, give --show NAME."
        ),
    ),
    (
        "Spark",
        "y,m\n0,0.2\n1,0.7\n",
        ["--engine", "spark", "--decimal", ","],
        (
            "`decimal` is not for Spark, which reads CSV files in UTF-8 with decimal points; choose "
            'engine "memory" or "duckdb".'
        ),
    ),
]


@pytest.mark.parametrize(("content", "options", "sentence"), table(COMMANDS))
def test_mistakes_on_the_command_line(tmp_path, call, content, options, sentence):
    path = write(tmp_path / "p.csv", content)
    code, _, error = call("score", path, "--outcome", "y", "--forecast", "m", "--quiet", *options)
    assert (code in (2, 4), error) == (True, f"scorereport: {sentence}\n")


@pytest.mark.parametrize(
    ("labels", "hint"),
    [
        (["not paid", "paid"], 'such as positive="paid" (--positive paid).'),
        (["it's due", "paid late"], "such as positive=\"paid late\" (--positive 'paid late')."),
        (["a" * 50, "b"], "name the one that counts as the event in `positive` (--positive)."),
        (["a\nb", "c"], "name the one that counts as the event in `positive` (--positive)."),
    ],
)
def test_hints_quote_labels_for_python_and_the_shell_and_leave_out_long_ones(labels, hint):
    frame = pd.DataFrame({"y": labels, "m": [0.1, 0.2]})
    assert refuse(lambda: sr.read_predictions(frame, **NAMED)).endswith(hint)


@pytest.mark.parametrize("p", [[0, 1, 1], [0.0, 1.0, 0.0], np.array([True, False, True])])
def test_forecasts_of_only_0_and_1_are_taken(p):
    assert len(sr.scores.brier([0, 1, 1], p)) == 3


def test_an_array_has_the_shorter_expression():
    assert refuse(lambda: sr.corp(np.array([1, 2]), [0.1, 0.2])).endswith("pass y_true == 2.")
    assert refuse(lambda: sr.corp([0, 1], np.eye(2))).endswith("such as y_prob[:, 1].")


def test_there_are_enough_mistakes():
    assert len(ARRAYS) + len(FRAMES) + len(INDEXES) + len(FILES) + len(COMMANDS) >= 100
