"""How long after the time of its row an outcome is final: the text of `audit.outcomes.mature_after`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scorereport._utils.suggestions import suggest_name
from scorereport.errors import UsageError

#: The largest number for each unit: about a hundred years.
_MOST = {"hour": 876_600, "day": 36_525, "week": 5_217, "month": 1_200}
_AGE = re.compile(rf"([0-9]{{1,9}}) ({'|'.join(_MOST)})s?")
#: Other units, as a number of a known one, and abbreviations.
_OTHER_UNITS = {"quarter": (3, "month"), "year": (12, "month"), "fortnight": (2, "week")}
_SHORT_UNITS = {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}


@dataclass(frozen=True, slots=True)
class MaturityAge:
    """The age of a row at which its outcome is final: a number of hours, days, weeks or calendar months."""

    count: int
    unit: str

    def __str__(self) -> str:
        return f"{self.count} {self.unit}{'' if self.count == 1 else 's'}"


def read_maturity_age(text: str) -> MaturityAge:
    """Read an age such as `90 days`; an error lists the units and names the age that was probably meant.

    >>> str(read_maturity_age(" 3 Months")), str(read_maturity_age("1 days"))
    ('3 months', '1 day')
    """
    plain = " ".join(text.split()).lower()
    match = _AGE.fullmatch(plain)
    if match and 1 <= int(match[1]) <= _MOST[match[2]]:
        return MaturityAge(int(match[1]), match[2])
    largest = f" from 1 to {_MOST[match[2]]}" if match else ""
    units = ", ".join(f"`N {unit}s`" for unit in list(_MOST)[:-1])
    raise UsageError(
        f"must be {units} or `N {list(_MOST)[-1]}s`, where N is a whole number{largest or ' from 1'}; got "
        f"{text!r}.{'' if match else _suggest(plain)}"
    )


def check_mature_after(text: str, name: str) -> str:
    """Check the text of an age, if there is one; an error names the key."""
    try:
        return str(read_maturity_age(text)) if text else text
    except UsageError as error:
        raise UsageError(f"`{name}` {error}") from error


def _suggest(text: str) -> str:
    """The question "Did you mean ...?" for a number without a unit, with another unit, or misspelt."""
    found = re.fullmatch(r"(?:after )?([1-9][0-9]{0,8})\s*-?\s*([a-z]*)", text)
    if not found:
        return ""
    count, word = int(found[1]), found[2]
    known = {f"{unit}s": (1, unit) for unit in _MOST}
    known |= {f"{unit}s": times for unit, times in _OTHER_UNITS.items()}
    short = f"{_SHORT_UNITS[word]}s" if word in _SHORT_UNITS else ""
    meant = "days" if not word else short or suggest_name(word if word.endswith("s") else f"{word}s", known)
    if not meant:
        return ""
    times, unit = known[meant]
    return f" Did you mean `{MaturityAge(count * times, unit)}`?"
