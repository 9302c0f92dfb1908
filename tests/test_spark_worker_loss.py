"""A cluster of several workers that loses one during the job, and an interrupt: nothing is lost or left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from spark_tools import assert_same_digest, mark, spark_session

import scorereport as sr
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.spark.spark_engine import open_spark

if TYPE_CHECKING:
    from scorereport.evaluation.engines.digest import Digest

N = 30_000


@pytest.mark.sweep
def test_a_worker_killed_during_the_job_changes_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(make_home(tmp_path / "home")))
    rng = np.random.default_rng(8)
    x = np.where(rng.random(N) < 0.5, 0.3, rng.random(N))
    frame = pd.DataFrame({"y": (rng.random(N) < x).astype(int), "x": x})
    file, started = tmp_path / "rows.parquet", tmp_path / "started"
    started.mkdir()
    frame.to_parquet(file, row_group_size=5000)

    def slowly(chunk: Any, plan: Any, before: Any) -> Digest:
        (started / f"{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(0.5)
        return digest_chunk(chunk, plan, before)

    # A shuffled frame: its rows come back in another order, and from other workers, if a worker is lost.
    settings = {"spark.executor.memory": "512m", "spark.sql.adaptive.enabled": "false"}
    with spark_session("local-cluster[2,1,1024]", settings, tmp_path) as session:
        rows = session.read.parquet(str(file)).repartition(2, "x")
        with open_spark(rows, outcome="y", forecasts=["x"]) as engine:
            engine.rows_per_part = N // 6
            plan = mark(engine.survey)
            undisturbed = engine.digest("x", plan)
            executors = find_executors()
            assert len(executors) == 2
            with ThreadPoolExecutor() as threads:
                killed = threads.submit(kill_at_work, started, executors)
                engine._digest_rows = slowly
                disturbed = engine.digest("x", plan)
            assert killed.result() not in find_executors()
            parts = len(np.unique(np.quantile(x, np.arange(6) / 6, method="lower")))
            assert len(list(started.iterdir())) > parts  # the parts of the killed worker were started again
    assert_same_digest(undisturbed, disturbed)
    assert disturbed.blocks.equals(sr.corp(frame["y"], frame["x"]).blocks)


def make_home(folder: Path) -> Path:
    """A Spark home that a cluster may write to, instead of the installed package."""
    import pyspark

    folder.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def find_executors() -> list[int]:
    """The processes of workers that the Java process of this session started."""
    from pyspark import SparkContext

    driver = SparkContext._gateway.proc.pid
    children = [pid for task in Path(f"/proc/{driver}/task").iterdir() for pid in children_of(task)]
    return sorted(pid for pid in children if b"CoarseGrainedExecutorBackend" in command_of(pid))


def children_of(task: Path) -> list[int]:
    try:
        return [int(pid) for pid in (task / "children").read_text().split()]
    except OSError:  # a thread that has ended
        return []


def list_processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill_at_work(started: Path, executors: list[int]) -> int:
    """Kill the worker that is the first to work on a part, while it does."""
    wait_for(lambda: any(started.iterdir()))
    pid = int(next(started.iterdir()).name.partition("-")[0])
    while pid not in executors:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])  # its parent
    os.kill(pid, signal.SIGKILL)
    return pid


SCRIPT = """
import sys, time
from scorereport.evaluation.engines.spark.spark_engine import open_spark

def slowly(chunk, plan, before):
    from pathlib import Path
    Path({ready!r}).touch()
    time.sleep(60)

if __name__ == "__main__":
    sys.path.insert(0, {tests!r})
    from spark_tools import mark
    with open_spark({file!r}, outcome="y", forecasts=["x"], temporary_folder={folder!r}) as engine:
        engine._digest_rows = slowly
        engine.digest("x", mark(engine.survey))
"""


@pytest.mark.sweep
def test_an_interrupt_leaves_no_files_and_no_process(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java, which Spark needs")
    folder, ready, file = tmp_path / "temporary", tmp_path / "ready", tmp_path / "rows.parquet"
    folder.mkdir()
    pd.DataFrame({"y": [0, 1, 0, 1], "x": [0.1, 0.2, 0.3, 0.4]}).to_parquet(file)
    script = tmp_path / "script.py"
    names = {
        "tests": str(Path(__file__).parent),
        "file": str(file),
        "folder": str(folder),
        "ready": str(ready),
    }
    script.write_text(SCRIPT.format(**names))
    command = [sys.executable, str(script)]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: ready.exists() or process.poll() is not None)
        assert any(folder.iterdir())
        assert any(str(folder).encode() in command_of(pid) for pid in list_processes())
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert not [pid for pid in list_processes() if str(folder).encode() in command_of(pid)]
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ready",
        "rows.parquet",
        "script.py",
        "temporary",
    ]


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    assert condition()
