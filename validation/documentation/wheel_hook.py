"""Hook of hatchling that puts the documentation site into the wheel, if it was built from these sources.

`make wheel` builds both. A wheel that pip builds from the repository has the pages in Markdown only: to build
the site, the whole package must run, which an isolated build does not have.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DocumentationHook(BuildHookInterface):  # type: ignore[misc]
    """Adds build/site to the wheel as scorereport/documentation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the site to a wheel; an editable installation reads it from the repository."""
        if version == "editable":
            return
        root = Path(self.root)
        # The file alone, because the package cannot be imported in an isolated build.
        digests = runpy.run_path(str(root / "validation" / "documentation" / "source_digest.py"))
        if digests["is_current"](root):
            build_data["force_include"][str(root / "build" / "site")] = "scorereport/documentation"
        else:
            self.app.display_warning(
                "The documentation site is left out: it is not built from these sources."
            )
