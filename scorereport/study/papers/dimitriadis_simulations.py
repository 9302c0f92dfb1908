"""Simulations of Dimitriadis et al. (2021): Figs. 4 and 5 with the laws of Appendix A, in a few settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.study.papers.citations import DIMITRIADIS as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_claim,
    compare_printed,
    compare_word,
    report_irreproducible,
)
from scorereport.study.papers.quadrature import integral

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

_REPLICATES = 100


class _Distribution(NamedTuple):
    """A law of simulated forecasts: its density, and how it is drawn from two uniform numbers."""

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
    """What the figures show of calibrated forecasts, on seeded samples."""
    for name, law in _DISTRIBUTIONS.items():
        yield compare_printed(f"{PAPER}, Appendix A", f"{name}: integral of the density", "1", law.area())
        yield _compare_coverage(name)
        yield from _compare_errors(name)
    yield _compare_drawing()
    for figure, settings in (("Fig. 4", "confidence bands, other n and k"), ("Fig. 5", "other n")):
        reason = "Drawn without numbers; this study simulates a few of the settings only."
        yield report_irreproducible(f"{PAPER}, {figure}", settings, None, reason=reason)


def _compare_drawing() -> Comparison:
    """Whether the area of the Linear density up to what is drawn is the uniform number it is drawn from."""
    u = np.arange(101) / 100
    x = _DISTRIBUTIONS["Linear"].draw(u, u)
    error = float(np.abs(x * (0.4 + _DISTRIBUTIONS["Linear"].density(x)) / 2 - u).max())
    return compare_printed(f"{PAPER}, Appendix A", "Linear: largest error of how it is drawn", "0", error)


def _compare_coverage(law: str) -> Comparison:
    coverage = [_coverage(law, number) for number in range(_REPLICATES)]
    quantity = f"{law}, k = 10, n = 1024: coverage of the 90 % consistency band, {_REPLICATES} replicates"
    mean, lowest = float(np.mean(coverage)), 0.9 - 4 * float(np.std(coverage)) / math.sqrt(_REPLICATES)
    claim = "90 % or a little more, within 4 standard errors"
    return compare_claim(f"{PAPER}, Fig. 4", quantity, claim, f"{mean:.1%}", holds=mean >= lowest)


def _compare_errors(law: str) -> Iterator[Comparison]:
    for k in (10, 50, None):
        errors = [_squared_errors(law, k, number) for number in range(_REPLICATES)]
        best = min(errors[0], key=lambda name: sum(error[name] for error in errors))
        quantity = f"{law}, {f'k = {k}' if k else 'continuous'}, n = 512: method with the smallest error"
        yield compare_word(f"{PAPER}, Fig. 5", quantity, "CORP", best)


def _draw(law: str, k: int | None, n: int, number: int) -> tuple[FloatArray, FloatArray]:
    """Outcomes and calibrated forecasts of a law, with k values or continuous."""
    rng = random_stream(SEED, number)
    density, draw = _DISTRIBUTIONS[law]
    if k is None:
        x = draw(rng.random(n), rng.random(n))
    else:
        values = (np.arange(k) + 0.5) / k
        x = rng.choice(values, n, p=density(values) / density(values).sum())
    return (rng.random(n) < x).astype(np.float64), x


def _coverage(law: str, number: int) -> float:
    """Share of the forecasts at which the reliability curve lies in the consistency band."""
    fit = corp(*_draw(law, 10, 1024, number))
    band = fit.band("consistency", 0.9)
    curve = fit.recalibrate(band.x)
    return float(((curve >= band.lower) & (curve <= band.upper)).mean())


def _squared_errors(law: str, k: int | None, number: int) -> dict[str, float]:
    """Mean squared error of estimated event probabilities: recalibrated, and by bins of several kinds."""
    y, x = _draw(law, k, 512, number)
    edges = {f"{m} bins": np.linspace(0, 1, m + 1) for m in (5, 10, 50)}
    for root in (6, 3, 2):
        m = math.ceil(512 ** (1 / root) - 1e-9)
        edges[f"{m} quantile bins"] = np.quantile(x, np.arange(m + 1) / m)
    estimates = {"CORP": corp(y, x).cep} | {name: _binned(y, x, at) for name, at in edges.items()}
    return {name: float(((estimate - x) ** 2).mean()) for name, estimate in estimates.items()}


def _binned(y: FloatArray, x: FloatArray, edges: FloatArray) -> FloatArray:
    """Event frequency of the bin each forecast lies in."""
    place = np.searchsorted(edges[1:-1], x, side="right")
    cases = np.bincount(place)
    return (np.bincount(place, weights=y) / np.maximum(cases, 1))[place]
