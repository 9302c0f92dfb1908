"""Agreement with R packages about scores, curves and rates of binary forecasts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import curves, inference
from scorereport.inference.rare_cases import exact_share
from scorereport.reliability.band_bounds import honest_bounds
from validation.r_agreement import formulas
from validation.r_agreement.agreement import Agreement, NotComputed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Difference
    from validation.r_agreement.r_case import RCase

_GROUP = "binary"
#: The rate whose intervals were recorded is among cases with p > 0.3; ours is among p ≥ a threshold.
_THRESHOLD = float(np.nextafter(0.3, 1))
_LAGS, _LEVEL = 5, 0.95


def _decomposed(case: RCase, score: str) -> list[float]:
    """Mean, MCB, DSC and UNC of the first model, and of the second."""
    parts = [fit.decompose(score) for fit in case.fits]
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    return [getattr(part, name) for name in names for part in parts]


def _decisions(case: RCase, name: str) -> list[float]:
    """Of treating all and of both models, at each threshold."""
    thresholds = sorted(set(case.at("dcurves/threshold")))
    found = [curves.decision_curve(fit, thresholds=thresholds) for fit in case.fits]
    if name == "net_benefit":
        return [*found[0].treat_all, *found[0].net_benefit, *found[1].net_benefit]
    return [0.0] * len(thresholds) + [each / 100 for one in found for each in one.interventions_avoided]


def _at_distinct(case: RCase) -> tuple[Any, Any, Any]:
    """Distinct forecasts between 0 and 1, and our honest bounds at them before cells are pooled."""
    cells = case.fits[0].distinct
    lower, upper = honest_bounds(cells, _LEVEL)
    return cells.x_min, lower, upper


def _extended(case: RCase) -> list[float]:
    x, lower, upper = _at_distinct(case)
    return [0.0, *x, 1.0, 0.0, *lower, lower[-1], upper[0], *upper, 1.0]


def _difference(case: RCase) -> Difference:
    return inference.score_difference(case.y, case.a, case.b, time=np.arange(len(case.y)), lags=_LAGS)


def _newey_west(case: RCase, *, corrected: bool) -> float:
    n = len(case.y)
    error = formulas.newey_west((case.a - case.y) ** 2 - (case.b - case.y) ** 2, _LAGS)
    return error * (n / (n - 1)) ** 0.5 if corrected else error


def _rate(case: RCase) -> Sequence[float]:
    (row,) = inference.threshold_intervals(case.fits[0], thresholds=[_THRESHOLD], level=_LEVEL)
    found = row.interval("positive_predictive_value")
    return [np.nan, np.nan] if found is None else [found.lower, found.upper]


def _flagged(case: RCase) -> list[float]:
    (row,) = curves.threshold_table(case.fits[0], thresholds=[_THRESHOLD])
    flagged = len(case.y) * row.flagged
    return [flagged * row.positive_predictive_value, flagged]


SCORE_AGREEMENTS = (
    Agreement(
        group=_GROUP,
        package="dcurves",
        places=("dcurves/net_benefit",),
        quantity="net benefit of both models and of treating all",
        ours="`curves.decision_curve`",
        engine=lambda c: _decisions(c, "net_benefit"),
    ),
    Agreement(
        group=_GROUP,
        package="dcurves",
        places=("dcurves/net_intervention_avoided",),
        quantity="net interventions avoided",
        ours="`curves.decision_curve`: `interventions_avoided`",
        engine=lambda c: _decisions(c, "interventions_avoided"),
        relation="equal, theirs per case and ours per 100 cases",
    ),
    NotComputed(
        group=_GROUP,
        package="dcurves",
        places=("dcurves/variable", "dcurves/threshold"),
        quantity="labels and thresholds of rows",
        reason="inputs",
        is_input=True,
    ),
    *(
        Agreement(
            group=_GROUP,
            package="triptych",
            places=tuple(f"triptych/{score}/{name}" for name in ("mean_score", "MCB", "DSC", "UNC")),
            quantity=f"mean, MCB, DSC and UNC of the {score.capitalize()} score",
            ours=f'`corp(...).decompose("{score}")`',
            engine=partial(_decomposed, score=score),
        )
        for score in ("brier", "log")
    ),
    NotComputed(
        group=_GROUP,
        package="triptych",
        places=("triptych/brier/forecast", "triptych/log/forecast"),
        quantity="labels of rows",
        reason="inputs",
        is_input=True,
    ),
    Agreement(
        group=_GROUP,
        package="calibrationband",
        places=("honest_band_95/x", "honest_band_95/lower", "honest_band_95/upper"),
        quantity="honest band of level 95 %",
        ours='`corp(...).band(kind="confidence", coverage="simultaneous")`',
        engine=_extended,
        relation="equal before pooling; ours first pools neighbouring forecasts into at most "
        "6 n^(1/3) cells, so that fewer runs share the error",
        tolerance=1e-9,
    ),
    Agreement(
        group=_GROUP,
        package="sandwich",
        places=("newey_west_lag5/mean",),
        quantity="mean difference of Brier scores",
        ours="`inference.score_difference`",
        engine=lambda c: _difference(c).value,
    ),
    Agreement(
        group=_GROUP,
        package="sandwich",
        places=("newey_west_lag5/se",),
        quantity="Newey and West's error of the mean difference of Brier scores, 5 lags",
        ours="`inference.score_difference(lags=5)`",
        engine=lambda c: _difference(c).standard_error,
        relation="ours is theirs times √(n / (n − 1)), as with `adjust = TRUE`",
        theirs=lambda c: _newey_west(c, corrected=False),
        plain=lambda c: _newey_west(c, corrected=True),
    ),
    Agreement(
        group=_GROUP,
        package="PropCIs",
        places=("wilson/events", "wilson/n"),
        quantity="events among cases with p > 0.3, and these cases",
        ours="`curves.threshold_table`",
        engine=_flagged,
    ),
    Agreement(
        group=_GROUP,
        package="PropCIs",
        places=("wilson/wilson",),
        quantity="Wilson's interval of the positive predictive value",
        ours="`inference.threshold_intervals`",
        engine=_rate,
    ),
    Agreement(
        group=_GROUP,
        package="PropCIs",
        places=("wilson/exact",),
        quantity="exact interval of a rate (Clopper and Pearson)",
        ours="`inference.rare_cases.exact_share`, used where cases are rare",
        engine=lambda c: exact_share(c.at("wilson/events") / c.at("wilson/n"), c.at("wilson/n"), _LEVEL),
    ),
    NotComputed(
        group=_GROUP,
        package="linear decomposition tests",
        places=tuple(
            f"linear_decomposition_tests/printed/{kind}nulltest_X{k}/{kind}"
            for k in (1, 2)
            for kind in ("mcb", "dsc")
        ),
        quantity="MCB and DSC by a straight line",
        reason="our MCB and DSC are isotonic; the formula is confirmed: least squares of y on p",
        plain=lambda c: [part for p in (c.a, c.b) for part in formulas.linear_parts(c.y, p)],
    ),
    NotComputed(
        group=_GROUP,
        package="linear decomposition tests",
        places=tuple(
            f"linear_decomposition_tests/printed/{test}"
            for test in (
                *(
                    f"mcbnulltest_X{k}/{n}"
                    for k in (1, 2)
                    for n in ("mcb_var", "mcb_pval", "mz_pval", "F_pval")
                ),
                *(
                    f"dscnulltest_X{k}/{n}"
                    for k in (1, 2)
                    for n in ("dsc_var", "dsc_pval", "f_pval", "wald_pval")
                ),
                *(f"dm/{n}" for n in ("dm_asy_var", "dm_stat", "dm_pval")),
            )
        ),
        quantity="variances and p-values of MCB and DSC by a straight line",
        reason="not usable: some p-values are negative, and the comparison of the two models is empty",
    ),
    NotComputed(
        group=_GROUP,
        package="rms",
        places=("rms_val_prob/D:p",),
        quantity="p-value of D",
        reason="not available there (NA)",
    ),
    NotComputed(
        group=_GROUP,
        package="data",
        places=("data/y", "data/a", "data/b", "data/cluster", "data/weight"),
        quantity="outcomes, forecasts, clusters and weights",
        reason="inputs",
        is_input=True,
    ),
)
