"""Functions on evaluations that higher layers define, and that the package registers when it is imported.

The methods of an evaluation need them, but this module must not import reports and configurations, which
import the results. The package itself imports all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    #: Limits as the table `[limits]` of a configuration, or as the path of a configuration.
    Limits = Mapping[str, object] | str | Path

_functions: dict[str, Callable[..., Any]] = {}


def register_functions(
    *,
    render_notebook: Callable[[Any], str],
    list_findings: Callable[[Any], tuple[str, ...]],
    judge_limits: Callable[[Any, Limits], tuple[Any, ...]],
) -> None:
    """Register the functions that display, summarize and judge evaluations; they replace those before."""
    _functions.update(render_notebook=render_notebook, list_findings=list_findings, judge_limits=judge_limits)


def render_notebook(evaluation: Any) -> str:
    """Return a fragment of HTML with the main tables and diagrams of an evaluation."""
    shown: str = _functions["render_notebook"](evaluation)
    return shown


def list_findings(evaluation: Any) -> tuple[str, ...]:
    """Return the findings of the report on an evaluation, as sentences."""
    findings: tuple[str, ...] = _functions["list_findings"](evaluation)
    return findings


def judge_limits(evaluation: Any, limits: Limits) -> tuple[Any, ...]:
    """Return the verdicts on the numbers of an evaluation that have limits, as records."""
    judgements: tuple[Any, ...] = _functions["judge_limits"](evaluation, limits)
    return judgements
