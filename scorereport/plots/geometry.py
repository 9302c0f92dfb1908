"""Lines with no more points than paper can show, and the lines that curves and bands are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.murphy import MurphyCurve, RegretCurve
    from scorereport.reliability.bands import Band

#: A line moves by less than this on paper when points are left out, in points.
PATH_TOLERANCE = 0.12


def simplify(x: FloatArray, y: FloatArray, scale: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """The points of a line that matter on paper; `scale` is the points of paper of one unit on each axis.

    Points are left out where the line through the others passes within the tolerance of them
    (Ramer, Douglas and Peucker).
    """
    keep = _needed(x * scale[0], y * scale[1])
    return x[keep], y[keep]


def _needed(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    keep = np.zeros(len(x), dtype=bool)
    keep[[0, -1]] = True
    pending = [(0, len(x) - 1)]
    while pending:
        first, last = pending.pop()
        if last - first < 2:
            continue
        away = _distance(x[first : last + 1], y[first : last + 1])
        farthest = int(away.argmax())
        if away[farthest] > PATH_TOLERANCE:
            keep[first + farthest] = True
            pending += [(first, first + farthest), (first + farthest, last)]
    return keep


def _distance(x: FloatArray, y: FloatArray) -> FloatArray:
    """How far points lie from the straight line between the first and the last of them."""
    run, rise = x[-1] - x[0], y[-1] - y[0]
    length = float(np.hypot(run, rise))
    if length == 0:
        return np.hypot(x - x[0], y - y[0])
    along = np.clip(((x - x[0]) * run + (y - y[0]) * rise) / length**2, 0, 1)
    return np.hypot(x - x[0] - along * run, y - y[0] - along * rise)


def flat_runs(x: FloatArray, y: FloatArray, narrowest: float) -> tuple[FloatArray, FloatArray]:
    """The level parts of a line that are wider than `narrowest`, with NaN between them."""
    flat = (y[1:] == y[:-1]) & (x[1:] - x[:-1] >= narrowest)
    gap = np.full(int(flat.sum()), np.nan)
    return (
        np.column_stack([x[:-1][flat], x[1:][flat], gap]).ravel(),
        np.column_stack([y[:-1][flat], y[1:][flat], gap]).ravel(),
    )


def knotted_line(curve: MurphyCurve | RegretCurve) -> tuple[FloatArray, FloatArray]:
    """A curve that may jump at its knots, as a line through both of its limits there."""
    return np.repeat(curve.theta, 2), np.column_stack([curve.left, curve.right]).ravel()


def band_lines(band: Band) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """The lower and the upper bound of a band, as lines; steps if bounds are carried on."""
    if band.shape == "line":
        return (band.x, band.lower), (band.x, band.upper)
    x = np.repeat(band.x, 2)
    return (x[1:], np.repeat(band.lower, 2)[:-1]), (x[:-1], np.repeat(band.upper, 2)[1:])


def cut_line(x: FloatArray, y: FloatArray, first: float, last: float) -> tuple[FloatArray, FloatArray]:
    """The part of a line between two places, which are its ends where it passes them."""
    inside = (x > first) & (x < last)
    ends = [end for end in dict.fromkeys((first, last)) if x[0] <= end <= x[-1]]
    places = np.concatenate(
        [[end for end in ends if end == first], x[inside], [e for e in ends if e != first]]
    )
    at_ends = dict(zip(ends, np.interp(ends, x, y), strict=True))
    values = np.concatenate(
        [[at_ends[e] for e in ends if e == first], y[inside], [at_ends[e] for e in ends if e != first]]
    )
    return (places, values) if len(places) else (x, y)


def step_outline(lower: FloatArray, upper: FloatArray, height: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The outline of bars side by side, from the base line and back to it."""
    x = np.column_stack([lower, upper]).ravel()
    y = np.repeat(height, 2)
    return np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[0.0], y, [0.0]])
