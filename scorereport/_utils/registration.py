"""Functions of higher layers that objects of lower ones offer as methods, such as `fit.plot()`.

A lower layer must not import a higher one. The package itself imports both, and registers the functions when
it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_functions: dict[str, Callable[..., Any]] = {}


def register(name: str, function: Callable[..., Any]) -> None:
    """Register a function by name; it replaces the one before."""
    _functions[name] = function


def call_registered(name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a registered function."""
    return _functions[name](*arguments, **keywords)
