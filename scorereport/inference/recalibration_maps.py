"""Maps of recalibration: how each method is fitted to some cases and moves the forecasts of others.

Lines in log-odds of many cases are fitted to cells of neighbouring forecasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from scorereport._utils.arrays import row_chunks
from scorereport._utils.checks import CheckedCases
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.reliability.blocks import pool_cases
from scorereport.reliability.fitted_sample import order_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.grouped_rows import CellSums, GroupedRows
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.recalibration_gains import FoldAssignment

    #: Fits a map to cases and returns forecasts recalibrated by it; NaN where no map fits.
    Method = Callable[[CheckedCases, FloatArray], FloatArray]


def cross_fit(assigned: FoldAssignment, name: str) -> FloatArray:
    """Each forecast recalibrated by a map fitted outside its fold; all NaN if one fold has no map."""
    panel, fold, method = assigned.panel, assigned.fold, METHODS[name]
    if name in _LINES and (moved := _cross_fit_lines(assigned, name)) is not None:
        return moved
    recalibrated = np.empty(len(fold))
    for number in range(assigned.folds):
        is_inside = fold == number
        inside = np.flatnonzero(is_inside)
        found = method(_cases(panel, np.flatnonzero(~is_inside)), panel.only.take(inside))
        if np.isnan(found).any():
            return np.full(len(fold), np.nan)
        recalibrated[inside] = found
    return recalibrated


def _cross_fit_lines(assigned: FoldAssignment, name: str) -> FloatArray | None:
    """The same for lines in log-odds, fitted to cells; None if cells do not represent the rows."""
    p, fold, sums = assigned.panel.only, assigned.fold, assigned.cells
    if sums is None:
        return None
    lines = [_LINES[name](*sums.without(number)) for number in range(assigned.folds)]
    if not all(sums.represent(slope) for _, slope in lines):
        return None
    intercept, slope = np.array(lines).T
    moved = np.empty(len(fold))
    for part in row_chunks(len(fold)):
        x, of_row = logit(p[part]), fold[part]
        x *= slope.take(of_row)
        x += intercept.take(of_row)
        expit(x, out=moved[part])
    return moved


def fit_to_all(panel: ForecastPanel, cells: CellSums | None, name: str) -> FittedLine:
    """The line of a method fitted to all cases: to cells, if they represent the rows, or to the rows."""
    if cells is not None:
        grouped = cells.without()
        line = _LINES[name](*grouped)
        if cells.represent(line[1]):
            return FittedLine(*line, grouped)
    cases = with_finite_log_odds(CheckedCases(panel.outcome, panel.only, panel.weight))
    return FittedLine(*_LINES[name](*cases), None)


class FittedLine(NamedTuple):
    """Intercept and slope of a line in log-odds, and the cells it was fitted to, if to cells."""

    intercept: float
    slope: float
    cells: GroupedRows | None


def _cases(panel: ForecastPanel, rows: IntArray) -> CheckedCases:
    weight = None if panel.weight is None else panel.weight.take(rows)
    return CheckedCases(panel.outcome.take(rows), panel.only.take(rows), weight)


def _shift_log_odds(cases: CheckedCases, p: FloatArray) -> FloatArray:
    x, y, weight = with_finite_log_odds(cases)
    return move_log_odds(p, fit_offset(x, y, weight), 1.0)


def _scale_log_odds(cases: CheckedCases, p: FloatArray) -> FloatArray:
    x, y, weight = with_finite_log_odds(cases)
    return move_log_odds(p, *fit_line(x, y, weight))


def _fit_isotonic(cases: CheckedCases, p: FloatArray) -> FloatArray:
    blocks = pool_cases(order_cases(cases, binary=True), binary=True)  # no other part of the fit is needed
    return np.interp(p, *blocks.corners)


def _fit_shift(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float]:
    return fit_offset(x, y, weight), 1.0


#: Methods that fit a line: how intercept and slope are found.
_LINES: dict[str, Callable[[FloatArray, FloatArray, FloatArray], tuple[float, float]]] = {
    "intercept": _fit_shift,
    "logistic": fit_line,
}
#: How forecasts are recalibrated, by name.
METHODS: dict[str, Method] = {
    "intercept": _shift_log_odds,
    "logistic": _scale_log_odds,
    "isotonic": _fit_isotonic,
}


def with_finite_log_odds(cases: CheckedCases) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds, outcomes and weights of cases whose forecast is not 0 or 1."""
    y, p, weight = cases
    is_finite = ~is_certain(p)
    weight = np.broadcast_to(1.0, len(y)) if weight is None else weight
    if is_finite.all():
        return logit(p), y, weight
    return logit(p[is_finite]), y[is_finite], weight[is_finite]


def move_log_odds(p: FloatArray, intercept: float, slope: float) -> FloatArray:
    """Transform the log-odds of forecasts; forecasts of 0 and 1 stay."""
    moved, moves = p.copy(), ~is_certain(p)
    moved[moves] = expit(intercept + slope * logit(p[moves]))
    return moved


def is_certain(p: FloatArray) -> NDArray[np.bool_]:
    """Whether forecasts are exactly 0 or 1."""
    return (p == 0) | (p == 1)
