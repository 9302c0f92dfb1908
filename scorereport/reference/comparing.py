"""One model: every number of the engine beside that of R."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.comparison import Comparison, Verdict, compare_arrays, compare_numbers
from scorereport.reference import deviations
from scorereport.reference.laws import count_unlikely, likely_sizes
from scorereport.reference.questions import Answer, Question
from scorereport.reliability.asymptotic import R_TABLE_ENDS
from scorereport.reliability.fit import Corp, corp
from scorereport.reliability.resampled import redraw_curves
from scorereport.scores.registry import get_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from scorereport.arrays import FloatArray, IntArray
    from scorereport.reference.questions import BandAnswer
    from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition

BAND_TOLERANCE = 1e-10
#: Draws of the engine that the bounds of R's resampled bands are held against, at so many forecasts, and how
#: often that may accuse equal laws.
OUR_DRAWS, POINTS, FALSE_ALARMS = 1000, 50, 1e-6
_MURPHY = ("reliability", "resolution", "uncertainty")
_COMPONENTS = ("mean score", "MCB", "DSC", "UNC")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparer:
    """Compares one model with the answer of a reference; of the package known defects are expected."""

    subject: str
    question: Question
    answer: Answer
    is_package: bool

    def compare(self, decompositions: Iterable[Decomposition]) -> Iterator[Comparison]:
        """Everything asked: scores as the evaluation has them, all else from a fit of the same data."""
        fit = corp(self.question.y_true, self.question.y_prob, self.question.weight)
        for decomposition in decompositions:
            yield from self.scores(decomposition)
        yield from self.bins(fit)
        yield compare_arrays(self.subject, "recalibrated probabilities", fit.cep, self.answer.cep)
        yield from self.bands(fit)

    def bands(self, fit: Corp) -> Iterator[Comparison]:
        """All bands that the answer has."""
        if "discrete" not in self.answer.bands:
            yield self._set_aside("bands", Verdict.NOT_COMPARED, "R has no bands of weighted cases.")
            return
        yield self.discrete_band(fit)
        yield from self.continuous_band(fit)
        for kind in ("consistency", "confidence"):
            if kind in self.answer.bands:
                yield from self.resampled_band(kind)

    def scores(self, decomposition: Decomposition) -> Iterator[Comparison]:
        """Mean score and components; where higher is better R was given the loss."""
        label = get_score(decomposition.name).label
        d = decomposition
        ours = (d.score, d.miscalibration, d.discrimination, d.uncertainty)
        theirs = self.answer.scores.get(d.name)
        if theirs is None:
            yield self._set_aside(label, Verdict.NOT_COMPARED, "R was not given this score.")
            return
        signs = (-1, 1, 1, -1) if d.higher_is_better else (1, 1, 1, 1)
        for name, engine, sign, reference in zip(_COMPONENTS, ours, signs, theirs, strict=True):
            yield compare_numbers(self.subject, f"{label}: {name}", engine, sign * reference)

    def counts(self, auc: float, murphy: MurphyDecomposition) -> Iterator[Comparison]:
        """What the package does not compute: plain arithmetic of base R on counts of the same data."""
        yield compare_numbers(self.subject, "AUC, by base R", auc, self.answer.auc)
        parts = (murphy.reliability, murphy.resolution, murphy.uncertainty)
        for name, engine, theirs in zip(_MURPHY, parts, self.answer.murphy, strict=True):
            yield compare_numbers(self.subject, f"Murphy's {name}, by base R", engine, theirs)

    def curve(self, forecast: FloatArray, cep: FloatArray) -> Iterator[Comparison]:
        """A reliability curve: its corners are the edges of R's bins, its heights their probabilities."""
        bins = deviations.merge_rounded(self.answer.bins) if self.is_package else self.answer.bins
        edges = np.unique(np.concatenate([bins["x_min"], bins["x_max"]]))
        yield self._compare("reliability curve: corners", forecast, edges, tolerance=0.0)
        held = np.minimum(np.searchsorted(bins["x_max"], forecast), len(bins["cep"]) - 1)
        yield compare_arrays(self.subject, "reliability curve: heights", cep, bins["cep"][held])

    def bins(self, fit: Corp) -> Iterator[Comparison]:
        """Number, edges and sizes of the bins of the isotonic fit; all of them exactly."""
        ours, theirs = fit.blocks, self.answer.bins
        number = self._compare("number of bins", [len(ours)], [len(theirs["n"])], tolerance=0.0)
        if self.is_package and number.verdict is Verdict.DIFFERS:
            theirs = deviations.merge_rounded(theirs)
            if len(theirs["n"]) == len(ours):
                number = replace(number, verdict=Verdict.EXPECTED, reason=deviations.ROUNDED_BINS)
        yield number
        yield self._compare("lower edges of bins", ours.x_min, theirs["x_min"], tolerance=0.0)
        yield self._compare("upper edges of bins", ours.x_max, theirs["x_max"], tolerance=0.0)
        exact = 0.0 if self.question.weight is None else 1e-12
        yield self._compare("cases in bins", ours.n, theirs["n"], tolerance=exact)

    def discrete_band(self, fit: Corp) -> Comparison:
        """The band of normal theory."""
        quantity, theirs = "discrete consistency band", self.answer.bands["discrete"]
        if theirs.error:
            return self._set_aside(quantity, Verdict.FAILED, theirs.error)
        band = fit.band(level=self.question.level, method="discrete", points=max(len(fit.distinct), 2))
        return self._compare_bounds(quantity, (band.x, band.lower, band.upper), theirs)

    def continuous_band(self, fit: Corp) -> Iterator[Comparison]:
        """The band of Chernoff's law: with R's table of quantiles it must agree; and with exact ones."""
        quantity, theirs = "continuous consistency band", self.answer.bands["continuous"]
        if theirs.error:
            yield self._set_aside(quantity, Verdict.FAILED, theirs.error)
        elif self.is_package and self.question.level > R_TABLE_ENDS:
            is_missing = bool(np.isnan(theirs.lower).all() and np.isnan(theirs.upper).all())
            verdict = Verdict.EXPECTED if is_missing else Verdict.DIFFERS
            yield self._set_aside(quantity, verdict, deviations.END_OF_TABLE)
        elif self.is_package:
            yield from self._continuous_band_of_package(fit, quantity, theirs)
        else:
            band = fit.band(level=self.question.level, method="continuous")
            yield self._compare_bounds(
                f"{quantity}, given Chernoff's quantile", (band.x, band.lower, band.upper), theirs
            )

    def _continuous_band_of_package(
        self, fit: Corp, quantity: str, theirs: BandAnswer
    ) -> Iterator[Comparison]:
        level = self.question.level
        table, exact = (
            fit.band(level=level, method="continuous", quantiles=quantiles) for quantiles in ("r", "exact")
        )
        at_ends = np.isnan(theirs.lower) & np.isin(theirs.x, (0.0, 1.0)) & (table.upper == table.lower)
        if at_ends.any():
            yield self._set_aside(f"{quantity} at 0 and 1", Verdict.EXPECTED, deviations.NO_DENSITY)
            theirs = replace(
                theirs,
                lower=np.where(at_ends, table.lower, theirs.lower),
                upper=np.where(at_ends, table.upper, theirs.upper),
            )
        yield self._compare_bounds(f"{quantity}, R's quantile", (table.x, table.lower, table.upper), theirs)
        reported = self._compare_bounds(
            f"{quantity}, exact quantile", (exact.x, exact.lower, exact.upper), theirs
        )
        by_table = max(np.abs(exact.lower - table.lower).max(), np.abs(exact.upper - table.upper).max())
        yield _expect_if(reported, (reported.difference or 0) <= by_table + BAND_TOLERANCE, deviations.TABLE)
        label = self._compare(f"{quantity}: level", [level], [theirs.level], tolerance=0.0)
        yield _expect_if(label, theirs.level == deviations.WRITTEN_LEVEL, deviations.LEVEL)

    def resampled_band(self, kind: str) -> Iterator[Comparison]:
        """A band of random draws, in distribution."""
        quantity, theirs = f"resampled {kind} band, in distribution", self.answer.bands[kind]
        y_true, y_prob = self.question.redrawn
        if len(y_prob) < len(self.question.y_prob):
            quantity += f", {len(y_prob):,} cases"
        if theirs.error:
            yield self._set_aside(quantity, Verdict.FAILED, theirs.error)
        elif self.is_package and deviations.draws_lone_forecasts(y_prob, self.question.draws):
            yield self._set_aside(quantity, Verdict.EXPECTED, deviations.LONE_FORECAST)
        else:
            yield from self._compare_law(quantity, kind, corp(y_true, y_prob), theirs)

    def _compare_law(self, quantity: str, kind: str, fit: Corp, theirs: BandAnswer) -> Iterator[Comparison]:
        x = fit.distinct.x_min
        if not np.array_equal(x, theirs.x):
            yield self._set_aside(quantity, Verdict.DIFFERS, "R's band is at other forecasts.")
            return
        chance = x if kind == "consistency" else fit.recalibrate(x)
        is_certain = ((chance == 0) | (chance == 1)) & (kind == "confidence") & self.is_package
        if is_certain.any():
            yield self._certain_bounds(quantity, theirs, chance, is_certain)
        if not is_certain.all():
            yield self._uncertain_bounds(quantity, fit, theirs, chance, np.flatnonzero(~is_certain))

    def _certain_bounds(
        self, quantity: str, theirs: BandAnswer, chance: FloatArray, is_certain: NDArray[np.bool_]
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
        return self._set_aside(f"{quantity}, where certain", verdict, deviations.CERTAIN)

    def _uncertain_bounds(
        self, quantity: str, fit: Corp, theirs: BandAnswer, chance: FloatArray, held: IntArray
    ) -> Comparison:
        few = held[np.unique(np.linspace(0, len(held) - 1, POINTS).round().astype(np.intp))]
        x, draws, level = theirs.x[few], self.question.draws, self.question.level
        curves = redraw_curves(fit.sample.simulation(chance), x, OUR_DRAWS, self.question.seed)
        sizes = likely_sizes(x, fit.y_prob, draws)
        unlikely = count_unlikely(curves, (theirs.lower[few], theirs.upper[few]), level, sizes, FALSE_ALARMS)
        return Comparison(
            subject=self.subject,
            quantity=quantity,
            difference=float(unlikely),
            tolerance=0.0,
            verdict=Verdict.DIFFERS if unlikely else Verdict.AGREES,
            reason=f"{unlikely} of {2 * len(few)} bounds of {draws} draws in R are unlikely among "
            f"{OUR_DRAWS} of the engine; equal laws are accused once in {round(1 / FALSE_ALARMS):,} times.",
        )

    def _compare_bounds(
        self, quantity: str, ours: tuple[FloatArray, FloatArray, FloatArray], theirs: BandAnswer
    ) -> Comparison:
        if len(ours[0]) != len(theirs.x) or not np.allclose(ours[0], theirs.x, rtol=0, atol=1e-14):
            return self._set_aside(quantity, Verdict.DIFFERS, "R's band is at other forecasts.")
        return self._compare(
            quantity,
            np.concatenate(ours[1:]),
            np.concatenate([theirs.lower, theirs.upper]),
            tolerance=BAND_TOLERANCE,
        )

    def _compare(self, quantity: str, ours: ArrayLike, theirs: ArrayLike, *, tolerance: float) -> Comparison:
        return compare_arrays(self.subject, quantity, ours, theirs, tolerance=tolerance)

    def _set_aside(self, quantity: str, verdict: Verdict, reason: str) -> Comparison:
        return Comparison(
            subject=self.subject,
            quantity=quantity,
            verdict=verdict,
            reason=reason,
        )


def _expect_if(line: Comparison, is_known: bool, reason: str) -> Comparison:
    """A difference whose cause is known is expected; agreement stays what it is."""
    if line.verdict is Verdict.DIFFERS and is_known:
        return replace(line, verdict=Verdict.EXPECTED, reason=reason)
    return line
