"""Verdicts on limits in words that a manager understands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_level, format_number
from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.configuration.measure_limits import MEASURES, LimitMeasure, MeasurePart

if TYPE_CHECKING:
    from scorereport.configuration.numbers import LimitedNumber

_LIMIT, _WARNING = "limit", "warning limit"
#: So many decimals are enough to tell any number from its limit.
_MOST_DECIMALS = 10
_UNKNOWN_REASON = "these data do not determine it."


def describe_judgement(
    judgement: Judgement, number: LimitedNumber, ends: tuple[float, float], doubt: str
) -> str:
    """The sentence of a judgement: whose number, its interval, and how it lies to its limit.

    `ends` are those that were judged. `doubt` says that cases are few; then they are those of an exact bound,
    or infinite if there is none.
    """
    what = judgement.label[0].upper() + judgement.label[1:]
    what += f" of {judgement.model}" if judgement.model else ""
    what += f" where {judgement.group}" if judgement.group else ""
    shown, reason = format_judgement(judgement), number.note or _UNKNOWN_REASON
    if math.isnan(number.value):
        return f"{what} is not defined and cannot be judged: {reason}"
    if not number.is_defined:
        return f"{what}: {shown['value']}, cannot be judged without an interval: {reason}"
    wording = _Wording(judgement, *ends)
    if math.isinf(number.value):
        return f"{what} is {shown['value']} and {wording.say()}."
    said = f"{what}: {shown['value']}"
    if number.interval is not None:
        said += f"{_introduce_interval(judgement)} {shown['interval']}"
    if doubt:
        return f"{said}. {doubt}: {_describe_few_cases(judgement, ends)}."
    if number.interval is None:
        return f"{said}, judged without an interval, {wording.say()}."
    is_equivalence = MEASURES[judgement.measure].part is MeasurePart.MISCALIBRATION
    return f"{said}: {wording.say_within()}." if is_equivalence else f"{said}, {wording.say()}."


def _describe_few_cases(judgement: Judgement, ends: tuple[float, float]) -> str:
    """What holds where cases are few: an exact bound decides, or nothing does."""
    if judgement.verdict is LimitVerdict.INCONCLUSIVE:
        return f"with fewer than {FEWEST_CASES} an interval does not settle a limit"
    measure, decimals = MEASURES[judgement.measure], _decimals(judgement)
    factor, unit = (100, " %") if measure.is_share else (1, "")
    exact = f"{format_interval(factor * ends[0], factor * ends[1], decimals)}{unit}"
    verdict = _Wording(judgement, *ends).say()
    return f"with fewer than {FEWEST_CASES} only an exact bound settles a limit, and {exact} {verdict}"


def _introduce_interval(judgement: Judgement) -> str:
    """The interval of a component is not one of the raw value, which may lie outside."""
    if MEASURES[judgement.measure].part in (MeasurePart.MISCALIBRATION, MeasurePart.DISCRIMINATION):
        component = judgement.label.partition(" ")[0]
        return f" as measured, {format_level(judgement.level)} interval of the true {component}"
    return ", interval"


def format_judgement(judgement: Judgement) -> dict[str, str]:
    """Value, interval and limits of a judgement as text, for a line of a table; empty if not there."""
    measure, decimals = MEASURES[judgement.measure], _decimals(judgement)
    factor, unit = (100, " %") if measure.is_share else (1, "")
    interval = format_interval(factor * judgement.lower, factor * judgement.upper, decimals)
    return {
        "value": _show(judgement.value, measure, decimals),
        "interval": f"{interval}{unit}" if interval else "",
        "warn": _show_limits(judgement.warn_lower, judgement.warn_upper, measure, decimals),
        "fail": _show_limits(judgement.fail_lower, judgement.fail_upper, measure, decimals),
    }


def _show(value: float, measure: LimitMeasure, decimals: int) -> str:
    factor, unit = (100, " %") if measure.is_share and math.isfinite(value) else (1, "")
    return f"{format_number(factor * value, decimals)}{unit}"


def _show_limits(lower: float | None, upper: float | None, measure: LimitMeasure, decimals: int) -> str:
    """The limits of a kind, with the sign of what is allowed."""
    shown = [f"≥ {_show(lower, measure, decimals)}"] if lower is not None else []
    shown += [f"≤ {_show(upper, measure, decimals)}"] if upper is not None else []
    return ", ".join(shown)


def _decimals(judgement: Judgement) -> int:
    """As in the tables; more if a number would look as if it were on its limit and is not."""
    measure = MEASURES[judgement.measure]
    limits = [
        limit
        for limit in (
            judgement.warn_lower,
            judgement.warn_upper,
            judgement.fail_lower,
            judgement.fail_upper,
        )
        if limit is not None
    ]
    numbers = (judgement.value, judgement.lower, judgement.upper)
    decimals = 3 if measure.part is MeasurePart.LINE else common_decimals([judgement.value, *limits])
    decimals = 1 if measure.is_share else decimals
    while decimals < _MOST_DECIMALS and any(
        limit != number and _show(limit, measure, decimals) == _show(number, measure, decimals)
        for limit in limits
        for number in numbers
    ):
        decimals += 1
    return decimals


class _Wording:
    """How an interval lies to its limits, in words."""

    def __init__(self, judgement: Judgement, lower: float, upper: float) -> None:
        self.judgement, self.lower, self.upper = judgement, lower, upper
        self.measure, self.decimals = MEASURES[judgement.measure], _decimals(judgement)
        self.fail = (judgement.fail_lower, judgement.fail_upper)
        self.warn = (judgement.warn_lower, judgement.warn_upper)

    def say(self) -> str:
        """The verb and what follows."""
        return {
            LimitVerdict.PASS: self._say_pass,
            LimitVerdict.WARN: self._say_warn,
            LimitVerdict.INCONCLUSIVE: self._say_inconclusive,
            LimitVerdict.FAIL: self._say_fail,
        }[self.judgement.verdict]()

    def say_within(self) -> str:
        """What a limit on miscalibration, which is an upper one, has shown: a test of equivalence."""
        (_, warn), (_, fail) = self.warn, self.fail
        verdict = self.judgement.verdict
        if verdict is LimitVerdict.PASS:
            return f"shown to be calibrated within {self._show(fail if warn is None else warn)}"
        if verdict is LimitVerdict.FAIL:
            return f"shown to be miscalibrated by more than {self._show(fail)}"
        if verdict is LimitVerdict.INCONCLUSIVE:
            return f"neither shown to be calibrated within {self._show(fail)} nor to be miscalibrated by more"
        shown = "" if fail is None else f"shown to be calibrated within {self._show(fail)}, but "
        return f"{shown}not shown to be within the {_WARNING} {self._show(warn)}"

    def _say_pass(self) -> str:
        floor, ceiling = self.warn
        sides = [
            (_LIMIT, self.fail[0]) if floor is None else (_WARNING, floor),
            (_LIMIT, self.fail[1]) if ceiling is None else (_WARNING, ceiling),
        ]
        (name, low), (other, high) = sides
        if low is None or high is None or name == other:
            return f"lies {self._within(name if high is None else other, low, high)}"
        return f"lies {self._within(name, low, None)} and {self._within(other, None, high)}"

    def _say_warn(self) -> str:
        floor, ceiling = self.warn
        if ceiling is not None and self.lower > ceiling:
            place = f"above the {_WARNING} {self._show(ceiling)}"
        elif floor is not None and self.upper < floor:
            place = f"below the {_WARNING} {self._show(floor)}"
        else:
            place = f"not wholly {self._within(_WARNING, floor, ceiling)}"
        if self.fail == (None, None):
            return f"lies {place}"
        return f"lies {self._within(_LIMIT, *self.fail)}, but {place}"

    def _say_inconclusive(self) -> str:
        floor, ceiling = self.fail
        inside = [self._show(floor)] if floor is not None and self.lower < floor else []
        inside += [self._show(ceiling)] if ceiling is not None and self.upper > ceiling else []
        if len(inside) == 2:
            return f"cannot be told from the {_LIMIT}s {' and '.join(inside)}: both lie inside the interval"
        return f"cannot be told from the {_LIMIT} {inside[0]}: it lies inside the interval"

    def _say_fail(self) -> str:
        floor, ceiling = self.fail
        if ceiling is not None and self.lower > ceiling:
            return f"lies above the {_LIMIT} {self._show(ceiling)}"
        return f"lies below the {_LIMIT} {self._show(math.nan if floor is None else floor)}"

    def _within(self, name: str, low: float | None, high: float | None) -> str:
        if low is not None and high is not None:
            return f"between the {name}s {self._show(low)} and {self._show(high)}"
        if high is not None:
            return f"{'at or ' if self.upper == high else ''}below the {name} {self._show(high)}"
        return f"{'at or ' if self.lower == low else ''}above the {name} {self._show(low)}"

    def _show(self, limit: float | None) -> str:
        return "" if limit is None else _show(limit, self.measure, self.decimals)
