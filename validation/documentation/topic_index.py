"""Extension of Sphinx that writes what the package needs to know of the site.

These are topics.json, the topics with their addresses for `scorereport docs`, and the digest of the sources.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from docutils import nodes

from scorereport._utils.documentation import TOPICS
from validation.documentation.source_digest import DIGEST_FILE, digest_sources

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Pages whose headings are topics.
_PAGES_OF_TERMS = ("glossary",)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("build-finished", _write_topics)
    return {"parallel_read_safe": True}


def _write_topics(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        text = json.dumps(list_topics(app), indent=0, ensure_ascii=False, sort_keys=True)
        (app.outdir / TOPICS).write_text(text, encoding="utf-8")
        (app.outdir / DIGEST_FILE).write_text(digest_sources(app.srcdir.parent), encoding="utf-8")


def list_topics(app: Sphinx) -> dict[str, str]:
    """Return the address of each topic: public names, terms of the glossary, and pages; pages come first."""
    found: dict[str, str] = {}
    for name, entry in app.env.domains.python_domain.objects.items():
        address = f"{entry.docname}.html#{entry.node_id}"
        short = name.removeprefix("scorereport.")
        found |= dict.fromkeys((name, short, f"sr.{short}"), address)
        found.setdefault(name.rpartition(".")[2], address)
    for page in _PAGES_OF_TERMS:
        for reference in app.env.tocs[page].findall(nodes.reference):
            if reference["anchorname"]:
                found[reference.astext().casefold()] = f"{page}.html{reference['anchorname']}"
    for page in sorted(app.env.titles, key=lambda page: -page.count("/")):  # pages of folders yield to others
        found |= dict.fromkeys(_name_page(page, app.env.titles[page].astext()), f"{page}.html")
    return found


def _name_page(page: str, title: str) -> list[str]:
    """The topics of a page: its path, its title and, unless it is the first of a folder, its name."""
    folder, _, name = page.rpartition("/")
    return [page, title.casefold(), folder if folder and name == "index" else name]
