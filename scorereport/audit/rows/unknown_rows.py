"""Rows without a final outcome that were copied from a source, read in batches."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.row_places import names_positions, positions_restored
from scorereport.audit.rows.period_rows import IS_IMMATURE, SOURCE_ROWS, without_format
from scorereport.data.reader import read_unknown
from scorereport.data.roles import Roles, columns_of_models
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import UnknownOutcomes
    from scorereport.data.roles import Columns

_ROWS_PER_BATCH = 1 << 18


def read_unknown_rows(
    path: Path, columns: Columns, order: str, name_rows: Callable[[], AbstractContextManager[None]] | None
) -> Iterator[UnknownOutcomes]:
    """Read the rows that lack only the outcome; none if there is no file.

    Other columns are checked. Errors name rows as `name_rows` does, or say that they are in this `order`.
    """
    import pyarrow.parquet as pq

    if not path.exists():
        return
    before = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS_PER_BATCH):
            try:
                with name_rows() if name_rows else nullcontext():
                    found = _read_batch(batch, columns, before)
            except DataError as error:
                if name_rows or not names_positions(error):
                    raise
                among = "the rows of the period without a final outcome"
                raise DataError(f"{error} Rows are counted from 0 among {among}, {order}.") from error
            before += len(batch)
            if found is not None:
                yield found


def _read_batch(batch: pa.RecordBatch, columns: Columns, before: int) -> UnknownOutcomes | None:
    frame = batch.to_pandas()
    outcome = Roles.of(columns, columns_of_models(columns["forecasts"], None)).outcome
    places: IntArray = np.arange(before, before + len(frame))
    if SOURCE_ROWS in frame:
        places = frame[SOURCE_ROWS].to_numpy()
    with positions_restored(lambda rows: places[rows].tolist()):
        immature = frame[IS_IMMATURE].to_numpy()
        return read_unknown(frame.assign(**{outcome: np.nan}), without_format(columns), immature)
