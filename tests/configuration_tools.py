"""Configurations that two test files share."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

import scorereport as sr
from scorereport.configuration import MEASURES

LIMITS_PAGE = Path(__file__).resolve().parents[1] / "docs" / "limits.md"
DOCUMENTATION, SCORE_PAGE = (
    (Path(__file__).resolve().parents[1] / "docs" / page).read_text(encoding="utf-8")
    for page in ("configuration.md", "scores.md")
)


EXAMPLE, ORDINAL_EXAMPLE = re.findall(r"```toml\n(.*?)```", DOCUMENTATION, re.DOTALL)[:2]


#: A column and a label for each class.
CLASSES = ("low", "middle", "high")


def frame_fixture():
    rng = np.random.default_rng(5)
    p = rng.random(300)
    return pd.DataFrame(
        {"y": rng.random(300) < p, "logit": p, "boost": p.round(1), "site": rng.choice(["A", "B"], 300)}
    )


def evaluation_fixture(frame):
    return sr.evaluate(
        frame,
        outcome="y",
        forecasts=["logit", "boost"],
        groups="site",
        cost_interval=(0.1, 0.4),
        thresholds=[0.2, 0.3],
        resamples=40,
        scale=True,
    )


def limit_text(name, one_sided="fail = 0.2", two_sided="min = 0.2, max = 0.4", label="b"):
    """A limit on a measure, with the threshold or the class that it needs."""
    measure = MEASURES[name]
    needed = {
        None: "",
        "at": "at = 0.25, ",
        "of_class": f"of_class = {label!r}, ",
        "up_to": f"up_to = {label!r}, ",
    }
    return f"{name} = {{{needed[measure.argument]}{one_sided if measure.direction else two_sided}}}"
