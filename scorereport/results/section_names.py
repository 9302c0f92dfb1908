"""The names of the sections that reports have, from the finder that the package registers.

A configuration and a checklist name sections, and lie below the report, which declares them. The package
itself registers a finder when it is imported; the modules of the report are loaded when names are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_finders: list[Callable[[], tuple[str, ...]]] = []


def register_section_finder(find: Callable[[], tuple[str, ...]]) -> None:
    """Register the function that finds the names of all sections; it replaces the one before."""
    _finders[:] = [find]


def list_section_names() -> tuple[str, ...]:
    """Return the names of the sections that can be left out, in reading order."""
    return _finders[0]()
