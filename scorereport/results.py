"""The parts of an evaluation: plain frozen records that a document can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scorereport.curves.decision import DecisionCurve
from scorereport.curves.diagram import Histogram, ReliabilityCurve
from scorereport.curves.murphy import MurphyCurves, RegretCurve
from scorereport.curves.roc import RocCurve
from scorereport.predictions import RowFlow
from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked of an evaluation."""

    cost_interval: tuple[float, float] | None = None
    curve_points: int = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSummary:
    """Size of a sample; with weights `total` and `events` are sums of weights."""

    rows: int
    total: float
    events: float

    DERIVED: ClassVar = ("prevalence",)

    @property
    def prevalence(self) -> float:
        """Share of events."""
        return self.events / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary:
    """Where the data came from and what they are."""

    source: str
    outcome: str
    positive: str
    weighted: bool
    row_flow: RowFlow
    sample: SampleSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSummary:
    """The distribution of a model's forecasts in a few numbers."""

    forecast_type: str
    n_distinct: int
    minimum: float
    mean: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreValue:
    """The mean of a score, or a measure, and its skill."""

    name: str
    value: float
    skill: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScores:
    """All numbers of one model on one sample."""

    model: str
    scores: tuple[ScoreValue, ...]
    decompositions: tuple[Decomposition, ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """The scores of all models on the rows of one subgroup."""

    column: str
    label: str
    sample: SampleSummary
    models: tuple[ModelScores, ...]
