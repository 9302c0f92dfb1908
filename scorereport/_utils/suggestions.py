"""Suggestions for misspelt names: the known name that was probably meant.

Similar names may have opposite meanings, such as `brier_score` and `brier_skill`; these are never suggested.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Pairs of words of opposite or different meaning; a name with one is never suggested for a name with the
#: other.
OPPOSITES = (
    ("above", "below"),
    ("accuracy", "misclassification"),
    ("ascending", "descending"),
    ("before", "after"),
    ("calibration", "discrimination"),
    ("confidence", "consistency"),
    ("exclude", "include"),
    ("external", "internal"),
    ("fail", "pass"),
    ("fail", "warn"),
    ("first", "last"),
    ("high", "low"),
    ("increas", "decreas"),
    ("intercept", "slope"),
    ("latest", "oldest"),
    ("loss", "skill"),
    ("lower", "upper"),
    ("max", "min"),
    ("negative", "positive"),
    ("newest", "oldest"),
    ("next", "last"),
    ("no", "yes"),
    ("optional", "required"),
    ("over", "under"),
    ("previous", "next"),
    ("score", "skill"),
    ("sensitivity", "specificity"),
    ("start", "end"),
    ("true", "false"),
)
#: Prefixes that reverse the meaning of a word.
_NEGATIONS = ("un", "in", "im", "non", "dis", "mis", "de", "anti")
_PARTS = re.compile(r"[^\W_]+")
#: The fewest letters of a word in which one letter, or two, may be wrong.
_ONE_WRONG, _TWO_WRONG = 3, 4


def suggest_name(word: str, known: Iterable[str]) -> str:
    """Return the known name of which a word is a misspelling; empty if none is, or several are as close.

    >>> suggest_name("brier_skil", ["brier", "brier_skill"]), suggest_name("brier_score", ["brier_skill"])
    ('brier_skill', '')
    """
    names = list(dict.fromkeys(known))
    ranked = sorted((rank, name) for name in names if (rank := _rank(word, name)) is not None)
    if not ranked:
        longer = [name for name in names if re.match(rf"{re.escape(word)}[^A-Za-z0-9]", name, re.IGNORECASE)]
        return longer[0] if word and len(longer) == 1 else ""
    is_alone = len(ranked) == 1 or ranked[0][0] < ranked[1][0]
    return ranked[0][1] if is_alone else ""


def count_wrong_letters(word: str, name: str) -> int:
    """Return the number of letters in which a word differs from a name, whatever the case.

    >>> count_wrong_letters("Ksi", "psi"), count_wrong_letters("ksi", "ks")
    (1, 1)
    """
    return _count_wrong(word.casefold(), name.casefold())


def _rank(word: str, name: str) -> tuple[int, float] | None:
    """The number of wrong letters, and the dissimilarity; None if the name cannot be meant."""
    typed, meant = _PARTS.findall(word.casefold()), _PARTS.findall(name.casefold())
    if len(typed) != len(meant):  # an underscore missing, or added
        typed, meant = ["".join(typed)], ["".join(meant)]
        if typed != meant:
            return None
    wrong = 0
    for one, other in zip(typed, meant, strict=True):
        count = _count_wrong(one, other)
        if count > _most_wrong(one, other) or _is_opposite(one, other):
            return None
        wrong += count
    return (wrong, -SequenceMatcher(None, word, name).ratio()) if any(typed) else None


def _most_wrong(typed: str, meant: str) -> int:
    shorter = min(len(typed), len(meant))
    return 2 if shorter >= _TWO_WRONG else 1 if max(len(typed), len(meant)) >= _ONE_WRONG else 0


def _is_opposite(typed: str, meant: str) -> bool:
    """Whether a word is as close to the opposite of a name as to the name."""
    if typed == meant:
        return False
    wrong = _count_wrong(typed, meant)
    return any(_count_wrong(typed, other) <= wrong for other in _list_opposites(meant))


def _list_opposites(name: str) -> Iterator[str]:
    for sign in _NEGATIONS:
        yield sign + name
        if name.startswith(sign):
            yield name.removeprefix(sign)
    for pair in OPPOSITES:
        for part, other in (pair, pair[::-1]):
            if part in name:
                yield name.replace(part, other)


@lru_cache(1 << 14)
def _count_wrong(typed: str, meant: str) -> int:
    """The number of letters to insert, delete, replace, or swap with the next, from one word to the other."""
    if abs(len(typed) - len(meant)) > 2:
        return max(len(typed), len(meant))  # too many for a misspelling
    rows = [list(range(len(meant) + 1))]
    for i, letter in enumerate(typed, 1):
        row = [i]
        for j, other in enumerate(meant, 1):
            options = [rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (letter != other)]
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                options.append(rows[i - 2][j - 2] + 1)
            row.append(min(options))
        rows.append(row)
    return rows[-1][-1]
