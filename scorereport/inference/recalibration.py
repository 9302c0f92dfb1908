"""Trials of recalibration: the effect of a map fitted to other cases, method by method.

Cases are assigned to folds, and each fold is recalibrated by a map fitted to the other folds, so that no case
affects its own recalibration. Folds do not depend on outcomes: if events and non-events were spread evenly
over folds, each map would use information on the event rate of the fold it is applied to.

References
----------
Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562
Stone (1974), J. R. Stat. Soc. B 36, doi:10.1111/j.2517-6161.1974.tb00994.x
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from scorereport._utils.checks import CheckedCases, check_inside, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import conjugate, format_counted
from scorereport._utils.machine import MOST_ROWS_TOGETHER
from scorereport._utils.representation import short_repr
from scorereport.inference.differences import compare_panel
from scorereport.inference.estimates import Difference, adjust_by_holm
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_errors import choose_errors, distribution_of_mean
from scorereport.inference.panel import ForecastPanel, make_panel
from scorereport.inference.recalibration_gains import (
    FittedMap,
    FoldAssignment,
    allow_for_fit,
    assign_folds,
    cost_of_blocks,
    cost_of_line,
    design_effect,
    parameters_of,
)
from scorereport.inference.recalibration_maps import (
    METHODS,
    FittedLine,
    cross_fit,
    fit_to_all,
    is_certain,
    move_log_odds,
)
from scorereport.reliability.blocks import Blocks, distinct_forecasts, pool_cases
from scorereport.reliability.decomposition import mean_at
from scorereport.reliability.fitted_sample import order_cases
from scorereport.reliability.sampling import random_stream
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure


#: There is no trial with fewer events or non-events.
FEWEST_EVENTS = 10
RECALIBRATED, ORIGINAL = "recalibrated", "original"
_SCORES = ("brier", "log_loss")
_BRIER = resolve_measure("brier", {}).score


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalibrationTrial:
    """The effect of recalibration by one method on cases to which its map was not fitted.

    The differences are recalibrated minus original, so negative is better; their `p_value_holm` is adjusted
    over the methods. Miscalibration and discrimination are those of the Brier score, raw, before and after;
    None in documents of versions that did not measure discrimination after recalibration.
    """

    OPTIONAL: ClassVar = ("discrimination_before", "discrimination_after", "auc_before", "auc_after")

    method: str
    folds: int
    seed: int
    brier: Difference
    log_loss: Difference
    miscalibration_before: float
    miscalibration_after: float
    n: float
    note: str = ""
    discrimination_before: float | None = None
    discrimination_after: float | None = None
    auc_before: float | None = None
    auc_after: float | None = None

    __repr__ = short_repr


def try_recalibration(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    folds: int = 5,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[RecalibrationTrial, ...]:
    """Recalibrate forecasts by cross-fitting and test whether scores improve.

    "intercept" shifts the log-odds, "logistic" shifts and scales them (Cox), "isotonic" is the CORP fit,
    interpolated between the forecasts of the fit and constant beyond them. The first two leave forecasts of
    exactly 0 and 1, whose log-odds are infinite, unchanged.

    There is no trial with fewer than 10 events or non-events, with fewer cases or clusters than folds, or
    where all cases outside some fold have the same outcome.

    Parameters
    ----------
    y_true, y_prob : outcomes 0 or 1 and their forecasts
    folds, seed : number of folds, and the seed of their random assignment
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed; a row goes to one fold with
        its whole weight
    cluster : a label per row; rows of a cluster stay together
    level : confidence level of the intervals

    Notes
    -----
    In the order of forecasts, each run of `folds` successive cases is assigned to different folds at random.
    The order of rows does not matter. Intervals and tests are for the mean gain on new cases of maps fitted
    to a sample of this size, and allow for the error of the maps; in simulations they cover at least as often
    as `level`. For calibrated forecasts they hardly ever show a gain, and often a small loss: recalibration
    does harm them a little.

    >>> rng = np.random.default_rng(1)
    >>> p = rng.random(2000)
    >>> trials = try_recalibration(rng.random(2000) < p, p**2)
    >>> [(t.method, round(t.brier.value, 3), round(t.miscalibration_after, 3)) for t in trials]
    [('intercept', -0.036, 0.006), ('logistic', -0.038, 0.003), ('isotonic', -0.038, 0.002)]
    """
    folds, seed = check_whole(folds, "folds", 2), check_whole(seed, "seed", 0)
    level = check_inside(level, "level", 0, 1, closed="neither")
    panel = make_panel(
        y_true, {ORIGINAL: y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return try_on_panel(panel, folds=folds, seed=seed, level=level)


def try_on_panel(
    panel: ForecastPanel, *, folds: int = 5, seed: int, level: float
) -> tuple[RecalibrationTrial, ...]:
    """Try the recalibration of a panel's only forecast; rows must be in the order of forecasts."""
    if _fewest(panel) < FEWEST_EVENTS:
        return ()
    panel = replace(panel, forecasts={ORIGINAL: panel.only})
    assigned = assign_folds(panel, folds, random_stream(seed))
    if not _is_fit_possible(assigned):
        return ()
    measures = [resolve_measure(name, {}) for name in _SCORES]
    if len(panel.outcome) <= MOST_ROWS_TOGETHER:
        measures = [_remember(assigned.panel, measure) for measure in measures]
    before, trials = _rank(assigned.panel, assigned.panel.only), []
    for name in METHODS:
        recalibrated = cross_fit(assigned, name)
        brier, log_loss = _compare(assigned, before.blocks, recalibrated, name, level, measures)
        after = None if np.isnan(recalibrated).any() else _rank(assigned.panel, recalibrated)
        trial = RecalibrationTrial(
            method=name,
            folds=folds,
            seed=seed,
            brier=brier,
            log_loss=log_loss,
            miscalibration_before=brier.second_value - before.recalibrated,
            miscalibration_after=np.nan if after is None else brier.first_value - after.recalibrated,
            n=panel.units.total,
            note=_describe(assigned.panel, recalibrated, moves_certain=name == "isotonic"),
            discrimination_before=before.discrimination,
            discrimination_after=np.nan if after is None else after.discrimination,
            auc_before=before.auc,
            auc_after=np.nan if after is None else after.auc,
        )
        trials.append(trial)
    return _adjust(trials)


def _fewest(panel: ForecastPanel) -> float:
    """Number of events, or of non-events if they are fewer."""
    return min(panel.units.count(panel.outcome == 1), panel.units.count(panel.outcome == 0))


def _is_fit_possible(assigned: FoldAssignment) -> bool:
    """Whether every fold has cases, and the cases outside it have both outcomes."""
    folds = assigned.folds
    n = np.bincount(assigned.fold, minlength=folds)
    events = np.bincount(assigned.fold, weights=assigned.panel.outcome, minlength=folds)
    outside, events_outside = n.sum() - n, events.sum() - events
    return bool((n > 0).all() and (events_outside > 0).all() and (events_outside < outside).all())


# Effect


def _remember(panel: ForecastPanel, measure: Measure) -> Measure:
    """The measure, with the scores of the original forecasts, which all methods need, computed once."""
    y, p = panel.outcome, panel.only
    known = measure.score(y, p)

    def score(outcome: FloatArray, forecast: FloatArray) -> FloatArray:
        return known if outcome is y and forecast is p else measure.score(outcome, forecast)

    return replace(measure, score=score)


def _compare(
    assigned: FoldAssignment,
    blocks: Blocks,
    recalibrated: FloatArray,
    name: str,
    level: float,
    measures: Sequence[Measure],
) -> tuple[Difference, ...]:
    """Paired differences of both scores; NaN if there are no recalibrated forecasts."""
    panel, is_fit = assigned.panel, not np.isnan(recalibrated).any()
    forecasts = {RECALIBRATED: recalibrated if is_fit else panel.only, ORIGINAL: panel.only}
    pair = replace(panel, forecasts=forecasts)
    choice = choose_errors(pair, level)
    found = compare_panel(pair, measures, choice)
    if not is_fit:
        return tuple(map(_without_numbers, found))
    distribution = distribution_of_mean(pair, choice)
    if name == "isotonic":
        maps = _map_by_blocks(panel, blocks, measures)
    else:
        maps = _map_by_line(panel, fit_to_all(panel, assigned.cells, name), name, measures)
    return tuple(
        allow_for_fit(difference, map_, folds=assigned.folds, distribution=distribution)
        for difference, map_ in zip(found, maps, strict=True)
    )


@np.errstate(invalid="ignore")  # two infinite scores have no difference
def _map_by_line(
    panel: ForecastPanel, fitted: FittedLine, name: str, measures: Sequence[Measure]
) -> list[FittedMap]:
    """The map of a line fitted to all cases, by each score; without a line its costs are NaN."""
    intercept, slope, cells = fitted
    line = (intercept,) if name == "intercept" else (intercept, slope)
    is_known = bool(np.isfinite(line).all())
    costs = cost_of_line(panel, line, cells) if is_known else dict.fromkeys(_SCORES, np.nan)
    if cells is not None:
        y, p, weight, moved = cells.y, expit(cells.x), cells.weight, expit(intercept + slope * cells.x)
    else:
        y, p, weight = panel.outcome, panel.only, panel.units.row_weight
        moved = move_log_odds(p, intercept, slope) if is_known else p
    return [
        FittedMap(
            gain=float((weight * (measure.score(y, p) - measure.score(y, moved))).sum()) / panel.units.total,
            cost=costs[measure.name],
            parameters=len(line),
            is_smooth=True,
        )
        for measure in measures
    ]


def _map_by_blocks(panel: ForecastPanel, blocks: Blocks, measures: Sequence[Measure]) -> list[FittedMap]:
    """The map of the isotonic fit to all cases, by each score: its gain is the miscalibration."""
    effect = design_effect(panel.units, (panel.only - panel.outcome) ** 2)
    costs, parameters = cost_of_blocks(blocks, panel.units, effect), parameters_of(blocks)
    return [
        FittedMap(
            gain=panel.units.mean(measure.score(panel.outcome, panel.only))
            - mean_at(measure.score, blocks.mean, blocks.n, blocks.events),
            cost=costs[measure.name],
            parameters=parameters,
            is_smooth=False,
        )
        for measure in measures
    ]


def _without_numbers(difference: Difference) -> Difference:
    return replace(
        difference,
        first_value=np.nan,
        value=np.nan,
        standard_error=np.nan,
        lower=np.nan,
        upper=np.nan,
        statistic=np.nan,
        p_value=np.nan,
        note="There are no recalibrated forecasts.",
    )


class _Ranking(NamedTuple):
    """The isotonic fit of forecasts, its Brier score and that of the prevalence, and the AUC."""

    blocks: Blocks
    recalibrated: float
    uncertainty: float
    auc: float

    @property
    def discrimination(self) -> float:
        return self.uncertainty - self.recalibrated


def _rank(panel: ForecastPanel, forecast: FloatArray) -> _Ranking:
    """Fit forecasts of the panel's cases, and measure how they discriminate."""
    cases = order_cases(CheckedCases(panel.outcome, forecast, panel.weight), binary=True)
    blocks = pool_cases(cases, binary=True)
    prevalence = float(blocks.events.sum() / blocks.n.sum())
    return _Ranking(
        blocks=blocks,
        recalibrated=mean_at(_BRIER, blocks.mean, blocks.n, blocks.events),
        uncertainty=prevalence * (1 - prevalence),
        auc=_area(cases),
    )


def _area(cases: CheckedCases) -> float:
    """The AUC of ordered cases; without weights from the ranks of events, which takes a tenth of the time."""
    y, x, weight = cases
    if weight is not None:
        distinct = distinct_forecasts(cases, binary=True)
        events = distinct.events.astype(np.float64)
        return area_under_roc(events, distinct.n - events)
    ranks = np.flatnonzero(y == 1)
    n = len(ranks)
    pairs = n * (len(y) - n)
    # of equal forecasts, events come first: their pairs with non-events, which count half, are to be added
    twice = 2 * int(ranks.sum()) - n * (n - 1) + _count_tied_pairs(y, x)
    return twice / (2 * pairs) if pairs else np.nan


def _count_tied_pairs(y: FloatArray, x: FloatArray) -> int:
    """The number of pairs of an event and a non-event with the same forecast, of ordered cases."""
    is_equal = x[1:] == x[:-1]
    if not is_equal.any():
        return 0
    is_tied = np.append(is_equal, False) | np.append(False, is_equal)
    tied = distinct_forecasts(CheckedCases(y[is_tied], x[is_tied], None), binary=True)
    return int((tied.events * (tied.n - tied.events)).sum())


def _adjust(trials: list[RecalibrationTrial]) -> tuple[RecalibrationTrial, ...]:
    """Adjust the p-values of each score for the number of methods."""
    differences = zip(
        trials,
        adjust_by_holm([trial.brier for trial in trials]),
        adjust_by_holm([trial.log_loss for trial in trials]),
        strict=True,
    )
    return tuple(replace(trial, brier=brier, log_loss=log_loss) for trial, brier, log_loss in differences)


def _describe(panel: ForecastPanel, recalibrated: FloatArray, *, moves_certain: bool) -> str:
    """Describe limitations of a trial."""
    if np.isnan(recalibrated).any():
        return (
            "No map fits the cases outside some fold: "
            "their forecasts are all the same, or separate events from non-events."
        )
    notes = []
    certain = _count(panel, is_certain(panel.only))
    if certain and not moves_certain:
        they = "it is" if certain == 1 else "they are"
        stay = f"{conjugate(certain, 'stay')} as {they}"
        notes.append(f"{format_counted(certain, 'forecast')} of exactly 0 or 1 cannot be moved and {stay}.")
    refuted = _count(panel, recalibrated == 1 - panel.outcome)
    if refuted:
        cases = format_counted(refuted, "case")
        notes.append(
            f"The log score is infinite: {cases} got a probability of 0 or 1 that the outcome contradicts."
        )
    return " ".join(notes)


def _count(panel: ForecastPanel, chosen: NDArray[np.bool_]) -> float:
    """The number of cases among some rows; a row with a positive sampling weight is one case."""
    weight = panel.units.row_weight[chosen]
    return float(weight.sum() if panel.units.are_repeated_rows else np.count_nonzero(weight))
