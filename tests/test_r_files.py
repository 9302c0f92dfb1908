"""Data frames of R: files written byte by byte, so that no R is needed, and files that R itself writes."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess

import numpy as np
import pandas as pd
import pytest
from r_data_tools import (
    ATTRIBUTES,
    COMPACT,
    ENVIRONMENT,
    GLOBAL,
    LIST,
    NULL,
    PACKINGS,
    PAIRLIST,
    REFERENCE,
    R,
    Raw,
    data_frame,
    factor,
    header,
    item,
    number,
    pairlist,
    symbol,
    text,
    write_rdata,
    write_rds,
)
from source_tools import ALL, OCTOBER, exactly, take
from typer.testing import CliRunner

import scorereport as sr
from scorereport.cli.application import app
from scorereport.data import r_objects, size_limits
from scorereport.data.column_samples import read_sample
from scorereport.data.sources import locate_source
from scorereport.evaluation.dispatch import evaluate
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

COLUMNS = {"outcome": "y", "forecasts": ["m"]}
ROWS = {"y": [0, 1, 1, 0], "m": [0.25, 1 / 3, 0.1, 0.75]}
REMEDY = "In R, save the data frame of outcomes and forecasts with saveRDS()."


def read_table(path, *columns, table=None):
    place = locate_source(path, table)
    names = list(columns) or place.kind.list_columns(place)
    return place.kind.read(place, [], names).to_pydict()


# Values


@pytest.mark.parametrize("pack", PACKINGS)
def test_files_are_read_however_they_are_compressed(tmp_path, pack):
    path = write_rds(tmp_path / "p.rds", data_frame(ROWS), pack=PACKINGS[pack])
    read = sr.read_predictions(path, **COLUMNS)
    assert read.outcome.tolist() == ROWS["y"]
    assert read.forecasts["m"].tolist() == ROWS["m"]
    assert read.source == "p.rds"
    frame = sr.read_predictions(pd.DataFrame(ROWS), **COLUMNS)
    assert read.sha256 == frame.sha256
    assert len(read.file_sha256) == 64


def test_both_versions_of_the_format_are_read(tmp_path):
    for version in (2, 3):
        path = write_rds(tmp_path / f"{version}.rds", data_frame(ROWS), version=version)
        assert read_table(path) == ROWS
    path.write_bytes(path.read_bytes().replace(number(3), number(4), 1))
    with pytest.raises(sr.DataError, match=r"it has version 4 of R's format; versions 2 and 3 are read\.$"):
        read_table(path)


def test_every_type_keeps_its_values_and_missing_values(tmp_path):
    columns = {
        "whole": [7, None, -3],
        "double": [0.1, None, 5e-324],
        "flag": [True, None, False],
        "text": ["é", None, "NA"],
        "factor": factor(["lo", None, "hi"], ["hi", "unused", "lo"]),
        "ordered": factor(["b", "b", "a"], ["a", "b"], classes=("ordered", "factor")),
        "na level": factor([None, "a", None], [None, "a"]),
        "difftime": R([1.5, 2.0, None], {"class": ["difftime"], "units": ["hours"]}),
    }
    found = read_table(write_rds(tmp_path / "p.rds", data_frame(columns)))
    double = found.pop("double")
    assert (double[0], double[2]) == (0.1, 5e-324)
    assert np.isnan(double[1])
    assert np.isnan(found.pop("difftime")[2])
    assert found == {
        "whole": [7, None, -3],
        "flag": [True, None, False],
        "text": ["é", None, "NA"],
        "factor": ["lo", None, "hi"],
        "ordered": ["b", "b", "a"],
        "na level": [None, "a", None],
    }


def test_dates_and_times_are_read_in_utc(tmp_path):
    day = R([20_455.0, None, -0.5], {"class": ["Date"]})
    whole = R([20_455, None, 1], {"class": ["Date"]})
    time = R([1_767_308_400.25, None, 0.0], {"class": ["POSIXct", "POSIXt"], "tzone": ["Europe/Berlin"]})
    frame = data_frame({"y": [0, 1, 0], "m": [0.1, 0.2, 0.3], "day": day, "whole": whole, "time": time})
    path = write_rds(tmp_path / "p.rds", frame)
    days = [str(value) for value in read_table(path, "day")["day"]]
    assert days == ["2026-01-02", "None", "1969-12-31"]
    assert str(read_table(path, "whole")["whole"][0]) == "2026-01-02"
    read = sr.read_predictions(path, **COLUMNS, time="time", missing="drop")
    assert read.time.tolist() == np.array(["2026-01-01T23:00:00.25", "1970-01-01"], "datetime64[us]").tolist()


def test_dates_that_no_calendar_has_are_refused(tmp_path):
    far = R([20_455.0, float("inf")], {"class": ["Date"]})
    path = write_rds(tmp_path / "p.rds", data_frame({"y": [0, 1], "m": [0.1, 0.2], "t": far}))
    sentence = "`t` must hold dates of the years 1 to 9999; got inf at row 2 of p.rds (1 of 2 rows)."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        sr.read_predictions(path, **COLUMNS, time="t")


def test_whole_numbers_of_64_bits_are_not_taken_for_doubles(tmp_path):
    bits = [struct.unpack(">d", struct.pack(">q", value))[0] for value in (2**60 + 1, -5, -(2**63))]
    path = write_rds(tmp_path / "p.rds", data_frame({"id": R(bits, {"class": ["integer64"]})}))
    assert read_table(path) == {"id": [2**60 + 1, -5, None]}


def test_texts_in_latin_1_and_in_utf_8_are_the_same_labels(tmp_path):
    vector = Raw(number(16) + number(3) + text("Köln", "latin-1") + text("Köln") + text("Bonn"))
    path = write_rds(tmp_path / "p.rds", data_frame({"g": vector}, rows=3))
    assert read_table(path) == {"g": ["Köln", "Köln", "Bonn"]}


def test_more_texts_than_fit_into_a_buffer_are_read(tmp_path):
    labels = [None if row % 7 == 0 else "x" * (row % 90) for row in range(40_000)]
    for pack in (bytes, PACKINGS["gzip"]):
        path = write_rds(tmp_path / "p.rds", data_frame({"g": labels, "n": [*range(40_000)]}), pack=pack)
        assert read_table(path) == {"g": labels, "n": [*range(40_000)]}


def compact(name, state):
    names = (symbol(name), symbol("base"), item([13]))
    info = b"".join(number(PAIRLIST) + part for part in names) + number(NULL)
    return Raw(number(COMPACT) + info + item(state) + number(NULL))


def test_vectors_in_compact_form_are_expanded(tmp_path):
    pair = Raw(number(PAIRLIST) + item([1.5, 100_000.0, 1e-5]) + number(254))
    columns = {
        "up": compact("compact_intseq", [3.0, 5.0, 1.0]),
        "down": compact("compact_realseq", [3.0, 5.0, -1.0]),
        "wrapped": compact("wrap_real", ([0.5, None, 0.25], [0, 0])),
        "texts": compact("deferred_string", pair),
    }
    found = read_table(write_rds(tmp_path / "p.rds", data_frame(columns, rows=3)))
    assert (found["up"], found["down"]) == ([5, 6, 7], [5.0, 4.0, 3.0])
    assert found["wrapped"][::2] == [0.5, 0.25]
    assert found["texts"] == ["1.5", "1e+05", "1e-05"]


# Shapes


def test_matrices_are_tables_with_the_names_that_r_gives(tmp_path):
    cells = [0.0, 1.0, 0.25, 0.75]
    named = R(cells, {"dim": [2, 2], "dimnames": (Raw(number(NULL)), ["y", "m"])})
    assert read_table(write_rds(tmp_path / "a.rds", named)) == {"y": [0, 1], "m": [0.25, 0.75]}
    plain = R(cells, {"dim": [2, 2]})
    assert read_table(write_rds(tmp_path / "b.rds", plain)) == {"V1": [0, 1], "V2": [0.25, 0.75]}
    inside = data_frame({"y": [0, 1], "p": named, "q": plain, "d": data_frame({"z": [5, 6]})}, rows=2)
    found = read_table(write_rds(tmp_path / "c.rds", inside))
    assert found == {
        "y": [0, 1],
        "p.y": [0, 1],
        "p.m": [0.25, 0.75],
        "q.1": [0, 1],
        "q.2": [0.25, 0.75],
        "d.z": [5, 6],
    }


def test_tibbles_and_data_tables_are_data_frames(tmp_path):
    pointer = Raw(number(22) + number(NULL) + number(NULL))
    for classes in (("tbl_df", "tbl", "data.frame"), ("data.table", "data.frame")):
        frame = data_frame(ROWS, classes=classes)
        frame.attributes[".internal.selfref"] = pointer
        assert read_table(write_rds(tmp_path / "p.rds", frame)) == ROWS


def test_names_of_columns_may_be_anything_but_the_same(tmp_path):
    columns = {"a": [0, 1], "b": [0.25, 0.5], "c": [2, 3], "d": [4, 5]}
    path = write_rds(tmp_path / "p.rds", data_frame(columns, names=["the outcome", "1 é", "x", "x"]))
    read = sr.read_predictions(path, outcome="the outcome", forecasts=["1 é"])
    assert read.forecasts["1 é"].tolist() == [0.25, 0.5]
    with pytest.raises(sr.DataError, match=exactly("p.rds has 2 columns named `x`; names must differ.")):
        sr.read_predictions(path, outcome="the outcome", forecasts=["x"])


def test_what_a_frame_carries_beside_its_columns_does_not_matter(tmp_path):
    """A formula with its environment, a function, references, and a list column that is not used."""
    inside = number(GLOBAL) + pairlist({"v": [1]}) + 2 * number(NULL)
    environment = Raw(number(ENVIRONMENT) + number(0) + inside)
    call = Raw(number(6 | ATTRIBUTES) + pairlist({".Environment": environment}) + symbol("~") + number(NULL))
    frame = data_frame({**ROWS, "l": ([1], ["a", "b"], [0.5], Raw(number(NULL)))})
    built_in = Raw(number(8) + number(3) + b"sum")
    frame.attributes |= {"terms": call, "again": Raw(number(REFERENCE | 2 << 8)), "f": built_in}
    path = write_rds(tmp_path / "p.rds", frame)
    assert read_table(path, "y", "m") == ROWS
    sentence = "`l` must hold plain values; got a column that is a list of 4."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read_table(path, "l")


def test_a_time_in_parts_says_what_to_do(tmp_path):
    parts = R({"sec": [0.0]}, {"class": ["POSIXlt", "POSIXt"]})
    path = write_rds(tmp_path / "p.rds", data_frame({"y": [0], "t": parts}, rows=1))
    sentence = "`t` must hold plain values; got a column of class POSIXlt. Convert it with as.POSIXct() in R."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read_table(path, "t")


# Which table


def test_one_of_several_data_frames_is_named(tmp_path):
    other = {"y": [1, 0], "m": [0.5, 0.125]}
    matrix = R([0.0, 1.0], {"dim": [1, 2]})
    objects = {"train": data_frame(ROWS), "test": data_frame(other), "m": matrix, "n": [5]}
    path = write_rdata(tmp_path / "p.RData", objects)
    assert sr.read_predictions(path, **COLUMNS, table="test").forecasts["m"].tolist() == other["m"]
    assert sr.read_predictions(path, **COLUMNS, table="test").source == "p.RData: test"
    assert read_table(path, table="m") == {"V1": [0], "V2": [1]}
    for table, kind, sentence in (
        (
            None,
            sr.UsageError,
            "p.RData has 2 data frames, 'train' and 'test': name one of them in `table` (--table).",
        ),
        (
            "tset",
            sr.DataError,
            "p.RData has no data frame 'tset'; it has 'train', 'test' and 'm'. Did you mean 'test'?",
        ),
        ("n", sr.DataError, f"'n' in p.RData is an integer vector of 1 value, not a data frame. {REMEDY}"),
    ):
        with pytest.raises(kind, match=exactly(sentence)):
            sr.read_predictions(path, **COLUMNS, table=table)


def test_a_list_of_data_frames_is_read_by_their_names(tmp_path):
    frames = R({"may": data_frame(ROWS), "june": data_frame({"y": [1], "m": [0.5]})})
    path = write_rds(tmp_path / "p.rds", frames)
    assert read_table(path, table="june") == {"y": [1], "m": [0.5]}


def test_the_only_data_frame_needs_no_name(tmp_path):
    path = write_rdata(tmp_path / "p.rda", {"n": [5], "d": data_frame(ROWS), "s": ["a"]})
    assert read_table(path) == ROWS
    one = write_rds(tmp_path / "p.rds", data_frame(ROWS))
    sentence = "p.rds holds one table, which has no name: leave out `table` (--table)."
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        sr.read_predictions(one, **COLUMNS, table="d")


def test_what_is_not_a_data_frame_is_named(tmp_path):
    model = R({"coefficients": [0.5]}, {"class": ["glm", "lm"]})
    cases = {
        "an object of class glm": model,
        "an integer vector of 1,000 values": [*range(1000)],
        "a numeric vector of 2 values": [0.5, 0.25],
        "a character vector of 1 value": ["a"],
        "NULL": Raw(number(NULL)),
        "a function": Raw(number(8) + number(3) + b"sum"),
        "an environment": Raw(number(GLOBAL)),
        "'y' (an integer vector of 1 value) and 'm' (a numeric vector of 1 value)": R({"y": [1], "m": [0.5]}),
        "a list of 2": R(([1], [0.5])),
    }
    for what, value in cases.items():
        path = write_rds(tmp_path / "p.rds", value)
        with pytest.raises(sr.DataError, match=exactly(f"p.rds holds {what}, not a data frame. {REMEDY}")):
            read_table(path, "y")


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (data_frame({"y": [], "m": []}), "p.rds holds no rows."),
        (data_frame({}, rows=3), "p.rds holds a data frame without columns."),
        (
            data_frame({"y": [0], "mm": [0.5]}),
            "p.rds has no column `m`; it has `y`, `mm`.",
        ),
        (
            data_frame({"y": [0, 1, 1], "m": [0.5, 1.5, 0.5]}),
            "`m` must lie in [0, 1]; got 1.5 at row 2 of p.rds (1 of 3 rows).",
        ),
    ],
    ids=["no rows", "no columns", "name", "value"],
)
@pytest.mark.parametrize("read", [sr.read_predictions, open_duckdb], ids=["memory", "duckdb"])
def test_mistakes_in_frames_are_named_as_in_other_files(tmp_path, read, frame, sentence):
    path = write_rds(tmp_path / "p.rds", frame)
    with pytest.raises(sr.DataError, match=f"^{exactly(sentence)[1:-1]}"):
        read(path, **COLUMNS)


# Everything that reads sources


def test_both_engines_read_the_same_rows(tmp_path):
    columns = COLUMNS | {"groups": "g", "time": "t", "cluster": "c", "weight": "w", "missing": "drop"}
    frame = data_frame(
        {
            "y": [True, False, None, True, False],
            "m": [0.1, 0.9, 0.5, None, 1 / 3],
            "g": factor(["a", "b", "b", "a", "a"], ["b", "a"]),
            "t": R([20_000.0, 20_001.0, 20_002.0, 20_003.0, 20_004.0], {"class": ["Date"]}),
            "c": [3, 3, 4, 5, 5],
            "w": [1.0, 2.0, 1.0, 1.0, 0.5],
        }
    )
    path = write_rds(tmp_path / "p.rds", frame)
    with open_duckdb(path, **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(path, **columns).sha256


@pytest.mark.parametrize("work", [{"engine": "memory"}, {"engine": "duckdb"}], ids=["memory", "duckdb"])
def test_audits_read_frames_and_name_their_rows(tmp_path, work):
    days = R([20_735.0, 20_740.0, 20_745.0], {"class": ["Date"]})  # from 2026-10-09 on
    frames = {"scores": {"y": [0, 1, 1], "m": [0.2, 0.7, 0.5], "t": days}, "old": {"y": [0], "m": [0.5]}}
    write_rdata(tmp_path / "p.RData", {name: data_frame(frame) for name, frame in frames.items()})
    given = {"file": "*.RData", "table": "scores", "work": work}
    rows = take(tmp_path, **given)
    assert rows.evaluate(evaluate, {"resamples": 0}).data.row_flow.kept == 3
    rows.close()
    bad = data_frame(frames["scores"] | {"m": [0.2, 1.5, 0.5]})
    write_rdata(tmp_path / "p.RData", {"scores": bad, "old": bad})
    for period, column in ((OCTOBER, "t"), (ALL, "")):
        sentence = r"got 1\.5 at row 2 of p\.RData: scores \(1 of 3 rows\)\.$"
        with pytest.raises(sr.DataError, match=sentence):
            take(tmp_path, **given, period=period, column=column).evaluate(evaluate, {"resamples": 0})


def test_commands_read_r_files(tmp_path):
    rows = {"y": [0, 1] * 20, "m": [0.25, 0.75] * 20}
    path = write_rdata(tmp_path / "p.RData", {"a": data_frame(rows), "b": data_frame(ROWS)})
    command = ["score", str(path), "--outcome", "y", "--forecast", "m", "--resamples", "0", "--json"]
    done = CliRunner().invoke(app, [*command, "--table", "a"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["data"]["row_flow"]["read"] == 40
    refused = CliRunner().invoke(app, command)
    sentence = "p.RData has 2 data frames, 'a' and 'b': name one of them in `table` (--table)."
    assert str(refused.exception) == sentence


def test_a_first_configuration_is_made_from_an_r_file(tmp_path):
    rows = {"default": [0, 1] * 50, "logit": [0.25, 0.75, 0.125, 0.5] * 25}
    path = write_rds(tmp_path / "p.rds", data_frame(rows))
    sample = read_sample(str(path))
    assert (sample.rows, [column.name for column in sample.columns]) == (100, ["default", "logit"])
    assert sample.find("logit").lies_within(0, 1)


def test_an_r_file_can_be_the_reference_sample(tmp_path):
    data = pd.DataFrame({"y": [0, 1] * 30, "m": np.linspace(0.05, 0.95, 60)})
    path = write_rds(tmp_path / "p.rds", data_frame({name: data[name].tolist() for name in data}))
    by_file, by_frame = (
        sr.evaluate(data, **COLUMNS, reference=reference, resamples=0).stability[0]
        for reference in (path, data)
    )
    assert by_file.source == "p.rds"
    assert len(by_file.source_sha256) == 64
    assert by_file.index == by_frame.index
    assert by_file.reference.tolist() == by_frame.reference.tolist()


# Files that are damaged or hostile


def test_a_file_cut_anywhere_is_refused_in_one_sentence(tmp_path):
    whole = header() + item(data_frame({**ROWS, "g": ["a", "bc", None, "d"]}))
    path = tmp_path / "p.rds"
    for end in range(30, len(whole), 3):
        path.write_bytes(whole[:end])
        with pytest.raises(sr.DataError, match=exactly("p.rds cannot be read as R data: it ends too early.")):
            read_table(path)


@pytest.mark.parametrize("pack", ["gzip", "bzip2", "xz"])
def test_a_compressed_file_that_is_cut_is_refused_in_one_sentence(tmp_path, pack):
    path = write_rds(tmp_path / "p.rds", data_frame(ROWS), pack=PACKINGS[pack])
    path.write_bytes(path.read_bytes()[:-20])
    sentence = r"^p\.rds (cannot be read as R data: .+|is named like R data but holds .+)\.$"
    with pytest.raises(sr.DataError, match=sentence):
        read_table(path)


def test_damaged_bytes_raise_no_other_error(tmp_path):
    whole = header() + item(data_frame({**ROWS, "g": factor(["a", "b", "a", None], ["a", "b"])}))
    rng = np.random.default_rng(7)
    path = tmp_path / "p.rds"
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(2, len(whole), 2):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            read_table(path)
        except sr.ScoreReportError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Raw(number(14) + number(2**31 - 1) + bytes(80)), "it ends too early"),
        (Raw(number(14) + number(-1) + number(2**30) + number(0) + bytes(80)), "it ends too early"),
        (Raw(number(16) + number(2**31 - 1) + text("a")), "it ends too early"),
        (Raw(number(19) + number(2**31 - 1)), "it ends too early"),
        (Raw(number(14) + number(-5)), "it has a vector of a negative length"),
        (Raw((number(19) + number(1)) * 200_000), "it ends too early"),
        (Raw(number(77)), "it has an object of type 77, which R does not have"),
        (Raw(number(255 | 9 << 8)), "it mentions an object that it does not have"),
        (
            Raw(number(16) + number(1) + number(9) + number(-7)),
            "it has a text of a negative length",
        ),
        (
            Raw(number(16) + number(1) + number(13) + number(0)),
            "it has something else where a text",
        ),
        (data_frame({"y": [0, 1, 1], "m": [0.5]}), "its column m has 1 of 3 values"),
        (
            data_frame({"y": R([5], {"class": ["factor"], "levels": ["a"]})}),
            "it has a factor with a code",
        ),
        (data_frame({"y": R([1], {"class": ["factor"]})}), "it has a factor without levels"),
        (R([0.5, 1.0], {"dim": [3, 3]}), "it has a matrix whose size contradicts its rows and columns"),
    ],
    ids=str,
)
def test_impossible_contents_are_refused_before_they_take_memory(tmp_path, value, reason):
    path = write_rds(tmp_path / "p.rds", value)
    with pytest.raises(sr.DataError, match=rf"^p\.rds cannot be read as R data: {reason}.*\.$"):
        read_table(path)


def test_more_rows_than_memory_holds_are_refused(tmp_path):
    numbers = compact("compact_intseq", [2.0**50, 1.0, 1.0])
    frame = R({"y": numbers}, {"class": ["data.frame"], "row.names": numbers})
    path = write_rds(tmp_path / "p.rds", frame)
    sentence = r"^p\.rds must fit into memory, of which there are .* got 1,125,899,906,842,624 rows, .*\.$"
    with pytest.raises(sr.DataError, match=sentence):
        read_table(path, "y")


def test_a_small_file_that_expands_out_of_proportion_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(size_limits, "_FREE", 1 << 20)
    path = write_rds(tmp_path / "p.rds", data_frame({"y": [0.0] * (1 << 20)}), pack=PACKINGS["xz"])
    with pytest.raises(sr.DataError, match=r"If the file is right, save it with compress = FALSE\.$"):
        read_table(path, "y")


def test_objects_of_too_many_parts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(r_objects, "_MOST_PARTS", 1000)
    path = write_rds(tmp_path / "p.rds", Raw(number(LIST) + number(2000) + number(NULL) * 2000))
    with pytest.raises(sr.DataError, match=r"it has more than 1,000 elements in lists and code\.$"):
        read_table(path, "y")


def test_files_that_are_something_else_are_named(tmp_path):
    (tmp_path / "p.rds").write_text("y,m\n0,0.5\n")
    with pytest.raises(sr.DataError, match=exactly("p.rds is named like R data but holds CSV.")):
        read_table(tmp_path / "p.rds")
    write_rds(tmp_path / "p.csv", data_frame(ROWS))
    with pytest.raises(sr.DataError, match=exactly("p.csv is named like CSV but holds R data.")):
        sr.read_predictions(tmp_path / "p.csv", **COLUMNS)


@pytest.mark.parametrize("read", [sr.read_predictions, open_duckdb], ids=["memory", "duckdb"])
def test_a_long_label_that_many_rows_share_is_refused(tmp_path, read):
    label = "x" * 5000
    groups = {"text": ["a", label, label], "factor": factor(["a", label, label], ["a", label])}
    for group in groups.values():
        path = write_rds(tmp_path / "p.rds", data_frame({"y": [0, 1, 1], "m": [0.5, 0.5, 0.5], "g": group}))
        sentence = "`g` must hold texts of at most 1,000 characters; got one of 5,000 characters"
        with pytest.raises(sr.DataError, match=f"^{sentence} at row 2 of p[.]rds[.]$"):
            read(path, **COLUMNS, groups="g")


# Files that R writes

SCRIPT = """
d <- data.frame(
  y = c(1L, NA, 0L), p = c(1/3, NA, NaN), l = c(TRUE, NA, FALSE), s = c("a", NA, "\\u00e9"),
  day = as.Date(c("2026-01-02", NA, "1969-12-31")),
  t = as.POSIXct(c(1767351600.25, NA, 1782856800), origin = "1970-01-01", tz = "Europe/Berlin"),
  d = as.difftime(c(1, 2, NA), units = "hours"), stringsAsFactors = FALSE
)
d$latin <- d$s; Encoding(d$latin) <- "UTF-8"; d$latin <- iconv(d$latin, "UTF-8", "latin1")
d$f <- factor(c("u", NA, "v"), levels = c("v", "u", "w"))
d$o <- factor(c("hi", "lo", NA), levels = c("lo", "hi"), ordered = TRUE)
d$n <- 1:3
d$deferred <- as.character(c(100000, 0.1, 123456.5))
saveRDS(d, "plain.rds", compress = FALSE)
saveRDS(d, "gzip.rds")
saveRDS(d, "xz.rds", compress = "xz")
saveRDS(d, "bzip2.rds", compress = "bzip2")
saveRDS(d, "old.rds", version = 2)
con <- file("hexadecimal.rds", "wb"); serialize(d, con, ascii = NA); close(con)
con <- file("little.rds", "wb"); serialize(d, con, xdr = FALSE); close(con)
f <- function(x) { for (i in 1:3) x <- x + i; x }
f(1); f(2); f(3)
model <- glm(y ~ p, data = data.frame(y = c(0, 1, 0, 1), p = c(.1, .4, .5, .9)), family = binomial)
framed <- model.frame(model)
e <- new.env(); assign("self", e, e)
saveRDS(model, "model.rds")
saveRDS(framed, "framed.rds")
save(f, model, e, d, file = "workspace.RData")
save(d, file = "lines.rda", ascii = TRUE)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Files that R has written."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed: there is no Rscript on the path")
    folder = tmp_path_factory.mktemp("written")
    subprocess.run([rscript, "--vanilla", "-e", SCRIPT], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.r
@pytest.mark.parametrize(
    "name",
    [
        "plain.rds",
        "gzip.rds",
        "xz.rds",
        "bzip2.rds",
        "old.rds",
        "hexadecimal.rds",
        "little.rds",
        "workspace.RData",
        "lines.rda",
    ],
)
def test_what_r_writes_is_read_as_it_was(written, name):
    found = read_table(written / name)
    p = found.pop("p")
    assert p[0] == pytest.approx(1 / 3, rel=1e-15 if name == "lines.rda" else 0)
    assert np.isnan(p[1:]).all()
    assert np.isnan(found.pop("d")[2])
    assert [str(value) for value in found.pop("day")] == ["2026-01-02", "None", "1969-12-31"]
    assert [value and value.isoformat() for value in found.pop("t")] == [
        "2026-01-02T11:00:00.250000+00:00",
        None,
        "2026-06-30T22:00:00+00:00",
    ]
    assert found == {
        "y": [1, None, 0],
        "l": [True, None, False],
        "s": ["a", None, "é"],
        "latin": ["a", None, "é"],
        "f": ["u", None, "v"],
        "o": ["hi", "lo", None],
        "n": [1, 2, 3],
        "deferred": ["1e+05", "0.1", "123456.5"],
    }


@pytest.mark.r
def test_models_of_r_are_named_and_their_frames_are_read(written):
    sentence = f"model.rds holds an object of class glm, not a data frame. {REMEDY}"
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read_table(written / "model.rds", "y")
    assert read_table(written / "framed.rds") == {"y": [0, 1, 0, 1], "p": [0.1, 0.4, 0.5, 0.9]}
    sentence = f"'f' in workspace.RData is a function, not a data frame. {REMEDY}"
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read_table(written / "workspace.RData", "y", table="f")
