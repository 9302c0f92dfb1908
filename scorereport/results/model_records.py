"""Records of an evaluation of binary models, and those that all evaluations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scorereport.curves.decision import DecisionCurve, ThresholdResult
from scorereport.curves.fitted import Histogram, ReliabilityCurve, RocCurve
from scorereport.curves.murphy import MurphyCurves, RegretCurve
from scorereport.curves.retention import DEFAULT_FRACTIONS
from scorereport.data.predictions import RescaledRows, RowFlow
from scorereport.inference.binned_errors import BinnedError
from scorereport.inference.components import ComponentEstimate
from scorereport.inference.dominance import MurphyDifference
from scorereport.inference.estimates import Difference, Estimate, HypothesisTest, Rank
from scorereport.inference.flexible_curves import FlexibleCurve
from scorereport.inference.grades import GradeTest
from scorereport.inference.recalibration import RecalibrationTrial
from scorereport.inference.recalibration_lines import CalibrationLine
from scorereport.inference.scale_results import ScaleResult
from scorereport.inference.smooth_calibration import CalibrationErrors
from scorereport.reliability.bands import Band
from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition
from scorereport.reliability.sampling import SEED

#: Bins of equal count on the probability scale.
SCALE_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """What was asked of an evaluation.

    Intervals have the probability `level`, bands `band_level`. With `resamples` 0 nothing is drawn and
    there are neither intervals nor bands nor tests. Groups smaller than `smallest_group` are counted,
    not scored. `window` is the length of a period of time: day, week, month, quarter or year.
    `thresholds` are those that decisions are tabled at, None if they were left to the evaluation.
    `cost_matrix` has a row for each class that came and a column for each that was decided for; None
    stands for the squared distance of the classes over its largest value, or 0 and 1 if they are not
    ordered. Retention curves set aside `retention_fractions` of the cases. The probability scale cuts
    forecasts into `scale_bins` bins, and pulls them into [`scale_limit`, 1 - `scale_limit`] first.
    `engine` sorted the rows: in memory, on disk ("duckdb") or on a cluster ("spark"); but in memory
    nothing is resampled, and `resamples` only tells whether there are intervals.
    """

    cost_interval: tuple[float, float] | None = None
    curve_points: int = 400
    level: float = 0.95
    band_level: float = 0.9
    interval_method: str = "bca"
    resamples: int = 1000
    seed: int = SEED
    smallest_group: int = 10
    window: str | None = None
    thresholds: tuple[float, ...] | None = None
    cost_matrix: tuple[tuple[float, ...], ...] | None = None
    retention_fractions: tuple[float, ...] = DEFAULT_FRACTIONS
    scale_bins: int = SCALE_BINS
    scale_limit: float = 0.0
    engine: str = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependentCases:
    """How many independent cases a sample has, with an event and without, or in each of K classes.

    They are rows; with sampling weights Kish's number of them, (Σw)²/Σw²; with clusters, Kish's number of
    those that have such a case, by the weight of these cases. Of K classes there are no events, NaN.
    """

    unit: str
    total: float
    events: float
    non_events: float
    classes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSummary:
    """Size of a sample; with weights `total`, `events` and `classes` are sums of weights.

    Of K classes there are no events, NaN, but the cases of each class. `independent` counts cases for the
    rule on few events.
    """

    rows: int
    total: float
    events: float
    classes: tuple[float, ...] = ()
    prevalence_interval: Estimate | None = None
    uncertainties: tuple[Estimate, ...] = ()
    independent: IndependentCases | None = None

    DERIVED: ClassVar = ("prevalence",)

    @property
    def prevalence(self) -> float:
        """Share of events."""
        return self.events / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCount:
    """A class, the weight of the cases in which it came, and their share with its interval."""

    label: str
    weight: float
    share: float
    interval: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSummary:
    """The classes of an outcome in their stated order, and what was done to make forecasts sum to one."""

    ordered: bool
    counts: tuple[ClassCount, ...]
    rescaled: tuple[RescaledRows, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(count.label for count in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary:
    """Where the data came from and what they are; `sha256` is that of `Predictions`.

    `positive` is the label of the event, `classes` are those of an outcome that has K of them.
    `weight_kind` is "sampling" or "frequency", and "" without weights and in documents of version 0.1,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The value that this share of the forecasts does not exceed."""

    level: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSummary:
    """The distribution of a model's forecasts in a few numbers."""

    forecast_type: str
    n_distinct: int
    minimum: float
    mean: float
    maximum: float
    quantiles: tuple[Quantile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreValue:
    """The mean of a score, or a measure, and its skill; with intervals if any were asked for."""

    name: str
    value: float
    skill: float
    interval: Estimate | None = None
    skill_interval: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScores:
    """All numbers of one model on one sample: raw decompositions, and what is known of the components."""

    model: str
    scores: tuple[ScoreValue, ...]
    decompositions: tuple[Decomposition, ...]
    components: tuple[ComponentEstimate, ...] = ()
    miscalibration_tests: tuple[HypothesisTest, ...] = ()

    def score(self, name: str) -> ScoreValue:
        """A score by its name."""
        return next(score for score in self.scores if score.name == name)

    def decomposition(self, name: str) -> Decomposition:
        """The decomposition of a score."""
        return next(part for part in self.decompositions if part.name == name)

    def component(self, name: str, component: str) -> ComponentEstimate | None:
        """What is known of a component of a score; None if nothing was drawn."""
        wanted = (name, component)
        return next((c for c in self.components if (c.measure, c.component) == wanted), None)

    def miscalibration_test(self, name: str) -> HypothesisTest | None:
        """The test that the miscalibration of a score is 0; None if nothing was drawn."""
        title = f"miscalibration ({name})"
        return next((test for test in self.miscalibration_tests if test.name == title), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """Tests and measures of calibration beside CORP; smooth curves need rows in memory, else None."""

    line: CalibrationLine
    tests: tuple[HypothesisTest, ...]
    errors: CalibrationErrors | None
    binned: BinnedError
    grades: tuple[GradeTest, ...] = ()
    flexible: FlexibleCurve | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCurves:
    """All curves of one model, with few enough points for a document; each point is exact."""

    reliability: ReliabilityCurve
    histogram: Histogram
    roc: RocCurve
    roc_hull: RocCurve
    murphy: MurphyCurves
    regret: RegretCurve
    decision: DecisionCurve


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """Everything about one model on all rows."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """The scores of all models on the rows of one subgroup or period; none if it is too small."""

    column: str
    label: str
    sample: SampleSummary
    models: tuple[ModelScores, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """A test whether a model is equally good in all groups of a column."""

    column: str
    model: str
    test: HypothesisTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """All pairs of models: differences, ranks by each measure, and Murphy difference curves."""

    differences: tuple[Difference, ...] = ()
    ranks: tuple[Rank, ...] = ()
    murphy: tuple[MurphyDifference, ...] = ()
