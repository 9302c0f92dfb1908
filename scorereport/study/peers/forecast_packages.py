"""Comparisons with the package scores and with the decision curves of dcurves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import curves, inference, scores
from scorereport.reliability.fit import corp
from scorereport.study.defect_demonstrations import REFUSED, Demonstration
from scorereport.study.peers import peer_samples as rules
from scorereport.study.peers.peer_checks import RATIO_NOTE, RATIO_TOLERANCE, Check, Deviation
from scorereport.study.peers.peer_samples import FEWER_CASES

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.study.peers.peer_samples import PeerSample

#: Number of cases where tables of rows times thresholds, or loops over thresholds, make a peer slow.
_SLOW_CASES = 44
_NOT_TREATED = (
    "It moves forecasts of 0 below 0, and therefore does not treat them at threshold 0; we treat p >= 0."
)


# scores


def scores_checks() -> tuple[Check, ...]:
    """Checks of all numbers that scores defines as we do."""
    return (*_mean_checks(), *_curve_checks())


def _mean_checks() -> tuple[Check, ...]:
    from scores.probability import brier_score, roc_auc
    from scores.stats.statistical_tests import diebold_mariano

    def statistic(sample: PeerSample) -> float:
        table = _series(sample.loss_differences)
        return float(diebold_mariano(table, "series", "h", method="HLN")["dm_test_stat"].item())

    return (
        Check(
            "mean Brier score",
            lambda s: scores.brier(s.y, s.p).mean(),
            lambda s: brier_score(_array(s.p), _array(s.y)).item(),
        ),
        Check(
            "weighted mean Brier score",
            lambda s: s.weighted_fit.decompose("brier").score,
            lambda s: brier_score(_array(s.p), _array(s.y), weights=_array(s.weight)).item(),
            most_cases=FEWER_CASES,
        ),
        Check("AUC", lambda s: scores.roc_auc(s.y, s.p), lambda s: roc_auc(_array(s.p), _array(s.y)).item()),
        Check(
            "weighted AUC",
            lambda s: scores.roc_auc(s.y, s.p, sample_weight=s.weight),
            lambda s: roc_auc(_array(s.p), _array(s.y), weights=_array(s.weight)).item(),
            most_cases=FEWER_CASES,
        ),
        Check(
            "Diebold-Mariano statistic",
            lambda s: inference.score_difference(s.y, s.p, s.other).statistic,
            statistic,
            most_cases=FEWER_CASES,
            tolerance=RATIO_TOLERANCE,
            note=f"Harvey, Leybourne and Newbold's, one step ahead. {RATIO_NOTE}",
        ),
    )


def _curve_checks() -> tuple[Check, ...]:
    from scores.continuous import murphy_score
    from scores.processing import isotonic_fit

    def recalibrated(sample: PeerSample, weight: FloatArray | None = None) -> Any:
        return isotonic_fit(sample.p, sample.y, weight=weight)["regression_values"]

    def murphy(sample: PeerSample) -> Any:
        forecasts, outcomes = _array(sample.p), _array(sample.y)
        table = murphy_score(forecasts, outcomes, sample.thresholds, functional="expectile", alpha=0.5)
        return 4 * table["total"].to_numpy()

    return (
        Check(
            "recalibrated probabilities",
            lambda s: s.fit.recalibrate(np.unique(s.p)),
            recalibrated,
            note="Its isotonic regression is scipy's, which our engine calls too.",
        ),
        Check(
            "weighted recalibrated probabilities",
            lambda s: s.weighted_fit.recalibrate(np.unique(s.p)),
            lambda s: recalibrated(s, s.weight),
            note="Its isotonic regression is scipy's, which our engine calls too.",
        ),
        Check(
            "Murphy curve",
            lambda s: curves.murphy_curves(s.fit).score.limits(s.thresholds)[2],
            murphy,
            unless=(rules.LARGE,),
            note="Its score is a quarter of ours, and at a forecast the limit from the right.",
            most_cases=_SLOW_CASES,
        ),
    )


def _array(values: FloatArray) -> Any:
    from xarray import DataArray

    return DataArray(values, dims=["row"])


def _series(values: FloatArray) -> Any:
    from xarray import DataArray

    return DataArray(values[None, :], dims=["series", "time"], coords={"series": [0], "h": ("series", [1])})


# dcurves


def dcurves_checks() -> tuple[Check, ...]:
    """Net benefit at thresholds, some of which are forecasts; its loops are slow."""
    options: dict[str, Any] = {"unless": (rules.ONE_CLASS, rules.LARGE), "most_cases": _SLOW_CASES}
    return (
        Check(
            "net benefit",
            lambda s: curves.decision_curve(s.fit, thresholds=s.thresholds).net_benefit,
            lambda s: _net_benefit(s.y, s.p, s.thresholds),
            note="At five thresholds and at forecasts themselves.",
            **options,
        ),
        Check(
            "net benefit of treating all",
            lambda s: curves.decision_curve(s.fit, thresholds=s.thresholds).treat_all,
            lambda s: _net_benefit(s.y, s.p, s.thresholds, "all"),
            **options,
        ),
        Check(
            "net benefit at threshold 0",
            lambda s: curves.decision_curve(s.fit, thresholds=[0.0]).net_benefit,
            lambda s: _net_benefit(s.y, s.p, np.zeros(1)),
            deviation=Deviation(
                only=rules.ZERO,
                imitate=lambda s: curves.decision_curve(s.fit, thresholds=[0.0]).beyond,
                reason=_NOT_TREATED,
            ),
            **options,
        ),
    )


def dcurves_demonstrations() -> tuple[Demonstration, ...]:
    """Demonstrations of dcurves with missing forecasts, and with forecasts of 0 at threshold 0."""
    y, p = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.9, math.nan, 0.2, 0.1])
    certain = np.array([0.9, 0.0, 0.2, 0.1])
    return (
        Demonstration(
            quantity="net benefit with a missing forecast",
            ours=lambda: curves.decision_curve(corp(y, p), thresholds=[0.5]).net_benefit[0],
            theirs=lambda: _net_benefit(y, p, np.array([0.5]))[0],
            right=REFUSED,
            wrong=0.25,
            reason="It silently treats a missing forecast as below every threshold; we refuse it.",
        ),
        Demonstration(
            quantity="net benefit at threshold 0 of an event forecast 0",
            ours=lambda: curves.decision_curve(corp(y, certain), thresholds=[0.0]).net_benefit[0],
            theirs=lambda: _net_benefit(y, certain, np.zeros(1))[0],
            right=0.5,
            wrong=0.25,
            reason=_NOT_TREATED,
        ),
    )


def _net_benefit(y: FloatArray, p: FloatArray, thresholds: FloatArray, model: str = "p") -> Any:
    import pandas as pd
    from dcurves import dca

    table = dca(pd.DataFrame({"y": y, "p": p}), "y", ["p"], thresholds=list(thresholds))
    return table.loc[table["model"] == model, "net_benefit"].to_numpy()
