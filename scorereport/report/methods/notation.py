"""Notation of the methods: the record of a formula, symbols, and references to the literature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.documentation import DocumentationPage, cite_page

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A method: its name, formula, conventions chosen by the software, and reference."""

    name: str
    formula: str
    convention: str
    reference: str


def bind_operators(formula: str) -> str:
    """Return a formula whose lines do not break around relations and fraction bars.

    >>> [len(word) for word in bind_operators("D / se(D) = a + b").split(" ")]
    [13, 1, 1]
    """
    return re.sub(r" ([/=<>≤≥±]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", formula)


#: Symbols of the formulas of binary models.
SYMBOLS = {
    "p, y": "the forecast of a case and its outcome, 1 if the event happened, else 0",
    "n, ȳ": "the number of cases and the prevalence, the share of events",
    "ŷ": "the recalibrated forecast, the isotonic regression of outcomes on forecasts",
    "S": "a score of one case, also S(p, y); S(p), S(ŷ), S(ȳ) and S(y) are its means over all cases for "
    "the forecast, the recalibrated forecast, the constant prevalence and perfect foresight",
    "TP, FP, FN, TN": "shares of all cases: events with p ≥ threshold, non-events with p ≥ threshold, events "
    "and non-events with p < threshold",
    "logit p": "log(p / (1 − p)), the log-odds",
}
#: Symbols of intervals.
SYMBOLS_OF_INTERVALS = {
    "ℓ, z": "the level of an interval or band, and its two-sided normal quantile",
    "se, sd": "standard error and standard deviation",
}
#: Symbols of random draws and tests.
SYMBOLS_OF_INFERENCE = SYMBOLS_OF_INTERVALS | {"B, *": "the number of random draws, and a drawn value"}


BATES_2024 = "Bates, Hastie, Tibshirani (2024), J. Am. Stat. Assoc. 119, doi:10.1080/01621459.2023.2197686"
ALTMAN_BLAND_1994 = "Altman, Bland (1994), BMJ 309, doi:10.1136/bmj.309.6947.102"
VERGOUWE_2005 = "Vergouwe et al. (2005), J. Clin. Epidemiol. 58, doi:10.1016/j.jclinepi.2004.06.017"
CLOPPER_PEARSON_1934 = "Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404"
COLLINS_2024 = "Collins et al. (2024), TRIPOD+AI, BMJ 385, doi:10.1136/bmj-2023-078378"
COVERAGE_STUDY = cite_page(DocumentationPage.COVERAGE)
DIMITRIADIS_2023 = (
    "Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068"
)
EFRON_1987 = "Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410"
HALL_1992 = "Hall (1992), The Bootstrap and Edgeworth Expansion, doi:10.1007/978-1-4612-4384-7"
HIGGINS_2002 = "Higgins, Thompson (2002), Stat. Med. 21, doi:10.1002/sim.1186"
HOEFFDING_1963 = "Hoeffding (1963), J. Am. Stat. Assoc. 58, doi:10.1080/01621459.1963.10500830"
HOLM_1979 = "Holm (1979), Scand. J. Stat. 6, 65–70"
JULIOUS_2004 = "Julious (2004), Stat. Med. 23, doi:10.1002/sim.1783"
HOROWITZ_MANSKI_2000 = "Horowitz, Manski (2000), J. Am. Stat. Assoc. 95, doi:10.1080/01621459.2000.10473902"
KENT_HAINSWORTH_1995 = "Kent, Hainsworth (1995), J. Stat. Plan. Inference 46, 147–159"
KORN_GRAUBARD_1998 = "Korn, Graubard (1998), Surv. Methodol. 24, 193–201"
MANSKI_2003 = "Manski (2003), Partial Identification of Probability Distributions, doi:10.1007/b97478"
MONTIEL_OLEA_2019 = "Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656"
NEWCOMBE_1998 = (
    "Newcombe (1998), Stat. Med. 17, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I"
)
NEWCOMBE_2006 = "Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324"
SION_1958 = "Sion (1958), Pac. J. Math. 8, doi:10.2140/pjm.1958.8.171"
SNELL_2021 = "Snell et al. (2021), J. Clin. Epidemiol. 135, doi:10.1016/j.jclinepi.2021.02.011"
BRUEMMER_2013 = "Brümmer, du Preez (2013), doi:10.48550/arXiv.1304.2331"
TAKEUCHI_1976 = "Takeuchi (1976), Suri Kagaku 153"
BESAG_CLIFFORD_1991 = "Besag, Clifford (1991), Biometrika 78, doi:10.1093/biomet/78.2.301"
STONE_1974 = "Stone (1974), J. R. Stat. Soc. B 36, doi:10.1111/j.2517-6161.1974.tb00994.x"
WILSON_1927 = "Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953"
YOUDEN_1950 = "Youden (1950), Cancer 3, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3"


#: A work of the literature by authors and year; with more authors than these, "et al." follows the first.
_WORK_PATTERN = re.compile(r"(?P<authors>[^()]+) \((?P<year>\d{4})\), ")
_MOST_AUTHORS = 2


def cite(reference: str) -> str:
    """Shorten each work to authors and year; a reference that is not a work of the literature is kept.

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
    """Return all works of the literature, each once, in alphabetical order."""
    works = {work for reference in references for work in reference.split("; ")}
    return sorted((work for work in works if _WORK_PATTERN.match(work)), key=str.casefold)


YURDAKUL_2020 = "Yurdakul, Naranjo (2020), J. Risk Model Valid. 14, 89-100"
