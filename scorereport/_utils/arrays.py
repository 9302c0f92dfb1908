"""Array types of results, their form in JSON documents, read-only arrays, and chunks of rows."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import CoreSchema


class _AsList:
    """Annotation by which pydantic reads and writes an array as a list of numbers.

    pydantic is imported only when a document is read or written, so that kernels do not need it.
    """

    def __init__(self, dtype: type[np.generic]) -> None:
        self.dtype = dtype

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> CoreSchema:
        from pydantic_core import core_schema

        if self.dtype is np.float64:
            items = core_schema.list_schema(core_schema.float_schema())
            return core_schema.no_info_after_validator_function(_pack_numbers, items)
        return core_schema.no_info_after_validator_function(
            lambda values: read_only(np.array(values, dtype=self.dtype)),
            core_schema.list_schema(core_schema.int_schema()),
        )


def _pack_numbers(values: list[float]) -> NDArray[np.float64]:
    """Return numbers as a read-only array, in less than half of the time that NumPy takes for a list."""
    return np.frombuffer(pack(f"{len(values)}d", *values))


FloatArray = Annotated[NDArray[np.float64], _AsList(np.float64)]
IntArray = Annotated[NDArray[np.int64], _AsList(np.int64)]
#: Counts are integers and exact; with fractional case weights they are sums of weights.
CountArray = NDArray[np.int64] | NDArray[np.float64]


#: Rows of a chunk: few enough to stay in the cache of a processor.
CHUNK_ROWS = 1 << 16
#: Rows whose numbers fit into the cache of a processor core together.
CACHED_ROWS = 1 << 14

_Array = TypeVar("_Array", bound=NDArray[Any])


def row_chunks(n: int, size: int = CHUNK_ROWS) -> list[slice]:
    """Return consecutive chunks of n rows."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def sum_over_parts(values: Callable[[slice], NDArray[np.float64]], rows: slice) -> float:
    """Sum what a function returns for rows, in parts that stay in the cache: no array of all rows is made.

    The sums of halves are added, as in numpy's pairwise summation: rounding errors grow as slowly.
    """
    n = rows.stop - rows.start
    if n <= CACHED_ROWS:
        return float(values(rows).sum())
    middle = rows.start + n // 2
    halves = slice(rows.start, middle), slice(middle, rows.stop)
    return sum(sum_over_parts(values, half) for half in halves)


def read_only(array: _Array) -> _Array:
    """Return a read-only view, as results must not change afterwards."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_immutable(array: _Array) -> _Array:
    """Return the array if neither it nor the array it is a view of is writeable; else a read-only copy.

    A view that pandas hands out is read-only, but still changes with its table.
    """
    owner = array if array.base is None else array.base
    if not array.flags.writeable and isinstance(owner, np.ndarray) and not owner.flags.writeable:
        return array
    return set_read_only(array.copy())


def set_read_only(array: _Array) -> _Array:
    """Make an array read-only and return it; only for arrays that the caller has created."""
    array.flags.writeable = False
    return array


def bits_equal(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """Whether two arrays hold the same values of the same type, to the last bit."""
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
