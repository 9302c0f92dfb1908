"""Frames of any library give the same predictions, and files are read without pandas."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scorereport as sr
from scorereport.data.arrow_columns import ArrowColumn, has_plain_type
from scorereport.data.pandas_columns import PandasColumn
from scorereport.data.raw_tables import wrap_column

ROLES = {
    "outcome": "y",
    "forecasts": ["m"],
    "weight": "w",
    "groups": ["site"],
    "time": "day",
    "missing": "drop",
}


class Stream:
    """A table of a library that only hands over a stream of Arrow."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A table of a library that only has the older protocol of frames."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, **options):
        return self._table.__dataframe__(**options)


def relation_of(table):
    return duckdb.connect().from_arrow(table)


FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "lazy polars": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "record batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "duckdb": relation_of,
    "stream": Stream,
}
COLUMNS = {
    "y": (pa.int64(), st.sampled_from([0, 1, None])),
    "m": (pa.float64(), st.none() | st.floats(0, 1, width=32)),
    "w": (pa.int32(), st.none() | st.integers(1, 5)),
    "site": (pa.string(), st.sampled_from(["north", "south", " east ", "ü", None])),
    "day": (
        pa.timestamp("us"),
        st.none() | st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2100, 1, 1)),
    ),
    "unused": (pa.list_(pa.int64()), st.just([1])),
}
ROWS = st.lists(st.tuples(*(values for _, values in COLUMNS.values())), min_size=1, max_size=8)


def make_table(rows):
    kinds = [kind for kind, _ in COLUMNS.values()]
    by_column = zip(zip(*rows, strict=True), kinds, strict=True)
    arrays = [pa.array(list(values), kind) for values, kind in by_column]
    return pa.table(dict(zip(COLUMNS, arrays, strict=True)))


def outcome_of(source, **options):
    """The hash and the rows that were kept, or the sentence of the refusal."""
    try:
        found = sr.read_predictions(source, **{**ROLES, **options})
    except sr.ScoreReportError as error:
        return str(error)
    return found.sha256, found.row_flow


def by_arrays(table):
    series = pl.from_arrow(table)
    others = {"weight": series["w"], "groups": {"site": series["site"]}, "time": series["day"]}
    found = {"outcome": "y", "forecasts": {"m": series["m"]}, **others}
    return outcome_of(series["y"], **found)


@given(ROWS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_all_forms_of_a_table_give_the_same_predictions(rows):
    table = make_table(rows)
    expected = outcome_of(FRAMES["pandas"](table))
    for name, make in FRAMES.items():
        assert outcome_of(make(table)) == expected, name
    assert by_arrays(table) == expected


@pytest.mark.parametrize("name", FRAMES)
def test_engines_read_the_same_rows_of_a_frame(name):
    rng = np.random.default_rng(4)
    columns = {
        "y": rng.integers(0, 2, 50),
        "m": rng.uniform(size=50),
        "site": np.array(["a", "b"])[rng.integers(0, 2, 50)],
    }
    make = FRAMES[name]
    roles = {"outcome": "y", "forecasts": ["m"], "groups": ["site"], "resamples": 0}
    in_memory = sr.evaluate(make(pa.table(columns)), **roles)
    on_disk = sr.evaluate(make(pa.table(columns)), engine="duckdb", **roles)
    assert in_memory.data.sha256 == on_disk.data.sha256 != ""
    assert in_memory.data.source == "The frame"


def test_the_older_protocol_of_frames_is_read():
    table = pa.table({"y": [0, 1], "m": [0.25, 0.5]})
    found = sr.read_predictions(Interchange(table), outcome="y", forecasts=["m"])
    assert found.forecasts["m"].tolist() == [0.25, 0.5]


@pytest.mark.parametrize("name", FRAMES)
def test_columns_that_are_absent_are_refused_with_those_there_are(name):
    table = pa.table({"y": [0, 1], "m": [0.25, 0.5]})
    sentence = r"^The frame has no column `p`; it has `y`, `m`\.$"
    with pytest.raises(sr.DataError, match=sentence):
        sr.read_predictions(FRAMES[name](table), outcome="y", forecasts=["p"])
    with pytest.raises(sr.DataError, match=r"^The frame holds no rows\.$"):
        sr.read_predictions(
            FRAMES[name](table.slice(0, 0)) if name != "record batch" else table.slice(0, 0),
            outcome="y",
            forecasts=["m"],
        )


def test_a_lazy_frame_computes_only_the_columns_that_are_used():
    def fail(_):
        raise AssertionError

    frame = pl.LazyFrame({"y": [0, 1], "m": [0.25, 0.5]}).with_columns(
        pl.col("y").map_batches(fail, return_dtype=pl.Int64).alias("costly")
    )
    assert sr.read_predictions(frame, outcome="y", forecasts=["m"]).outcome.tolist() == [0, 1]


def test_python_objects_in_polars_are_read_as_objects():
    frame = pl.DataFrame({"y": pl.Series([Decimal(0), Decimal(1)], dtype=pl.Object), "m": [0.25, 0.5]})
    assert sr.read_predictions(frame, outcome="y", forecasts=["m"]).outcome.tolist() == [0, 1]
    assert sr.read_predictions(frame["y"], frame["m"]).outcome.tolist() == [0, 1]


def test_numbers_of_arrow_are_not_copied():
    numbers = np.array([0.25, 0.5, 0.75])
    (chunk,) = pa.chunked_array([pa.array(numbers)]).chunks
    found = ArrowColumn(pa.chunked_array([chunk])).numbers("m")
    assert np.shares_memory(found, numbers)
    assert np.shares_memory(PandasColumn(pd.Series(numbers, copy=False)).numbers("m"), numbers)


# ---- columns of Arrow agree with columns of pandas ----

LATE = datetime.datetime(2026, 3, 1, 12, 30, 0, 250_000)
ARROW = {
    "floats": pa.array([0.5, None, float("nan"), 0.25, -0.0, 0.0]),
    "float32": pa.array([0.1, None, 0.2], pa.float32()),
    "small integers": pa.array([1, None, 0], pa.int8()),
    "large integers": pa.array([2**63 - 1, 2**53 + 1], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 7], pa.uint64()),
    "truth values": pa.array([True, None, False]),
    "texts": pa.array(["a", None, " b ", "a", ""]),
    "numbers as texts": pa.array(["0.5", "NA", "1e-3", "high"]),
    "large texts": pa.array(["a", None], pa.large_string()),
    "views": pa.array(["a", None], pa.string_view()),
    "dictionary": pa.DictionaryArray.from_arrays([2, 0, None, 2], ["x", "unused", "y"]),
    "dictionary of numbers": pa.DictionaryArray.from_arrays([1, 0, None], [0.5, 0.25]),
    "decimals": pa.array([Decimal("0.25"), None, Decimal("1.00")]),
    "dates": pa.array([datetime.date(2026, 3, 1), None]),
    "seconds": pa.array([LATE.replace(microsecond=0), None], pa.timestamp("s")),
    "microseconds": pa.array([LATE, None], pa.timestamp("us")),
    "nanoseconds": pa.array([1, -1, None, 10**18 + 1], pa.timestamp("ns")),
    "zone": pa.array([LATE, None], pa.timestamp("us", tz="Europe/Berlin")),
    "nothing": pa.nulls(3),
    "date texts": pa.array(
        ["2026-03-01", None, "2026-03-01T10:00", "2026-03-01 10:00:00.5", "2026-01-01T00:00Z"]
    ),
    "zones in texts": pa.array(["2026-03-01T10:00:00+01:30", "2026-03-01 10:00:00-05:00"]),
    "wrong dates": pa.array(["2026-02-30", "2026-03-01", "2026-13-01", "2026-03-01T25:00"]),
    "years": pa.array([2026, 2027]),
    "other dates": pa.array(["20260301", "2026-03", "1500-01-01", "2026-03-01T10"]),
}


def read_all(column):
    """All that a column can be read as, in a form that can be compared."""
    numbers = column.numbers("c")
    codes, values = column.factorize()
    dates, is_bad = column.dates()
    return {
        "numbers": None if numbers is None else np.nan_to_num(numbers, nan=-9).tolist(),
        "labels": [None if code < 0 else str(values[code]).removesuffix(".0") for code in codes],
        "distinct": len(values),
        "dates": dates.astype(str).tolist(),
        "bad": is_bad.tolist(),
    }


@pytest.mark.parametrize("name", ARROW)
@pytest.mark.parametrize("layout", ["whole", "sliced", "chunked"])
def test_a_column_of_arrow_reads_as_that_of_pandas(name, layout):
    array = ARROW[name]
    if layout == "sliced":
        array = pa.concat_arrays([array[:1], array]).slice(1) if name != "dictionary" else array.slice(0)
    chunked = pa.chunked_array([array[:1], array[1:]] if layout == "chunked" else [array])
    assert has_plain_type(array.type)
    found = read_all(wrap_column(chunked))
    expected = read_all(PandasColumn(pa.table({"c": chunked}).to_pandas()["c"]))
    if name in ("nothing", "truth values") or "dictionary" in name:
        expected["numbers"] = found["numbers"]  # of pandas these are objects, which `items` reads
    if name == "floats":  # 0 and -0 are one label, that of the first row, as with the other engines
        assert found["labels"] == ["0.5", None, None, "0.25", "-0", "-0"]
        expected["distinct"] = found["distinct"]
    assert found == expected


def test_numbers_in_other_types_of_arrow():
    assert wrap_column(ARROW["truth values"]).numbers("c").tolist()[::2] == [1, 0]
    assert wrap_column(ARROW["dictionary of numbers"]).numbers("c").tolist()[:2] == [0.25, 0.5]
    assert wrap_column(ARROW["dictionary"]).numbers("c") is None
    assert np.isnan(wrap_column(ARROW["nothing"]).numbers("c")).all()
    assert wrap_column(pa.array(np.array([0.5], dtype=np.float16))).numbers("c").tolist() == [0.5]


def test_words_for_the_present_are_not_dates():
    for words in (["now"], ["today", "2026-03-01"]):
        for column in (wrap_column(pa.array(words)), PandasColumn(pd.Series(words))):
            assert column.dates()[1].tolist() == [True, False][: len(words)]


def test_lists_in_arrow_are_refused_as_labels():
    table = pa.table({"y": [[0], [1]], "m": [0.25, 0.5]})
    with pytest.raises(sr.DataError, match=r"^`y` must hold plain labels; got array\(\[0\]\) at row 0\.$"):
        sr.read_predictions(table, outcome="y", forecasts=["m"])


# ---- files are read without pandas ----

PROGRAM = """
import sys
import scorereport as sr
roles = {"outcome": "y", "forecasts": ["m"], "weight": "w", "groups": "site", "time": "day"}
for path in sys.argv[1:3]:
    found = sr.evaluate(path, **roles, resamples=0)
    found.to_json()
    sr.write_report(found, sys.argv[3])
loaded = sorted({"pandas", "narwhals"} & sys.modules.keys())
print(f"loaded: {loaded}")
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(5)
    n = 80
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, n),
            "m": rng.uniform(size=n),
            "w": rng.integers(1, 4, n),
            "site": pd.Categorical(np.array(["a", "b"])[rng.integers(0, 2, n)]),
            "day": pd.date_range("2026-01-01", periods=n, freq="D"),
        }
    )
    frame.loc[3, "m"] = 0.5
    pq.write_table(pa.Table.from_pandas(frame), folder / "p.parquet")
    frame.to_csv(folder / "p.csv", index=False)
    return folder


@pytest.mark.sweep
def test_files_are_evaluated_and_reported_without_pandas(files):
    arguments = [str(files / "p.parquet"), str(files / "p.csv"), str(files / "r.html")]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "loaded: []"


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_command_does_not_load_pandas(files, ending):
    roles = ["--outcome", "y", "--forecast", "m", "--group", "site", "--time", "day", "--resamples", "0"]
    command = [sys.executable, "-X", "importtime", "-m", "scorereport", "score", str(files / f"p.{ending}")]
    run = subprocess.run([*command, *roles], capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if "import time" in line}
    assert "pyarrow" in loaded
    assert not loaded & {"pandas", "narwhals"}


def test_files_of_both_kinds_give_the_rows_of_the_frame(files):
    roles = {"outcome": "y", "forecasts": ["m"], "weight": "w", "groups": ["site"], "time": "day"}
    by_parquet, by_csv = (
        sr.read_predictions(files / f"p.{ending}", **roles) for ending in ("parquet", "csv")
    )
    by_frame = sr.read_predictions(pd.read_parquet(files / "p.parquet"), **roles)
    assert by_parquet.sha256 == by_csv.sha256 == by_frame.sha256
