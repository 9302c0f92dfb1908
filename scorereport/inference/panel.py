"""Panels: several models' forecasts of the same outcomes, in an order independent of the input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray, IntArray, as_immutable, row_chunks, set_read_only
from scorereport._utils.checks import (
    check_clusters,
    check_outcome,
    check_probability,
    check_same_length,
    check_times,
    check_weight,
)
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.grouped_rows import MANY_CASES, CellSums, group_rows
from scorereport.reliability.sampling import SamplingUnits, WeightSums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelRows:
    """Checked outcomes and forecasts in canonical order, without rows of weight 0.

    Rows are ordered by time if there is one, then by forecasts, outcome, cluster and weight: rows
    that are still tied are the same in all that matters. Parts of a sample that is larger than memory are in
    the order in which they are read; `whole` has the weights of all parts.
    """

    outcome: NDArray[Any]
    forecasts: Mapping[str, FloatArray]
    weight: FloatArray | None = None
    cluster: IntArray | None = None
    time: NDArray[Any] | None = None
    weight_kind: str = "sampling"
    whole: WeightSums | None = None

    __repr__ = short_repr

    @cached_property
    def units(self) -> SamplingUnits:
        """The rows as independent draws."""
        return SamplingUnits(
            rows=len(self.outcome),
            weight=self.weight,
            cluster=self.cluster,
            weight_kind=self.weight_kind,
            whole=self.whole,
        )

    def select(self, rows: NDArray[Any]) -> Self:
        """Return some of the rows, in the same order; clusters are renumbered."""
        cluster = None if self.cluster is None else np.unique(self.cluster[rows], return_inverse=True)[1]
        return type(self)(
            outcome=self.outcome[rows],
            forecasts={name: p[rows] for name, p in self.forecasts.items()},
            weight=None if self.weight is None else self.weight[rows],
            cluster=cluster,
            time=None if self.time is None else self.time[rows],
            weight_kind=self.weight_kind,
        )

    def in_canonical_order(self) -> Self:
        """Return the rows with a positive weight in canonical order, in read-only arrays."""
        columns = [column for p in self.forecasts.values() for column in np.atleast_2d(p.T)]
        keys = [self.time, *columns, self.outcome, self.cluster, self.weight]
        known = [key for key in keys if key is not None]
        if (self.weight is None or self.weight.all()) and are_ordered(known):
            return self._frozen(as_immutable)
        order = order_by(known)
        return self.in_order(order if self.weight is None else order[self.weight[order] > 0])

    def in_order(self, order: NDArray[Any]) -> Self:
        """Return the rows in an order, which may leave out some, in read-only arrays."""
        rows = order.astype(np.intp, copy=False)  # else numpy converts it for each column
        return self.select(rows)._frozen(set_read_only)

    def _frozen(self, freeze: Callable[[NDArray[Any]], NDArray[Any]]) -> Self:
        """Return the same rows in read-only arrays."""
        return type(self)(
            outcome=freeze(self.outcome),
            forecasts={name: freeze(p) for name, p in self.forecasts.items()},
            weight=None if self.weight is None else freeze(self.weight),
            cluster=None if self.cluster is None else freeze(self.cluster),
            time=None if self.time is None else freeze(self.time),
            weight_kind=self.weight_kind,
        )


def are_ordered(keys: Sequence[NDArray[Any]]) -> bool:
    """Whether rows are ordered by the first key and, where it is tied, by the next."""
    key = keys[0]
    if (key[1:] < key[:-1]).any():
        return False
    tied = np.flatnonzero(key[1:] == key[:-1])
    for key in keys[1:]:
        before, after = key[tied], key[tied + 1]
        if (after < before).any():
            return False
        tied = tied[after == before]
    return True


def order_by(keys: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Return the order of rows by the first key and, where it is tied, by the next."""
    order = np.argsort(keys[0])
    first = keys[0][order]
    is_tied = np.zeros(len(order) + 1, dtype=bool)
    np.equal(first[1:], first[:-1], out=is_tied[1:-1])
    del first
    tied = np.flatnonzero(is_tied[1:] | is_tied[:-1])
    if len(tied) and len(keys) > 1:
        rows = order[tied]
        order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order


#: Orders of forecasts are kept if all models together have at most this many rows.
_MOST_ORDERED = 6_000_000


class ForecastOrders:
    """The order of rows by each forecast, found when needed, and kept if rows are not many."""

    def __init__(self, panel: ForecastPanel) -> None:
        self._panel = panel
        self._kept: dict[str, NDArray[np.integer]] = {}
        self.are_kept = len(panel.forecasts) * len(panel.outcome) <= _MOST_ORDERED

    def known(self, name: str) -> NDArray[np.integer] | None:
        """The order by a forecast, or None if orders are not kept."""
        return self[name] if self.are_kept else None

    def __getitem__(self, name: str) -> NDArray[np.integer]:
        """The order by a forecast; ties are ordered by outcome, cluster and weight."""
        if name not in self._kept:
            panel = self._panel
            keys = [panel.forecasts[name], panel.outcome, panel.cluster, panel.weight]
            order = order_by([key for key in keys if key is not None]).astype(np.int32)  # rows are < 2^31
            if not self.are_kept:
                return order
            self._kept[name] = order
        return self._kept[name]


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastPanel(PanelRows):
    """Outcomes 0 or 1 with one probability per case and model."""

    outcome: FloatArray

    __repr__ = short_repr

    @cached_property
    def orders(self) -> ForecastOrders:
        """The order of rows by each forecast."""
        return ForecastOrders(self)

    @cached_property
    def shares_surprised(self) -> dict[str, float]:
        """The share of cases whose outcome surprises each forecast; chunk by chunk, to save memory."""
        return {name: self._share_surprised(p) for name, p in self.forecasts.items()}

    def _share_surprised(self, p: FloatArray) -> float:
        weight, parts = self.units.row_weight, row_chunks(len(p))
        sums = (weight[part].sum(where=are_surprises(self.outcome[part], p[part])) for part in parts)
        return float(sum(sums) / self.units.total)

    @property
    def only(self) -> FloatArray:
        """The only forecast of a panel that has one."""
        (forecast,) = self.forecasts.values()
        return forecast

    @property
    def separates(self) -> bool:
        """Whether the only forecast, in ascending order, separates events from non-events; both occur."""
        p, is_event = self.only, self.outcome == 1
        (first, last), (first_other, last_other) = (_ends(chosen) for chosen in (is_event, ~is_event))
        return bool(p[first] >= p[last_other] or p[last] <= p[first_other])

    @cached_property
    def cells(self) -> CellSums | None:
        """The only forecast in cells of log-odds; None for few rows, with times, or if one is 0 or 1."""
        p = self.only
        if len(p) < MANY_CASES or self.time is not None or not 0 < p[0] <= p[-1] < 1:
            return None
        return group_rows(p, self.outcome, self.units.row_weight)


def are_surprises(outcome: FloatArray, p: FloatArray) -> NDArray[np.bool_]:
    """Whether outcomes are on the other side of 1/2 than their forecasts."""
    return np.asarray((outcome == (p < 0.5)) & (p != 0.5))


def _ends(chosen: NDArray[np.bool_]) -> tuple[int, int]:
    """The first and the last of the chosen rows."""
    return int(chosen.argmax()), len(chosen) - 1 - int(chosen[::-1].argmax())


def make_panel(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> ForecastPanel:
    """Check outcomes and forecasts and put their rows in canonical order."""
    if not forecasts:
        raise UsageError("`forecasts` must name at least one forecast.")
    outcome = check_outcome(y_true)
    checked = {name: _without_minus(check_probability(p, name)) for name, p in forecasts.items()}
    check_same_length(("y_true", outcome), *checked.items())
    panel = ForecastPanel(
        outcome=outcome,
        forecasts=checked,
        weight=check_weight(sample_weight, len(outcome), kind=weight_kind),
        cluster=check_clusters(cluster, len(outcome)),
        time=check_times(time, len(outcome)),
        weight_kind=weight_kind,
    )
    return panel.in_canonical_order()


def _without_minus(p: FloatArray) -> FloatArray:
    """Replace -0 by 0, which compares equal but has other bits."""
    return p + 0.0 if np.signbit(p).any() else p
