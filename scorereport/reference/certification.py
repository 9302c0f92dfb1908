"""`certify()`: compares the numbers of an evaluation with an independent implementation in R."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.clock import timestamp
from scorereport._utils.formatting import format_count, format_counted
from scorereport._utils.progress import parts, report_stage, report_work, steps
from scorereport._utils.rules import check_result
from scorereport._utils.work_plan import Stage
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.errors import UsageError
from scorereport.reference.band_comparison import compare_bands
from scorereport.reference.binary_views import count_views, list_drawn, list_views, name_view
from scorereport.reference.certificate_verdicts import OPENINGS, CertificateVerdict
from scorereport.reference.class_comparison import compare_class_results
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.inquiry import Answers, AnyPredictions, Event, Inquiry, NoAnswerError, Opened
from scorereport.reference.joint_comparison import compare_together
from scorereport.reference.live_references import BASE, NAMES, PACKAGE, Reference, are_rows, open_reference
from scorereport.reference.model_comparison import (
    BASE_SOURCE,
    PACKAGE_SOURCE,
    compare_component_differences,
    compare_reported,
)
from scorereport.reference.r_memory import find_r_memory
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import compare_with_record, describe_recorded_answers
from scorereport.reference.reference_documents import Attempt, Certificate
from scorereport.results.class_records import CLASS
from scorereport.results.evaluation import Evaluation
from scorereport.results.model_records import ClassSummary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.background import Ahead
    from scorereport.results.settings import EvaluationSettings

RECORDED = "recorded"
REFERENCES = ("auto", PACKAGE, BASE, RECORDED)
#: Seconds that R may take for one question: a binary model, or a binary view of a model of K classes.
TIME_LIMIT = 900.0
#: With fewer draws, R's bounds are too imprecise to check the width of a band.
FEWEST_DRAWS = 100
#: What a certificate of binary models does not cover.
LEFT_OUT = (
    "components corrected for overfit, with their intervals and tests",
    "tests and ends of intervals that are drawn at random, other than pointwise bands",
    "simultaneous bands",
    "ROC curves, Murphy curves of components, and decision curves between even thresholds",
    "smooth and binned calibration errors, flexible curves, grades and segments",
    "parts of miscalibration and trials of recalibration",
    "the probability scale, the reference sample and bounds for missing outcomes",
)
#: What it does not cover either where rows belong to clusters or have sampling weights.
DEPENDENT_LEFT_OUT = (
    "with clusters or sampling weights also tests of several parameters, tests of scores and of calibration "
    "between groups, and the limits of decision curves"
)
#: What a certificate of models of K classes does not cover, apart from bands of most views.
CLASS_LEFT_OUT = (
    "intervals, tests and components corrected for overfit",
    "simultaneous bands",
    "retention curves and the probability scale",
    "groups, periods of time and comparisons of models",
)
_WITH = {
    BASE_SOURCE: "with plain arithmetic of base R",
    "numpy": "with numpy",
    "the engine": "of the evaluation with the engine itself",
}


def certify(
    evaluation: Evaluation,
    *,
    data: AnyPredictions | None = None,
    reference: str = "auto",
    draws: int = 200,
    time_limit: float = TIME_LIMIT,
) -> Certificate:
    """Compare the numbers of every model with those of R on the same data; R runs in a separate process.

    Scores, skills, MCB, DSC, UNC, AUC and the reliability curve are those of the evaluation; bins,
    recalibrated probabilities and bands come from a fit of the same data. Of binary models, base R also
    computes calibration lines, tests, intervals, decisions, differences of models and groups. For models of K
    classes, R evaluates each class, and each threshold between ordered classes, as a binary model; the scores
    of K classes are compared with the sums of these answers and with plain arithmetic in base R. The
    certificate lists what it does not cover. Failures of R do not raise an error: they lead to a verdict.

    Parameters
    ----------
    data : the predictions that were evaluated; needed if the evaluation was read from a file without them
    reference : "reliabilitydiag" through rpy2, "base" for base R alone, "recorded" for recorded answers,
        which are not about these data, or "auto" for the first that is available
    draws : the number of resamples in R for each band that is compared in distribution
    time_limit : seconds that R may take for one model, or for one class or threshold of it
    """
    check_result(evaluation, "evaluation", Evaluation, "sr.evaluate")
    predictions = _check_data(evaluation, data)
    with PendingCertificate(reference=reference, draws=draws, time_limit=time_limit) as pending:
        pending.start(predictions, evaluation.settings)
        return pending.complete(evaluation)


class PendingCertificate:
    """A certificate whose questions R answers while the evaluation runs; the parameters are as in `certify`.

    `start` it with the data, and `complete` it with their evaluation. The end of its `with` block ends R,
    also after an error or an interrupt.
    """

    def __init__(self, *, reference: str = "auto", draws: int = 200, time_limit: float = TIME_LIMIT) -> None:
        self._kinds = _kinds(check_option(reference, "reference", REFERENCES))
        self._draws = check_whole(draws, "draws", FEWEST_DRAWS)
        self._time_limit = check_inside(time_limit, "time_limit", 0, np.inf, closed="neither")
        self._inquiry: Inquiry | None = None
        self._events: Ahead[Event] | None = None

    def start(self, predictions: AnyPredictions, settings: EvaluationSettings) -> None:
        """Ask R about predictions, from now on, with the settings of their evaluation."""
        self.close()
        self._inquiry = Inquiry(
            predictions=predictions, settings=settings, draws=self._draws, time_limit=self._time_limit
        )
        self._events = self._inquiry.start(self._kinds, open_reference)

    def complete(self, evaluation: Evaluation) -> Certificate:
        """Compare the evaluation with the answers of R, and wait for them if necessary."""
        if self._inquiry is None or self._events is None or not self._inquiry.suits(evaluation.settings):
            self.start(_check_data(evaluation, None), evaluation.settings)
            return self.complete(evaluation)
        _check_data(evaluation, self._inquiry.predictions)
        report_stage(Stage.CERTIFICATE)
        return _Certification(evaluation=evaluation, inquiry=self._inquiry).run(self._kinds, self._events)

    def close(self) -> None:
        """End R."""
        if self._events is not None:
            self._events.close()

    def __enter__(self) -> Self:
        report_work(certifies=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def decline(evaluation: Evaluation, reason: str) -> Certificate:
    """The certificate of an evaluation that is not compared with R; `reason` is a sentence."""
    findings = _Findings(
        verdict="not checked",
        sentence=f"{OPENINGS['not checked']} {_ended(reason)}",
        reference="none",
        left_out=("every number of this evaluation",),
        attempts=(Attempt(reference="R", reason=reason),),
    )
    data = evaluation.data
    return _make_certificate(evaluation, findings, rows=data.row_flow.kept, sha256=data.sha256)


def _check_data(evaluation: Evaluation, data: AnyPredictions | None) -> AnyPredictions:
    """The predictions that were evaluated; only models and classes are checked, not the numbers."""
    predictions = evaluation.predictions if data is None else data
    if predictions is None:
        raise UsageError("This evaluation was read without its data; pass the predictions as `data`.")
    evaluated, passed = _kind_of(evaluation.data.classes), _kind_of(predictions)
    if evaluated != passed:
        raise UsageError(f"The evaluation is of {evaluated}, the data are of {passed}.")
    models, named = [result.model for result in evaluation.results], list(predictions.forecasts)
    if models != named:
        raise UsageError(f"The evaluation is of {', '.join(models)}, the data are of {', '.join(named)}.")
    return predictions


def _kind_of(outcomes: ClassSummary | AnyPredictions | None) -> str:
    """The kind of outcome in words: an event, or classes with or without order."""
    if isinstance(outcomes, ClassPredictions):
        labels, ordered = outcomes.classes, outcomes.ordered
    elif isinstance(outcomes, ClassSummary):
        labels, ordered = outcomes.labels, outcomes.ordered
    else:
        return "an event"
    return f"{len(labels)} classes {'in order' if ordered else 'without order'} ({', '.join(labels)})"


def _kinds(reference: str) -> tuple[str, ...]:
    """The references to try, in order."""
    if reference == "auto":
        return (PACKAGE, BASE)
    return () if reference == RECORDED else (reference,)


@dataclass(frozen=True, kw_only=True)
class _Findings:
    """The parts of a certificate that a reference decides; the others follow from the evaluation."""

    verdict: CertificateVerdict
    sentence: str
    reference: str
    software: Mapping[str, str] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    left_out: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Certification:
    evaluation: Evaluation
    inquiry: Inquiry

    @property
    def predictions(self) -> AnyPredictions:
        return self.inquiry.predictions

    def run(
        self, kinds: tuple[str, ...], events: Iterator[Event], attempts: tuple[Attempt, ...] = ()
    ) -> Certificate:
        """The certificate from the first reference that answers; if none does, from recorded answers."""
        for event in events:
            if isinstance(event, Attempt):
                attempts += (event,)
                continue
            opened = cast("Opened", event)
            try:
                return self._certify_by(Answers(reference=opened.reference, events=events), attempts)
            except NoAnswerError as failure:  # the next reference is asked already
                attempts += (failure.attempt,)
            except ReferenceFailure as failure:  # an answer that lacks something
                attempts += (Attempt(reference=NAMES[opened.kind], reason=str(failure)),)
                rest = kinds[kinds.index(opened.kind) + 1 :]
                with self.inquiry.start(rest, open_reference) as others:
                    return self.run(rest, others, attempts)
        return self._certificate(_compare_records(attempts))

    def _certify_by(self, answers: Answers, attempts: tuple[Attempt, ...]) -> Certificate:
        reference, lines = answers.reference, tuple(self._compare_all(answers))
        verdict = _judge(lines, "certified" if reference.is_package else "confirmed")
        findings = _Findings(
            verdict=verdict,
            sentence=f"{OPENINGS[verdict]}{_describe_views(self.predictions)} {_describe(lines, reference)}",
            reference=reference.title,
            software=reference.software,
            comparisons=lines,
            left_out=_leave_out(self.predictions),
            attempts=attempts,
            notes=self._describe_memory(reference),
        )
        return self._certificate(findings)

    def _describe_memory(self, reference: Reference) -> tuple[str, ...]:
        """State what R needed, if it was much; without bands, as with other weights, it is little."""
        if not are_rows(self.predictions.weight):
            return ()
        stated = find_r_memory(is_package=reference.is_package).describe(self.inquiry.rows)
        return (stated,) if stated else ()

    def _certificate(self, findings: _Findings) -> Certificate:
        rows, sha256 = len(self.predictions), self.predictions.sha256
        return _make_certificate(self.evaluation, findings, rows=rows, sha256=sha256)

    def _compare_all(self, answers: Answers) -> Iterator[Comparison]:
        """Compare every model, binary or of K classes."""
        evaluation, predictions = self.evaluation, self.predictions
        if isinstance(predictions, ClassPredictions):
            yield from compare_class_results(answers, evaluation, predictions)
            return
        count, scores = len(evaluation.models), {}
        for result in parts(steps(evaluation.models, count, "asking R", unit="models"), count):
            comparer = answers.about(result.model)
            yield from comparer.compare(result.scores.decompositions)
            yield from compare_reported(comparer, result, evaluation, predictions)
            yield from compare_bands(comparer)
            scores[result.model] = comparer.answer.scores
        yield from compare_component_differences(scores, evaluation.comparisons.differences)
        yield from compare_together(answers, evaluation, predictions)


def _compare_records(attempts: tuple[Attempt, ...]) -> _Findings:
    """The findings from recorded answers, which check the software, not these data."""
    why = attempts[-1].reason if attempts else "Only recorded answers were requested."
    try:
        lines, record = tuple(compare_with_record()), describe_recorded_answers()
    except OSError as error:
        lines, record = (), f"no recorded answers ({error})"
    verdict = _judge(lines, "not checked")
    relation = "differs from" if verdict == "failed" else "agrees with"
    finding = f"The engine {relation} {record}, of other data."
    return _Findings(
        verdict=verdict,
        sentence=f"{OPENINGS['not checked']} {_ended(why)} {finding}",
        reference=record,
        comparisons=lines,
        left_out=("every number of this evaluation",),
        attempts=attempts,
    )


def _make_certificate(evaluation: Evaluation, findings: _Findings, *, rows: int, sha256: str) -> Certificate:
    return Certificate(
        verdict=findings.verdict,
        sentence=findings.sentence,
        reference=findings.reference,
        time=timestamp(),
        rows=rows,
        sha256=sha256,
        results_sha256=evaluation.sha256,
        software={"scorereport": version("scorereport"), **findings.software},
        comparisons=findings.comparisons,
        left_out=findings.left_out,
        attempts=findings.attempts,
        notes=findings.notes,
    )


def _leave_out(predictions: AnyPredictions) -> tuple[str, ...]:
    """What a certificate of these models does not cover."""
    if isinstance(predictions, Predictions):
        is_counted = predictions.weight is None or predictions.weight_kind == "frequency"
        is_plain = is_counted and predictions.cluster is None
        return LEFT_OUT if is_plain else (*LEFT_OUT, DEPENDENT_LEFT_OUT)
    drawn = [name_view(kind, label) for kind, labels in list_drawn(predictions).items() for label in labels]
    views = sum(map(len, list_views(predictions).values()))
    if len(drawn) == views or not are_rows(predictions.weight):
        return CLASS_LEFT_OUT
    bands = (
        f"R's resampled bands, which take seconds each, of all but {len(drawn)} of the {views} binary "
        f"questions about each model ({', '.join(drawn)})"
    )
    return (*CLASS_LEFT_OUT, bands)


def _describe_views(predictions: AnyPredictions) -> str:
    """State how many binary questions were asked; empty for binary models."""
    if isinstance(predictions, Predictions):
        return ""
    topics = " and ".join(
        "each class" if kind == CLASS else "each threshold between classes"
        for kind in list_views(predictions)
    )
    return f" {format_counted(count_views(predictions), 'binary question')} were asked, about {topics}."


def _judge(lines: tuple[Comparison, ...], otherwise: CertificateVerdict) -> CertificateVerdict:
    """The verdict on comparisons: failed if one of them is unexpected."""
    return "failed" if any(line.is_unexpected for line in lines) else otherwise


def _describe(lines: tuple[Comparison, ...], reference: Reference) -> str:
    """The numbers of comparisons by source and verdict, as a sentence."""
    main = PACKAGE_SOURCE if reference.is_package else BASE_SOURCE
    names = {**_WITH, main: f"with {reference.title}"}
    counts = [
        f"{_count([line for line in lines if line.source == source])} {names[source]}"
        for source in dict.fromkeys(line.source for line in lines)
    ]
    return f"{'; '.join(counts)}."


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
    """The sentence with a full stop, if it has none."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
