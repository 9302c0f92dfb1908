"""Terms of the glossary that pages use, with their definitions from the glossary of the documentation."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from scorereport._utils.files import find_package_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

GLOSSARY_FILE = "glossary.md"
#: Words for the report itself, its parts and its software, which pages use in their everyday meaning.
EVERYDAY_TERMS = (
    *("Checklist", "Configuration", "Engine", "Evaluation", "Finding", "Judgement", "Measure", "Model"),
    *("Provenance", "Record", "Reference", "Report", "Row", "Run", "Section", "Segment", "Status", "Trend"),
    "Window",
)
#: Abbreviations and other forms in which pages have a term.
OTHER_FORMS = {
    "Adjusted p-value": ("Holm’s p",),
    "BCa interval": ("BCa",),
    "Bounded score": ("bounded Brier", "bounded log", "bounded net benefit"),
    "Calibration test": ("test of calibration", "tests of calibration", "test that MCB is 0"),
    "Cumulative accuracy profile": ("CAP",),
    "Discrimination": ("DSC",),
    "E-value": ("to 1 against",),
    "ICI": ("E50", "E90", "Emax"),
    "Kolmogorov-Smirnov statistic": ("KS",),
    "Miscalibration": ("MCB",),
    "Not defined": ("n/d",),
    "Overfit-corrected": ("corrected MCB", "corrected DSC"),
    "Penalised score": ("penalised Brier", "penalised log"),
    "Pointwise band": ("pointwise consistency band", "pointwise confidence band"),
    "Population stability index": ("PSI",),
    "Quadratic weighted kappa": ("kappa",),
    "Ranked probability score": ("RPS",),
    "Simultaneous band": ("simultaneous consistency band", "simultaneous confidence band"),
    "Uncertainty": ("UNC",),
}
_ENTRY = re.compile(r"^##+ (?P<name>.+)\n(?P<text>(?:(?!##).*\n?)*)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
#: The first sentence of an entry defines the term; further ones comment on it.
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z\[])")
_TAG, _SPACE = re.compile(r"<[^>]*>"), re.compile(r"[\s.,;:()\[\]…=]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term of the glossary and its definition, which is the first sentence of its entry."""

    name: str
    definition: str


@cache
def read_glossary() -> tuple[Term, ...]:
    """Return all terms with their definitions, in alphabetical order."""
    return tuple(
        Term(
            name=entry["name"],
            definition=_LINK.sub(r"\1", _SENTENCE_END.split(" ".join(entry["text"].split()))[0]),
        )
        for entry in _ENTRY.finditer(_read_page())
    )


def read_notation() -> str:
    """Return the sentence of the glossary on symbols in definitions."""
    introduction = " ".join(_read_page().partition("##")[0].split())
    return introduction[introduction.index("In formulas") :]


def _read_page() -> str:
    return (find_package_folder("docs") / GLOSSARY_FILE).read_text(encoding="utf-8")


def define_terms(pages: Iterable[str] | None) -> list[Term]:
    """Return the terms that pages of HTML use, without everyday ones; without pages, all of these terms.

    >>> [term.name for term in define_terms(["<p>MCB: how far forecasts are from calibration</p>"])]
    ['Calibration', 'Forecast', 'Miscalibration']
    """
    words = None if pages is None else _list_words(pages)
    terms = [term for term in read_glossary() if term.name not in EVERYDAY_TERMS]
    return [term for term in terms if words is None or _is_used(term, words)]


def _list_words(pages: Iterable[str]) -> str:
    """Return the words that pages show, in lower case, each between single spaces."""
    shown = " ".join(html.unescape(_TAG.sub(" ", page)) for page in pages)
    return f" {_SPACE.sub(' ', shown).lower()} "


def _is_used(term: Term, words: str) -> bool:
    forms = (term.name, *OTHER_FORMS.get(term.name, ()))
    return any(f" {form.lower()}{ending} " in words for form in forms for ending in ("", "s", "es"))
