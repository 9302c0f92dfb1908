"""Comparison of one model with R: every number of the engine, and every number that is reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.binary_measures import choose_measures
from scorereport.reference import deviations
from scorereport.reference.comparison_records import TOLERANCE, Comparison, Verdict, compare_arrays
from scorereport.reference.questions import Answer, Question
from scorereport.reliability.fit import Corp, corp
from scorereport.scores.registry import Direction, get_score
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.data.predictions import Predictions
    from scorereport.inference.estimates import ComponentEstimate, Difference
    from scorereport.reliability.bands import Band
    from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, SampleSummary, ScoreValue
    from scorereport.results.settings import EvaluationSettings


#: The sources of the numbers with which those of the engine are compared.
PACKAGE_SOURCE, BASE_SOURCE = "reliabilitydiag", "base R"
#: The source of lines that compare an evaluation with the engine, not with R.
ITSELF = "the engine"
#: Wider, because a skill is a quotient of two differences whose denominator may be small.
SKILL_TOLERANCE = 1e-10
_MURPHY = ("reliability", "resolution", "uncertainty")
#: The places of components among R's numbers for each score, and the names of all these numbers.
RAW_COMPONENTS = {"miscalibration": 1, "discrimination": 2}
COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelComparer:
    """Compares one model with the answer of a reference; known defects of the package are expected."""

    subject: str
    question: Question
    answer: Answer
    is_package: bool

    @property
    def source(self) -> str:
        """The source of the reference numbers, unless a line names another."""
        return PACKAGE_SOURCE if self.is_package else BASE_SOURCE

    def compare(self, decompositions: Iterable[Decomposition]) -> Iterator[Comparison]:
        """Compare decomposed scores, and bins and recalibrated probabilities of a fit of the same data."""
        for decomposition in decompositions:
            yield from self.components(decomposition)
        fit = self.fit()
        yield from self.bins(fit)
        yield self.match("recalibrated probabilities", fit.cep, self.answer.cep)

    def fit(self) -> Corp:
        """The engine's fit of the cases of the question."""
        return corp(self.question.y_true, self.question.y_prob, self.question.weight)

    def components(self, decomposition: Decomposition) -> Iterator[Comparison]:
        """Compare mean score, MCB, DSC, UNC and perfect score; where higher is better, R has the loss."""
        d = decomposition
        label, theirs = get_score(d.name).label, self.answer.scores.get(d.name)
        if theirs is None:
            yield self.state(label, Verdict.NOT_COMPARED, "R was not given this score.")
            return
        ours = (d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect)
        signs = (-1, 1, 1, -1, -1) if d.higher_is_better else (1, 1, 1, 1, 1)
        for name, engine, sign, reference in zip(COMPONENTS, ours, signs, theirs, strict=True):
            yield self.match(f"{label}: {name}", engine, sign * reference)

    def raw_components(self, estimates: Iterable[ComponentEstimate]) -> Iterator[Comparison]:
        """Compare the values of MCB and DSC beside which their overfit-corrected estimates stand."""
        for estimate in estimates:
            theirs = self.answer.scores.get(estimate.measure)
            if theirs is not None:
                place = RAW_COMPONENTS[estimate.component]
                quantity = f"{get_score(estimate.measure).label}: {COMPONENTS[place]}, uncorrected"
                yield self.match(quantity, estimate.value, theirs[place])

    def score(self, value: ScoreValue) -> Iterator[Comparison]:
        """Compare a mean score and its skill, as reported."""
        score, theirs = get_score(value.name), self.answer.scores.get(value.name)
        if theirs is None:
            yield self.state(score.label, Verdict.NOT_COMPARED, "R was not given this score.")
            return
        mean, _, _, constant, perfect = theirs
        is_negated = score.direction is Direction.HIGHER
        yield self.match(f"{score.label}: as reported", value.value, -mean if is_negated else mean)
        skill = relative_skill(mean, constant, perfect)
        yield self.match(f"{score.label}: skill", value.skill, skill, tolerance=SKILL_TOLERANCE)

    def auc(self, value: float) -> Comparison:
        """Compare the area under the ROC curve with plain arithmetic of base R on counts of the same data."""
        return self.match("AUC", value, self.answer.auc, source=BASE_SOURCE)

    def auc_skill(self, value: float) -> Comparison:
        """Compare the skill of the AUC: 0 for a forecast that does not discriminate, 1 for a perfect one."""
        return self.match("AUC: skill", value, 2 * self.answer.auc - 1, source=BASE_SOURCE)

    def counts(self, auc: float, murphy: MurphyDecomposition) -> Iterator[Comparison]:
        """Compare what the package does not compute: AUC, and Murphy's components over distinct forecasts."""
        yield self.auc(auc)
        parts = (murphy.reliability, murphy.resolution, murphy.uncertainty)
        for name, engine, theirs in zip(_MURPHY, parts, self.answer.murphy, strict=True):
            yield self.match(f"Murphy's {name}", engine, theirs, source=BASE_SOURCE)

    def sample(self, sample: SampleSummary) -> Comparison:
        """Compare the numbers of cases and of events, or the sums of their weights."""
        ours = [sample.total, sample.events]
        return self.match("cases and events", ours, self.answer.totals, source=BASE_SOURCE)

    def curve(self, forecast: FloatArray, cep: FloatArray) -> Iterator[Comparison]:
        """Compare a reliability curve: corners with edges of R's bins, heights with their probabilities."""
        bins = deviations.merge_rounded(self.answer.bins)
        edges = np.unique(np.concatenate([bins["x_min"], bins["x_max"]]))
        if self.question.weight is not None:  # rounding of weights may have left a corner inside a bin
            forecast, cep = _without_flat_corners(forecast, cep)
        yield self.match("reliability curve: corners", forecast, edges, tolerance=0.0)
        held = np.minimum(np.searchsorted(bins["x_max"], forecast), len(bins["cep"]) - 1)
        yield self.match("reliability curve: heights", cep, bins["cep"][held])

    def bins(self, fit: Corp) -> Iterator[Comparison]:
        """Compare number, edges and sizes of the bins of the isotonic fit, all exactly."""
        blocks, exact = fit.blocks, 0.0
        theirs: Mapping[str, CountArray] = self.answer.bins
        ours: Mapping[str, CountArray] = {
            "n": blocks.n,
            "x_min": blocks.x_min,
            "x_max": blocks.x_max,
            "cep": blocks.mean,
        }
        if self.question.weight is not None:  # sums of weights are rounded, here and in R
            ours, exact = deviations.merge_rounded(ours), TOLERANCE
        number = self.match("number of bins", len(ours["n"]), len(theirs["n"]), tolerance=0.0)
        if self.is_package and number.verdict is Verdict.DIFFERS:
            theirs = deviations.merge_rounded(theirs)
            if len(theirs["n"]) == len(ours["n"]):
                number = replace(number, verdict=Verdict.EXPECTED, reason=deviations.ROUNDED_BINS)
        yield number
        yield self.match("lower edges of bins", ours["x_min"], theirs["x_min"], tolerance=0.0)
        yield self.match("upper edges of bins", ours["x_max"], theirs["x_max"], tolerance=0.0)
        yield self.match("cases in bins", ours["n"], theirs["n"], tolerance=exact)

    def match(
        self,
        quantity: str,
        ours: ArrayLike,
        theirs: ArrayLike,
        *,
        tolerance: float = TOLERANCE,
        source: str | None = None,
    ) -> Comparison:
        """A line that compares two numbers, or of two arrays the numbers that differ most."""
        source = self.source if source is None else source
        return match_numbers(self.subject, quantity, ours, theirs, tolerance=tolerance, source=source)

    def state(self, quantity: str, verdict: Verdict, reason: str) -> Comparison:
        """A line without numbers."""
        return Comparison(
            subject=self.subject, quantity=quantity, verdict=verdict, reason=reason, source=self.source
        )


def match_numbers(
    subject: str,
    quantity: str,
    ours: ArrayLike,
    theirs: ArrayLike,
    *,
    source: str,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """A line that compares two numbers, or of two arrays the numbers that differ most, with their source."""
    line = compare_arrays(subject, quantity, np.atleast_1d(ours), np.atleast_1d(theirs), tolerance=tolerance)
    return replace(line, source=source)


def _without_flat_corners(forecast: FloatArray, cep: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A curve without the corners inside segments that do not rise, up to rounding."""
    rises = np.diff(cep) > TOLERANCE
    keep = np.append(True, rises) | np.append(rises, True)
    return forecast[keep], cep[keep]


def compare_reported(
    comparer: ModelComparer, result: ModelResult, evaluation: Evaluation, predictions: Predictions
) -> Iterator[Comparison]:
    """Compare the reported numbers of a model with R, and its pointwise bands with the engine.

    The bands of the engine are compared with R elsewhere; here they are drawn again with the same seed, which
    shows that the reported bands are those of the engine.
    """
    settings = evaluation.settings
    yield check_complete(result.model, _parts_of(result), _parts_of_all(settings))
    yield comparer.sample(evaluation.data.sample)
    for value in result.scores.scores:
        if value.name == "roc_auc":
            yield from comparer.counts(value.value, result.murphy)
            yield comparer.auc_skill(value.skill)
        else:
            yield from comparer.score(value)
    yield from comparer.raw_components(result.scores.components)
    yield from comparer.curve(result.curves.reliability.forecast, result.curves.reliability.cep)
    p = predictions
    fit = corp(p.outcome, p.forecasts[result.model], p.weight, weight_kind=p.weight_kind, cluster=p.cluster)
    for band in result.bands:
        if band.coverage == "pointwise":
            yield compare_again(result.model, band, fit, settings)


def compare_component_differences(
    scores: Mapping[str, Mapping[str, FloatArray]], differences: Iterable[Difference]
) -> Iterator[Comparison]:
    """Compare uncorrected differences of MCB and DSC with those of R's numbers, by model and score."""
    for d in differences:
        measure, _, component = d.measure.rpartition(" ")
        place = RAW_COMPONENTS.get(component)
        if place is None or any(measure not in scores.get(name, {}) for name in (d.first, d.second)):
            continue
        first, second = (float(scores[name][measure][place]) for name in (d.first, d.second))
        with np.errstate(invalid="ignore"):
            theirs = [first, second, np.subtract(first, second)]
        ours = [d.first_value, d.second_value, d.value]
        quantity = f"differences of models: {get_score(measure).label} {COMPONENTS[place]}, uncorrected"
        yield match_numbers(f"{d.first} and {d.second}", quantity, ours, theirs, source=BASE_SOURCE)


def _parts_of(result: ModelResult) -> list[str]:
    return [
        *(d.name for d in result.scores.decompositions),
        "and",
        *(value.name for value in result.scores.scores),
        "and",
        *(band.kind for band in result.bands if band.coverage == "pointwise"),
    ]


def _parts_of_all(settings: EvaluationSettings) -> list[str]:
    names = [measure.name for measure in choose_measures(settings)]
    bands = ["consistency", "confidence"] if settings.infers else []
    return [*names, "and", *names, "roc_auc", "and", *bands]


def check_complete(subject: str, found: Sequence[str], wanted: Sequence[str]) -> Comparison:
    """A line on whether an evaluation has all scores and bands: one without some of them must not pass."""
    is_complete = list(found) == list(wanted)
    lists = f"There are {', '.join(found)}; there must be {', '.join(wanted)}."
    return Comparison(
        subject=subject,
        quantity="scores and bands that an evaluation has",
        verdict=Verdict.AGREES if is_complete else Verdict.DIFFERS,
        reason="" if is_complete else lists,
        source=ITSELF,
    )


def compare_again(subject: str, band: Band, fit: Corp, settings: EvaluationSettings) -> Comparison:
    """Compare a reported pointwise band with the same band drawn again from the data."""
    again = fit.band(
        band.kind,
        settings.band_level,
        resamples=settings.resamples,  # without a number, the precision gives the same number again
        seed=settings.seed,
        points=settings.curve_points,
    )
    quantity = f"reported {band.kind} band ({again.method}), drawn again"
    ours, drawn = (np.concatenate([[b.n], b.x, b.lower, b.upper]) for b in (band, again))
    line = compare_arrays(subject, quantity, ours, drawn, tolerance=0.0)
    if band.label != again.label or (band.seed, band.shape) != (again.seed, again.shape):
        reason = f"It is a {band.label}; it must be a {again.label}."
        line = replace(line, verdict=Verdict.DIFFERS, reason=reason)
    return replace(line, source=ITSELF)
