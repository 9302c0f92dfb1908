"""Differences between models as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_p_value
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.report.tables.table import Table, score_label
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Difference

#: Differences that tables show; the results document has all of them.
_COMPARED = (
    "brier",
    "log_loss",
    "roc_auc",
    *list_class_measures(ordered=True),
    "bounded_brier",
    "bounded_net_benefit",
    "brier miscalibration",
    "brier discrimination",
    "multiclass_brier miscalibration",
    "multiclass_brier discrimination",
    "rps miscalibration",
    "rps discrimination",
)


def difference_table(differences: Sequence[Difference], level: str) -> Table:
    """Paired differences of the main measures."""
    shown = [d for name in _COMPARED for d in differences if d.measure == name]
    pairs = len({(d.first, d.second) for d in shown})
    rows = []
    for d in shown:
        decimals = common_decimals([d.value])
        rows.append(
            (
                _measure_label(d),
                f"{d.first} − {d.second}",
                format_number(d.value, decimals),
                format_interval(d.lower, d.upper, decimals),
                format_p_value(d.p_value),
                "" if d.p_value_holm is None else format_p_value(d.p_value_holm),
            )
        )
    return Table(
        caption=f"Differences between models on the same cases, with {level} intervals; scores by "
        f"{shown[0].method}; Holm's p is adjusted over the pairs",
        heads=("measure", "models", "difference", "interval", "p", "Holm's p"),
        rows=tuple(rows),
        n_labels=2,
        section=pairs if pairs > 1 else 0,
    )


def _measure_label(difference: Difference) -> str:
    name, _, component = difference.measure.partition(" ")
    short = REGISTRY[name].short.removesuffix(" (K classes)")  # leaves room for the component
    text = f"{short} {component}" if component else score_label(name)
    return f"{text} ↑" if difference.higher_is_better else text
