"""The verdict on an interval and its limits, and what verdicts come to.

A number on a limit, up to rounding, meets it. So a measure fails if its whole interval lies beyond the
limit, it has met the limit if no part of the interval lies beyond, and otherwise the interval holds numbers
on both sides and the verdict is open.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from scorereport._utils.rounding import exceeds
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.configuration import Bounds


class LimitVerdict(StrEnum):
    """A verdict on a limit, from best to worst."""

    PASS = "pass"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"


_SEVERITY = {light: place for place, light in enumerate(LimitVerdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A number, its interval and its limits with the verdict and a sentence that says it.

    `model` is "" for what is no model's, `group` is "" for all rows, else "column = label". Where there
    is no interval, `lower`, `upper` and `level` are NaN. Bounds that are not set are None.
    """

    model: str
    group: str
    measure: str
    label: str
    value: float
    lower: float
    upper: float
    level: float
    warn_lower: float | None
    warn_upper: float | None
    fail_lower: float | None
    fail_upper: float | None
    verdict: LimitVerdict
    sentence: str


def find_verdict(lower: float, upper: float, bounds: Bounds) -> LimitVerdict:
    """The verdict on an interval; a number alone is an interval with both ends in the same place.

    >>> from scorereport.configuration import Bounds
    >>> bounds = Bounds(warn_upper=0.19, fail_upper=0.21)
    >>> [str(find_light(lower, lower + 0.01, bounds)) for lower in (0.175, 0.185, 0.205, 0.215)]
    ['pass', 'warn', 'inconclusive', 'fail']
    """
    floor, ceiling = _or_infinite(bounds.fail_lower, bounds.fail_upper)
    if exceeds(lower, ceiling) or exceeds(floor, upper):
        return LimitVerdict.FAIL
    if exceeds(upper, ceiling) or exceeds(floor, lower):
        return LimitVerdict.INCONCLUSIVE
    floor, ceiling = _or_infinite(bounds.warn_lower, bounds.warn_upper)
    return LimitVerdict.WARN if exceeds(upper, ceiling) or exceeds(floor, lower) else LimitVerdict.PASS


def is_certain_warning(lower: float, upper: float, bounds: Bounds) -> bool:
    """Whether a warning holds wherever in the interval the number lies: it does where a limit is met."""
    floor, ceiling = _or_infinite(bounds.warn_lower, bounds.warn_upper)
    has_limit = bounds.fail_lower is not None or bounds.fail_upper is not None
    return has_limit or bool(exceeds(lower, ceiling) or exceeds(floor, upper))


def _or_infinite(lower: float | None, upper: float | None) -> tuple[float, float]:
    return -math.inf if lower is None else lower, math.inf if upper is None else upper


def find_worst_verdict(judgements: Iterable[Judgement]) -> LimitVerdict | None:
    """The worst verdict; None if nothing was judged."""
    return max((j.verdict for j in judgements), key=_SEVERITY.__getitem__, default=None)


def count_limit_verdicts(judgements: Iterable[Judgement]) -> dict[LimitVerdict, int]:
    """How many judgements came to each verdict, from best to worst."""
    counts = Counter(j.verdict for j in judgements)
    return {light: counts[light] for light in LimitVerdict}


def verdict_exit_code(light: LimitVerdict | None, *, strict: bool) -> ExitCode:
    """What the command line answers: a limit that fails is a breach; what is open counts under `strict`."""
    if light is LimitVerdict.FAIL:
        return ExitCode.LIMIT_BREACHED
    is_open = light in (LimitVerdict.WARN, LimitVerdict.INCONCLUSIVE)
    return ExitCode.WARNINGS if strict and is_open else ExitCode.DONE
