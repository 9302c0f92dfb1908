"""All questions to R about an evaluation, which need only its data and settings, and their answers.

R works in a process of its own, so it is asked from a thread while the evaluation runs. Answers have the
order of the questions and are the same as without the thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from scorereport._utils.background import Ahead
from scorereport._utils.processes import signals_deferred
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.reference.binary_views import make_views
from scorereport.reference.exchange import Vector
from scorereport.reference.inference_questions import InferenceQuestion, ask_about
from scorereport.reference.live_references import (
    NAMES,
    PACKAGE,
    Reference,
    ReferenceClient,
    are_rows,
    count_asked_rows,
)
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_memory import find_r_memory
from scorereport.reference.r_session import ReferenceFailure, Session
from scorereport.reference.reference_documents import Attempt
from scorereport.results.settings import EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from scorereport.reference.exchange import SentVector

    Opener = Callable[[str, float, Callable[[Session], None]], AbstractContextManager[Reference]]


AnyPredictions = Predictions | ClassPredictions
#: The settings on which questions depend.
_ASKED = (
    *("band_level", "cost_interval", "cost_matrix", "seed", "level", "infers"),
    *("thresholds", "curve_points", "smallest_group", "window"),
)
NO_WEIGHTS = "The R package has no case weights, and these weights are not whole numbers of rows."


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A reference that runs and was asked; its answers follow."""

    kind: str
    reference: Reference


#: A reference that runs, an answer of it, or the reason why it failed: then the next reference is tried.
Event: TypeAlias = Opened | ModelComparer | dict[str, Vector] | Attempt


class NoAnswerError(Exception):
    """A reference failed before it had answered every question."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.reason)
        self.attempt = attempt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inquiry:
    """The predictions and settings that R is asked about.

    `draws` is the number of resamples in R for each band; `time_limit` are seconds for each question.
    """

    predictions: AnyPredictions
    settings: EvaluationSettings
    draws: int
    time_limit: float

    def start(self, kinds: tuple[str, ...], open_reference: Opener) -> Ahead[Event]:
        """Ask the first of these references that answers, from now on and in a thread."""
        running = _Running()
        with signals_deferred():  # an interrupt in between would leave the thread behind
            return Ahead(self._ask(kinds, open_reference, running), stop=running.end)

    @property
    def rows(self) -> int:
        """The rows of each question."""
        return count_asked_rows(len(self.predictions), self.predictions.weight)

    def suits(self, settings: EvaluationSettings) -> bool:
        """Whether the questions are those about an evaluation with these settings."""
        return all(getattr(self.settings, name) == getattr(settings, name) for name in _ASKED)

    def _ask(
        self, kinds: tuple[str, ...], open_reference: Opener, running: _Running
    ) -> Generator[Event, None, None]:
        for kind in kinds:
            try:
                if kind == PACKAGE and not are_rows(self.predictions.weight):
                    raise Unavailable(NO_WEIGHTS, "")
                find_r_memory(is_package=kind == PACKAGE).require(self.rows)
                with open_reference(kind, self.time_limit, running.hold) as reference:
                    yield Opened(kind=kind, reference=reference)
                    yield from self._answers(reference)
            except Unavailable as error:
                yield Attempt(reference=NAMES[kind], reason=str(error), remedy=error.remedy)
            except ReferenceFailure as failure:
                yield Attempt(reference=NAMES[kind], reason=str(failure))
            else:
                return

    def _answers(self, reference: Reference) -> Iterator[ModelComparer | dict[str, Vector]]:
        predictions = self.predictions
        client = ReferenceClient(
            reference=reference, settings=self.settings, weight=predictions.weight, draws=self.draws
        )
        if isinstance(predictions, Predictions):
            for model, forecast in predictions.forecasts.items():
                yield client.ask(model, predictions.outcome, forecast)
            question = InferenceQuestion(predictions=predictions, settings=self.settings)
            for what, vectors in ask_about(question):
                yield reference.fetch(what, **vectors)
            return
        for model, views in groupby(make_views(predictions), key=lambda view: view.model):
            for view in views:
                yield client.ask(view.subject, view.y_true, view.y_prob, is_drawn=view.is_drawn)
            yield reference.fetch("classes", **_class_vectors(predictions, model, self.settings))


def _class_vectors(
    predictions: ClassPredictions, model: str, settings: EvaluationSettings
) -> dict[str, SentVector]:
    """The arguments of the R operation `classes`; without a cost matrix, R computes the default costs."""
    p, weight, costs = predictions.forecasts[model], predictions.weight, settings.cost_matrix
    return {
        "y": (predictions.outcome + 1).astype(np.float64),
        "p": p.T.ravel(),
        "weight": np.ones(len(p)) if weight is None else weight,
        "size": [float(p.shape[1])],
        "ordered": [float(predictions.ordered)],
        "cost": [] if costs is None else np.ravel(costs),
    }


class _Running:
    """The process of R that a thread waits for."""

    def __init__(self) -> None:
        self._session: Session | None = None

    def hold(self, session: Session) -> None:
        """Remember a process that was started."""
        self._session = session

    def end(self) -> None:
        """End the process at once."""
        if self._session is not None:
            self._session.end()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The answers of one reference, which must be taken in the order of the questions."""

    reference: Reference
    events: Iterator[Event]

    def about(self, subject: str) -> ModelComparer:
        """The next answer, which is about a binary model or view, ready to be compared."""
        event = self._take()
        if not isinstance(event, ModelComparer) or event.subject != subject:
            raise TypeError(f"The next answer is not about {subject}.")
        return event

    def about_all(self) -> dict[str, Vector]:
        """The next answer, which is about the measures of K classes, or about all binary models together."""
        event = self._take()
        if not isinstance(event, dict):
            raise TypeError("The next answer is about one binary model.")
        return event

    def _take(self) -> Event:
        event = next(self.events)
        if isinstance(event, Attempt):
            raise NoAnswerError(event)
        return event
