"""All plots of a report, drawn from the records of an evaluation; nothing is estimated here.

Each `plot_` function returns a figure of fixed size in millimetres. The `describe_` function of the same
name returns its alternative text, which describes the figure for readers who cannot see it. Both are found in
the modules of this folder when they are first used; a new plot is declared nowhere else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import isfunction
from pkgutil import iter_modules
from typing import Any

_PREFIXES = ("plot_", "describe_", "render_")


@cache
def _find_plots() -> dict[str, Any]:
    """Return the functions of all modules of this folder that plot, describe or render a figure, by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith(_PREFIXES) and isfunction(value) and value.__module__ == module.__name__
    }


def __getattr__(name: str) -> Any:
    if name.startswith(_PREFIXES) and name in _find_plots():
        return _find_plots()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_find_plots())
