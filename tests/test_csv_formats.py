"""CSV files in other formats: separators, decimal commas and encodings, in memory, on disk and in audits."""

from __future__ import annotations

import gzip
from contextlib import nullcontext

import pandas as pd
import pytest
from source_tools import ALL, OCTOBER, take

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.data.csv_format import CsvFormat
from scorereport.data.csv_lines import CsvFile, name_lines
from scorereport.evaluation.dispatch import evaluate
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.engine_choice import choose_engine, open_engine
from scorereport.results.settings import EvaluationSettings

COLUMNS = {"outcome": "y", "forecasts": ["m"], "groups": "g"}
ROWS = [("y", "m", "g"), ("0", "0.25", "Köln"), ("1", "0.75", "Zürich"), ("1", "0.5", "Köln")]
FORMATS = [
    {"separator": ";", "decimal": ","},
    {"decimal": ","},
    {"separator": "|"},
    {"separator": "tab", "encoding": "latin-1"},
    {"encoding": "cp1252"},
    {"encoding": "utf-16"},
    {"encoding": "utf-16-le", "decimal": ","},
    {"encoding": "utf-8-sig"},
]


def encode(rows, *, separator="", decimal=".", encoding="utf-8"):
    sign = {"tab": "\t", "": ";" if decimal == "," else ","}.get(separator, separator)
    lines = [sign.join((y, m.replace(".", decimal), g)) for y, m, g in rows]
    return "\n".join([*lines, ""]).encode(encoding)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv"])
@pytest.mark.parametrize("given", FORMATS, ids=str)
def test_a_format_that_is_given_is_read_alike_in_memory_and_on_disk(tmp_path, given, ending):
    path = tmp_path / f"p.{ending}"
    content = encode(ROWS, **given)
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    frame = pd.DataFrame({"y": [0, 1, 1], "m": [0.25, 0.75, 0.5], "g": ["Köln", "Zürich", "Köln"]})
    expected = sr.read_predictions(frame, **COLUMNS)
    read = sr.read_predictions(path, **COLUMNS, **given)
    assert read.sha256 == expected.sha256
    assert read.groups["g"].tolist() == frame.g.tolist()
    with open_duckdb(path, **COLUMNS, **given) as engine:
        assert engine.survey.sha256 == expected.sha256
    checked = given | ({"separator": "\t"} if given.get("separator") == "tab" else {})
    assert choose_engine(path, csv_format=CsvFormat.of(checked)) == "memory"


def test_a_text_in_a_column_of_labels_keeps_its_comma(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(b"y;m;g\n0;0,25;1,5\n1;1;2,5\n")
    for read in (sr.read_predictions, open_duckdb):
        with nullcontext(read(path, **COLUMNS, decimal=",")) as found:
            groups = found.groups["g"] if read is sr.read_predictions else found.survey.groups["g"]
            assert {str(getattr(label, "label", label)) for label in groups} == {"1,5", "2,5"}
            if read is open_duckdb:
                found.close()


def test_a_file_named_tsv_has_tabs_even_if_names_hold_commas(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("y\tm, of the bank, in 2026\n0\t0.25\n1\t0.5\n", encoding="utf-8")
    named = {"outcome": "y", "forecasts": ["m, of the bank, in 2026"]}
    assert len(sr.read_predictions(path, **named)) == 2


def test_large_files_in_another_encoding_are_read_whole(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(encode([ROWS[0], *ROWS[1:] * 40_000], encoding="utf-16"))
    read = sr.read_predictions(path, **COLUMNS, encoding="utf-16")
    assert len(read) == 120_000
    assert set(read.groups["g"]) == {"Köln", "Zürich"}


@pytest.mark.parametrize("given", [{"decimal": ","}, {"encoding": "latin-1"}, {"separator": ";"}], ids=str)
def test_spark_refuses_a_format(tmp_path, given):
    path = tmp_path / "p.csv"
    path.write_bytes(encode(ROWS, **given))
    sentence = rf"^`{next(iter(given))}` is not for Spark, which reads CSV files in UTF-8 with decimal points"
    with pytest.raises(sr.UsageError, match=sentence):
        open_engine(
            path,
            EvaluationSettings(engine="spark"),
            memory_limit=None,
            temporary_folder=None,
            columns={"outcome": "y", "forecasts": ["m"], **given},
        )


def test_a_reference_in_a_csv_file_has_the_same_format(tmp_path):
    (tmp_path / "p.csv").write_bytes(encode(ROWS, decimal=","))
    (tmp_path / "r.csv").write_bytes(encode(ROWS, decimal=","))
    pd.DataFrame({"m": [0.25, 0.75, 0.5]}).to_parquet(tmp_path / "r.parquet")
    for reference in ("r.csv", "r.parquet"):
        found = evaluate(
            tmp_path / "p.csv",
            outcome="y",
            forecasts=["m"],
            decimal=",",
            reference=tmp_path / reference,
            resamples=0,
        )
        assert found.stability[0].index.value == 0


# ---- audits ----

MONTHS = b"y;m;t\n0;0,25;2026-09-30\n1;0,75;2026-10-01\n0;0,5;2026-10-31\n"


@pytest.mark.parametrize("work", [{"engine": "memory"}, {"engine": "duckdb"}], ids=["memory", "duckdb"])
@pytest.mark.parametrize("column", ["t", ""])
def test_audits_read_the_format_of_their_configuration(tmp_path, work, column):
    (tmp_path / "p.csv").write_bytes(MONTHS)
    period = OCTOBER if column else ALL
    rows = take(tmp_path, file="p.csv", decimal=",", column=column, period=period, work=work)
    found = rows.evaluate(evaluate, {"resamples": 0})
    rows.close()
    assert found.data.row_flow.kept == (2 if column else 3)
    assert found.scores["brier"].iloc[0] == pytest.approx(0.15625 if column else 0.125)


@pytest.mark.parametrize("work", [{"engine": "memory"}, {"engine": "duckdb"}], ids=["memory", "duckdb"])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (MONTHS.replace(b"0,5", b"7,5"), "`m` must lie in [0, 1]; got 7.5 at line 4 of p.csv (1 of 2 rows)."),
        (MONTHS.replace(b"0,5", b"0.5"), "got '0.5' at line 4 of p.csv."),
        (MONTHS.replace(b"2026-10-31", b"31.10.2026"), "got '31.10.2026' at line 4 of p.csv (1 of 3 rows)."),
    ],
)
def test_audits_name_the_lines_of_the_file(tmp_path, work, content, sentence):
    (tmp_path / "p.csv").write_bytes(content)
    with pytest.raises(sr.DataError) as refusal:
        take(tmp_path, file="p.csv", decimal=",", work=work).evaluate(evaluate, {"resamples": 0})
    assert sentence in str(refusal.value)


def test_a_configuration_gives_the_format_to_its_audit():
    keys = 'outcome = "y"\nforecasts = ["m"]\nseparator = "tab"\ndecimal = ","\nencoding = "latin-1"'
    columns = parse_configuration(f"[evaluation]\n{keys}").evaluation.columns
    assert CsvFormat.of(columns) == CsvFormat(separator="\t", decimal=",", encoding="latin-1")


# ---- lines ----


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"y,m\n0,1\n0,2\n0,3\n", [2, 3, 4]),
        (b"y,m\r\n0,1\r\n\r\n0,2\r\n0,3", [2, 4, 5]),
        (b"y,m\r0,1\r0,2\r\r0,3\r", [2, 3, 5]),
        (b'y,m\n"0",1\n\n\n0,2\n0,"3"\n', [2, 5, 6]),
    ],
)
def test_rows_are_named_by_their_lines(tmp_path, content, lines):
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    names = name_lines(CsvFile(path), [0, 1, 2])
    assert (names.first, list(names.shown), names.unit) == (f"line {lines[0]} of p.csv", lines, "lines ")
