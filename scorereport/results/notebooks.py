"""The display of an evaluation in notebooks, by the renderer that the package registers.

This module must not import reports, which import the results. The package itself imports both, and registers
the renderer when it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_renderers: list[Callable[[Any], str]] = []


def register_renderer(render: Callable[[Any], str]) -> None:
    """Register the function that renders evaluations in notebooks; it replaces the one before."""
    _renderers[:] = [render]


def render_notebook(evaluation: Any) -> str:
    """Return a fragment of HTML with the main tables and diagrams of an evaluation."""
    return _renderers[0](evaluation)
