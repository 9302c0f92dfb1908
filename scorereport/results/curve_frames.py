"""The curves of an evaluation as tables: a row for each point of a curve, and of a band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

    from scorereport.curves.fitted import Histogram, ReliabilityCurve, RocCurve
    from scorereport.reliability.bands import Band
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult


class _Diagram(NamedTuple):
    """What a reliability diagram shows, and the columns that say whose it is."""

    owner: dict[str, Any]
    curve: ReliabilityCurve
    histogram: Histogram
    bands: tuple[Band, ...]


def reliability_curve_frame(evaluation: Evaluation) -> pd.DataFrame:
    """Reliability curves: a row for each model and forecast; with K classes, for each view of a model."""
    return _join(
        _points(shown.owner, {"forecast": shown.curve.forecast, "cep": shown.curve.cep})
        for shown in _list_diagrams(evaluation)
    )


def band_frame(evaluation: Evaluation) -> pd.DataFrame:
    """Consistency and confidence bands: a row for each model, band and forecast."""
    names = ("kind", "coverage", "method", "level", "shape")
    return _join(
        _points(
            shown.owner | {name: getattr(band, name) for name in names},
            {"forecast": band.x, "lower": band.lower, "upper": band.upper},
        )
        for shown in _list_diagrams(evaluation)
        for band in shown.bands
    )


def histogram_frame(evaluation: Evaluation) -> pd.DataFrame:
    """Histograms of forecasts: a row for each model and bin."""
    names = ("lower", "upper", "n", "events")
    return _join(
        _points(shown.owner, {name: getattr(shown.histogram, name) for name in names})
        for shown in _list_diagrams(evaluation)
    )


def roc_curve_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """ROC curves and their hulls: a row for each model, curve and threshold."""
    curves = ((m.model, name, getattr(m.curves, name)) for m in models for name in ("roc", "roc_hull"))
    return _join(_points({"model": model, "curve": name}, _roc(curve)) for model, name, curve in curves)


def murphy_curve_frame(models: Iterable[ModelResult]) -> pd.DataFrame:
    """Murphy curves and their components: a row for each model, part and cost ratio, with both limits."""
    parts = ("score", "miscalibration", "discrimination", "uncertainty")
    curves = ((m.model, part, getattr(m.curves.murphy, part)) for m in models for part in parts)
    return _join(
        _points({"model": model, "part": part}, {"theta": c.theta, "left": c.left, "right": c.right})
        for model, part, c in curves
    )


def _list_diagrams(evaluation: Evaluation) -> Iterator[_Diagram]:
    """The reliability diagrams of all models, or of all views of models of K classes."""
    for m in evaluation.models:
        yield _Diagram({"model": m.model}, m.curves.reliability, m.curves.histogram, m.bands)
    for of_classes in evaluation.class_models:
        for family in of_classes.families:
            for view in family.views:
                owner = {"model": of_classes.model, "view": family.kind, "label": view.label}
                yield _Diagram(owner, view.reliability, view.histogram, view.bands)


def _roc(curve: RocCurve) -> dict[str, Any]:
    return {"threshold": curve.threshold, "fpr": curve.fpr, "tpr": curve.tpr}


def _points(owner: dict[str, Any], arrays: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(arrays).assign(**owner)[[*owner, *arrays]]


def _join(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other; an empty one if there is none."""
    import pandas as pd

    found = [frame for frame in frames if len(frame)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
