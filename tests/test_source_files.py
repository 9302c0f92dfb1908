"""Rows of an audit from files, and the window of its period."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tools import ALL, BERLIN, OCTOBER, exactly, sqlite_url_fixture, take, url_fixture

import scorereport as sr
from scorereport.audit.rows import loaded_rows, source_rows
from scorereport.audit.rows.source_files import find_source_file
from scorereport.configuration.periods import Period
from scorereport.data.predictions import DroppedRows, MissingValues, RowFlow
from scorereport.data.sources import TABLE_ENDINGS
from scorereport.errors import DataError, UsageError

sqlite_url = pytest.fixture(sqlite_url_fixture)


url = pytest.fixture(params=["sqlite", "postgresql"])(url_fixture)


FRAME = pd.DataFrame(
    {
        "y": [0, 1, 0, 1, 0],
        "m": [0.1, 0.6, 0.4, 0.8, 0.3],
        "g": ["north", "south", "north", "south", "north"],
        "t": ["2026-09-30", "2026-10-01", "2026-10-17", "2026-10-31", "2026-11-01"],
    }
)


def write(folder, name, frame=FRAME, *, modified=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    if modified is not None:
        os.utime(path, (modified, modified))
    return path


# ---- files ----


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "P.Parquet"])
def test_a_file_gives_the_rows_of_the_period_and_its_hash(tmp_path, name):
    path = write(tmp_path, "in/" + name.replace("Parquet", "parquet"))
    path = path.rename(path.with_name(name))
    got = take(tmp_path, file=f"in/{name}", groups="g")
    assert (got.source, got.source_sha256) == (name, hashlib.sha256(path.read_bytes()).hexdigest())
    p = got.predictions
    assert (p.source, p.file_sha256) == (got.source, got.source_sha256)
    assert p.outcome.tolist() == [1, 0, 1]
    assert p.forecasts["m"].tolist() == [0.6, 0.4, 0.8]
    assert p.groups["g"].tolist() == ["south", "north", "south"]
    assert p.rows.tolist() == [1, 2, 3]
    assert p.time is None
    assert p.row_flow == RowFlow(
        read=5, kept=3, dropped=(DroppedRows(reason="outside of 2026-10-01 to 2026-10-31", rows=2),)
    )


def test_a_period_of_all_rows_ends_with_its_day(tmp_path):
    write(tmp_path, "p.csv")
    early = replace(ALL, end="2026-10-15")
    p = take(tmp_path, file="p.csv", period=early).predictions
    assert 0 < p.row_flow.kept < 5
    assert p.row_flow.dropped[0].reason == "outside of the days up to 2026-10-14"


def test_without_a_column_or_a_beginning_all_rows_are_taken(tmp_path):
    write(tmp_path, "p.csv")
    for got in (take(tmp_path, file="p.csv", column=""), take(tmp_path, file="p.csv", period=ALL)):
        assert got.predictions.row_flow == RowFlow(read=5, kept=5)
        assert got.predictions.rows is None


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("scores-{period}.csv", "scores-2026-10.csv"),
        ("{start}/to/{end}.csv", "2026-10-01/to/2026-11-01.csv"),
        ("scores-*.csv", "scores-[x].csv"),
        ("**/deep.csv", "a/b/deep.csv"),
        ("**/deep.csv", "deep.csv"),
        ("scores-[0-9]?.csv", "scores-7b.csv"),
    ],
)
def test_a_pattern_finds_its_file(tmp_path, pattern, name):
    path = write(tmp_path, name)
    assert find_source_file(pattern, OCTOBER, tmp_path, newest="modified") == path
    assert find_source_file(str(tmp_path / pattern), OCTOBER, tmp_path, newest="name") == path


def test_wildcards_in_the_label_of_a_period_are_not_a_pattern(tmp_path):
    write(tmp_path, "ab.csv")
    path = write(tmp_path, "a*.csv")
    odd = Period(label="a*", start="2026-10-01", end="2026-11-01")
    assert find_source_file("{period}.csv", odd, tmp_path, newest="name") == path


def test_the_newest_is_the_last_modified_or_the_last_by_name(tmp_path):
    for name, modified in (("s9.csv", 300), ("s10.csv", 100), ("s08.csv", 300), ("x/s1.csv", 200)):
        write(tmp_path, name, modified=modified)
    found = {
        how: find_source_file("s*.csv", OCTOBER, tmp_path, newest=how).name for how in ("modified", "name")
    }
    assert found == {"modified": "s9.csv", "name": "s10.csv"}
    assert find_source_file("**/s*.csv", OCTOBER, tmp_path, newest="name").parent.name == "x"


def test_unfinished_and_hidden_files_and_folders_never_match(tmp_path):
    path = write(tmp_path, "s1.csv", modified=100)
    for name in (".s2.csv", "s2.csv.tmp", "s2.csv.part", "s2.csv~", "s2.txt", ".hidden/s2.csv"):
        write(tmp_path, name, modified=200)
    (tmp_path / "s3.csv").mkdir()
    (tmp_path / "s4.csv").symlink_to(tmp_path / "gone.csv")
    assert find_source_file("**/*s*", OCTOBER, tmp_path, newest="modified") == path
    message = (
        f"No file matches '.s2.csv', the `audit.source.file`, in {tmp_path}: only names that end in "
        f"{', '.join(TABLE_ENDINGS)} count, except names that begin with a dot or are unfinished "
        "(.tmp, .part, ~); found .s2.csv."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file=".s2.csv")


def test_no_match_names_the_nearest_files(tmp_path):
    for name in (
        "scores-2026-09.csv",
        "scores-2026-08.csv",
        "limits.csv",
        "scores-2026-10.csv.tmp",
        "sub/a.csv",
    ):
        write(tmp_path, name)
    message = (
        f"No file matches 'scores-2026-10*', the `audit.source.file`, in {tmp_path}: only names that end in "
        f"{', '.join(TABLE_ENDINGS)} count, except names that begin with a dot or are unfinished "
        "(.tmp, .part, ~); found scores-2026-10.csv.tmp."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="scores-{period}*")
    message = (
        f"No file matches 'scores-2026-10.parquet', the `audit.source.file`, in {tmp_path}. Similar "
        f"file names in {tmp_path}: scores-2026-08.csv, scores-2026-09.csv and limits.csv."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="scores-{period}.parquet")
    message = f"'no/*.csv', the `audit.source.file`, in {tmp_path}: there is no folder {tmp_path}/no."
    with pytest.raises(DataError, match=exactly(f"No file matches {message}")):
        take(tmp_path, file="no/*.csv")
    (tmp_path / "none").mkdir()
    message = rf"There is no file that ends in {re.escape(', '.join(TABLE_ENDINGS))} in .*/none\.$"
    with pytest.raises(DataError, match=message):
        take(tmp_path, file="none/*.csv")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "{period.__class__}.csv",
            "`audit.source.file` may hold {period}, {start} and {end}; "
            "got {period.__class__} in '{period.__class__}.csv'.",
        ),
        (
            "${HOME}/p.csv",
            "`audit.source.file` may hold {period}, {start} and {end}; got {HOME} in '${HOME}/p.csv'.",
        ),
        ("{period.csv", "`audit.source.file` has an unmatched brace: '{period.csv'."),
        ("{{period}}.csv", "`audit.source.file` has an unmatched brace: '{{period}}.csv'."),
    ],
)
def test_other_placeholders_are_refused(tmp_path, pattern, message):
    with pytest.raises(UsageError, match=exactly(message)):
        take(tmp_path, file=pattern)


def test_a_period_of_all_rows_has_no_start(tmp_path):
    message = (
        "`audit.source.file` holds {start}, but a period of all rows has none: name a period in `audit.w"
    )
    with pytest.raises(UsageError, match=re.escape(message)):
        take(tmp_path, file="{start}.csv", period=ALL)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, "p.csv")

    def read_columns(*arguments):
        frame = read(*arguments)
        path.write_text(path.read_text() + "1,0.5,north,2026-10-02\n")
        return frame

    read = source_rows.read_columns
    monkeypatch.setattr(source_rows, "read_columns", read_columns)
    message = (
        "p.csv changed while it was read. Write it under another name, such as p.csv.tmp, and rename it "
        "once it is complete."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="p.csv")


def test_a_file_that_goes_away_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, "p.csv")

    def find_gone(*_, **__):
        path.unlink(missing_ok=True)
        return path

    monkeypatch.setattr(loaded_rows, "find_source_file", find_gone)
    with pytest.raises(DataError, match=exactly("p.csv cannot be read: No such file or directory.")):
        take(tmp_path, file="p.csv")


def test_half_a_file_is_refused(tmp_path):
    whole = gzip.compress(FRAME.to_csv(index=False).encode())
    (tmp_path / "p.csv.gz").write_bytes(whole[:-20])
    with pytest.raises(DataError, match=r"^p\.csv\.gz cannot be read as CSV: "):
        take(tmp_path, file="p.csv.gz")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`audit.source` must name either a `file` or a `database`, and not both."),
        (
            {"file": "p.csv", "database": "sqlite:///p.db"},
            "`audit.source` must name either a `file` or a `database`, and not both.",
        ),
        (
            {"database": "sqlite:///p.db"},
            "`audit.source.database` needs either a `query` or a `table`, and not both.",
        ),
        (
            {"database": "sqlite:///p.db", "query": "SELECT 1", "table": "p"},
            "`audit.source.database` needs either a `query` or a `table`, and not both.",
        ),
        (
            {"file": "p.csv", "table": "p"},
            "`audit.source.table` is for a `database`, or for a `file` that ends in .duckdb or .ddb, which "
            "needs one.",
        ),
        (
            {"file": "p.duckdb"},
            "`audit.source.table` is for a `database`, or for a `file` that ends in .duckdb or .ddb, which "
            "needs one.",
        ),
        (
            {"file": "p.csv", "query": "SELECT 1"},
            "`audit.source.file` has no `query`, which needs a `database`.",
        ),
    ],
)
def test_one_source_is_needed(tmp_path, given, message):
    with pytest.raises(UsageError, match=exactly(message)):
        take(tmp_path, **given)


# ---- the window ----


def outcomes(folder, times, *, name="p.parquet", zone=BERLIN, **given):
    """The numbers of those rows that lie in October."""
    frame = pd.DataFrame({"y": [0, 1] * (len(times) // 2) + [0] * (len(times) % 2), "t": times})
    frame["m"] = np.arange(len(times)) / 100
    write(folder, name, frame)
    p = take(folder, file=name, zone=zone, **given).predictions
    return [round(100 * value) for value in p.forecasts["m"].tolist()]


def test_texts_with_and_without_a_zone_are_times_of_the_audits_zone(tmp_path):
    times = [
        "2026-09-30T22:00:00Z",  # midnight in Berlin
        "2026-09-30T21:59:59.999999Z",
        "2026-10-31T23:59:59",
        "2026-10-31T23:30:00+00:00",  # the first of November in Berlin, in winter time
        "2026-10-31 22:30:00+0000",
        "2026-10-25T02:30:00",  # an hour that occurs twice
        "9999-12-31",
        "20261031",
    ]
    for name in ("p.csv", "p.parquet"):
        assert outcomes(tmp_path, times, name=name) == [0, 2, 4, 5, 7]


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_parquet_are_converted_if_they_name_a_zone(tmp_path, unit):
    naive = pd.Series(pd.to_datetime(["2026-09-30 23:00", "2026-10-01 00:00", "2026-10-31 23:30", None]))
    aware = naive.dt.tz_localize("UTC")
    drop = {"missing": "drop"}
    for times, expected in ((naive, [1, 2]), (aware, [0, 1]), (aware.dt.tz_convert("Asia/Tokyo"), [0, 1])):
        typed = times.astype(times.dtype.name.replace(times.dt.unit, unit, 1))
        assert outcomes(tmp_path, typed, **drop) == expected
    assert outcomes(tmp_path, aware, zone=ZoneInfo("America/New_York"), **drop) == [2]


def test_dates_of_parquet_are_days(tmp_path):
    days = [datetime(2026, 9, 30, tzinfo=UTC).date(), datetime(2026, 10, 1, tzinfo=UTC).date()]
    table = pa.table({"y": [0, 1], "m": [0.1, 0.2], "t": pa.array(days, pa.date32())})
    pq.write_table(table, tmp_path / "p.parquet")
    assert take(tmp_path, file="p.parquet").predictions.forecasts["m"].tolist() == [0.2]


def test_the_column_of_times_is_local_where_the_evaluation_uses_it(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(t=["2026-09-30T22:30:00Z"] * 5))
    for period in (OCTOBER, ALL):
        p = take(tmp_path, file="p.csv", time="t", period=period).predictions
        assert p.time[0] == np.datetime64("2026-10-01T00:30")
        assert p.time_name == "t"


def test_rows_outside_of_the_window_may_hold_anything(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(y=["later", 1, 0, 1, ""], m=["?", 0.6, 0.4, 0.8, 7]))
    assert take(tmp_path, file="p.csv").predictions.row_flow.kept == 3


def test_a_refusal_states_among_which_rows_it_counts(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(m=[0.1, 0.6, 1.4, 0.8, 0.3]))
    FRAME.assign(m=[0.1, 0.6, 1.4, 0.8, 0.3]).to_parquet(tmp_path / "p.parquet")
    message = (
        "`m` must lie in [0, 1]; got 1.4 at row 1 (1 of 3 rows). Rows are counted from 0 among the 3 rows of "
        "2026-10-01 to 2026-10-31, in the order of the file."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="p.parquet")
    with pytest.raises(DataError, match=r"got 1\.4 at line 4 of p\.csv \(1 of 3 rows\)\.$"):
        take(tmp_path, file="p.csv")
    with pytest.raises(DataError, match=r"got 1\.4 at line 4 of p\.csv \(1 of 5 rows\)\.$"):
        take(tmp_path, file="p.csv", column="")


def test_missing_times_are_refused_or_dropped(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(t=["2026-10-01", "", "NA", "2026-10-31", "2026-11-01"]))
    message = (
        "`t` must not be missing; got nan at line 3 of p.csv (2 of 5 rows: lines 3, 4). "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="p.csv")
    write(tmp_path, "p.csv", FRAME.assign(t=["2026-10-01", "", "NA", "2026-10-31", "2026-11-01"]))
    for given, last in (({}, "t"), ({"time": "t"}, "t")):
        flow = take(tmp_path, file="p.csv", missing="drop", **given).predictions.row_flow
        assert flow.dropped == (
            DroppedRows(reason="missing `t`", rows=2),
            DroppedRows(reason="outside of 2026-10-01 to 2026-10-31", rows=1),
        )
        assert (flow.read, flow.kept) == (5, 2)
        assert flow.missing == (
            MissingValues(column="y", rows=0),
            MissingValues(column="m", rows=0),
            MissingValues(column=last, rows=2),
        )


def test_rows_that_lack_something_else_are_counted_after_the_window(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(m=[None, 0.6, None, 0.8, 0.3]))
    p = take(tmp_path, file="p.csv", missing="drop").predictions
    assert p.row_flow.dropped == (
        DroppedRows(reason="outside of 2026-10-01 to 2026-10-31", rows=2),
        DroppedRows(reason="missing `m`", rows=1),
    )
    assert p.rows.tolist() == [1, 3]


def test_a_window_without_rows_names_the_dates_of_the_file(tmp_path):
    write(tmp_path, "p.csv")
    december = Period(label="2026-12", start="2026-12-01", end="2027-01-01")
    message = "No row of p.csv has a `t` of 2026-12-01 to 2026-12-31: its dates range from 2026-09-30 to "
    message += "2026-11-01."
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="p.csv", period=december)
    day = Period(label="2026-12-05", start="2026-12-05", end="2026-12-06")
    with pytest.raises(DataError, match=r"^No row of p\.csv has a `t` of 2026-12-05: its"):
        take(tmp_path, file="p.csv", period=day)


def test_rows_of_an_hour_are_chosen_by_their_local_time(tmp_path):
    aware = ["2026-10-25T01:59:59+02:00", "2026-10-25T02:10+02:00", "2026-10-25T02:10+01:00"]
    write(tmp_path, "p.csv", FRAME.assign(t=[*aware, "2026-10-25 02:59:59", "2026-10-25T03:00"]))
    hour = Period(label="2026-10-25T02", start="2026-10-25T02:00", end="2026-10-25T03:00")
    taken = take(tmp_path, file="p.csv", period=hour, missing="drop").predictions
    assert taken.row_flow.dropped[0].reason == "outside of 2026-10-25 02:00 to 2026-10-25 03:00"
    assert taken.row_flow.dropped[0].rows == 2
    skipped = Period(label="2026-03-29T01", start="2026-03-29T01:00", end="2026-03-29T03:00")
    message = "has a `t` of 2026-03-29 01:00 to 2026-03-29 03:00: its times range from 2026-10-25 01:59 to "
    with pytest.raises(DataError, match=exactly(f"No row of p.csv {message}2026-10-25 03:00.")):
        take(tmp_path, file="p.csv", period=skipped)


def test_hours_in_file_names_have_no_colon(tmp_path):
    hour = Period(label="2026-10-25T02", start="2026-10-25T02:00", end="2026-10-25T03:00")
    found = []
    for pattern in ("{period}.csv", "{start}_{end}.csv"):
        with pytest.raises(DataError, match="No file matches") as error:
            take(tmp_path, file=pattern, period=hour)
        found.append(str(error.value).split("'")[1])
    assert found == ["2026-10-25T02.csv", "2026-10-25T02_2026-10-25T03.csv"]


def test_a_month_counts_as_its_first_day_as_in_an_evaluation(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(t=["2026-09", "2026-10", "2026-10", "2026-11", "2026-10-31"]))
    assert take(tmp_path, file="p.csv").predictions.rows.tolist() == [1, 2, 4]
    times = sr.read_predictions(tmp_path / "p.csv", outcome="y", forecasts=["m"], time="t").time
    assert times.astype("datetime64[D]").astype(str).tolist() == [
        *("2026-09-01", "2026-10-01", "2026-10-01", "2026-11-01", "2026-10-31")
    ]


def test_values_that_are_not_times_are_refused(tmp_path):
    write(tmp_path, "p.csv", FRAME.assign(t=["2026-10-01", "31.10.2026", "soon", "2026-10-31", "2026-11-01"]))
    message = (
        "`t` must hold dates such as 2026-11-15; got '31.10.2026' at line 3 of p.csv "
        "(2 of 5 rows: lines 3, 4). Write the year first: '31.10.2026' is 2026-10-31."
    )
    with pytest.raises(DataError, match=exactly(message)):
        take(tmp_path, file="p.csv")


def test_a_column_that_is_not_there_is_refused_by_name(tmp_path):
    write(tmp_path, "p.csv")
    message = r"^p\.csv has no column `scored_on`; it has `y`, `m`, `g`, `t`\.$"
    with pytest.raises(DataError, match=message):
        take(tmp_path, file="p.csv", column="scored_on")


def test_classes_are_read_as_in_any_evaluation(tmp_path):
    frame = FRAME.assign(y=list("abaab"), m_a=0.25, m_b=0.75)
    write(tmp_path, "p.csv", frame)
    p = take(tmp_path, file="p.csv", classes=["a", "b"]).predictions
    assert p.classes == ("a", "b")
    assert p.forecasts["m"].shape == (3, 2)
    q = take(tmp_path, file="p.csv", classes=["a", "b"], forecasts={"x": ["m_a", "m_b"]}).predictions
    assert q.forecasts["x"].tolist() == p.forecasts["m"].tolist()
