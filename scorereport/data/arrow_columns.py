"""Columns of Arrow as numpy arrays, without pandas.

Many functions of pyarrow load pandas, which takes long: `to_numpy` if values are missing, `pa.array` and
`pa.scalar` always. So numbers are read from the buffers of Arrow here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.data.pandas_columns import PandasColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray
    from pyarrow import Array, ChunkedArray, DataType

    from scorereport._utils.arrays import FloatArray

#: Years of texts before this are left to pandas, whose versions differ in what they read.
_EARLIEST = np.datetime64("1700-01-01", "us")


class ArrowColumn:
    """A column of Arrow that holds numbers, truth values, texts, dates or times."""

    def __init__(self, values: ChunkedArray) -> None:
        import pyarrow as pa

        is_view = pa.types.is_string_view(values.type)
        self._values = values.cast(pa.large_string()) if is_view else values

    def __len__(self) -> int:
        return len(self._values)

    def for_messages(self) -> NDArray[Any]:
        """The values as messages show them."""
        return self._in_pandas().for_messages()

    def _in_pandas(self) -> PandasColumn:
        return PandasColumn(convert_to_pandas(self._values))

    def numbers(self, name: str) -> FloatArray | None:  # a column of pandas needs the name
        """Numbers as float64, NaN for missing; None if the type is not one of numbers."""
        import pyarrow as pa

        kind = self._values.type
        if pa.types.is_dictionary(kind):
            return ArrowColumn(self._values.cast(kind.value_type)).numbers(name)
        if pa.types.is_null(kind):
            return np.full(len(self), np.nan)
        if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None
        return _join([_read_numbers(chunk) for chunk in self._values.chunks], np.float64)

    def items(self) -> list[Any]:
        """The values as Python objects, None for missing."""
        return self._values.to_pylist()

    def factorize(self) -> tuple[NDArray[np.intp], list[Any]]:
        """The place of each value among the distinct ones in the order of first rows, -1 if missing."""
        import pyarrow as pa

        if pa.types.is_null(self._values.type) or len(self) == 0:
            return np.full(len(self), -1, dtype=np.intp), []
        if pa.types.is_dictionary(self._values.type):
            encoded = self._values.unify_dictionaries()
        else:
            encoded = self._values.dictionary_encode()
        codes = _join([_read_integers(chunk.indices, -1) for chunk in encoded.chunks], np.intp)
        return _order_by_row(codes, encoded.chunk(0).dictionary.to_pylist())

    def dates(self) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
        """Dates and times in UTC, NaT for missing or invalid values, and which values are invalid."""
        import pyarrow as pa

        is_time = pa.types.is_timestamp(self._values.type) or pa.types.is_date32(self._values.type)
        times = self._values if is_time else _parse_times(self._values)
        if times is None:
            return self._in_pandas().dates()
        found = _join([_read_times(chunk) for chunk in times.chunks], "datetime64[us]")
        if not is_time and (found < _EARLIEST).any():
            return self._in_pandas().dates()
        return found, np.zeros(len(found), dtype=bool)


def has_plain_type(kind: DataType) -> bool:
    """Whether columns of this type can be an `ArrowColumn`."""
    import pyarrow as pa

    types = pa.types
    is_of = (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_float32)
    if types.is_dictionary(kind):
        return any(check(kind.value_type) for check in (*is_of, types.is_float64))
    others = (types.is_float64, types.is_boolean, types.is_null, types.is_decimal)
    return any(check(kind) for check in (*is_of, *others, types.is_date32, types.is_timestamp))


def convert_to_pandas(values: ChunkedArray) -> Any:
    """A column as a series of pandas, of the same type as in a table; a dictionary as its values."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):  # pandas does not take all types of indices
        values = values.cast(values.type.value_type)
    return pa.table({"column": values}).to_pandas(ignore_metadata=True)["column"]


def _join(chunks: Sequence[NDArray[Any]], dtype: DTypeLike) -> NDArray[Any]:
    """All chunks; a single one is not copied."""
    if len(chunks) == 1:
        return chunks[0].astype(dtype, copy=False)
    return np.concatenate([np.empty(0, dtype=dtype), *chunks], dtype=dtype, casting="unsafe")


def _read_numbers(chunk: Array) -> FloatArray:
    import pyarrow as pa

    floats = chunk if pa.types.is_float64(chunk.type) else chunk.cast(pa.float64(), safe=False)
    numbers = _read_buffer(floats, np.float64)
    return np.where(_is_valid(floats), numbers, np.nan) if floats.null_count else numbers


def _read_integers(chunk: Array, missing: int) -> NDArray[np.int64]:
    import pyarrow as pa

    whole = chunk.cast(pa.int64())
    numbers = _read_buffer(whole, np.int64)
    return np.where(_is_valid(whole), numbers, missing) if whole.null_count else numbers


def _read_times(chunk: Array) -> NDArray[np.datetime64]:
    import pyarrow as pa

    kind = chunk.type
    unit = "D" if pa.types.is_date32(kind) else kind.unit
    counts = chunk.cast(pa.int32()) if unit == "D" else chunk
    times = _read_integers(counts, np.iinfo(np.int64).min)  # numpy holds NaT as the smallest integer
    return times.view(f"datetime64[{unit}]").astype("datetime64[us]")


def _read_buffer(array: Array, dtype: DTypeLike) -> NDArray[Any]:
    """The values of an array of fixed width, without a copy."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(
        buffer, dtype=dtype, count=len(array), offset=array.offset * np.dtype(dtype).itemsize
    )


def _is_valid(array: Array) -> NDArray[np.bool_]:
    """Which values are there, from the bits of Arrow."""
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def _order_by_row(codes: NDArray[np.intp], values: list[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Distinct values in the order of their first rows; those without a row, None and NaN are left out."""
    first = np.full(len(values) + 1, -1)  # the last is for missing values
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # what is written last is the first row
    is_there = [row >= 0 and not _is_missing(value) for row, value in zip(first[:-1], values, strict=True)]
    order = [place for place in first[:-1].argsort().tolist() if is_there[place]]
    new = np.full(len(values) + 1, -1, dtype=np.intp)
    new[order] = np.arange(len(order))
    return new[codes], _with_one_zero([values[place] for place in order])


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _with_one_zero(values: list[Any]) -> list[Any]:
    """Values in which 0.0 and -0.0, the same number, are the one that comes first, as with other engines."""
    zeros = [value for value in values if isinstance(value, float) and value == 0]
    return [zeros[0] if zeros and isinstance(value, float) and value == 0 else value for value in values]


def _parse_times(texts: ChunkedArray) -> ChunkedArray | None:
    """Texts of dates and times, all with a zone or all without; None if Arrow does not read all of them."""
    import pyarrow as pa

    plain = texts.cast(texts.type.value_type) if pa.types.is_dictionary(texts.type) else texts
    if not (pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)):
        return None
    for zone in (None, "UTC"):
        try:
            return plain.cast(pa.timestamp("us", tz=zone))
        except pa.ArrowInvalid:
            continue
    return None
