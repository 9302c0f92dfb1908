"""Bands around a reliability curve: their kinds and coverages, and the choice of method.

A consistency band contains the curve of a calibrated forecast with a given probability, a confidence band the
true curve. A pointwise band does so at each forecast separately, a simultaneous band at all forecasts at
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_finite
from scorereport._utils.formatting import format_count, format_level
from scorereport._utils.overviews import Overview, overview_html, overview_repr
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import describe_largest, describe_range
from scorereport._utils.rounding import exceeds
from scorereport.errors import UsageError
from scorereport.reliability.asymptotic_bands import QUANTILES, continuous_half_width, discrete_half_width
from scorereport.reliability.band_bounds import (
    choose_cells,
    choose_resamples,
    honest_bounds,
    pointwise_bounds,
    simultaneous_bounds,
    widen_where_certain,
)
from scorereport.reliability.simulation import draw_chunks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport.reliability.band_bounds import PointwiseBounds
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.reliability.simulation import Simulation

KINDS = ("consistency", "confidence")
COVERAGES = ("pointwise", "simultaneous")
METHODS = ("auto", "resampling", "discrete", "continuous")
#: The note of every pointwise band.
POINTWISE_NOTE = (
    "Pointwise: the level holds at each forecast separately; somewhere along the curve even a calibrated "
    "forecast leaves the band almost always."
)
#: Samples of more cases are drawn in cells.
MOST_CASES = 4096
#: Forecasts at which a continuous band is computed, as in the R package.
_GRID = np.linspace(0, 1, 101)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Bounds of the recalibrated probability at the forecasts `x`, and their method.

    Between its forecasts a band is linear (`shape` "line"), or the bounds are extended as far as a
    nondecreasing curve allows ("step"): the lower bound to the right, the upper bound to the left.
    """

    x: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str
    coverage: str
    method: str
    level: float
    n: float
    resamples: int | None = None
    seed: int | None = None
    shape: str = "line"
    note: str = ""

    __repr__ = overview_repr
    _repr_html_ = overview_html
    to_frame = array_frame

    def __post_init__(self) -> None:
        for name in ("x", "lower", "upper"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def label(self) -> str:
        """Describe the band for a caption: level, coverage, kind and method."""
        how = self.method if self.resamples is None else f"{self.method}, {self.resamples} draws"
        return f"{format_level(self.level)} {self.coverage} {self.kind} band ({how})"

    def at(self, p: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds at any forecasts; NaN outside the band's forecasts."""
        z = check_finite(p, "p")
        if self.shape == "line":
            lower, upper = (
                np.interp(z, self.x, bound, left=np.nan, right=np.nan) for bound in (self.lower, self.upper)
            )
            return lower, upper
        lower = np.append(0.0, self.lower)[np.searchsorted(self.x, z, side="right")]
        return lower, np.append(self.upper, 1.0)[np.searchsorted(self.x, z, side="left")]

    def holds(self, curve: FloatArray) -> bool:
        """Whether a curve, given at the forecasts of the band, stays inside everywhere, up to rounding."""
        return not (exceeds(self.lower, curve) | exceeds(curve, self.upper) | np.isnan(curve)).any()

    def _describe(self) -> Overview:
        facts = (
            ("forecasts", f"{format_count(len(self.x))} from {describe_range(self.x)}"),
            ("lower bound", describe_range(self.lower)),
            ("upper bound", describe_range(self.upper)),
            ("widest", describe_largest(self.upper - self.lower)),
            ("cases", format_count(self.n)),
        )
        return Overview(title=f"Band: {self.label}", facts=facts, notes=(self.note,) if self.note else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class BandRequest:
    """Checked settings of a band."""

    kind: str
    level: float
    method: str
    resamples: int | None
    seed: int
    points: int
    quantiles: str

    @property
    def around_diagonal(self) -> bool:
        """Whether the band is around the diagonal rather than around the estimate."""
        return self.kind == "consistency"


def choose_method(sample: FittedSample, request: BandRequest) -> str:
    """Return the method requested, or for "auto" the paper's choice by numbers of cases and forecasts."""
    if request.method != "auto":
        if request.method != "resampling" and sample.cluster is not None:
            raise UsageError(
                f'A {request.method} band needs independent rows; with clusters use method="resampling".'
            )
        return request.method
    n, n_distinct = sample.units.size, len(sample.distinct)
    if sample.cluster is not None or not request.around_diagonal:
        return "resampling"
    if n <= max(1000, min(5000, 50 * n_distinct)):
        return "resampling"
    return "discrete" if n >= 8 * n_distinct**2 else "continuous"


def pointwise_band(sample: FittedSample, request: BandRequest) -> Band:
    """Compute a band that covers at each forecast separately."""
    method = choose_method(sample, request)
    is_resampled = method == "resampling"
    resamples = None
    if is_resampled:
        x, (lower, upper, resamples) = _resampled(sample, request)
    else:
        x, lower, upper = _asymptotic(sample, request, method)
    if not request.around_diagonal:
        lower, upper = widen_where_certain(x, lower, upper, sample, request.level)
    return Band(
        x=x,
        lower=lower,
        upper=upper,
        kind=request.kind,
        coverage="pointwise",
        method=method,
        level=request.level,
        n=float(sample.distinct.n.sum()),
        resamples=resamples,
        seed=request.seed if is_resampled else None,
        note=POINTWISE_NOTE,
    )


class CalibratedCurves(NamedTuple):
    """Curves of outcomes that were drawn from the forecasts, a row for each, at some of the forecasts."""

    x: FloatArray
    curves: FloatArray
    seed: int


class CurvePoints(NamedTuple):
    """Some distinct forecasts of a sample, and the entries of a simulation with them."""

    x: FloatArray
    entries: NDArray[np.intp]

    @classmethod
    def of(cls, x: FloatArray, simulation: Simulation) -> CurvePoints:
        """Find the entries of these forecasts."""
        return cls(x, np.searchsorted(simulation.distinct.x_max, x))


def choose_points(distinct: Blocks, points: int) -> FloatArray:
    """Choose about `points` of the distinct forecasts, evenly spread."""
    return distinct.x_min[_spread_evenly(len(distinct), points)]


def simulate_calibration(sample: FittedSample, most_cases: float = MOST_CASES) -> Simulation:
    """Make the simulation of outcomes that are drawn from the forecasts."""
    return sample.simulation(sample.distinct.x_min, most_cases=most_cases)


def draw_calibrated_curves(sample: FittedSample, request: BandRequest) -> CalibratedCurves:
    """Draw the curves of a calibrated forecast for a simultaneous band."""
    simulation = simulate_calibration(sample)
    x, entries = CurvePoints.of(choose_points(sample.distinct, request.points), simulation)
    chunks = draw_chunks(
        simulation,
        lambda drawn: drawn.fit().at_entries(entries),
        range(choose_resamples(request.resamples, request.level)),
        seed=request.seed,
        what="drawing curves",
    )
    return CalibratedCurves(x, np.concatenate(list(chunks)), request.seed)


def simultaneous_consistency_band(sample: FittedSample, drawn: CalibratedCurves, level: float) -> Band:
    """Compute a band that contains the whole curve of a calibrated forecast."""
    lower, upper = simultaneous_bounds(drawn.curves, level)
    return Band(
        x=drawn.x,
        lower=lower,
        upper=upper,
        kind="consistency",
        coverage="simultaneous",
        method="split resampling",
        level=level,
        n=float(sample.distinct.n.sum()),
        resamples=len(drawn.curves),
        seed=drawn.seed,
        note="Simultaneous: the whole curve of a calibrated forecast stays inside with this probability"
        + (
            ", approximately, as the dependence in clusters is estimated."
            if sample.cluster is not None
            else "."
        ),
    )


def honest_confidence_band(sample: FittedSample, level: float) -> Band:
    """Compute a band that contains the whole true curve, for any sample size, if it does not fall."""
    if sample.cluster is not None or not sample.units.are_repeated_rows:
        raise UsageError(
            'The honest band needs independent rows of equal weight; for others use coverage="pointwise".'
        )
    cells = choose_cells(sample.distinct)
    from_right, from_left = honest_bounds(cells, level)
    x = np.unique(np.concatenate([cells.x_min, cells.x_max]))
    lower = np.append(0.0, from_right)[np.searchsorted(cells.x_max, x, side="right")]
    upper = np.append(from_left, 1.0)[np.searchsorted(cells.x_min, x, side="left")]
    crossing = (
        " Its bounds cross: evidence that the true curve falls somewhere." if (lower > upper).any() else ""
    )
    return Band(
        x=x,
        lower=lower,
        upper=upper,
        kind="confidence",
        coverage="simultaneous",
        method="honest",
        level=level,
        n=float(cells.n.sum()),
        shape="step",
        note="Simultaneous: the whole true curve, if it does not fall, stays inside with at least this "
        f"probability.{crossing}",
    )


def _asymptotic(sample: FittedSample, request: BandRequest, method: str) -> tuple[FloatArray, ...]:
    distinct = sample.distinct
    x = distinct.x_min if method == "discrete" else _GRID
    centre = x if request.around_diagonal else sample.cep(x)
    if method == "discrete":
        half_width = discrete_half_width(centre, distinct.n**2 / sample.squares, request.level)
    else:
        quantile = QUANTILES[request.quantiles]((1 + request.level) / 2)
        half_width = continuous_half_width(centre, x, distinct, sample.squares, quantile)
    return x, np.clip(centre - half_width, 0, 1), np.clip(centre + half_width, 0, 1)


def _resampled(sample: FittedSample, request: BandRequest) -> tuple[FloatArray, PointwiseBounds]:
    distinct = sample.distinct.x_min
    probability = distinct if request.around_diagonal else sample.cep(distinct)
    x = np.union1d(distinct[_spread_evenly(len(distinct), request.points)], sample.blocks.corners[0])
    simulation = sample.simulation(probability, most_cases=MOST_CASES)
    return x, pointwise_bounds(simulation, x, request.level, request.resamples, request.seed)


def _spread_evenly(n: int, points: int) -> NDArray[np.intp]:
    """All of n positions, or about `points` of them, evenly from the first to the last."""
    return np.arange(n) if n <= points else np.unique(np.linspace(0, n - 1, points).round().astype(np.intp))
