"""Records of an evaluation of binary models, and records that all evaluations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scorereport._utils.formatting import common_decimals, format_plain
from scorereport._utils.overviews import Overview, overview_repr, show_bounds
from scorereport._utils.representation import short_repr
from scorereport.curves.decision import DecisionCurve, ThresholdResult
from scorereport.curves.fitted import Histogram, ReliabilityCurve, RocCurve
from scorereport.curves.murphy import MurphyCurves, RegretCurve
from scorereport.curves.segments import Segment
from scorereport.data.predictions import RescaledRows, RowFlow
from scorereport.inference.binned_errors import BinnedError
from scorereport.inference.decision_differences import DecisionDifference
from scorereport.inference.dominance import MurphyDifference
from scorereport.inference.estimates import ComponentEstimate, Difference, Estimate, HypothesisTest, Rank
from scorereport.inference.flexible_curves import FlexibleCurve
from scorereport.inference.grades import GradeTest
from scorereport.inference.miscalibration_parts import MiscalibrationParts
from scorereport.inference.recalibration import RecalibrationTrial
from scorereport.inference.recalibration_lines import CalibrationLine
from scorereport.inference.scale_results import ScaleResult
from scorereport.inference.smooth_calibration import CalibrationErrors
from scorereport.reliability.bands import Band
from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependentCases:
    """Numbers of independent cases of a sample: events and non-events, or the cases of each of K classes.

    They are rows; with sampling weights, Kish's number of rows, (Σw)²/Σw²; with clusters, Kish's number of
    clusters that have such a case, by the weight of these cases. With K classes, `events` and `non_events`
    are NaN.
    """

    unit: str
    total: float
    events: float
    non_events: float
    classes: tuple[float, ...] = ()

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSummary:
    """Size of a sample; with weights, `total`, `events` and `classes` are sums of weights.

    With K classes, `events` is NaN and `classes` has the cases of each class. `independent` counts cases for
    the rule on few events.
    """

    rows: int
    total: float
    events: float
    classes: tuple[float, ...] = ()
    prevalence_interval: Estimate | None = None
    uncertainties: tuple[Estimate, ...] = ()
    independent: IndependentCases | None = None

    DERIVED: ClassVar = ("prevalence",)

    __repr__ = short_repr

    @property
    def prevalence(self) -> float:
        """Share of events."""
        return self.events / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCount:
    """A class, the weight of the cases in which it was observed, and their share with its interval."""

    label: str
    weight: float
    share: float
    interval: Estimate | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSummary:
    """The classes of an outcome in their stated order, and the rows whose forecasts were rescaled."""

    ordered: bool
    counts: tuple[ClassCount, ...]
    rescaled: tuple[RescaledRows, ...] = ()

    __repr__ = short_repr

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(count.label for count in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary:
    """The source of the data and a summary of them; `sha256` is that of `Predictions`.

    `positive` is the label of the event; `classes` are those of an outcome with K classes, else None.
    `weight_kind` is "sampling" or "frequency"; it is "" without weights, and in documents of version 0.1,
    where whole weights were frequencies and fractions were sampling weights.
    """

    source: str
    outcome: str
    positive: str
    weighted: bool
    clusters: int | None
    row_flow: RowFlow
    sample: SampleSummary
    sha256: str = ""
    file_sha256: str = ""
    classes: ClassSummary | None = None
    weight_kind: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile of the forecasts: a share `level` of them does not exceed `value`."""

    level: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSummary:
    """A summary of the distribution of a model's forecasts."""

    forecast_type: str
    n_distinct: int
    minimum: float
    mean: float
    maximum: float
    quantiles: tuple[Quantile, ...] = ()

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreValue:
    """The mean of a score, or a measure, and its skill; intervals are None without resamples."""

    name: str
    value: float
    skill: float
    interval: Estimate | None = None
    skill_interval: Estimate | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScores:
    """All numbers of one model on one sample: scores, raw decompositions, and estimates of the components."""

    model: str
    scores: tuple[ScoreValue, ...]
    decompositions: tuple[Decomposition, ...]
    components: tuple[ComponentEstimate, ...] = ()
    miscalibration_tests: tuple[HypothesisTest, ...] = ()

    __repr__ = overview_repr

    def score(self, name: str) -> ScoreValue:
        """A score by its name."""
        return next(score for score in self.scores if score.name == name)

    def decomposition(self, name: str) -> Decomposition:
        """The decomposition of a score."""
        return next(part for part in self.decompositions if part.name == name)

    def component(self, name: str, component: str) -> ComponentEstimate | None:
        """The estimate of a component of a score; None without resamples."""
        wanted = (name, component)
        return next((c for c in self.components if (c.measure, c.component) == wanted), None)

    def miscalibration_test(self, name: str) -> HypothesisTest | None:
        """The test of whether the miscalibration of a score is 0; None without resamples."""
        title = f"miscalibration ({name})"
        return next((test for test in self.miscalibration_tests if test.name == title), None)

    def _describe(self) -> Overview:
        return describe_scores("ModelScores", self)


def describe_scores(kind: str, scores: ModelScores) -> Overview:
    """Describe the results of a model by its scores: a row for each."""
    rows = [
        (
            score.name,
            format_plain(score.value),
            show_bounds(score.interval, common_decimals([score.value])),
            format_plain(score.skill, 4),
        )
        for score in scores.scores
    ]
    columns = ("score", "value", "interval", "skill")
    return Overview(title=f"{kind} of {scores.model}", columns=columns, rows=tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """Tests and measures of calibration other than CORP; smooth errors and curves need rows in memory."""

    line: CalibrationLine
    tests: tuple[HypothesisTest, ...]
    errors: CalibrationErrors | None
    binned: BinnedError
    grades: tuple[GradeTest, ...] = ()
    flexible: FlexibleCurve | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCurves:
    """All curves of one model, thinned to fit into a document; each point is exact."""

    reliability: ReliabilityCurve
    histogram: Histogram
    roc: RocCurve
    roc_hull: RocCurve
    murphy: MurphyCurves
    regret: RegretCurve
    decision: DecisionCurve

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """All results of one binary model on all rows.

    `segments` are the forecasts that a simultaneous band shows to be wrong; None without such a band, and in
    documents of versions that did not measure them. `miscalibration_parts` are those of the Brier and of the
    log score.
    """

    OPTIONAL: ClassVar = ("segments", "miscalibration_parts")

    model: str
    forecasts: ForecastSummary
    scores: ModelScores
    murphy: MurphyDecomposition
    curves: ModelCurves
    bands: tuple[Band, ...] = ()
    calibration: ModelCalibration | None = None
    thresholds: tuple[ThresholdResult, ...] = ()
    recalibration: tuple[RecalibrationTrial, ...] = ()
    scale: tuple[ScaleResult, ...] = ()
    segments: tuple[Segment, ...] | None = None
    miscalibration_parts: tuple[MiscalibrationParts, ...] = ()

    __repr__ = overview_repr

    def parts_of(self, measure: str) -> MiscalibrationParts | None:
        """The parts of the miscalibration of a score; None if they are not known."""
        return next((parts for parts in self.miscalibration_parts if parts.measure == measure), None)

    def _describe(self) -> Overview:
        return describe_scores("ModelResult", self.scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """The scores of all models on the rows of one subgroup or period; no models if it is too small."""

    column: str
    label: str
    sample: SampleSummary
    models: tuple[ModelScores, ...]
    note: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """A test of whether a model is equally good in all groups of a column."""

    column: str
    model: str
    test: HypothesisTest

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Comparisons of all pairs of models: differences, ranks by each measure, and Murphy differences.

    `decisions` compare net benefit at thresholds: of all pairs, and of each model with treating all and none.
    It is None without intervals, and in documents of versions that did not have it.
    """

    OPTIONAL: ClassVar = ("decisions",)

    differences: tuple[Difference, ...] = ()
    ranks: tuple[Rank, ...] = ()
    murphy: tuple[MurphyDifference, ...] = ()
    decisions: tuple[DecisionDifference, ...] | None = None

    __repr__ = short_repr
