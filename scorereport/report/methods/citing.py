"""References in short, and the list of all works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A work of the literature, by authors and year; more authors than these are et al.
_WORK_PATTERN = re.compile(r"(?P<authors>[^()]+) \((?P<year>\d{4})\), ")
_MOST_AUTHORS = 2


def cite(reference: str) -> str:
    """Authors and year of each work; what is no work of the literature stays as it is.

    >>> cite("Brier (1950), Rev. 78; Gneiting, Raftery (2007), doi:10.1; A, B, C (2021), X 1; a rule")
    'Brier (1950); Gneiting, Raftery (2007); A et al. (2021); a rule'
    """
    return "; ".join(_shorten(work) for work in reference.split("; "))


def _shorten(work: str) -> str:
    found = _WORK_PATTERN.match(work)
    if found is None:
        return work
    authors = found["authors"].split(", ")
    who = found["authors"] if len(authors) <= _MOST_AUTHORS else f"{authors[0]} et al."
    return f"{who} ({found['year']})"


def list_works(references: Iterable[str]) -> list[str]:
    """All works of the literature, each once, in the order of the alphabet."""
    works = {work for reference in references for work in reference.split("; ")}
    return sorted((work for work in works if _WORK_PATTERN.match(work)), key=str.casefold)
