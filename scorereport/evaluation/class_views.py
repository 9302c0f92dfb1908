"""Binary views of models of K classes: each class against the rest, each threshold between ordered classes.

The K-class Brier score is the sum of the Brier scores of the classes, the ranked probability score the
mean of those of the thresholds. Isotonic regression of each view therefore decomposes both exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.curves import forecast_histogram, reliability_curve
from scorereport.evaluation.class_measures import BRIER, RPS
from scorereport.evaluation.forecast_summary import describe_forecasts
from scorereport.evaluation.model_curves import draw_consistency_bands, locate_segments
from scorereport.evaluation.model_scores import infer_sample, score_fit
from scorereport.evaluation.prediction_panels import fit_panel
from scorereport.evaluation.sample_summary import describe_sample
from scorereport.inference.components import CaseLosses
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit import Overfit
from scorereport.inference.panel import ForecastPanel, make_panel
from scorereport.reliability.bands import CalibratedCurves
from scorereport.reliability.decomposition import Decomposition
from scorereport.results.class_records import CLASS, THRESHOLD, ViewFamily, ViewResult
from scorereport.results.model_records import ModelScores, SampleSummary
from scorereport.scores.ordinal import cumulative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.class_panel import ClassPanel
    from scorereport.reliability.fit import Corp
    from scorereport.results.settings import EvaluationSettings

#: A decrease of recalibrated probabilities by less than this is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """A binary view: the outcome of each case, each model's probability, and the isotonic fits.

    Arrays are in the order of the panel of classes; `panel` has its own canonical order.
    """

    label: str
    outcome: FloatArray
    forecasts: dict[str, FloatArray]
    panel: ForecastPanel

    @cached_property
    def fits(self) -> dict[str, Corp]:
        """The isotonic fit of each model."""
        return fit_panel(self.panel)

    def losses(self, model: str) -> CaseLosses:
        """Brier scores of each case: of the forecast, the recalibrated forecast and the prevalence."""
        fit, p = self.fits[model], self.forecasts[model]
        return CaseLosses(
            measure="brier",
            forecast=(p - self.outcome) ** 2,
            recalibrated=(fit.recalibrate(p) - self.outcome) ** 2,
            prevalence=(fit.prevalence - self.outcome) ** 2,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """All views of a kind; the sum of their Brier scores over the divisor is a score of K classes."""

    kind: Literal["class", "threshold"]
    score: str
    divisor: int
    views: tuple[View, ...]

    def losses(self, model: str) -> CaseLosses:
        """The loss of each case under the score of K classes: the sum over the views, over the divisor."""
        parts = [view.losses(model) for view in self.views]
        return CaseLosses(
            measure=self.score,
            forecast=self._total([part.forecast for part in parts]),
            recalibrated=self._total([part.recalibrated for part in parts]),
            prevalence=self._total([part.prevalence for part in parts]),
        )

    def overfit(self, of_views: Sequence[Overfit]) -> Overfit:
        """The overfit of all views together."""
        return Overfit(
            closed=sum(overfit.closed for overfit in of_views) / self.divisor,
            resampled=sum(overfit.resampled for overfit in of_views) / self.divisor,
            constant=sum(overfit.constant for overfit in of_views) / self.divisor,
            drawn=of_views[0].drawn,
        )

    def decompose(self, model: str) -> Decomposition:
        """Miscalibration, discrimination and uncertainty of the score of K classes."""
        parts = [view.fits[model].decompose("brier") for view in self.views]
        return Decomposition(
            name=self.score,
            score=sum(part.score for part in parts) / self.divisor,
            recalibrated=sum(part.recalibrated for part in parts) / self.divisor,
            reference=sum(part.reference for part in parts) / self.divisor,
            perfect=0.0,
            n=parts[0].n,
        )

    def crossing(self, model: str, weight: FloatArray) -> float:
        """The weight of the cases whose recalibrated probabilities fall from one threshold to the next."""
        if self.kind == CLASS:
            return 0.0
        recalibrated = np.column_stack([v.fits[model].recalibrate(v.forecasts[model]) for v in self.views])
        return float(weight[(np.diff(recalibrated, axis=1) < -_ROUNDING).any(axis=1)].sum())

    def _total(self, parts: Sequence[FloatArray]) -> FloatArray:
        return np.sum(parts, axis=0) / self.divisor


def make_families(panel: ClassPanel, labels: Sequence[str], *, ordered: bool) -> list[Family]:
    """The views by class and, for ordered classes, by threshold; the main family is last."""
    classes = np.arange(panel.n_classes)
    observed = (panel.outcome[:, None] == classes).astype(np.float64)
    by_class = _make_views(panel, observed, dict(panel.forecasts), labels)
    families = [Family(kind=CLASS, score=BRIER, divisor=1, views=tuple(by_class))]
    if ordered:
        observed = (panel.outcome[:, None] <= classes[:-1]).astype(np.float64)
        below = {name: cumulative(p) for name, p in panel.forecasts.items()}
        by_threshold = _make_views(panel, observed, below, labels[:-1])
        divisor = panel.n_classes - 1
        families.append(Family(kind=THRESHOLD, score=RPS, divisor=divisor, views=tuple(by_threshold)))
    return families


def _make_views(
    panel: ClassPanel, observed: FloatArray, forecasts: dict[str, FloatArray], labels: Sequence[str]
) -> Iterator[View]:
    for place, label in enumerate(labels):
        outcome = observed[:, place]
        of_view = {name: np.ascontiguousarray(p[:, place]) for name, p in forecasts.items()}
        yield View(
            label=label,
            outcome=outcome,
            forecasts=of_view,
            panel=make_panel(
                outcome,
                of_view,
                sample_weight=panel.weight,
                weight_kind=panel.weight_kind,
                cluster=panel.cluster,
                time=panel.time,
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ExaminedView:
    """The results of a view: its sample, and each model's scores and overfit."""

    view: View
    sample: SampleSummary
    scores: dict[str, ModelScores]
    overfits: dict[str, Overfit]
    curves: dict[str, CalibratedCurves | None]


def examine_view(view: View, settings: EvaluationSettings) -> ExaminedView:
    """Brier score, decomposition and AUC of each model; with intervals and tests if there are resamples."""
    measures = [resolve_measure("brier", {})]
    sample = describe_sample(len(view.outcome), next(iter(view.fits.values())))
    scores = {name: score_fit(name, fit, measures) for name, fit in view.fits.items()}
    if not settings.infers:
        return ExaminedView(view=view, sample=sample, scores=scores, overfits={}, curves={})
    found = infer_sample(
        view.panel, view.fits, sample, scores, measures, settings, points=settings.curve_points
    )
    overfits = {name: of_measures[0] for name, of_measures in found.overfits.items()}
    return ExaminedView(
        view=view, sample=found.sample, scores=found.models, overfits=overfits, curves=found.curves
    )


def describe_family(
    family: Family,
    examined: Sequence[ExaminedView],
    model: str,
    panel: ClassPanel,
    settings: EvaluationSettings,
) -> ViewFamily:
    """The record of a model's views of one kind."""
    return ViewFamily(
        kind=family.kind,
        score=family.score,
        divisor=family.divisor,
        views=tuple(_describe_view(found, model, settings) for found in examined),
        crossing=family.crossing(model, panel.units.row_weight),
    )


def _describe_view(found: ExaminedView, model: str, settings: EvaluationSettings) -> ViewResult:
    fit = found.view.fits[model]
    bands = draw_consistency_bands(fit, found.curves[model], settings) if settings.infers else ()
    return ViewResult(
        label=found.view.label,
        sample=found.sample,
        forecasts=describe_forecasts(fit),
        scores=found.scores[model],
        reliability=reliability_curve(fit),
        histogram=forecast_histogram(fit),
        bands=bands,
        segments=locate_segments(fit, bands),
    )
