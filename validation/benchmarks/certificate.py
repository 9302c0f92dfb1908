"""The certificate: the whole call against the time that R needs for the work itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from scorereport.reference.inference_questions import InferenceQuestion, ask_about
from scorereport.reference.live_references import PACKAGE, R_CODE, greet, list_sources
from scorereport.reference.questions import Question
from scorereport.reference.r_installation import Unavailable, find_r
from scorereport.reference.r_library import find_library, isolate
from scorereport.reference.r_session import ReferenceFailure, Session
from validation.benchmarks.measure import Comparison, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.data.predictions import Predictions
    from scorereport.results.settings import EvaluationSettings

N, MODELS, DRAWS = 100_000, 3, 100
NAME = f"certificate of {MODELS} models at {N:,} rows / R alone"


def compare_certificate() -> Iterator[Comparison | Skipped]:
    """Compare all of `certify` in Python, including the start of R, with the same work timed inside R."""
    predictions = _draw()
    evaluation = sr.evaluate(predictions)
    start = time.perf_counter()
    certificate = sr.certify(evaluation, reference="reliabilitydiag", draws=DRAWS)
    ours = time.perf_counter() - start
    if certificate.verdict == "not checked":
        yield Skipped(name=NAME, reason=certificate.attempts[0].reason)
        return
    try:
        other = _time_r(predictions, evaluation.settings)
    except (Unavailable, ReferenceFailure) as error:
        yield Skipped(name=NAME, reason=str(error))
        return
    yield Comparison(name=NAME, ours=ours, other=other, ratio=ours / other, limit=2)


def _draw() -> Predictions:
    rng = np.random.default_rng(2021)
    x = rng.random(N)
    forecasts = {f"model {power}": x**power for power in (0.7, 1.0, 1.4)[:MODELS]}
    return sr.Predictions(outcome=(rng.random(N) < x).astype(np.float64), forecasts=forecasts)


def _time_r(predictions: Predictions, settings: EvaluationSettings) -> float:
    """Seconds measured inside R, in a plain Rscript: without rpy2, start and transfer."""
    r = find_r()
    library, program = find_library(r), [str(r.rscript), str(R_CODE / "serve.R")]
    with Session(program, list_sources(PACKAGE), time_limit=3600, environment=isolate(library)) as session:
        greet(session, library)
        questions = (
            Question(y_true=predictions.outcome, y_prob=p, draws=DRAWS)
            for p in predictions.forecasts.values()
        )
        answers = [session.ask("certify", **question.vectors()) for question in questions]
        together = ask_about(InferenceQuestion(predictions=predictions, settings=settings))
        answers += [session.ask(what, **vectors) for what, vectors in together]
    return sum(float(answer["seconds"][0]) for answer in answers)
