"""Usual mistakes in data, recognised when values are refused: each gives a hint, the last part of a message.

A hint is a sentence after a space, or empty if no mistake is recognised. Arrays, tables in memory and tables
on disk share these sentences; those for tables name the argument of Python and the option of the command
line.
"""

from __future__ import annotations

import json
import re
import shlex
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.formatting import shortest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray

#: Numbers that some programs write for a missing value.
_CODES_OF_MISSING = {sign * number for sign in (1, -1) for number in (9, 99, 999, 9999, 99999)} | {
    -1,
    8888,
    -8,
}
#: The largest percentage, and the largest size of log-odds that programs write.
_PERCENT, _LOG_ODDS = 100.0, 40.0
#: The fewest numbers outside [0, 1], as a share of all, among percentages and among log-odds.
_SHARE_PERCENT, _SHARE_LOG_ODDS = 0.1, 0.3
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_PERCENT_TEXT = re.compile(r"[+-]?\d*[.,]?\d+\s*%", re.ASCII)
_THOUSANDS = re.compile(
    r"\d{1,3}(([,'’ \u00a0\u202f])\d{3}(\2\d{3})*)(\.\d+)?|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}",
    re.ASCII,
)
_FRACTION = re.compile(r"\d+\s*/\s*\d+", re.ASCII)
_LACKING = re.compile(r"[-–—.?*_]+|missing|unknown|not available|n\.a\.?|#[A-Z0-9/]+[!?]?", re.IGNORECASE)
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})\b.{0,20}", re.ASCII)
_SHORT_YEAR = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2}", re.ASCII)
_DAY_NUMBER = re.compile(r"[2-6]\d{4}(\.\d+)?", re.ASCII)
_MONTHS = 12
#: The most values of which a mistake is looked for, and the most characters of a text that a hint shows.
_MOST_READ, _LONGEST_SHOWN = 1000, 40
#: Labels that usually mean that the event was observed.
_EVENTS = ["1", "yes", "y", "true", "t", "positive", "event", "case", "default", "bad", "dead", "died", "2"]
#: Labels that usually mean that it was not, also in other languages.
_OTHERS = {
    "0",
    "no",
    "n",
    "false",
    "f",
    "negative",
    "none",
    "good",
    "alive",
    "nein",
    "non",
    "nee",
    "nie",
    "não",
}
COMMA_HINT = ' Write decimals with a point; for a CSV file, pass decimal="," (--decimal ,).'
CLASSES_HINT = " For models of several classes, name these in `classes` (--classes)."
_SEVERAL_HINT = " For models of several classes, use `evaluate` with `classes`."
_SOFTMAX_HINT = " If they are logits, convert each row with the softmax function."
POSITIVE_HINT = " For other labels, name the one that counts as the event in `positive` (--positive)."


class NumberRange(NamedTuple):
    """The smallest and largest number, the share outside [0, 1], and the number outside if all are equal."""

    lowest: float
    highest: float
    share_outside: float
    only_outside: float | None


def range_of(values: FloatArray) -> NumberRange:
    """The range of numbers of which some are outside [0, 1]; missing ones do not count."""
    known = values[~np.isnan(values)]
    outside = known[(known < 0) | (known > 1)]
    only = float(outside[0]) if (outside == outside[0]).all() else None
    return NumberRange(float(known.min()), float(known.max()), len(outside) / len(known), only)


def hint_at_scale(found: NumberRange, *, are_classes: bool = False) -> str:
    """What numbers instead of probabilities may be: percentages, log-odds, or codes of missing values."""
    lowest, highest, share, only = found
    if only is not None and only in _CODES_OF_MISSING:
        return f" If {shortest(only)} stands for a missing value, mark it as missing, or drop these rows."
    if lowest >= 0 and 2 < highest <= _PERCENT and share >= _SHARE_PERCENT:
        return " If they are percentages, divide them by 100."
    if -_LOG_ODDS <= lowest < -0.5 and highest <= _LOG_ODDS and share >= _SHARE_LOG_ODDS:
        return _SOFTMAX_HINT if are_classes else " If they are log-odds, convert them with 1 / (1 + exp(-x))."
    return ""


def hint_at_shape(values: object, shape: tuple[int, ...], name: str) -> str:
    """What to pass instead of a single number, or of an array or a frame of two dimensions."""
    if shape == ():
        return " Pass one value per case, in a list or an array."
    if len(shape) != 2 or 0 in shape:
        return ""
    columns = f"{name}.iloc" if hasattr(values, "iloc") else _name_array(values, name)
    if shape[1] == 1:
        return f" Pass its only column, {columns}[:, 0]."
    if shape[1] == 2:
        return f" Pass the column of the event, such as {columns}[:, 1]."
    return _SEVERAL_HINT


def _name_array(values: object, name: str) -> str:
    """An argument in an expression that needs an array; a list is none."""
    return name if hasattr(values, "dtype") else f"np.asarray({name})"


def hint_at_swap(outcome: FloatArray, forecast: object) -> str:
    """Whether outcomes and forecasts look swapped: probabilities instead of outcomes, and only 0 and 1."""
    try:
        other = np.asarray(forecast, dtype=np.float64)
    except (TypeError, ValueError):
        return ""
    are_shares = bool(((outcome >= 0) & (outcome <= 1)).all())
    are_binary = bool(other.size and ((other == 0) | (other == 1)).all())
    return " `y_true` and `y_prob` look swapped: outcomes come first." if are_shares and are_binary else ""


def hint_at_coding(values: object, outcome: NDArray[np.generic], name: str) -> str:
    """How to pass an outcome of two values that are not 0 and 1, such as 1 and 2, -1 and 1, or no and yes."""
    if outcome.dtype.kind in "biuf":
        numbers = np.unique(outcome).tolist()
        if not all(float(number).is_integer() for number in numbers):
            return ""
        labels = [shortest(number) for number in numbers]
        event = labels[-1] if labels else ""
    else:
        labels = sorted({str(item) for item in outcome.tolist()})
        event = repr(choose_event(labels))
    if len(labels) != 2 or not _can_be_shown(labels):
        return _SEVERAL_HINT if len(labels) > 2 else ""
    return f" If {event} is the event, pass {_name_array(values, name)} == {event}."


def _can_be_shown(labels: Iterable[str]) -> bool:
    return all(len(label) <= _LONGEST_SHOWN and label.isprintable() for label in labels)


def choose_event(labels: Sequence[str]) -> str:
    """Return the label that more probably means the event, for an example in a message.

    >>> choose_event(["no", "yes"]), choose_event(["ja", "nein"]), choose_event(["bad", "good"])
    ('yes', 'ja', 'bad')
    """
    if set(labels) == {"1", "2"}:
        return "2"
    left = [label for label in labels if label.lower() not in _OTHERS]
    known = left if len(left) == 1 else [label for label in labels if label.lower() in _EVENTS]
    if len(known) == 1:
        return known[0]
    return min(known, key=lambda label: _EVENTS.index(label.lower())) if known else sorted(labels)[-1]


def hint_at_outcome(labels: Collection[str]) -> str:
    """How to name the event of a column with other labels than 0 and 1."""
    if len(labels) > 2:
        return _hint_at_forecasts(labels) or CLASSES_HINT
    if len(labels) < 2 or not _can_be_shown(labels):
        return POSITIVE_HINT
    first, second = sorted(labels)
    event = choose_event([first, second])
    value = event if _is_number(event) else json.dumps(event, ensure_ascii=False)
    return (
        f" Its labels are {first!r} and {second!r}: pass the one that is the event, such as "
        f"positive={value} (--positive {shlex.quote(event)})."
    )


def _hint_at_forecasts(labels: Collection[str]) -> str:
    """Many fractions are probabilities, not labels."""
    numbers = [float(label) if _is_number(label) else -1.0 for label in islice(labels, _MOST_READ)]
    is_forecast = all(0 <= number <= 1 for number in numbers) and any(0 < number < 1 for number in numbers)
    return " If it holds forecasts, name it in `forecasts` (--forecast) instead." if is_forecast else ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) is not None


def _strip(item: object) -> str:
    return str(item).strip()


def hint_at_classes(labels: FloatArray, n_classes: int) -> str:
    """Whether classes are numbered from 1 instead of 0."""
    is_shifted = bool(labels.min() == 1 and labels.max() == n_classes)
    return " If classes are numbered from 1, subtract 1." if is_shifted else ""


def hint_at_numbers(items: Iterable[object]) -> str:
    """How to write texts that should be numbers: the hint for the most usual mistake among them."""
    texts = [text for text in map(_strip, islice(items, _MOST_READ)) if len(text) <= _LONGEST_SHOWN]
    for pattern, hint in (
        (_PERCENT_TEXT, " Write {0} as a number without the percent sign, divided by 100."),
        (_THOUSANDS, " Write {0} without thousands separators."),
        (_DECIMAL_COMMA, COMMA_HINT),
        (_FRACTION, " Write {0} as a decimal number."),
        (_LACKING, " If {0} stands for a missing value, leave it empty."),
    ):
        for text in texts:
            if pattern.fullmatch(text) and not (pattern is _THOUSANDS and _is_decimal_comma(texts)):
                return hint.replace("{0}", repr(text))
    return " Convert texts to numbers first." if texts and all(map(_is_number, texts)) else ""


def _is_decimal_comma(texts: Iterable[str]) -> bool:
    """Whether commas are decimal: with 0,250 among the numbers, 1,250 is not a thousand."""
    with_comma = [text for text in texts if _DECIMAL_COMMA.fullmatch(text)]
    return any(len(text.split(",")[1]) != 3 or text.startswith(("0", ",")) for text in with_comma)


def hint_at_dates(items: Iterable[object]) -> str:
    """How to write texts that should be dates: the year first."""
    for text in map(_strip, islice(items, _MOST_READ)):
        if found := _DAY_FIRST.fullmatch(text):
            return _hint_at_order(text, *map(int, found.groups()))
        if _SHORT_YEAR.fullmatch(text):
            return " Write the year first, with four digits."
        if _DAY_NUMBER.fullmatch(text):
            return f" If {text} is the day number of a spreadsheet, format its cells as dates."
    return ""


def _hint_at_order(text: str, first: int, second: int, year: int) -> str:
    day, month = (first, second) if first > _MONTHS else (second, first)
    if not (_MONTHS < day <= 31 and 1 <= month <= _MONTHS):
        return " Write the year first, then the month and the day."
    return f" Write the year first: {text!r} is {year}-{month:02}-{day:02}."


def hint_at_percentages(numbers: Sequence[float]) -> str:
    """How to write numbers inside (0, 1) that were given as percentages; a small one among them is not."""
    if not all(1 <= number < _PERCENT for number in numbers) or not any(number > 1 for number in numbers):
        return ""
    shares = ", ".join(shortest(number / _PERCENT) for number in numbers)
    return f" If they are percentages, divide them by 100: {shares}."
