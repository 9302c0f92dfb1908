"""Audits for tests: a folder with scored loans and a configuration, and the command line in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scorereport.configuration import SECTION_NAMES

if TYPE_CHECKING:
    from pathlib import Path

#: A report of few pages, for tests that are not about its pages.
BRIEF = {"omit": [name for name in SECTION_NAMES if name not in ("summary", "provenance")]}
EVALUATION = {"outcome": "y", "forecasts": ["logit"], "resamples": 0}


def make_scored(start: str, days: int, *, rows: int = 40, seed: int = 1, slope: float = 1.0) -> pd.DataFrame:
    """So many scored cases a day; with a slope other than 1 the forecasts are wrong."""
    rng = np.random.default_rng(seed)
    dates = pd.date_range(start, periods=days).strftime("%Y-%m-%d")
    linear = rng.normal(-0.5, 1.2, days * rows)
    outcome = (rng.random(days * rows) < 1 / (1 + np.exp(-slope * linear))).astype(int)
    forecast = np.round(1 / (1 + np.exp(-linear)), 6)
    return pd.DataFrame({"day": np.repeat(dates, rows), "y": outcome, "logit": forecast})


def write_audit(place: Path, file: str = "loans", **audit: Any) -> Path:
    """A configuration of an audit in a folder, of the file scores.csv in it; `audit` are tables of `[audit]`.

    The tables `report`, `evaluation` and `limits` may be given as well.
    """
    tables: dict[str, Any] = {
        "report": audit.pop("report", {}),
        "evaluation": EVALUATION | audit.pop("evaluation", {}),
        "limits": audit.pop("limits", {}),
        "audit": {
            "certify": "off",
            "source": {"file": "scores.csv"},
            "window": {"column": "day", "period": "previous calendar month"},
            "output": {"formats": ["json"]},
        }
        | audit,
    }
    path = place / f"{file}.toml"
    path.write_text("".join(_list_tables(tables)), encoding="utf-8")
    return path


def _list_tables(tables: dict[str, Any], prefix: str = ""):
    for key, value in tables.items():
        inner = {k: v for k, v in value.items() if isinstance(v, dict)}
        plain = {k: v for k, v in value.items() if not isinstance(v, dict)}
        yield f"[{prefix}{key}]\n"
        yield from (f"{k} = {json.dumps(v)}\n" for k, v in plain.items())
        yield from _list_tables(inner, f"{prefix}{key}.")


def start_audit(*arguments: Any, **environment: str) -> subprocess.Popen:
    """`scorereport audit ...` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "scorereport", "audit", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def run_command(*arguments: Any, **environment: str) -> subprocess.CompletedProcess:
    """`scorereport audit ...` to its end."""
    process = start_audit(*arguments, **environment)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)
