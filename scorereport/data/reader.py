"""`read_predictions()`: read a table as checked predictions, with an account of every row.

Rows are counted from 0, the first row below a header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import (
    SUM_TOLERANCE,
    check_option,
    refuse_extreme_weights,
    refuse_fractions,
    refuse_rows,
)
from scorereport._utils.formatting import format_plain
from scorereport._utils.machine import release_memory
from scorereport.data.columns import (
    bounded_numbers,
    class_indices,
    dates,
    label_text,
    label_texts,
    outcome_values,
)
from scorereport.data.csv_files import read_csv
from scorereport.data.database_tables import (
    columns_of,
    explain_read_errors,
    open_duckdb_table,
    open_sql,
    read_duckdb_table,
    read_sql_table,
    sql_columns,
)
from scorereport.data.parquet_files import read_parquet, read_parquet_files
from scorereport.data.predictions import (
    ClassPredictions,
    DroppedRows,
    MissingValues,
    Predictions,
    RescaledRows,
    RowFlow,
    check_class_names,
)
from scorereport.data.roles import Roles, check_columns, check_forecasts, check_kind, columns_of_models
from scorereport.data.size_limits import check_memory, check_relation
from scorereport.data.sources import describe_source, hash_file, locate_source
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.data.roles import Forecasts
    from scorereport.data.sources import SourceLocation


def read_columns(
    source: Any, numbers: Sequence[str], labels: Sequence[str], table: str | None = None
) -> pd.DataFrame:
    """Read the named columns of a frame, file, folder or table; labels in CSV files stay text."""
    columns = [*numbers, *labels]
    place = locate_source(source, table)
    if place.kind == "CSV":
        frame = read_csv(place.files[0], numbers, labels)
    elif place.kind == "Parquet":
        frame = read_parquet(place.files[0], columns)
    elif place.kind == "frame":
        frame = as_pandas(source)
        check_columns(columns, list(frame.columns), place.name)
    elif place.kind == "folder":
        frame = read_parquet_files(place, columns)
    else:
        frame = _read_table(source, table or "", place, columns)
    if frame.empty:
        raise DataError(f"{place.name} holds no rows.")
    return frame[columns].reset_index(drop=True)


def _read_table(source: Any, table: str, place: SourceLocation, columns: list[str]) -> pd.DataFrame:
    """Read columns of a table of a database."""
    if place.kind == "sql":
        with open_sql(str(source)) as engine:
            check_columns(columns, sql_columns(engine, table, place.name), place.name)
            return read_sql_table(engine, table, columns)
    path = place.files[0]
    with open_duckdb_table(path, table, place.name) as (connection, relation):
        with explain_read_errors(place.name, "a table"):
            there = list(columns_of(connection, relation))
        check_columns(columns, there, place.name)
        with explain_read_errors(place.name, "a table"):
            text_bytes = check_relation(connection, relation, columns)
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
        check_memory(place.name, rows, len(columns), text_bytes)
    return read_duckdb_table(path, table, place.name, columns)


def as_pandas(source: Any) -> pd.DataFrame:
    """Convert a frame of any library to pandas, with text as column names."""
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source  # polars, pyarrow
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    return frame.set_axis([str(column) for column in frame.columns], axis="columns")


def read_predictions(  # noqa: PLR0913  # one argument for each role of a column
    source: Any,
    *,
    outcome: str,
    forecasts: Forecasts,
    classes: Sequence[object] | None = None,
    ordered: bool = False,
    normalize: bool = False,
    weight: str | None = None,
    weight_kind: str = "sampling",
    group: str | Sequence[str] | None = None,
    cluster: str | None = None,
    grade: str | None = None,
    time: str | None = None,
    positive: object = None,
    missing: str = "refuse",
    table: str | None = None,
) -> Predictions | ClassPredictions:
    """Read outcomes and forecasts from a table: probabilities of an event or, with `classes`, of K classes.

    Parameters
    ----------
    source : a DataFrame (pandas, polars or pyarrow), the path of a .csv, .csv.gz or .parquet file, a folder
        or pattern of .parquet files, or a database with `table`: the path of a .duckdb file, or an SQLAlchemy
        address
    outcome : the column of outcomes: 0/1, True/False, or two labels of which `positive` names one; with K
        classes, the column of their labels
    forecasts : one column of probabilities for each model; with K classes, the names of the models, whose
        columns are named `model_class`, or a mapping from each model to its K columns
    classes : the labels of the K classes, in the order of the columns; a class that is never observed is kept
    ordered : whether the classes are ordered, from first to last
    normalize : divide the probabilities of each row by their sum, and record it; otherwise a row that
        does not sum to 1 within 1e-6 is refused
    weight, group, cluster, grade, time : optional columns of case weights, of groups (one or several
        columns), of clusters of dependent rows, of rating grades, and of dates
    weight_kind : "sampling" for weights of rows that were drawn once and represent others, or "frequency" for
        how often each row was observed, in whole numbers
    positive : the label that counts as the event
    missing : "refuse" rows with missing values, or "drop" them and count them in the row flow
    table : the table or view of a database

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"default": ["no", "yes", "no"], "logit": [0.1, 0.7, None]})
    >>> p = read_predictions(frame, outcome="default", forecasts=["logit"], positive="yes", missing="drop")
    >>> p.outcome, p.row_flow.read, p.row_flow.kept, p.row_flow.dropped
    (array([0., 1.]), 3, 2, (DroppedRows(reason='missing `logit`', rows=1),))
    >>> p.row_flow.missing
    (MissingValues(column='default', rows=0), MissingValues(column='logit', rows=1))

    >>> frame = pd.DataFrame({"grade": ["b", "a"], "m_a": [0.2, 0.6], "m_b": [0.8, 0.4]})
    >>> p = read_predictions(frame, outcome="grade", forecasts=["m"], classes=["a", "b"], ordered=True)
    >>> p.outcome, p.forecasts["m"].tolist()
    (array([1, 0]), [[0.2, 0.8], [0.6, 0.4]])
    """
    check_option(missing, "missing", ("refuse", "drop"))
    labels = None if classes is None else check_class_names(classes)
    check_forecasts(forecasts)
    check_kind(labels, forecasts, positive=positive, grade=grade, ordered=ordered, normalize=normalize)
    columns_of = columns_of_models(forecasts, labels)
    roles = Roles.of(outcome, columns_of, weight, group, cluster, grade, time, weight_kind)
    columns = _read_clean(source, table, roles, labels, positive=positive, normalize=normalize)
    rows, row_flow = _complete_rows(columns, drop=missing == "drop")
    if row_flow.dropped:
        columns = {name: values[rows] for name, values in columns.items()}
    shared = _collect(columns, roles, rows, row_flow)
    shared |= {"source": describe_source(source, table), "file_sha256": hash_file(source, table)}
    shared |= {"weight_kind": weight_kind}
    if labels is None:
        forecast = {name: columns[name] for name in columns_of}
        event = "1" if positive is None else label_text(positive)
        return Predictions(outcome=columns[roles.outcome], forecasts=forecast, positive=event, **shared)
    tables, rescaled = _make_tables(columns, columns_of, rows, normalize=normalize)
    shared |= {"classes": labels, "ordered": ordered, "rescaled": rescaled}
    return ClassPredictions(outcome=columns[roles.outcome].astype(np.int64), forecasts=tables, **shared)


def _read_clean(
    source: Any,
    table: str | None,
    roles: Roles,
    classes: tuple[str, ...] | None,
    *,
    positive: object,
    normalize: bool,
) -> dict[str, NDArray[Any]]:
    """Read all columns of a source as checked arrays; the raw columns, which are as large, are released."""
    raw = read_columns(source, roles.numbers, roles.labels, table)
    columns = _clean(raw, roles, classes, positive=positive, normalize=normalize)
    del raw
    release_memory()
    return columns


def _clean(
    frame: pd.DataFrame, roles: Roles, classes: tuple[str, ...] | None, *, positive: object, normalize: bool
) -> dict[str, NDArray[Any]]:
    """Convert all columns to arrays that satisfy their rules, except for missing values."""
    observed = frame[roles.outcome]
    columns: dict[str, NDArray[Any]] = {
        roles.outcome: outcome_values(observed, roles.outcome, positive)
        if classes is None
        else class_indices(observed, roles.outcome, classes)
    }
    for name in roles.numbers:
        is_bounded = name != roles.weight and not normalize
        columns[name] = bounded_numbers(frame[name], name, upper=1.0 if is_bounded else np.inf)
    if roles.weight is not None:
        refuse_extreme_weights(columns[roles.weight], roles.weight)
    if roles.weight is not None and roles.weight_kind == "frequency":
        refuse_fractions(columns[roles.weight], roles.weight)
    for name in roles.texts:
        columns[name] = label_texts(frame[name], name)
    if roles.time is not None:
        columns[roles.time] = dates(frame[roles.time], roles.time)
    return columns


def _collect(
    columns: dict[str, NDArray[Any]], roles: Roles, rows: IntArray, row_flow: RowFlow
) -> dict[str, Any]:
    """Collect the columns beside outcomes and forecasts, their names, and the positions of the rows."""
    return {
        "weight": None if roles.weight is None else columns[roles.weight],
        "groups": {name: columns[name] for name in roles.groups},
        "cluster": None if roles.cluster is None else columns[roles.cluster],
        "grade": None if roles.grade is None else columns[roles.grade],
        "time": None if roles.time is None else columns[roles.time],
        "outcome_name": roles.outcome,
        "time_name": "time" if roles.time is None else roles.time,
        "weight_name": "weight" if roles.weight is None else roles.weight,
        "row_flow": row_flow,
        "rows": rows if row_flow.dropped else None,
    }


def _make_tables(
    columns: dict[str, NDArray[Any]],
    columns_of: Mapping[str, Sequence[str]],
    rows: IntArray,
    *,
    normalize: bool,
) -> tuple[dict[str, FloatArray], tuple[RescaledRows, ...]]:
    """Make a table for each model, with K probabilities per row, rescaled if `normalize`."""
    tables = {
        model: np.column_stack([columns[name] for name in names]) for model, names in columns_of.items()
    }
    rescaled = []
    for model, table in tables.items():
        total = table.sum(axis=1)
        is_off = np.abs(total - 1) > SUM_TOLERANCE
        if not normalize:
            _refuse_sums(model, total, is_off, rows)
            continue
        if (total == 0).any():
            _refuse_at(rows, total, total == 0, f"The probabilities of {model} must not all be 0")
        tables[model] = table / total[:, None]
        furthest = float(total[np.abs(total - 1).argmax()])
        rescaled.append(RescaledRows(model=model, rows=int(is_off.sum()), furthest_sum=furthest))
    return tables, tuple(rescaled)


def _refuse_sums(model: str, total: FloatArray, is_off: NDArray[np.bool_], rows: IntArray) -> None:
    if is_off.any():
        hint = " Correct them, or pass normalize=True (--normalize) to divide each row by its sum."
        rule = f"The probabilities of {model} must sum to 1 within {format_plain(SUM_TOLERANCE)} in each row"
        _refuse_at(rows, total, is_off, rule, hint)


def _refuse_at(
    rows: IntArray, values: FloatArray, is_bad: NDArray[np.bool_], rule: str, hint: str = ""
) -> None:
    """Refuse rows by their positions in the source, from which some may have been dropped."""
    where = np.zeros(rows[-1] + 1, dtype=bool)
    where[rows] = is_bad
    at_source = np.full(len(where), np.nan)
    at_source[rows] = values
    refuse_rows(at_source, where, rule, hint)


def _complete_rows(columns: dict[str, NDArray[Any]], *, drop: bool) -> tuple[IntArray, RowFlow]:
    """Return the rows without missing values, and the row flow; a row counts for its first missing value."""
    n = len(next(iter(columns.values())))
    is_kept = np.ones(n, dtype=bool)
    dropped, missing = [], []
    for name, values in columns.items():
        lacks = _is_missing(values)
        if lacks.any() and not drop:
            hint = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
            refuse_rows(np.full(n, np.nan), lacks, f"`{name}` must not be missing", hint)
        if (newly := lacks & is_kept).any():
            dropped.append(DroppedRows(reason=f"missing `{name}`", rows=int(newly.sum())))
        missing.append(MissingValues(column=name, rows=int(lacks.sum())))
        is_kept &= ~lacks
    if not is_kept.any():
        raise DataError(f"No row is complete: all {n} rows lack a value in one of {', '.join(columns)}.")
    kept = np.flatnonzero(is_kept)
    counts = tuple(missing) if dropped else ()
    return kept, RowFlow(read=n, kept=len(kept), dropped=tuple(dropped), missing=counts)


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([value is None for value in values.tolist()])
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
