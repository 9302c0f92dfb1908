"""Calibration errors read from a smooth curve: ICI, E50, E90 and Emax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport.checks import check_inside
from scorereport.errors import UsageError
from scorereport.inference.panel import Panel, make_panel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.arrays import FloatArray

AUSTIN_STEYERBERG_2019 = "Austin, Steyerberg (2019), Stat. Med. 38, doi:10.1002/sim.8281"
#: Up to this many cases, or this many distinct forecasts, the curve is computed at every forecast.
_FEW_CASES = 5000
_FEW_FORECASTS = 300
#: Beyond, at about this many quantiles of the forecasts, and half as many steps of equal width.
_NODES = 200
#: Repeated rows are written out, up to this many.
_MOST_CASES = 10_000_000
#: With fewer neighbours than this the curve follows single outcomes.
_FEW_NEIGHBOURS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationErrors:
    """Distance between forecast and smooth curve over cases: mean, median, 90 % quantile and maximum."""

    ici: float
    e50: float
    e90: float
    emax: float
    method: str
    fraction: float
    n: float
    reference: str = AUSTIN_STEYERBERG_2019
    note: str = ""


def calibration_errors(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    fraction: float = 2 / 3,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> CalibrationErrors:
    """Smooth the outcomes over the forecasts by lowess and measure how far the curve lies off.

    The curve is cut to [0, 1]. Where a neighbourhood has no width it is the event rate at its forecast.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    fraction : share of the cases that make up a neighbourhood
    sample_weight, weight_kind : weights must be of the kind "frequency", how often each row was observed

    References
    ----------
    Austin, Steyerberg (2019), Stat. Med. 38, doi:10.1002/sim.8281

    >>> errors = calibration_errors([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    >>> round(errors.ici, 4), round(errors.e50, 4), round(errors.emax, 4)
    (0.253, 0.114, 0.6)
    """
    fraction = check_inside(fraction, "fraction", 0, 1)
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind)
    y, p = _write_out(panel)
    nodes = _nodes(p)
    error = np.abs(np.interp(p, nodes, _smooth(y, p, nodes, fraction)) - p)
    return CalibrationErrors(
        ici=float(error.mean()),
        e50=float(np.quantile(error, 0.5)),
        e90=float(np.quantile(error, 0.9)),
        emax=float(error.max()),
        method=_describe(p, nodes, fraction),
        fraction=fraction,
        n=float(len(p)),
        note=_note_few(_neighbours(len(p), fraction)),
    )


def _write_out(panel: Panel) -> tuple[FloatArray, FloatArray]:
    """Outcomes and forecasts with repeated rows written out: lowess counts neighbours, it has no weights."""
    if panel.weight is None:
        return panel.outcome, panel.only
    if not panel.units.are_repeated_rows:
        raise UsageError('`weight_kind` must be "frequency": lowess counts neighbours.')
    if panel.units.total > _MOST_CASES:
        raise UsageError(
            f"`sample_weight` must not repeat rows to more than {_MOST_CASES:,} cases for lowess; "
            f"got {panel.units.total:,.0f}."
        )
    times = panel.weight.astype(np.int64)
    return panel.outcome.repeat(times), panel.only.repeat(times)


def _nodes(p: FloatArray) -> FloatArray:
    """Forecasts at which the curve is computed: all, or many where forecasts crowd and some where not."""
    distinct = np.unique(p)
    if len(p) <= _FEW_CASES or len(distinct) <= _FEW_FORECASTS:
        return distinct
    crowded = p[np.linspace(0, len(p) - 1, _NODES + 1).astype(np.int64)]
    even = np.linspace(p[0], p[-1], _NODES // 2 + 1)
    return np.union1d(crowded, distinct[np.searchsorted(distinct, even)])


def _smooth(y: FloatArray, p: FloatArray, nodes: FloatArray, fraction: float) -> FloatArray:
    """The lowess curve at the nodes, without robustness steps, in [0, 1]."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    with np.errstate(divide="ignore", invalid="ignore"):
        curve = lowess(y, p, frac=fraction, it=0, xvals=nodes, is_sorted=True)
    first, last = np.searchsorted(p, nodes), np.searchsorted(p, nodes, side="right")
    events = np.append(0.0, np.cumsum(y))
    rate = (events[last] - events[first]) / (last - first)
    return np.clip(np.where(np.isnan(curve), rate, curve), 0, 1)  # NaN where all weight is at the node


def _neighbours(n: int, fraction: float) -> int:
    """How many cases statsmodels takes as neighbours."""
    return min(max(int(fraction * n + 1e-10), 2), n)


def _describe(p: FloatArray, nodes: FloatArray, fraction: float) -> str:
    is_thinned = len(nodes) < len(np.unique(p))
    where = f"at {len(nodes)} forecasts and straight between them" if is_thinned else "at every forecast"
    return (
        f"lowess of statsmodels, local lines over {fraction:.3g} of the cases, no robustness steps, {where}"
    )


def _note_few(neighbours: int) -> str:
    if neighbours >= _FEW_NEIGHBOURS:
        return ""
    return f"A neighbourhood has {neighbours} cases only; the curve follows single outcomes."
