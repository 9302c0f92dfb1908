"""Verification of a history of daily audits of five models, against reading and hashing what it contains."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
import zlib
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from validation.benchmarks.measure import Comparison, Measured, time_by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.benchmarks.measure import Result

DAYS, MODELS, ROWS = 24, 5, 300
YEAR = 365
FIRST = date(2026, 1, 1)
CONFIGURATION = """
[evaluation]
outcome = "y"
forecasts = {models}
resamples = 100
[limits]
brier = {{ fail = 0.2 }}
[audit]
certify = "off"
[audit.source]
file = "rows.csv"
[audit.window]
column = "day"
period = "previous calendar day"
[audit.signing]
key = "key.pem"
[audit.output]
formats = ["json"]
"""


def compare_histories() -> Iterator[Result]:
    """Compare a verification, by all processors, with reading and hashing documents and files, by one.

    A verification also hashes the numbers of each document, parses it, and computes evidence and verdicts
    again. The time of a year is that of these audits times their share of it.
    """
    with tempfile.TemporaryDirectory() as temporary:
        config = _write_history(Path(temporary))
        found = verify_audit_history(read_plan(config))
        if found.findings or found.records != DAYS:
            raise AssertionError(f"the history is not intact: {found.findings}")
        verified, read = time_by_turns(
            lambda: verify_audit_history(read_plan(config)), lambda: _read_all(config), repeats=5
        )
        yield Comparison(
            name=f"verifying {DAYS} audits of {MODELS} models / reading and hashing documents and files",
            ours=verified,
            other=read,
            ratio=verified / read,
            limit=4,
        )
        yield Measured(
            name=f"verifying {YEAR} audits of {MODELS} models, at this rate", ours=verified * YEAR / DAYS
        )


def _write_history(folder: Path) -> Path:
    """Run daily audits of models that are all a little wrong."""
    rng, frames = np.random.default_rng(2), []
    days = [FIRST + timedelta(days=number) for number in range(DAYS)]
    for day in days:
        x = rng.normal(-1, 1.2, ROWS)
        models = {f"m{k}": 1 / (1 + np.exp(-x - rng.normal(0, 0.1 + 0.1 * k, ROWS))) for k in range(MODELS)}
        outcome = (rng.random(ROWS) < 1 / (1 + np.exp(-x))).astype(int)
        frames.append(pd.DataFrame({"day": str(day), "y": outcome, **models}))
    pd.concat(frames).to_csv(folder / "rows.csv", index=False)
    config = folder / "daily.toml"
    config.write_text(CONFIGURATION.format(models=[f"m{k}" for k in range(MODELS)]), encoding="utf-8")
    for day in days:
        run_audit(config, as_of=str(day + timedelta(days=1)))
    return config


def _read_all(config: Path) -> list[str]:
    """Decompress and hash all documents, and hash all files."""
    plan = read_plan(config)
    with closing(sqlite3.connect(plan.history_file or "")) as connection:
        documents = [zlib.decompress(row[0]) for row in connection.execute("SELECT content FROM documents")]
    files = [path.read_bytes() for path in plan.reports.rglob("*.json")]
    return [hashlib.sha256(content).hexdigest() for content in (*documents, *files)]
