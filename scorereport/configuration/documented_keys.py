"""Help of the keys of tables, from which documentation and the comments of a first configuration follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_type_hints


@dataclass(frozen=True, slots=True)
class Help:
    """What a key means, in Markdown and without the full stop; it is part of the annotation of the key."""

    sentence: str


def list_help(table: type) -> dict[str, str]:
    """Return the help of each documented key of a table, in their order."""
    return {
        name: part.sentence
        for name, annotation in get_type_hints(table, include_extras=True).items()
        for part in getattr(annotation, "__metadata__", ())
        if isinstance(part, Help)
    }
