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
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from scorereport._utils.checks import CheckedCases, check_inside, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import conjugate, format_counted
from scorereport.inference.differences import compare_panel
from scorereport.inference.estimates import Difference, adjust_by_holm
from scorereport.inference.logistic import fit_line, fit_offset
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
from scorereport.reliability.blocks import pool_cases
from scorereport.reliability.fit import corp
from scorereport.reliability.fitted_sample import order_cases
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray

    #: Fits a map to cases and returns forecasts recalibrated by it; NaN where no map fits.
    Method = Callable[[CheckedCases, FloatArray], FloatArray]

#: There is no trial with fewer events or non-events.
FEWEST_EVENTS = 10
RECALIBRATED, ORIGINAL = "recalibrated", "original"
_SCORES = ("brier", "log_loss")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalibrationTrial:
    """The effect of recalibration by one method on cases to which its map was not fitted.

    The differences are recalibrated minus original, so negative is better; their `p_value_holm` is adjusted
    over the methods. The miscalibration is that of the Brier score, raw, before and after.
    """

    method: str
    folds: int
    seed: int
    brier: Difference
    log_loss: Difference
    miscalibration_before: float
    miscalibration_after: float
    n: float
    note: str = ""


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
    return _try_on_panel(panel, folds, seed, level)


def _try_on_panel(
    panel: ForecastPanel, folds: int, seed: int, level: float
) -> tuple[RecalibrationTrial, ...]:
    if _fewest(panel) < FEWEST_EVENTS:
        return ()
    assigned = assign_folds(panel, folds, random_stream(seed))
    if not _is_fit_possible(assigned, folds):
        return ()
    before = _miscalibration(assigned.panel, assigned.panel.only)
    trials = []
    for name, method in METHODS.items():
        recalibrated = _cross_fit(assigned, folds, method)
        brier, log_loss = _compare(assigned.panel, recalibrated, name, folds, level)
        trial = RecalibrationTrial(
            method=name,
            folds=folds,
            seed=seed,
            brier=brier,
            log_loss=log_loss,
            miscalibration_before=before,
            miscalibration_after=_miscalibration(assigned.panel, recalibrated),
            n=panel.units.total,
            note=_describe(assigned.panel, recalibrated, moves_certain=name == "isotonic"),
        )
        trials.append(trial)
    return _adjust(trials)


def _fewest(panel: ForecastPanel) -> float:
    """Number of events, or of non-events if they are fewer."""
    return min(panel.units.count(panel.outcome == 1), panel.units.count(panel.outcome == 0))


def _is_fit_possible(assigned: FoldAssignment, folds: int) -> bool:
    """Whether every fold has cases, and the cases outside it have both outcomes."""
    n = np.bincount(assigned.fold, minlength=folds)
    events = np.bincount(assigned.fold, weights=assigned.panel.outcome, minlength=folds)
    outside, events_outside = n.sum() - n, events.sum() - events
    return bool((n > 0).all() and (events_outside > 0).all() and (events_outside < outside).all())


# Maps


def _cross_fit(assigned: FoldAssignment, folds: int, method: Method) -> FloatArray:
    """Each forecast recalibrated by a map fitted outside its fold; all NaN if one fold has no map."""
    panel, fold = assigned
    recalibrated = np.empty(len(fold))
    for number in range(folds):
        is_inside = fold == number
        recalibrated[is_inside] = method(_cases(panel, ~is_inside), panel.only[is_inside])
        if np.isnan(recalibrated[is_inside]).any():
            return np.full(len(fold), np.nan)
    return recalibrated


def _cases(panel: ForecastPanel, rows: NDArray[np.bool_]) -> CheckedCases:
    weight = None if panel.weight is None else panel.weight[rows]
    return CheckedCases(panel.outcome[rows], panel.only[rows], weight)


def _shift_log_odds(cases: CheckedCases, p: FloatArray) -> FloatArray:
    x, y, weight = _with_finite_log_odds(cases)
    return _move_log_odds(p, fit_offset(x, y, weight), 1.0)


def _scale_log_odds(cases: CheckedCases, p: FloatArray) -> FloatArray:
    x, y, weight = _with_finite_log_odds(cases)
    return _move_log_odds(p, *fit_line(x, y, weight))


def _fit_isotonic(cases: CheckedCases, p: FloatArray) -> FloatArray:
    blocks = pool_cases(order_cases(cases, binary=True), binary=True)  # no other part of the fit is needed
    return np.interp(p, *blocks.corners)


#: How forecasts are recalibrated, by name.
METHODS: dict[str, Method] = {
    "intercept": _shift_log_odds,
    "logistic": _scale_log_odds,
    "isotonic": _fit_isotonic,
}


def _with_finite_log_odds(cases: CheckedCases) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds, outcomes and weights of cases whose forecast is not 0 or 1."""
    y, p, weight = cases
    is_finite = ~_is_certain(p)
    weight = np.broadcast_to(1.0, len(y)) if weight is None else weight
    if is_finite.all():
        return logit(p), y, weight
    return logit(p[is_finite]), y[is_finite], weight[is_finite]


def _move_log_odds(p: FloatArray, intercept: float, slope: float) -> FloatArray:
    """Transform the log-odds of forecasts; forecasts of 0 and 1 stay."""
    moved, is_certain = p.copy(), _is_certain(p)
    moved[~is_certain] = expit(intercept + slope * logit(p[~is_certain]))
    return moved


def _is_certain(p: FloatArray) -> NDArray[np.bool_]:
    return (p == 0) | (p == 1)


# Effect


def _compare(
    panel: ForecastPanel, recalibrated: FloatArray, name: str, folds: int, level: float
) -> tuple[Difference, ...]:
    """Paired differences of both scores; NaN if there are no recalibrated forecasts."""
    is_fit = not np.isnan(recalibrated).any()
    forecasts = {RECALIBRATED: recalibrated if is_fit else panel.only, ORIGINAL: panel.only}
    pair = replace(panel, forecasts=forecasts)
    measures = [resolve_measure(name, {}) for name in _SCORES]
    choice = choose_errors(pair, level)
    found = compare_panel(pair, measures, choice)
    if not is_fit:
        return tuple(map(_without_numbers, found))
    distribution = distribution_of_mean(pair, choice)
    return tuple(
        allow_for_fit(difference, map_, folds=folds, distribution=distribution)
        for difference, map_ in zip(found, _fit_to_all(panel, name), strict=True)
    )


@np.errstate(invalid="ignore")  # two infinite scores have no difference
def _fit_to_all(panel: ForecastPanel, name: str) -> list[FittedMap]:
    """The map of a method fitted to all cases, by each score."""
    costs, parameters, moved = (_fit_blocks if name == "isotonic" else _fit_line)(panel, name)
    moved = panel.only if np.isnan(moved).any() else moved  # costs are NaN as well
    measures = {score: resolve_measure(score, {}) for score in _SCORES}
    return [
        FittedMap(
            gain=panel.units.mean(
                measure.score(panel.outcome, panel.only) - measure.score(panel.outcome, moved)
            ),
            cost=costs[score],
            parameters=parameters,
            is_smooth=name != "isotonic",
        )
        for score, measure in measures.items()
    ]


def _fit_line(panel: ForecastPanel, name: str) -> tuple[dict[str, float], float, FloatArray]:
    """Cost, number of parameters and forecasts of a line; NaN if there is none."""
    cases = _with_finite_log_odds(CheckedCases(panel.outcome, panel.only, panel.weight))
    line = (fit_offset(*cases),) if name == "intercept" else fit_line(*cases)
    moved = _move_log_odds(panel.only, line[0], 1.0 if len(line) == 1 else line[1])
    is_known = len(cases[0]) > 0 and np.isfinite(line).all()
    costs = cost_of_line(panel, line) if is_known else dict.fromkeys(_SCORES, np.nan)
    return costs, len(line), moved


def _fit_blocks(panel: ForecastPanel, _name: str) -> tuple[dict[str, float], float, FloatArray]:
    """Cost, number of parameters and forecasts of the isotonic fit."""
    cases = CheckedCases(panel.outcome, panel.only, panel.weight)
    blocks = pool_cases(order_cases(cases, binary=True), binary=True)
    moved = np.interp(panel.only, *blocks.corners)
    effect = design_effect(panel.units, (panel.only - panel.outcome) ** 2)
    return cost_of_blocks(blocks, panel.units, effect), parameters_of(blocks), moved


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


def _miscalibration(panel: ForecastPanel, forecast: FloatArray) -> float:
    if np.isnan(forecast).any():
        return np.nan
    return corp(panel.outcome, forecast, panel.weight).decompose("brier").miscalibration


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
    certain = _count(panel, _is_certain(panel.only))
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
