"""Small files that expand to huge ones, and texts too long for parsers, are refused in a sentence."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import scorereport as sr
from scorereport._utils import machine
from scorereport.configuration import parse_configuration
from scorereport.data import csv_lines, size_limits
from scorereport.evaluation.engines.engine_choice import choose_engine, estimate_rows

NAMED = {"outcome": "y", "forecasts": ["p"], "groups": "g"}
FRAME = pd.DataFrame(
    {"y": [0, 1, 0, 1] * 5, "p": np.linspace(0.1, 0.9, 20), "g": ["a", "b"] * 10, "t": ["2026-01-01"] * 20}
)
ENGINES = ("memory", "duckdb")


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def evaluate(source, engine="memory", **named):
    return sr.evaluate(source, **{**NAMED, "resamples": 0, "engine": engine, **named})


def too_long(length, row, name="g", file=""):
    place = f"line {row + 2} of {file}" if file else f"row {row}"
    return exactly(
        f"`{name}` must hold texts of at most 1,000 characters; got one of {length:,} characters at {place}."
    )


# Parquet


def write_bomb(path, rows=24_000, length=1_000_000):
    """A file of about a thousand bytes with a label of a megabyte, which a dictionary repeats."""
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * length]))
    table = pa.table({"y": np.arange(rows) % 2, "p": np.full(rows, 0.5), "g": label})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path


# VmHWM, not ru_maxrss: the latter starts at the size of the process that started this one.
BOMB = """
import pathlib, re, resource, sys
import scorereport as sr
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
columns = {"outcome": "y", "forecasts": ["p"], sys.argv[3]: "g"}
try:
    sr.evaluate(sys.argv[1], engine=sys.argv[2], resamples=0, **columns)
except sr.DataError as error:
    print(error)
status = pathlib.Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])
"""


@pytest.mark.sweep
@pytest.mark.parametrize(("engine", "role"), [("memory", "group"), ("duckdb", "cluster")])
def test_a_label_of_a_megabyte_in_a_dictionary_is_refused_before_it_is_repeated(tmp_path, engine, role):
    path = write_bomb(tmp_path / "p.parquet")
    assert path.stat().st_size < 2000
    command = [sys.executable, "-c", BOMB, str(path), engine, role]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    message, kilobytes = done.stdout.splitlines()
    assert re.match(too_long(1_000_000, 0), message)
    assert int(kilobytes) < 1_000_000


def test_a_folder_with_such_a_file_is_refused(tmp_path):
    FRAME[["y", "p", "g"]].to_parquet(tmp_path / "a.parquet")
    write_bomb(tmp_path / "b.parquet", rows=10, length=5000)
    for engine in ENGINES:
        with pytest.raises(sr.DataError, match=too_long(5000, 20)):
            evaluate(tmp_path, engine)


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "values", "length"),
    [
        ("g", ["ä" * 1001], 1001),
        ("g", ["a", "b" * 1001], 1001),
        ("y", ["0" * 2000], 2000),
        ("p", ["0." + "5" * 1500], 1502),
        ("t", ["2" * 1200], 1200),
        ("g", [b"b" * 1300], 1300),
    ],
)
def test_long_texts_of_any_column_are_refused_by_name_row_and_length(
    tmp_path, engine, column, values, length
):
    found = FRAME[column].astype(object).tolist()
    found = [str(value) if isinstance(values[0], str) else str(value).encode() for value in found]
    found[7 : 7 + len(values)] = values
    FRAME.assign(**{column: found}).to_parquet(tmp_path / "p.parquet")
    row = 6 + len(values)
    with pytest.raises(sr.DataError, match=too_long(length, row, column)):
        evaluate(tmp_path / "p.parquet", engine, time="t")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_text_of_a_thousand_wide_characters_is_a_label(tmp_path, engine):
    frame = FRAME.assign(g=["😀" * 1000, "b"] * 10)
    frame.to_parquet(tmp_path / "p.parquet")
    assert {g.label for g in evaluate(tmp_path / "p.parquet", engine).groups} == {"😀" * 1000, "b"}


def test_columns_that_differ_by_case_are_distinguished(tmp_path):
    FRAME.assign(G="c" * 2000).to_parquet(tmp_path / "p.parquet")
    assert len(sr.read_predictions(tmp_path / "p.parquet", **NAMED).outcome) == 20
    with pytest.raises(sr.DataError, match=too_long(2000, 0, "G")):
        sr.read_predictions(tmp_path / "p.parquet", **NAMED | {"groups": "G"})


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_are_refused_before_they_are_read(tmp_path, engine):
    FRAME.assign(g=[["a"]] * 20).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(sr.DataError, match=exactly("`g` must hold plain values; got a column of VARCHAR[].")):
        evaluate(tmp_path / "p.parquet", engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_run_lengths_that_expand_out_of_proportion_are_refused(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(size_limits, "_FREE", 100_000)
    monkeypatch.setattr(size_limits, "_PACKED_PARQUET", 20)
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"y": np.ones(100_000), "p": np.ones(100_000), "g": np.ones(100_000)}), path)
    size = path.stat().st_size
    sentence = (
        f"p.parquet must not expand to more than 20 times its {size:,} bytes; got 100,000 rows, which take "
        "0.0 GB. Where equal rows repeat, write each of them once and pass their number as `weight`."
    )
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        evaluate(path, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_footer_that_contradicts_itself_is_refused(tmp_path, engine):
    """The footer holds the number of rows of the file as a zigzag varint; it is replaced."""
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({name: np.linspace(0, 1, 5000) for name in "ypg"}), path)
    content, number = path.read_bytes(), b"\x16\x90\x4e\x19"  # field of 5000, then the list of row groups
    assert content.count(number) == 1
    path.write_bytes(content.replace(number, b"\x16\x92\x4e\x19"))
    with pytest.raises(
        sr.DataError,
        match=exactly("p.parquet cannot be read as Parquet: its footer contradicts itself."),
    ):
        evaluate(path, engine)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "folder", "duckdb"])
def test_rows_that_cannot_fit_into_memory_are_refused_there(tmp_path, kind, monkeypatch):
    source, table = write_as(tmp_path, kind, FRAME)
    monkeypatch.setattr(machine, "physical_memory", lambda: 500)
    name = f"{source.name}: t" if table else source.name
    with pytest.raises(sr.DataError) as caught:
        evaluate(source, table=table)
    assert re.match(
        rf"^{re.escape(name)} must fit into memory, of which there are 0\.0 GB; got 2[01] rows, which "
        r'take at least 0\.0 GB\. Pass engine="duckdb" \(--engine duckdb\) to evaluate them on disk\.$',
        str(caught.value),
    )
    monkeypatch.undo()
    assert evaluate(source, "duckdb", table=table).data.row_flow.kept == 20


def write_as(folder, kind, frame):
    if kind == "duckdb":
        with duckdb.connect(folder / "p.duckdb") as connection:
            connection.register("frame", frame)
            connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        return folder / "p.duckdb", "t"
    if kind == "folder":
        (folder / "rows").mkdir()
        frame.to_parquet(folder / "rows" / "p.parquet")
        return folder / "rows", None
    path = folder / f"p.{kind}"
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    return path, None


# Labels of other sources


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["frame", "categories", "csv", "csv.gz", "duckdb", "view", "sqlite"])
def test_long_labels_are_refused_wherever_they_come_from(tmp_path, engine, kind):
    frame = FRAME.assign(g=["a", "b", "c" * 1500, "d"] * 5)
    table = None
    if kind == "frame":
        source = frame
    elif kind == "categories":
        source = frame.astype({"g": "category"})
    elif kind == "sqlite":
        source, table = f"sqlite:///{tmp_path / 'p.db'}", "t"
        with sa.create_engine(source).begin() as connection:
            frame.to_sql("t", connection, index=False)
    elif kind == "view":
        source, table = write_as(tmp_path, "duckdb", FRAME)[0], "bomb"
        with duckdb.connect(source) as connection:
            long = "CASE WHEN rowid = 2 THEN repeat('x', 1500) ELSE g END"
            connection.execute(f"CREATE VIEW bomb AS SELECT y, p, {long} AS g FROM t")
    else:
        source, table = write_as(tmp_path, kind, frame)
    length = 1001 if kind == "sqlite" else 1500  # no more characters are read
    file = f"p.{kind}" if kind.startswith("csv") else ""
    with pytest.raises(sr.DataError, match=too_long(length, 2, file=file)):
        evaluate(source, engine, table=table)


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_numbers_of_too_many_digits_are_refused(engine):
    with pytest.raises(sr.DataError, match=r"^`g` must hold texts of at most 1,000 characters; got one of "):
        evaluate(FRAME.assign(g=[10**5000, 2] * 10), engine)
    with pytest.raises(sr.DataError, match=exactly("`p` must be finite; got inf at row 3 (1 of 20 rows).")):
        evaluate(FRAME.assign(p=[0.5] * 3 + [10**5000] + [0.5] * 16), engine)


def test_names_of_classes_are_short():
    with pytest.raises(
        sr.UsageError,
        match=exactly("`classes` must be labels of at most 1,000 characters; got one of 1,001 characters."),
    ):
        sr.read_predictions(FRAME, outcome="y", forecasts={"m": ["p", "p"]}, classes=["a", "b" * 1001])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refusal_shows_the_beginning_of_a_long_value(engine):
    with pytest.raises(sr.DataError) as caught:
        evaluate(FRAME.assign(p=["x" * 50_000] * 20), engine)
    assert str(caught.value).startswith(f"`p` must be numeric; got '{'x' * 100}' ... at row 0 (20 of 20 rows")


# CSV


def packed(path, content):
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compressed_file_is_refused_while_it_expands(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(size_limits, "_FREE", 1 << 16)
    monkeypatch.setattr(csv_lines, "LONGEST_LINE", 1 << 12)
    path = packed(tmp_path / "p.csv.gz", b"y,p,g\n" + b"0,0.5,a\n1,0.5,a\n" * 20_000)
    read = []
    count = size_limits.check_unpacked
    monkeypatch.setattr(csv_lines, "check_unpacked", lambda *args: (read.append(args[2]), count(*args)))
    size = path.stat().st_size
    sentence = (
        f"p.csv.gz must not expand to more than 250 times its {size:,} bytes; got more than 0.0 GB. "
        "If the file is right, unpack it first."
    )
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        evaluate(path, engine)
    assert read[-1] <= 250 * size + (1 << 12) < 320_000


def test_the_engine_depends_on_the_compression_of_the_file(tmp_path):
    path = packed(tmp_path / "p.csv.gz", b"y,p,g\n" + b"0,0.5,a\n1,0.5,a\n" * 50_000)
    assert 20_000 < estimate_rows(path) < 200_000
    assert path.stat().st_size < 10_000
    assert choose_engine(path, columns=3, memory_limit="100MB") == "memory"
    assert (
        choose_engine(packed(path, b"y,p,g\n" + b"0,0.5,a\n" * 3_000_000), memory_limit="100MB") == "duckdb"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_is_one_line_is_refused(tmp_path, engine):
    for name, content in (("p.csv", b"y" * 3_000_000), ("p.csv.gz", gzip.compress(b"y" * 3_000_000))):
        (tmp_path / name).write_bytes(content)
        sentence = f"{name} must begin with its header; its first line has more than 1,048,576 bytes."
        with pytest.raises(sr.DataError, match=exactly(sentence)):
            evaluate(tmp_path / name, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_field_of_megabytes_is_refused(tmp_path, engine):
    (tmp_path / "p.csv").write_bytes(b"y,p,g\n0,0.5,a\n1,0.5," + b"b" * 3_000_000 + b"\n")
    with pytest.raises(sr.DataError, match=r"^p\.csv cannot be read as CSV: "):
        evaluate(tmp_path / "p.csv", engine)


def open_quote(name, line):
    return exactly(
        f"{name} must close each quoted field in its line; the quote that opens in line {line} is not closed "
        "there. Close it, or write a quote that is part of a text twice."
    )


ROWS = b"0,0.1,a\n1,0.2,b\n"
UNCLOSED = {
    "last field": (b"y,p,g\n" + ROWS + b'0,0.3,"c', 4),
    "last field and newline": (b"y,p,g\n" + ROWS + b'0,0.3,"c\n', 4),
    "blank lines after it": (b"y,p,g\n" + ROWS + b'0,0.3,"c\n\n \n', 4),
    "last number": (b"y,g,p\n0,a,0.1\n1,b,0.2\n0,c," + b'"0.3', 4),
    "carriage returns": (b"y,p,g\r\n0,0.1,a\r\n1,0.2,b\r\n" + b'0,0.3,"c\r\n', 4),
    "doubled quotes": (b"y,p,g\n" + ROWS + b'0,0.3,"c""\n', 4),
    "first row": (b'y,p,g\n0,0.1,"a\n' + ROWS * 3, 2),
    "first field": (b'y,p,g\n"0,0.1,a\n' + ROWS * 3, 2),
    "closed in another line": (b'y,p,g\n0,0.1,"a\nb"\n' + ROWS, 2),
    "header": (b'y,p,"g\n' + ROWS, 1),
    "header after a blank": (b'y,p, "g\n' + ROWS, 1),
    "semicolons": (b'y;p;g\n0;0.1;a\n1;0.2;"b,b\n', 3),
    "middle of a large file": (b"y,p,g\n" + ROWS * 100_000 + b'1,0.5,"c\n' + ROWS, 200_002),
    "after quotes that mean nothing": (b'y,p,g\n0,0.1,a"b\n1,0.2,"c"d"e\n1,0.3,"f', 4),
}


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize(("content", "line"), UNCLOSED.values(), ids=UNCLOSED)
def test_a_quote_that_is_not_closed_is_refused_by_its_line(tmp_path, engine, ending, content, line):
    path = tmp_path / f"p.{ending}"
    path.write_bytes(gzip.compress(content, 1) if ending.endswith("gz") else content)
    with pytest.raises(sr.DataError, match=open_quote(path.name, line)):
        evaluate(path, engine)


def test_a_table_of_checkpoints_closes_its_quotes_as_well(tmp_path):
    path = tmp_path / "c.csv"
    path.write_bytes(b'step,accuracy\n1,0.5\n2,0.6\n"3,0.7\n')
    with pytest.raises(sr.DataError, match=open_quote("c.csv", 4)):
        sr.select(path, score="accuracy", checkpoint="step")


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ((b'"a"', b'"b"'), {"a", "b"}),
        ((b'"a""a"', b'""""'), {'a"a', '"'}),
        ((b'a"b', b'b"'), {'a"b', 'b"'}),
        ((b'"a"b', b'"a,b"'), {"ab", "a,b"}),
        ((b'"a"b"c', b' "b'), {'ab"c', '"b'}),
    ],
)
def test_quotes_that_are_closed_or_mean_nothing_are_read_as_before(tmp_path, engine, fields, labels):
    lines = [b"%d,%f,%s" % (k % 2, k / 50, fields[k // 2 % 2]) for k in range(40)]
    (tmp_path / "p.csv").write_bytes(b"\r\n".join([b"y,p,g", *lines]))
    assert {g.label for g in evaluate(tmp_path / "p.csv", engine).groups} == labels


# Documents and configurations

DEEP = 100_000
DOCUMENTS = {
    "lists": (b"[" * DEEP + b"]" * DEEP, "its lists and objects are nested too deeply."),
    "objects": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "its lists and objects are nested too deeply."),
    "never closed": (b"[" * DEEP, "its lists and objects are nested too deeply."),
    "whole number": (b'{"version":' + b"9" * 5000 + b"}", "it holds a number too large for floating point."),
    "shorter one": (b'{"a":' + b"9" * 400 + b"}", "it holds a number too large for floating point."),
    "number": (b'{"version":1e999}', "it holds a number too large for floating point."),
}


@pytest.mark.parametrize(("content", "reason"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_too_large_for_parsers_are_refused(tmp_path, content, reason):
    path = tmp_path / "results.json"
    path.write_bytes(content)
    for read in (sr.Evaluation.from_json, sr.Certificate.from_json):
        with pytest.raises(sr.DataError, match=exactly(f"{path} cannot be read: {reason}")):
            read(path)


@pytest.mark.parametrize(
    "content",
    [
        b'{"version":1,\0}',
        b'{"version":1,"a":"\xff"}',
        b'{"version":1,"a":"\\ud800"}',
        b"\xff\xfe{}",
        b"null",
    ],
)
def test_documents_that_are_not_text_are_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(
        sr.DataError, match=rf"^{re.escape(str(path))} is not a valid evaluation document: [^\n]+\.$"
    ):
        sr.Evaluation.from_json(path)


def test_a_long_version_is_not_repeated(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"version": "9" * 10_000}))
    sentence = f"{path} has version {'9' * 60}; this scorereport reads version 1."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        sr.Evaluation.from_json(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = " + "[" * DEEP + "]" * DEEP, "its lists are nested too deeply."),
        ("a = " + "{a = " * 2000 + "1" + "}" * 2000, "its lists are nested too deeply."),
        (f"[limits.{'.'.join('a' * 400)}]\nx = 1", "its lists are nested too deeply."),
        ("[evaluation]\nforecasts = " + "[" * 300 + "]" * 300, "its lists are nested too deeply."),
        ("[evaluation]\nseed = " + "9" * 5000, "it holds a whole number of more than 1000 bits."),
        ("[evaluation]\nseed = 0x" + "f" * 5000, "it holds a whole number of more than 1000 bits."),
    ],
    ids=["lists", "inline tables", "tables", "few lists", "digits", "hexadecimal digits"],
)
def test_configurations_too_large_for_parsers_are_refused(text, reason):
    with pytest.raises(sr.UsageError, match=exactly(f"c.toml is not a configuration: {reason}")):
        parse_configuration(text, "c.toml")
