"""Record answers of base R: `python -m validation.record_inference` writes recorded/inference.json.

They are about calibration, intervals, tests, decisions, comparisons and groups of small seeded cases of our
own, one for each kind of rows. The test suite reads them on machines without R.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

import scorereport as sr
from scorereport._utils import json_documents
from scorereport._utils.files import write_text
from scorereport.reference.inference_questions import InferenceQuestion, ask_about
from scorereport.reference.live_references import BASE, open_reference
from scorereport.results.settings import EvaluationSettings

if TYPE_CHECKING:
    from scorereport.data.predictions import Predictions
    from scorereport.reference.exchange import Vector
    from scorereport.reference.live_references import Reference

TARGET = Path(__file__).parent / "recorded" / "inference.json"
SEED = 20261119
MODELS = ("sharp", "rounded", "shifted")
#: Settings of all cases; costs are for bounded scores.
SETTINGS: dict[str, Any] = {"cost_interval": (0.1, 0.4), "smallest_group": 5}
#: R is asked about this many points of curves, so that the record is small.
CURVE_POINTS = 20
#: The number of rows of each case, its columns beside outcome and forecasts, and other settings.
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "rows": (2400, {"groups": ["site"]}),
    "counted rows in time": (
        1000,
        {
            "weight": "count",
            "weight_kind": "frequency",
            "time": "day",
            "interval_method": "percentile",
            "window": "quarter",
        },
    ),
    "weighted rows": (1200, {"weight": "share"}),
    "clusters": (600, {"cluster": "patient", "groups": ["site"], "resamples": 20}),
    "few rows": (60, {"groups": ["site"], "resamples": 200}),
    "certain forecasts": (40, {"forecasts": ["certain", "constant", "separating"], "resamples": 20}),
    "one outcome": (20, {"outcome": "never", "resamples": 20}),
}


def make_frame(name: str) -> pd.DataFrame:
    """The rows of a case: forecasts of three digits, the same on every machine."""
    rows = CASES[name][0]
    rng = np.random.default_rng([SEED, list(CASES).index(name)])
    chance = rng.integers(20, 981, rows) / 1000
    y = (rng.random(rows) < chance).astype(int)
    moved = np.clip(chance + rng.integers(-150, 151, rows) / 1000, 0.01, 0.99).round(3)
    return pd.DataFrame(
        {
            "y": y,
            "sharp": moved,
            "rounded": np.clip(chance.round(1), 0.1, 0.9),
            "shifted": np.clip(chance * 0.8, 0.01, 0.99).round(3),
            "certain": chance.round(),
            "constant": np.full(rows, 0.3),
            "separating": np.where(y == 1, 0.5 + chance / 2, chance / 2).round(4),
            "never": np.zeros(rows, dtype=int),
            "site": rng.choice(["north", "south"], rows),
            "count": rng.integers(0, 4, rows),
            "share": (rng.integers(2, 9, rows) / 4) * (1 + y),
            "patient": rng.integers(0, max(rows // 15, 2), rows),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 80, rows), unit="D"),
        }
    )


def arguments_of(name: str) -> dict[str, Any]:
    """The arguments of `evaluate` for a case."""
    return {"outcome": "y", "forecasts": list(MODELS), **SETTINGS, **CASES[name][1]}


def question_of(name: str) -> InferenceQuestion:
    """The question to R about a case."""
    arguments = arguments_of(name)
    columns = ("outcome", "forecasts", "weight", "weight_kind", "cluster", "time", "groups")
    given = {column: arguments.pop(column) for column in columns if column in arguments}
    predictions = cast("Predictions", sr.read_predictions(make_frame(name), **given))
    settings = EvaluationSettings(curve_points=CURVE_POINTS, **arguments)
    return InferenceQuestion(predictions=predictions, settings=settings)


def main() -> None:
    """Ask R about all cases and write its answers."""
    with open_reference(BASE, time_limit=300) as reference:
        cases = {name: _record(reference, question_of(name)) for name in CASES}
        software = {"R": reference.software["R"]}
    write_text(TARGET, json_documents.dump({"seed": SEED, "software": software, "cases": cases}))
    print(f"{TARGET}: {len(cases)} cases by base R {software['R']}")


def _record(reference: Reference, question: InferenceQuestion) -> list[dict[str, Vector]]:
    """The answers about a case: about all models, then about the groups of each column."""
    answers = [reference.fetch(what, **vectors) for what, vectors in ask_about(question)]
    return [{name: vector for name, vector in answer.items() if name != "seconds"} for answer in answers]


if __name__ == "__main__":
    main()
