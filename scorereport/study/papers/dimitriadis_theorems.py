"""Theorems and simulations of Dimitriadis et al. (2021), checked on seeded samples."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport import scores
from scorereport._utils.choices import SEED
from scorereport.curves import murphy_curves
from scorereport.reference.comparison_records import TOLERANCE, Comparison, distance
from scorereport.reliability.asymptotic_bands import chernoff_quantile
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import random_stream
from scorereport.study.papers.paper_numerics import integral
from scorereport.study.papers.printed_numbers import DIMITRIADIS as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_claim,
    compare_printed,
    compare_word,
    report_irreproducible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray


class _Rule(NamedTuple):
    """A proper score for which Theorem 1 is checked."""

    label: str
    name: str
    is_strict: bool
    options: dict[str, Any]


_RULES = (
    _Rule("Brier score", "brier", True, {}),
    _Rule("logarithmic score", "log", True, {}),
    _Rule("spherical score", "spherical", True, {}),
    _Rule("misclassification error", "misclassification", False, {}),
    _Rule("elementary score at .3", "elementary", False, {"theta": 0.3}),
    _Rule("elementary score at .75", "elementary", False, {"theta": 0.75}),
)
_SAMPLES = 120
#: Numbers of rows and distinct forecasts on both sides of every limit of the rule for bands.
_SIZES = ((1000, 10), (1001, 10), (1001, 12), (5000, 100), (5001, 100), (5000, 99), (5000, 25), (5000, 26))
#: Quantiles of Chernoff's distribution as Groeneboom and Wellner (2001) tabulate it.
_CHERNOFF = {".90": "0.664235", ".95": "0.845081", ".975": "0.998181", ".995": "1.286659"}


def compare_dimitriadis_theorems() -> Iterator[Comparison]:
    """Check theorems, identities and rules of the paper on seeded samples."""
    for rule in _RULES:
        yield from _compare_theorem_1(rule)
    yield from _compare_theorem_2()
    yield from _compare_identities()
    yield from _compare_default_methods()
    yield from _compare_quantiles()
    yield from _compare_rates()


def _samples() -> Iterator[tuple[FloatArray, FloatArray]]:
    """Draw outcomes, and forecasts in steps of .05 from 0 to 1; every third sample is calibrated."""
    for number in range(_SAMPLES):
        rng = random_stream(SEED, number)
        x = rng.integers(0, 21, rng.integers(2, 40)) / 20
        y = (rng.random(len(x)) < rng.choice([0.1, 0.5, 0.8])).astype(np.float64)
        yield y, x if number % 3 else corp(y, x).cep


def _compare_theorem_1(rule: _Rule) -> Iterator[Comparison]:
    mcb, dsc, error, is_exception = zip(
        *(_try_theorem_1(rule, *sample) for sample in _samples()), strict=True
    )
    place = f"{PAPER}, Theorem 1"
    for key, part, values in (("a", "MCB", mcb), ("c", "DSC", dsc)):
        least, quantity = min(values), f"{rule.label}: least {part} of {_SAMPLES} samples"
        holds = least >= -TOLERANCE
        yield compare_claim(f"{place}({key})", quantity, "not negative", f"{least:.3g}", holds=holds)
    yield compare_printed(f"{place}(e)", f"{rule.label}: largest error of the decomposition", "0", max(error))
    quantity = f"{rule.label}: exceptions to when MCB and DSC vanish"
    yield compare_printed(f"{place}(a-d)", quantity, "0", sum(is_exception))


def _try_theorem_1(rule: _Rule, y: FloatArray, x: FloatArray) -> tuple[float, float, float, bool]:
    """MCB, DSC, the error of their sum, and whether one is 0 although it must not be, or the reverse."""
    fit = corp(y, x)
    parts = fit.decompose(rule.name, **rule.options)
    mcb, dsc = parts.miscalibration, parts.discrimination
    mean = float(scores.get_score(rule.name).function(y, x, **rule.options).mean())
    is_calibrated = bool(np.abs(fit.distinct.mean - fit.distinct.x_min).max() < TOLERANCE)
    is_constant = bool(np.ptp(fit.cep) < TOLERANCE)
    must_vanish = np.array([is_calibrated, is_constant])
    vanishes = np.array([mcb <= TOLERANCE, dsc <= TOLERANCE])
    wrong = vanishes != must_vanish if rule.is_strict else must_vanish & ~vanishes
    return mcb, dsc, distance(mean, mcb - dsc + parts.uncertainty), bool(wrong.any())


def _compare_theorem_2() -> Iterator[Comparison]:
    """Check that the decomposition equals Murphy's on samples with increasing event rates."""
    gaps = np.array([_try_theorem_2(number) for number in range(_SAMPLES)]).max(axis=0)
    for quantity, gap in zip(("MCB and REL", "DSC and RES"), gaps, strict=True):
        yield compare_printed(f"{PAPER}, Theorem 2", f"{quantity}: largest difference", "0", gap)


def _try_theorem_2(number: int) -> tuple[float, float]:
    rng = random_stream(SEED, number)
    n = rng.integers(1, 9, rng.integers(2, 9))
    events = rng.integers(0, n + 1)
    order = np.argsort(events / n)
    n, events = n[order], events[order]
    z = np.sort(rng.choice(np.arange(21) / 20, len(n), replace=False))
    y = np.concatenate([np.arange(cases) < k for cases, k in zip(n, events, strict=True)]).astype(np.float64)
    parts = corp(y, np.repeat(z, n)).decompose("brier")
    reliability, resolution = (np.average((events / n - at) ** 2, weights=n) for at in (z, y.mean()))
    return abs(parts.miscalibration - reliability), abs(parts.discrimination - resolution)


def _compare_identities() -> Iterator[Comparison]:
    checks = (
        ("section 3", "recalibrated probabilities and their formula as max of min of means", _try_min_max),
        ("section 5", "MCB of misclassification and the share of corrected forecasts", _try_sides),
        ("section 5", "components and the integrals of their Murphy curves", _try_mixture),
    )
    for place, quantity, measure in checks:
        largest = max(measure(*sample) for sample in _samples())
        yield compare_printed(f"{PAPER}, {place}", f"{quantity}: largest difference", "0", largest)


def _try_min_max(y: FloatArray, x: FloatArray) -> float:
    """The fit at z_k is the largest over i <= k of the smallest over j >= k of means from z_i to z_j."""
    z = np.unique(x)
    rate = [[y[(x >= low) & (x <= high)].mean() if low <= high else np.nan for high in z] for low in z]
    table = np.array(rate)
    formula = [max(table[i, k:].min() for i in range(k + 1)) for k in range(len(z))]
    return float(np.abs(corp(y, x).recalibrate(z) - formula).max())


def _try_sides(y: FloatArray, x: FloatArray) -> float:
    def side(p: FloatArray) -> FloatArray:
        return np.where(p == 0.5, 0.5, (p > 0.5) == (y == 1))

    fit = corp(y, x)
    put_right = float((side(fit.cep) - side(x)).mean())
    return abs(fit.decompose("misclassification").miscalibration - put_right)


def _try_mixture(y: FloatArray, x: FloatArray) -> float:
    fit = corp(y, x)
    curves, parts = murphy_curves(fit), fit.decompose("brier")
    gaps = []
    for name in ("score", "miscalibration", "discrimination", "uncertainty"):
        curve = getattr(curves, name)
        area = ((curve.right[:-1] + curve.left[1:]) / 2 * np.diff(curve.theta)).sum()
        gaps.append(abs(float(area) - getattr(parts, name)))
    return max(gaps)


def _compare_default_methods() -> Iterator[Comparison]:
    for n, k in _SIZES:
        x = np.resize((np.arange(k) + 0.5) / k, n)
        fit = corp(np.arange(n) % 2, x)
        for kind in ("consistency", "confidence"):
            printed = _method_of_paper(n, k) if kind == "consistency" else "resampling"
            engine = fit.band(kind, resamples=2, points=2).method
            yield compare_word(f"{PAPER}, section 4", f"{kind} band, n = {n}, k = {k}", printed, engine)


def _method_of_paper(n: int, k: int) -> str:
    """The default method of a consistency band as section 4 states it."""
    if n <= 1000 or (n <= 5000 and n <= 50 * k):
        return "resampling"
    return "discrete" if n >= 8 * k**2 else "continuous"


def _compare_quantiles() -> Iterator[Comparison]:
    for level, quantile in _CHERNOFF.items():
        engine = chernoff_quantile(float(level))
        yield compare_printed(
            f"{PAPER}, Chernoff's distribution (ref. 31)", f"quantile {level}", quantile, engine
        )


def _compare_rates() -> Iterator[Comparison]:
    place = f"{PAPER}, Appendix B"
    best = min((Fraction(k, 60) for k in range(61)), key=_order_of_error)
    yield compare_printed(place, "exponent α of the best number of bins", "1/3", float(best))
    yield compare_printed(place, "exponent β of its squared error", "-2/3", float(_order_of_error(best)))


def _order_of_error(alpha: Fraction) -> Fraction:
    """Exponent of the squared error with n^α quantile bins: that of the variance or of the squared bias."""
    return max(alpha - 1, -2 * alpha)


_REPLICATES = 100


class _Distribution(NamedTuple):
    """A distribution of simulated forecasts: its density, and its draws from two uniform numbers."""

    density: Callable[[FloatArray], FloatArray]
    draw: Callable[[FloatArray, FloatArray], FloatArray]

    def area(self) -> float:
        """Integral of the density, which must be 1."""
        return integral(lambda x: float(self.density(np.array(x))), (0, 1), nodes=8)


_DISTRIBUTIONS = {
    "Uniform": _Distribution(np.ones_like, lambda u, _: u),
    "Linear": _Distribution(lambda x: 0.4 + 1.2 * x, lambda u, _: (np.sqrt(15 * u + 1) - 1) / 3),
    "Beta Mixture": _Distribution(
        lambda x: 0.75 * 10 * (1 - x) ** 9 + 0.25,
        lambda u, v: np.where(v < 0.75, 1 - (1 - u) ** 0.1, u),
    ),
}


def compare_simulations() -> Iterator[Comparison]:
    """Check the figures on calibrated forecasts with seeded samples."""
    for name, distribution in _DISTRIBUTIONS.items():
        yield compare_printed(
            f"{PAPER}, Appendix A", f"{name}: integral of the density", "1", distribution.area()
        )
        yield _compare_coverage(name)
        yield from _compare_errors(name)
    yield _compare_drawing()
    for figure, settings in (("Fig. 4", "confidence bands, other n and k"), ("Fig. 5", "other n")):
        reason = "Plotted without numbers; this study simulates only a few of the settings."
        yield report_irreproducible(f"{PAPER}, {figure}", settings, None, reason=reason)


def _compare_drawing() -> Comparison:
    """Check that the Linear distribution function of a draw is the uniform number that it is drawn from."""
    u = np.arange(101) / 100
    x = _DISTRIBUTIONS["Linear"].draw(u, u)
    error = float(np.abs(x * (0.4 + _DISTRIBUTIONS["Linear"].density(x)) / 2 - u).max())
    return compare_printed(f"{PAPER}, Appendix A", "Linear: largest error of the draws", "0", error)


def _compare_coverage(name: str) -> Comparison:
    coverage = [_coverage(name, number) for number in range(_REPLICATES)]
    quantity = f"{name}, k = 10, n = 1024: coverage of the 90 % consistency band, {_REPLICATES} replicates"
    mean, lowest = float(np.mean(coverage)), 0.9 - 4 * float(np.std(coverage)) / math.sqrt(_REPLICATES)
    claim = "90 % or a little more, within 4 standard errors"
    return compare_claim(f"{PAPER}, Fig. 4", quantity, claim, f"{mean:.1%}", holds=mean >= lowest)


def _compare_errors(name: str) -> Iterator[Comparison]:
    for k in (10, 50, None):
        errors = [_squared_errors(name, k, number) for number in range(_REPLICATES)]
        best = min(errors[0], key=lambda name: sum(error[name] for error in errors))
        quantity = f"{name}, {f'k = {k}' if k else 'continuous'}, n = 512: method with the smallest error"
        yield compare_word(f"{PAPER}, Fig. 5", quantity, "CORP", best)


def _draw(name: str, k: int | None, n: int, number: int) -> tuple[FloatArray, FloatArray]:
    """Draw outcomes and calibrated forecasts of a distribution, with k values or continuous."""
    rng = random_stream(SEED, number)
    density, draw = _DISTRIBUTIONS[name]
    if k is None:
        x = draw(rng.random(n), rng.random(n))
    else:
        values = (np.arange(k) + 0.5) / k
        x = rng.choice(values, n, p=density(values) / density(values).sum())
    return (rng.random(n) < x).astype(np.float64), x


def _coverage(name: str, number: int) -> float:
    """Share of the forecasts at which the reliability curve lies in the consistency band."""
    fit = corp(*_draw(name, 10, 1024, number))
    band = fit.band("consistency", 0.9)
    curve = fit.recalibrate(band.x)
    return float(((curve >= band.lower) & (curve <= band.upper)).mean())


def _squared_errors(name: str, k: int | None, number: int) -> dict[str, float]:
    """Mean squared error of estimated event probabilities: recalibrated, and by bins of several kinds."""
    y, x = _draw(name, k, 512, number)
    edges = {f"{m} bins": np.linspace(0, 1, m + 1) for m in (5, 10, 50)}
    for root in (6, 3, 2):
        m = math.ceil(512 ** (1 / root) - 1e-9)
        edges[f"{m} quantile bins"] = np.quantile(x, np.arange(m + 1) / m)
    estimates = {"CORP": corp(y, x).cep} | {name: _binned(y, x, at) for name, at in edges.items()}
    return {name: float(((estimate - x) ** 2).mean()) for name, estimate in estimates.items()}


def _binned(y: FloatArray, x: FloatArray, edges: FloatArray) -> FloatArray:
    """Event frequency of the bin of each forecast."""
    place = np.searchsorted(edges[1:-1], x, side="right")
    cases = np.bincount(place)
    return (np.bincount(place, weights=y) / np.maximum(cases, 1))[place]
