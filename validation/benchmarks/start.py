"""Start-up time: importing the package, showing the help, reading a million rows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import scorereport as sr
from validation.benchmarks.from_r import compare_from_r
from validation.benchmarks.measure import Comparison, Skipped, time_by_turns
from validation.benchmarks.samples import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROWS = 1_000_000


def compare_start(folder: Path | None = None) -> Iterator[Comparison | Skipped]:
    """Compare imports with that of pandas, reading with the reader of pandas, and R with a file."""
    nothing, _ = time_by_turns(_python("pass"), _python("pass"))
    package, pandas = (
        time_with - nothing
        for time_with in time_by_turns(_python("import scorereport"), _python("import pandas"))
    )
    yield Comparison(
        name="import scorereport / import pandas",
        ours=package,
        other=pandas,
        ratio=package / pandas,
        limit=0.5,
    )
    show_help = "import sys; sys.argv = ['scorereport', '--help']; from scorereport.cli import main; main()"
    helped, _ = time_by_turns(_python(show_help), _python("pass"))
    yield Comparison(
        name="scorereport --help / import pandas",
        ours=helped - nothing,
        other=pandas,
        ratio=(helped - nothing) / pandas,
        limit=1,
    )
    yield _read_csv()
    with data_folder(folder) as place:
        yield from compare_from_r(place)


def _read_csv() -> Comparison:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": rng.integers(0, 2, _ROWS), "a": rng.random(_ROWS), "b": rng.random(_ROWS)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "predictions.csv")
        frame.to_csv(path, index=False)
        ours, other = time_by_turns(
            lambda: sr.read_predictions(path, outcome="y", forecasts=["a", "b"]),
            lambda: pd.read_csv(path),
            repeats=3,
        )
    return Comparison(
        name="read_predictions of a million-row CSV / pandas.read_csv",
        ours=ours,
        other=other,
        ratio=ours / other,
        limit=4,
    )


def _python(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
