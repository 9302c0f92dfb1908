"""Tables of recalibration: the effect of each map on each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_p_value
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.results.model_records import ModelResult


_MCB_HEADINGS = ("MCB before", "MCB after")


def recalibration_table(models: Sequence[ModelResult], level: str) -> Table | None:
    """Table of the effect of each map on Brier score, log score and MCB; None if none was tried."""
    tried = [(m.model, trial) for m in models for trial in m.recalibration]
    if not tried:
        return None
    return Table(
        caption="Recalibrated minus original score, each case recalibrated by a map fitted without it "
        f"({tried[0][1].folds} folds), with {level} intervals; negative is better. Holm's p is adjusted for "
        "the number of maps tried",
        heads=(
            "model",
            "map",
            "Brier",
            "interval",
            "Holm's p",
            "log",
            "interval",
            "Holm's p",
            *_MCB_HEADINGS,
        ),
        rows=tuple((model, trial.method, *_effect(trial)) for model, trial in tried),
        n_labels=2,
        section=len(models[0].recalibration) if len(models) > 1 else 0,
    )


def _effect(trial: RecalibrationTrial) -> tuple[str, ...]:
    differences = [
        text
        for d in (trial.brier, trial.log_loss)
        for text in (
            format_number(d.value, common_decimals([d.value])),
            format_interval(d.lower, d.upper, common_decimals([d.value])),
            format_p_value(d.p_value if d.p_value_holm is None else d.p_value_holm),
        )
    ]
    before, after = trial.miscalibration_before, trial.miscalibration_after
    decimals = common_decimals([before, after])
    return (*differences, format_number(before, decimals), format_number(after, decimals))
