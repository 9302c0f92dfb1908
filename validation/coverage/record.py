"""Record of the study: a row for each method in each cell, and the file that holds the rows."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorereport._utils.arrays import FloatArray

#: Rows agree with INTERVALS.md if they differ by at most this many Monte-Carlo errors of the difference.
ERRORS_ALLOWED = 3
_PACKAGES = ("scorereport", "numpy", "scipy", "statsmodels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A share printed in INTERVALS.md, and the number of runs behind it."""

    value: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often a method covered (or a test rejected) in simulated data.

    `reference` is the value of INTERVALS.md from `reference_runs` runs, None where it has none, and
    `agrees` is whether the two differ by no more than chance allows. `before` is the value of an earlier
    table, with its Monte-Carlo error.
    """

    study: str
    setting: str
    n: int
    method: str
    nominal: float
    empirical: float
    runs: int
    monte_carlo_error: float
    reference: float | None = None
    reference_runs: int | None = None
    agrees: bool | None = None
    before: float | None = None
    before_error: float | None = None

    @property
    def cell(self) -> tuple[str, str, int, str]:
        """What the row is about: study, setting, sample size and method."""
        return self.study, self.setting, self.n, self.method

    @property
    def is_test(self) -> bool:
        """Whether the row counts rejections by a test; levels of tests are small."""
        return self.nominal <= 0.5


def make_row(
    study: str,
    setting: str,
    n: int,
    method: str,
    *,
    nominal: float,
    values: Sequence[float],
    reference: Reference | None,
) -> Row:
    """Summarise the runs of one method."""
    empirical, error = float(np.mean(values)), monte_carlo_error(np.array(values, dtype=np.float64))
    compared: dict[str, Any] = {}
    if reference is not None:
        allowed = ERRORS_ALLOWED * combined_error(empirical, len(values), reference)
        compared["reference"], compared["reference_runs"] = reference.value, reference.runs
        compared["agrees"] = abs(empirical - reference.value) <= allowed
    return Row(
        study=study,
        setting=setting,
        n=n,
        method=method,
        nominal=nominal,
        empirical=round(empirical, 6),
        runs=len(values),
        monte_carlo_error=round(error, 6),
        **compared,
    )


def monte_carlo_error(values: FloatArray) -> float:
    """Standard error of the mean over runs, of zeros and ones or of shares."""
    if ((values == 0) | (values == 1)).all():
        return share_error(float(values.mean()), len(values))
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def share_error(share: float, runs: int) -> float:
    """Standard error of a share, with a success and a failure added so that it is never 0."""
    shrunk = (share * runs + 1) / (runs + 2)
    return float(np.sqrt(shrunk * (1 - shrunk) / runs))


def combined_error(share: float, runs: int, reference: Reference) -> float:
    """Standard error of the difference of two shares, if both estimate the same one."""
    together = runs + reference.runs
    pooled = (share * runs + reference.value * reference.runs) / together
    return share_error(pooled, together) * float(np.sqrt(together**2 / (runs * reference.runs)))


def write_record(path: Path, rows: Sequence[Row], *, mode: str, seed: int, is_complete: bool) -> None:
    """Write all rows with date, mode, seed and versions; the file is replaced as a whole."""
    record = {
        "written": datetime.now(UTC).date().isoformat(),
        "mode": mode,
        "seed": seed,
        "is_complete": is_complete,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "rows": [],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    table = ",\n    ".join(json.dumps(asdict(row)) for row in rows)  # a line for each
    write_text(path, json.dumps(record, indent=2).replace("[]", f"[\n    {table}\n  ]") + "\n")


def read_record(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """Read what `write_record` wrote: the record without its rows, and the rows."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return record, [Row(**row) for row in record.pop("rows")]
