"""Results on Nelson's probability scale: bins, marks with intervals, and the verdict on their angle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_number
from scorereport._utils.representation import short_repr
from scorereport.inference.estimates import Estimate

EQUAL_COUNT, CORP = "equal-count bins", "CORP blocks"
KINDS_OF_BINS = (EQUAL_COUNT, CORP)
MARKS = ("decisiveness", "accuracy", "robustness")
#: If even calibrated probabilities would give a steeper line than this, bins are too broad: simulations with
#: 50 classes in 10 bins give wrong verdicts beyond it.
STEEPEST_EXPECTED = 55.0
OVER, UNDER, NEITHER = "over-confident", "under-confident", "neither"
#: The angle is unusual, but decisiveness contradicts it, or it is usual after classes are rescaled.
CONTRADICTORY, CLASS_BIAS = "contradictory", "class bias"
WITHOUT_TAIL = (
    "The few smallest probabilities of observed classes dominate this mean, and new cases may have similar "
    "ones: no interval would be reliable."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleMark:
    """One generalised mean: of the model's probabilities, of the source's, and their ratio."""

    exponent: float
    model: Estimate
    source: Estimate
    divergence: Estimate

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleResult:
    """Model against source probabilities over bins, and their three means.

    `target` is the label of a class, "" for all classes together. For each bin, `n` is the weight of its
    pairs of case and class, `events` that of its observed pairs, `model` the geometric mean of the model's
    probabilities of these, and `source` their share. `n_bins` is the number of equal-count bins; it is 0 for
    CORP blocks, which determine their own number.

    `angle` is that of the line from robustness to decisiveness, in degrees, with source probability on the
    horizontal and model probability on the vertical axis; `angle_lower` and `angle_upper` are its interval.
    The other three angles are median and interval for a calibrated model in a sample like this one. `verdict`
    is for all classes together: "over-confident", "under-confident", "neither", "contradictory" (the
    decisiveness points the other way) or "class bias" (usual after each class is rescaled to its observed
    frequency). It is empty where nothing was drawn, where there is no angle or where bins are too broad.

    Intervals of source and divergence are for the population: in equal-count bins for its value in these
    bins, held fixed; in CORP blocks for that of the true recalibration curve.
    """

    target: str
    bins: str
    n_bins: int
    decisiveness: ScaleMark
    accuracy: ScaleMark
    robustness: ScaleMark
    n: FloatArray
    events: FloatArray
    model: FloatArray
    source: FloatArray
    limit: float
    angle: float
    angle_lower: float
    angle_upper: float
    calibrated_angle: float
    calibrated_lower: float
    calibrated_upper: float
    verdict: str = ""
    spectrum_exponent: FloatArray
    spectrum_model: FloatArray
    spectrum_source: FloatArray
    note: str = ""

    __repr__ = short_repr

    @property
    def marks(self) -> tuple[ScaleMark, ScaleMark, ScaleMark]:
        """Decisiveness, accuracy and robustness."""
        return self.decisiveness, self.accuracy, self.robustness

    @property
    def contribution(self) -> FloatArray:
        """Share of all observed pairs in each bin; NaN if there is none."""
        total = self.events.sum()
        return self.events / total if total > 0 else np.full(len(self.events), np.nan)

    @property
    def sentence(self) -> str:
        """Describe the verdict of the angle on confidence, in one sentence."""
        return _describe_verdict(self) if self.verdict else _describe_no_verdict(self)


class ScaledModel(Protocol):
    """A model with its results on the probability scale, binary or of K classes."""

    @property
    def model(self) -> str:
        """Name of the model."""

    @property
    def scale(self) -> tuple[ScaleResult, ...]:
        """All classes together first, then each; in equal-count bins and in CORP blocks."""


def _degrees(value: float) -> str:
    return f"{format_number(value, 0)}°"


def _expected(result: ScaleResult) -> str:
    return f"between {_degrees(result.calibrated_lower)} and {_degrees(result.calibrated_upper)}"


def _describe_verdict(result: ScaleResult) -> str:
    opening = f"The line through the marks rises at {_degrees(result.angle)}"
    if result.verdict == OVER:
        return (
            f"{opening}, steeper than with calibrated probabilities ({_expected(result)}): the model is "
            "over-confident, its probabilities are spread more widely than the observed frequencies."
        )
    if result.verdict == UNDER:
        return (
            f"{opening}, flatter than with calibrated probabilities ({_expected(result)}): the model is "
            "under-confident, the observed frequencies are spread more widely than its probabilities."
        )
    if result.verdict == NEITHER:
        return f"{opening}; {_describe_expected(result)}: this shows neither over- nor under-confidence."
    is_steep = result.angle > result.calibrated_angle
    unusual = f"{opening}, {'steeper' if is_steep else 'flatter'} than with calibrated probabilities"
    if result.verdict == CLASS_BIAS:
        return (
            f"{unusual} ({_expected(result)}), but not after each class is rescaled to its observed "
            "frequency: this shows classes whose probabilities are too high or too low throughout, and "
            "neither over- nor under-confidence."
        )
    return (
        f"{unusual} ({_expected(result)}); but the model is {'less' if is_steep else 'more'} decisive than "
        "the source, which points the other way: the signs contradict each other, and there is no verdict."
    )


def _describe_expected(result: ScaleResult) -> str:
    if result.calibrated_lower <= result.angle <= result.calibrated_upper:
        return f"with calibrated probabilities it would be {_expected(result)}"
    interval = f"{_degrees(result.angle_lower)} to {_degrees(result.angle_upper)}"
    usual = _degrees(result.calibrated_angle)
    return f"its interval, {interval}, contains {usual}, the usual angle with calibrated probabilities"


def _describe_no_verdict(result: ScaleResult) -> str:
    if np.isnan(result.angle):
        return "The marks coincide or are not defined, so there is no line through them to read."
    opening = f"The line through the marks rises at {_degrees(result.angle)}"
    if result.target:
        return (
            f"{opening}. For one class it also turns where its probabilities are too high or too low "
            "throughout, so this is not a verdict on confidence."
        )
    if result.calibrated_angle > STEEPEST_EXPECTED:
        return (
            f"{opening}, but in these bins that is no evidence: with calibrated probabilities it would be "
            f"{_expected(result)}."
        )
    if np.isnan(result.angle_lower):
        return f"{opening}; without resamples it is not known whether the difference from 45° may be chance."
    return f"{opening}; with calibrated probabilities these forecasts would have no line to compare it with."
