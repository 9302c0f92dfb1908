"""`read_predictions()`: outcomes and forecasts out of a table, checked, with a record of every row.

Rows are counted from 0, the first row below a header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport.cases import DroppedRows, MissingValues, RowFlow
from scorereport.checks import SUM_TOLERANCE, check_option, refuse_rows
from scorereport.columns import bounded_numbers, class_indices, dates, label_text, label_texts, outcome_values
from scorereport.errors import DataError, UsageError
from scorereport.memory import give_back_memory
from scorereport.predictions import ClassPredictions, Predictions, Rescaled, check_class_names
from scorereport.sources import describe, hash_file, read_columns

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from scorereport.arrays import FloatArray, IntArray

    #: A column for each model or, of K classes, the columns of each model.
    Forecasts = Sequence[str] | Mapping[str, Sequence[str]]


def read_predictions(  # noqa: PLR0913  # each part that a column may play has its name
    source: Any,
    *,
    outcome: str,
    forecasts: Forecasts,
    classes: Sequence[object] | None = None,
    ordered: bool = False,
    normalize: bool = False,
    weight: str | None = None,
    group: str | Sequence[str] | None = None,
    cluster: str | None = None,
    grade: str | None = None,
    time: str | None = None,
    positive: object = None,
    missing: str = "refuse",
    table: str | None = None,
) -> Predictions | ClassPredictions:
    """Read outcomes and forecast probabilities from a table: of an event or, with `classes`, of K classes.

    Parameters
    ----------
    source : a DataFrame (pandas, polars or pyarrow), the path of a .csv, .csv.gz or .parquet file, a folder
        or pattern of .parquet files, or a database, of which `table` names a table: the path of a .duckdb
        file, or an address that SQLAlchemy takes
    outcome : the column of outcomes: 0/1, True/False, or two labels of which `positive` names one; of K
        classes, the column of their labels
    forecasts : one column of probabilities for each model; of K classes, the names of the models, whose
        columns are called `model_class`, or a mapping from each model to its K columns
    classes : the labels of the K classes, in the order of the columns; a class that never came is kept
    ordered : whether the classes are ordered, from first to last
    normalize : divide the probabilities of each row by their sum, and record it; otherwise a row that
        does not sum to 1 within 1e-6 is refused
    weight, group, cluster, grade, time : optional columns of case weights, of subgroups (one or several
        columns), of clusters of dependent rows, of rating grades, and of dates
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
    columns_of = _columns_of(forecasts, labels)
    roles = Roles.of(outcome, columns_of, weight, group, cluster, grade, time)
    columns = _clean(
        read_columns(source, roles.numbers, roles.labels, table),
        roles,
        labels,
        positive=positive,
        normalize=normalize,
    )
    give_back_memory()  # raw columns, which are gone, were as large as clean ones
    rows, row_flow = _complete_rows(columns, drop=missing == "drop")
    if row_flow.dropped:
        columns = {name: values[rows] for name, values in columns.items()}
    shared: dict[str, Any] = {
        **_collect(columns, roles),
        "row_flow": row_flow,
        "rows": rows if row_flow.dropped else None,
        "source": describe(source, table),
        "file_sha256": hash_file(source, table),
    }
    if labels is None:
        forecast = {name: columns[name] for name in columns_of}
        event = "1" if positive is None else label_text(positive)
        return Predictions(outcome=columns[roles.outcome], forecasts=forecast, positive=event, **shared)
    tables, rescaled = _make_tables(columns, columns_of, rows, normalize=normalize)
    return ClassPredictions(
        outcome=columns[roles.outcome].astype(np.int64),
        forecasts=tables,
        classes=labels,
        ordered=ordered,
        rescaled=rescaled,
        **shared,
    )


class Roles(NamedTuple):
    """Which column plays which part; `forecasts` are the columns of all models."""

    outcome: str
    forecasts: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    cluster: str | None
    grade: str | None
    time: str | None

    @classmethod
    def of(
        cls,
        outcome: str,
        columns_of: Mapping[str, Sequence[str]],
        weight: str | None,
        group: str | Sequence[str] | None,
        cluster: str | None,
        grade: str | None,
        time: str | None,
    ) -> Roles:
        """Roles from what a caller names; a name that is a number is read as its text."""
        groups = [group] if isinstance(group, (str, int)) else list(group or [])
        others = (None if name is None else str(name) for name in (cluster, grade, time))
        weight = None if weight is None else str(weight)
        forecasts = tuple(column for columns in columns_of.values() for column in columns)
        return cls(str(outcome), forecasts, weight, tuple(map(str, groups)), *others)

    @property
    def numbers(self) -> list[str]:
        """Columns that must hold numbers."""
        return [*self.forecasts, *([self.weight] if self.weight is not None else [])]

    @property
    def labels(self) -> list[str]:
        """Columns whose text must be kept as it is."""
        return [self.outcome, *self.texts, *([self.time] if self.time is not None else [])]

    @property
    def texts(self) -> list[str]:
        """Columns of labels: subgroups, clusters and grades."""
        return [*self.groups, *(name for name in (self.cluster, self.grade) if name is not None)]


def check_forecasts(forecasts: Forecasts) -> None:
    """At least one model, each once."""
    if isinstance(forecasts, str) or len(forecasts) == 0:
        raise UsageError(f"`forecasts` must be a list of at least one column; got {forecasts!r}.")
    for name, times in Counter(map(str, forecasts)).items():
        if times > 1:
            raise UsageError(f"`{name}` is asked for {times} times; a column has one role.")


def check_kind(
    classes: tuple[str, ...] | None,
    forecasts: Forecasts,
    *,
    positive: object,
    grade: str | None,
    ordered: bool,
    normalize: bool,
) -> None:
    """Refuse what belongs to the other kind of predictions."""
    if classes is None and (isinstance(forecasts, Mapping) or ordered or normalize):
        raise UsageError(
            "`classes` must name the classes, in the order of their columns, where a model has several."
        )
    for name, flag in (("ordered", ordered), ("normalize", normalize)):
        if not isinstance(flag, (bool, np.bool_)):
            raise UsageError(f"`{name}` must be True or False; got {flag!r}.")
    if classes is not None and positive is not None:
        raise UsageError("`positive` is for two outcomes; `classes` names all of them.")
    if classes is not None and grade is not None:
        raise UsageError("`grade` is for rating grades of a binary outcome, not for classes.")


def _columns_of(forecasts: Forecasts, classes: tuple[str, ...] | None) -> dict[str, tuple[str, ...]]:
    """The columns of each model: one for an event, else one for each class."""
    if classes is None:
        return {str(name): (str(name),) for name in forecasts}
    if not isinstance(forecasts, Mapping):
        return {str(model): tuple(f"{model}_{label}" for label in classes) for model in forecasts}
    named = {}
    for model, columns in forecasts.items():
        if isinstance(columns, str) or len(columns) != len(classes):
            got = repr(columns) if isinstance(columns, str) else len(columns)
            raise UsageError(
                f"`forecasts` must name a column for each of the {len(classes)} classes; "
                f"got {got} for {model}."
            )
        named[str(model)] = tuple(map(str, columns))
    return named


def _clean(
    frame: pd.DataFrame, roles: Roles, classes: tuple[str, ...] | None, *, positive: object, normalize: bool
) -> dict[str, NDArray[Any]]:
    """All columns as arrays that obey their rules, missing values apart."""
    came = frame[roles.outcome]
    columns: dict[str, NDArray[Any]] = {
        roles.outcome: outcome_values(came, roles.outcome, positive)
        if classes is None
        else class_indices(came, roles.outcome, classes)
    }
    for name in roles.numbers:
        is_bounded = name != roles.weight and not normalize
        columns[name] = bounded_numbers(frame[name], name, upper=1.0 if is_bounded else np.inf)
    for name in roles.texts:
        columns[name] = label_texts(frame[name], name)
    if roles.time is not None:
        columns[roles.time] = dates(frame[roles.time], roles.time)
    return columns


def _collect(columns: dict[str, NDArray[Any]], roles: Roles) -> dict[str, Any]:
    """The columns beside outcomes and forecasts, with their names."""
    return {
        "weight": None if roles.weight is None else columns[roles.weight],
        "groups": {name: columns[name] for name in roles.groups},
        "cluster": None if roles.cluster is None else columns[roles.cluster],
        "grade": None if roles.grade is None else columns[roles.grade],
        "time": None if roles.time is None else columns[roles.time],
        "outcome_name": roles.outcome,
        "time_name": "time" if roles.time is None else roles.time,
        "weight_name": "weight" if roles.weight is None else roles.weight,
    }


def _make_tables(
    columns: dict[str, NDArray[Any]],
    columns_of: Mapping[str, Sequence[str]],
    rows: IntArray,
    *,
    normalize: bool,
) -> tuple[dict[str, FloatArray], tuple[Rescaled, ...]]:
    """A row of K probabilities per case for each model, rescaled if asked for."""
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
        rescaled.append(Rescaled(model=model, rows=int(is_off.sum()), furthest_sum=furthest))
    return tables, tuple(rescaled)


def _refuse_sums(model: str, total: FloatArray, is_off: NDArray[np.bool_], rows: IntArray) -> None:
    if is_off.any():
        way_out = " Mend them, or pass normalize=True (--normalize) to divide each row by its sum."
        rule = f"The probabilities of {model} must sum to 1 within {SUM_TOLERANCE:g} in each row"
        _refuse_at(rows, total, is_off, rule, way_out)


def _refuse_at(
    rows: IntArray, values: FloatArray, is_bad: NDArray[np.bool_], rule: str, way_out: str = ""
) -> None:
    """Refuse by the rows of the source, from which some may have been dropped."""
    where = np.zeros(rows[-1] + 1, dtype=bool)
    where[rows] = is_bad
    at_source = np.full(len(where), np.nan)
    at_source[rows] = values
    refuse_rows(at_source, where, rule, way_out)


def _complete_rows(columns: dict[str, NDArray[Any]], *, drop: bool) -> tuple[IntArray, RowFlow]:
    """Rows without missing values; a row that lacks several is counted for the first."""
    n = len(next(iter(columns.values())))
    is_kept = np.ones(n, dtype=bool)
    dropped, missing = [], []
    for name, values in columns.items():
        lacks = _is_missing(values)
        if lacks.any() and not drop:
            way_out = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
            refuse_rows(np.full(n, np.nan), lacks, f"`{name}` must not be missing", way_out)
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
