"""Functions on evaluations that higher layers define, and that the package registers when it is imported.

The methods of an evaluation need them, but this module must not import reports and configurations, which
import the results. The package itself imports all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Limits as the table `[limits]` of a configuration, or as the path of a configuration.
Limits = Mapping[str, object] | str | Path


@dataclass(frozen=True, slots=True, kw_only=True)
class HigherFunctions:
    """The display in notebooks, the findings of the report, and verdicts on limits as records."""

    render_notebook: Callable[[Any], str]
    list_findings: Callable[[Any], tuple[str, ...]]
    judge_limits: Callable[[Any, Limits], tuple[Any, ...]]


_registered: list[HigherFunctions] = []


def register_functions(functions: HigherFunctions) -> None:
    """Register the functions; they replace those before."""
    _registered[:] = [functions]


def registered_functions() -> HigherFunctions:
    """Return the registered functions."""
    return _registered[0]
