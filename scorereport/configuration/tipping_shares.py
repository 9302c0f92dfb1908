"""The share of events among missing outcomes at which the verdict on a limit changes.

Each missing outcome is taken as an event with the same share. A number of all rows then follows from the
share: a mean linearly, miscalibration by interpolation between the shares at which it was computed. The
interval moves with its number. The distances of its ends change with the standard deviation over rows and
with the square root of the number of rows; those of miscalibration are z standard errors. The overfit of
miscalibration shrinks with the number of rows. So the shares are approximate.

K classes have no single share; of their verdicts, those that some classes lead to are found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_percent, join_words
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.limit_numbers import count_independent
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict, find_verdict
from scorereport.configuration.limits_table import Bounds
from scorereport.configuration.measure_limits import known_measure
from scorereport.inference.losses import expected_score, resolve_measure
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.missing_outcomes import (
    DECOMPOSED,
    MISCALIBRATION,
    SHARE,
    ClassModelBounds,
    ModelBounds,
    find_deviation,
    interpolate_share,
)
from scorereport.scores.registry import REGISTRY, Reported, inside_sentence
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scorereport.configuration.limit_records import LimitMeasure
    from scorereport.inference.missing_outcomes import MissingOutcomes, OutcomeBounds
    from scorereport.results.evaluation import Evaluation

    #: A function of the share of events among the missing outcomes.
    OfShare = Callable[[float], float]

#: Halvings of the step between two shares in which a verdict changes.
_HALVINGS = 20
#: Numbers between the bounds over all outcomes that are judged.
_VALUES = 201
_SEVERITY = {verdict: place for place, verdict in enumerate(LimitVerdict)}


class VerdictRange(NamedTuple):
    """A range of shares of events among the missing outcomes, and the verdict in it."""

    start: float
    end: float
    verdict: LimitVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingShares:
    """A judgement, and its verdict by the share of events among the missing outcomes.

    `possible` are the verdicts over all outcomes, from best to worst; for skills, which have no bounds over
    all outcomes, over all shares. Judgements of K classes have no `ranges` of shares.
    """

    judgement: Judgement
    ranges: tuple[VerdictRange, ...]
    possible: tuple[LimitVerdict, ...]

    @property
    def can_change(self) -> bool:
        """Whether some outcomes change the verdict."""
        return self.possible != (self.judgement.verdict,)

    @property
    def can_worsen(self) -> bool:
        """Whether some outcomes lead to a worse verdict."""
        return _SEVERITY[self.possible[-1]] > _SEVERITY[self.judgement.verdict]

    def find_kept(self, rate: float) -> int | None:
        """The place of the range nearest to a share in which the verdict is that of the judgement."""
        kept = [p for p, found in enumerate(self.ranges) if found.verdict is self.judgement.verdict]
        return min(kept, key=lambda place: _distance(self.ranges[place], rate), default=None)


def _distance(found: VerdictRange, share: float) -> float:
    return max(found.start - share, share - found.end, 0.0)


def find_tipping_shares(evaluation: Evaluation, judgements: Iterable[Judgement]) -> tuple[TippingShares, ...]:
    """Follow the verdicts on all cases whose numbers depend on the missing outcomes in a known way.

    These are mean scores, their skills, miscalibration of the Brier score, and the prevalence; of K classes,
    mean scores. A verdict that does not follow from the interval, because events are few, is not followed.
    """
    if evaluation.missing_outcomes is None:
        return ()
    found = (_follow_judgement(evaluation, judgement) for judgement in judgements if not judgement.group)
    return tuple(tipping for tipping in found if tipping is not None)


def _follow_judgement(evaluation: Evaluation, judgement: Judgement) -> TippingShares | None:
    found = () if evaluation.missing_outcomes is None else evaluation.missing_outcomes.results
    model = next((model for model in found if judgement.model in ("", model.model)), None)
    followed = None if model is None else _follow_number(model, judgement, evaluation)
    names = ("warn_lower", "warn_upper", "fail_lower", "fail_upper")
    bounds = Bounds(**{name: getattr(judgement, name) for name in names})
    if model is None or followed is None or find_verdict(*_ends(judgement), bounds) != judgement.verdict:
        return None
    shares, ranges = [0.0], tuple[VerdictRange, ...]()
    if isinstance(model, ModelBounds):
        shares = model.shares.tolist()
        ranges = tuple(_find_ranges(followed, bounds, shares))
    possible = {found.verdict for found in ranges} | set(_list_possible(followed, bounds, shares))
    return TippingShares(
        judgement=judgement,
        ranges=ranges,
        possible=tuple(sorted(possible, key=_SEVERITY.__getitem__)),
    )


def _ends(judgement: Judgement) -> tuple[float, float]:
    """The judged interval; a number without one, or that is infinite, has two equal ends."""
    if math.isnan(judgement.lower) or math.isinf(judgement.value):
        return judgement.value, judgement.value
    return judgement.lower, judgement.upper


# ---- Numbers by share ----


class _Followed(NamedTuple):
    """A number by the share of events, its bounds over all outcomes, and the distances of its interval.

    The distances of the ends of the interval change by the factor `stretch`.
    """

    at: OfShare
    stretch: OfShare
    lower: float = math.nan
    upper: float = math.nan
    distances: tuple[float, float] = (0.0, 0.0)

    def judge(self, value: float, share: float, bounds: Bounds) -> LimitVerdict:
        """The verdict on a value, with the interval of a share."""
        if not math.isfinite(value):
            return find_verdict(value, value, bounds)
        below, above = (self.stretch(share) * distance for distance in self.distances)
        return find_verdict(value - below, value + above, bounds)


def _follow_number(
    model: ModelBounds | ClassModelBounds, judgement: Judgement, evaluation: Evaluation
) -> _Followed | None:
    """The number of a judgement by the share of events; None if it does not follow from the bounds."""
    missing, measure = evaluation.missing_outcomes, known_measure(judgement.measure)
    if missing is None or math.isnan(judgement.value):
        return None
    low, high = _ends(judgement)
    if isinstance(model, ClassModelBounds):
        found = _bound_class_mean(model, measure)
    elif measure.part is MeasurePart.MISCALIBRATION and measure.score == DECOMPOSED:
        found = _follow_component(model, judgement, evaluation)
    elif measure.part is MeasurePart.SKILL:
        found = _follow_skill(model, measure.score)
    elif measure.part is MeasurePart.MEAN:
        found = _follow_mean(model.find(measure.score))
    else:
        found = _follow_mean(model.find(measure.name, SHARE))
    if found is None or low == high or any(found.distances):
        return found
    shrink = math.sqrt(1 - missing.share)
    distances = (shrink * (judgement.value - low), shrink * (high - judgement.value))
    return found._replace(distances=distances)


def _bound_class_mean(model: ClassModelBounds, measure: LimitMeasure) -> _Followed | None:
    """The mean and its bounds; those of miscalibration need not be attained, so it is not followed."""
    bounds = model.find(measure.score) if measure.part is MeasurePart.MEAN else None
    if bounds is None:
        return None
    value = bounds.observed
    return _Followed(lambda _: value, lambda _: 1.0, lower=bounds.lower, upper=bounds.upper)


def _follow_mean(bounds: OutcomeBounds | None) -> _Followed | None:
    if bounds is None:
        return None
    mean, deviation = _find_mean(bounds), _find_deviations(bounds)
    before = bounds.observed_deviation
    return _Followed(
        mean, lambda share: _divide(deviation(share), before), lower=bounds.lower, upper=bounds.upper
    )


def _find_mean(bounds: OutcomeBounds) -> OfShare:
    return lambda share: interpolate_share(share, bounds.no_events, bounds.all_events)


def _find_deviations(bounds: OutcomeBounds) -> OfShare:
    """The standard deviation over rows at each share, from mean squares, which are linear in it."""
    mean = _find_mean(bounds)
    no_square = bounds.no_events_deviation**2 + bounds.no_events**2
    all_square = bounds.all_events_deviation**2 + bounds.all_events**2
    return lambda share: find_deviation(interpolate_share(share, no_square, all_square), mean(share))


def _divide(now: float, before: float) -> float:
    """The factor by which a deviation changes; 1 if it is not known, or was 0."""
    return now / before if before > 0 and math.isfinite(now) else 1.0


def _follow_component(model: ModelBounds, judgement: Judgement, evaluation: Evaluation) -> _Followed | None:
    """Miscalibration less its overfit, if the judged number is corrected."""
    bounds, missing = model.find(DECOMPOSED, MISCALIBRATION), evaluation.missing_outcomes
    if bounds is None or missing is None:
        return None
    observed = 1 - missing.share
    overfit = (bounds.observed - judgement.value) * observed
    rows = count_independent(evaluation.data.sample).total / observed
    z = ErrorDistribution().critical_value(evaluation.settings.level)
    reach = 0.0 if math.isnan(judgement.lower) else z / math.sqrt(rows)
    return _Followed(
        lambda share: float(np.interp(share, model.shares, model.miscalibration)) - overfit,
        lambda share: float(np.interp(share, model.shares, model.deviation)),
        lower=bounds.lower - overfit,
        upper=bounds.upper - overfit,
        distances=(reach, reach),
    )


def _follow_skill(model: ModelBounds, score: str) -> _Followed | None:
    """The skill of a score without options; it has no bounds over all outcomes."""
    bounds, prevalence = model.find(score), model.find("prevalence", SHARE)
    if bounds is None or prevalence is None or REGISTRY[score].reported is not Reported.ALWAYS:
        return None
    mean, rate, deviation = _find_mean(bounds), _find_mean(prevalence), _find_deviations(bounds)
    measure = resolve_measure(score, {})

    def references(event_rate: float) -> tuple[float, float]:
        rates = np.array([event_rate])
        constant, perfect = (float(expected_score(measure, rates, p)[0]) for p in (rates, None))
        return constant, perfect

    def stretch(share: float) -> float:
        now, before = references(rate(share))[0], references(prevalence.observed)[0]
        return _divide(deviation(share), bounds.observed_deviation) * _divide(before, now)

    return _Followed(lambda share: relative_skill(mean(share), *references(rate(share))), stretch)


# ---- Verdicts ----


def _find_ranges(followed: _Followed, bounds: Bounds, shares: list[float]) -> Iterator[VerdictRange]:
    def judge(share: float) -> LimitVerdict:
        return followed.judge(followed.at(share), share, bounds)

    verdicts, start = [judge(share) for share in shares], 0.0
    for (left, before), (right, after) in pairwise(zip(shares, verdicts, strict=True)):
        if before is not after:
            change = _locate_change(judge, left, right)
            yield VerdictRange(start, change, before)
            start = change
    yield VerdictRange(start, 1.0, verdicts[-1])


def _locate_change(judge: Callable[[float], LimitVerdict], left: float, right: float) -> float:
    """The share between two at which the verdict of the left one ends."""
    verdict = judge(left)
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        left, right = (middle, right) if judge(middle) is verdict else (left, middle)
    return left


def _list_possible(followed: _Followed, bounds: Bounds, shares: list[float]) -> Iterator[LimitVerdict]:
    """The verdicts on numbers between the bounds, each with the interval of the share that comes nearest."""
    if math.isnan(followed.lower):
        return
    along = np.array([followed.at(share) for share in shares])
    known = [followed.lower, followed.upper, *along, bounds.warn_upper, bounds.fail_upper]
    highest = max((value for value in known if value is not None and math.isfinite(value)), default=0.0)
    is_known = math.isfinite(followed.lower)
    between = np.linspace(followed.lower, min(highest, followed.upper), _VALUES) if is_known else ()
    for value in (*between, followed.upper):
        nearest = shares[first_lowest(np.abs(np.where(np.isfinite(along), along, np.nan) - value))]
        yield followed.judge(float(value), nearest, bounds)


# ---- Sentences ----


def describe_tipping(tipping: TippingShares, missing: MissingOutcomes) -> str:
    """State at which shares of events among the missing outcomes the verdict changes."""
    judgement, rows = tipping.judgement, missing.counted
    subject = f"The verdict on the {inside_sentence(judgement.label)}"
    subject += f" of {judgement.model}" if judgement.model else ""
    rate = find_observed_rate(missing)
    place = tipping.find_kept(rate)
    if place is None:
        found = join_words(dict.fromkeys(str(found.verdict) for found in tipping.ranges))
        return f"{subject} is {found} with the {rows}, whatever share of them are events."
    changes = list(_describe_changes(tipping, place, rows))
    if not changes:
        return f"{subject} stays {judgement.verdict}, whatever share of the {rows} are events."
    compared = _compare_rates(missing, judgement.model, rate)
    return f"{subject} changes from {judgement.verdict} {', and '.join(changes)} ({compared})."


def _describe_changes(tipping: TippingShares, place: int, rows: str) -> Iterator[str]:
    kept, counted = tipping.ranges[place], f" of the {rows} are events"
    if place > 0:
        to = tipping.ranges[place - 1].verdict
        yield f"to {to} if fewer than {format_percent(kept.start)}{counted}"
        counted = ""
    if place < len(tipping.ranges) - 1:
        to = tipping.ranges[place + 1].verdict
        yield f"to {to} if more than {format_percent(kept.end)}{counted}"


def _compare_rates(missing: MissingOutcomes, model: str, rate: float) -> str:
    """The observed rate, and the mean forecast of the model for the rows without an outcome."""
    found = next((one for one in missing.models if one.model == model), None)
    observed = f"observed rate {format_percent(rate)}"
    return observed if found is None else f"{observed}, mean forecast {format_percent(found.mean_forecast)}"


def find_observed_rate(missing: MissingOutcomes) -> float:
    """The share of events among the observed rows."""
    found = missing.models[0].find("prevalence", SHARE)
    return math.nan if found is None else found.observed
