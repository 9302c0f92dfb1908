"""Formats in which a report is written, each declared once: its ending, its content, its writer, its package.

The check of names, the help of `-o`, messages and documentation follow from the declarations. Nothing slow is
imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


class ReportRenderer(Protocol):
    """Renders one report; what several formats show is described and drawn once."""

    @property
    def report(self) -> Report:
        """The report."""

    def render_json(self) -> bytes:
        """Render the results document."""

    def render_html(self) -> bytes:
        """Render the page."""

    def render_pdf(self) -> bytes:
        """Render the page on paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFormat:
    """A format of reports; `scorereport.report.output_formats.OUTPUT_FORMATS` lists all of them."""

    #: The ending of its files, in lower case.
    ending: str
    #: What a file of this format is, as part of a sentence.
    content: str
    render: Callable[[ReportRenderer], bytes]
    #: The package that it needs, and the extra of scorereport that installs it.
    package: str = ""
    extra: str = ""
    #: Whether it shows figures, which are drawn while the evaluation runs.
    has_figures: bool = False
    #: Whether it takes long, so that all other files are written before it.
    is_slow: bool = False


def _render_workbook(renderer: ReportRenderer) -> bytes:
    from scorereport.report.workbook import render_workbook

    return render_workbook(renderer.report)


def _render_model_card(renderer: ReportRenderer) -> bytes:
    from scorereport.report.model_card import render_model_card

    return render_model_card(renderer.report).encode()


def _render_bill_of_materials(renderer: ReportRenderer) -> bytes:
    from scorereport.report.bill_of_materials import render_bill_of_materials

    return render_bill_of_materials(renderer.report).encode()


def _render_tables(renderer: ReportRenderer) -> bytes:
    from scorereport.report.table_document import render_tables

    return render_tables(renderer.report)


#: All formats. A new one is added here; an ending that ends like another comes before it.
OUTPUT_FORMATS = (
    OutputFormat(
        ending=".pdf",
        content="the report for filing",
        render=lambda renderer: renderer.render_pdf(),
        has_figures=True,
        is_slow=True,
    ),
    OutputFormat(
        ending=".html",
        content="the report as one page without scripts",
        render=lambda renderer: renderer.render_html(),
        has_figures=True,
    ),
    OutputFormat(
        ending=".xlsx",
        content="all tables as an Excel workbook",
        render=_render_workbook,
        package="openpyxl",
        extra="excel",
    ),
    OutputFormat(ending=".md", content="a model card in Markdown", render=_render_model_card),
    OutputFormat(ending=".cdx.json", content="a CycloneDX ML-BOM", render=_render_bill_of_materials),
    OutputFormat(
        ending=".tables.json", content="all tables and curves for other languages", render=_render_tables
    ),
    OutputFormat(
        ending=".json", content="the results document", render=lambda renderer: renderer.render_json()
    ),
)


def list_endings() -> str:
    """List the endings of all formats.

    >>> list_endings()
    '.pdf, .html, .xlsx, .md, .cdx.json, .tables.json or .json'
    """
    *first, last = (form.ending for form in OUTPUT_FORMATS)
    return f"{', '.join(first)} or {last}"


def describe_formats() -> str:
    """List the endings of all formats with what they are."""
    return ", ".join(f"{form.ending} ({form.content})" for form in OUTPUT_FORMATS)


def find_format(path: str | Path) -> OutputFormat:
    """Return the format of a file by its ending; refuse an unknown one.

    >>> find_format("model.cdx.json").content, find_format("results.json").content
    ('a CycloneDX ML-BOM', 'the results document')
    """
    name = Path(path).name.lower()
    # a name that is an ending and nothing else, such as ".pdf", has no ending
    found = (form for form in OUTPUT_FORMATS if name.endswith(form.ending) and name != form.ending)
    form = next(found, None)
    if form is None:
        raise UsageError(f"The name of a report must end in {list_endings()}; got {Path(path).name!r}.")
    return form


def check_package(form: OutputFormat, name: str) -> None:
    """Refuse a format whose package is not installed."""
    if form.package and not _is_installed(form.package):
        raise UsageError(f'{name} needs the package {form.package}: pip install "scorereport[{form.extra}]".')


def _is_installed(package: str) -> bool:
    return sys.modules[package] is not None if package in sys.modules else find_spec(package) is not None
