"""Asking a reference about forecasts of the same cases, one question after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.reference.live_references import Reference
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Question, read_answer
from scorereport.reliability.sampling import are_whole
from scorereport.results.model_records import EvaluationSettings

#: Rows that whole weights may come to; beyond, base R takes the weights themselves.
_MOST_REPEATED = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceClient:
    """A reference, the weights of the cases, and what it is asked to compute.

    `draws` is how often R resamples each band that is compared in distribution.
    """

    reference: Reference
    settings: EvaluationSettings
    weight: FloatArray | None
    draws: int

    def ask(
        self, subject: str, y_true: FloatArray, y_prob: FloatArray, *, is_drawn: bool = True
    ) -> ModelComparer:
        """The answer beside its question, ready to be compared; bands by draws only if they are wanted."""
        question = self._question(y_true, y_prob, self.draws if is_drawn else 0)
        answer = read_answer(self.reference.ask(question), question)
        return ModelComparer(
            subject=subject, question=question, answer=answer, is_package=self.reference.is_package
        )

    def _question(self, y_true: FloatArray, y_prob: FloatArray, draws: int) -> Question:
        """Whole weights are repeated rows; others are for base R only."""
        weight = self.weight
        if weight is not None and are_rows(weight):
            counts = weight.astype(np.intp)
            y_true, y_prob, weight = np.repeat(y_true, counts), np.repeat(y_prob, counts), None
        return Question(
            y_true=y_true,
            y_prob=y_prob,
            weight=weight,
            level=self.settings.band_level,
            costs=self.settings.cost_interval,
            draws=draws,
            seed=self.settings.seed,
        )


def are_rows(weight: FloatArray | None) -> bool:
    """Whether weights can be told by repeating rows, which R packages take that have no weights."""
    return weight is None or (are_whole(weight) and float(weight.sum()) <= _MOST_REPEATED)
