"""Kinds of data sources: each is declared once, and its parts agree with each other."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from r_data_tools import data_frame, write_rdata, write_rds
from sqlalchemy import make_url

import scorereport
from scorereport._utils.choices import ENGINES
from scorereport.configuration import configuration_schema
from scorereport.data.csv_files import CSV
from scorereport.data.database_sessions import create_reader, hide_login
from scorereport.data.dataframes import FRAME
from scorereport.data.excel_files import EXCEL
from scorereport.data.parquet_files import PARQUET, PARQUET_FILES
from scorereport.data.r_files import R_DATA
from scorereport.data.raw_tables import RawTable
from scorereport.data.sources import (
    DATABASE_ENDINGS,
    FILE_KINDS,
    TABLE_ENDINGS,
    find_file_kind,
    locate_source,
)
from scorereport.data.stored_tables import DUCKDB, SQL
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.spark import spark_session

PACKAGE = Path(scorereport.__file__).parent
ROWS = pd.DataFrame({"y": [0, 1, 1], "m": [0.25, 0.5, 0.75], "g": ["a", "b", "a"]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("t.csv", index=False)
    ROWS.to_csv("t.csv.gz", index=False)
    ROWS.to_csv("t.tsv", index=False, sep="\t")
    ROWS.to_excel("t.xlsx", index=False)
    frame = data_frame({name: ROWS[name].tolist() for name in ROWS})
    write_rds(tmp_path / "t.rds", frame)
    write_rdata(tmp_path / "t.RData", {"rows": frame})
    (tmp_path / "parts" / "r=1").mkdir(parents=True)
    for name in ("t.parquet", "parts/r=1/a.parquet"):
        ROWS.to_parquet(name)
    with duckdb.connect("t.duckdb") as connection:
        connection.execute("create table rows as from read_parquet('t.parquet')")
    with closing(sqlite3.connect("t.db")) as connection:
        ROWS.to_sql("rows", connection, index=False)
    return tmp_path


CASES = [
    ("t.csv", None, CSV),
    ("t.csv.gz", None, CSV),
    ("t.tsv", None, CSV),
    ("t.parquet", None, PARQUET),
    ("t.xlsx", None, EXCEL),
    ("t.xlsx", "Sheet1", EXCEL),
    ("t.rds", None, R_DATA),
    ("t.RData", None, R_DATA),
    ("t.RData", "rows", R_DATA),
    ("parts", None, PARQUET_FILES),
    ("parts/*/*.parquet", None, PARQUET_FILES),
    ("t.duckdb", "rows", DUCKDB),
    ("sqlite:///t.db", "rows", SQL),
    (ROWS, None, FRAME),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("source", "table", "kind"), CASES, ids=[str(case[0])[:8] for case in CASES])
def test_the_readers_of_a_kind_agree(source, table, kind):
    place = locate_source(source, table)
    assert place.kind is kind
    assert [name for name in kind.list_columns(place) if name != "r"] == ["y", "m", "g"]
    assert kind.count_rows(place) in ((0,) if kind is FRAME else (1, 2, 3) if kind is CSV else (3,))
    frame = RawTable(kind.read(place, ["m"], ["g"]), ("m", "g")).to_pandas()
    with kind.open_batches(place, ["g", "m"], {}) as batches:
        rows = [row for batch in batches for row in zip(*map(list, batch.values()), strict=True)]
    assert [(str(label), float(str(number))) for label, number in rows] == list(
        zip(frame["g"], frame["m"], strict=True)
    )
    if kind.is_scanned:
        assert place.scanned == place.files != ()
    with pytest.raises(DataError, match="has no column `absent`"):
        kind.read(place, ["absent"], [])


def test_endings_are_declared_once():
    assert set(TABLE_ENDINGS) >= {".csv", ".csv.gz", ".parquet"}
    assert set(DATABASE_ENDINGS) >= {".duckdb", ".ddb"}
    assert find_file_kind("A/B.CSV.GZ") is CSV
    assert find_file_kind("a.csv.zip") is None
    # Exports of a history and files of a page are .csv too, and reports are written as .xlsx.
    homes = {ending: [] for kind in FILE_KINDS for ending in kind.endings if ending != ".csv"}
    for path in set(PACKAGE.rglob("*.py")) - {PACKAGE / "report" / "output_formats.py"}:
        text = path.read_text(encoding="utf-8")
        for ending, found in homes.items():
            found.extend([path.stem] * (f'"{ending}"' in text))
    assert {ending: len(found) for ending, found in homes.items()} == dict.fromkeys(homes, 1)
    assert homes[".parquet"] == ["parquet_files"]


def test_engines_are_those_of_the_configuration_and_of_all_kinds():
    keys = configuration_schema()["$defs"]["EvaluationTable"]["properties"]
    assert keys["engine"]["enum"] == list(ENGINES) == ["auto", "memory", "duckdb", "spark"]
    for kind in (*FILE_KINDS, PARQUET_FILES, SQL, FRAME):
        assert {"memory", "duckdb"} <= set(kind.engines) <= set(ENGINES)


def test_spark_refuses_a_kind_that_it_does_not_read(folder):
    with pytest.raises(DataError, match=r"^t\.duckdb cannot be read by Spark: it must be CSV or Parquet\.$"):
        spark_session._check_kind(str(folder / "t.duckdb"), "t.duckdb")
    spark_session._check_kind(str(folder / "t.parquet"), "t.parquet")
    spark_session._check_kind("s3://bucket/t.duckdb", "t.duckdb")


def test_a_table_that_does_not_fit_its_kind_is_refused(folder):
    with pytest.raises(UsageError, match=r"^`table` is for a database file \(\.duckdb, \.ddb\), the address"):
        locate_source(folder / "t.csv", "rows")
    with pytest.raises(UsageError, match=r"^`table` must name the table or view"):
        locate_source(folder / "t.duckdb")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_an_address_without_a_driver_means_ours(scheme):
    engine = create_reader(make_url(f"{scheme}://me@host/loans"))
    assert engine.url.drivername == "postgresql+psycopg"
    engine.dispose()


def test_a_login_is_hidden_however_short():
    url = make_url("postgresql://me:p%2F@host/db?sslpassword=q%25&application_name=app")
    text = "p/ at host, written p%2F; q% as q%25; app"
    assert hide_login(text, url) == "*** at host, written ***; *** as ***; app"
