"""An entry of the methods: name, formula, convention and reference; and phrases that entries share."""

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
#: Texts by "name", "formula", "convention" and "reference".
MethodEntry = dict[str, str]

#: How records call the errors of independent rows.
_INDEPENDENT = ("iid errors", "errors of independent rows")


#: Labels of scores that keep their capital letter inside a sentence.
_NAMES = ("Brier", "AUC")


def method_entry(key: str, *more: str, reference: str = "") -> MethodEntry:
    """A method of the catalogue, with what is known of its use here."""
    known = METHOD_CATALOGUE[key]
    return {
        "name": known.name,
        "formula": known.formula,
        "convention": " ".join(text for text in (known.convention, *more) if text),
        "reference": reference or known.reference,
    }


def join_methods(found: Iterable[HypothesisTest | Difference]) -> str:
    """The methods of some records, each once."""
    methods = distinct(record.method.replace(*_INDEPENDENT) for record in found)
    return " ".join(capitalize(f"{method}.") for method in methods)


def is_defined(found: HypothesisTest | Difference | Estimate) -> bool:
    """Whether there is a number, so that its method was used."""
    return not math.isnan(found.p_value if isinstance(found, HypothesisTest) else found.value)


def inside_sentence(label: str) -> str:
    """A label as it stands inside a sentence."""
    return label if label.startswith(_NAMES) else label[0].lower() + label[1:]


def distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of their first places."""
    return list(dict.fromkeys(texts))


def capitalize(text: str) -> str:
    """Text with a capital letter, unless it begins with a symbol such as χ²."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text
