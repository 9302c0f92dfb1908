"""Every kind of source gives the same rows, to DuckDB and in memory, and the same messages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from postgres_tools import as_reader

import scorereport as sr
from scorereport.data.sources import describe_source, hash_file
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.engine_choice import estimate_rows

COLUMNS = {
    "outcome": "y",
    "forecasts": ["a", "b"],
    "weight": "w",
    "groups": "g",
    "cluster": "c",
    "time": "t",
    "missing": "drop",
}


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def make_frame(n=2000):
    rng = np.random.default_rng(2)
    x = rng.random(n).round(3)
    frame = pd.DataFrame(
        {
            "y": (rng.random(n) < x).astype(int),
            "a": x,
            "b": np.clip(x + rng.normal(0, 0.1, n), 0, 1),
            "w": rng.integers(0, 3, n),
            "g": rng.choice(["n", "s", "1"], n),
            "c": rng.integers(0, 100, n),
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 10**7, n), unit="s"),
        }
    )
    frame.loc[3, "a"] = np.nan
    frame.loc[4, "g"] = None
    return frame


FRAME = make_frame()
KINDS = ("parquet", "csv", "csv.gz", "folder", "pattern", "duckdb", "view", "sqlite", "polars", "pyarrow")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Sources with the same rows, by kind: the source, and the table if it has one."""
    import polars as pl
    import pyarrow as pa

    place = tmp_path_factory.mktemp("sources")
    FRAME.to_parquet(place / "p.parquet")
    for name in ("p.csv", "p.csv.gz"):
        FRAME.to_csv(place / name, index=False)
    for at, (first, last) in enumerate([(0, 700), (700, 701), (701, 2000)]):
        (place / f"folder/part={at}").mkdir(parents=True)
        FRAME.iloc[first:last].to_parquet(place / f"folder/part={at}/p.parquet")
    (place / "folder/_temporary.parquet").write_bytes(b"half a file")
    with duckdb.connect(place / "d.duckdb") as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE loans AS SELECT * FROM frame")
        connection.execute("CREATE VIEW recent AS SELECT * FROM loans")
    address = f"sqlite:///{place / 's.db'}"
    engine = sa.create_engine(address)
    FRAME.to_sql("loans", engine, index=False)
    engine.dispose()
    return {
        "parquet": (place / "p.parquet", None),
        "csv": (place / "p.csv", None),
        "csv.gz": (place / "p.csv.gz", None),
        "folder": (place / "folder", None),
        "pattern": (str(place / "folder/*/p.parquet"), None),
        "duckdb": (place / "d.duckdb", "loans"),
        "view": (place / "d.duckdb", "main.recent"),
        "sqlite": (address, "loans"),
        "polars": (pl.from_pandas(FRAME), None),
        "pyarrow": (pa.Table.from_pandas(FRAME), None),
    }


@pytest.fixture(scope="module")
def expected():
    with open_duckdb(FRAME, **COLUMNS) as engine:
        return engine.survey


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_survey_is_the_same_wherever_rows_are(sources, expected, kind):
    source, table = sources[kind]
    with open_duckdb(source, **COLUMNS, table=table) as engine:
        survey = engine.survey
    assert survey.sha256 == sr.read_predictions(FRAME, **COLUMNS).sha256
    assert survey.source == describe_source(source, table)
    assert survey.file_sha256 == hash_file(source, table)
    assert replace(survey, source=expected.source, file_sha256="") == expected


@pytest.mark.parametrize("kind", KINDS)
def test_memory_reads_every_kind_of_source(sources, kind):
    source, table = sources[kind]
    p = sr.read_predictions(source, **COLUMNS, table=table)
    frame = sr.read_predictions(FRAME, **COLUMNS)
    assert (p.sha256, p.row_flow, p.source) == (frame.sha256, frame.row_flow, describe_source(source, table))
    assert p.file_sha256 == hash_file(source, table)


def test_names_of_sources_contain_no_secrets(sources):
    assert describe_source(sources["sqlite"][0], "loans") == "s.db: loans"
    assert describe_source("postgresql://me:secret@host:5432/risk", "loans") == "risk: loans"
    assert describe_source(sources["duckdb"][0], "loans") == "d.duckdb: loans"
    with pytest.raises(sr.DataError) as refused:
        open_duckdb("nodialect://me:secret@host/risk", **COLUMNS, table="loans")
    assert "secret" not in str(refused.value)


def test_the_hash_of_a_folder_is_that_of_the_output_of_sha256sum(sources):
    folder = sources["folder"][0]
    names = [f"part={at}/p.parquet" for at in range(3)]
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    assert hash_file(folder) == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert hash_file(folder) == hash_file(sources["pattern"][0])


def test_folders_named_like_columns_make_columns(sources):
    columns = {"outcome": "y", "forecasts": ["b"], "groups": "part"}
    source = sources["folder"][0]
    with open_duckdb(source, **columns) as engine:
        assert [(label.label, label.rows) for label in engine.survey.groups["part"]] == [
            ("0", 700),
            ("1", 1),
            ("2", 1299),
        ]
        assert engine.survey.sha256 == sr.read_predictions(source, **columns).sha256


def test_rows_of_several_files_are_numbered_consecutively(sources, tmp_path):
    folder = sources["folder"][0]
    for at in range(3):
        (tmp_path / f"part={at}").mkdir()
        frame = pd.read_parquet(folder / f"part={at}/p.parquet")
        frame.assign(b=frame["b"].where(np.arange(len(frame)) != 0, 2.0)).to_parquet(
            tmp_path / f"part={at}/p.parquet"
        )
    sentence = "`b` must lie in [0, 1]; got 2.0 at row 0 (3 of 2000 rows: 0, 700, 701)."
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(sr.DataError, match=exactly(sentence)):
            read(tmp_path, **COLUMNS)


def test_files_of_different_types_are_read_as_the_wider_one(tmp_path):
    pd.DataFrame({"y": [0, 1], "a": [0, 1]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"y": [0, 1], "a": [0.25, 0.75]}).to_parquet(tmp_path / "2.parquet")
    columns = {"outcome": "y", "forecasts": ["a"]}
    assert sr.read_predictions(tmp_path, **columns).forecasts["a"].tolist() == [0, 1, 0.25, 0.75]
    with open_duckdb(tmp_path, **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(tmp_path, **columns).sha256


def test_a_parquet_file_may_hold_missing_numbers_as_nan(tmp_path):
    """Its statistics leave NaN out; pandas writes null instead."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    forecast, weight = np.array([0.1, np.nan, 0.4, 0.7, 0.2]), np.array([1.0, 1.0, np.nan, 2.0, 1.0])
    table = pa.table({"y": [0, 1, 0, 1, 1], "a": forecast, "w": pa.array(weight, pa.float32())})
    pq.write_table(table, tmp_path / "p.parquet")
    columns = {"outcome": "y", "forecasts": ["a"], "weight": "w", "missing": "drop", "resamples": 0}
    found, expected = (sr.evaluate(tmp_path / "p.parquet", engine=e, **columns) for e in ("duckdb", "memory"))
    assert found.data.row_flow == expected.data.row_flow
    assert found.data.sha256 == expected.data.sha256


def test_columns_that_differ_only_in_case_are_distinguished(tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 1], "Y": [0.5, 0.25, 0.75]})
    frame.to_parquet(tmp_path / "p.parquet")
    columns = {"outcome": "y", "forecasts": ["Y"]}
    with open_duckdb(tmp_path / "p.parquet", **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(frame, **columns).sha256


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize("name", ["d[12]", "d*", "d?", "d[!x]", "[[]", "d[12]/p", "d]{1}"])
def test_names_that_look_like_patterns_are_read_literally(tmp_path, name):
    path = tmp_path / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    frame = FRAME[["y", "b"]]
    frame.to_parquet(path)
    (tmp_path / "d1").mkdir()
    for other in ("d1", "d2", "[", "d1/p"):
        frame.assign(b=0.5).to_parquet(tmp_path / f"{other}.parquet")
    columns = {"outcome": "y", "forecasts": ["b"]}
    with open_duckdb(path, **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(frame, **columns).sha256


def test_folders_that_look_like_patterns_are_read_literally(tmp_path):
    columns, frame = {"outcome": "y", "forecasts": ["b"]}, FRAME[["y", "b"]]
    for folder, rows in (("f[1]", frame), ("f1", frame.assign(b=0.5))):
        (tmp_path / folder).mkdir()
        rows.iloc[:900].to_parquet(tmp_path / folder / "1.parquet")
        rows.iloc[900:].to_parquet(tmp_path / folder / "2.parquet")
    expected = sr.read_predictions(frame, **columns).sha256
    assert sr.read_predictions(tmp_path / "f[1]", **columns).sha256 == expected
    with open_duckdb(tmp_path / "f[1]", **columns) as engine:
        assert engine.survey.sha256 == expected


def test_a_backslash_in_a_name_like_a_pattern_is_refused(tmp_path):
    path = tmp_path / "d\\[1].parquet"
    FRAME.to_parquet(path)
    sentence = f"{path} cannot be read: rename it without a backslash, or without *, ? and [."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        open_duckdb(path, **COLUMNS)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["file_row_number", "File_Index", "filename"])
def test_columns_named_like_those_of_duckdb_do_not_hide_them(tmp_path, name):
    FRAME.assign(**{name: 7}).to_parquet(tmp_path / "1.parquet")
    FRAME.assign(**{name: 7}).to_parquet(tmp_path / "2.parquet")
    twice = pd.concat([FRAME, FRAME])
    for source, frame in ((tmp_path / "1.parquet", FRAME), (tmp_path, twice)):
        columns = COLUMNS | {"cluster": None}
        buckets = []
        for rows in (source, frame):
            with open_duckdb(rows, **columns) as engine:
                buckets.append(engine.reduce(lambda b: (np.bincount(b.bucket, minlength=400),), "")[0])
                sha256 = engine.survey.sha256
            assert sha256 == sr.read_predictions(frame, **columns).sha256
        assert buckets[0].tolist() == buckets[1].tolist()


@pytest.fixture(scope="module")
def odd_tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "d.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE "a.b" AS SELECT i % 2 AS y, i / 500000 AS x FROM range(500000) t(i)')
        connection.execute("CREATE SCHEMA s; CREATE SCHEMA r")
        for name in ("s.only", "s.both", "r.both"):
            connection.execute(f'CREATE TABLE {name} AS FROM "a.b" LIMIT 10')
        text = "CASE WHEN x < 0.9 THEN x::VARCHAR ELSE 'q' END"
        connection.execute(f'CREATE VIEW broken AS SELECT y, CAST({text} AS DOUBLE) AS x FROM "a.b"')
        connection.execute('CREATE VIEW sorted AS SELECT y, x FROM "a.b" ORDER BY md5(x::VARCHAR)')
        connection.execute('CREATE TABLE gone AS FROM "a.b" LIMIT 1; CREATE VIEW lost AS FROM gone')
        connection.execute("DROP TABLE gone")
    return path


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(("table", "rows"), [("a.b", 500_000), ("only", 10), ("s.only", 10), ("r.both", 10)])
def test_tables_may_have_points_in_their_names_and_be_in_schemas(odd_tables, table, rows):
    columns = {"outcome": "y", "forecasts": ["x"], "table": table}
    assert sr.read_predictions(odd_tables, **columns).row_flow.read == rows
    with open_duckdb(odd_tables, **columns) as engine:
        assert engine.survey.rows == rows


def test_a_table_of_sqlite_may_have_a_point_in_its_name(tmp_path):
    address = f"sqlite:///{tmp_path / 's.db'}"
    engine = sa.create_engine(address)
    FRAME.to_sql("a.b", engine, index=False)
    engine.dispose()
    assert sr.read_predictions(address, **COLUMNS, table="a.b").row_flow.read == len(FRAME)
    assert estimate_rows(address, "a.b") == len(FRAME)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("both", "d.duckdb has 2 tables `both`; name one of `r.both`, `s.both`."),
        (
            "broken",
            "d.duckdb: broken cannot be read as a table: "
            "Conversion Error: Could not convert string 'q' to DOUBLE.",
        ),
    ],
)
def test_tables_that_cannot_be_read_are_refused_in_a_sentence(odd_tables, table, sentence):
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(sr.DataError, match=exactly(sentence)):
            read(odd_tables, outcome="y", forecasts=["x"], table=table)


def test_a_view_of_a_missing_table_is_refused_in_a_sentence(odd_tables):
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(
            sr.DataError, match=r"^d\.duckdb: lost cannot be read as a table: Catalog Error: "
        ):
            read(odd_tables, outcome="y", forecasts=["x"], table="lost")


@pytest.mark.sweep
def test_a_view_that_sorts_respects_the_limits(odd_tables, tmp_path, monkeypatch):
    seen, connect = [], duckdb.connect

    def watch(*arguments, **options):
        connection = connect(*arguments, **options)
        names = ("memory_limit", "threads", "temp_directory")
        settings = ", ".join(f"current_setting('{name}')" for name in names)
        seen.append(connection.execute(f"SELECT {settings}").fetchone())
        return connection

    monkeypatch.setattr(duckdb, "connect", watch)
    columns = {"outcome": "y", "forecasts": ["x"], "table": "sorted"}
    limits = {"memory_limit": "200MB", "temporary_folder": tmp_path}
    with open_duckdb(odd_tables, **columns, **limits) as engine:
        folder = engine.folder
    (limit, threads, spill_folder), (source_limit, source_threads, source_folder) = seen
    assert (source_limit, source_threads) == (limit, threads)
    assert limit.startswith("190")  # MiB
    assert (spill_folder, source_folder) == (str(folder / "sorting"), str(folder / "source"))


def test_an_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_parquet(tmp_path / "p.parquet")
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(
            sr.UsageError, match=exactly("Predictions must be a DataFrame or a file; got ''.")
        ):
            read("", **COLUMNS)


@pytest.mark.parametrize(
    ("kind", "table", "sentence"),
    [
        ("duckdb", None, "`table` must name the table or view of the database that is to be read."),
        ("sqlite", None, "`table` must name the table or view of the database that is to be read."),
        ("duckdb", "loan", "d.duckdb has no table `loan`; it has `loans`, `recent`."),
        ("sqlite", "loan", "s.db: loan has no table `loan`; it has `loans`."),
        (
            "csv",
            "loans",
            "`table` is for a database file (.duckdb, .ddb), the address of a database, an Excel workbook "
            "(.xlsx) or R data (.rds, .rdata, .rda); p.csv is none of them.",
        ),
    ],
)
def test_missing_tables_are_refused(sources, kind, table, sentence):
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(sr.ScoreReportError, match=exactly(sentence)):
            read(sources[kind][0], **COLUMNS, table=table)


def test_missing_columns_are_refused_with_a_hint(sources):
    for kind, name in (("duckdb", "d.duckdb: loans"), ("sqlite", "s.db: loans"), ("folder", "folder")):
        source, table = sources[kind]
        for read in (sr.read_predictions, open_duckdb):
            with pytest.raises(sr.DataError, match=f"^{re.escape(name)} has no column `aa`; it has `y`, `a`"):
                read(source, outcome="y", forecasts=["aa"], table=table)


def test_folders_and_patterns_without_files_are_refused(tmp_path):
    (tmp_path / "p.csv").write_text("y,a\n0,.1\n", encoding="utf-8")
    columns = {"outcome": "y", "forecasts": ["a"]}
    cases = [
        (tmp_path, f"{tmp_path} holds no .parquet file."),
        (str(tmp_path / "*.parquet"), f"{tmp_path / '*.parquet'} matches no file."),
        (str(tmp_path / "*.csv"), "Several files must all be Parquet; got p.csv."),
        (str(tmp_path / "p.duckdb"), f"{tmp_path / 'p.duckdb'} is not a file."),
    ]
    for source, sentence in cases:
        table = "loans" if source is cases[-1][0] else None
        for read in (sr.read_predictions, open_duckdb):
            with pytest.raises(sr.UsageError, match=exactly(sentence)):
                read(source, **columns, table=table)


def test_a_file_that_is_not_a_database_is_refused(tmp_path):
    path = tmp_path / "p.duckdb"
    path.write_bytes(b"y,a\n0,.1\n" * 1000)
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(
            sr.DataError, match=r"^p\.duckdb: loans cannot be read as a DuckDB database: .+\.$"
        ):
            read(path, outcome="y", forecasts=["a"], table="loans")


def test_rows_of_tables_and_folders_are_counted(sources):
    for kind in ("parquet", "folder", "pattern", "duckdb", "view", "sqlite"):
        source, table = sources[kind]
        assert estimate_rows(source, table) == 2000


def test_a_postgres_table_is_streamed(postgres_url):
    engine = sa.create_engine(postgres_url)
    FRAME.to_sql("loans", engine, index=False)
    engine.dispose()
    address = as_reader(postgres_url)
    with open_duckdb(address, **COLUMNS, table="public.loans") as opened:
        assert opened.survey.sha256 == sr.read_predictions(FRAME, **COLUMNS).sha256
    p = sr.read_predictions(address, **COLUMNS, table="loans")
    assert p.sha256 == sr.read_predictions(FRAME, **COLUMNS).sha256
