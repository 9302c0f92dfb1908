"""Columns of data frames of R as columns of Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import LONGEST_TEXT, refuse_rows
from scorereport.data.r_objects import RList, RObject, RVector
from scorereport.data.r_streams import MISSING_INTEGER, DamagedError
from scorereport.data.size_limits import refuse_long_text
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.r_streams import RStream, RTexts

#: What stands for missing numbers of the class integer64 of the package bit64.
_MISSING_INTEGER64 = -(2**63)
_DAY, _MICROSECONDS = 86_400, 1_000_000
#: Seconds since 1970 between which dates lie: the years 1 to 9999.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
#: Digits with which R writes doubles as texts.
_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RColumn:
    """A column of a data frame or a matrix: the vector, and where its rows begin in it."""

    name: str
    vector: RObject
    start: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RTable:
    """The columns of a data frame or a matrix, all with the same number of rows."""

    columns: tuple[RColumn, ...]
    rows: int

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    def count_text_bytes(self, names: Sequence[str]) -> int:
        """The bytes of the texts in some columns."""
        vectors = (column.vector for column in self.columns if column.name in names)
        found = (vector.lengths for vector in vectors if isinstance(vector, RVector))
        return sum(int(np.maximum(lengths, 0).sum()) for lengths in found if lengths is not None)


def find_table(found: RObject) -> RTable | None:
    """The table that an object is: a data frame, or a matrix of numbers or texts; None if it is neither."""
    if isinstance(found, RList) and "data.frame" in found.classes:
        return _frame_table(found)
    if isinstance(found, RVector) and found.dim is not None and set(found.classes) <= {"matrix", "array"}:
        rows, count = found.dim
        names = _column_names(found) or tuple(f"V{place + 1}" for place in range(count))
        return RTable(columns=tuple(_cut_matrix(found, names, rows)), rows=rows)
    return None


def _column_names(matrix: RObject) -> tuple[str, ...]:
    """The names of the columns of a matrix; empty if it has none."""
    names = matrix.attributes.get("dimnames")
    if not isinstance(names, RList) or len(names.items) != 2 or not isinstance(names.items[1], RVector):
        return ()
    kept = names.items[1].kept
    return tuple(str(name) for name in kept) if isinstance(kept, tuple) else ()


def _cut_matrix(matrix: RVector, names: tuple[str, ...], rows: int) -> Iterator[RColumn]:
    if matrix.length != rows * len(names):
        raise DamagedError("it has a matrix whose size contradicts its rows and columns")
    for place, name in enumerate(names):
        yield RColumn(name=name, vector=matrix, start=place * rows)


def _frame_table(frame: RList) -> RTable:
    rows = _count_rows(frame)
    columns = tuple(
        column
        for name, item in zip(frame.names, frame.items, strict=True)
        for column in _spread(name, item, rows)
    )
    return RTable(columns=columns, rows=rows)


def _count_rows(frame: RList) -> int:
    """The rows of a data frame, from the names of its rows; row numbers are stored as NA and their count."""
    names = frame.attributes.get("row.names")
    if not isinstance(names, RVector):
        return next((item.length for item in frame.items if isinstance(item, RVector)), 0)
    kept = names.kept
    if names.kind in ("integer", "double") and isinstance(kept, np.ndarray) and len(kept) == 2:
        first, second = kept.tolist()
        if first == MISSING_INTEGER or np.isnan(first):
            return abs(int(second))
    return names.length


def _spread(name: str, item: RObject, rows: int) -> Iterator[RColumn]:
    """The columns that an element of a data frame is: several for a matrix or a frame, as R prints them."""
    if isinstance(item, RVector) and item.dim is not None:
        count = item.dim[1]
        parts = _column_names(item) or tuple(str(place + 1) for place in range(count))
        yield from _cut_matrix(item, tuple(f"{name}.{part}" for part in parts), rows)
        return
    if isinstance(item, RList) and "data.frame" in item.classes:
        for column in _frame_table(item).columns:
            yield RColumn(name=f"{name}.{column.name}", vector=column.vector, start=column.start)
        return
    if isinstance(item, RVector) and item.length != rows:
        raise DamagedError(f"its column {name} has {item.length:,} of {rows:,} values")
    yield RColumn(name=name, vector=item)


def read_column(stream: RStream, column: RColumn, rows: int, native: str) -> pa.Array:
    """Read a column: numbers, truth values, texts, the labels of a factor, dates, or times in UTC."""
    vector, classes = column.vector, column.vector.classes
    if not isinstance(vector, RVector) or vector.kind in ("complex", "raw"):
        raise DataError(f"`{column.name}` must hold plain values; got {_describe(vector)}.{_hint(classes)}")
    if vector.kind == "string":
        return _slice(_read_texts(stream, vector, native), column.start, rows)
    values = _read_numbers(stream, vector)[column.start : column.start + rows]
    if "factor" in classes:
        return _make_factor(stream, column, values, native)
    if "Date" in classes:
        return _make_dates(_as_doubles(values), column.name)
    if "POSIXct" in classes:
        return _make_times(_as_doubles(values), column.name)
    return _make_numbers(values, vector)


def _describe(found: RObject) -> str:
    named = f"of class {found.classes[0]}" if found.classes else found.what
    return f"a column {named}" if found.classes else f"a column that is {named}"


def _hint(classes: tuple[str, ...]) -> str:
    return " Convert it with as.POSIXct() in R." if "POSIXlt" in classes else ""


def _slice(values: pa.Array, start: int, rows: int) -> pa.Array:
    return values if start == 0 and len(values) == rows else values.slice(start, rows)


def _read_numbers(stream: RStream, vector: RVector) -> NDArray[Any]:
    if vector.step:
        numbers = vector.start + vector.step * np.arange(vector.length)
        return numbers.astype("i4" if vector.kind == "integer" else "f8")
    if isinstance(vector.kept, np.ndarray):
        return vector.kept
    return stream.read_numbers(vector.kind, vector.length, vector.at)


def _quiet(values: NDArray[Any]) -> NDArray[Any]:
    """Doubles with the usual NaN for missing ones; that of R raises warnings in arithmetic."""
    return np.where(np.isnan(values), np.nan, values)


def _as_doubles(values: NDArray[Any]) -> FloatArray:
    if values.dtype == np.float64:
        return _quiet(values)
    return np.where(values == MISSING_INTEGER, np.nan, values)


def _make_numbers(values: NDArray[Any], vector: RVector) -> pa.Array:
    if "integer64" in vector.classes and values.dtype == np.float64:
        whole = values.view(np.int64)
        return _make_array(whole, whole == _MISSING_INTEGER64)
    if values.dtype == np.float64:
        return _make_array(_quiet(values))
    is_missing = values == MISSING_INTEGER
    return _make_array(values != 0 if vector.kind == "logical" else values, is_missing)


def _make_array(values: NDArray[Any], is_missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of Arrow; one of doubles shares their memory."""
    import pyarrow as pa

    if values.dtype == np.bool_:
        kind, values = pa.bool_(), np.packbits(values, bitorder="little")
        count = 0 if is_missing is None else len(is_missing)
    else:
        kind, count = pa.from_numpy_dtype(values.dtype), len(values)
    return pa.Array.from_buffers(
        kind, count, [_valid_bits(is_missing), pa.py_buffer(np.ascontiguousarray(values))]
    )


def _valid_bits(is_missing: NDArray[np.bool_] | None) -> Any:
    """The bits by which Arrow knows which values are there; None if all are."""
    import pyarrow as pa

    if is_missing is None or not is_missing.any():
        return None
    return pa.py_buffer(np.packbits(~is_missing, bitorder="little"))


def _read_texts(stream: RStream, vector: RVector, native: str) -> pa.Array:
    if vector.texts_of is not None:
        return _make_texts([_format_number(value, vector) for value in _read_items(stream, vector.texts_of)])
    if isinstance(vector.kept, tuple):
        return _make_texts(list(vector.kept))
    if vector.lengths is None:
        raise DamagedError("it has texts without lengths")
    return _join_texts(stream.read_texts(vector.lengths, vector.at, native))


def _make_texts(texts: list[str | None]) -> pa.Array:
    encoded = [b"" if text is None else text.encode() for text in texts]
    lengths = [-1 if text is None else len(item) for text, item in zip(texts, encoded, strict=True)]
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return _arrow_texts(data, np.array(lengths, dtype=np.int32))


def _join_texts(texts: RTexts) -> pa.Array:
    return _arrow_texts(texts.data, texts.lengths) if texts.are_utf8 else _make_texts(texts.to_list())


def _arrow_texts(data: NDArray[np.uint8], lengths: NDArray[np.int32]) -> pa.Array:
    import pyarrow as pa

    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.maximum(lengths, 0))])
    buffers = [_valid_bits(lengths < 0), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    found = pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)
    try:
        found.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DamagedError("it has a text that is not valid UTF-8") from error
    return found


def _read_items(stream: RStream, vector: RVector) -> list[Any]:
    """Numbers as Python objects, None for missing."""
    values = _read_numbers(stream, vector)
    if vector.kind == "double":
        return values.tolist()
    return [None if value == MISSING_INTEGER else value for value in values.tolist()]


def _format_number(value: float | None, vector: RVector) -> str | None:
    """The text of a number as R writes it: with 15 digits, scientific where that is shorter.

    >>> thousands = RVector(what="", kind="string", length=1)
    >>> [_format_number(value, thousands) for value in (7, 0.1, 100000.0, 123456.0, 1e-5, float("inf"))]
    ['7', '0.1', '1e+05', '123456', '1e-05', 'Inf']
    """
    if value is None or isinstance(value, int):
        return None if value is None else str(value)
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Inf" if value > 0 else "-Inf"
    mantissa, exponent = f"{value:.{_DIGITS - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    scientific = f"{mantissa}e{exponent}"
    digits = len(mantissa.lstrip("-").replace(".", ""))
    fixed = f"{value:.{max(digits - 1 - int(exponent), 0)}f}"
    return fixed if len(fixed) <= len(scientific) + vector.penalty else scientific


def _make_factor(stream: RStream, column: RColumn, values: NDArray[Any], native: str) -> pa.Array:
    """The labels of a factor, as a dictionary of Arrow."""
    import pyarrow as pa

    levels = column.vector.attributes.get("levels")
    if not isinstance(levels, RVector) or levels.kind != "string" or values.dtype != np.int32:
        raise DamagedError("it has a factor without levels")
    labels = _read_texts(stream, levels, native)
    is_missing = values == MISSING_INTEGER
    if ((values < 1) | (values > len(labels)))[~is_missing].any():
        raise DamagedError("it has a factor with a code beyond its levels")
    for code, label in enumerate(labels.to_pylist(), 1):
        if len(label or "") > LONGEST_TEXT and (values == code).any():
            refuse_long_text(column.name, len(label), int((values == code).argmax()))
    codes = _make_array(np.where(is_missing, 1, values) - np.int32(1), is_missing)
    return pa.DictionaryArray.from_arrays(codes, labels)


def _make_dates(days: FloatArray, name: str) -> pa.Array:
    import pyarrow as pa

    _refuse_far_times(days * _DAY, days, name)
    is_missing = np.isnan(days)
    whole = np.where(is_missing, 0, np.floor(days)).astype(np.int32)
    return _make_array(whole, is_missing).view(pa.date32())


def _make_times(seconds: FloatArray, name: str) -> pa.Array:
    import pyarrow as pa

    _refuse_far_times(seconds, seconds, name)
    is_missing = np.isnan(seconds)
    whole = np.rint(np.where(is_missing, 0, seconds) * _MICROSECONDS).astype(np.int64)
    return _make_array(whole, is_missing).view(pa.timestamp("us", tz="UTC"))


def _refuse_far_times(seconds: FloatArray, values: FloatArray, name: str) -> None:
    is_far = (seconds < _FIRST_SECOND) | (seconds > _LAST_SECOND)
    if is_far.any():
        refuse_rows(values, is_far, f"`{name}` must hold dates of the years 1 to 9999")
