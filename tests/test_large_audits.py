"""Audits of rows that are never in memory together: the same rows, refusals, records and snapshots."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest
from audit_tools import BRIEF, make_scored, write_audit

from scorereport.audit.rows import source_reference
from scorereport.audit.rows.loaded_rows import load_rows
from scorereport.audit.rows.source_files import find_source_file
from scorereport.audit.rows.source_reference import SourceReference
from scorereport.audit.run import run_audit
from scorereport.configuration.audit_tables import SourceTable, WindowTable
from scorereport.configuration.periods import Period
from scorereport.data import source_kind
from scorereport.data.sources import hash_file
from scorereport.errors import DataError, ExitCode
from scorereport.evaluation.dispatch import evaluate
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.scans import tally_forecasts
from scorereport.history.audit_record import AuditStatus
from scorereport.history.trend.snapshot import take_snapshot
from scorereport.reference.certification import decline

OCTOBER = Period(label="2026-10", start="2026-10-01", end="2026-11-01")
LONG_AGO = Period(label="2020-01", start="2020-01-01", end="2020-02-01")
COLUMNS = {"outcome": "y", "forecasts": ["m"], "groups": "g", "time": "t"}
LARGE = {"engine": "duckdb"}


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    days = pd.date_range("2026-09-20", "2026-11-10").strftime("%Y-%m-%d")
    m = rng.random(400).round(3)
    return pd.DataFrame(
        {
            "y": (rng.random(400) < m).astype(int),
            "m": m,
            "g": rng.choice(["north", "south"], 400),
            "t": rng.choice(days, 400),
        }
    )


def load(folder, *, work=None, period=OCTOBER, column="t", columns=COLUMNS, **source):
    return load_rows(
        SourceTable(**source),
        WindowTable(column=column),
        period,
        columns,
        folder=folder,
        zone=ZoneInfo("Europe/Berlin"),
        expand=lambda text, _: text,
        work=work,
    )


def score(folder, **options):
    """Evaluate the rows, and remove the copy of them."""
    with closing(load(folder, **options)) as loaded:
        return loaded.evaluate(evaluate, {"resamples": 0})


def write_all(folder, frame):
    """The same rows in all kinds of sources."""
    frame.to_csv(folder / "p.csv", index=False)
    frame.to_parquet(folder / "p.parquet", index=False)
    (folder / "parts").mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[rows].to_parquet(folder / "parts" / f"{part}.parquet", index=False)
    with duckdb.connect(folder / "p.duckdb") as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE scored AS SELECT * FROM frame")
    with closing(sqlite3.connect(folder / "p.db")) as connection:
        frame.to_sql("scored", connection, index=False)


SOURCES = {
    "csv": {"file": "p.csv"},
    "parquet": {"file": "p.parquet"},
    "folder": {"file": "parts/"},
    "duckdb": {"file": "p.duckdb", "table": "scored"},
    "table": {"database": "sqlite:///p.db", "table": "scored"},
    "query": {"database": "sqlite:///p.db", "query": "SELECT * FROM scored"},
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kind", SOURCES)
def test_the_rows_of_a_period_are_those_that_memory_holds(tmp_path, frame, kind, monkeypatch):
    monkeypatch.setattr(source_kind, "ROWS_PER_BATCH", 64)
    write_all(tmp_path, frame)
    loaded = load(tmp_path, **SOURCES[kind])
    reference = load(tmp_path, work=LARGE, **SOURCES[kind])
    assert isinstance(reference, SourceReference)
    in_memory = loaded.evaluate(evaluate, {"resamples": 0})
    large = reference.evaluate(evaluate, {"resamples": 0})
    facts = ("source", "file_sha256", "row_flow", "sample") + (("sha256",) if "file" in SOURCES[kind] else ())
    for fact in facts:  # a database gives its rows in an order of its own
        assert getattr(large.data, fact) == getattr(in_memory.data, fact), fact
    assert large.settings.engine == "duckdb"
    assert large.scores.to_numpy() == pytest.approx(in_memory.scores.to_numpy(), abs=1e-12)
    windows = [(g.label, g.sample.rows) for g in large.windows]
    assert windows == [(g.label, g.sample.rows) for g in in_memory.windows]
    reference.close()
    assert not reference.path.exists()


def test_all_rows_are_read_where_they_are(tmp_path, frame):
    write_all(tmp_path, frame)
    reference = load(tmp_path, work=LARGE, column="", file="p.parquet")
    assert reference.path == tmp_path / "p.parquet"
    assert reference.copy is None
    assert reference.source_sha256 == hashlib.sha256(reference.path.read_bytes()).hexdigest()


def test_a_period_that_fits_into_memory_is_evaluated_there(tmp_path, frame, monkeypatch):
    """The file is too large, the rows of the period are not: then R can hold them, too."""
    write_all(tmp_path, frame)
    sizes = {"p.parquet": "duckdb", "rows.parquet": "memory"}
    choose = "scorereport.audit.rows.loaded_rows.choose_engine"
    monkeypatch.setattr(choose, lambda path, **_: sizes[path.name])
    reference = load(tmp_path, file="p.parquet")
    assert reference.engine == "memory"
    assert reference.evaluate(evaluate, {"resamples": 0}).predictions is not None
    reference.close()


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("spoil", "period"),
    [
        (lambda frame: frame.assign(m=np.where(frame.t == "2026-10-07", 1.5, frame.m)), OCTOBER),
        (lambda frame: frame.assign(t=np.where(frame.index == 300, "soon", frame.t)), OCTOBER),
        (lambda frame: frame.assign(t=np.where(frame.index % 130 == 3, None, frame.t)), OCTOBER),
        (lambda frame: frame, LONG_AGO),
    ],
    ids=["forecast", "date", "missing", "no row"],
)
@pytest.mark.parametrize("kind", ["csv", "folder", "query"])
def test_refusals_are_those_of_memory(tmp_path, frame, monkeypatch, kind, spoil, period):
    monkeypatch.setattr(source_kind, "ROWS_PER_BATCH", 64)
    write_all(tmp_path, spoil(frame))
    messages = []
    for work in ({"engine": "memory"}, LARGE):
        with pytest.raises(DataError) as refusal:
            score(tmp_path, work=work, period=period, **SOURCES[kind])
        messages.append(str(refusal.value))
    if kind == "query":  # its rows are sorted in memory, and in the order of the database elsewhere
        messages = [text.partition(" at row ")[0] for text in messages]
    assert messages[0] == messages[1]


@pytest.mark.sweep
def test_rows_without_a_time_are_dropped_and_counted_as_in_memory(tmp_path, frame):
    write_all(tmp_path, frame.assign(t=np.where(frame.index % 50 == 3, None, frame.t)))
    columns = COLUMNS | {"missing": "drop"}
    options = {"columns": columns, "file": "p.csv"}
    flows = [score(tmp_path, work=work, **options).data.row_flow for work in ({}, LARGE)]
    assert flows[0] == flows[1]
    assert flows[0].dropped[0].reason == "missing `t`"


def test_a_source_that_changes_while_it_is_copied_or_read_is_refused(tmp_path, frame, monkeypatch):
    write_all(tmp_path, frame)
    message = "^p.parquet changed while it was read. Write it under another name, such as p.parquet.tmp, and"
    reference = load(tmp_path, work=LARGE, column="", file="p.parquet")

    def change(*_, **__):
        frame[:100].to_parquet(tmp_path / "p.parquet")

    with pytest.raises(DataError, match=message):
        reference.evaluate(change, {})
    choose = source_reference.RowSpool._choose

    def change_and_choose(spool, batch):
        frame[:50].to_parquet(tmp_path / "p.parquet")
        return choose(spool, batch)

    monkeypatch.setattr(source_reference.RowSpool, "_choose", change_and_choose)
    with pytest.raises(DataError, match=message):
        load(tmp_path, work=LARGE, file="p.parquet")


def test_an_interrupted_copy_leaves_no_folder(tmp_path, frame, monkeypatch):
    write_all(tmp_path, frame)
    (tmp_path / "tmp").mkdir()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(source_reference.RowSpool, "_choose", stop)
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path, work=LARGE | {"temporary_folder": str(tmp_path / "tmp")}, file="p.csv")
    assert list((tmp_path / "tmp").iterdir()) == []


# ---- folders ----


def test_a_folder_is_recognised_by_a_slash_or_by_its_name(tmp_path, frame):
    for name in ("2026-09", "2026-10", "all.parquet"):
        (tmp_path / name).mkdir()
        frame.to_parquet(tmp_path / name / "part-0.parquet")
    (tmp_path / "2026-11").mkdir()
    assert find_source_file("{period}/", OCTOBER, tmp_path, newest="name") == tmp_path / "2026-10"
    assert (
        find_source_file("2026-*/", OCTOBER, tmp_path, newest="name") == tmp_path / "2026-10"
    )  # one is empty
    assert find_source_file("*", OCTOBER, tmp_path, newest="name") == tmp_path / "all.parquet"
    with pytest.raises(DataError, match="No file matches '2026-1\\[01\\]'"):
        find_source_file("2026-1[01]", OCTOBER, tmp_path, newest="name")


def test_a_folder_that_is_still_written_is_ignored(tmp_path, frame):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        frame.to_parquet(tmp_path / name / "part-0.parquet")
    (tmp_path / "b" / "_temporary").mkdir()
    assert find_source_file("*/", OCTOBER, tmp_path, newest="modified") == tmp_path / "a"


def test_the_hash_of_a_folder_covers_every_file(tmp_path, frame):
    write_all(tmp_path, frame)
    before = hash_file(tmp_path / "parts")
    frame[:3].to_parquet(tmp_path / "parts" / "3.parquet")
    assert hash_file(tmp_path / "parts") != before


# ---- snapshots ----


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("weight", [None, "count", "fraction"])
@pytest.mark.parametrize("cluster", [None, "c"])
def test_tallies_give_the_snapshot_of_predictions(tmp_path, frame, weight, cluster):
    rng = np.random.default_rng(3)
    frame = pd.concat([frame] * 10, ignore_index=True).assign(
        m=rng.random(4000), count=rng.integers(1, 4, 4000), fraction=rng.random(4000), c=np.arange(4000) // 4
    )
    kind = "frequency" if weight == "count" else "sampling"
    columns = {"outcome": "y", "forecasts": ["m"], "weight": weight, "weight_kind": kind, "cluster": cluster}
    frame.to_parquet(tmp_path / "p.parquet")
    in_memory = evaluate(frame, **columns, resamples=0)
    with open_duckdb(tmp_path / "p.parquet", **columns) as engine:
        tallies = tally_forecasts(engine)
    parts = ("data", "settings", "main_score", "results", "kind", "groups")
    large = SimpleNamespace(tallies=tallies, **{part: getattr(in_memory, part) for part in parts})
    expected, got = (take_snapshot(e, OCTOBER, time="2026-11-01") for e in (in_memory, large))
    (one,), (other,) = expected.distributions, got.distributions
    assert (other.model, other.label, other.bins) == (one.model, one.label, one.bins)
    assert other.weights == pytest.approx(one.weights, rel=1e-12)
    assert other.mean == pytest.approx(one.mean, rel=1e-12)
    is_exact = cluster is None and weight != "fraction"
    tolerance = 1e-12 if is_exact else 0.35  # 400 buckets give a variance to about a tenth, ten of them worse
    assert got.size == pytest.approx(expected.size, rel=tolerance)
    assert other.size == pytest.approx(one.size, rel=tolerance)
    assert replace(got, size=0, distributions=()) == replace(expected, size=0, distributions=())


# ---- certificates ----


def test_a_declined_certificate_states_why(frame):
    evaluation = evaluate(frame, outcome="y", forecasts=["m"], resamples=0)
    certificate = decline(evaluation, "R cannot hold these rows.")
    assert certificate.verdict == "not checked"
    assert certificate.sentence == "Not checked on these data. R cannot hold these rows."
    assert (certificate.rows, certificate.sha256) == (400, evaluation.data.sha256)


def test_a_required_certificate_of_rows_that_r_cannot_hold_fails_before_the_work(tmp_path, monkeypatch):
    make_scored("2026-10-01", 31, rows=5).to_parquet(tmp_path / "scores.parquet")
    config = write_audit(
        tmp_path, certify="required", source={"file": "scores.parquet"}, evaluation={"engine": "duckdb"}
    )
    monkeypatch.setattr(
        "scorereport.audit.audit_report.evaluate", lambda *_, **__: pytest.fail("it works already")
    )
    record = run_audit(config, as_of="2026-11-02").record
    assert (record.status, record.exit_code) == (AuditStatus.FAILED, ExitCode.CERTIFICATE_FAILED)
    assert record.reason == (
        "`audit.certify` requires a certificate, but there can be none. R needs all rows in memory, but the "
        'engine of this evaluation reads them in parts: set `evaluation.engine` to "memory" if the machine '
        "has enough memory."
    )


# ---- runs ----


@pytest.mark.sweep
def test_a_large_audit_is_recorded_like_any_other(tmp_path):
    make_scored("2026-09-01", 61, rows=20).to_parquet(tmp_path / "scores.parquet")
    (tmp_path / "work").mkdir()
    records = {}
    for engine in ("memory", "duckdb"):
        config = write_audit(
            tmp_path,
            engine,
            name="loans",
            folder=engine,
            report=BRIEF,
            source={"file": "scores.parquet"},
            evaluation={"engine": engine, "temporary_folder": "work", "resamples": 100},
        )
        run_audit(config, as_of="2026-10-02")
        outcome = run_audit(config, as_of="2026-11-02")
        assert (outcome.record.status, outcome.record.reason) == (AuditStatus.DONE, "")
        assert not run_audit(config, as_of="2026-11-02").is_new
        records[engine] = outcome.record
    memory, large = records["memory"], records["duckdb"]
    for fact in ("rows", "source", "source_sha256", "data_sha256"):
        assert getattr(large, fact) == getattr(memory, fact)
    assert large.snapshot.distributions == memory.snapshot.distributions
    assert [drift.measure for drift in large.drifts] == [drift.measure for drift in memory.drifts]
    assert list((tmp_path / "work").iterdir()) == []
