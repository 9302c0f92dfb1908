"""Output of validation studies to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils import json_documents
from scorereport._utils.files import write_bytes
from scorereport._utils.progress import report_stage
from scorereport._utils.work_plan import Stage
from scorereport.errors import UsageError
from scorereport.report.document_context import describe_study
from scorereport.report.page_policy import add_policy
from scorereport.report.pdf import render_pdf
from scorereport.report.templates import embed_fonts, render_html

if TYPE_CHECKING:
    from scorereport.reference.reference_documents import Study

_STUDY_NAME = "validation-report"


def write_study(study: Study, folder: str | Path) -> list[Path]:
    """Write validation-report.json, .html and .pdf; the first two even if the PDF cannot be rendered."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    report_stage(Stage.PAGES)
    html = render_html("validation.html", describe_study(study))
    contents = {".json": json_documents.dump(study).encode(), ".html": embed_fonts(add_policy(html)).encode()}
    written = [write_bytes(target / f"{_STUDY_NAME}{ending}", body) for ending, body in contents.items()]
    report_stage(Stage.PDF)
    try:
        pdf = render_pdf(html, created=study.time)
    except UsageError as error:  # system libraries are missing
        others = " and ".join(map(str, written))
        raise UsageError(f"The PDF cannot be rendered ({error}); {others} are written.") from error
    return [*written, write_bytes(target / f"{_STUDY_NAME}.pdf", pdf)]
