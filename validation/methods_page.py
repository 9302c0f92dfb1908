"""Page docs/methods.md, written from the declarations of the methods section of reports by `make docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from scorereport._utils.files import write_text
from scorereport.report.methods.calibration_formulas import BAND_FORMULAS, CALIBRATION_FORMULAS
from scorereport.report.methods.class_formulas import (
    CLASS_CATALOGUE,
    CLASS_SYMBOLS,
    ENGINE_CATALOGUE,
    ORDINAL_SYMBOLS,
    SYMBOLS_OF_BUCKETS,
)
from scorereport.report.methods.decision_formulas import DECISION_GAIN_FORMULAS
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS
from scorereport.report.methods.formula_catalogue import (
    COMPARISON_FORMULAS,
    DECISION_FORMULAS,
    GROUP_FORMULAS,
    INTERVAL_FORMULAS,
    SKILL_FORMULAS,
)
from scorereport.report.methods.measure_methods import describe_score
from scorereport.report.methods.method_entries import capitalize, method_entry
from scorereport.report.methods.notation import COVERAGE_STUDY, SYMBOLS, SYMBOLS_OF_INFERENCE
from scorereport.report.methods.reference_formulas import REFERENCE_FORMULAS
from scorereport.report.methods.verdict_formulas import VERDICT_FORMULAS
from scorereport.scores.registry import REGISTRY, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scorereport.report.methods.method_entries import MethodEntry

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
_HEAD = """# Methods

These are all methods that reports can use, each with its formula, what the software chooses, and references.
The methods section of a report lists those that it uses, with the settings of that report. The
[coverage study](coverage.md) measures how often intervals and bands cover and tests reject; the
[glossary](glossary.md) defines the terms, and [the scores](scores.md) lists ranges and options. This page is
written by `make docs` from the declarations that reports use.
"""
_SYMBOLS = {
    "Binary models": SYMBOLS,
    "Models of K classes": CLASS_SYMBOLS | ORDINAL_SYMBOLS,
    "Intervals, draws and buckets": SYMBOLS_OF_INFERENCE | SYMBOLS_OF_BUCKETS,
}
_FAMILIES = {
    "Calibration and decomposition": CALIBRATION_FORMULAS,
    "Bands of the reliability curve": BAND_FORMULAS,
    "Discrimination and decisions": DECISION_FORMULAS | DECISION_GAIN_FORMULAS,
    "Intervals": INTERVAL_FORMULAS,
    "Comparisons": COMPARISON_FORMULAS,
    "Subgroups and recalibration": GROUP_FORMULAS,
    "Verdicts": VERDICT_FORMULAS,
    "Reference sample": REFERENCE_FORMULAS,
    "Earlier audits": EVIDENCE_FORMULAS,
    "Classes, probability scale and choice": CLASS_CATALOGUE,
    "Rows sorted on disk or on a cluster": ENGINE_CATALOGUE,
}
#: Kinds of scores of binary models; others are for classes.
_BINARY = (Kind.BINARY, Kind.RANKING)
#: Words that tell methods of the same name apart, by the end or the beginning of their key.
_VARIANTS = {
    r" in (clusters|time|buckets)$": r"in \1",
    r" by Wald$": "by Wald",
    r"^class (?:skill|overfit|miscalibration test)$": "K classes",
    r"^class (?:views|sums)$": "classes without an order",
    r"^ordinal ": "ordered classes",
    r"^closed overfit$|^jackknife bracket$": "in buckets",
}
_DOI = re.compile(r"doi:(\S+)")


def render_methods_page() -> str:
    """Render the page as text."""
    return "\n".join([_HEAD, *_render_symbols(), *_render_scores(), *_render_families()])


def _render_symbols() -> Iterator[str]:
    yield "## Symbols\n"
    for title, symbols in _SYMBOLS.items():
        rows = "".join(f"| {_escape(symbol)} | {_escape(text)} |\n" for symbol, text in symbols.items())
        yield f"### {title}\n\n| symbol | meaning |\n| --- | --- |\n{rows}"


def _render_scores() -> Iterator[str]:
    """Render the scores that reports show, those of binary models first, with their skill."""
    scores = [score for score in REGISTRY.values() if score.formula]
    for title, is_binary in {"Scores of binary models": True, "Scores of classes": False}.items():
        entries = [describe_score(score.name) for score in scores if (score.kind in _BINARY) == is_binary]
        yield from _render_family(title, entries)
        if is_binary:
            yield from map(_render_method, map(method_entry, SKILL_FORMULAS))


def _render_families() -> Iterator[str]:
    for title, catalogue in _FAMILIES.items():
        yield from _render_family(title, map(method_entry, catalogue))


def _render_family(title: str, entries: Iterable[MethodEntry]) -> Iterator[str]:
    yield f"## {title}\n"
    yield from map(_render_method, entries)


def _render_method(entry: Mapping[str, str]) -> str:
    """Render a method: its name, the formula as a quotation, the convention and the references."""
    texts = [f"### {_name_method(entry)}", f"> {_escape(entry['formula'])}", _escape(entry["convention"])]
    references = "; ".join(map(_link, entry["reference"].split("; ")))
    return "\n\n".join(filter(None, [*texts, references and f"Reference: {references}."])) + "\n"


def _name_method(entry: Mapping[str, str]) -> str:
    """Return a name that only this method has."""
    key = entry["key"]
    if key in BAND_FORMULAS:
        kind, coverage, method = key.split(" ", 2)
        return f"{capitalize(coverage)} {kind} band ({method})"
    variants = (found.expand(words) for way, words in _VARIANTS.items() if (found := re.search(way, key)))
    variant = next(variants, "")
    return f"{entry['name']} ({variant})" if variant else entry["name"]


def _link(work: str) -> str:
    """Link a work of the literature by its DOI, and the coverage study by its page."""
    if work == COVERAGE_STUDY:
        return "[Coverage study](coverage.md)"
    found = _DOI.search(work)
    if found is None:
        return _escape(work)
    address = f"https://doi.org/{quote(found[1], safe='/:;.')}"
    return f"{_escape(work[: found.start()])}[doi:{_escape(found[1])}]({address})"


def _escape(text: str) -> str:
    """Return a text whose characters have no meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>#|~$])", r"\\\1", text)


if __name__ == "__main__":
    write_text(PAGE, render_methods_page())
