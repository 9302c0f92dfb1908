"""Records of the comparison of an evaluation with a reference sample."""

from __future__ import annotations

from dataclasses import dataclass

from scorereport._utils.representation import short_repr
from scorereport.curves.fitted import ReliabilityCurve
from scorereport.inference.estimates import Estimate, HypothesisTest
from scorereport.inference.sample_changes import Change, RateChange
from scorereport.results.model_records import ModelScores, SampleSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStability:
    """The shares of the labels of a column in sample and reference, their stability index and its test."""

    column: str
    labels: tuple[str, ...]
    sample: tuple[float, ...]
    reference: tuple[float, ...]
    index: Estimate
    test: HypothesisTest

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceModel:
    """A model in sample and reference: tests of its forecasts, its changes, and the parts of the rate.

    `scores` and `curve`, the reliability curve, are those of the reference; without outcomes there, they are
    None and there are no changes. The raw
    components of `scores` and those of the sample add up to the change of each score.
    """

    model: str
    tests: tuple[HypothesisTest, ...]
    scores: ModelScores | None = None
    changes: tuple[Change, ...] = ()
    rate: RateChange | None = None
    curve: ReliabilityCurve | None = None

    __repr__ = short_repr

    def change(self, measure: str) -> Change | None:
        """The change of a measure; None if it was not compared."""
        return next((change for change in self.changes if change.measure == measure), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceComparison:
    """A reference sample, and what has changed since: the event rate, each model, and groups of columns.

    `sample` describes the reference; with no outcomes, its events are NaN. `prevalence` is the change of the
    event rate, None without outcomes; `uncertainties` are the changes of the uncertainty of each score.
    """

    source: str
    source_sha256: str
    sample: SampleSummary
    models: tuple[ReferenceModel, ...]
    prevalence: Change | None = None
    uncertainties: tuple[Change, ...] = ()
    columns: tuple[ColumnStability, ...] = ()
    notes: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def has_outcomes(self) -> bool:
        """Whether the reference has outcomes, so that scores and calibration are compared."""
        return self.prevalence is not None

    def find(self, model: str) -> ReferenceModel:
        """The comparison of a model."""
        return next(found for found in self.models if found.model == model)
