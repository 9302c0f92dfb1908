"""The record of a finding, and the order in which findings are stated: by their consequence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Stands in an action for the models that it is about.
MODELS = "{models}"
DO_NOT_USE = f"Do not use {MODELS} in the present form."
DO_NOT_DECIDE = f"Do not decide by {MODELS} at thresholds where acting on all or none is better."
#: Most models that an action names; further ones are counted.
_MOST_NAMED = 3
#: Most findings with the same consequence on a page that has others to state.
_MOST_ALIKE = 2


class Consequence(IntEnum):
    """What a finding means for the use of a model, the gravest first."""

    BREACHED_LIMIT = auto()
    INVERTED_RANKING = auto()
    WORSE_THAN_NO_MODEL = auto()
    ALARM = auto()
    CHANGED_LIMITS = auto()
    TOO_FEW_CASES = auto()
    INFINITE_SCORE = auto()
    GROUPS_SERVED_WORSE = auto()
    DRIFT = auto()
    QUESTIONABLE_INPUT = auto()
    MISCALIBRATION = auto()
    OPEN_LIMIT = auto()
    OPEN_QUESTION = auto()
    POSSIBLE_GAIN = auto()
    RESULT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence, the key of the part that shows it, consequence and tone, and the model if it has one.

    `action` says what to do about it, in a sentence that may contain `MODELS` in place of the name of the
    model; it is empty if nothing is to be done. Of findings with the same consequence, the one with the
    largest `size` comes first. `is_kept` marks those that answer what every reader asks: which model is best,
    whether it is calibrated, and whether groups differ.
    """

    text: str
    see: str
    consequence: Consequence = Consequence.RESULT
    tone: str = "plain"
    model: str = ""
    size: float = 0.0
    action: str = ""
    is_kept: bool = False


def name_models(findings: Iterable[Finding], consequence: Consequence) -> set[str]:
    """The models that have a finding with a consequence."""
    return {finding.model for finding in findings if finding.consequence is consequence}


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by their consequence and size; others keep their order."""
    return sorted(findings, key=lambda finding: (finding.consequence, -finding.size))


def choose_findings(findings: Sequence[Finding], most: int) -> tuple[Finding, ...]:
    """Return the findings for a page, in their order: those that are kept always, and the gravest.

    Of findings with the same consequence, at most `_MOST_ALIKE` are chosen, as long as there are others.
    """
    alike: Counter[Consequence] = Counter()
    first, later = list[Finding](), list[Finding]()
    for finding in findings:
        alike[finding.consequence] += 1
        (first if alike[finding.consequence] <= _MOST_ALIKE else later).append(finding)
    kept = [finding for finding in findings if finding.is_kept][:most]
    others = [finding for finding in (*first, *later) if not finding.is_kept]
    chosen = [*others[: most - len(kept)], *kept]
    return tuple(finding for finding in findings if finding in chosen)


def list_actions(findings: Iterable[Finding]) -> list[str]:
    """Return what to do about the findings, the most urgent first, each action once for all its models.

    A model that must not be used need not be kept from some decisions.
    """
    models: dict[str, list[str]] = {}
    for finding in findings:
        if finding.action and finding.model not in models.setdefault(finding.action, []):
            models[finding.action].append(finding.model)
    unused = models.get(DO_NOT_USE, [])
    if set(models.get(DO_NOT_DECIDE, ())) <= set(unused):
        models.pop(DO_NOT_DECIDE, None)
    return [action.replace(MODELS, join_some(names, _MOST_NAMED)) for action, names in models.items()]
