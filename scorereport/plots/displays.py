"""Displays as scikit-learn has them: from predictions, from an estimator or from cross-validated estimators.

>>> import numpy as np
>>> display = ReliabilityDisplay.from_predictions([0, 1, 0, 1], [0.2, 0.6, 0.4, 0.9], name="logit")
>>> display.ax_.get_xlabel()
'Forecast probability'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from scorereport._utils.checks import check_option
from scorereport.errors import UsageError
from scorereport.plots.plotted_models import FittedModel, name_of
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

#: How the folds of a cross-validation are drawn.
FOLDS = ("pooled", "each")


class CurveDisplay:
    """A plot of one or several models: `plot` draws it, `ax_` and `figure_` are where it was drawn."""

    #: The name of the public plot, and the curve of a model that it shows.
    _plot: ClassVar[str]
    _curve: ClassVar[str]

    ax_: Axes
    figure_: Figure

    def __init__(self, models: Iterable[FittedModel]) -> None:
        self.models = tuple(models)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(model.model) for model in self.models)})"

    def plot(self, ax: Axes | None = None, **keywords: Any) -> Self:
        """Draw the curves into `ax`, or into a new figure; keywords are those of the public plot."""
        import matplotlib.pyplot as plt

        from scorereport import plots

        if ax is None and len(self.models) > 1:
            _, ax = plt.subplots()
        self.ax_ = getattr(plots, self._plot)(self.models, ax=ax, **keywords)
        self.figure_ = self.ax_.figure.figure
        return self

    def to_frame(self) -> pd.DataFrame:
        """Return the points of all curves as a table, with the name of the model in each row."""
        import pandas as pd

        frames = [
            getattr(model.curves, self._curve).to_frame().assign(model=model.model) for model in self.models
        ]
        return pd.concat(frames, ignore_index=True)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **keywords: Any,
    ) -> Self:
        """Draw the curve of outcomes and probabilities.

        Parameters
        ----------
        y_true : outcomes; 0 and 1 unless `pos_label` names the label of an event
        y_prob : probabilities of an event
        sample_weight : weights of the cases
        pos_label : the label of an event
        name : the name of the model
        ax : the Axes to draw into
        keywords : passed to the public plot of the same name
        """
        fit = corp(_find_events(y_true, pos_label), y_prob, sample_weight)
        return cls([FittedModel(model=name or name_of(y_prob), fit=fit)]).plot(ax=ax, **keywords)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803  # the name in scikit-learn
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **keywords: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier on data; `pos_label` is its second class unless given."""
        label = _event_label(estimator, pos_label)
        return cls.from_predictions(
            y,
            _forecast(estimator, X, label),
            sample_weight=sample_weight,
            pos_label=label,
            name=name or type(estimator).__name__,
            ax=ax,
            **keywords,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,  # noqa: N803
        y: ArrayLike,
        *,
        folds: str = "pooled",
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **keywords: Any,
    ) -> Self:
        """Draw the out-of-fold forecasts of a cross-validation.

        Parameters
        ----------
        cv_results : the result of `cross_validate` with `return_estimator=True` and `return_indices=True`
        X, y : the data that were cross-validated
        folds : "pooled", one curve of all out-of-fold forecasts; or "each", one curve for each fold
        sample_weight, pos_label, name, ax, keywords : as in `from_estimator`
        """
        check_option(folds, "folds", FOLDS)
        estimators, tests = _find_folds(cv_results)
        label = _event_label(estimators[0], pos_label)
        events = _find_events(y, label)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        forecasts = [
            _forecast(one, _take(X, rows), label) for one, rows in zip(estimators, tests, strict=True)
        ]
        title = name or type(estimators[0]).__name__
        names = [f"{title}, fold {place}" for place in range(1, len(tests) + 1)]
        if folds == "pooled":
            names, tests, forecasts = [title], [np.concatenate(tests)], [np.concatenate(forecasts)]
        models = [
            FittedModel(model=model, fit=corp(events[rows], p, None if weight is None else weight[rows]))
            for model, rows, p in zip(names, tests, forecasts, strict=True)
        ]
        return cls(models).plot(ax=ax, **keywords)


class ReliabilityDisplay(CurveDisplay):
    """CORP reliability diagram with its band: see `scorereport.plots.reliability`."""

    _plot, _curve = "reliability", "reliability"


class MurphyDisplay(CurveDisplay):
    """Murphy diagram: see `scorereport.plots.murphy`."""

    _plot, _curve = "murphy", "murphy"


class DecisionCurveDisplay(CurveDisplay):
    """Decision curve: see `scorereport.plots.decision_curve`."""

    _plot, _curve = "decision_curve", "decision"


def _find_events(y_true: ArrayLike, pos_label: Any) -> NDArray[Any]:
    """Return outcomes as 0 and 1, if the label of an event is named."""
    y = np.asarray(y_true)
    if pos_label is None:
        return y
    is_event = y == pos_label
    if not is_event.any():
        labels = ", ".join(repr(label) for label in np.unique(y)[:10].tolist())
        raise UsageError(f"`pos_label` must be one of the labels {labels}; got {pos_label!r}.")
    return is_event.astype(np.float64)


def _event_label(estimator: Any, pos_label: Any) -> Any:
    """Return the label of an event: the one given, or the second of two classes."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or not hasattr(estimator, "predict_proba"):
        raise UsageError(
            f"{type(estimator).__name__} must be a fitted classifier with `predict_proba`; "
            "for other models use `from_predictions`."
        )
    if len(classes) != 2:
        raise UsageError(f"The classifier must have two classes; it has {len(classes)}.")
    if pos_label is None:
        return classes[1]
    labels = np.asarray(classes).tolist()
    if pos_label not in labels:
        raise UsageError(f"`pos_label` must be one of {labels}; got {pos_label!r}.")
    return pos_label


def _forecast(estimator: Any, data: Any, label: Any) -> NDArray[Any]:
    column = list(estimator.classes_).index(label)
    return np.asarray(estimator.predict_proba(data))[:, column]


def _find_folds(cv_results: Mapping[str, Any]) -> tuple[list[Any], list[NDArray[Any]]]:
    missing = [name for name in ("estimator", "indices") if name not in cv_results]
    if missing:
        raise UsageError(
            f"`cv_results` has no {' and no '.join(missing)}: call `cross_validate` with "
            "`return_estimator=True` and `return_indices=True`."
        )
    return list(cv_results["estimator"]), [np.asarray(rows) for rows in cv_results["indices"]["test"]]


def _take(data: Any, rows: NDArray[Any]) -> Any:
    """Return rows of an array or a frame."""
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]
