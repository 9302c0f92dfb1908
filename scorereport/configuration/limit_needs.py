"""How many more cases would decide an inconclusive limit, and how long it takes to collect them."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from scipy.special import gammaincinv

from scorereport._utils.formatting import format_count, format_counted, format_level
from scorereport.configuration.limit_evidence import FEWEST_CASES, find_evidence
from scorereport.configuration.limit_records import LimitMeasure, MeasurePart
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.inference.needed_cases import LIKELY, NeededCases, find_growth, grow_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration import Bounds
    from scorereport.configuration.limit_verdicts import Judgement, LimitedNumber
    from scorereport.results.evaluation import Evaluation

#: With more times as many cases as there are, more data are not a way to decide a limit.
MOST_TIMES = 100
#: Limits that need more times as many further cases are not a reason to collect them.
WORTHWHILE_TIMES = 5
TOO_MANY = f"more than {MOST_TIMES} times as many cases"
#: Fewest periods of time of which the first and the last, which may be incomplete, are left out.
_ENOUGH_PERIODS = 4
_DAYS_OF_A_WEEK, _DAYS_OF_A_MONTH, _DAYS_OF_A_YEAR = 7, 30.44, 365.25
#: Up to how many days a time is stated in each unit.
_UNITS = ((21, 1, "day"), (182, _DAYS_OF_A_WEEK, "week"), (1096, _DAYS_OF_A_MONTH, "month"))
_SHOWN = {LimitVerdict.PASS: "is met", LimitVerdict.FAIL: "is breached"}


def find_needed(
    measure: LimitMeasure, number: LimitedNumber, bounds: Bounds, evaluation: Evaluation
) -> NeededCases | None:
    """Count the cases that would decide an inconclusive limit; None if that cannot be computed.

    There must be at least ten events and non-events too. With clusters, cases come in more clusters of the
    same kind; a number of a group needs cases of that group.
    """
    growths = _find_growths(measure, number, bounds)
    if growths is None:
        return None
    cases = _count_cases(number)
    sizes = [_grow(cases, factor, measure, number, evaluation) for factor in growths]
    even, likely = (size - cases if size <= MOST_TIMES * cases else math.inf for size in sizes)
    verdict = _find_verdict(number.value, bounds)
    needed = NeededCases(cases=cases, even=even, likely=likely, verdict=verdict)
    rate = find_rate(evaluation)
    if number.group or rate is None or not math.isfinite(likely):
        return needed
    return replace(needed, days=even / rate, likely_days=likely / rate)


def _find_growths(measure: LimitMeasure, number: LimitedNumber, bounds: Bounds) -> tuple[float, float] | None:
    """The factors by which the cases must grow, by the interval and by the rule on few cases."""
    lower, upper = number.ends
    is_known = number.is_defined and number.interval is not None and lower <= upper
    if not (is_known and all(map(math.isfinite, (number.value, lower, upper)))):
        return None
    value = min(max(number.value, lower), upper)
    limits = list(_find_deciding(value, bounds))
    evidence = find_evidence(number.sample, measure, number.cases)
    if not limits or not evidence.fewest > 0:
        return None
    # the expected number of events at which ten or more are observed with this probability (Poisson)
    likely_cases = float(gammaincinv(FEWEST_CASES, LIKELY))
    level = number.interval.level if number.interval else math.nan
    even, likely = find_growth(value, (lower, upper), limits, level=level, scale=measure.scale)
    return max(even, FEWEST_CASES / evidence.fewest), max(likely, likely_cases / evidence.fewest)


def _find_deciding(value: float, bounds: Bounds) -> list[float]:
    """The limits that the interval must leave: both if the value meets them, else the one it breaches."""
    floor, ceiling = bounds.fail_lower, bounds.fail_upper
    if ceiling is not None and value > ceiling:
        return [ceiling]
    if floor is not None and value < floor:
        return [floor]
    return [limit for limit in (floor, ceiling) if limit is not None]


def _find_verdict(value: float, bounds: Bounds) -> LimitVerdict:
    is_low = bounds.fail_lower is not None and value < bounds.fail_lower
    is_high = bounds.fail_upper is not None and value > bounds.fail_upper
    return LimitVerdict.FAIL if is_low or is_high else LimitVerdict.PASS


def _count_cases(number: LimitedNumber) -> float:
    """The cases of a sample: rows, or the sum of frequency weights."""
    sample, found = number.sample, number.sample.independent
    is_counted = found is not None and found.unit == "row" and math.isclose(found.total, sample.total)
    return sample.total if is_counted else float(sample.rows)


def _grow(
    cases: float, factor: float, measure: LimitMeasure, number: LimitedNumber, evaluation: Evaluation
) -> float:
    """The number of cases if they grow by a factor; beside a reference sample, which does not grow."""
    stability = [one for one in evaluation.stability or () if one.model == number.model]
    if measure.part is not MeasurePart.STABILITY or not stability:
        return cases * factor
    return grow_beside(cases, factor, stability[0].reference_size)


# ---- Time ----


def find_rate(evaluation: Evaluation) -> float | None:
    """Return the cases per day, by the periods of the evaluation; None if there are fewer than two.

    The first and the last period may be incomplete, and are left out if there are enough others.

    >>> from scorereport import evaluate
    >>> days = [f"2026-{month:02}-15" for month in range(1, 13)] * 2
    >>> found = evaluate([0, 1] * 12, [0.2, 0.6] * 12, time=days, window="month", resamples=0)
    >>> round(find_rate(found), 4)  # two in each month
    0.066
    """
    windows = sorted(evaluation.windows, key=lambda window: window.label)
    if len(windows) < 2:
        return None
    inner = windows[1:-1] if len(windows) >= _ENOUGH_PERIODS else windows
    days = (_end_period(inner[-1].label) - _begin_period(inner[0].label)).days
    return sum(window.sample.rows for window in inner) / days


def _begin_period(label: str) -> date:
    """The first day of a period by its label: a year, quarter, month, week or day."""
    year, _, rest = label.partition("-")
    if rest.startswith("W"):
        return date.fromisocalendar(int(year), int(rest[1:]), 1)
    if rest.startswith("Q"):
        return date(int(year), 3 * int(rest[1:]) - 2, 1)
    month, _, day = rest.partition("-")
    return date(int(year), int(month or 1), int(day or 1))


def _end_period(label: str) -> date:
    """The day after the last day of a period."""
    first = _begin_period(label)
    rest = label.partition("-")[2]
    if rest.startswith("W"):
        return first + timedelta(days=_DAYS_OF_A_WEEK)
    if rest.count("-"):
        return first + timedelta(days=1)
    months = 3 if rest.startswith("Q") else 1 if rest else 12
    place = first.month - 1 + months
    return date(first.year + place // 12, place % 12 + 1, 1)


# ---- Words ----


def describe_needed(needed: NeededCases) -> str:
    """State how many more cases would decide a limit, in a sentence."""
    shown = _SHOWN[LimitVerdict(needed.verdict)]
    if math.isinf(needed.even):
        return f"The value is so close to the limit that {TOO_MANY} would be needed to decide it."
    return (
        f"If the value stays, about {describe_amount(needed.even, needed.days)} would show that the limit "
        f"{shown}; for a probability of {format_level(LIKELY)}, {_describe_likely(needed.likely)}."
    )


def _describe_likely(likely: float) -> str:
    return f"about {format_count(round_up(likely))}" if math.isfinite(likely) else TOO_MANY


def describe_remedy(judgements: Sequence[Judgement]) -> str:
    """Return what decides inconclusive limits, as the beginning of a sentence.

    Limits that need many times as many cases as there are do not count, if there are others.
    """
    known = [judgement.needed for judgement in judgements if judgement.needed is not None]
    finite = sorted((n for n in known if math.isfinite(n.even)), key=lambda needed: needed.even)
    if not finite:
        is_hopeless = bool(known) and len(known) == len(judgements)
        return "Use other evidence for" if is_hopeless else "Collect more cases to decide"
    chosen = [needed for needed in finite if needed.even <= WORTHWHILE_TIMES * needed.cases] or finite[:1]
    some = "" if len(chosen) == len(judgements) else f" {len(chosen)} of"
    return f"Collect at least {describe_amount(chosen[-1].even, chosen[-1].days)} to decide{some}"


def describe_amount(more: float, days: float | None) -> str:
    """Return a number of further cases, rounded up to two digits, with the time that they take.

    >>> describe_amount(4150, 97.0)
    '4,200 more cases (14 weeks at the present rate)'
    """
    shown = f"{format_count(round_up(more))} more cases"
    return shown if days is None else f"{shown} ({format_days(days)} at the present rate)"


def round_up(number: float) -> float:
    """Round a number up to two significant digits; at least 1.

    >>> round_up(4150), round_up(100), round_up(0.2)
    (4200.0, 100.0, 1.0)
    """
    number = max(math.ceil(number - 1e-9 * number), 1)
    unit = 10 ** max(len(str(number)) - 2, 0)
    return float(-(-number // unit) * unit)


def format_days(days: float) -> str:
    """Return a number of days as text, in days, weeks, months or years.

    >>> format_days(0.2), format_days(97), format_days(400), format_days(2000)
    ('1 day', '14 weeks', '13 months', '5 years')
    """
    size, noun = next(((size, noun) for most, size, noun in _UNITS if days < most), (_DAYS_OF_A_YEAR, "year"))
    return format_counted(max(round(days / size), 1), noun)
