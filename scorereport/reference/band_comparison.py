"""Comparison of the bands of one model with those of R, by formula or in distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_count, format_plain
from scorereport.reference import deviations
from scorereport.reference.band_distributions import band_of, count_unlikely, is_likely_band, likely_sizes
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.model_comparison import BASE_SOURCE, ModelComparer
from scorereport.reference.questions import RESAMPLED
from scorereport.reliability.asymptotic_bands import MOST_FORECASTS, R_TABLE_ENDS
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
#: The same where the density of many forecasts is computed from cells of them.
CELL_TOLERANCE = 1e-7
#: The number of curves of the engine with which R's resampled bounds are compared, the number of forecasts at
#: which they are, and the probability of a false alarm if the distributions are equal. With 200 draws in R, a
#: band of half the width, or of none, is detected. More curves would not help: the variance of R's draws is
#: five times that of these.
OUR_DRAWS, POINTS, FALSE_ALARMS = 1000, 10, 1e-5


def compare_bands(comparer: ModelComparer) -> Iterator[Comparison]:
    """Compare all bands of the answer."""
    c, bands = comparer, comparer.answer.bands
    if "discrete" not in bands:
        yield c.state("bands", Verdict.NOT_COMPARED, "R has no bands for weighted cases.")
        return
    fit = c.fit()
    yield _discrete_band(c, fit)
    yield from _continuous_band(c, fit)
    for kind in RESAMPLED:
        if kind in bands:
            yield from ResampledBand(comparer, kind).compare()


# ---- By formula ----


def _discrete_band(c: ModelComparer, fit: Corp) -> Comparison:
    """Compare the band of normal theory."""
    quantity, theirs = "discrete consistency band", c.answer.bands["discrete"]
    if theirs.error:
        return c.state(quantity, Verdict.FAILED, theirs.error)
    if theirs.level != c.question.level:
        return c.state(quantity, Verdict.DIFFERS, f"R reports level {format_plain(theirs.level)} for it.")
    band = fit.band(level=c.question.level, method="discrete", points=max(len(fit.distinct), 2))
    return _compare_bounds(c, quantity, band, theirs)


def _continuous_band(c: ModelComparer, fit: Corp) -> Iterator[Comparison]:
    """Compare the band of Chernoff's distribution, with R's table of quantiles and with exact quantiles."""
    quantity, theirs = f"continuous consistency band{_state_rows(c)}", c.answer.bands["continuous"]
    fit = fit if c.question.is_banded_whole else corp(*c.question.banded)
    if theirs.error:
        yield c.state(quantity, Verdict.FAILED, theirs.error)
    elif c.is_package and c.question.level > R_TABLE_ENDS:
        is_missing = bool(np.isnan(theirs.lower).all() and np.isnan(theirs.upper).all())
        yield c.state(quantity, Verdict.EXPECTED if is_missing else Verdict.DIFFERS, deviations.END_OF_TABLE)
    elif c.is_package:
        yield from _continuous_band_of_package(c, fit, quantity, theirs)
    else:
        band = fit.band(level=c.question.level, method="continuous")
        yield _compare_bounds(c, f"{quantity}, given Chernoff's quantile", band, theirs, _tolerance(fit))


def _state_rows(c: ModelComparer) -> str:
    """State the rows of the continuous band if not all fit into the memory of R."""
    if c.question.is_banded_whole:
        return ""
    rows, of = len(c.question.banded[0]), len(c.question.y_prob)
    return f", {format_count(rows)} of {format_count(of)} rows"


def _continuous_band_of_package(
    c: ModelComparer, fit: Corp, quantity: str, theirs: BandAnswer
) -> Iterator[Comparison]:
    level = c.question.level
    table, exact = (
        fit.band(level=level, method="continuous", quantiles=quantiles) for quantiles in ("r", "exact")
    )
    if len(table.x) == len(theirs.x):
        at_ends = deviations.divides_by_no_density(fit.y_prob, theirs.x, theirs.lower, theirs.upper)
        if at_ends.any():
            yield c.state(f"{quantity} at 0 and 1", Verdict.EXPECTED, deviations.NO_DENSITY)
            lower, upper = (
                np.where(at_ends, ours, bound)
                for ours, bound in ((table.lower, theirs.lower), (table.upper, theirs.upper))
            )
            theirs = replace(theirs, lower=lower, upper=upper)
    tolerance = _tolerance(fit)
    yield _compare_bounds(c, f"{quantity}, R's quantile", table, theirs, tolerance)
    reported = _compare_bounds(c, f"{quantity}, exact quantile", exact, theirs, tolerance)
    by_table = max(np.abs(exact.lower - table.lower).max(), np.abs(exact.upper - table.upper).max())
    is_explained = reported.difference is not None and reported.difference <= by_table + tolerance
    yield _expect_if(reported, is_explained, deviations.TABLE)
    label = c.match(f"{quantity}: level", level, theirs.level, tolerance=0.0)
    yield _expect_if(label, theirs.level == deviations.WRITTEN_LEVEL, deviations.LEVEL)


def _tolerance(fit: Corp) -> float:
    """The tolerance of a continuous band, whose density comes from cells of many forecasts."""
    return BAND_TOLERANCE if len(fit.distinct) <= MOST_FORECASTS else CELL_TOLERANCE


def _compare_bounds(
    c: ModelComparer,
    quantity: str,
    band: Band,
    theirs: BandAnswer,
    tolerance: float = BAND_TOLERANCE,
) -> Comparison:
    if len(band.x) != len(theirs.x) or not np.allclose(band.x, theirs.x, rtol=0, atol=1e-14):
        return c.state(quantity, Verdict.DIFFERS, "R's band is at other forecasts.")
    ours = np.concatenate([band.lower, band.upper])
    return c.match(quantity, ours, np.concatenate([theirs.lower, theirs.upper]), tolerance=tolerance)


def _expect_if(line: Comparison, is_known: bool, reason: str) -> Comparison:
    """The line, with a difference of known cause as an expected deviation; other lines are unchanged."""
    if line.verdict is Verdict.DIFFERS and is_known:
        return replace(line, verdict=Verdict.EXPECTED, reason=reason)
    return line


# ---- By draws ----


@dataclass(frozen=True)
class ResampledBand:
    """A band of resampled curves, of R and of the engine."""

    comparer: ModelComparer
    kind: str

    def compare(self) -> Iterator[Comparison]:
        """Compare R's bounds with curves of the engine, and the engine's bounds with quantiles by numpy."""
        c, theirs = self.comparer, self.comparer.answer.bands[self.kind]
        fit = corp(*c.question.redrawn)
        if theirs.error:
            yield c.state(self.quantity, Verdict.FAILED, theirs.error)
        elif c.is_package and deviations.draws_lone_forecasts(fit.y_prob, c.question.draws):
            yield self._check_spoilt(fit, theirs)
            yield from self._compare_with_base(fit)
        else:
            yield from self._compare_distribution(fit, theirs)

    @property
    def quantity(self) -> str:
        """The name of the band, with its number of cases if not all are used."""
        n, redrawn = len(self.comparer.question.y_prob), len(self.comparer.question.redrawn[0])
        fewer = f", {redrawn:,} cases" if redrawn < n else ""
        return f"resampled {self.kind} band, in distribution{fewer}"

    def _check_spoilt(self, fit: Corp, theirs: BandAnswer) -> Comparison:
        """Check a band that the package makes wrong: only that it is a band at the right forecasts."""
        is_band = np.array_equal(theirs.x, fit.distinct.x_min) and bool(
            ((theirs.lower >= 0) & (theirs.lower <= theirs.upper) & (theirs.upper <= 1)).all()
        )
        verdict = Verdict.EXPECTED if is_band else Verdict.DIFFERS
        return self.comparer.state(self.quantity, verdict, deviations.LONE_FORECAST)

    def _compare_with_base(self, fit: Corp) -> Iterator[Comparison]:
        """Compare the band of base R in place of one that the package makes wrong."""
        c, quantity = self.comparer, f"{self.quantity}, drawn by base R"
        base = c.answer.bands.get(f"base_{self.kind}")
        if base is None or base.error:
            reason = "Base R drew no such band." if base is None else base.error
            yield replace(c.state(quantity, Verdict.FAILED, reason), source=BASE_SOURCE)
            return
        without_defects = replace(c, is_package=False)
        for line in ResampledBand(without_defects, self.kind)._compare_distribution(fit, base):
            yield replace(line, quantity=line.quantity.replace(self.quantity, quantity))

    def _compare_distribution(self, fit: Corp, theirs: BandAnswer) -> Iterator[Comparison]:
        c, x = self.comparer, fit.distinct.x_min
        if not np.array_equal(x, theirs.x) or theirs.level != c.question.level:
            yield c.state(
                self.quantity, Verdict.DIFFERS, "R's band has another level or is at other forecasts."
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
        """Check R's bounds where draws cannot differ: no width at the ends, linear between other points."""
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
        self, fit: Corp, theirs: BandAnswer, chance: FloatArray, places: IntArray
    ) -> Iterator[Comparison]:
        c, question = self.comparer, self.comparer.question
        few = places[np.unique(np.linspace(0, len(places) - 1, POINTS).round().astype(np.intp))]
        x, simulation = theirs.x[few], fit.sample.simulation(chance)
        curves = redraw_curves(simulation, x, OUR_DRAWS, question.seed)
        bounds = theirs.lower[few], theirs.upper[few]
        sizes = likely_sizes(x, fit.y_prob, question.draws)
        unlikely = count_unlikely(curves, bounds, question.level, sizes, FALSE_ALARMS)
        is_wide_enough = is_likely_band(curves, bounds, question.level, question.draws, question.seed)
        width = "contains as many curves as expected" if is_wide_enough else "is too narrow or too wide"
        yield replace(
            c.match(self.quantity, unlikely, 0, tolerance=0.0),
            engine=None,
            reference=None,
            verdict=Verdict.AGREES if is_wide_enough and not unlikely else Verdict.DIFFERS,
            reason=f"{unlikely} of {2 * len(few)} bounds of {question.draws} draws in R are unlikely among "
            f"{OUR_DRAWS:,} curves of the engine, and the band {width}; with equal distributions, a false "
            f"alarm occurs once in {format_count(round(1 / FALSE_ALARMS))} times.",
        )
        yield self._quantiles(fit, simulation)

    def _quantiles(self, fit: Corp, simulation: Simulation) -> Comparison:
        """Compare the band of the engine with quantiles by numpy of the same curves."""
        c, question, x = self.comparer, self.comparer.question, fit.distinct.x_min
        band = fit.band(
            self.kind,
            question.level,
            method="resampling",
            resamples=question.draws,
            seed=question.seed,
            points=max(len(x), 2),
        )
        bounds = band_of(redraw_curves(simulation, x, question.draws, question.seed), question.level)
        if self.kind == "confidence":
            bounds = widen_where_certain(x, *bounds, fit.sample, question.level)
        ours, by_numpy = np.concatenate([band.lower, band.upper]), np.concatenate(bounds)
        return c.match(f"resampled {self.kind} band, quantiles", ours, by_numpy, source="numpy")
