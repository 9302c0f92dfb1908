"""Results of inference: estimates, tests, differences with Holm adjustment, and ranks of models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_inside
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import rank_ties
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its standard error and interval; NaN where they are not defined, see the note.

    `degrees_of_freedom` are those of t if the interval has a quantile of t; None otherwise.
    """

    measure: str
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    n: float
    degrees_of_freedom: float | None = None
    note: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentEstimate:
    """A raw component, the overfit-corrected component, and the interval of the true component.

    The raw values add up to the mean score; the interval is for the population and may exclude them.
    """

    measure: str
    component: str
    value: float
    corrected: float
    standard_error: float
    lower: float
    upper: float
    level: float
    overfit_closed: float
    overfit_resampled: float
    n: float
    method: str
    note: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisTest:
    """A statistic and its p-value, with the null hypothesis in words; NaN where not defined, see the note.

    `p_value_holm` is adjusted for the number of models, or of groups, to which the same test was applied, and
    None if there is only one. `draws` is the number of samples that were drawn under the null hypothesis, and
    None for tests that draw none.
    """

    name: str
    statistic: float
    p_value: float
    null_hypothesis: str
    method: str
    reference: str
    n: float
    degrees_of_freedom: int | None = None
    p_value_holm: float | None = None
    draws: int | None = None
    note: str = ""

    __repr__ = short_repr

    @property
    def smallest_p_value(self) -> float:
        """The smallest p-value that the draws can give; 0 for tests that draw none."""
        return 0.0 if self.draws is None else 1 / (self.draws + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A measure of the first model minus that of the second; NaN where not defined, see the note.

    Negative favours the first model, unless `higher_is_better`. `p_value_holm` is adjusted over all
    pairs that were compared by the same measure, and None if there is only one.
    """

    first: str
    second: str
    measure: str
    first_value: float
    second_value: float
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    statistic: float
    p_value: float
    p_value_holm: float | None = None
    higher_is_better: bool = False
    null_hypothesis: str
    method: str
    reference: str
    n: float
    note: str = ""

    __repr__ = short_repr


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for their number by Holm's method; NaN stays NaN and does not count.

    The result is that of statsmodels, whose function runs the garbage collector at every call and takes ten
    thousand times as long.

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70

    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]  # NaN last
    adjusted = p.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def adjust_by_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust the p-values of pairs for their number; pairs without a test do not count."""
    adjusted = holm([d.p_value for d in differences])
    return [replace(d, p_value_holm=float(p)) for d, p in zip(differences, adjusted, strict=True)]


def adjust_tests(by_model: Sequence[tuple[HypothesisTest, ...]]) -> list[tuple[HypothesisTest, ...]]:
    """The tests of each model with p-values adjusted over the tests of the same name."""
    by_name = [holm([test.p_value for test in tests]).tolist() for tests in zip(*by_model, strict=True)]
    return [
        tuple(
            replace(test, p_value_holm=adjusted[place]) for test, adjusted in zip(tests, by_name, strict=True)
        )
        for place, tests in enumerate(by_model)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The rank of a model by one measure, and the models that do not differ from it significantly."""

    model: str
    measure: str
    value: float
    rank: int
    tied_with: tuple[str, ...]

    __repr__ = short_repr


def rank_models(differences: Iterable[Difference], *, alpha: float = 0.05) -> tuple[Rank, ...]:
    """Rank models by each measure, with ties where the difference is not significant.

    The rank of a model is 1 plus the number of models that are better by a significant difference: its
    p-value (Holm's, where there is one) is at most `alpha`, or it is infinite, as one refuted certainty is
    enough for an infinite expectation. Any two models without a significant difference are tied, though one
    may still rank behind a third from which the other does not differ. Models of the same rank are in the
    order of their values, then of their names.

    >>> from scorereport.inference import compare_models
    >>> models = {"a": [0.1, 0.8, 0.7, 0.3], "b": [0.3, 0.6, 0.7, 0.6], "c": [0.5, 0.5, 0.6, 0.5]}
    >>> for r in rank_models(compare_models([0, 1, 1, 0], models, ["brier"]), alpha=0.1):
    ...     print(r.rank, r.model, round(r.value, 4), r.tied_with)
    1 a 0.0575 ('b',)
    1 b 0.175 ('a', 'c')
    2 c 0.2275 ('b',)
    """
    pairs = tuple(differences)
    alpha = check_inside(alpha, "alpha", 0, 1, closed="neither")
    if not pairs:
        raise UsageError("`differences` must hold at least one difference.")
    by_measure = {measure: [d for d in pairs if d.measure == measure] for measure in _measures(pairs)}
    return tuple(rank for found in by_measure.values() for rank in _rank_by_one_measure(found, alpha))


def _measures(differences: Sequence[Difference]) -> dict[str, None]:
    """All measures, in the order of their first appearance."""
    return dict.fromkeys(d.measure for d in differences)


def _rank_by_one_measure(differences: Sequence[Difference], alpha: float) -> list[Rank]:
    values: dict[str, float] = {}
    better: dict[str, int] = {}
    ties: dict[str, list[str]] = {}
    for d in differences:
        values |= {d.first: d.first_value, d.second: d.second_value}
        if not _is_significant(d, alpha):
            ties.setdefault(d.first, []).append(d.second)
            ties.setdefault(d.second, []).append(d.first)
        else:
            worse = d.second if (d.value > 0) == d.higher_is_better else d.first
            better[worse] = better.get(worse, 0) + 1
    sign = -1 if differences[0].higher_is_better else 1
    ranks = [
        Rank(
            model=model,
            measure=differences[0].measure,
            value=value,
            rank=1 + better.get(model, 0),
            tied_with=tuple(sorted(ties.get(model, []))),
        )
        for model, value in values.items()
    ]
    places = dict(zip(values, rank_ties([sign * value for value in values.values()]).tolist(), strict=True))
    return sorted(ranks, key=lambda r: (r.rank, np.isnan(r.value), places[r.model], r.model))


def _is_significant(difference: Difference, alpha: float) -> bool:
    """Whether the difference is significant at `alpha`, or infinite."""
    p = difference.p_value if difference.p_value_holm is None else difference.p_value_holm
    return bool(p <= alpha) or bool(np.isinf(difference.value))
