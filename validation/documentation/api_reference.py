"""Extension of Sphinx for the API reference: the public names of modules, and their docstrings.

A line `<!-- public names of MODULE -->` in a page stands for the documentation of all names in its `__all__`.
Docstrings of the package describe a parameter in the line of its name (`level : of the interval`) or
below it; Sphinx takes what stands in that line for a type. Examples at the end get a heading.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

_PUBLIC_NAMES = re.compile(r"^<!-- public names of ([\w.]+) -->$", re.MULTILINE)
_UNDERLINE = re.compile(r"^-{3,}$")
_ENTRY = re.compile(r"^(?P<name>[*\w][*\w, ]*) : (?P<text>.+)$")
#: Sections of a docstring that list names.
_LISTS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _list_public_names)
    app.connect("autodoc-process-docstring", _process, priority=100)  # before napoleon, whose priority is 500
    return {"parallel_read_safe": True}


def _list_public_names(_: Sphinx, __: str, source: list[str]) -> None:
    source[0] = _PUBLIC_NAMES.sub(lambda found: list_public_names(found[1]), source[0])


def list_public_names(module_name: str) -> str:
    """Return the Markdown that documents the public names of a module: functions, then classes, then data.

    >>> print(list_public_names("scorereport.plots")[:67])
    ## Functions
    <BLANKLINE>
    ```{eval-rst}
    .. autofunction:: scorereport.plots.cap
    """
    module = import_module(module_name)
    by_kind: dict[str, list[str]] = {"function": [], "class": [], "data": []}
    for name in sorted(module.__all__):
        by_kind[_find_kind(getattr(module, name))].append(f"{module_name}.{name}")
    headings = {"function": "Functions", "class": "Records", "data": "Data"}
    return "\n".join(
        f"## {headings[kind]}\n\n```{{eval-rst}}\n" + "".join(map(_write_directive(kind), names)) + "```\n"
        for kind, names in by_kind.items()
        if names
    )


def _find_kind(thing: object) -> str:
    return "class" if inspect.isclass(thing) else "function" if inspect.isfunction(thing) else "data"


def _write_directive(kind: str) -> Callable[[str], str]:
    """Data have no docstrings of their own: the page describes them."""
    directive = "py:data" if kind == "data" else f"auto{kind}"
    return lambda name: f".. {directive}:: {name}\n"


def _process(_: Sphinx, __: str, ___: str, ____: object, _____: object, lines: list[str]) -> None:
    lines[:] = arrange_docstring(lines)


def arrange_docstring(lines: list[str]) -> list[str]:
    """Put descriptions of parameters below their names, and a heading above examples.

    >>> arrange_docstring(["Parameters", "----------", "x : a number", "    above 0"])
    ['Parameters', '----------', 'x', '    a number', '    above 0']
    """
    arranged: list[str] = []
    section = ""
    for position, line in enumerate(lines):
        if position and _UNDERLINE.match(line):
            section = lines[position - 1]
        if line.startswith(">>>") and not any(earlier.startswith(">>>") for earlier in arranged):
            section = "Examples"
            arranged += ["Examples", "--------"]
        found = _ENTRY.match(line) if section in _LISTS else None
        arranged += [line] if found is None else [found["name"], f"    {found['text']}"]
    return arranged
