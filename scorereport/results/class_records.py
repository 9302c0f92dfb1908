"""Records of an evaluation of models of K classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scorereport.curves.fitted import Histogram, ReliabilityCurve
from scorereport.inference.retention_bands import RetentionBand
from scorereport.inference.scale_results import ScaleResult
from scorereport.reliability.bands import Band
from scorereport.results.model_records import ForecastSummary, ModelScores, SampleSummary

CLASS: Literal["class"] = "class"
THRESHOLD: Literal["threshold"] = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewResult:
    """One binary question about a model of K classes: whether a class comes, or one up to a threshold.

    `label` is that of the class, or of the last class below the threshold. The scores are the Brier score
    with its decomposition, and the AUC.
    """

    label: str
    sample: SampleSummary
    forecasts: ForecastSummary
    scores: ModelScores
    reliability: ReliabilityCurve
    histogram: Histogram
    bands: tuple[Band, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewFamily:
    """All classes, or all thresholds, of a model: their Brier scores over `divisor` add up to `score`.

    Each class by itself makes the K-class Brier score, divisor 1; each threshold between ordered classes
    makes the ranked probability score, divisor K - 1. The same holds for miscalibration, discrimination
    and uncertainty. Views are fitted apart: `crossing` is the weight of the cases whose recalibrated
    probabilities fall from one threshold to the next; of classes, which need not rise, it is 0.
    """

    kind: Literal["class", "threshold"]
    score: str
    divisor: int
    views: tuple[ViewResult, ...]
    crossing: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often each class came, in rows, and was called likeliest, in columns; sums of weights."""

    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassModelResult:
    """Everything about one model of K classes on all rows."""

    model: str
    scores: ModelScores
    confusion: Confusion
    families: tuple[ViewFamily, ...]
    retention: tuple[RetentionBand, ...] = ()
    scale: tuple[ScaleResult, ...] = ()

    def family(self, kind: str) -> ViewFamily | None:
        """The views of one kind; None if the model has none."""
        return next((family for family in self.families if family.kind == kind), None)
