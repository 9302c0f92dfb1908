"""Functions on evaluations and reports that higher layers define; the package registers them.

The methods of an evaluation, and the names of sections in configurations, need them, but their modules must
not be imported here: they import the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.registration import call_registered

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    #: Limits as the table `[limits]` of a configuration, or as the path of a configuration.
    Limits = Mapping[str, object] | str | Path


def render_notebook(evaluation: Any) -> str:
    """Return a fragment of HTML with the main tables and diagrams of an evaluation."""
    shown: str = call_registered("render_notebook", evaluation)
    return shown


def list_findings(evaluation: Any) -> tuple[str, ...]:
    """Return the findings of the report on an evaluation, as sentences."""
    findings: tuple[str, ...] = call_registered("list_findings", evaluation)
    return findings


def judge_limits(evaluation: Any, limits: Limits) -> tuple[Any, ...]:
    """Return the verdicts on the numbers of an evaluation that have limits, as records."""
    judgements: tuple[Any, ...] = call_registered("judge_limits", evaluation, limits)
    return judgements


def list_section_names() -> tuple[str, ...]:
    """Return the names of the sections of a report that can be left out, in reading order."""
    names: tuple[str, ...] = call_registered("list_section_names")
    return names
