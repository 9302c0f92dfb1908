"""Arrays and frames of any library: how they are recognised, and their columns, names and indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from scorereport.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Forecasts and groups as arrays: one, several by name, or a frame of any library.
ArrayForecasts = ArrayLike | Mapping[str, ArrayLike] | Any
ArrayGroups = ArrayLike | Mapping[str, ArrayLike] | Any
#: Packages whose series and arrays are kept as they are.
_KEPT = ("pandas", "polars", "pyarrow", "modin")


def is_frame(value: object) -> bool:
    """Whether this is a table with named columns, of any library."""
    if isinstance(value, (str, Mapping)):
        return False
    kind = type(value)  # the names of a LazyFrame take time, so it is not asked for them
    return (
        hasattr(kind, "columns")
        or hasattr(kind, "__dataframe__")
        or (hasattr(value, "__arrow_c_stream__") and not hasattr(value, "__array__"))
    )


def is_array(value: object) -> bool:
    """Whether this is an array, a series or a list; texts, files, tables and mappings are not."""
    return isinstance(value, (list, tuple, range)) or (hasattr(value, "__array__") and not is_frame(value))


def is_matrix(value: Any) -> bool:
    """Whether an array has several dimensions, or is a list of lists."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and is_array(value[0])
    return len(getattr(value, "shape", ())) > 1


def is_fractional(value: Any) -> bool:
    """Whether an array holds fractions or truth values, which do not name columns."""
    return any(isinstance(item, (float, bool)) or is_array(item) for item in _first_items(value))


def is_of_texts(value: Any) -> bool:
    """Whether an array holds texts, which may name columns."""
    items = _first_items(value)
    return len(items) > 0 and all(isinstance(item, str) for item in items)


def _first_items(value: Any) -> Any:
    """All items of a list, which may be of any types, or the first of an array."""
    return value if isinstance(value, (list, tuple, range)) else np.asarray(value).ravel()[:1].tolist()


def name_of(value: object, default: str) -> str:
    """The name of a series; the default for an array without one."""
    name = getattr(value, "name", None)
    return default if name is None or callable(name) or str(name) == "" else str(name)


def index_of(value: object) -> Any:
    """The index of a series or frame of pandas; None for other arrays."""
    index = getattr(value, "index", None)
    return index if hasattr(index, "equals") else None


def as_one_column(value: Any, what: str) -> Any:
    """An array with one dimension, one value for each row."""
    if not is_array(value):
        raise UsageError(
            f"`{what}` must be an array, because the outcomes are an array; got {type(value).__name__}."
        )
    columns = as_columns(value, what)
    if is_matrix(value):
        raise UsageError(
            f"`{what}` must be one-dimensional, with a value for each row; got shape {np.shape(value)}."
        )
    return columns[0]


def as_columns(value: Any, what: str) -> list[Any]:
    """The columns of an array: itself if it has one dimension, or each column of a matrix."""
    plain = _as_plain(value, what)
    if not is_matrix(plain):
        if np.ndim(plain) == 0:
            raise UsageError(f"`{what}` must be an array; got the number {plain}.")
        return [plain]
    if len(plain.shape) > 2:
        raise UsageError(f"`{what}` must have one or two dimensions; got shape {plain.shape}.")
    return [plain[:, column] for column in range(plain.shape[1])]


def _as_plain(value: Any, what: str) -> Any:
    """Keep series and arrays of pandas, polars and pyarrow; make arrays of numpy from all others."""
    if isinstance(value, np.ma.MaskedArray):
        objects = value.data.astype(object)
        objects[np.ma.getmaskarray(value)] = None
        return objects
    if isinstance(value, (list, tuple)) and not is_matrix(value):
        return _as_objects(value)
    if type(value).__module__.partition(".")[0] in _KEPT:
        return value
    try:
        return np.asarray(value)
    except ValueError as error:
        raise UsageError(f"`{what}` must be an array; got rows of different lengths.") from error


def _as_objects(values: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """The items of a list as they are; numpy would convert numbers beside texts to texts."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def frame_columns(frame: Any) -> dict[str, Any]:
    """The columns of a frame by name, each as a series of its library."""
    if hasattr(frame, "iloc"):  # pandas allows names that are not texts
        names = [str(name) for name in frame.columns]
        series = [frame.iloc[:, place] for place in range(len(names))]
    else:
        import narwhals as nw

        opened = nw.from_native(frame)
        eager = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        names = list(eager.columns)
        series = [eager[name].to_native() for name in names]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The names of columns must differ; got {name!r} {names.count(name)} times.")
    return dict(zip(names, series, strict=True))


def as_series(values: Any) -> pd.Series[Any]:
    """An array as a series of pandas with rows counted from 0, without a copy where that is possible."""
    import pandas as pd

    if hasattr(values, "to_pandas"):  # polars, pyarrow
        return values.to_pandas()
    if isinstance(values, np.ndarray) and values.dtype == object:
        return pd.Series(values.tolist())  # so that a list of numbers is a column of numbers
    return pd.Series(values, copy=False).reset_index(drop=True)
