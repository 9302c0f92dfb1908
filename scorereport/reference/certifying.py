"""`certify()`: hold the numbers of an evaluation against an independent implementation in R."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.checks import check_inside, check_option, check_whole
from scorereport.clock import timestamp
from scorereport.comparison import Comparison, Verdict
from scorereport.errors import UsageError
from scorereport.evaluation import Evaluation
from scorereport.formatting import format_count
from scorereport.predictions import Predictions
from scorereport.progress import steps
from scorereport.reference.banding import compare_bands
from scorereport.reference.certificate import Attempt, Certificate
from scorereport.reference.comparing import BASE_SOURCE, PACKAGE_SOURCE, Comparer
from scorereport.reference.installation import Unavailable
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.recorded import compare_with_record, describe_record
from scorereport.reference.references import BASE, NAMES, PACKAGE, Reference, open_reference
from scorereport.reference.reported import compare_reported
from scorereport.reference.session import ReferenceFailure
from scorereport.sampling import are_counts

if TYPE_CHECKING:
    from scorereport.results import ModelResult

RECORDED = "recorded"
REFERENCES = ("auto", PACKAGE, BASE, RECORDED)
#: Seconds that R may take for one model.
TIME_LIMIT = 900.0
#: Rows that whole weights may come to; beyond, base R takes the weights themselves.
_MOST_REPEATED = 20_000_000
#: With fewer draws R's bounds say next to nothing about the width of a band.
FEWEST_DRAWS = 100
#: What a certificate does not speak of.
LEFT_OUT = (
    "intervals, tests and components corrected for overfit",
    "simultaneous bands",
    "ROC, Murphy, regret and decision curves",
    "groups, periods of time and comparisons of models",
)
_WITH = {
    BASE_SOURCE: "with plain arithmetic of base R",
    "numpy": "with numpy",
    "the engine": "of the evaluation with the engine itself",
}
NO_WEIGHTS = "The R package has no case weights, and these weights are not whole numbers of rows."


def certify(
    evaluation: Evaluation,
    *,
    data: Predictions | None = None,
    reference: str = "auto",
    draws: int = 200,
    time_limit: float = TIME_LIMIT,
) -> Certificate:
    """Compare the numbers of every model with R's on the same data, in a process of its own.

    Scores, skills, MCB, DSC, UNC, AUC and the reliability curve are those of the evaluation; bins,
    recalibrated probabilities and bands come from a fit of the same data. What is left out the certificate
    names. Nothing that goes wrong in R raises: it ends as a verdict.

    Parameters
    ----------
    data : the predictions that were evaluated, if the evaluation was read from a file and has them no more
    reference : "reliabilitydiag" through rpy2, "base" for base R alone, "recorded" for recorded answers,
        which are not about these data, or "auto", the first of them that is there
    draws : how often R resamples each band that is compared in distribution
    time_limit : seconds that R may take for one model
    """
    predictions = _check_data(evaluation, data)
    kinds = _kinds(check_option(reference, "reference", REFERENCES))
    check_whole(draws, "draws", FEWEST_DRAWS)
    check_inside(time_limit, "time_limit", 0, np.inf, closed="neither")
    certification = _Certification(
        evaluation=evaluation, predictions=predictions, draws=draws, time_limit=time_limit
    )
    return certification.run(kinds)


def _check_data(evaluation: Evaluation, data: Predictions | None) -> Predictions:
    """The predictions that were evaluated; whether their numbers are the same R will tell."""
    predictions = evaluation.predictions if data is None else data
    if predictions is None:
        raise UsageError("This evaluation was read without its data; pass the predictions as `data`.")
    evaluated, given = [result.model for result in evaluation.models], list(predictions.forecasts)
    if evaluated != given:
        raise UsageError(f"The evaluation is of {', '.join(evaluated)}, the data are of {', '.join(given)}.")
    return predictions


def _kinds(reference: str) -> tuple[str, ...]:
    """The references to try, in order."""
    if reference == "auto":
        return (PACKAGE, BASE)
    return () if reference == RECORDED else (reference,)


@dataclass(frozen=True, kw_only=True)
class _Certification:
    evaluation: Evaluation
    predictions: Predictions
    draws: int
    time_limit: float

    def run(self, kinds: tuple[str, ...]) -> Certificate:
        """The certificate by the first reference that answers, or by none of them."""
        attempts: list[Attempt] = []
        for kind in kinds:
            try:
                return self._certify_with(kind, tuple(attempts))
            except Unavailable as error:
                attempts.append(Attempt(reference=NAMES[kind], reason=str(error), remedy=error.remedy))
            except ReferenceFailure as failure:
                attempts.append(Attempt(reference=NAMES[kind], reason=str(failure)))
        return self._by_record(tuple(attempts))

    def _certify_with(self, kind: str, attempts: tuple[Attempt, ...]) -> Certificate:
        if kind == PACKAGE and not self._weights_are_rows():
            raise Unavailable(NO_WEIGHTS, "")
        with open_reference(kind, self.time_limit) as reference:
            models = steps(self.evaluation.models, len(self.evaluation.models), "asking R")
            lines = tuple(line for result in models for line in self._compare(reference, result))
            has_failed = any(line.is_unexpected for line in lines)
            return self._certificate(
                verdict="failed" if has_failed else "certified",
                sentence=_describe(lines, reference),
                reference=reference.title,
                software=reference.software,
                comparisons=lines,
                left_out=LEFT_OUT,
                attempts=attempts,
            )

    def _by_record(self, attempts: tuple[Attempt, ...]) -> Certificate:
        """Recorded answers tell of the software, not of these data."""
        why = attempts[-1].reason if attempts else "Only recorded answers were asked for."
        try:
            lines, record = tuple(compare_with_record()), describe_record()
        except OSError as error:
            lines, record = (), f"no recorded answers ({error})"
        has_failed = any(line.is_unexpected for line in lines)
        told = "differs from" if has_failed else "agrees with"
        return self._certificate(
            verdict="failed" if has_failed else "not certified",
            sentence=f"Not certified on these data. {_ended(why)} The engine {told} {record}, of other data.",
            reference=record,
            software={},
            comparisons=lines,
            left_out=("every number of this evaluation",),
            attempts=attempts,
        )

    def _certificate(self, **parts: Any) -> Certificate:
        return Certificate(
            time=timestamp(),
            rows=len(self.predictions),
            sha256=self.predictions.sha256,
            results_sha256=self.evaluation.sha256,
            **{**parts, "software": {"scorereport": version("scorereport"), **parts["software"]}},
        )

    def _compare(self, reference: Reference, result: ModelResult) -> list[Comparison]:
        question = self._question(result.model)
        answer = read_answer(reference.ask(question), question)
        comparer = Comparer(
            subject=result.model, question=question, answer=answer, is_package=reference.is_package
        )
        return [
            *comparer.compare(result.scores.decompositions),
            *compare_reported(comparer, result, self.evaluation, self.predictions),
            *compare_bands(comparer),
        ]

    def _question(self, model: str) -> Question:
        """Whole weights are repeated rows; others are for base R only."""
        p, settings = self.predictions, self.evaluation.settings
        y_true, y_prob, weight = p.outcome, p.forecasts[model], p.weight
        if weight is not None and self._weights_are_rows():
            counts = weight.astype(np.intp)
            y_true, y_prob, weight = np.repeat(y_true, counts), np.repeat(y_prob, counts), None
        return Question(
            y_true=y_true,
            y_prob=y_prob,
            weight=weight,
            level=settings.band_level,
            costs=settings.cost_interval,
            draws=self.draws,
            seed=settings.seed,
        )

    def _weights_are_rows(self) -> bool:
        weight = self.predictions.weight
        return weight is None or (are_counts(weight) and weight.sum() <= _MOST_REPEATED)


def _describe(lines: tuple[Comparison, ...], reference: Reference) -> str:
    """The outcome in sentences: how many lines by whom, and what became of them."""
    main = PACKAGE_SOURCE if reference.is_package else BASE_SOURCE
    names = {**_WITH, main: f"with {reference.title}"}
    told = [
        f"{_count([line for line in lines if line.source == source])} {names[source]}"
        for source in dict.fromkeys(line.source for line in lines)
    ]
    has_failed = any(line.is_unexpected for line in lines)
    return f"{'Failed' if has_failed else 'Certified on these data'}. {'; '.join(told)}."


def _count(lines: list[Comparison]) -> str:
    count = {verdict: sum(line.verdict is verdict for line in lines) for verdict in Verdict}
    unexpected = sum(line.is_unexpected for line in lines)
    agree, expected = count[Verdict.AGREES], count[Verdict.EXPECTED]
    parts = [f"{format_count(agree)} {'agrees' if agree == 1 else 'agree'}"] if agree else []
    parts += [f"{expected} {'deviates' if expected == 1 else 'deviate'} as expected"] if expected else []
    parts += [f"{count[Verdict.NOT_COMPARED]} could not be compared"] if count[Verdict.NOT_COMPARED] else []
    parts += [f"{unexpected} {'DIFFERS' if unexpected == 1 else 'DIFFER'}"] if unexpected else []
    return ", ".join(parts)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
