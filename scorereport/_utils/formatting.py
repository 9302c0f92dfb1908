"""Formatting of numbers and texts: the same number looks the same in every table."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FEWEST_DECIMALS, _MOST_DECIMALS = 4, 7
NOT_DEFINED = "n/d"
#: Prefixes of units: thousands, millions and so on.
_LARGE = ("", "k ", "M ", "G ")
#: Unicode categories that control a terminal or hide text: controls, formats, surrogates, line breaks.
_CONTROL_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
#: More evidence than this is not stated exactly.
MOST_EVIDENCE = 1_000_000
#: A number is not rounded down because of the last digits of its logarithm.
_LOG_ERROR = 1e-9


def format_number(value: float, decimals: int) -> str:
    """Format a number with fixed decimals, a true minus, ∞, and n/d for NaN.

    >>> [format_number(value, 2) for value in (0.125, -1.5, float("inf"), float("nan"), -0.001)]
    ['0.12', '−1.50', '∞', 'n/d', '0.00']
    """
    if math.isnan(value):
        return NOT_DEFINED
    text = "∞" if math.isinf(value) else f"{abs(value):.{decimals}f}"
    is_zero = not text.strip("0.")
    return f"−{text}" if value < 0 and not is_zero else text


def format_fixed(value: float, decimals: int) -> str:
    """Format a number with fixed decimals in Python's notation, for notes that documents keep.

    >>> format_fixed(-0.125, 2), format_fixed(float("nan"), 2)
    ('-0.12', 'nan')
    """
    return f"{value:.{decimals}f}"


def format_plain(value: float, figures: int = 6) -> str:
    """Format a number in Python's notation to this many figures, as it is written in a configuration.

    >>> format_plain(0.05), format_plain(1e-6), format_plain(1 / 3, 3)
    ('0.05', '1e-06', '0.333')
    """
    return f"{value:.{figures}g}"


def shortest(value: float) -> str:
    """Format a parameter as short as possible without changing its value.

    >>> shortest(1), shortest(0.25), shortest(1.0000000001)
    ('1', '0.25', '1.0000000001')
    """
    text = format_plain(value)
    return text if float(text) == value or math.isnan(value) else repr(float(value))


def explain_percent(value: float, upper: float) -> str:
    """A sentence on a number from 5 to 100 where a share is needed: it is probably in percent.

    >>> explain_percent(95, 1), explain_percent(1.5, 1)
    (' If it is a percentage, divide it by 100: 0.95.', '')
    """
    if upper != 1 or not 5 <= value <= 100:
        return ""
    return f" If it is a percentage, divide it by 100: {shortest(value / 100)}."


def format_percent(value: float) -> str:
    """Format a share in percent.

    >>> format_percent(0.1234), format_percent(-0.5)
    ('12.3 %', '−50.0 %')
    """
    text = format_number(100 * value, 1)
    return text if text == NOT_DEFINED else f"{text} %"


def format_level(level: float) -> str:
    """Format a confidence level in percent.

    >>> format_level(0.95), format_level(0.995)
    ('95 %', '99.5 %')
    """
    return f"{100 * level:g} %"


def format_interval(lower: float, upper: float, decimals: int) -> str:
    """Format both ends of an interval; empty if it is not defined.

    >>> format_interval(-0.5, 0.25, 2), format_interval(float("nan"), 1.0, 2)
    ('[−0.50, 0.25]', '')
    """
    if math.isnan(lower) or math.isnan(upper):
        return ""
    return f"[{format_number(lower, decimals)}, {format_number(upper, decimals)}]"


def format_p_value(value: float) -> str:
    """Format a p-value to three decimals, never as 0.

    >>> [format_p_value(value) for value in (0.0449, 1e-9, float("nan"))]
    ['0.045', '<0.001', 'n/d']
    """
    return "<0.001" if value < 0.0005 else format_number(value, 3)


def format_evidence(log_evidence: float) -> str:
    """Format evidence, given as its natural logarithm: "35 to 1", rounded down.

    Evidence that is below a whole alarm line is so never written as the line itself.

    >>> [format_evidence(math.log(value)) for value in (0.1, 1.0, 2.47, 35.2)]
    ['no evidence', 'no evidence', '2.4 to 1', '35 to 1']
    >>> [format_evidence(math.log(value)) for value in (239.99, 240.0, 3200.0, 1e7)]
    ['239 to 1', '240 to 1', '3,200 to 1', 'more than 1,000,000 to 1']
    """
    if math.isnan(log_evidence):
        return NOT_DEFINED
    if log_evidence > math.log(MOST_EVIDENCE) + _LOG_ERROR:
        return f"more than {MOST_EVIDENCE:,} to 1"
    odds = math.exp(log_evidence + _LOG_ERROR)
    if odds < 1.1:
        return "no evidence"
    return f"{math.floor(10 * odds) / 10:.1f} to 1" if odds < 10 else f"{math.floor(odds):,} to 1"


def format_alarm_line(alarm_at: float) -> str:
    """Format the evidence that an alarm needs, rounded up to a whole number and never shortened.

    >>> format_alarm_line(240), format_alarm_line(12 / 0.07), format_alarm_line(1_095_000)
    ('240 to 1', '172 to 1', '1,095,000 to 1')
    """
    if not math.isfinite(alarm_at):
        return NOT_DEFINED
    return f"{math.ceil(alarm_at * (1 - _LOG_ERROR)):,} to 1"


def format_count(value: float) -> str:
    """Format a count with separated thousands; sums of fractional weights keep one decimal.

    >>> format_count(20190), format_count(12.5)
    ('20,190', '12.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def format_gigabytes(count: float) -> str:
    """Format a number of bytes.

    >>> format_gigabytes(1_234_500_000_000)
    '1,234.5 GB'
    """
    return f"{count / 1e9:,.1f} GB"


def format_counted(n: float, noun: str) -> str:
    """Format a number with its noun in singular or plural.

    >>> format_counted(1, "row"), format_counted(20190, "row")
    ('1 row', '20,190 rows')
    """
    return f"{format_count(n)} {noun}{'' if n == 1 else 's'}"


def conjugate(n: float, verb: str) -> str:
    """Return a verb in the singular or plural form for a number.

    >>> conjugate(1, "are"), conjugate(2, "are"), conjugate(1, "have"), conjugate(1, "stay")
    ('is', 'are', 'has', 'stays')
    """
    return verb if n != 1 else {"are": "is", "have": "has"}.get(verb, f"{verb}s")


def common_decimals(values: Iterable[float]) -> int:
    """Return the decimals for a column: enough for two figures of its smallest number, from 4 to 7.

    >>> common_decimals([0.2, 0.15]), common_decimals([0.2, 0.00031])
    (4, 5)
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and abs(value) > 10.0**-_MOST_DECIMALS]
    needed = 1 - math.floor(math.log10(min(sizes))) if sizes else 0
    return min(max(needed, _FEWEST_DECIMALS), _MOST_DECIMALS)


def format_value(value: float) -> str:
    """Format a number to six figures, for columns of numbers of different magnitude.

    >>> [format_value(value) for value in (0.125, -1 / 3, 20190.0, 0.000245537, 1.5e-7, float("inf"))]
    ['0.125', '−0.333333', '20190', '2.4554e−4', '1.5e−7', '∞']
    """
    if not math.isfinite(value):
        return format_number(value, 0)
    if float(value).is_integer() and abs(value) < 1e15:
        return _typeset(f"{value:.0f}")
    return _typeset(f"{value:.6g}" if 1e-3 <= abs(value) < 1e6 else _shortest(value))


def _shortest(value: float) -> str:
    mantissa, _, exponent = f"{value:.4e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"


def format_difference(value: float) -> str:
    """Format the difference of two numbers to two figures, as only its magnitude matters.

    >>> [format_difference(value) for value in (2.2204e-16, 0.0, 0.0123, 1e-12, float("inf"))]
    ['2.2e−16', '0', '0.012', '1e−12', '∞']
    """
    if not math.isfinite(value):
        return format_number(value, 0)
    return _typeset(f"{value:.2g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFormat:
    """Format of the numbers of a measure: in percent, or with the same number of decimals everywhere."""

    is_share: bool
    decimals: int

    def number(self, value: float) -> str:
        """Format one number."""
        return format_percent(value) if self.is_share else format_number(value, self.decimals)

    def limit(self, value: float) -> str:
        """Format a limit, as short as possible.

        >>> [MeasureFormat(is_share=is_share, decimals=4).limit(0.2) for is_share in (False, True)]
        ['0.2', '20.0 %']
        """
        if self.is_share:
            return format_percent(value)
        text = format_number(value, common_decimals([value]))
        return text.rstrip("0").rstrip(".") if "." in text else text

    def interval(self, lower: float, upper: float) -> str:
        """Format both ends of an interval; empty if it is not defined."""
        if not self.is_share:
            return format_interval(lower, upper, self.decimals)
        ends = format_interval(100 * lower, 100 * upper, 1)
        return f"{ends} %" if ends else ""

    def change(self, difference: float) -> str:
        """Format a difference with its sign; a difference of shares is in percentage points."""
        factor, decimals, unit = (100, 1, " points") if self.is_share else (1, self.decimals, "")
        text = format_number(factor * difference, decimals)
        return f"{'+' if difference > 0 and text.strip('0.') else ''}{text}{unit}"


def _typeset(text: str) -> str:
    """Typeset a number in Python's notation with a true minus and the shortest exponent."""
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}{e}{int(exponent) if e else ''}".replace("-", "−")


def format_time(text: str) -> str:
    """Format a time in ISO format to the minute; any other text is returned unchanged.

    >>> format_time("2026-11-15T07:30:12+00:00"), format_time("2026-11-15T07:30:12+01:00"), format_time("now")
    ('2026-11-15 07:30 UTC', '2026-11-15 07:30 UTC+01:00', 'now')
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{time:%Y-%m-%d %H:%M} {time.tzname() or ''}".rstrip()


def format_rate(rate: float, unit: str) -> str:
    """Format a rate per second, or per minute if it is slow.

    >>> format_rate(1_234_567, "rows"), format_rate(12.34, "models"), format_rate(0.05, "models")
    ('1.23 M rows/s', '12.3 models/s', '3.0 models/min')
    """
    if rate < 1:
        return f"{format_number(60 * rate, 1)} {unit}/min"
    thousands = min(int(math.log10(float(f"{rate:.2e}")) // 3), len(_LARGE) - 1)
    value = rate / 1000**thousands
    decimals = 2 if value < 10 and thousands else 1 if value < 100 else 0
    return f"{format_number(value, decimals)} {_LARGE[thousands]}{unit}/s"


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units.

    >>> [format_duration(seconds) for seconds in (0.4, 75, 3600, 100_000)]
    ['0 s', '1 min 15 s', '1 h 0 min', '1 d 3 h']
    """
    whole = round(seconds)
    for size, name, smaller, below in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {name} {whole % size // smaller} {below}"
    return f"{whole} s"


def join_words(words: Iterable[str]) -> str:
    """Join words as an enumeration.

    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def join_some(words: Sequence[str], most: int) -> str:
    """Join the first words as an enumeration, and count the others.

    >>> join_some(["a", "b", "c"], 3), join_some(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    more = [f"{len(words) - most} more"] if len(words) > most else []
    return join_words([*words[:most], *more])


def one_line(text: str) -> str:
    """Return a text on one line that is safe for a terminal: blanks replace unprintable characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def visible(text: str) -> str:
    r"""Return a text on one line in which characters that control a terminal or reverse text are escaped.

    >>> visible("a\x1b[31m\tb\u202ec\n")
    'a\\x1b[31m\\tb\\u202ec\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _CONTROL_CATEGORIES else char
        for char in text
    )


def visible_lines(text: str) -> str:
    """Apply `visible` to each line of a text."""
    return "\n".join(map(visible, text.split("\n")))
