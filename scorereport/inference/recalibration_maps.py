"""Maps of recalibration: how each method is fitted to some cases and moves the forecasts of others.

Lines in log-odds of many cases are fitted to cells of neighbouring forecasts, and isotonic maps to runs of
cases whose outcomes do not rise: without a fold, what is left of a run does not rise either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from scorereport._utils.arrays import row_chunks
from scorereport._utils.checks import CheckedCases
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.reliability.blocks import Blocks, Sums, isotonic_edges, pool_cases, sum_up
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
    if name == "isotonic" and panel.weight is None:
        return _cross_fit_isotonic(assigned)
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


def _cross_fit_isotonic(assigned: FoldAssignment) -> FloatArray:
    """The same for isotonic maps of cases without weights, which are counted by run and fold once."""
    p, fold, folds = assigned.panel.only, assigned.fold, assigned.folds
    y, ordered, fold_of_case = _events_first_in_ties(assigned)
    starts = np.append(0, np.flatnonzero(y[1:] > y[:-1]) + 1)
    counts = _count_in_runs(y, fold_of_case, starts, folds)
    total = counts.sum(axis=1)
    recalibrated = np.empty(len(fold))
    for number in range(folds):
        outside = total - counts[:, number]
        runs = np.flatnonzero(outside[0])
        sums = Sums(*(sum_up(part[runs]) for part in outside))
        edges = isotonic_edges(sums)
        first, last = starts[runs[edges[:-1]]], np.append(starts[1:], len(y))[runs[edges[1:] - 1]] - 1
        blocks = Blocks(
            x_min=ordered[_find_outside(fold_of_case, number, first, 1)],
            x_max=ordered[_find_outside(fold_of_case, number, last, -1)],
            n=np.diff(sums.n[edges]),
            events=np.diff(sums.events[edges]),
        )
        inside = np.flatnonzero(fold == number)
        recalibrated[inside] = np.interp(p.take(inside), *blocks.corners)
    return recalibrated


def _events_first_in_ties(
    assigned: FoldAssignment,
) -> tuple[FloatArray, FloatArray, NDArray[np.integer]]:
    """Outcomes, forecasts and folds, with the events of each forecast before its other cases."""
    y, p, fold = assigned.panel.outcome, assigned.panel.only, assigned.fold
    is_like_last = np.append(False, np.append(p[1:] == p[:-1], False))
    tied = np.flatnonzero(is_like_last[1:] | is_like_last[:-1])
    if not len(tied):
        return y, p, fold
    y, fold, order = y.copy(), fold.copy(), tied[np.lexsort([-y[tied], p[tied]])]
    y[tied], fold[tied] = y[order], fold[order]
    return y, p, fold


def _count_in_runs(y: FloatArray, fold: NDArray[np.integer], starts: IntArray, folds: int) -> IntArray:
    """The cases and the events, by fold and run; rows are counted in chunks, to save memory."""
    counts = np.zeros((2, folds, len(starts)), dtype=np.int64)
    for part in row_chunks(len(y)):
        first = int(np.searchsorted(starts, part.start, side="right")) - 1
        last = int(np.searchsorted(starts, part.stop))
        edges = np.clip(np.append(starts[first:last], part.stop), part.start, part.stop)
        runs = last - first
        code = np.repeat(np.arange(runs), np.diff(edges)) + runs * fold[part].astype(np.int64)
        for at, chosen in enumerate((code, code[y[part] == 1])):
            counts[at, :, first:last] += np.bincount(chosen, minlength=folds * runs).reshape(folds, runs)
    return counts


def _find_outside(fold: NDArray[np.integer], number: int, rows: IntArray, step: int) -> IntArray:
    """From each of these rows, the first one outside a fold; there must be one."""
    while (is_inside := fold[rows] == number).any():
        rows = rows + step * is_inside
    return rows


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
