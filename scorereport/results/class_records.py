"""Records of an evaluation of models of K classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from scorereport._utils.overviews import Overview, overview_repr
from scorereport._utils.representation import short_repr
from scorereport.curves.fitted import Histogram, ReliabilityCurve
from scorereport.curves.segments import Segment
from scorereport.inference.retention_bands import RetentionBand
from scorereport.inference.scale_results import ScaleResult
from scorereport.reliability.bands import Band
from scorereport.results.model_records import ForecastSummary, ModelScores, SampleSummary, describe_scores

CLASS: Literal["class"] = "class"
THRESHOLD: Literal["threshold"] = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewResult:
    """One binary view of a model of K classes: whether the class is a given one, or one up to a threshold.

    `label` is that of the class, or of the last class below the threshold. The scores are the Brier score
    with its decomposition, and the AUC. `segments` are the forecasts that its simultaneous band shows to be
    wrong; None without a band, and in documents of versions that did not measure them.
    """

    OPTIONAL: ClassVar = ("segments",)

    label: str
    sample: SampleSummary
    forecasts: ForecastSummary
    scores: ModelScores
    reliability: ReliabilityCurve
    histogram: Histogram
    bands: tuple[Band, ...] = ()
    segments: tuple[Segment, ...] | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewFamily:
    """All views of a model by class, or by threshold; their Brier scores over `divisor` sum to `score`.

    The views by class give the K-class Brier score, with divisor 1; those by threshold between ordered
    classes give the ranked probability score, with divisor K - 1. The same holds for miscalibration,
    discrimination and uncertainty. Views are fitted separately: `crossing` is the weight of the cases whose
    recalibrated probabilities fall from one threshold to the next. It is 0 for views by class, which need
    not rise.
    """

    kind: Literal["class", "threshold"]
    score: str
    divisor: int
    views: tuple[ViewResult, ...]
    crossing: float

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """The confusion table, as sums of weights: observed classes in rows, predicted classes in columns."""

    counts: tuple[tuple[float, ...], ...]

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassModelResult:
    """All results of one model of K classes on all rows."""

    model: str
    scores: ModelScores
    confusion: Confusion
    families: tuple[ViewFamily, ...]
    retention: tuple[RetentionBand, ...] = ()
    scale: tuple[ScaleResult, ...] = ()

    __repr__ = overview_repr

    def family(self, kind: str) -> ViewFamily | None:
        """The views of one kind; None if the model has none."""
        return next((family for family in self.families if family.kind == kind), None)

    def _describe(self) -> Overview:
        return describe_scores("ClassModelResult", self.scores)
