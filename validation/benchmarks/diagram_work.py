"""A reliability diagram of three models by each package, in a separate process, from arrays in memory.

`python -m validation.benchmarks.diagram_work PACKAGE ROWS OUTCOMES FORECASTS`: FORECASTS has those of one
model after the other. Each package does what it can of this: a diagram of each model in a file, with a band,
and the decomposition of the Brier score.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from validation.benchmarks.measure import most_held
from validation.benchmarks.peer_work import PACKAGES as DECOMPOSED
from validation.benchmarks.peer_work import RESAMPLES

#: From outcomes, forecasts (a row for each model) and the file to draw to MCB, DSC and UNC of each model.
Draw = Callable[[Any, Any, Path], list[float]]
#: Work is repeated until it was done this many times or took this many seconds; as in diagram_work.R.
_TIMES, _SECONDS = 3, 5.0
#: Rows of a first call, which loads all modules and is not timed.
_FEW = 1000


def scorereport() -> Draw:
    """The whole evaluation, with all its other numbers, and its diagram with bands."""
    from scorereport import Predictions, evaluate
    from scorereport.plots import plot_reliability

    def draw(y: Any, forecasts: Any, target: Path) -> list[float]:
        models = {f"model {number}": row for number, row in enumerate(forecasts)}
        evaluation = evaluate(Predictions(outcome=y, forecasts=models), resamples=RESAMPLES)
        prevalence = evaluation.data.sample.prevalence
        plot_reliability(evaluation.models, prevalence=prevalence).savefig(target)
        return [
            part
            for model in evaluation.models
            for d in model.scores.decompositions
            if d.name == "brier"
            for part in (d.miscalibration, d.discrimination, d.uncertainty)
        ]

    return draw


def model_diagnostics() -> Draw:
    """One diagram of all models with bootstrap bands, and the decomposition of the package."""
    import matplotlib.pyplot as plt
    from model_diagnostics.calibration import plot_reliability_diagram

    decompose = DECOMPOSED["model-diagnostics"]()["decompose"]

    def draw(y: Any, forecasts: Any, target: Path) -> list[float]:
        figure, axes = plt.subplots()
        plot_reliability_diagram(y, forecasts.T, n_bootstrap=RESAMPLES, ax=axes)
        figure.savefig(target)
        plt.close(figure)
        return [part for row in forecasts for part in decompose(y, row)]

    return draw


def scikit_learn() -> Draw:
    """One diagram of all models by ten bins, without a band; the components come from its isotonic fit."""
    import matplotlib.pyplot as plt
    from sklearn.calibration import CalibrationDisplay

    decompose = DECOMPOSED["scikit-learn"]()["decompose"]

    def draw(y: Any, forecasts: Any, target: Path) -> list[float]:
        figure, axes = plt.subplots()
        for row in forecasts:
            CalibrationDisplay.from_predictions(y, row, n_bins=10, ax=axes)
        figure.savefig(target)
        plt.close(figure)
        return [part for row in forecasts for part in decompose(y, row)]

    return draw


def scores() -> Draw:
    """Isotonic fits with bootstrap bands, which it does not draw; the components come from its scores."""
    band = DECOMPOSED["scores"]()["band"]
    return lambda y, forecasts, _: [part for row in forecasts for part in band(y, row)]


PACKAGES: dict[str, Callable[[], Draw]] = {
    "scorereport": scorereport,
    "scikit-learn": scikit_learn,
    "model-diagnostics": model_diagnostics,
    "scores": scores,
}


def main() -> None:
    """Draw the diagram, and print the shortest time, the memory and the components."""
    package, rows, outcomes, forecasts = sys.argv[1:]
    n = int(rows)
    y, x = np.fromfile(outcomes, count=n), np.fromfile(forecasts).reshape(-1, n)
    with tempfile.TemporaryDirectory() as folder:
        draw, target = PACKAGES[package](), Path(folder, "diagram.pdf")
        draw(y[:_FEW], x[:, :_FEW], target)
        taken: list[float] = []
        while len(taken) < _TIMES and sum(taken) < _SECONDS:
            start = time.perf_counter()
            parts = draw(y, x, target)
            taken.append(time.perf_counter() - start)
    output = {"parts": [float(part) for part in parts], "version": version(package)}
    print(json.dumps(output | {"seconds": min(taken), "held": most_held()}))


if __name__ == "__main__":
    main()
