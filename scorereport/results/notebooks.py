"""What a notebook shows of an evaluation, drawn by whatever the package has registered.

Results know nothing of reports, which are drawn from them. The package itself, which knows both, registers
the renderer when it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_renderers: list[Callable[[Any], str]] = []


def register_renderer(render: Callable[[Any], str]) -> None:
    """Let this function draw evaluations in notebooks, in place of the one before."""
    _renderers[:] = [render]


def render_notebook(evaluation: Any) -> str:
    """A fragment of HTML with the main tables and diagrams of an evaluation."""
    return _renderers[0](evaluation)
