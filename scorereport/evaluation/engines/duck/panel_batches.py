"""`open_panels()`: rows of a source of any size as panels, for sums over rows or over whole clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from scorereport._utils.progress import report_progress
from scorereport.data.csv_format import CsvFormat
from scorereport.data.roles import Roles, check_column_arguments
from scorereport.data.sources import locate_source
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.duck_engine import lay_out_rows
from scorereport.evaluation.engines.duck.duck_tables import open_rows
from scorereport.evaluation.engines.duck.workspace import Workspace
from scorereport.inference.panel import ForecastPanel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from scorereport._utils.arrays import IntArray
    from scorereport.data.roles import Columns
    from scorereport.evaluation.engines.duck.row_layout import SqlLayout

#: Rows of a panel; with clusters, as many more as the last cluster has.
PANEL_ROWS = 200_000
_LABEL = "cluster"


class PanelBatches:
    """The rows of a source that count, read again whenever panels of them are iterated.

    With `cluster`, the column of clusters, each panel has all rows of its clusters. Panels and rows have the
    same order every time. It is a context manager that removes all temporary files.
    """

    def __init__(
        self, workspace: Workspace, layout: SqlLayout, cluster: str | None, *, is_ordered: bool = True
    ) -> None:
        self._workspace = workspace
        self._layout = layout
        self._label = "" if cluster is None else sql.label(layout.rows, cluster)
        self._is_ordered = is_ordered and cluster is None
        self.rows = int(workspace.row(f"SELECT count(*) AS n FROM {self._source}")["n"])

    def find_largest_cluster(self) -> int:
        """The number of rows of the largest cluster; 0 without clusters."""
        if not self._label:
            return 0
        groups = f"SELECT count(*) AS rows FROM {self._source} GROUP BY {self._label}"
        return int(self._workspace.row(f"SELECT max(rows) AS n FROM ({groups})")["n"])

    def __iter__(self) -> Iterator[ForecastPanel]:
        batches = self._workspace.equal_batches(self._query, PANEL_ROWS)
        done = 0
        for batch in _join_clusters(batches) if self._label else batches:
            yield _make_panel(batch, self._layout.roles)
            done += len(batch)
            report_progress("adding up evidence", done, self.rows, unit="rows")

    @property
    def _source(self) -> str:
        return f"{self._layout.rows.relation}{self._layout.counts}"

    @property
    def _query(self) -> str:
        """SQL for the rows; their order makes sums the same to the last bit every time."""
        layout, roles = self._layout, self._layout.roles
        columns = [f"CAST({layout.outcome} AS DOUBLE) AS outcome"]
        columns += [f"{layout.forecast(name)} AS forecast{at}" for at, name in enumerate(roles.forecasts)]
        columns += [] if roles.weight is None else [f"{layout.weight} AS weight"]
        columns += [f"{self._label} AS {_LABEL}"] if self._label else []
        keys = [*([_LABEL] if self._label else []), layout.rows.number]
        order = "" if self._is_ordered else f" ORDER BY {', '.join(keys)}"
        return f"SELECT {', '.join(columns)} FROM {self._source}{order}"

    def close(self) -> None:
        """Remove everything temporary."""
        self._workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_panels(
    source: Any,
    *,
    chosen: Iterable[IntArray] | None = None,
    joins_clusters: bool = True,
    memory_limit: str | None = None,
    temporary_folder: str | Path | None = None,
    **columns: Unpack[Columns],
) -> PanelBatches:
    """Open a source whose rows need not fit into memory, with the checks and rules of an evaluation.

    Parameters
    ----------
    source, memory_limit, temporary_folder, columns : as `open_duckdb` takes them
    chosen : the numbers of the rows that count, in batches, counted from 0; by default all rows
    joins_clusters : whether panels have clusters, each as a whole
    """
    named = check_column_arguments(columns, "evaluate")
    roles, drop = Roles.of(named), named.get("missing") == "drop"
    place = locate_source(source, named.get("table"), CsvFormat.of(named))
    workspace = Workspace(memory_limit, temporary_folder, place.scanned)
    try:
        rows = open_rows(workspace, place, roles)
        layout, _ = lay_out_rows(workspace, rows, roles, positive=named.get("positive"), drop=drop)
        if chosen is not None:
            layout = _choose(workspace, layout, chosen)
        cluster = roles.cluster if joins_clusters else None
        return PanelBatches(workspace, layout, cluster, is_ordered=chosen is None)
    except BaseException:
        workspace.close()
        raise


def _choose(workspace: Workspace, layout: SqlLayout, chosen: Iterable[IntArray]) -> SqlLayout:
    """Restrict the rows that count to some, by their numbers in a table of the workspace."""
    import pyarrow as pa

    workspace.execute("CREATE TABLE chosen_rows (chosen BIGINT)")
    workspace.fill("chosen_rows", (pa.table({"chosen": numbers}) for numbers in chosen))
    condition = f"{layout.rows.number} IN (SELECT chosen FROM chosen_rows)"
    return replace(layout, kept=(*layout.kept, condition))


def _join_clusters(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches of whole clusters from rows in the order of their clusters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        labels = batch.column(_LABEL)
        last = labels[-1]
        if waiting and last == waiting[0].column(_LABEL)[0]:  # the whole batch is of the waiting cluster
            waiting.append(batch)
            continue
        start = pc.index(labels, last).as_py()
        if waiting or start:
            yield pa.concat_batches([*waiting, batch.slice(0, start)])
        waiting = [batch.slice(start)]
    if waiting:
        yield pa.concat_batches(waiting)


def _make_panel(batch: pa.RecordBatch, roles: Roles) -> ForecastPanel:
    outcome, *forecasts = (
        batch.column(at).to_numpy(zero_copy_only=False) for at in range(1 + len(roles.forecasts))
    )
    weight = None if roles.weight is None else batch.column("weight").to_numpy(zero_copy_only=False)
    cluster = None
    if _LABEL in batch.schema.names:
        codes = batch.column(_LABEL).dictionary_encode().indices
        cluster = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    return ForecastPanel(
        outcome=outcome,
        forecasts={name: x + 0.0 for name, x in zip(roles.forecasts, forecasts, strict=True)},  # -0.0 is 0
        weight=weight,
        cluster=cluster,
        weight_kind=roles.weight_kind,
    )
