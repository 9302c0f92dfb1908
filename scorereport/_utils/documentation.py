"""Citations of the documentation: by title and version, because a reader of a report has no repository."""

from __future__ import annotations

from enum import StrEnum

from scorereport._utils.version import package_version


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
