"""What the public plots take: an evaluation, fits, records of models, or arrays of outcomes and forecasts.

Processes that draw the figures of a report load this module too, so it imports kernels when they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_option
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import ArrayLike
    from typing_extensions import TypeIs

    from scorereport.reliability.bands import Band  # noqa: TC004  # types of fields, imported where used
    from scorereport.reliability.fit import Corp  # noqa: TC004
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelCurves, ModelResult, ModelScores

    PlottedModel: TypeAlias = "ModelResult | FittedModel"

#: Name of a model that has none.
UNNAMED = "forecast"
#: Level of the bands of fits.
_LEVEL = 0.9


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """A fit with its name: the parts of a `ModelResult` that plots draw, computed when they are drawn."""

    model: str
    fit: Corp
    bands: tuple[Band, ...] = ()

    @cached_property
    def curves(self) -> ModelCurves:
        """All curves of the fit, with as many points as in an evaluation."""
        from scorereport.evaluation.model_curves import collect_curves
        from scorereport.results.settings import EvaluationSettings

        return collect_curves(self.fit, EvaluationSettings().curve_points)

    @cached_property
    def scores(self) -> ModelScores:
        """The decompositions of the Brier and the log score; there are no intervals."""
        from scorereport.results.model_records import ModelScores

        parts = tuple(self.fit.decompose(score) for score in ("brier", "log_loss"))
        return ModelScores(model=self.model, scores=(), decompositions=parts)


def find_models(
    source: Any, y_prob: Any = None, sample_weight: ArrayLike | None = None
) -> tuple[PlottedModel, ...]:
    """Return the binary models of a source.

    Parameters
    ----------
    source : an `Evaluation`, a `Corp` fit, a mapping of names to fits, one or several records of models, or
        outcomes
    y_prob : with outcomes, the probabilities of one model, or a mapping or frame of those of several
    sample_weight : with outcomes, the weights of the cases
    """
    if y_prob is not None:
        from scorereport.reliability.fit import corp

        forecasts = name_forecasts(y_prob)
        return tuple(
            FittedModel(model=name, fit=corp(source, p, sample_weight)) for name, p in forecasts.items()
        )
    if sample_weight is not None:
        raise UsageError("`sample_weight` needs outcomes and `y_prob`; a fit has its weights already.")
    return _of_results(source)


def name_forecasts(y_prob: Any) -> dict[str, Any]:
    """Return the forecasts of each model: of a mapping, the columns of a frame, or one array."""
    names = y_prob if isinstance(y_prob, Mapping) else getattr(y_prob, "columns", None)
    if names is None:
        return {name_of(y_prob): y_prob}
    return {str(name): y_prob[name] for name in names}


def name_of(y_prob: Any) -> str:
    """Return the name of a column of a frame, or that of a model without a name."""
    name = getattr(y_prob, "name", None)
    return name if isinstance(name, str) and name else UNNAMED


def is_evaluation(source: Any) -> TypeIs[Evaluation]:
    """Whether this is an evaluation."""
    from scorereport.results.evaluation import Evaluation

    return isinstance(source, Evaluation)


def is_class_model(source: Any) -> TypeIs[ClassModelResult]:
    """Whether this is the record of a model of K classes."""
    from scorereport.results.class_records import ClassModelResult

    return isinstance(source, ClassModelResult)


def _is_model(source: Any) -> TypeIs[PlottedModel]:
    from scorereport.results.model_records import ModelResult

    return isinstance(source, (ModelResult, FittedModel))


def _of_results(source: Any) -> tuple[PlottedModel, ...]:
    from scorereport.reliability.fit import Corp

    if is_evaluation(source):
        return _of_evaluation(source)
    if isinstance(source, Corp):
        return (FittedModel(model=UNNAMED, fit=_require_binary(source)),)
    if _is_model(source):
        return (source,)
    if isinstance(source, Mapping) and source and all(isinstance(fit, Corp) for fit in source.values()):
        return tuple(FittedModel(model=str(name), fit=_require_binary(fit)) for name, fit in source.items())
    if isinstance(source, Sequence) and source and all(map(_is_model, source)):
        return tuple(source)
    raise UsageError(
        "A plot needs an Evaluation, a fit, a mapping of names to fits, or outcomes with `y_prob`; "
        f"got {type(source).__name__}."
    )


def _of_evaluation(evaluation: Evaluation) -> tuple[ModelResult, ...]:
    if not evaluation.models:
        raise UsageError(
            "This plot shows binary models; the evaluation is of models of K classes. "
            "Plots of these are `confusion`, `retention` and `groups`."
        )
    return evaluation.models


def _require_binary(fit: Corp) -> Corp:
    fit.require_events("A plot")
    return fit


def require_one(models: Sequence[PlottedModel]) -> PlottedModel:
    """Return the only model; refuse several models in one panel."""
    if len(models) > 1:
        raise UsageError(
            f"One Axes shows one model; got {len(models)}. Leave `ax` out for a figure of all of them, or "
            "pass one model, such as `evaluation.models[0]`."
        )
    return models[0]


def prevalence_of(model: PlottedModel) -> float:
    """Return the share of events in the cases of a model."""
    histogram = model.curves.histogram
    return float(histogram.events.sum() / histogram.n.sum())


def add_bands(
    models: Sequence[PlottedModel], band: str | Band | Sequence[Band] | None, level: float | None
) -> tuple[PlottedModel, ...]:
    """Return the models with their bands: those of an evaluation, or new ones of fits, or those given."""
    from scorereport.reliability.bands import KINDS, Band

    if band is None or isinstance(band, str):
        if band is not None:
            check_option(band, "band", KINDS)
        return tuple(_with_band(model, band, level) for model in models)
    given = (band,) if isinstance(band, Band) else tuple(band)
    if not all(isinstance(one, Band) for one in given):
        raise UsageError('`band` must be "consistency", "confidence", None, or bands of `Corp.band`.')
    return (replace(require_one(models), bands=given),)


def _with_band(model: PlottedModel, kind: str | None, level: float | None) -> PlottedModel:
    if isinstance(model, FittedModel):
        return replace(model, bands=(model.fit.band(kind, level or _LEVEL),) if kind else ())
    if level is not None:
        raise UsageError("`level` is for fits and arrays; the level of an evaluation is its `band_level`.")
    return model


def find_kind(band: str | Band | Sequence[Band] | None) -> str:
    """Return the kind of the bands that are drawn; empty for none."""
    from scorereport.reliability.bands import Band

    if band is None or isinstance(band, str):
        return band or ""
    return band.kind if isinstance(band, Band) else next((one.kind for one in band), "")
