"""What the DuckDB engine leaves behind: nothing, whatever ends it; and how much memory it may take."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from threading import Event

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import scorereport as sr
from scorereport._utils.machine import physical_memory
from scorereport.data.sources import hash_file
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.duck.workspace import Workspace
from scorereport.evaluation.engines.engine_choice import choose_engine, estimate_rows
from scorereport.evaluation.setting_checks import check_memory_limit

NAMED = {"outcome": "y", "forecasts": ["x"]}


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


@pytest.fixture
def predictions(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.random(200_000)
    path = tmp_path / "p.parquet"
    pd.DataFrame({"y": (rng.random(len(x)) < x).astype(int), "x": x}).to_parquet(path)
    return path


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_everything_is_in_a_folder_of_its_own_until_it_is_closed(predictions, place):
    with open_duckdb(predictions, **NAMED, temporary_folder=place) as engine:
        assert [folder.name for folder in place.iterdir()] == [engine.folder.name]
        assert engine.folder.name.startswith("scorereport-")
    assert list(place.iterdir()) == []
    engine.close()  # closing twice is allowed


def test_nothing_is_left_of_data_that_were_refused(predictions, place):
    with pytest.raises(sr.DataError, match="has no column `z`"):
        open_duckdb(predictions, outcome="y", forecasts=["z"], temporary_folder=place)
    frame = pd.DataFrame({"y": [0, 1], "x": [0.5, 7.0]})
    with pytest.raises(sr.DataError, match=re.escape("must lie in [0, 1]")):
        open_duckdb(frame, **NAMED, temporary_folder=place)
    assert list(place.iterdir()) == []


def test_nothing_is_left_when_work_on_a_batch_fails(predictions, place):
    def fail(_):
        raise ZeroDivisionError

    with (
        pytest.raises(ZeroDivisionError),
        open_duckdb(predictions, **NAMED, temporary_folder=place) as engine,
    ):
        engine.reduce(fail, "failing")
    assert list(place.iterdir()) == []


SORTING = """
import sys
from scorereport.evaluation.engines.duck import sorted_digests
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.protocol import DigestPlan
from scorereport._utils.processes import stopped_by_signals

path, place, plan = sys.argv[1:]
if plan == "order":
    sorted_digests.plan_ranges = lambda *_: None
with stopped_by_signals(), open_duckdb(path, outcome="y", forecasts=["x"], temporary_folder=place) as engine:
    plan_of_x = DigestPlan(total=engine.survey.total, events=engine.survey.events, measures=(("brier", ()),))
    print("ready", flush=True)
    while True:
        engine.digest("x", plan_of_x)
"""


@pytest.mark.sweep
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "plan"), [(signal.SIGINT, "order"), (signal.SIGTERM, "ranges")])
def test_a_signal_ends_the_sort_and_leaves_nothing(predictions, place, number, plan):
    command = [sys.executable, "-c", SORTING, str(predictions), str(place), plan]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        assert len(list(place.iterdir())) == 1
        time.sleep(0.3)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode in (-number, 128 + number)
    assert list(place.iterdir()) == []


@pytest.mark.sweep
def test_a_program_that_forgets_to_close_leaves_nothing(predictions, place):
    script = (
        "import sys; from scorereport.evaluation.engines.duck.duck_engine import open_duckdb; "
        "engine = open_duckdb(sys.argv[1], outcome='y', forecasts=['x'], temporary_folder=sys.argv[2]); "
        "print(engine.survey.rows)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(predictions), str(place)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "200000\n"
    assert list(place.iterdir()) == []


# ---- options ----


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("much", '`memory_limit` must be a size such as "1GB" or "512MB"; got \'much\'.'),
        ("1 Gigabyte", '`memory_limit` must be a size such as "1GB" or "512MB"; got \'1 Gigabyte\'.'),
        (5, '`memory_limit` must be a size such as "1GB" or "512MB"; got 5.'),
        ("1MB", "`memory_limit` must be at least \"100MB\"; got '1MB'."),
    ],
)
def test_invalid_limits_are_refused(predictions, limit, sentence):
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        open_duckdb(predictions, **NAMED, memory_limit=limit)


def test_limits_are_read_with_their_units():
    assert check_memory_limit("1.5 gb") == 1_500_000_000
    assert check_memory_limit("1GiB") == 1 << 30
    assert check_memory_limit("200000000 B") == 200_000_000
    assert check_memory_limit(None) == physical_memory() // 4


def test_a_container_may_have_less_memory_than_its_machine(tmp_path, monkeypatch):
    machine = physical_memory()
    files = [tmp_path / "memory.max", tmp_path / "limit_in_bytes"]
    monkeypatch.setattr("scorereport._utils.machine._CONTAINER_LIMITS", tuple(map(str, files)))
    for texts, memory in ((("max\n", "300000000\n"), 300_000_000), (("200000000\n", "1" * 20), 200_000_000)):
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        assert physical_memory() == memory < machine


@pytest.mark.parametrize("engine", ["memory", "duckdb", "spark"])
def test_limits_are_checked_for_every_engine(predictions, engine):
    sentence = '`memory_limit` must be a size such as "1GB" or "512MB"; got \'abc\'.'
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        sr.evaluate(predictions, **NAMED, engine=engine, memory_limit="abc")


@pytest.mark.parametrize("engine", ["memory", "duckdb", "spark"])
@pytest.mark.parametrize("options", [{"ordered": True}, {"normalize": True}, {"forecasts": {"x": ["x"]}}])
def test_what_belongs_to_several_classes_is_refused_by_each_engine(predictions, engine, options):
    (name,) = options
    with pytest.raises(sr.UsageError, match=f"^`{name}` .*classes: name these in `classes`, or "):
        sr.evaluate(predictions, engine=engine, **(NAMED | options))


def test_spark_refuses_a_table_of_a_database(tmp_path):
    sentence = (
        "`table` is for databases, which Spark does not read here; got 'loans'. Choose "
        'engine "memory" or "duckdb", or pass a Spark DataFrame of the table.'
    )
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        sr.evaluate(tmp_path / "d.duckdb", **NAMED, table="loans", engine="spark")


def test_errors_of_duckdb_are_reported_in_a_sentence(place):
    workspace = Workspace(None, place)
    with pytest.raises(
        sr.DataError, match=r"^DuckDB cannot work on these rows: Conversion Error: Could not "
    ):
        workspace.row("SELECT CAST('q' || i AS DOUBLE) AS n FROM range(1000000) t(i)")
    with pytest.raises(sr.DataError, match=r"^DuckDB cannot work on these rows: Catalog Error: .* nothing "):
        workspace.fill("nothing", [pa.table({"a": [1]})])
    workspace.close()


def test_a_source_that_is_refused_is_hashed_no_further(predictions):
    is_over = Event()
    assert hash_file(predictions, is_over=is_over) == hash_file(predictions)
    is_over.set()
    assert hash_file(predictions, is_over=is_over) == hashlib.sha256().hexdigest()


def test_the_temporary_folder_must_exist(predictions, tmp_path):
    missing = str(tmp_path / "nowhere")
    sentence = f"`temporary_folder` must be a folder that exists; got {missing!r}."
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        open_duckdb(predictions, **NAMED, temporary_folder=missing)


# ---- which engine ----


def test_frames_and_small_files_are_evaluated_in_memory(predictions):
    assert choose_engine(pd.read_parquet(predictions)) == "memory"
    assert choose_engine(predictions) == "memory"
    assert choose_engine(predictions, columns=500, memory_limit="1GB") == "duckdb"
    assert choose_engine(str(predictions.parent / "*.parquet"), columns=500, memory_limit="1GB") == "duckdb"


def test_engines_can_be_forced(predictions):
    assert choose_engine(predictions, "duckdb") == "duckdb"
    assert choose_engine(predictions, "memory", columns=500, memory_limit="100MB") == "memory"
    sentence = '`engine` must be one of "auto", "memory", "duckdb", "spark"; got \'dask\'.'
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        choose_engine(predictions, "dask")


def test_frames_of_spark_are_recognised_by_their_module():
    kind = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})
    assert choose_engine(kind()) == "spark"


def test_rows_of_csv_files_are_estimated(tmp_path):
    frame = pd.DataFrame({"y": [0, 1] * 5000, "x": np.random.default_rng(1).random(10_000)})
    for name in ("p.csv", "p.csv.gz"):
        frame.to_csv(tmp_path / name, index=False)
        assert 3000 < estimate_rows(tmp_path / name) < 30_000
