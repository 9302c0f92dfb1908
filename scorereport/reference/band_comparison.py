"""One model: the bands of the engine compared with those of R, by formula or in distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.reference import deviations
from scorereport.reference.band_distributions import band_of, count_unlikely, is_likely_band, likely_sizes
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.model_comparison import BASE_SOURCE, ModelComparer
from scorereport.reference.questions import RESAMPLED
from scorereport.reliability.asymptotic_bands import R_TABLE_ENDS
from scorereport.reliability.band_bounds import redraw_curves, widen_where_certain
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.reference.questions import BandAnswer
    from scorereport.reliability.bands import Band
    from scorereport.reliability.fit import Corp
    from scorereport.reliability.simulation import Simulation

BAND_TOLERANCE = 1e-10
#: Curves of the engine that the bounds of R's resampled bands are held against, at so many forecasts, and how
#: often that may accuse equal laws. With 200 draws in R a band of half the width, or of none, is noticed.
OUR_DRAWS, POINTS, FALSE_ALARMS = 5000, 10, 1e-5


def compare_bands(comparer: ModelComparer) -> Iterator[Comparison]:
    """All bands that the answer has."""
    c, bands = comparer, comparer.answer.bands
    if "discrete" not in bands:
        yield c.state("bands", Verdict.NOT_COMPARED, "R has no bands of weighted cases.")
        return
    fit = c.fit()
    yield _discrete_band(c, fit)
    yield from _continuous_band(c, fit)
    for kind in RESAMPLED:
        if kind in bands:
            yield from ResampledBand(comparer, kind).compare()


# ---- By formula ----


def _discrete_band(c: ModelComparer, fit: Corp) -> Comparison:
    """The band of normal theory."""
    quantity, theirs = "discrete consistency band", c.answer.bands["discrete"]
    if theirs.error:
        return c.state(quantity, Verdict.FAILED, theirs.error)
    if theirs.level != c.question.level:
        return c.state(quantity, Verdict.DIFFERS, f"R writes level {theirs.level:g} beside it.")
    band = fit.band(level=c.question.level, method="discrete", points=max(len(fit.distinct), 2))
    return _compare_bounds(c, quantity, band, theirs)


def _continuous_band(c: ModelComparer, fit: Corp) -> Iterator[Comparison]:
    """The band of Chernoff's law: with R's table of quantiles it must agree; and with exact ones."""
    quantity, theirs = "continuous consistency band", c.answer.bands["continuous"]
    if theirs.error:
        yield c.state(quantity, Verdict.FAILED, theirs.error)
    elif c.is_package and c.question.level > R_TABLE_ENDS:
        is_missing = bool(np.isnan(theirs.lower).all() and np.isnan(theirs.upper).all())
        yield c.state(quantity, Verdict.EXPECTED if is_missing else Verdict.DIFFERS, deviations.END_OF_TABLE)
    elif c.is_package:
        yield from _continuous_band_of_package(c, fit, quantity, theirs)
    else:
        band = fit.band(level=c.question.level, method="continuous")
        yield _compare_bounds(c, f"{quantity}, given Chernoff's quantile", band, theirs)


def _continuous_band_of_package(
    c: ModelComparer, fit: Corp, quantity: str, theirs: BandAnswer
) -> Iterator[Comparison]:
    level = c.question.level
    table, exact = (
        fit.band(level=level, method="continuous", quantiles=quantiles) for quantiles in ("r", "exact")
    )
    if len(table.x) == len(theirs.x):
        at_ends = deviations.divides_by_no_density(c.question.y_prob, theirs.x, theirs.lower, theirs.upper)
        if at_ends.any():
            yield c.state(f"{quantity} at 0 and 1", Verdict.EXPECTED, deviations.NO_DENSITY)
            lower, upper = (
                np.where(at_ends, ours, bound)
                for ours, bound in ((table.lower, theirs.lower), (table.upper, theirs.upper))
            )
            theirs = replace(theirs, lower=lower, upper=upper)
    yield _compare_bounds(c, f"{quantity}, R's quantile", table, theirs)
    reported = _compare_bounds(c, f"{quantity}, exact quantile", exact, theirs)
    by_table = max(np.abs(exact.lower - table.lower).max(), np.abs(exact.upper - table.upper).max())
    is_explained = reported.difference is not None and reported.difference <= by_table + BAND_TOLERANCE
    yield _expect_if(reported, is_explained, deviations.TABLE)
    label = c.match(f"{quantity}: level", level, theirs.level, tolerance=0.0)
    yield _expect_if(label, theirs.level == deviations.WRITTEN_LEVEL, deviations.LEVEL)


def _compare_bounds(c: ModelComparer, quantity: str, band: Band, theirs: BandAnswer) -> Comparison:
    if len(band.x) != len(theirs.x) or not np.allclose(band.x, theirs.x, rtol=0, atol=1e-14):
        return c.state(quantity, Verdict.DIFFERS, "R's band is at other forecasts.")
    ours = np.concatenate([band.lower, band.upper])
    return c.match(quantity, ours, np.concatenate([theirs.lower, theirs.upper]), tolerance=BAND_TOLERANCE)


def _expect_if(line: Comparison, is_known: bool, reason: str) -> Comparison:
    """A difference whose cause is known is expected; agreement stays what it is."""
    if line.verdict is Verdict.DIFFERS and is_known:
        return replace(line, verdict=Verdict.EXPECTED, reason=reason)
    return line


# ---- By draws ----


@dataclass(frozen=True)
class ResampledBand:
    """A band of random draws, of R and of the engine."""

    comparer: ModelComparer
    kind: str

    def compare(self) -> Iterator[Comparison]:
        """R's bounds among curves of the engine, and the engine's bounds against quantiles by numpy."""
        c, theirs = self.comparer, self.comparer.answer.bands[self.kind]
        fit = corp(*c.question.redrawn)
        if theirs.error:
            yield c.state(self.quantity, Verdict.FAILED, theirs.error)
        elif c.is_package and deviations.draws_lone_forecasts(fit.y_prob, c.question.draws):
            yield self._spoilt(fit, theirs)
            yield from self._compare_with_base(fit)
        else:
            yield from self._compare_law(fit, theirs)

    @property
    def quantity(self) -> str:
        """Name the band and, if they are fewer, its cases."""
        n, redrawn = len(self.comparer.question.y_prob), len(self.comparer.question.redrawn[0])
        fewer = f", {redrawn:,} cases" if redrawn < n else ""
        return f"resampled {self.kind} band, in distribution{fewer}"

    def _spoilt(self, fit: Corp, theirs: BandAnswer) -> Comparison:
        """The band of the package where it spoils it: all that can be said is that it is one."""
        is_band = np.array_equal(theirs.x, fit.distinct.x_min) and bool(
            ((theirs.lower >= 0) & (theirs.lower <= theirs.upper) & (theirs.upper <= 1)).all()
        )
        verdict = Verdict.EXPECTED if is_band else Verdict.DIFFERS
        return self.comparer.state(self.quantity, verdict, deviations.LONE_FORECAST)

    def _compare_with_base(self, fit: Corp) -> Iterator[Comparison]:
        """What base R drew in place of a band that the package spoils."""
        c, quantity = self.comparer, f"{self.quantity}, drawn by base R"
        base = c.answer.bands.get(f"base_{self.kind}")
        if base is None or base.error:
            reason = "base R drew no such band" if base is None else base.error
            yield replace(c.state(quantity, Verdict.FAILED, reason), source=BASE_SOURCE)
            return
        without_defects = replace(c, is_package=False)
        for line in ResampledBand(without_defects, self.kind)._compare_law(fit, base):
            yield replace(line, quantity=line.quantity.replace(self.quantity, quantity))

    def _compare_law(self, fit: Corp, theirs: BandAnswer) -> Iterator[Comparison]:
        c, x = self.comparer, fit.distinct.x_min
        if not np.array_equal(x, theirs.x) or theirs.level != c.question.level:
            yield c.state(
                self.quantity, Verdict.DIFFERS, "R's band is of another level or at other forecasts."
            )
            return
        chance = x if self.kind == "consistency" else fit.recalibrate(x)
        is_certain = ((chance == 0) | (chance == 1)) & (self.kind == "confidence") & c.is_package
        if is_certain.any():
            yield self._certain_bounds(theirs, chance, is_certain)
        if not is_certain.all():
            yield from self._uncertain_bounds(fit, theirs, chance, np.flatnonzero(~is_certain))

    def _certain_bounds(
        self, theirs: BandAnswer, chance: FloatArray, is_certain: NDArray[np.bool_]
    ) -> Comparison:
        """R's bounds where its draws cannot differ: none at the ends, straight lines between the others."""
        knots = ~is_certain
        knots[[0, -1]] = True
        is_known = all(
            np.allclose(bound, np.interp(theirs.x, theirs.x[knots], bound[knots]), rtol=0, atol=1e-12)
            and all(bound[end] == chance[end] for end in (0, -1) if is_certain[end])
            for bound in (theirs.lower, theirs.upper)
        )
        verdict = Verdict.EXPECTED if is_known else Verdict.DIFFERS
        return self.comparer.state(f"{self.quantity}, where certain", verdict, deviations.CERTAIN)

    def _uncertain_bounds(
        self, fit: Corp, theirs: BandAnswer, chance: FloatArray, held: IntArray
    ) -> Iterator[Comparison]:
        c, asked = self.comparer, self.comparer.question
        few = held[np.unique(np.linspace(0, len(held) - 1, POINTS).round().astype(np.intp))]
        x, simulation = theirs.x[few], fit.sample.simulation(chance)
        curves = redraw_curves(simulation, x, OUR_DRAWS, asked.seed)
        bounds = theirs.lower[few], theirs.upper[few]
        sizes = likely_sizes(x, fit.y_prob, asked.draws)
        unlikely = count_unlikely(curves, bounds, asked.level, sizes, FALSE_ALARMS)
        is_wide_enough = is_likely_band(curves, bounds, asked.level, asked.draws, asked.seed)
        width = "holds as many curves as it should" if is_wide_enough else "is too narrow or too wide"
        yield replace(
            c.match(self.quantity, unlikely, 0, tolerance=0.0),
            engine=None,
            reference=None,
            verdict=Verdict.AGREES if is_wide_enough and not unlikely else Verdict.DIFFERS,
            reason=f"{unlikely} of {2 * len(few)} bounds of {asked.draws} draws in R are unlikely among "
            f"{OUR_DRAWS:,} curves of the engine, and the band {width}; equal laws are accused once in "
            f"{1 / FALSE_ALARMS:,.0f} times.",
        )
        yield self._quantiles(fit, simulation)

    def _quantiles(self, fit: Corp, simulation: Simulation) -> Comparison:
        """The band that users get, beside quantiles of the curves that R was held against."""
        c, asked, x = self.comparer, self.comparer.question, fit.distinct.x_min
        band = fit.band(
            self.kind,
            asked.level,
            method="resampling",
            resamples=asked.draws,
            seed=asked.seed,
            points=max(len(x), 2),
        )
        bounds = band_of(redraw_curves(simulation, x, asked.draws, asked.seed), asked.level)
        if self.kind == "confidence":
            bounds = widen_where_certain(x, *bounds, fit.sample, asked.level)
        ours, by_numpy = np.concatenate([band.lower, band.upper]), np.concatenate(bounds)
        return c.match(f"resampled {self.kind} band, quantiles", ours, by_numpy, source="numpy")
