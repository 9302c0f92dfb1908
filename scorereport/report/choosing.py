"""The choice among checkpoints that a configuration asks to be shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.configuration.configuration_tables import CheckpointsTable
from scorereport.errors import UsageError
from scorereport.evaluation.selection.selecting import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration import Configuration
    from scorereport.evaluation.selection.selection_records import Selection


def select_checkpoint(
    configuration: Configuration | None,
    file: str | Path | None = None,
    *,
    classes: Sequence[object] | None = None,
    normalize: bool = False,
) -> Selection | None:
    """The choice among the checkpoints of a file, given or configured; None if nobody asks for one.

    A file of the configuration lies beside it. `classes`, and whether rows are to be rescaled, are those
    of the evaluation, and matter where the file holds predictions.
    """
    table = CheckpointsTable() if configuration is None else configuration.checkpoints
    if file is None and not table.file:
        if table != CheckpointsTable():
            raise UsageError("`checkpoints.file` is missing: name the file that holds the checkpoints.")
        return None
    folder = "" if configuration is None else configuration.folder
    return select(
        Path(file) if file is not None else Path(folder, table.file),
        checkpoint=table.column,
        outcome=table.outcome or None,
        forecasts=table.forecasts or None,
        classes=classes if table.outcome else None,
        normalize=normalize and bool(table.outcome),
        weight=table.weight or None,
        score=table.score,
        patience=table.patience,
        directions=table.directions or None,
    )
