"""`open_duckdb()`: DuckDB surveys, sorts and scans sources of any size."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from scorereport._utils.progress import report_start
from scorereport._utils.row_places import ROWS_TO_FIND
from scorereport.data.column_rules import label_text
from scorereport.data.csv_format import CsvFormat
from scorereport.data.roles import Roles, check_column_arguments
from scorereport.data.sources import hash_file, locate_source, rows_named
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.duck_checks import check_rows
from scorereport.evaluation.engines.duck.duck_tables import open_rows
from scorereport.evaluation.engines.duck.row_layout import (
    Coding,
    SqlLayout,
    code_labels,
    code_windows,
    sums_of_weights,
)
from scorereport.evaluation.engines.duck.row_scans import hash_columns, reduce_rows
from scorereport.evaluation.engines.duck.sorted_digests import digest_labels, digest_model
from scorereport.evaluation.engines.duck.workspace import Workspace
from scorereport.evaluation.engines.protocol import Survey
from scorereport.evaluation.subgroups import check_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from scorereport.data.predictions import RowFlow
    from scorereport.data.roles import Columns
    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.duck.duck_tables import ScannableRows
    from scorereport.evaluation.engines.protocol import Batch, DigestPlan, LabelCount, Sums


#: From this number on, floats do not represent all whole numbers.
_FLOATS_ARE_EXACT = 2**53


def survey_rows(
    workspace: Workspace,
    rows: ScannableRows,
    roles: Roles,
    *,
    positive: object,
    drop: bool,
    window: str | None,
) -> tuple[SqlLayout, Survey]:
    """Check all rows, and count rows, weights, events and labels."""
    report_start(f"surveying {rows.name}")
    layout, flow = lay_out_rows(workspace, rows, roles, positive=positive, drop=drop)
    codings = {name: code_labels(workspace, layout, name) for name in roles.groups}
    if roles.time is not None:
        codings[roles.time] = code_windows(workspace, layout, roles.time, window)
    layout = replace(layout, codings=codings)
    survey = _make_survey(workspace, layout, flow)
    survey = survey if layout.counted else _with_fractions(workspace, layout, survey)
    event = "1" if positive is None else label_text(positive)
    sha256, bins = hash_columns(workspace, layout)
    return replace(layout, bins=bins), replace(survey, positive=event, sha256=sha256)


def lay_out_rows(
    workspace: Workspace, rows: ScannableRows, roles: Roles, *, positive: object, drop: bool
) -> tuple[SqlLayout, RowFlow]:
    """Check all rows, and return SQL for those that count."""
    kept = check_rows(workspace, rows, roles, positive=positive, drop=drop)
    layout = SqlLayout(rows=rows, roles=roles, outcome=kept.outcome, kept=kept.conditions)
    return _weigh(workspace, layout, kept.row_flow), kept.row_flow


def _weigh(workspace: Workspace, layout: SqlLayout, flow: RowFlow) -> SqlLayout:
    """The layout, with whether weights are whole and whether some are 0."""
    if layout.roles.weight is None:
        return layout
    w = layout.weight
    found = workspace.row(
        f"SELECT count(*) FILTER ({w} = 0) AS zeros, "
        f"count(*) FILTER ({w} <> floor({w}) OR {w} >= {_FLOATS_ARE_EXACT}) AS fractions, "
        f"sum(CAST(least({w}, {_FLOATS_ARE_EXACT}) AS HUGEINT)) AS total "
        f"FROM {layout.rows.relation}{sql.where(layout.kept)}"
    )
    if found["zeros"] == flow.kept:
        raise DataError(f"`{layout.roles.weight}` must not be all zero; got 0 in all {flow.kept} rows.")
    counted = found["fractions"] == 0 and int(found["total"]) < _FLOATS_ARE_EXACT
    return replace(layout, has_zeros=found["zeros"] > 0, counted=counted)


def _make_survey(workspace: Workspace, layout: SqlLayout, flow: RowFlow) -> Survey:
    roles = layout.roles
    found = workspace.row(f"SELECT {_sums(layout)} FROM {layout.rows.relation}{layout.counts}")
    names = list(enumerate(roles.forecasts))
    refuted = {name: found[f"refuted{at}"] for at, name in names}
    windows: Coding | None = None if roles.time is None else layout.codings[roles.time]
    return Survey(
        source=layout.rows.name,
        outcome_name=roles.outcome,
        positive="1",
        models=roles.forecasts,
        rows=found["n"],
        total=int(found["total"]),
        events=int(found["events"]),
        event_squares=int(found["event_squares"]),
        other_squares=int(found["other_squares"]),
        row_flow=flow,
        weighted=roles.weight is not None,
        weight_kind=roles.weight_kind,
        counted=layout.counted,
        clusters=found.get("clusters"),
        groups={name: layout.codings[name].counts for name in roles.groups},
        windows=() if windows is None else windows.counts,
        time_name="time" if roles.time is None else roles.time,
        refuted={
            name: (count, _find_refuted(workspace, layout, name)) for name, count in refuted.items() if count
        },
        halves={name: found[f"halves{at}"] for at, name in names},
        certain={name: found[f"certain{at}"] for at, name in names},
        weightless=tuple(
            (column, *label) for column, coding in layout.codings.items() for label in coding.weightless
        ),
        has_grade=roles.grade is not None,
    )


def _sums(layout: SqlLayout) -> str:
    w = layout.whole_weight if layout.counted else "0"
    sums = ["count(*) AS n", *sums_of_weights(w, layout.outcome)]
    for at, name in enumerate(layout.roles.forecasts):
        x = layout.forecast(name)
        sums += [
            f"count(*) FILTER ({x} = 0.5) AS halves{at}",
            f"count(*) FILTER ({x} = 0 OR {x} = 1) AS certain{at}",
            f"count(*) FILTER ({_is_refuted(layout, name)}) AS refuted{at}",
        ]
    if layout.roles.cluster is not None:
        sums.append(f"count(DISTINCT {sql.label(layout.rows, layout.roles.cluster)}) AS clusters")
    return ", ".join(sums)


def _is_refuted(layout: SqlLayout, model: str) -> str:
    return f"{layout.forecast(model)} = 1 - {layout.outcome}"


def _find_refuted(workspace: Workspace, layout: SqlLayout, model: str) -> tuple[int, ...]:
    """The first few rows whose forecast was certain and wrong."""
    clause = f"{layout.counts} AND" if layout.counts else " WHERE"
    found = workspace.table(
        f"SELECT {layout.rows.number} AS number FROM {layout.rows.relation}{clause} "
        f"{_is_refuted(layout, model)} ORDER BY number LIMIT {ROWS_TO_FIND}"
    )
    return tuple(found.column("number").to_pylist())


def _with_fractions(workspace: Workspace, layout: SqlLayout, survey: Survey) -> Survey:
    """The survey with sums of fractional weights, added in the order of the rows."""
    sizes = {column: len(coding.labels) for column, coding in layout.codings.items()}

    def add(batch: Batch) -> Sums:
        w = np.ones(len(batch)) if batch.weight is None else batch.weight
        squares = w * w
        added = (w, w * batch.y, squares * batch.y, squares * (1 - batch.y))
        sums: list[Any] = [np.array([values.sum() for values in added])]
        for column, size in sizes.items():
            codes = batch.groups[column]
            sums.append(np.array([np.bincount(codes, weights=values, minlength=size) for values in added]))
        return tuple(sums)

    sums, *by_label = reduce_rows(workspace, layout, survey.rows, add, "adding weights")
    of_column = dict(zip(sizes, by_label, strict=True))
    total, events, event_squares, other_squares = sums.tolist()
    return replace(
        survey,
        total=total,
        events=events,
        event_squares=event_squares,
        other_squares=other_squares,
        groups={column: _with_sums(of, of_column[column]) for column, of in survey.groups.items()},
        windows=_with_sums(survey.windows, of_column[survey.time_name]) if survey.windows else (),
    )


def _with_sums(counts: tuple[LabelCount, ...], sums: Any) -> tuple[LabelCount, ...]:
    return tuple(
        replace(label, total=total, events=events, event_squares=event_squares, other_squares=other_squares)
        for label in counts
        for total, events, event_squares, other_squares in [sums[:, label.code].tolist()]
    )


class DuckEngine:
    """An engine that sorts and scans the rows of a source with DuckDB.

    It is a context manager that removes all temporary files.
    """

    name = "duckdb"

    def __init__(self, workspace: Workspace, layout: SqlLayout, survey: Survey) -> None:
        self._workspace = workspace
        self._layout = layout
        self.survey = survey

    @property
    def folder(self) -> Path:
        """The folder of all temporary files, which is removed when the engine is closed."""
        return self._workspace.folder

    def digest(self, model: str, plan: DigestPlan) -> Digest:
        """The digest of all rows of a model."""
        return digest_model(self._workspace, self._layout, model, plan, self.survey.rows)

    def digest_groups(self, model: str, column: str, plans: Mapping[int, DigestPlan]) -> dict[int, Digest]:
        """The digests of some labels of a group column, or of the time column, by the codes of the labels."""
        return digest_labels(self._workspace, self._layout, model, column, plans)

    def reduce(self, function: Callable[[Batch], Sums], what: str) -> Sums:
        """Apply a function to each batch of rows, and add up its results in the order of the rows."""
        return reduce_rows(self._workspace, self._layout, self.survey.rows, function, what)

    def close(self) -> None:
        """Remove everything temporary."""
        self._workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_duckdb(
    source: Any,
    *,
    window: str | None = None,
    memory_limit: str | None = None,
    temporary_folder: str | Path | None = None,
    **columns: Unpack[Columns],
) -> DuckEngine:
    """Open a source whose rows need not fit into memory, and survey it.

    Parameters
    ----------
    source : a .parquet file, a folder or pattern of such files, a .csv or .csv.gz file, a DuckDB file or
        the SQLAlchemy address of a database with a `table`, or a frame
    window : the periods of the time column, as `evaluate` takes them
    memory_limit : how much memory DuckDB may use, such as "1GB"; by default a quarter of the machine's
    temporary_folder : the folder for temporary files, which hold what does not fit into memory; by default
        that of the system
    columns : as `read_predictions` takes them
    """
    named = check_column_arguments(columns, "evaluate")
    roles, drop = Roles.of(named), named.get("missing") == "drop"
    check_window(window, roles)
    table = named.get("table")
    csv_format = CsvFormat.of(named)
    place = locate_source(source, table, csv_format)
    workspace, is_over = Workspace(memory_limit, temporary_folder, place.scanned), Event()
    try:
        with rows_named(source, table, csv_format):
            rows = open_rows(workspace, place, roles)
            wait_for_hash = _begin_hash(source, table, is_over)
            layout, survey = survey_rows(
                workspace, rows, roles, positive=named.get("positive"), drop=drop, window=window
            )
        return DuckEngine(workspace, layout, replace(survey, file_sha256=wait_for_hash()))
    except BaseException:
        is_over.set()
        workspace.close()
        raise


def _begin_hash(source: Any, table: str | None, is_over: Event) -> Callable[[], str]:
    """Hash the file while rows are surveyed, on a thread that ends early if rows are refused."""
    found: list[str] = []
    worker = Thread(target=lambda: found.append(hash_file(source, table, is_over=is_over)), daemon=True)
    worker.start()

    def wait() -> str:
        worker.join()
        return found[0] if found else hash_file(source, table)

    return wait
