"""The work of each package, in a separate process, from arrays in memory.

`python -m validation.benchmarks.peer_work PACKAGE WORK ROWS OUTCOMES FORECASTS`; only numpy and
the package itself are imported, so that the memory of the process is that of the package.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from validation.benchmarks.measure import most_held

#: From outcomes and forecasts to MCB, DSC and UNC of the Brier score.
Work = Callable[[Any, Any], tuple[float, ...]]

RESAMPLES = 100
#: Work is repeated until it was done this many times or took this many seconds; as in peer_work.R.
_TIMES, _SECONDS = 3, 5.0
#: Rows of a first call, which loads all modules and is not timed.
_FEW = 1000


def _split(brier: Callable[[Any], float], x: Any, recalibrated: Any, constant: Any) -> tuple[float, ...]:
    """MCB, DSC and UNC from the mean scores of three forecasts."""
    score, lower, upper = brier(x), brier(recalibrated), brier(constant)
    return score - lower, upper - lower, upper


def scikit_learn() -> dict[str, Work]:
    """Isotonic regression and Brier score; the components are computed here from them."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import brier_score_loss

    def decompose(y: Any, x: Any) -> tuple[float, ...]:
        recalibrated = IsotonicRegression().fit(x, y).predict(x)
        return _split(lambda p: brier_score_loss(y, p), x, recalibrated, np.full(len(y), y.mean()))

    return {"decompose": decompose}


def model_diagnostics() -> dict[str, Work]:
    """The decomposition of the package itself."""
    from model_diagnostics.scoring import SquaredError
    from model_diagnostics.scoring import decompose as split

    def decompose(y: Any, x: Any) -> tuple[float, ...]:
        table = split(y, x, scoring_function=SquaredError())
        return table.select("miscalibration", "discrimination", "uncertainty").row(0)

    return {"decompose": decompose}


def scores() -> dict[str, Work]:
    """Isotonic fit, with or without a bootstrap band, and Brier score; the components are computed here."""
    import xarray as xr
    from scores.probability import brier_score
    from scores.processing import isotonic_fit

    def run(y: Any, x: Any, **options: Any) -> tuple[float, ...]:
        outcomes = xr.DataArray(y, dims="case")
        fit = isotonic_fit(x, y, **options)
        return _split(
            lambda p: brier_score(xr.DataArray(p, dims="case"), outcomes).item(),
            x,
            fit["regression_func"](x),
            np.full(len(y), y.mean()),
        )

    return {"decompose": run, "band": lambda y, x: run(y, x, bootstraps=RESAMPLES)}


def scorereport() -> dict[str, Work]:
    """The decomposition of scorereport, in memory."""
    from scorereport import corp

    def decompose(y: Any, x: Any) -> tuple[float, ...]:
        parts = corp(y, x).decompose("brier")
        return parts.miscalibration, parts.discrimination, parts.uncertainty

    def band(y: Any, x: Any) -> tuple[float, ...]:
        fit = corp(y, x)
        fit.band("consistency", method="resampling", resamples=RESAMPLES)
        parts = fit.decompose("brier")
        return parts.miscalibration, parts.discrimination, parts.uncertainty

    return {"decompose": decompose, "band": band}


PACKAGES: dict[str, Callable[[], dict[str, Work]]] = {
    "scorereport": scorereport,
    "scikit-learn": scikit_learn,
    "model-diagnostics": model_diagnostics,
    "scores": scores,
}


def main() -> None:
    """Do the named work, and print its shortest time, its memory and its results."""
    package, name, rows, outcomes, forecasts = sys.argv[1:]
    work = PACKAGES[package]()[name]
    y, x = (np.fromfile(path, count=int(rows)) for path in (outcomes, forecasts))
    work(y[:_FEW], x[:_FEW])
    taken: list[float] = []
    while len(taken) < _TIMES and sum(taken) < _SECONDS:
        start = time.perf_counter()
        parts = work(y, x)
        taken.append(time.perf_counter() - start)
    output = {"parts": [float(part) for part in parts], "version": version(package)}
    print(json.dumps(output | {"seconds": min(taken), "held": most_held()}))


if __name__ == "__main__":
    main()
