"""Panels of predictions, or of some of their rows, and the CORP fits of a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.machine import MOST_ROWS_TOGETHER
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.panel import make_panel, order_by
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.fit import Corp

    Rows = IntArray | slice

_ALL_ROWS = slice(None)


def share_rows(predictions: Predictions) -> Predictions:
    """Put many predictions in the order of their panel, which then shares their columns and copies none.

    Labels of clusters are not sorted: predictions with clusters stay as they are.
    """
    if len(predictions) <= MOST_ROWS_TOGETHER or predictions.cluster is not None:
        return predictions
    keys = [predictions.time, *predictions.forecasts.values(), predictions.outcome, predictions.weight]
    return predictions.in_order(order_by([key for key in keys if key is not None]))


def panel_of(predictions: Predictions, rows: Rows = _ALL_ROWS) -> ForecastPanel:
    """Some rows of the predictions in canonical order."""
    weight, cluster, time = predictions.weight, predictions.cluster, predictions.time
    return make_panel(
        predictions.outcome[rows],
        {name: p[rows] for name, p in predictions.forecasts.items()},
        sample_weight=None if weight is None else weight[rows],
        weight_kind=predictions.weight_kind,
        cluster=None if cluster is None else cluster[rows],
        time=None if time is None else time[rows],
    )


def class_panel_of(predictions: ClassPredictions, rows: Rows = _ALL_ROWS) -> ClassPanel:
    """Some rows of the predictions of classes in canonical order."""
    weight, cluster, time = predictions.weight, predictions.cluster, predictions.time
    return make_class_panel(
        predictions.outcome[rows],
        {name: p[rows] for name, p in predictions.forecasts.items()},
        sample_weight=None if weight is None else weight[rows],
        weight_kind=predictions.weight_kind,
        cluster=None if cluster is None else cluster[rows],
        time=None if time is None else time[rows],
    )


def select_model(panel: ForecastPanel, name: str) -> ForecastPanel:
    """The cases with the forecast of one model, in the order of the panel."""
    return replace(panel, forecasts={name: panel.forecasts[name]})


def order_by_forecast(panel: ForecastPanel, name: str) -> ForecastPanel:
    """The cases with the forecast of one model, in canonical order: functions need not sort it again."""
    one = replace(select_model(panel, name), time=None)
    order = panel.orders.known(name)
    return one.in_canonical_order() if order is None else one.in_order(order)


def fit_panel(panel: ForecastPanel) -> dict[str, Corp]:
    """A CORP fit for each forecast."""
    return {
        name: corp(panel.outcome, p, panel.weight, weight_kind=panel.weight_kind, cluster=panel.cluster)
        for name, p in panel.forecasts.items()
    }
