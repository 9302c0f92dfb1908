"""Score decompositions: CORP's miscalibration, discrimination, uncertainty, and Murphy's classic one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from scorereport._utils.arrays import CACHED_ROWS, row_chunks
from scorereport._utils.checks import CheckedCases
from scorereport._utils.formatting import common_decimals, format_counted, format_fixed, format_plain
from scorereport._utils.overviews import Overview, overview_html
from scorereport._utils.record_frames import record_row
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.scores.registry import REGISTRY, Direction, Kind, Propriety, get_score
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.reliability.blocks import Blocks
    from scorereport.scores.registry import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition:
    """Mean scores of the forecast, the recalibrated, the constant and the perfect forecast.

    The components follow: for losses, score = miscalibration - discrimination + uncertainty.
    For scores where higher is better, miscalibration and discrimination change sign, so that their meaning is
    the same: the gain of recalibration, and the gain of the recalibrated forecast over a constant.
    """

    name: str
    score: float
    recalibrated: float
    reference: float
    perfect: float
    n: float
    infinite_cases: float = 0.0
    higher_is_better: bool = False

    DERIVED: ClassVar = ("miscalibration", "discrimination", "uncertainty", "skill")
    SHOWN: ClassVar = ("name", "score", *DERIVED, "n")

    __repr__ = short_repr
    _repr_html_ = overview_html

    @property
    def miscalibration(self) -> float:
        """MCB: the gain of recalibration; infinite if the score is infinite."""
        return self._sign * (self.score - self.recalibrated)

    @property
    def discrimination(self) -> float:
        """DSC: the gain of the recalibrated forecast over the constant one."""
        return self._sign * (self.reference - self.recalibrated)

    @property
    def uncertainty(self) -> float:
        """UNC: the score of the constant forecast, which is the mean outcome."""
        return self.reference

    @property
    def skill(self) -> float:
        """Skill: 0 for the constant forecast, 1 for the perfect one; NaN where they are the same."""
        return relative_skill(self.score, self.reference, self.perfect)

    @property
    def note(self) -> str:
        """A note on infinite scores; empty if there are none."""
        if not self.infinite_cases:
            return ""
        cases = "case has" if self.infinite_cases == 1 else "cases have"
        infinite = f"{format_plain(self.infinite_cases)} {cases} an infinite {self.name}"
        return f"{infinite}: the outcome had probability 0."

    def to_frame(self) -> pd.DataFrame:
        """The score, its components and the skill as a table with one row."""
        return record_row(self, self.SHOWN)

    def _describe(self) -> Overview:
        gains = "miscalibration - discrimination"
        if self.higher_is_better:
            gains = "discrimination - miscalibration"
        notes = (f"score = {gains} + uncertainty", self.note)
        return Overview(
            title=f"Decomposition of {self.name} over {format_counted(self.n, 'case')}",
            facts=show_parts(self),
            notes=tuple(note for note in notes if note),
        )

    @property
    def _sign(self) -> int:
        return -1 if self.higher_is_better else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MurphyDecomposition:
    """Murphy's Brier = reliability - resolution + uncertainty over the distinct forecasts."""

    reliability: float
    resolution: float
    uncertainty: float

    DERIVED: ClassVar = ("score",)
    SHOWN: ClassVar = (*DERIVED, "reliability", "resolution", "uncertainty")

    __repr__ = short_repr

    @property
    def score(self) -> float:
        """The Brier score, recovered from its parts."""
        return self.reliability - self.resolution + self.uncertainty


def show_parts(decomposition: Decomposition) -> tuple[tuple[str, str], ...]:
    """Return the score, its components and the skill as texts with their labels, for displays."""
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    values = [getattr(decomposition, name) for name in names]
    decimals = common_decimals(values)
    shown = [(name, format_fixed(value, decimals)) for name, value in zip(names, values, strict=True)]
    return (*shown, ("skill", f"{format_fixed(100 * decomposition.skill, 1)} %"))


def decompose_cases(
    cases: CheckedCases, blocks: Blocks, score: str | Callable[..., FloatArray], options: dict[str, Any]
) -> Decomposition:
    """Decompose the mean score of ordered binary cases whose isotonic fit is `blocks`."""
    name, function, higher = resolve_score(score, options)
    mean, infinite = mean_score(
        function, cases, largest_part=None if find_entry(score) is None else CACHED_ROWS
    )
    return decompose_mean(name, function, mean, blocks, infinite_cases=infinite, higher_is_better=higher)


def decompose_mean(
    name: str,
    function: Callable[[FloatArray, FloatArray], FloatArray],
    mean: float,
    blocks: Blocks,
    *,
    infinite_cases: float,
    higher_is_better: bool,
) -> Decomposition:
    """Decompose a known mean score of cases whose isotonic fit is `blocks`."""
    return Decomposition(
        name=name,
        score=mean,
        recalibrated=mean_at(function, blocks.mean, blocks.n, blocks.events),
        reference=mean_at(function, *_as_one_block(blocks)),
        perfect=mean_at(function, *_as_two_outcomes(blocks)),
        n=float(blocks.n.sum()),
        infinite_cases=infinite_cases,
        higher_is_better=higher_is_better,
    )


def mean_score(
    function: Callable[[FloatArray, FloatArray], FloatArray], cases: CheckedCases, *, largest_part: int | None
) -> tuple[float, float]:
    """Compute the mean score of cases, and the weight of those whose score is infinite.

    In parts, intermediate results stay in the cache of the processor, and no array of the size of the data is
    made. Parts are cut where numpy's pairwise summation cuts: the sum is the same to the last bit.
    """
    y, _, weight = cases
    total, infinite = _sum_scores(function, cases, len(y) if largest_part is None else largest_part)
    return total / (len(y) if weight is None else float(weight.sum())), infinite


def _sum_scores(
    function: Callable[[FloatArray, FloatArray], FloatArray], cases: CheckedCases, largest_part: int
) -> tuple[float, float]:
    """Sum scores, and the weight of infinite ones, by halves until a half is small enough."""
    y, p, weight = cases
    if len(y) > largest_part:
        middle = len(y) // 16 * 8
        below, above = (
            CheckedCases(y[half], p[half], None if weight is None else weight[half])
            for half in (slice(middle), slice(middle, None))
        )
        left, left_infinite = _sum_scores(function, below, largest_part)
        right, right_infinite = _sum_scores(function, above, largest_part)
        return left + right, left_infinite + right_infinite
    scores = np.asarray(function(y, p))
    total = float((scores if weight is None else scores * weight).sum())
    return total, 0.0 if np.isfinite(total) else _total(weight, np.isinf(scores))


def decompose_real(cases: CheckedCases, blocks: Blocks) -> Decomposition:
    """Decompose the mean squared error of real outcomes whose isotonic fit is `blocks`."""
    y, x, weight = cases
    fitted = blocks.mean[np.searchsorted(blocks.x_max, x)]
    constant = weighted_mean(y, weight)
    return Decomposition(
        name="squared_error",
        score=weighted_mean((x - y) ** 2, weight),
        recalibrated=weighted_mean((fitted - y) ** 2, weight),
        reference=weighted_mean((constant - y) ** 2, weight),
        perfect=0.0,
        n=float(blocks.n.sum()),
    )


def decompose_by_value(distinct: Blocks) -> MurphyDecomposition:
    """Compute Murphy's decomposition over distinct forecasts."""
    total = distinct.n.sum()
    base_rate = distinct.events.sum() / total
    return MurphyDecomposition(
        reliability=float((distinct.n * (distinct.mean - distinct.x_min) ** 2).sum() / total),
        resolution=float((distinct.n * (distinct.mean - base_rate) ** 2).sum() / total),
        uncertainty=float(base_rate * (1 - base_rate)),
    )


def resolve_score(
    score: str | Callable[..., FloatArray], options: dict[str, Any]
) -> tuple[str, Callable[[FloatArray, FloatArray], FloatArray], bool]:
    """Return name, function of (outcome, forecast) and whether higher is better, of a score or callable."""
    entry = find_entry(score)
    if entry is None:
        return getattr(score, "__name__", "score"), lambda y, p: _call(score, y, p, options), False
    if entry.kind is not Kind.BINARY:
        raise UsageError(f"`score` must be a score of binary forecasts; {entry.name!r} scores {entry.kind}.")
    entry.check_options(options)
    improper = [option for option in entry.improper_options if options.get(option) is not None]
    if entry.propriety is Propriety.IMPROPER or improper:
        which = f"{entry.name!r}" + "".join(f" with `{option}`" for option in improper)
        raise UsageError(f"`score` must be proper; the decomposition of {which} would be meaningless.")
    entry.function(np.array([1.0]), np.array([0.5]), **options)  # checks the options
    function = partial(_score_in_chunks, partial(entry.of_checked, **options))
    return entry.name, function, entry.direction is Direction.HIGHER


def _score_in_chunks(
    function: Callable[[FloatArray, FloatArray], FloatArray], y: FloatArray, p: FloatArray
) -> FloatArray:
    """Score cases in chunks whose intermediate results stay in the cache: of many cases in half of the time.

    Each case is scored by itself, so that chunks change no score.
    """
    if len(y) <= CACHED_ROWS:
        return function(y, p)
    scores = np.empty(len(y))
    for part in row_chunks(len(y), CACHED_ROWS):
        scores[part] = function(y[part], p[part])
    return scores


def find_entry(score: str | Callable[..., FloatArray]) -> Score | None:
    """Return the registry entry of a name or of a registered function; None for any other function."""
    if isinstance(score, str):
        return get_score(score)
    entry = REGISTRY.get(getattr(score, "__name__", ""))
    return entry if entry is not None and entry.function is score else None


def _call(score: Any, y: FloatArray, p: FloatArray, options: dict[str, Any]) -> FloatArray:
    values = np.asarray(score(y, p, **options), dtype=np.float64)
    if values.shape != y.shape:
        raise UsageError(
            f"`score` must give one value per case; got shape {values.shape} for {len(y)} cases."
        )
    return values


def weighted_mean(values: FloatArray, weight: CountArray | None) -> float:
    """Compute the mean by pairwise summation, which does not depend on the number of threads."""
    if weight is None:
        return float(values.sum() / len(values))
    return float((values * weight).sum() / weight.sum())


def _total(weight: FloatArray | None, chosen: NDArray[np.bool_]) -> float:
    return float(chosen.sum() if weight is None else weight[chosen].sum())


def mean_at(
    function: Callable[[FloatArray, FloatArray], FloatArray],
    forecast: FloatArray,
    n: CountArray,
    events: CountArray,
) -> float:
    """Compute the mean score of grouped cases; outcomes that did not occur do not count, even if infinite.

    Each group is scored by one outcome, and only groups with both outcomes by the other as well.
    """
    if not (n > 0).all():
        known = n > 0
        return mean_at(function, forecast[known], n[known], events[known])
    occurred = events > 0
    total = (np.where(occurred, events, n) * function(occurred.astype(np.float64), forecast)).sum()
    mixed = np.flatnonzero(occurred & (events < n))
    if len(mixed):
        total += ((n - events)[mixed] * function(np.zeros(len(mixed)), forecast[mixed])).sum()
    return float(total / n.sum())


def _as_one_block(blocks: Blocks) -> tuple[FloatArray, CountArray, CountArray]:
    n, events = blocks.n.sum(keepdims=True), blocks.events.sum(keepdims=True)
    return events / n, n, events


def _as_two_outcomes(blocks: Blocks) -> tuple[FloatArray, CountArray, CountArray]:
    n, events = blocks.n.sum(), blocks.events.sum()
    return np.array([0.0, 1.0]), np.array([n - events, events]), np.array([n - n, events])
