"""Entries of the section on methods: name, formula, convention and reference; and shared phrases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport.inference.estimates import HypothesisTest
from scorereport.report.methods.class_formulas import CLASS_CATALOGUE, ENGINE_CATALOGUE
from scorereport.report.methods.formula_catalogue import BINARY_CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.inference.estimates import Difference, Estimate

#: The methods of all kinds of models, and of all engines.
METHOD_CATALOGUE = BINARY_CATALOGUE | CLASS_CATALOGUE | ENGINE_CATALOGUE
#: A method: texts under the keys "key" (in the catalogue), "name", "formula", "convention", "reference".
MethodEntry = dict[str, str]

#: The name of errors of independent rows in records, and in the report.
_INDEPENDENT = ("iid errors", "errors of independent rows")


def method_entry(key: str, *more: str, reference: str = "") -> MethodEntry:
    """Return a method of the catalogue, with further sentences on its use in this report."""
    known = METHOD_CATALOGUE[key]
    return {
        "key": key,
        "name": known.name,
        "formula": known.formula,
        "convention": " ".join(text for text in (known.convention, *more) if text),
        "reference": reference or known.reference,
    }


def join_methods(found: Iterable[HypothesisTest | Difference]) -> str:
    """Return the methods of some records as sentences, each once."""
    methods = distinct(record.method.replace(*_INDEPENDENT) for record in found)
    return " ".join(capitalize(f"{method}.") for method in methods)


def is_defined(found: HypothesisTest | Difference | Estimate) -> bool:
    """Whether a record has a number, so that its method was used."""
    return not math.isnan(found.p_value if isinstance(found, HypothesisTest) else found.value)


def distinct(texts: Iterable[str]) -> list[str]:
    """Return each text once, in order of first occurrence."""
    return list(dict.fromkeys(texts))


def capitalize(text: str) -> str:
    """Capitalize the first letter, unless the text begins with a symbol such as χ²."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text
