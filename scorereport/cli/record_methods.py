"""Methods of dataclasses that commands make without compiling them.

Before version 3.13, Python compiles six methods of each frozen dataclass, one after the other; for the
hundreds of a command this is a fifth of its start. Four of them are made here by functions that take the
names of the fields. What they replace is not public: if they do not fit, dataclasses are made as usual.
"""

from __future__ import annotations

import dataclasses
import sys
from contextlib import suppress
from dataclasses import FrozenInstanceError
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import Field

_Method = TypeVar("_Method", bound="Callable[..., Any]")


def make_methods_quickly() -> None:
    """Make methods of dataclasses without compiling them, from now on."""
    if sys.version_info >= (3, 13) or not all(hasattr(dataclasses, name) for name in _MAKERS):
        return
    before = {name: getattr(dataclasses, name) for name in _MAKERS}
    vars(dataclasses).update(_MAKERS)
    with suppress(Exception):  # another version of Python may call them with other arguments
        if _are_right():
            return
    vars(dataclasses).update(before)


def _make_frozen(
    cls: type[Any], fields: Sequence[Field[Any]], _namespace: dict[str, Any]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """The methods that refuse to set and to delete fields."""
    names = frozenset(field.name for field in fields)
    base: Any = partial(super, cls)

    def refuse_to_set(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        base(self).__setattr__(name, value)

    def refuse_to_delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        base(self).__delattr__(name)

    return _named("__setattr__", refuse_to_set), _named("__delattr__", refuse_to_delete)


def _make_repr(fields: Sequence[Field[Any]], _namespace: dict[str, Any]) -> Callable[[Any], str]:
    names = [field.name for field in fields]

    def represent(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return recursive_repr()(_named("__repr__", represent))


def _make_hash(fields: Sequence[Field[Any]], _namespace: dict[str, Any]) -> Callable[[Any], int]:
    names = [field.name for field in fields]
    return _named("__hash__", lambda self: hash(tuple([getattr(self, name) for name in names])))


def _named(name: str, method: _Method) -> _Method:
    method.__name__ = name
    return method


#: Functions of `dataclasses` by name, and what replaces them.
_MAKERS: dict[str, Callable[..., Any]] = {
    "_frozen_get_del_attr": _make_frozen,
    "_repr_fn": _make_repr,
    "_hash_fn": _make_hash,
}


def _are_right() -> bool:
    """Whether a dataclass has the usual methods."""

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Sample:
        a: int
        b: str = dataclasses.field(default="x", repr=False)
        c: float = dataclasses.field(default=0.5, compare=False)

    found = Sample(a=1)
    return (
        all(_is_refused(partial(change, found)) for change in (_set_first, _delete_first))
        and repr(found).endswith(".Sample(a=1, c=0.5)")
        and hash(found) == hash((1, "x"))
        and found == Sample(a=1, c=2.0) != Sample(a=1, b="y")
    )


def _set_first(record: Any) -> None:
    record.a = 2


def _delete_first(record: Any) -> None:
    del record.a


def _is_refused(change: Callable[[], None]) -> bool:
    try:
        change()
    except FrozenInstanceError:
        return True
    return False
