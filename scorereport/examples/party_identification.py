"""Example of ordered classes: party identification in seven steps, in 1996.

The data are included in statsmodels (944 respondents of the American National Election Study; Greene, 2012).
An ordered and a multinomial logit are fitted by statsmodels on one part of the respondents and evaluated on
another; a third part is used to choose the number of iterations of the multinomial model.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.data.reader import read_predictions
from scorereport.evaluation.selection.choice import select

if TYPE_CHECKING:
    import pandas as pd

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.evaluation.selection.selection_records import Selection

#: Configuration of the report: limits, and facts that are not in the data.
CONFIGURATION = Path(__file__).with_name("party_identification.toml")
REPORT_NAME = "demo-ordinal"

OUTCOME = "party"
FORECASTS = ("ordered", "multinomial")
CLASSES = (
    "strong Democrat",
    "weak Democrat",
    "independent Democrat",
    "independent",
    "independent Republican",
    "weak Republican",
    "strong Republican",
)
GROUP = "education"
#: Half of the usual resamples, because draws for seven classes are slow.
SETTINGS = {"resamples": 500, "scale": True}
SOURCE = "American National Election Study 1996, held-out respondents"
_SEED = 1996
_FEATURES = ["logpopul", "TVnews", "selfLR", "age", "educ", "income"]
_TRAINED, _CHOSEN_ON = 400, 200
_ITERATIONS = range(2, 31, 2)
_PATIENCE = 3
_FIRST_DEGREE = 6


class _Parts(NamedTuple):
    """Features and classes of all respondents, and the rows to fit, to choose and to evaluate on."""

    features: pd.DataFrame
    party: IntArray
    train: IntArray
    choose: IntArray
    test: IntArray


def make_demo_predictions() -> pd.DataFrame:
    """Return held-out respondents with their party, the forecasts of both models, and their education."""
    import pandas as pd
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    parts = _read_parts()
    train, test = parts.features.iloc[parts.train], parts.features.iloc[parts.test]
    ordered = OrderedModel(parts.party[parts.train], train, distr="logit").fit(method="bfgs", disp=0)
    probabilities = {
        "ordered": np.asarray(ordered.predict(test)),
        "multinomial": _fit_multinomial(parts, int(choose_checkpoint().chosen.best), parts.test),
    }
    columns = {
        f"{model}_{label}": column
        for model, table in probabilities.items()
        for label, column in zip(CLASSES, table.T, strict=True)
    }
    educated = np.where(test["educ"] >= _FIRST_DEGREE, "degree", "no degree")
    party = np.array(CLASSES)[parts.party[parts.test]]
    return pd.DataFrame({OUTCOME: party, **columns, GROUP: educated})


def read_demo_predictions(frame: pd.DataFrame) -> Predictions | ClassPredictions:
    """Read the rows of the demonstration as predictions, with their source."""
    predictions = read_predictions(
        frame, outcome=OUTCOME, forecasts=FORECASTS, classes=CLASSES, ordered=True, groups=GROUP
    )
    return replace(predictions, source=SOURCE)


@cache
def choose_checkpoint() -> Selection:
    """Choose the number of iterations of the multinomial model, on respondents not used for fitting."""
    import pandas as pd

    parts = _read_parts()
    party = np.array(CLASSES)[parts.party[parts.choose]]
    frames = []
    for steps in _ITERATIONS:
        table = pd.DataFrame(_fit_multinomial(parts, steps, parts.choose), columns=list(CLASSES))
        frames.append(table.assign(iteration=steps, **{OUTCOME: party}))
    return select(
        pd.concat(frames, ignore_index=True),
        checkpoint="iteration",
        outcome=OUTCOME,
        forecasts=list(CLASSES),
        classes=CLASSES,
        score="penalized_brier",
        patience=_PATIENCE,
    )


def _read_parts() -> _Parts:
    import statsmodels.api as sm

    data = sm.datasets.anes96.load_pandas().data
    order = np.random.default_rng(_SEED).permutation(len(data))
    train, choose, test = np.split(order, [_TRAINED, _TRAINED + _CHOSEN_ON])
    features = data[_FEATURES]
    scaled = (features - features.iloc[train].mean()) / features.iloc[train].std()
    scaled["educ"] = features["educ"]  # not scaled, because the groups are formed by its original steps
    return _Parts(scaled, data["PID"].to_numpy(dtype=np.int64), train, choose, np.sort(test))


def _fit_multinomial(parts: _Parts, steps: int, rows: IntArray) -> FloatArray:
    """Return the probabilities of some respondents after a number of steps of the optimiser."""
    import statsmodels.api as sm
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    features = sm.add_constant(parts.features)
    model = sm.MNLogit(parts.party[parts.train], features.iloc[parts.train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit is stopped early on purpose
        fitted = model.fit(method="bfgs", maxiter=steps, disp=0)
    return np.asarray(fitted.predict(features.iloc[rows]))
