"""Models ranked by each measure, with ties where the data cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_inside
from scorereport._utils.rounding import rank_ties
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.inference.estimates import Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The place of a model by one measure, and the models that the data cannot tell it from."""

    model: str
    measure: str
    value: float
    rank: int
    tied_with: tuple[str, ...]


def rank_models(differences: Iterable[Difference], *, alpha: float = 0.05) -> tuple[Rank, ...]:
    """Rank models by each measure, with ties where the data cannot tell.

    The rank of a model is 1 plus the number of models that are told to be better: by the sign of the
    difference, if its p-value (Holm's, where there is one) is at most `alpha`, or if the difference is
    infinite, as one refuted certainty is enough for an infinite expectation. Any two models that are not
    told apart are tied, though one may still rank behind a third from which the other cannot be told.
    Models of the same rank stand in the order of their values, then of their names.

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
    by_measure = {measure: [d for d in pairs if d.measure == measure] for measure in _names(pairs)}
    return tuple(rank for found in by_measure.values() for rank in _rank_by_one_measure(found, alpha))


def _names(differences: Sequence[Difference]) -> dict[str, None]:
    """All measures, in the order of their first appearance."""
    return dict.fromkeys(d.measure for d in differences)


def _rank_by_one_measure(differences: Sequence[Difference], alpha: float) -> list[Rank]:
    values: dict[str, float] = {}
    better: dict[str, int] = {}
    ties: dict[str, list[str]] = {}
    for d in differences:
        values |= {d.first: d.first_value, d.second: d.second_value}
        if not _is_distinguished(d, alpha):
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


def _is_distinguished(difference: Difference, alpha: float) -> bool:
    """Whether the data tell which of the two is better."""
    p = difference.p_value if difference.p_value_holm is None else difference.p_value_holm
    return bool(p <= alpha) or bool(np.isinf(difference.value))
