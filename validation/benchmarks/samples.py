"""Rows for the large benchmarks: the same everywhere, written in chunks; small samples begin large ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from validation.benchmarks.machine import physical_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray

SEED = 2021
CHUNK = 1_000_000
MODELS = ("calibrated", "timid", "more timid")
#: Number of ordered classes, and the columns of two models of them.
CLASSES = 5
CLASS_MODELS = {name: [f"{name}{k}" for k in range(CLASSES)] for name in "ab"}
LARGEST = 100_000_000
#: Environment variable that replaces `LARGEST`, for a quick trial.
VARIABLE = "SCOREREPORT_BENCH_ROWS"
#: Free disk and memory that the largest size needs; smaller ones need their share.
DISK, MEMORY = 6e9, 4e9


def largest_size() -> int:
    """Return the number of rows of the largest sample."""
    return int(float(os.environ.get(VARIABLE) or LARGEST))


def is_rehearsal() -> bool:
    """Whether sizes are smaller than those whose results are kept."""
    return largest_size() != LARGEST


@contextmanager
def data_folder(kept: Path | None) -> Iterator[Path]:
    """A folder for samples: the given one, which is kept, or a temporary one."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="scorereport-bench-") as folder:
        yield Path(folder)


def why_not(folder: Path | None) -> str:
    """Return why this machine cannot process the largest sample; empty if it can."""
    share = largest_size() / LARGEST
    place = tempfile.gettempdir() if folder is None else folder
    free = shutil.disk_usage(place if Path(place).exists() else Path(place).parent).free
    if free < DISK * share:
        return f"{free / 1e9:.1f} GB of disk are free in {place}, of {DISK * share / 1e9:.1f} needed"
    if not Path("/proc/self/status").exists():
        return "there is no /proc, which states the memory of a process"
    memory = physical_memory()
    if memory < MEMORY * share:
        return f"the machine has {memory / 1e9:.1f} GB of memory, of {MEMORY * share / 1e9:.1f} needed"
    return ""


def draw_chunks(n: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Outcomes and forecasts of n rows, uniform and calibrated, a million at a time."""
    for number, start in enumerate(range(0, n, CHUNK)):
        rng = np.random.default_rng([SEED, number])
        x, u = rng.random(CHUNK), rng.random(CHUNK)
        chunk = slice(0, n - start)
        yield (u < x).astype(np.float64)[chunk], x[chunk]


def write_rows(folder: Path, n: int) -> Path:
    """Write a Parquet file of n rows, unless it exists: `outcome`, one byte, and `forecast`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"rows-{n}.parquet"
    if path.exists():
        return path
    schema = pa.schema({"outcome": pa.uint8(), "forecast": pa.float64()})
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema) as writer:
        for y, x in draw_chunks(n):
            writer.write_table(pa.table([y.astype(np.uint8), x], schema=schema))
    return unfinished.replace(path)


def write_models(folder: Path, n: int) -> Path:
    """Write a Parquet file of n outcomes and three models, the first calibrated, unless it exists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"models-{n}.parquet"
    if path.exists():
        return path
    schema = pa.schema({"outcome": pa.uint8(), **dict.fromkeys(MODELS, pa.float64())})
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema) as writer:
        for number, (y, x) in enumerate(draw_chunks(n)):
            rng = np.random.default_rng([SEED, number, 1])
            others = [np.clip(x**power + rng.normal(0, 0.02, len(x)), 1e-6, 1 - 1e-6) for power in (1.1, 1.2)]
            writer.write_table(pa.table([y.astype(np.uint8), x, *others], schema=schema))
    return unfinished.replace(path)


def write_designs(folder: Path, n: int) -> Path:
    """Write rows of `write_models` with sampling weights and clusters of about 20, unless they exist."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"designs-{n}.parquet"
    if not path.exists():
        rng = np.random.default_rng([SEED, n, 2])
        table = pq.read_table(write_models(folder, n))
        table = table.append_column("weight", pa.array(rng.gamma(4, 0.25, n)))
        table = table.append_column("cluster", pa.array(rng.integers(0, max(n // 20, 1), n)))
        pq.write_table(table, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)
    return path


def write_classes(folder: Path, n: int) -> Path:
    """Write n outcomes of `CLASSES` ordered classes and the forecasts of two models, unless they exist."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"classes-{n}.parquet"
    if not path.exists():
        rng = np.random.default_rng([SEED, n, 3])
        p = rng.dirichlet(np.ones(CLASSES), n)
        outcome = (rng.random((n, 1)) >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        forecasts = {"a": p, "b": (p + rng.dirichlet(np.ones(CLASSES), n)) / 2}
        columns = {f"{name}{k}": q[:, k] for name, q in forecasts.items() for k in range(CLASSES)}
        pq.write_table(pa.table({"outcome": outcome} | columns), path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)
    return path


def write_arrays(folder: Path, n: int) -> tuple[Path, Path]:
    """Write files with the bytes of n outcomes and n forecasts, both double, unless they exist."""
    paths = folder / f"outcome-{n}.bin", folder / f"forecast-{n}.bin"
    if all(path.exists() for path in paths):
        return paths
    unfinished = [path.with_suffix(".part") for path in paths]
    with unfinished[0].open("wb") as outcomes, unfinished[1].open("wb") as forecasts:
        for y, x in draw_chunks(n):
            y.tofile(outcomes)
            x.tofile(forecasts)
    for part, path in zip(unfinished, paths, strict=True):
        part.replace(path)
    return paths


def write_model_arrays(folder: Path, n: int) -> tuple[Path, Path]:
    """Write files with the bytes of n outcomes, and of n forecasts of one model after the other."""
    import pyarrow.parquet as pq

    table = pq.read_table(write_models(folder, n))
    paths = folder / f"outcomes-{n}.bin", folder / f"models-{n}.bin"
    table["outcome"].to_numpy().astype(np.float64).tofile(paths[0])
    np.concatenate([table[model].to_numpy() for model in MODELS]).tofile(paths[1])
    return paths
