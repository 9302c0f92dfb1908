"""Comparisons with the decompositions of model-diagnostics and the bounded scores of briertools.

Both packages use the isotonic regression of scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import curves, scores
from scorereport.study.defect_demonstrations import REFUSED, Demonstration
from scorereport.study.peers import peer_samples as rules
from scorereport.study.peers.peer_checks import Check, Deviation
from scorereport.study.peers.peer_samples import INTERVAL
from scorereport.study.peers.scikit_learn import (
    MERGES_SINGLE,
    SINGLE_NOTE,
    SINGLE_TOLERANCE,
    merged,
    recalibrate_merged,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.reliability.decomposition import Decomposition
    from scorereport.study.peers.peer_samples import PeerSample

LOWER, UPPER = INTERVAL
_BUILT_ON = "Its isotonic regression is that of scikit-learn."
_SPLIT_NOTE = f"It refuses forecasts not positively correlated. {_BUILT_ON}"


# model-diagnostics


def model_diagnostics_checks() -> tuple[Check, ...]:
    """Decompositions, and the elementary score, which is the regret of decisions p >= θ."""
    from model_diagnostics import scoring

    def decomposed(sample: PeerSample, function: Any, forecasts: Any, weight: Any = None) -> Any:
        table = scoring.decompose(sample.y, forecasts, weight, scoring_function=function)
        return table.select("miscalibration", "discrimination", "uncertainty", "score").row(0)

    squared, log = scoring.SquaredError(), scoring.LogLoss()
    return (
        Check(
            "MCB, DSC, UNC of the Brier score",
            lambda s: _parts(s.fit.decompose("brier")),
            lambda s: decomposed(s, squared, s.p),
            note=_BUILT_ON,
            deviation=merged(lambda s: _parts_of_merged(s, s.p, "brier")),
        ),
        Check(
            "weighted MCB, DSC, UNC of the Brier score",
            lambda s: _parts(s.weighted_fit.decompose("brier")),
            lambda s: decomposed(s, squared, s.p, s.weight),
            unless=(rules.CLOSE,),
            note=_BUILT_ON,
        ),
        Check(
            "MCB, DSC, UNC of the log score",
            lambda s: _parts(s.fit.decompose("log")),
            lambda s: decomposed(s, log, s.p),
            note=_BUILT_ON,
            deviation=merged(lambda s: _parts_of_merged(s, s.p, "log")),
        ),
        Check(
            "MCB, DSC, UNC of the Brier score",
            lambda s: _parts(s.fit.decompose("brier")),
            lambda s: decomposed(s, squared, s.case.y_prob),
            unless=(rules.DOUBLE,),
            tolerance=SINGLE_TOLERANCE,
            deviation=Deviation(
                only=rules.SINGLE,
                imitate=lambda s: _parts_of_merged(s, s.case.y_prob, "brier"),
                reason=f"{MERGES_SINGLE} {SINGLE_NOTE}",
            ),
        ),
        Check(
            "mean regret, half the elementary score",
            lambda s: [scores.regret(s.y, s.p, cost=t).mean() for t in s.thresholds],
            lambda s: [scoring.ElementaryScore(eta=t)(s.y, s.p) for t in s.thresholds],
            note="At five thresholds and at forecasts themselves.",
        ),
    )


def model_diagnostics_demonstrations() -> tuple[Demonstration, ...]:
    """Demonstrations of invalid input that model-diagnostics accepts."""
    from model_diagnostics import scoring

    return (
        Demonstration(
            quantity="log score of a probability of 1.5",
            ours=lambda: scores.log_loss([1.0], [1.5]).mean(),
            theirs=lambda: scoring.LogLoss()([1.0], [1.5]),
            right=REFUSED,
            wrong=-float(np.log(1.5)),
            reason="It scores a number that is not a probability, here below the perfect score 0; we "
            "refuse it.",
        ),
    )


def _parts(d: Decomposition) -> tuple[float, ...]:
    return d.miscalibration, d.discrimination, d.uncertainty, d.score


def _parts_of_merged(sample: PeerSample, forecasts: NDArray[Any], score: str) -> tuple[float, ...]:
    """The decomposition with forecasts that are recalibrated after merging."""
    plain, recalibrated = sample.fit.decompose(score), recalibrate_merged(sample, forecasts)
    function = {"brier": scores.brier, "log": scores.log_loss}[score]
    mean = np.nan if np.isnan(recalibrated).any() else float(function(sample.y, recalibrated).mean())
    return plain.score - mean, plain.reference - mean, plain.reference, plain.score


# briertools


def briertools_checks() -> tuple[Check, ...]:
    """Bounded scores as differences, not divided by their interval, and the two-part split."""
    from briertools import BrierScorer, LogLossScorer

    brier, log = BrierScorer(), LogLossScorer()
    bounds: dict[str, Any] = {"lower": LOWER, "upper": UPPER, "scale": "difference"}
    return (
        Check("mean Brier score", lambda s: scores.brier(s.y, s.p).mean(), lambda s: brier.score(s.y, s.p)),
        Check(
            "mean log score",
            lambda s: scores.log_loss(s.y, s.p).mean(),
            lambda s: log.score(s.y, s.p),
            deviation=Deviation(
                only=rules.UNLIKELY_EVENTS,
                imitate=lambda s: scores.log_loss(s.y, np.where(s.y == 1, 1 - (1 - s.p), s.p)).mean(),
                reason="It takes the logarithm of 1 - (1 - p), which loses the last digits of a small p.",
            ),
        ),
        Check(
            f"bounded Brier difference on {INTERVAL}",
            lambda s: scores.bounded_brier(s.y, s.p, **bounds).mean(),
            lambda s: brier.score(s.y, s.p, INTERVAL),
        ),
        Check(
            f"bounded log difference on {INTERVAL}",
            lambda s: scores.bounded_log_loss(s.y, s.p, **bounds).mean(),
            lambda s: log.score(s.y, s.p, INTERVAL),
        ),
        Check(
            "regret curve",
            lambda s: curves.regret_curve(s.fit).at(s.thresholds),
            lambda s: brier._get_regret(s.y, s.p, s.thresholds),
            note="At five thresholds and at forecasts themselves.",
        ),
        Check(
            f"MCB and recalibrated score, bounded Brier difference on {INTERVAL}",
            lambda s: _two_parts(s.fit.decompose("bounded_brier", **bounds)),
            lambda s: brier._partition_loss(s.y, s.p, brier.score, INTERVAL),
            unless=(rules.NOT_CORRELATED, rules.CLOSE),
            note=_SPLIT_NOTE,
        ),
        Check(
            f"MCB and recalibrated score, bounded log difference on {INTERVAL}",
            lambda s: _two_parts(s.fit.decompose("bounded_log_loss", **bounds)),
            lambda s: log._partition_loss(s.y, s.p, log.score, INTERVAL),
            unless=(rules.NOT_CORRELATED, rules.CLOSE),
            note=_SPLIT_NOTE,
        ),
    )


def briertools_demonstrations() -> tuple[Demonstration, ...]:
    """Demonstrations of the net benefit of briertools."""
    from briertools import DCAScorer

    y, p = [0.0, 1.0, 1.0], [0.3, 0.2, 0.9]
    by_hand = ((0.2 - float(np.log(0.9 / 0.7))) / 0.3 + 0.1 / 0.3 + 1) / 3
    return (
        Demonstration(
            quantity="net benefit of DCAScorer",
            ours=lambda: scores.bounded_net_benefit(y, p, lower=LOWER, upper=UPPER).mean(),
            theirs=lambda: DCAScorer().score(y, p, INTERVAL),
            right=by_hand,
            wrong=0.12,
            reason="Its score, labelled net benefit in its legend, is the bounded Brier difference.",
        ),
    )


def _two_parts(d: Decomposition) -> tuple[float, float]:
    return d.miscalibration, d.recalibrated
