"""The registry of scores: all facts about each, declared once where its function is defined."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from inspect import Parameter, cleandoc, isfunction, signature
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_plain
from scorereport._utils.representation import short_repr
from scorereport._utils.rules import show_value
from scorereport._utils.suggestions import suggest_name
from scorereport.errors import UsageError

_F = TypeVar("_F", bound="Callable[..., Any]")
_Facts = ParamSpec("_Facts")


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


class Reported(StrEnum):
    """When an evaluation has a score."""

    ALWAYS = "in every evaluation"
    WITH_COSTS = "with a cost interval"
    ORDERED = "with ordered classes"
    ON_REQUEST = "on request"


#: Overfit weight of a score at probabilities, with the options of the score.
OverfitWeight = Callable[[FloatArray, Mapping[str, Any]], FloatArray]


def _undefined(*_: object) -> None:
    raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A scoring rule or measure with all facts about it; everything that names a score reads them here.

    Attributes
    ----------
    within : smallest and largest value
    formula, convention : the entry of the methods section
    meaning : a sentence for readers of a chart
    r_formula : the score in R, with which a certificate compares it: an expression in the outcome y, the
        forecast x and the ends a and b of a cost interval; its negative where higher is better
    short, column : the label where there is little room, and one for the head of a narrow column
    improper_options : with one of these the score is not proper
    reported : when an evaluation has the score
    position : scores with a smaller position come first in tables, others in order of registration
    overfit_weight : p(1 - p) c(p)/2, where the curvature c is the derivative of S(p, 0) - S(p, 1): n times
        the overfit of one parameter fitted to n cases at p. Without it, the curvature is found numerically.
    is_smooth : whether the score has a curvature; one that jumps has none, and no overfit weight
    is_decomposed : whether it has components MCB, DSC and UNC; all proper scores of binary forecasts have
    is_rate : whether each case scores 0 or 1
    is_over_classes : whether it is a mean over classes, and needs cases of each
    kernel : the function without checks, of outcomes and forecasts that were checked; the evaluation scores
        the same cases many times
    counterpart : the corresponding score of models of the other kind
    keeps_capital : whether its label begins with a name, such as Brier's
    alias : a short name that functions accept as well
    other_names : its names in other software
    """

    label: str
    kind: Kind
    within: tuple[float, float]
    propriety: Propriety
    references: tuple[str, ...]
    formula: str = ""
    convention: str = ""
    meaning: str = ""
    r_formula: str = ""
    short: str = ""
    column: str = ""
    direction: Direction = Direction.LOWER
    per_case: bool = True
    options: tuple[str, ...] = ()
    improper_options: tuple[str, ...] = ()
    reported: Reported = Reported.ON_REQUEST
    position: int = 0
    overfit_weight: OverfitWeight | None = None
    is_smooth: bool = True
    is_decomposed: bool = False
    has_skill: bool = True
    is_rate: bool = False
    is_over_classes: bool = False
    kernel: Callable[..., Any] | None = None
    counterpart: str = ""
    keeps_capital: bool = False
    alias: str = ""
    other_names: tuple[str, ...] = ()
    name: str = ""
    function: Callable[..., Any] = _undefined  # the decorator sets name and function

    SHOWN: ClassVar = ("name", "label", "kind", "range", "direction", "propriety", "formula", "references")

    __repr__ = short_repr

    @property
    def lower(self) -> float:
        """The smallest value."""
        return self.within[0]

    @property
    def upper(self) -> float:
        """The largest value."""
        return self.within[1]

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
                raise UsageError(f"`{self.name}` takes no option `{name}`{_name_options(name, known)}")
        for name, parameter in known.items():
            if parameter.default is Parameter.empty and name not in options:
                raise UsageError(f"`{self.name}` needs the option `{name}`.")

    def of_checked(self, y: FloatArray, p: FloatArray, **options: Any) -> FloatArray:
        """Score cases and options that were checked."""
        values: FloatArray = (self.kernel or self.function)(y, p, **options)
        return values


def _name_options(name: str, known: Collection[str]) -> str:
    """The option that was probably meant, or else all options, as the end of a sentence."""
    if meant := suggest_name(name, known):
        return f"; did you mean `{meant}`?"
    return f"; its options are {', '.join(f'`{option}`' for option in known)}." if known else "."


#: Names of scores that are not here, and are not misspellings of those that are: a score of distributions of
#: real numbers, and a skill.
OTHER_SCORES = ("crps", "rpss")
#: All scores by name.
REGISTRY: dict[str, Score] = {}


class _Decorator(Protocol):
    def __call__(self, function: _F, /) -> _F: ...


def _make_decorator(entry: Callable[_Facts, Score]) -> Callable[_Facts, _Decorator]:
    """Make the decorator that takes the facts of an entry, so that each is declared in `Score` only."""

    def declare(*args: _Facts.args, **facts: _Facts.kwargs) -> _Decorator:
        def register(function: _F, /) -> _F:
            _register(entry(*args, **facts), function)
            return function

        return register

    return declare


#: Decorator that registers a function as a score; it takes the attributes of `Score`.
score = _make_decorator(Score)


def _register(facts: Score, function: Callable[..., Any]) -> None:
    """Enter a score under the name of its function, and complete the docstring from the entry."""
    entry = replace(
        facts,
        name=function.__name__,
        function=function,
        short=facts.short or facts.label,
        is_decomposed=facts.is_decomposed or facts.kind is Kind.BINARY,
    )
    REGISTRY[entry.name] = entry
    if function.__doc__:  # absent under python -OO
        function.__doc__ = _complete(function.__doc__, entry)


def list_reported(*when: Reported, kinds: Container[Kind]) -> tuple[str, ...]:
    """The scores of these kinds that an evaluation has under the given conditions, in the order of tables.

    >>> list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])
    ('bounded_brier', 'bounded_log_loss', 'bounded_net_benefit')
    """
    found = [entry for entry in REGISTRY.values() if entry.reported in when and entry.kind in kinds]
    return tuple(entry.name for entry in sorted(found, key=lambda entry: entry.position))


def inside_sentence(label: str) -> str:
    """Return the label of a score as written inside a sentence: only names keep their capital letter.

    >>> inside_sentence("Brier score"), inside_sentence("Log score")
    ('Brier score', 'log score')
    """
    names = tuple(entry.label.split()[0] for entry in REGISTRY.values() if entry.keeps_capital)
    return label if label.startswith(names) else label[0].lower() + label[1:]


def get_score(name: str) -> Score:
    """Look up a score by its name or short name.

    >>> get_score("log").properties
    'Range [0, ∞]; lower is better; strictly proper; one value per case.'
    """
    if not isinstance(name, str):
        raise UsageError(f'`score` must be the name of a score, such as "brier"; got {_show_other(name)}.')
    aliases = {entry.alias: entry.name for entry in REGISTRY.values() if entry.alias}
    known = aliases.get(name, name)
    if known not in REGISTRY:
        raise UsageError(f"`score` {name!r} is not known; {suggest_score(name, REGISTRY)}")
    return REGISTRY[known]


def _show_other(value: object) -> str:
    return f"the function {value.__name__}" if isfunction(value) else show_value(value)


def suggest_score(name: str, known: Collection[str], suffix: str = "") -> str:
    """The score that is probably meant by an unknown name, or else all known names, as the end of a sentence.

    A suffix, which the name had, is added to the suggestion.

    >>> suggest_score("brier_score_loss", REGISTRY), suggest_score("auc", REGISTRY)
    ('did you mean `brier`?', 'did you mean `roc_auc`?')
    """
    plain = re.sub(r"\W+", "_", name.lower()).removeprefix("neg_")
    others = {other: entry.name for entry in REGISTRY.values() for other in entry.other_names}
    bases = (plain, plain.removesuffix("_loss"), plain.removesuffix("_loss").removesuffix("_score"))
    same = (others.get(base, base) for base in bases)
    meant = next((one for one in same if one in known), "") or suggest_name(plain, known)
    is_opposite = plain.endswith("_loss") and meant and REGISTRY[meant].direction is Direction.HIGHER
    if meant and not is_opposite and plain not in OTHER_SCORES:
        return f"did you mean `{meant}{suffix}`?"
    return f"choose one of {', '.join(sorted(name + suffix for name in known))}."


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
