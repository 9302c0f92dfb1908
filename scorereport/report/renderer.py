"""Rendering of a report in all its formats; what several of them show is described and drawn once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from scorereport._utils.machine import collector_paused
from scorereport._utils.progress import report_stage
from scorereport._utils.work_plan import Stage
from scorereport.plots.canvas import load_matplotlib
from scorereport.report.assembly import describe_report, list_parts, plan_report
from scorereport.report.methods.measured_coverage import read_coverage
from scorereport.report.output_formats import find_format
from scorereport.report.page_policy import add_policy, check_self_contained
from scorereport.report.pdf import Attachment, render_pdf
from scorereport.report.section_parts import MarkedFigures
from scorereport.report.sections import list_sections
from scorereport.report.templates import compile_templates, embed_fonts, hash_templates, render_html

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.report.report_record import Report

_PAGE = "report.html"


def load_renderer() -> None:
    """Load what pages need, before it is known what they show: a page is rendered without content."""
    from scorereport.report import report_record  # noqa: F401  # the report that is received

    list_sections()
    compile_templates(_PAGE, "base.html", "macros.html", "*.css", "sections/*.html")
    load_matplotlib()
    read_coverage()
    page = "<html><head><style>p { margin: 0 }</style></head><body><p>p</p></body></html>"
    check_self_contained(page)
    embed_fonts(page)


class Renderer:
    """Renders the formats of one report; what several of them show is described and drawn once."""

    def __init__(self, report: Report, templates: Path | None) -> None:
        self.report = report
        self._templates = templates
        self._rendered: dict[str, bytes] = {}

    def render(self, ending: str) -> bytes:
        """Render the report in the format of an ending, once."""
        if ending not in self._rendered:
            self._rendered[ending] = find_format(f"report{ending}").render(self)
        return self._rendered[ending]

    def render_json(self) -> bytes:
        """Render the results document."""
        return self.report.to_json().encode()

    def render_html(self) -> bytes:
        """Render the page."""
        html = embed_fonts(add_policy(self._unfilled))  # while the figures are drawn
        return self._figures.fill(html).encode()

    def render_pdf(self) -> bytes:
        """Render the page on paper."""
        page = self._page
        report_stage(Stage.PDF)
        attachments = _attach(self.report, self.render_json())
        return render_pdf(page, attachments=attachments, created=self.report.provenance.time)

    @cached_property
    def _page(self) -> str:
        """The page with all figures, from which the PDF is made."""
        return self._figures.fill(self._unfilled)

    @cached_property
    def _unfilled(self) -> str:
        """The page before its figures are drawn."""
        report_stage(Stage.PAGES)
        context, _ = self._planned
        with collector_paused():
            page = render_html(_PAGE, context, templates=self._templates)
            check_self_contained(page)
        return page

    @property
    def _figures(self) -> MarkedFigures:
        return self._planned[1]

    @cached_property
    def _planned(self) -> tuple[dict[str, Any], MarkedFigures]:
        """What the templates show, and the figures, which are drawn from now on."""
        # templates of users may compute with the sizes of figures, which are then drawn first
        describe = plan_report if self._templates is None else describe_report
        with collector_paused():
            context = describe(self.report, templates_sha256=hash_templates(self._templates))
            return context, MarkedFigures(list_parts(context))


def _attach(report: Report, results: bytes) -> list[Attachment]:
    """Return the attachments of a PDF: the results, and the configuration if there is one."""
    source = report.configuration_source
    files = [
        Attachment(
            name="results.json",
            content=results,
            description="All results of this report, from which it can be rendered again",
            relationship="Data",
        )
    ]
    if source.text:
        files.append(
            Attachment(
                name=source.name,
                content=source.text.encode(),
                description="The configuration of this report",
                relationship="Source",
            )
        )
    return files
