"""Agreement with the R package seqcomp about evidence along a stream of cases."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.confidence_sequences import choose_rho, find_boundary, log_mixture
from scorereport.inference.model_set import adjust_pairs, merge_evidence
from scorereport.inference.score_bets import ScoreBet, difference_evidence
from scorereport.reliability.sampling import SamplingUnits
from validation.r_agreement.agreement import Agreement, NotComputed

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from validation.r_agreement.r_case import RCase


def _gains(case: RCase, first: str = "a", second: str = "b") -> FloatArray:
    """Differences of minus the Brier scores: positive where the first model is better."""
    y, one, other = (case.data(name) for name in ("y", first, second))
    return np.asarray((other - y) ** 2 - (one - y) ** 2)


class _Stream:
    """Sums and squared deviations of a stream of gains at the recorded rows."""

    def __init__(self, case: RCase) -> None:
        gains, self.at = _gains(case), case.data("at").astype(int)
        center = np.append(0.0, np.cumsum(gains)[:-1] / np.arange(1, len(gains)))
        self.total = np.cumsum(gains)[self.at - 1]
        self.spread = np.cumsum((gains - center) ** 2)[self.at - 1]
        self.rho = choose_rho(10, 0.025)
        #: seqcomp is wrong where c S + V + ρ is not positive.
        self.is_sound = -2 * self.total + self.spread + self.rho > 0


def _winning(case: RCase) -> FloatArray:
    stream = _Stream(case)
    return log_mixture(stream.total, stream.spread, scale=2, rho=stream.rho)


def _losing(case: RCase) -> FloatArray:
    """The evidence of the losing side, or that of seqcomp where it is wrong."""
    stream = _Stream(case)
    found = log_mixture(-stream.total, stream.spread, scale=2, rho=stream.rho)
    return np.where(stream.is_sound, found, log(np.finfo(float).eps))


def _interval(case: RCase) -> list[float]:
    stream = _Stream(case)
    half = find_boundary(stream.spread, 0.025, scale=2, rho=stream.rho) / stream.at
    mean = stream.total / stream.at
    return [*mean, *(mean - half), *(mean + half)]


def _hoeffding(case: RCase) -> list[float]:
    """The interval of a normal mixture for differences in [-1, 1], whose spread is the number of rows."""
    stream = _Stream(case)
    n, rho, alpha = stream.at.astype(np.float64), stream.rho, 0.025
    half = np.sqrt((n + rho) * np.log((n + rho) / (rho * alpha**2))) / n
    mean = stream.total / n
    return [*mean, *(mean - half), *(mean + half)]


def _fixed_bets(case: RCase, first: str, second: str) -> FloatArray:
    gains = _gains(case, first, second)
    bets = [ScoreBet(fraction=0.25, weight=1.0, name="fixed")]
    return np.array(
        [difference_evidence(gains[:n], SamplingUnits(rows=n), bets)[0] for n in case.data("at").astype(int)]
    )


def _remaining(case: RCase) -> FloatArray:
    """The adjusted evidence against each of three models; seqcomp cuts the evidence of a pair at 1e7."""
    pairs = np.array([[_fixed_bets(case, other, one) for other in "abc"] for one in "abc"])
    found = [adjust_pairs(np.minimum(pairs, log(1e7))[:, :, k]) for k in range(pairs.shape[2])]
    return np.exp(np.array(found))


def _sequence(name: str, *fields: str) -> tuple[str, ...]:
    return tuple(f"{name}/{field}" for field in fields)


def _with_evidence(logs: FloatArray, other: FloatArray) -> list[float]:
    return [*logs, *other, *np.exp(logs), *np.exp(other)]


_EVIDENCE = ("log_e_pq", "log_e_qp", "e_pq", "e_qp")
SEQUENCE_AGREEMENTS = (
    Agreement(
        group="sequential",
        package="seqcomp",
        places=_sequence("eprocess_c2_vopt10", "log_e_pq", "e_pq"),
        quantity="mixture e-process of the better model, and its logarithm",
        ours="`inference.confidence_sequences.log_mixture`",
        engine=lambda c: [*_winning(c), *np.exp(_winning(c))],
        tolerance=1e-8,
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=_sequence("eprocess_c2_vopt10", "log_e_qp", "e_qp"),
        quantity="mixture e-process of the other model, and its logarithm",
        ours="`inference.confidence_sequences.log_mixture`",
        engine=lambda c: [*_losing(c), *np.exp(_losing(c))],
        relation="equal where c S + V + ρ > 0; elsewhere seqcomp 0.3.0 has 2.2e-16, and ours is computed by "
        "quadrature",
        tolerance=1e-8,
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=_sequence("bernstein_c2", "estimate", "lower", "upper"),
        quantity="empirical-Bernstein confidence sequence",
        ours="`inference.confidence_sequences.find_boundary`",
        engine=_interval,
        tolerance=1e-7,
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=_sequence("betting_fixed", *_EVIDENCE),
        quantity="evidence of a fixed bet",
        ours="`inference.score_bets.difference_evidence`",
        engine=lambda c: _with_evidence(_fixed_bets(c, "a", "b"), _fixed_bets(c, "b", "a")),
        tolerance=1e-8,
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=("model_confidence_set/evidence",),
        quantity="adjusted evidence against each of three models",
        ours="`inference.score_bets.adjust_pairs`",
        engine=_remaining,
        tolerance=1e-7,
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=("model_confidence_set/still_in",),
        quantity="models that remain at level 95 %",
        ours="`inference.score_bets.adjust_pairs`",
        engine=lambda c: np.maximum.accumulate(_remaining(c), axis=0) < 20,
        answer=lambda rows: [list(row.values()) for row in rows],
    ),
    Agreement(
        group="sequential",
        package="seqcomp",
        places=("merge_of_evidence/merged",),
        quantity="merged evidence of several models",
        ours="`inference.score_bets.merge_evidence`",
        engine=lambda c: np.exp(merge_evidence(np.log(c.at("merge_of_evidence/given")))),
    ),
    NotComputed(
        group="sequential",
        package="seqcomp",
        places=_sequence("hoeffding_c1", "estimate", "lower", "upper"),
        quantity="Hoeffding confidence sequence",
        reason="wider than the empirical-Bernstein one for scores, which we have; the formula is confirmed",
        plain=_hoeffding,
        tolerance=1e-11,
    ),
    NotComputed(
        group="sequential",
        package="seqcomp",
        places=_sequence("asymptotic", "estimate", "lower", "upper"),
        quantity="asymptotic confidence sequence",
        reason="it holds for many rows only; ours holds at every number",
    ),
    NotComputed(
        group="sequential",
        package="seqcomp",
        places=_sequence("betting_agrapa", *_EVIDENCE, "lambda"),
        quantity="evidence of bets that change after every row",
        reason="ours change between audits only, so that the order of the rows of an audit does not matter",
    ),
    NotComputed(
        group="sequential",
        package="data",
        places=(
            *("y", "a", "b", "c", "at", "note", "merge_of_evidence/given"),
            *(
                f"{name}/t"
                for name in (
                    "eprocess_c2_vopt10",
                    "bernstein_c2",
                    "hoeffding_c1",
                    "asymptotic",
                    "betting_fixed",
                    "betting_agrapa",
                )
            ),
        ),
        quantity="the stream and the rows at which it is examined",
        reason="inputs",
        is_input=True,
    ),
)
