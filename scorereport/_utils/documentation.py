"""The documentation of the installed version: where its topics lie, and how reports cite its pages.

Pages are cited by title and version, because a reader of a report has no repository.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scorereport._utils.files import find_package_folder
from scorereport._utils.suggestions import suggest_name
from scorereport._utils.version import package_version
from scorereport.errors import UsageError

#: The file of the site that has the address of each topic.
TOPICS = "topics.json"
_FIRST_PAGE = "index"
_SUGGESTIONS = 4


@dataclass(frozen=True, kw_only=True)
class Documentation:
    """A folder of pages, and the address of each topic in it; `is_site` if the pages are HTML."""

    folder: Path
    topics: dict[str, str]
    is_site: bool

    def find(self, topic: str = "") -> tuple[Path, str]:
        """Return the file of a topic and the anchor in it, which may be empty."""
        wanted = topic.casefold().strip() or _FIRST_PAGE
        address = self.topics.get(topic) or self.topics.get(wanted) or self._find_near(wanted)
        path, _, anchor = address.partition("#")
        return self.folder / path, anchor

    def _find_near(self, wanted: str) -> str:
        """Return the one topic that contains all words; several or none are an error."""
        words = wanted.replace("-", " ").split()
        near = [topic for topic in self.topics if all(word in topic.casefold() for word in words)]
        addresses = {self.topics[topic] for topic in near}
        if len(addresses) == 1:
            return addresses.pop()
        close = near or self._list_similar(wanted)
        suggestion = f" Near topics: {', '.join(sorted(close, key=len)[:_SUGGESTIONS])}." if close else ""
        raise UsageError(
            f"The documentation has no topic {wanted!r}.{suggestion} `scorereport docs` opens its first page."
        )

    def _list_similar(self, wanted: str) -> list[str]:
        """Return the topics with a word of which the wanted one is probably a misspelling."""
        words = {word for topic in self.topics for word in topic.casefold().split()}
        meant = suggest_name(wanted, words)
        return [topic for topic in self.topics if meant and meant in topic.casefold()]


def find_documentation() -> Documentation:
    """Return the built site if there is one, else the pages in Markdown."""
    site = find_package_folder("documentation")
    if (site / TOPICS).is_file():
        topics = json.loads((site / TOPICS).read_text(encoding="utf-8"))
        return Documentation(folder=site, topics=topics, is_site=True)
    pages = find_package_folder("docs")
    found = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    topics = {name.removesuffix(".md"): name for name in found}
    topics |= {Path(name).stem: name for name in found if Path(name).stem not in topics}
    return Documentation(folder=pages, topics=topics, is_site=False)


class DocumentationPage(StrEnum):
    """The pages that reports and messages cite, by their titles."""

    AUDITS = "Audits: repeated evaluation of a model in production"
    COVERAGE = "Coverage study"
    GLOSSARY = "Glossary"


def cite_page(page: DocumentationPage) -> str:
    """Cite a page of the documentation of the installed version.

    >>> cite_page(DocumentationPage.GLOSSARY).partition(" documentation, ")[2]
    '"Glossary"'
    """
    return f'scorereport {package_version()} documentation, "{page}"'
