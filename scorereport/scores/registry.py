"""The registry of scores: name, direction, range, propriety, kind and references of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from inspect import Parameter, cleandoc, signature
from typing import Any, TypeVar

from scorereport._utils.formatting import format_plain
from scorereport.errors import UsageError

_F = TypeVar("_F", bound="Callable[..., Any]")


class Direction(StrEnum):
    """Whether lower or higher scores are better."""

    LOWER = "lower is better"
    HIGHER = "higher is better"


class Propriety(StrEnum):
    """Whether the true probability has the best expected score."""

    STRICT = "strictly proper"
    PROPER = "proper, not strictly"
    IMPROPER = "not proper"
    NOT_A_RULE = "not a scoring rule"


class Kind(StrEnum):
    """The kind of forecast that a score evaluates."""

    BINARY = "probability of an event"
    MULTICLASS = "probabilities of unordered classes"
    ORDINAL = "probabilities of ordered classes"
    LABELS = "hard class labels"
    RANKING = "ranking of cases"
    PROBABILITY_SCALE = "probabilities given to what happened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A scoring rule or measure with its metadata."""

    name: str
    label: str
    short: str
    kind: Kind
    direction: Direction
    lower: float
    upper: float
    propriety: Propriety
    per_case: bool
    options: tuple[str, ...]
    improper_options: tuple[str, ...]  # with one of these the score is not proper
    references: tuple[str, ...]
    function: Callable[..., Any]

    @property
    def range(self) -> str:
        """The range as an interval; the score of a case may be infinite, a measure is finite."""
        left = "(-∞" if self.lower == -float("inf") else f"[{format_plain(self.lower)}"
        end = "∞]" if self.per_case else "∞)"
        return f"{left}, {end if self.upper == float('inf') else f'{format_plain(self.upper)}]'}"

    @property
    def properties(self) -> str:
        """Range, direction and propriety as one line."""
        result = "one value per case" if self.per_case else "one number"
        scale = " at the default scale" if "scale" in self.options else ""
        return f"Range {self.range}{scale}; {self.direction}; {self.propriety}; {result}."

    def check_options(self, options: Mapping[str, object]) -> None:
        """Refuse options that the score does not have, and calls without required options."""
        known = {
            name: parameter
            for name, parameter in signature(self.function).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY and name != "sample_weight"
        }
        for name in options:
            if name not in known:
                raise UsageError(f"`{self.name}` takes no option `{name}`.")
        for name, parameter in known.items():
            if parameter.default is Parameter.empty and name not in options:
                raise UsageError(f"`{self.name}` needs the option `{name}`.")


#: All scores by name.
REGISTRY: dict[str, Score] = {}
#: Short names that `decompose` and `skill` accept as well.
ALIASES = {"log": "log_loss"}


def score(
    *,
    label: str,
    short: str = "",
    kind: Kind,
    within: tuple[float, float],
    propriety: Propriety,
    references: tuple[str, ...],
    direction: Direction = Direction.LOWER,
    per_case: bool = True,
    options: tuple[str, ...] = (),
    improper_options: tuple[str, ...] = (),
) -> Callable[[_F], _F]:
    """Register a function as a score and complete its docstring from the entry."""

    def register(function: _F) -> _F:
        entry = Score(
            name=function.__name__,
            label=label,
            short=short or label,
            kind=kind,
            direction=direction,
            lower=within[0],
            upper=within[1],
            propriety=propriety,
            per_case=per_case,
            options=options,
            improper_options=improper_options,
            references=references,
            function=function,
        )
        REGISTRY[entry.name] = entry
        if function.__doc__:  # absent under python -OO
            function.__doc__ = _complete(function.__doc__, entry)
        return function

    return register


def get_score(name: str) -> Score:
    """Look up a score by its name or short name.

    >>> get_score("log").properties
    'Range [0, ∞]; lower is better; strictly proper; one value per case.'
    """
    known = ALIASES.get(name, name)
    if known not in REGISTRY:
        raise UsageError(f"`score` {name!r} is not known; choose one of {', '.join(sorted(REGISTRY))}.")
    return REGISTRY[known]


def _complete(docstring: str, entry: Score) -> str:
    references = "\n".join(f"- {reference}" for reference in entry.references)
    return (
        f"{cleandoc(docstring)}\n\nNotes\n-----\n{entry.properties}\n\nReferences\n----------\n{references}\n"
    )


AHMADIAN_2025 = (
    "Ahmadian, Ghatee, Wahlström (2025), Int. J. Approx. Reasoning, doi:10.1016/j.ijar.2025.109421"
)
BRIER_1950 = "Brier (1950), Mon. Weather Rev. 78, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2"
COHEN_1968 = "Cohen (1968), Psychol. Bull. 70, doi:10.1037/h0026256"
DIMITRIADIS_2021 = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"
EHM_2016 = "Ehm, Gneiting, Jordan, Krüger (2016), J. R. Stat. Soc. B 78, doi:10.1111/rssb.12154"
EPSTEIN_1969 = "Epstein (1969), J. Appl. Meteor. 8, doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2"
FLORES_2025 = "Flores, Schiff, Smith, Fukuyama, Wilson (2025), doi:10.48550/arXiv.2504.04528"
GALDRAN_2023 = "Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701"
GNEITING_RAFTERY_2007 = "Gneiting, Raftery (2007), J. Am. Stat. Assoc. 102, doi:10.1198/016214506000001437"
GOOD_1952 = "Good (1952), J. R. Stat. Soc. B 14, doi:10.1111/j.2517-6161.1952.tb00104.x"
HAND_2009 = "Hand (2009), Mach. Learn. 77, doi:10.1007/s10994-009-5119-5"
HANLEY_MCNEIL_1982 = "Hanley, McNeil (1982), Radiology 143, doi:10.1148/radiology.143.1.7063747"
NELSON_2017 = "Nelson (2017), Entropy 19, doi:10.3390/e19060286"
SOKOLOVA_2009 = "Sokolova, Lapalme (2009), Inf. Process. Manag. 45, doi:10.1016/j.ipm.2009.03.002"
VICKERS_ELKIN_2006 = "Vickers, Elkin (2006), Med. Decis. Making 26, doi:10.1177/0272989X06295361"
