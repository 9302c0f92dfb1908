"""The array types that results carry, and how a document writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import CoreSchema


class _AsList:
    """Tells pydantic to read and write an array as a list of numbers.

    pydantic is imported only when a document is read or written: kernels stay light.
    """

    def __init__(self, dtype: type[np.generic]) -> None:
        self.dtype = dtype

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> CoreSchema:
        from pydantic_core import core_schema

        item = core_schema.float_schema() if self.dtype is np.float64 else core_schema.int_schema()
        return core_schema.no_info_after_validator_function(
            lambda values: read_only(np.array(values, dtype=self.dtype)), core_schema.list_schema(item)
        )


FloatArray = Annotated[NDArray[np.float64], _AsList(np.float64)]
IntArray = Annotated[NDArray[np.int64], _AsList(np.int64)]
#: Counts are integers and exact; with fractional case weights they are sums of weights.
CountArray = NDArray[np.int64] | NDArray[np.float64]


_Array = TypeVar("_Array", bound=NDArray[Any])


def read_only(array: _Array) -> _Array:
    """A view that cannot be written through, as results must not change after the fact."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_immutable(array: _Array) -> _Array:
    """The array if nobody can write to it, nor to one that it is a view of; else a copy of this kind.

    What pandas lends cannot be written to, and changes with its table all the same.
    """
    owner = array if array.base is None else array.base
    if not array.flags.writeable and isinstance(owner, np.ndarray) and not owner.flags.writeable:
        return array
    return set_read_only(array.copy())


def set_read_only(array: _Array) -> _Array:
    """The same array, never to be written to; only for who made it."""
    array.flags.writeable = False
    return array


def bits_equal(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """Whether two arrays hold the same values of the same type, to the last bit."""
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
