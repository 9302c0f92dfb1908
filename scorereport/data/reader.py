"""`read_predictions()`: read a table as checked predictions, with an account of every row.

Rows are counted from 0, the first row below a header; messages name them as people find them in the source:
by the line of a CSV file, the row of a sheet, the index label of a frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from scorereport._utils.arrays import set_read_only
from scorereport._utils.checks import (
    SUM_TOLERANCE,
    refuse_extreme_weights,
    refuse_fractions,
    refuse_rows,
)
from scorereport._utils.declarations import document_arguments
from scorereport._utils.formatting import format_plain
from scorereport._utils.machine import release_memory
from scorereport.data.array_tables import take_arrays
from scorereport.data.columns import (
    bounded_numbers,
    class_indices,
    dates,
    label_texts,
    outcome_values,
)
from scorereport.data.csv_format import CsvFormat
from scorereport.data.predictions import (
    ClassPredictions,
    DroppedRows,
    MissingValues,
    Predictions,
    RescaledRows,
    RowFlow,
    UnknownOutcomes,
)
from scorereport.data.raw_tables import RawTable
from scorereport.data.roles import COLUMNS, Roles, check_column_arguments, columns_of_models
from scorereport.data.sources import describe_source, hash_file, locate_source, rows_named
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.data.array_values import ArrayForecasts, ArrayGroups
    from scorereport.data.column_rules import Forecasts
    from scorereport.data.roles import Columns, OtherColumns


def read_columns(
    source: Any,
    numbers: Sequence[str],
    labels: Sequence[str],
    table: str | None = None,
    csv_format: CsvFormat | None = None,
) -> RawTable:
    """Read the named columns of a frame, file, folder or table; labels in CSV files stay text."""
    place = locate_source(source, table, csv_format)
    found = place.kind.read(place, numbers, labels)
    if len(found) == 0:
        raise DataError(f"{place.name} holds no rows.")
    return RawTable(found, (*numbers, *labels))


def read_predictions(
    source: Any,
    forecasts: Forecasts | ArrayForecasts | None = None,
    *,
    outcome: str | None = None,
    classes: Sequence[object] | None = None,
    ordered: bool = False,
    weight: str | ArrayLike | None = None,
    groups: str | Sequence[str] | ArrayGroups | None = None,
    cluster: str | ArrayLike | None = None,
    time: str | ArrayLike | None = None,
    **others: Unpack[OtherColumns],
) -> Predictions | ClassPredictions:
    """Read outcomes and forecasts from a table: probabilities of an event or, with `classes`, of K classes.

    Parameters
    ----------
    source
        A DataFrame (pandas, polars, pyarrow, a DuckDB relation, or any other that narwhals or the Arrow
        protocols read), the path of a .csv, .tsv, .parquet, .xlsx, .rds or .RData file, a folder
        or pattern of .parquet files, or a database with `table`: the path of a .duckdb file, or an SQLAlchemy
        address. Or an array of outcomes, with arrays as `forecasts` and other columns, as in `evaluate`.
    {parameters}

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
    shown = {
        "outcome": outcome,
        "forecasts": forecasts,
        "classes": classes,
        "ordered": ordered,
        "weight": weight,
        "groups": groups,
        "cluster": cluster,
        "time": time,
    }
    table, named = take_arrays(source, {**shown, **others})
    return read_checked(table, check_column_arguments(named, "read_predictions"))


document_arguments(read_predictions, COLUMNS)


def read_checked(
    source: Any, columns: Columns, immature: NDArray[np.bool_] | None = None
) -> Predictions | ClassPredictions:
    """Read predictions from columns that are checked; rows that are refused have the names of the source.

    The caller has removed the outcomes of `immature` rows, and describes them in the flow of rows; they are
    not refused for lack of an outcome.
    """
    with rows_named(source, columns.get("table"), CsvFormat.of(columns)):
        return _read_checked(source, columns, immature)


def _read_checked(
    source: Any, columns: Columns, immature: NDArray[np.bool_] | None
) -> Predictions | ClassPredictions:
    labels, positive, table = columns.get("classes"), columns.get("positive"), columns.get("table")
    classes = None if labels is None else tuple(map(str, labels))
    columns_of = columns_of_models(columns["forecasts"], classes)
    roles = Roles.of(columns, columns_of)
    normalize = columns.get("normalize", False)
    raw = read_columns(source, roles.numbers, roles.labels, table, CsvFormat.of(columns))
    values = _clean(raw, roles, classes, positive=positive, normalize=normalize)
    del raw  # it is as large
    release_memory()
    rows, row_flow = _complete_rows(values, immature, drop=columns.get("missing") == "drop")
    is_whole = row_flow.kept == row_flow.read
    unknown = None
    if not is_whole:
        unknown = _keep_unknown(values, roles, columns_of, immature, normalize=normalize)
        values = {name: column[rows] for name, column in values.items()}
    shared = _collect(values, roles, rows, row_flow)
    shared |= {"source": describe_source(source, table), "file_sha256": hash_file(source, table)}
    shared |= {"weight_kind": roles.weight_kind, "without_outcome": unknown}
    if classes is None:
        forecast = {name: values[name] for name in columns_of}
        event = "1" if positive is None else str(positive)
        shared |= {"positive": event}
        return Predictions(outcome=values[roles.outcome], forecasts=forecast, **shared)
    tables, rescaled = _make_tables(values, columns_of, rows, normalize=normalize)
    shared |= {"classes": classes, "ordered": columns.get("ordered", False), "rescaled": rescaled}
    return ClassPredictions(outcome=values[roles.outcome].astype(np.int64), forecasts=tables, **shared)


def _clean(
    table: RawTable, roles: Roles, classes: tuple[str, ...] | None, *, positive: object, normalize: bool
) -> dict[str, NDArray[Any]]:
    """Convert all columns to arrays that satisfy their rules, except for missing values."""
    observed = table[roles.outcome]
    columns: dict[str, NDArray[Any]] = {
        roles.outcome: outcome_values(observed, roles.outcome, positive)
        if classes is None
        else class_indices(observed, roles.outcome, classes)
    }
    for name in roles.numbers:
        is_bounded = name != roles.weight and not normalize
        columns[name] = bounded_numbers(table[name], name, upper=1.0 if is_bounded else np.inf)
    if roles.weight is not None:
        refuse_extreme_weights(columns[roles.weight], roles.weight)
    if roles.weight is not None and roles.weight_kind == "frequency":
        refuse_fractions(columns[roles.weight], roles.weight)
    for name in roles.texts:
        columns[name] = label_texts(table[name], name)
    if roles.time is not None:
        columns[roles.time] = dates(table[roles.time], roles.time)
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
        "rows": None if row_flow.kept == row_flow.read else rows,
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


def _complete_rows(
    columns: dict[str, NDArray[Any]], immature: NDArray[np.bool_] | None, *, drop: bool
) -> tuple[IntArray, RowFlow]:
    """Return the rows without missing values, and the row flow; a row counts for its first missing value."""
    n = len(next(iter(columns.values())))
    is_kept = np.ones(n, dtype=bool) if immature is None else ~immature
    is_mature = is_kept.copy()
    dropped, missing = [], []
    for place, (name, values) in enumerate(columns.items()):
        lacks = find_missing(values)
        if place == 0:  # the outcomes, which immature rows need not have
            lacks &= is_mature
        if not drop:
            _refuse_missing(lacks, name)
        if (newly := lacks & is_kept).any():
            dropped.append(DroppedRows(reason=f"missing `{name}`", rows=int(newly.sum())))
        missing.append(MissingValues(column=name, rows=int(lacks.sum())))
        is_kept &= ~lacks
    if not is_kept.any():
        mature = int(is_mature.sum())
        whose = "" if mature == n else " whose outcome is final"
        raise DataError(
            f"No row{whose} is complete: all {mature} rows lack a value in one of {', '.join(columns)}."
        )
    kept = np.flatnonzero(is_kept)
    counts = tuple(missing) if any(item.rows for item in missing) else ()
    return kept, RowFlow(read=n, kept=len(kept), dropped=tuple(dropped), missing=counts)


def _refuse_missing(lacks: NDArray[np.bool_], name: str) -> None:
    if lacks.any():
        hint = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
        refuse_rows(np.full(len(lacks), np.nan), lacks, f"`{name}` must not be missing", hint)


def read_unknown(frame: Any, columns: Columns, immature: NDArray[np.bool_]) -> UnknownOutcomes | None:
    """Read rows of a frame of binary models whose outcomes are missing or removed; None if all lack more.

    All other columns are checked as those of predictions.
    """
    columns_of = columns_of_models(columns["forecasts"], None)
    roles = Roles.of(columns, columns_of)
    raw = read_columns(frame, roles.numbers, roles.labels)
    values = _clean(raw, roles, None, positive=None, normalize=False)
    if columns.get("missing") != "drop":
        for name, column in values.items():
            if name != roles.outcome:
                _refuse_missing(find_missing(column), name)
    return _keep_unknown(values, roles, columns_of, immature, normalize=False)


def _keep_unknown(
    columns: dict[str, NDArray[Any]],
    roles: Roles,
    columns_of: Mapping[str, Sequence[str]],
    immature: NDArray[np.bool_] | None,
    *,
    normalize: bool,
) -> UnknownOutcomes | None:
    """The rows with a weight that lack the outcome and nothing else; None if there are none."""
    is_unknown = find_missing(columns[roles.outcome])
    for name, values in columns.items():
        if name != roles.outcome:
            is_unknown &= ~find_missing(values)
    if roles.weight is not None:
        is_unknown &= columns[roles.weight] > 0
    if not is_unknown.any():
        return None
    chosen = {name: columns[name][is_unknown] for name in roles.numbers}
    has_classes = any(len(names) > 1 for names in columns_of.values())
    forecasts = {model: chosen[names[0]] for model, names in columns_of.items()}
    if has_classes:
        forecasts, _ = _make_tables(chosen, columns_of, np.flatnonzero(is_unknown), normalize=normalize)
    return UnknownOutcomes(
        forecasts={model: set_read_only(table) for model, table in forecasts.items()},
        weight=None if roles.weight is None else set_read_only(columns[roles.weight][is_unknown]),
        immature=0 if immature is None else int((is_unknown & immature).sum()),
    )


def find_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of a column are missing."""
    if values.dtype == object:
        return np.array([value is None for value in values.tolist()])
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
