"""`certify()`: hold the numbers of an evaluation against an independent implementation in R."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from scorereport.checks import check_inside, check_option, check_whole
from scorereport.clock import timestamp
from scorereport.comparison import Comparison, Verdict
from scorereport.errors import UsageError
from scorereport.evaluation import Evaluation
from scorereport.formatting import counted
from scorereport.predictions import Predictions
from scorereport.progress import steps
from scorereport.reference.certificate import Attempt, Certificate
from scorereport.reference.comparing import Comparer
from scorereport.reference.installation import Unavailable
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.recorded import compare_with_record, describe_record
from scorereport.reference.references import BASE, NAMES, PACKAGE, Reference, open_reference
from scorereport.reference.reported import compare_reported
from scorereport.reference.session import ReferenceFailure
from scorereport.sampling import are_counts

RECORDED = "recorded"
REFERENCES = ("auto", PACKAGE, BASE, RECORDED)
#: Seconds that R may take for one model.
TIME_LIMIT = 900.0
#: Rows that whole weights may come to; beyond, base R takes the weights themselves.
_MOST_REPEATED = 20_000_000
NO_WEIGHTS = "The R package has no case weights, and these weights are not whole numbers of rows."


def certify(
    evaluation: Evaluation,
    *,
    data: Predictions | None = None,
    reference: str = "auto",
    draws: int = 100,
    time_limit: float = TIME_LIMIT,
) -> Certificate:
    """Compare every number of every model with R's on the same data, in a process of its own.

    Mean scores, MCB, DSC and UNC are those of the evaluation; bins, recalibrated probabilities and bands
    come from a fit of the same data. Nothing that goes wrong in R raises: it ends as a verdict.

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
    check_whole(draws, "draws", 2)
    check_inside(time_limit, "time_limit", 0, np.inf, closed="neither")
    return _Certification(evaluation, predictions, draws, time_limit).run(kinds)


def _check_data(evaluation: Evaluation, data: Predictions | None) -> Predictions:
    """The predictions that were evaluated; whether they are the same R will tell."""
    predictions = evaluation.predictions if data is None else data
    if predictions is None:
        raise UsageError("This evaluation was read without its data; pass the predictions as `data`.")
    lacking = [result.model for result in evaluation.models if result.model not in predictions.forecasts]
    if lacking:
        raise UsageError(f"`data` has no forecasts of {', '.join(lacking)}, which the evaluation has.")
    return predictions


def _kinds(reference: str) -> tuple[str, ...]:
    """The references to try, in order."""
    if reference == "auto":
        return (PACKAGE, BASE)
    return () if reference == RECORDED else (reference,)


@dataclass(frozen=True)
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
        if kind == PACKAGE and not self._has_rows_for_package():
            raise Unavailable(NO_WEIGHTS, "")
        with open_reference(kind, self.time_limit) as reference:
            models = self.evaluation.models
            lines = tuple(
                line
                for model in steps(models, len(models), "asking R")
                for line in self._compare(reference, model.model)
            )
            unexpected = [line for line in lines if line.is_unexpected]
            return self._certificate(
                verdict="failed" if unexpected else "certified",
                sentence=_describe(lines, reference.title),
                reference=reference.title,
                software=reference.software,
                comparisons=lines,
                attempts=attempts,
            )

    def _by_record(self, attempts: tuple[Attempt, ...]) -> Certificate:
        """Recorded answers tell of the software, not of these data."""
        lines = tuple(compare_with_record())
        has_failed = any(line.is_unexpected for line in lines)
        record = describe_record()
        why = attempts[-1].reason if attempts else "Only recorded answers were asked for."
        told = "differs from" if has_failed else "agrees with"
        return self._certificate(
            verdict="failed" if has_failed else "not certified",
            sentence=f"Not certified on these data. {why} The engine {told} {record}, of other data.",
            reference=record,
            software={},
            comparisons=lines,
            attempts=attempts,
        )

    def _certificate(
        self,
        *,
        verdict: Literal["certified", "failed", "not certified"],
        sentence: str,
        reference: str,
        software: dict[str, str],
        comparisons: tuple[Comparison, ...],
        attempts: tuple[Attempt, ...],
    ) -> Certificate:
        return Certificate(
            verdict=verdict,
            sentence=sentence,
            reference=reference,
            time=timestamp(),
            rows=len(self.predictions),
            sha256=self.predictions.sha256,
            results_sha256=self.evaluation.sha256,
            software={"scorereport": version("scorereport"), **software},
            comparisons=comparisons,
            attempts=attempts,
        )

    def _compare(self, reference: Reference, model: str) -> list[Comparison]:
        result = next(result for result in self.evaluation.models if result.model == model)
        question = self._question(model, is_package=reference.is_package)
        answer = read_answer(reference.ask(question), question)
        comparer = Comparer(subject=model, question=question, answer=answer, is_package=reference.is_package)
        return [
            *comparer.compare(result.scores.decompositions),
            *compare_reported(comparer, result, self.predictions, self.evaluation.settings),
        ]

    def _question(self, model: str, *, is_package: bool) -> Question:
        """Whole weights are repeated rows; others are for base R only."""
        p, settings = self.predictions, self.evaluation.settings
        y_true, y_prob, weight = p.outcome, p.forecasts[model], p.weight
        if weight is not None and (is_package or self._has_rows_for_package()):
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

    def _has_rows_for_package(self) -> bool:
        weight = self.predictions.weight
        return weight is None or (are_counts(weight) and weight.sum() <= _MOST_REPEATED)


def _describe(lines: tuple[Comparison, ...], reference: str) -> str:
    """The outcome in a sentence or two."""
    count = {verdict: sum(line.verdict is verdict for line in lines) for verdict in Verdict}
    unexpected = sum(line.is_unexpected for line in lines)
    compared = len(lines) - count[Verdict.NOT_COMPARED]
    parts = [f"{counted(compared, 'comparison')} with {reference}: {count[Verdict.AGREES]} agree"]
    if count[Verdict.EXPECTED]:
        parts.append(f"{count[Verdict.EXPECTED]} deviate as expected of known defects of the package")
    if count[Verdict.NOT_COMPARED]:
        parts.append(f"{count[Verdict.NOT_COMPARED]} could not be made")
    parts.append(f"{unexpected} differ{'s' if unexpected == 1 else ''} unexpectedly")
    return f"{'Failed' if unexpected else 'Certified on these data'}. {', '.join(parts)}."
