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

from scorereport._utils.checks import check_option

_PREFIXES = ("plot_", "describe_", "render_")
#: The public plots, and the modules that define them.
_PUBLIC = {
    "cap": "roc_curves",
    "components": "mcb_dsc_plot",
    "confusion": "confusion_matrix",
    "decision_curve": "decision_curves",
    "distribution": "forecast_distributions",
    "groups": "forest_plots",
    "murphy": "murphy_diagram",
    "murphy_difference": "murphy_diagram",
    "regret": "decision_curves",
    "reliability": "reliability_diagram",
    "retention": "retention_curves",
    "roc": "roc_curves",
    "trend": "period_plots",
    "triptych": "triptych_figure",
}

__all__ = [*_PUBLIC]  # noqa: PLE0604


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


def draw_kind(source: Any, kind: str, **keywords: Any) -> Any:
    """Draw the public plot of a name, as `evaluation.plot` and `fit.plot` do."""
    return __getattr__(check_option(kind, "kind", tuple(_PUBLIC)))(source, **keywords)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    if name.startswith(_PREFIXES) and name in _find_plots():
        return _find_plots()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
