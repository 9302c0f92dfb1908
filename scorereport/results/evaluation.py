"""`Evaluation`: several models on the same rows, as one object that tables, figures and reports read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from scorereport._utils import json_documents
from scorereport._utils.files import write_text
from scorereport._utils.overviews import Overview, overview_repr
from scorereport._utils.registration import call_registered
from scorereport.inference.missing_outcomes import MissingOutcomes
from scorereport.inference.population_stability import Stability
from scorereport.results import decision_frames, frames
from scorereport.results.class_records import ClassModelResult
from scorereport.results.model_records import (
    Comparisons,
    DataSummary,
    GroupResult,
    Heterogeneity,
    ModelResult,
)
from scorereport.results.reference_records import ReferenceComparison
from scorereport.results.registered_functions import judge_limits, list_findings, render_notebook
from scorereport.results.settings import EvaluationSettings
from scorereport.results.summaries import describe_evaluation, summary_frame

if TYPE_CHECKING:
    import pandas as pd

    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.results.registered_functions import Limits
    from scorereport.results.tallies import Tallies

VERSION: Literal[1] = 1


class _OnData:
    """Keeps the evaluated predictions, or counts of them, beside the fields, which alone are in documents.

    The text of the document is kept as well, once it is written.
    """

    __slots__ = ("_predictions", "_tallies", "_text")

    @property
    def _written(self) -> str | None:
        return getattr(self, "_text", None)

    @property
    def predictions(self) -> Predictions | ClassPredictions | None:
        """The evaluated predictions; None if they were not in memory, or if this was read from a document."""
        return getattr(self, "_predictions", None)

    @property
    def tallies(self) -> Tallies | None:
        """Counts of forecasts by bin, which audits compare; None if the predictions were in memory."""
        return getattr(self, "_tallies", None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation(_OnData):
    """All numbers of all models with their uncertainty: overall, in comparison, by group and by period.

    Binary models are in `models`, models of K classes in `class_models`; `results` is whichever is filled.
    `stability` compares forecasts with those of a reference sample, and `reference` adds tests and, if the
    reference has outcomes, the changes of scores and of the event rate; both are None without one.
    `missing_outcomes` bounds numbers over all outcomes of rows that were dropped for lack of one; None
    without such rows.
    """

    version: Literal[1] = VERSION
    data: DataSummary
    settings: EvaluationSettings
    models: tuple[ModelResult, ...] = ()
    class_models: tuple[ClassModelResult, ...] = ()
    comparisons: Comparisons = field(default_factory=Comparisons)
    groups: tuple[GroupResult, ...] = ()
    windows: tuple[GroupResult, ...] = ()
    heterogeneity: tuple[Heterogeneity, ...] = ()
    notes: tuple[str, ...] = ()
    software: dict[str, str] = field(default_factory=dict)
    stability: tuple[Stability, ...] | None = None
    reference: ReferenceComparison | None = None
    missing_outcomes: MissingOutcomes | None = None

    OPTIONAL: ClassVar = ("stability", "reference", "missing_outcomes")

    __repr__ = overview_repr

    @property
    def results(self) -> tuple[ModelResult, ...] | tuple[ClassModelResult, ...]:
        """All models, binary or of K classes."""
        return self.models or self.class_models

    @property
    def kind(self) -> Literal["binary", "multiclass", "ordinal"]:
        """The kind of outcome: "binary" (an event), "multiclass" or "ordinal" (ordered classes)."""
        if self.data.classes is None:
            return "binary"
        return "ordinal" if self.data.classes.ordered else "multiclass"

    @property
    def main_score(self) -> str:
        """The score by which models of this kind are compared first, and which is decomposed."""
        return {"binary": "brier", "multiclass": "multiclass_brier", "ordinal": "rps"}[self.kind]

    def summary(self) -> pd.DataFrame:
        """Summarize each model in one row: its main score, skill, components and test of miscalibration.

        The index is the model. Bounds of intervals are in columns with the suffixes `_lower` and `_upper`;
        they are NaN without intervals. Columns:

        - `n`: rows; `events`: events, with weights their sum; or `classes`: the number of classes
        - the main score, by its name: `brier`, `multiclass_brier` or `rps`; with bounds
        - `skill` of the main score, with bounds: 0 for forecasting the prevalence, 1 for the perfect forecast
        - `miscalibration`, `discrimination`, `uncertainty`: the components of the main score as measured,
          score = miscalibration - discrimination + uncertainty
        - `miscalibration_p_value`: of the test that miscalibration is 0, for this model alone
        - `roc_auc` of binary models, `accuracy` of models of K classes; with bounds
        - `calibration_slope`, `calibration_intercept` of binary models: 1 and 0 if calibrated
        """
        return summary_frame(self)

    @property
    def findings(self) -> tuple[str, ...]:
        """The findings in plain sentences, as the summary of the report states them without limits."""
        return list_findings(self)

    def verdicts(self, limits: Limits) -> pd.DataFrame:
        """Judge the numbers by limits: a row for each limit, model and group, with a verdict and a sentence.

        Parameters
        ----------
        limits : the table `[limits]` of a configuration as a dictionary, such as `{"brier": {"warn": 0.19,
            "fail": 0.21}, "calibration_slope": {"min": 0.8, "max": 1.2}, "groups": True}`; or the path of a
            TOML configuration, whose other tables must agree with this evaluation; see docs/configuration.md

        The verdict is "pass", "warn", "inconclusive" or "fail", and holds for the interval of the number, not
        only for its value. `group` is "" for all rows, and `model` is "" for numbers of the sample. Limits
        that are not set are NaN. `more_cases` would decide an inconclusive limit in half of samples if the
        number stays at its value, `more_cases_likely` with a probability of 80 %, and `more_days` is the time
        that the former take; infinite if there would be too many, NaN for other verdicts.
        """
        return frames.verdict_frame(judge_limits(self, limits))

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores: a row for each model, a column for each score."""
        return frames.score_frame(m.scores for m in self.results)

    @property
    def skills(self) -> pd.DataFrame:
        """Skills: 0 for forecasting the prevalence, or the class frequencies; 1 for the perfect forecast."""
        return frames.skill_frame(m.scores for m in self.results)

    @property
    def intervals(self) -> pd.DataFrame:
        """All numbers with intervals: a row for each; in rows of the sample, the model is ""."""
        return frames.interval_frame(self.data, self.results)

    @property
    def decompositions(self) -> pd.DataFrame:
        """Mean score, miscalibration, discrimination and uncertainty: a row for each model and score."""
        return frames.decomposition_frame(m.scores for m in self.results)

    @property
    def murphy(self) -> pd.DataFrame:
        """Murphy's reliability, resolution and uncertainty of the Brier score, over distinct forecasts."""
        return frames.murphy_frame(self.models)

    @property
    def thresholds(self) -> pd.DataFrame:
        """Decisions at a few thresholds, with rates and net benefit: a row for each model and threshold."""
        return decision_frames.threshold_frame(self.models)

    @property
    def decision_curves(self) -> pd.DataFrame:
        """Net benefit along the decision curves, with its interval: a row for each model and threshold."""
        return decision_frames.decision_curve_frame(self.models)

    @property
    def decision_differences(self) -> pd.DataFrame:
        """Differences of net benefit of pairs of models, and from treating all and none, by threshold.

        `better` names the better one by the simultaneous band; it is "" where they are not distinguishable.
        """
        return decision_frames.decision_difference_frame(self.comparisons.decisions or ())

    @property
    def flexible_curves(self) -> pd.DataFrame:
        """Flexible calibration curves with their bands: a row for each model and forecast."""
        return decision_frames.flexible_curve_frame(self.models)

    @property
    def recalibration(self) -> pd.DataFrame:
        """The effect of cross-fitted recalibration: a row for each model, method and score."""
        return decision_frames.recalibration_frame(self.models)

    @property
    def missing_outcome_bounds(self) -> pd.DataFrame:
        """Bounds of numbers over all outcomes of rows without one: a row for each model and number."""
        return frames.missing_outcome_frame(self.missing_outcomes)

    @property
    def miscalibration_parts(self) -> pd.DataFrame:
        """Global and local miscalibration: a row for each model, score and part."""
        return decision_frames.parts_frame(self.models)

    @property
    def views(self) -> pd.DataFrame:
        """Decompositions of models of K classes by class and threshold: a row for each model and view."""
        return frames.view_frame(self.class_models)

    @property
    def confusion(self) -> pd.DataFrame:
        """Confusion tables: a row for each model, observed class (`came`) and predicted class (`called`)."""
        return frames.confusion_frame(self.data.classes, self.class_models)

    @property
    def retention(self) -> pd.DataFrame:
        """Retention curves: a row for each model, score, metric and fraction of removed cases."""
        return frames.retention_frame(self.class_models)

    @property
    def probability_scale(self) -> pd.DataFrame:
        """Decisiveness, accuracy and robustness: a row for each model, class, kind of bins and mark."""
        return frames.scale_frame(self.results)

    @property
    def calibration_tests(self) -> pd.DataFrame:
        """Tests of calibration: a row for each model and test."""
        return frames.calibration_test_frame(self.results)

    @property
    def differences(self) -> pd.DataFrame:
        """Paired differences of all pairs of models by every measure, with interval and test."""
        return frames.record_frame(self.comparisons.differences)

    @property
    def ranks(self) -> pd.DataFrame:
        """Models ranked by each measure; models that do not differ significantly are tied."""
        return frames.record_frame(self.comparisons.ranks)

    @property
    def reference_changes(self) -> pd.DataFrame:
        """Changes since the reference sample, with interval and test: a row for each model and number.

        The model is "" for the event rate and the uncertainties, which do not depend on it.
        """
        return frames.reference_frame(self.reference)

    @property
    def stability_bins(self) -> pd.DataFrame:
        """Shares of the forecasts in sample and reference: a row for each model and bin."""
        return frames.stability_frame(self.stability or ())

    @property
    def group_scores(self) -> pd.DataFrame:
        """Mean scores by subgroup: a row for each group and model."""
        return frames.group_score_frame(self.groups)

    @property
    def group_decompositions(self) -> pd.DataFrame:
        """Decompositions by subgroup: a row for each group, model and score."""
        return frames.group_decomposition_frame(self.groups)

    @property
    def group_intervals(self) -> pd.DataFrame:
        """Intervals by subgroup: a row for each group, model and number."""
        return frames.group_interval_frame(self.groups)

    @property
    def window_intervals(self) -> pd.DataFrame:
        """Intervals by period of time: a row for each period, model and number."""
        return frames.group_interval_frame(self.windows)

    @property
    def heterogeneity_tests(self) -> pd.DataFrame:
        """Tests of whether groups differ: a row for each column, model and test."""
        return frames.record_frame(
            [h.test for h in self.heterogeneity],
            column=[h.column for h in self.heterogeneity],
            model=[h.model for h in self.heterogeneity],
        )

    def plot(self, kind: str = "reliability", **keywords: Any) -> Any:
        """Draw the models by a plot of `scorereport.plots`, such as "roc", "murphy" or "decision_curve".

        Keywords such as `ax` and `color` are those of the plot; it returns the Axes, or the figure if it has
        several panels.
        """
        return call_registered("plot", self, kind, **keywords)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the results document as JSON; if a path is given, also write it to a file."""
        text = self._written
        if text is None:  # it is hashed, and part of the documents of reports
            text = json_documents.dump(self)
            object.__setattr__(self, "_text", text)
        if path is not None:
            write_text(path, text)
        return text

    @property
    def sha256(self) -> str:
        """SHA-256 of the results document."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @classmethod
    def from_json(cls, path: str | Path) -> Evaluation:
        """Read a results document; it equals the evaluation that was written."""
        text = Path(path).read_bytes()
        json_documents.check_version(text, VERSION, str(path))
        return json_documents.load(cls, text, str(path))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of results documents; `scorereport/schemas` holds it as a file."""
        return json_documents.json_schema(cls, f"scorereport evaluation, version {VERSION}")

    def _repr_html_(self) -> str:
        """The display in notebooks: the main tables and the reliability diagram."""
        return render_notebook(self)

    def _describe(self) -> Overview:
        return describe_evaluation(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and json_documents.encode(self) == json_documents.encode(other)

    __hash__ = None  # type: ignore[assignment]
