"""Documents to files: each whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scorereport import document
from scorereport.errors import UsageError
from scorereport.evaluation import Evaluation
from scorereport.files import write_bytes
from scorereport.reference.certificate import Certificate
from scorereport.report.context import describe_report, describe_study
from scorereport.report.render import render_html, render_pdf

if TYPE_CHECKING:
    from scorereport.findings import Study

VERSION: Literal[1] = 1
_STUDY_NAME = "validation-report"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """All that a report shows: an evaluation, and its certificate if there is one."""

    version: Literal[1] = VERSION
    evaluation: Evaluation
    certificate: Certificate | None = None


def write_report(evaluation: Evaluation, path: str | Path, *, certificate: Certificate | None = None) -> Path:
    """Write a report as .html, .pdf or .json, by the ending of its name."""
    target = check_name(path)
    check_certificate(certificate, evaluation)
    ending = target.suffix.lower()
    if ending == ".json":
        return write_bytes(target, render_json(evaluation, certificate).encode())
    html = render_html("report.html", describe_report(evaluation, certificate))
    return write_bytes(target, render_pdf(html) if ending == ".pdf" else html.encode())


def render_json(evaluation: Evaluation, certificate: Certificate | None) -> str:
    """An evaluation and its certificate as one document."""
    return document.dump(Report(evaluation=evaluation, certificate=certificate))


def check_name(path: str | Path) -> Path:
    """The path of a report, if its ending tells what to write."""
    target = Path(path)
    if target.suffix.lower() not in {".html", ".pdf", ".json"}:
        raise UsageError(f"The name of a report must end in .html, .pdf or .json; got {target.name!r}.")
    return target


def check_certificate(certificate: Certificate | None, evaluation: Evaluation) -> None:
    """Refuse a certificate of other results."""
    if certificate is not None and certificate.results_sha256 != evaluation.sha256:
        raise UsageError(
            f"The certificate is of other results: it names {certificate.results_sha256[:12]}…, these are "
            f"{evaluation.sha256[:12]}…. Certify this evaluation."
        )


def write_study(study: Study, folder: str | Path) -> list[Path]:
    """Write validation-report.json, .html and .pdf; a PDF that cannot be made does not cost the others."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    html = render_html("validation.html", describe_study(study))
    contents = {".json": document.dump(study).encode(), ".html": html.encode()}
    written = [write_bytes(target / f"{_STUDY_NAME}{ending}", body) for ending, body in contents.items()]
    try:
        pdf = render_pdf(html)
    except (ImportError, OSError) as error:  # the libraries of the system are not there
        there = " and ".join(map(str, written))
        raise UsageError(f"The PDF cannot be made ({error}); {there} are written.") from error
    return [*written, write_bytes(target / f"{_STUDY_NAME}.pdf", pdf)]
