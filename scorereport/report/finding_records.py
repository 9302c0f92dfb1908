"""The record of a finding, and the order in which findings are stated: by their consequence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Consequence(IntEnum):
    """What a finding means for the use of a model, the gravest first."""

    BREACHED_LIMIT = auto()
    INVERTED_RANKING = auto()
    WORSE_THAN_NO_MODEL = auto()
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

    Of miscalibrated models, the one with the largest `size` comes first.
    """

    text: str
    see: str
    consequence: Consequence = Consequence.RESULT
    tone: str = "plain"
    model: str = ""
    size: float = 0.0


def name_models(findings: Iterable[Finding], consequence: Consequence) -> set[str]:
    """The models that have a finding with a consequence."""
    return {finding.model for finding in findings if finding.consequence is consequence}


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by their consequence and size; others keep their order."""
    return sorted(findings, key=lambda finding: (finding.consequence, -finding.size))
