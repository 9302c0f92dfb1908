"""Several models' probabilities of K classes for the same cases, in an order that leaves no trace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport._utils.checks import (
    check_clusters,
    check_distribution,
    check_labels,
    check_same_length,
    check_times,
    check_weight,
)
from scorereport.errors import UsageError
from scorereport.inference.panel import PanelRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassPanel(PanelRows):
    """Classes as indices, with one row of K probabilities per case and model."""

    outcome: IntArray

    @property
    def n_classes(self) -> int:
        """K."""
        return int(next(iter(self.forecasts.values())).shape[1])

    @cached_property
    def class_weight(self) -> FloatArray:
        """How much the cases of each class weigh together."""
        sums = np.bincount(self.outcome, weights=self.units.row_weight, minlength=self.n_classes)
        return sums.astype(np.float64)

    @cached_property
    def labels(self) -> Mapping[str, IntArray]:
        """The class that each model calls likeliest; the first of those that tie."""
        return {name: p.argmax(axis=1) for name, p in self.forecasts.items()}


def make_class_panel(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> ClassPanel:
    """Check classes and forecasts and put their rows in canonical order."""
    if not forecasts:
        raise UsageError("`forecasts` must name at least one forecast.")
    checked = {name: check_distribution(p, name) + 0.0 for name, p in forecasts.items()}  # no -0
    widths = {p.shape[1] for p in checked.values()}
    if len(widths) > 1:
        raise UsageError(f"All forecasts must be of the same classes; got {sorted(widths)} of them.")
    outcome = check_labels(y_true, "y_true", widths.pop())
    check_same_length(("y_true", outcome), *checked.items())
    panel = ClassPanel(
        outcome=outcome,
        forecasts=checked,
        weight=check_weight(sample_weight, len(outcome), kind=weight_kind),
        cluster=check_clusters(cluster, len(outcome)),
        time=check_times(time, len(outcome)),
        weight_kind=weight_kind,
    )
    return panel.in_canonical_order()
