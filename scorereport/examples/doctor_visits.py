"""Example of a binary outcome: visits to a doctor in the RAND health insurance experiment.

The data are included in statsmodels (20,190 person-years; Newhouse, 1993). The models are fitted by
statsmodels on two thirds of the rows and evaluated on the rest.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from scorereport.data.reader import read_predictions

if TYPE_CHECKING:
    import pandas as pd

    from scorereport.data.predictions import ClassPredictions, Predictions

#: Configuration of the report: limits, and facts that are not in the data.
CONFIGURATION = Path(__file__).with_name("doctor_visits.toml")
REPORT_NAME = "demo-report"

OUTCOME = "any_visit"
FORECASTS = ("logit", "poisson", "overconfident")
GROUP = "plan"
SETTINGS = {"cost_interval": (0.5, 0.8), "scale": True}
SOURCE = "RAND health insurance experiment, held-out rows"
_SEED = 20190
_OVERCONFIDENCE = 2.0


def make_demo_predictions() -> pd.DataFrame:
    """Return held-out rows with outcome, three forecasts and insurance plan.

    `logit` is a logistic regression; `poisson` a Poisson regression of the number of visits, whose
    probability of at least one visit is too high; `overconfident` doubles the log-odds of `logit`.
    """
    import pandas as pd
    import statsmodels.api as sm

    data = sm.datasets.randhie.load_pandas().data
    visits, features = data["mdvis"], sm.add_constant(data.drop(columns="mdvis"))
    order = np.random.default_rng(_SEED).permutation(len(data))
    train, test = np.split(order, [2 * len(data) // 3])
    test.sort()
    any_visit = (visits > 0).astype(int)
    logistic = sm.Logit(any_visit.iloc[train], features.iloc[train]).fit(disp=0)
    poisson = sm.Poisson(visits.iloc[train], features.iloc[train]).fit(disp=0)
    held_out = features.iloc[test]
    probability = logistic.predict(held_out)
    return pd.DataFrame(
        {
            OUTCOME: any_visit.iloc[test],
            "logit": probability,
            "poisson": 1 - np.exp(-poisson.predict(held_out)),
            "overconfident": expit(_OVERCONFIDENCE * logit(probability)),
            GROUP: np.where(held_out["lncoins"] == 0, "free care", "cost sharing"),
        }
    )


def read_demo_predictions(frame: pd.DataFrame) -> Predictions | ClassPredictions:
    """Read the rows of the demonstration as predictions, with their source."""
    predictions = read_predictions(frame, outcome=OUTCOME, forecasts=FORECASTS, groups=GROUP)
    return replace(predictions, source=SOURCE)


def choose_checkpoint() -> None:
    """Return None: this example has no checkpoints to choose among."""
