"""The table of sections in docs/configuration.md, written from their declarations by `make docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.files import write_text
from scorereport.configuration import ModelKind
from scorereport.report.sections import list_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"
_BEGIN, _END = "<!-- sections: written by `make docs` -->\n", "<!-- end of sections -->\n"


def render_section_table() -> str:
    """Render a line for each section: name in `omit`, title, the shortest report with it, and models."""
    lines = [
        f"| `{s.name}` | {s.title} | {s.profile.value} | {_name_kinds(s.kinds)} |\n" for s in list_sections()
    ]
    return "".join(["| name | section | shortest report | models |\n|---|---|---|---|\n", *lines])


def _name_kinds(kinds: Sequence[ModelKind]) -> str:
    return "all" if set(kinds) == set(ModelKind) else ", ".join(kinds)


def replace_table(page: str) -> str:
    """Return the page with its table of sections written anew."""
    between = re.compile(f"(?<={re.escape(_BEGIN)}).*(?={re.escape(_END)})", re.DOTALL)
    return between.sub(lambda _: render_section_table(), page)


if __name__ == "__main__":
    write_text(PAGE, replace_table(PAGE.read_text(encoding="utf-8")))
