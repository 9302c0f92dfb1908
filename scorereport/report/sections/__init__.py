"""Sections of a report: what each says, from the record of the report alone.

A module of this folder declares its sections as records of `Section`; `list_sections` finds them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from scorereport.report.section_declaration import Section


@cache
def list_sections() -> tuple[Section, ...]:
    """Return all sections that modules of this folder declare, in reading order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    declared = {value for module in modules for value in vars(module).values() if isinstance(value, Section)}
    return tuple(sorted(declared, key=lambda section: section.order))
