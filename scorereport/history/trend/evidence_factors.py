"""Factors of an audit: its evidence against each hypothesis, with bets that earlier audits determine.

Bets are fixed before the outcomes of an audit are read: they are functions of what the records of earlier
periods contain (outcomes in bins of forecasts, sums of scores), so that anyone can compute them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from scorereport._utils.arrays import FloatArray
from scorereport.history.trend.evidence_records import (
    BetResult,
    EvidenceFactor,
    OutcomeDigest,
    ScoreMoments,
)
from scorereport.inference.baseline_bands import BaselineBand
from scorereport.inference.baseline_bets import MEAN_SHARE, bet_on_mean, fit_baseline_bets
from scorereport.inference.calibration_bets import (
    BinnedOutcomes,
    calibration_evidence,
    combine_evidence,
    fit_calibration_bets,
    tolerance_bounds,
)
from scorereport.inference.panel import PanelRows
from scorereport.inference.score_bets import (
    ScoreSums,
    difference_evidence,
    fit_difference_bets,
    fit_score_bets,
    score_evidence,
    sum_scores,
)
from scorereport.results.tallies import EDGES, find_bins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.trend.evidence_records import AuditEvidence, Hypothesis
    from scorereport.inference.calibration_bets import CalibrationBet
    from scorereport.reliability.sampling import SamplingUnits

#: Models are compared with each other if there are at most this many; pairs grow with the square.
MOST_COMPARED = 8
#: Log-odds in the middle of each bin of forecasts; the first and the last bin are as wide as the others.
_STEP = float(logit(EDGES[1]) - logit(EDGES[0]))
_MIDDLES = np.concatenate([logit(EDGES) - _STEP / 2, [float(logit(EDGES[-1])) + _STEP / 2]])

#: Smallest and largest conditional probability that a hypothesis allows, by forecast.
Bounds = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLimit:
    """A limit on the mean of a score of a model, with the score's largest value."""

    model: str
    measure: str
    bound: float
    is_upper: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreValues:
    """A bounded score of each row by model, divided by its largest value `upper`."""

    measure: str
    upper: float
    by_model: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedRows:
    """Rows of an audit that give evidence, all or a part, with their bounded scores.

    `labels` are those of classes. Models are compared by the score `compared`.
    """

    panel: PanelRows
    labels: tuple[str, ...] = ()
    scores: tuple[ScoreValues, ...] = ()
    compared: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hypotheses:
    """What evidence is computed against: a tolerance of calibration, limits, and bands of a baseline.

    `bands` are those of the baseline by model and class label; `means` are bounds of the mean outcome of the
    audit that follow from a band and the forecasts of the audit.
    """

    tolerance: float
    limits: tuple[ScoreLimit, ...] = ()
    bands: Mapping[tuple[str, str], BaselineBand] = field(default_factory=dict)
    means: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)


def digest_outcomes(panel: PanelRows, labels: Sequence[str] = ()) -> tuple[OutcomeDigest, ...]:
    """Return the outcomes of each model in bins of its forecasts, and of each class if there are several."""
    return tuple(
        _digest(model, label, forecast, outcome, panel.units)
        for model in panel.forecasts
        for label, forecast, outcome in list_views(panel, labels, model)
    )


def list_views(
    panel: PanelRows, labels: Sequence[str], model: str
) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield label, forecast and outcome of the event, or of each class against the others."""
    forecast = panel.forecasts[model]
    if not labels:
        yield "", forecast, panel.outcome.astype(np.float64)
    for place, label in enumerate(labels):
        yield label, forecast[:, place], (panel.outcome == place).astype(np.float64)


def _digest(
    model: str, label: str, forecast: FloatArray, outcome: FloatArray, units: SamplingUnits
) -> OutcomeDigest:
    place, weight = find_bins(forecast), units.row_weight / units.case_weight
    weights = np.bincount(place, weights=weight)
    events = np.bincount(place, weights=weight * outcome)
    held = np.flatnonzero(weights)
    return OutcomeDigest(
        model=model,
        label=label,
        bins=tuple(held.tolist()),
        weights=tuple(weights[held].tolist()),
        events=tuple(events[held].tolist()),
    )


def sum_moments(rows: CountedRows) -> tuple[ScoreMoments, ...]:
    """Return the sums of each bounded score of each model, and of the differences of models."""
    units = rows.panel.units
    own = [
        _take_moments(sum_scores(values, units), score, model)
        for score in rows.scores
        for model, values in score.by_model.items()
    ]
    pairs = [
        _take_moments(sum_scores(score.by_model[one] - score.by_model[other], units), score, one, other)
        for score in rows.scores
        if score.measure == rows.compared
        for one, other in list_pairs(tuple(score.by_model))
        if one < other  # the differences of the pair in the other order are the negative ones
    ]
    return (*own, *pairs)


def list_pairs(models: Sequence[str]) -> list[tuple[str, str]]:
    """List all ordered pairs of models; none if there are too many models to compare each with each."""
    return list(permutations(models, 2)) if len(models) <= MOST_COMPARED else []


def _take_moments(sums: ScoreSums, score: ScoreValues, model: str, other: str = "") -> ScoreMoments:
    return ScoreMoments(
        model=model,
        other=other,
        measure=score.measure,
        upper=score.upper,
        count=sums.count,
        count_squares=sums.count_squares,
        total=sums.total,
        total_squares=sums.total_squares,
        squares=sums.squares,
    )


def read_sums(moments: ScoreMoments) -> ScoreSums:
    """Return the sums that kernels take."""
    return ScoreSums(
        count=moments.count,
        count_squares=moments.count_squares,
        total=moments.total,
        total_squares=moments.total_squares,
        squares=moments.squares,
    )


def find_factors(
    rows: CountedRows, hypotheses: Hypotheses, earlier: Sequence[AuditEvidence]
) -> tuple[EvidenceFactor, ...]:
    """Return the evidence of the rows against each hypothesis.

    `earlier` is the evidence of the audits that bets are fitted on, oldest first.
    """
    return (
        *_find_calibration_factors(rows, hypotheses, earlier),
        *_find_limit_factors(rows, hypotheses.limits, earlier),
        *_find_difference_factors(rows, earlier),
    )


def fit_bets(
    earlier: Sequence[AuditEvidence], model: str, label: str, hypothesis: Hypothesis
) -> tuple[CalibrationBet, ...]:
    """Fit the bets on calibration, or on the curve of a baseline, to the outcomes of earlier audits."""
    digests = [
        digest
        for audit in earlier
        for digest in audit.digests
        if (digest.model, digest.label) == (model, label)
    ]
    fit = fit_baseline_bets if hypothesis == "baseline" else fit_calibration_bets
    return fit([_read_digest(digest) for digest in digests])


def _read_digest(digest: OutcomeDigest) -> BinnedOutcomes:
    return BinnedOutcomes(
        log_odds=_MIDDLES[list(digest.bins)],
        weights=np.array(digest.weights),
        events=np.array(digest.events),
    )


def find_sums(earlier: Sequence[AuditEvidence], model: str, measure: str, other: str = "") -> list[ScoreSums]:
    """Return the sums of a score, or of a difference, of each earlier audit that has them."""
    is_reversed = bool(other) and model > other
    pair = (other, model) if is_reversed else (model, other)
    found = [
        read_sums(moments)
        for audit in earlier
        for moments in audit.moments
        if moments.model == pair[0] and moments.other == pair[1] and moments.measure == measure
    ]
    if not is_reversed:
        return found
    return [sums.negative for sums in found]


def _find_calibration_factors(
    rows: CountedRows, hypotheses: Hypotheses, earlier: Sequence[AuditEvidence]
) -> Iterator[EvidenceFactor]:
    def tolerate(forecast: FloatArray) -> tuple[FloatArray, FloatArray]:
        return tolerance_bounds(forecast, hypotheses.tolerance)

    labels = rows.labels or ("",)
    for model in rows.panel.forecasts:
        bounds = dict.fromkeys(labels, tolerate)
        results = _bet_on_curves(rows, model, bounds, earlier, "calibration")
        yield _mix_factor(model, "calibration", hypotheses.tolerance, results)
        bands = {
            label: hypotheses.bands[model, label] for label in labels if (model, label) in hypotheses.bands
        }
        if len(bands) == len(labels):
            results = _bet_against_baseline(rows, model, bands, hypotheses.means, earlier)
            yield _mix_factor(model, "baseline", 0.0, results)


def _mix_factor(
    model: str, hypothesis: Hypothesis, bound: float, results: Sequence[BetResult]
) -> EvidenceFactor:
    return EvidenceFactor(
        model=model,
        hypothesis=hypothesis,
        bound=bound,
        bets=tuple(results),
        log_factor=mix_bets(results),
    )


def _bet_on_curves(
    rows: CountedRows,
    model: str,
    bounds: Mapping[str, Bounds],
    earlier: Sequence[AuditEvidence],
    hypothesis: Hypothesis,
) -> list[BetResult]:
    """Return the bets against bounds of the conditional probability; classes have equal weights."""
    results = []
    for label, forecast, outcome in list_views(rows.panel, rows.labels, model):
        bets = fit_bets(earlier, model, label, hypothesis)
        lower, upper = bounds[label](forecast)
        logs = calibration_evidence(forecast, outcome, rows.panel.units, bets, lower, upper)
        results += [
            BetResult(
                name=bet.name,
                label=label,
                parameters=bet.parameters,
                weight=bet.weight / len(bounds),
                log_evidence=float(log),
            )
            for bet, log in zip(bets, logs, strict=True)
        ]
    return results


def _bet_against_baseline(
    rows: CountedRows,
    model: str,
    bands: Mapping[str, BaselineBand],
    mean_bounds: Mapping[tuple[str, str], tuple[float, float]],
    earlier: Sequence[AuditEvidence],
) -> list[BetResult]:
    """Return the bets against the curve of a baseline, and those on the mean outcome that it allows."""
    bounds = {label: band.bounds for label, band in bands.items()}
    curves = _bet_on_curves(rows, model, bounds, earlier, "baseline")
    means = [
        BetResult(
            name=bet.name,
            label=label,
            parameters=(bet.bound, bet.fraction),
            weight=MEAN_SHARE * bet.weight / len(bands),
            log_evidence=bet.log_evidence,
        )
        for label, _, outcome in list_views(rows.panel, rows.labels, model)
        for bet in bet_on_mean(outcome, rows.panel.units, *mean_bounds[model, label])
    ]
    return [*(replace(bet, weight=(1 - MEAN_SHARE) * bet.weight) for bet in curves), *means]


def mix_bets(bets: Sequence[BetResult]) -> float:
    """Return the logarithm of the weighted mean of the bets."""
    return combine_evidence(
        np.array([bet.log_evidence for bet in bets]), np.array([bet.weight for bet in bets])
    )


def _find_limit_factors(
    rows: CountedRows, limits: Sequence[ScoreLimit], earlier: Sequence[AuditEvidence]
) -> Iterator[EvidenceFactor]:
    known = {score.measure: score for score in rows.scores}
    for limit in limits:
        score = known.get(limit.measure)
        if score is None or limit.model not in score.by_model or not 0 < limit.bound < score.upper:
            continue
        bound, values = limit.bound / score.upper, score.by_model[limit.model]
        bets = fit_score_bets(find_sums(earlier, limit.model, limit.measure), bound, is_upper=limit.is_upper)
        logs = score_evidence(values, rows.panel.units, bets, bound, is_upper=limit.is_upper)
        results = [
            BetResult(name=bet.name, parameters=(bet.fraction,), weight=bet.weight, log_evidence=float(log))
            for bet, log in zip(bets, logs, strict=True)
        ]
        yield EvidenceFactor(
            model=limit.model,
            hypothesis="limit",
            measure=limit.measure,
            bound=limit.bound,
            is_upper=limit.is_upper,
            bets=tuple(results),
            log_factor=mix_bets(results),
        )


def _find_difference_factors(rows: CountedRows, earlier: Sequence[AuditEvidence]) -> Iterator[EvidenceFactor]:
    score = next((score for score in rows.scores if score.measure == rows.compared), None)
    if score is None:
        return
    for one, other in list_pairs(tuple(score.by_model)):
        bets = fit_difference_bets(find_sums(earlier, one, rows.compared, other))
        values = score.by_model[one] - score.by_model[other]
        logs = difference_evidence(values, rows.panel.units, bets)
        results = [
            BetResult(name=bet.name, parameters=(bet.fraction,), weight=bet.weight, log_evidence=float(log))
            for bet, log in zip(bets, logs, strict=True)
        ]
        yield EvidenceFactor(
            model=one,
            other=other,
            hypothesis="difference",
            measure=rows.compared,
            bets=tuple(results),
            log_factor=mix_bets(results),
        )
