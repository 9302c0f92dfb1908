"""Questions to R about all models together: calibration, intervals, decisions, comparisons and groups.

They need only the data and the settings of an evaluation. R computes every number of its answers from
outcomes and forecasts, by sampling.R, regression.R, ranks.R, intervals.R, decisions.R and groups.R.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport.curves.thinning import even_knots
from scorereport.data.predictions import Predictions
from scorereport.evaluation.decision_thresholds import choose_compared_thresholds, choose_thresholds
from scorereport.evaluation.subgroups import has_weight, label_windows, rows_by_label
from scorereport.reference.exchange import Vector
from scorereport.reference.questions import Question
from scorereport.results.settings import EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.reference.exchange import SentVector

#: The most groups of a column that R is asked about.
MOST_GROUPS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class InferenceQuestion:
    """The predictions and the settings of an evaluation of binary models."""

    predictions: Predictions
    settings: EvaluationSettings

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds of the decision table."""
        chosen = self.settings.thresholds or choose_thresholds(self.settings.cost_interval)
        return np.array(chosen)

    @property
    def compared(self) -> FloatArray:
        """The thresholds at which net benefit is compared between models."""
        return choose_compared_thresholds(self.settings)

    @cached_property
    def curve(self) -> FloatArray:
        """The thresholds of decision curves: even ones and, if they are few, all forecasts."""
        points = self.settings.curve_points
        forecasts = [np.unique(p) for p in self.predictions.forecasts.values()]
        few = [each for each in forecasts if len(each) <= points]
        knots = np.unique(np.concatenate([even_knots(points), *few]))
        return knots[knots < 1]

    @property
    def measures(self) -> list[str]:
        """The names of the scores that R is given."""
        return list(self._formulas)

    @property
    def _formulas(self) -> dict[str, str]:
        outcome = self.predictions.outcome
        return Question(y_true=outcome, y_prob=outcome, costs=self.settings.cost_interval).formulas

    @property
    def is_time_used(self) -> bool:
        """Whether rows may depend on each other in time: clusters would state which rows do."""
        return self.predictions.time is not None and self.predictions.cluster is None

    def vectors(self) -> dict[str, SentVector]:
        """The arguments of the R operation `infer`."""
        time = self.predictions.time if self.is_time_used else None
        return {
            **self.cases(),
            "time": [] if time is None else np.unique(time, return_inverse=True)[1].astype(np.float64),
            "thresholds": self.thresholds,
            "compared": self.compared,
            "curve": self.curve,
        }

    def groups(self) -> Iterator[GroupQuestion]:
        """The questions about the groups of each column, then about the periods of time."""
        p = self.predictions
        for column, labels in p.groups.items():
            yield GroupQuestion(question=self, column=column, labels=labels, is_period=False)
        if p.time is not None:
            labels = label_windows(p.time, self.settings.window)
            yield GroupQuestion(question=self, column=p.time_name, labels=labels, is_period=True)

    def cases(self) -> dict[str, SentVector]:
        """Outcomes, forecasts, weights and clusters, and the scores."""
        p, settings = self.predictions, self.settings
        formulas = self._formulas
        cluster: SentVector = (
            [] if p.cluster is None else np.unique(p.cluster, return_inverse=True)[1].astype(np.float64)
        )
        return {
            "y": p.outcome,
            "p": np.concatenate(list(p.forecasts.values())),
            "weight": np.ones(len(p)) if p.weight is None else p.weight,
            "counted": [float(p.weight is None or p.weight_kind == "frequency")],
            "cluster": cluster,
            "level": [settings.level],
            "scores": list(formulas),
            "formulas": list(formulas.values()),
            "costs": [] if settings.cost_interval is None else list(settings.cost_interval),
            "infers": [float(settings.infers)],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupQuestion:
    """A column whose groups R is asked about; or the periods of time."""

    question: InferenceQuestion
    column: str
    labels: NDArray[np.object_]
    is_period: bool

    @cached_property
    def asked(self) -> dict[str, IntArray]:
        """The rows of each group that R is asked about, in the order of labels."""
        predictions = self.question.predictions
        groups = (
            (label, rows) for label, rows in rows_by_label(self.labels) if has_weight(predictions, rows)
        )
        return dict(list(groups)[:MOST_GROUPS])

    def vectors(self) -> dict[str, SentVector]:
        """The arguments of the R operation `infer_groups`."""
        code = np.zeros(len(self.labels))
        for place, rows in enumerate(self.asked.values(), start=1):
            code[rows] = place
        smallest = self.question.settings.smallest_group
        scored = [float(len(rows) >= smallest) for rows in self.asked.values()]
        return {**self.question.cases(), "group": code, "scored": scored}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InferenceAnswer:
    """An answer of R: named vectors, and the reasons for parts that failed."""

    vectors: Mapping[str, Vector]

    def find(self, name: str) -> FloatArray | None:
        """Numbers by their name; None if R has no such number."""
        found = self.vectors.get(name)
        return found if isinstance(found, np.ndarray) and len(found) else None

    def problem(self, topic: str) -> str:
        """The error of R in a part of its answer; empty if there was none."""
        return " ".join(map(str, self.vectors.get(f"{topic}.error", [])))


def ask_about(question: InferenceQuestion) -> Iterator[tuple[str, dict[str, SentVector]]]:
    """The operations of R, with their arguments, in the order in which their answers are taken."""
    yield "infer", question.vectors()
    for groups in question.groups():
        yield "infer_groups", groups.vectors()


def names_of(predictions: Predictions) -> Sequence[str]:
    """The names of the models in the order in which R numbers them, from 1."""
    return list(predictions.forecasts)
