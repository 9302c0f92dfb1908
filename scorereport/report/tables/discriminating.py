"""How well models tell events from non-events, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_number
from scorereport.report.tables.table import Table, interval_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.results.model_records import ModelResult


def discrimination_table(models: Sequence[ModelResult], level: str) -> Table:
    """AUC, accuracy ratio and the Kolmogorov-Smirnov distance of each model."""
    rows = []
    for result in models:
        auc = next(score for score in result.scores.scores if score.name == "roc_auc")
        ratio = (format_number(auc.skill, 4), interval_text(auc.skill_interval, 4))
        rows.append(
            (
                result.model,
                format_number(auc.value, 4),
                interval_text(auc.interval, 4),
                *ratio,
                format_number(kolmogorov_smirnov(result), 4),
            )
        )
    with_intervals = f", with {level} intervals" if models[0].scores.scores[0].interval else ""
    return Table(
        caption="Discrimination: AUC, the probability that an event has the higher forecast; accuracy ratio "
        "AR = 2 AUC − 1; KS, by how much the share of events found exceeds that of false alarms at the "
        f"best threshold. Higher is better{with_intervals}",
        heads=("model", "AUC", "interval", "AR", "interval", "KS"),
        rows=tuple(rows),
    )


def kolmogorov_smirnov(result: ModelResult) -> float:
    """The Kolmogorov-Smirnov distance, which the ROC curve reaches at a corner of its hull."""
    hull = result.curves.roc_hull
    return float(np.max(hull.tpr - hull.fpr))
