"""The declaration of a section: everything that the rest of the package must know of it, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.configuration_tables import Profile
from scorereport.configuration.limit_records import ModelKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.report.section_parts import SectionContent

    Describer = Callable[..., SectionContent | None]

__all__ = ["BINARY", "CLASSES", "Profile", "Section"]

#: Kinds of models for which a section may be.
BINARY = (ModelKind.BINARY,)
CLASSES = (ModelKind.MULTICLASS, ModelKind.ORDINAL)


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """A section of the report, declared in the module that describes it.

    `name` is its key in `report.omit`, its address in the page and the name of its template. Sections are
    read in the order of `order`, whose numbers have gaps for new ones. `describe` returns what the section
    shows, or None if there is nothing to show. For several classes, `describe_classes` replaces it if it is
    given, and has a template of its own, `class-NAME.html`. `profile` is the shortest report that contains
    the section. A describer takes the report, and the values that `needs` names as keywords:
    `templates_sha256` (of all templates), `present` (names of sections before) or `further` (titles of
    sections that only the full report has, by name). Parts whose keys match
    `full_parts` are in the full report only: figures that show the results of others in another way.
    """

    name: str
    title: str
    order: int
    describe: Describer
    describe_classes: Describer | None = None
    kinds: tuple[ModelKind, ...] = (*BINARY, *CLASSES)
    profile: Profile = Profile.FULL
    needs: tuple[str, ...] = ()
    full_parts: str = ""

    def find_describer(self, kind: str) -> Describer:
        """Return the function that describes the section for models of a kind."""
        return self.describe_classes if self.describe_classes and kind in CLASSES else self.describe

    def find_template(self, kind: str) -> str:
        """Return the name of the template for models of a kind."""
        variant = "class-" if self.describe_classes and kind in CLASSES else ""
        return f"sections/{variant}{self.name}.html"
