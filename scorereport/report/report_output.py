"""Output of reports and studies to files: HTML first, and each file completely or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from scorereport._utils import json_documents
from scorereport._utils.clock import fixed_time, read_time
from scorereport._utils.files import write_bytes, write_together
from scorereport._utils.formatting import join_words
from scorereport._utils.machine import collector_paused
from scorereport._utils.progress import report_stage, report_work
from scorereport._utils.rules import check_result
from scorereport._utils.work_plan import Stage
from scorereport.configuration.configuration_source import as_configuration
from scorereport.configuration.configuration_tables import CheckpointsTable
from scorereport.configuration.section_choice import check_section_choice
from scorereport.errors import UsageError
from scorereport.evaluation.selection.choice import select
from scorereport.reference.reference_documents import Certificate
from scorereport.report.assembly import describe_report, list_parts, plan_report
from scorereport.report.document_context import describe_study
from scorereport.report.figure_processes import drawing_ahead
from scorereport.report.output_formats import check_package, describe_formats, find_format
from scorereport.report.page_policy import add_policy, check_self_contained
from scorereport.report.pdf import Attachment, render_pdf
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_record import build_report
from scorereport.report.section_parts import MarkedFigures
from scorereport.report.sections import list_sections
from scorereport.report.signatures import open_signer
from scorereport.report.templates import embed_fonts, hash_templates, render_html
from scorereport.results.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from scorereport.configuration import Configuration
    from scorereport.configuration.configuration_source import ConfigurationSource
    from scorereport.configuration.limit_changes import LimitProvenance
    from scorereport.evaluation.selection.selection_records import Selection
    from scorereport.history.trend.drift_records import Trend
    from scorereport.reference.reference_documents import Study
    from scorereport.report.output_formats import OutputFormat
    from scorereport.report.report_record import Report


def select_checkpoint(
    configuration: Configuration | None,
    file: str | Path | None = None,
    *,
    classes: Sequence[object] | None = None,
    normalize: bool = False,
) -> Selection | None:
    """Select among the checkpoints of a file, given or configured; None if there is no such file.

    The path of a configured file is relative to the configuration. `classes` and `normalize` are those of
    the evaluation, and matter if the file contains predictions.
    """
    table = CheckpointsTable() if configuration is None else configuration.checkpoints
    if file is None and not table.file:
        if table != CheckpointsTable():
            raise UsageError("`checkpoints.file` is missing. To fix: name the file with the checkpoints.")
        return None
    folder = "" if configuration is None else configuration.folder
    return select(
        Path(file) if file is not None else Path(folder, table.file),
        checkpoint=table.column,
        outcome=table.outcome or None,
        forecasts=table.forecasts or None,
        classes=classes if table.outcome else None,
        normalize=normalize and bool(table.outcome),
        weight=table.weight or None,
        score=table.score,
        patience=table.patience,
        directions=table.directions or None,
    )


_STUDY_NAME = "validation-report"


def write_report(  # noqa: PLR0913  # each argument is a choice of the caller
    evaluation: Evaluation,
    path: str | Path,
    *,
    certificate: Certificate | None = None,
    selection: Selection | None = None,
    config: ConfigurationSource | None = None,
    profile: str | None = None,
    omit: str | Sequence[str] | None = None,
    checklists: str | Sequence[str] | None = None,
    templates: str | Path | None = None,
    date: str | None = None,
    sign: str | Path | None = None,
    password: str | None = None,
) -> Path:
    """Write a report, or a file for other tools, in the format of the ending of its name.

    Parameters
    ----------
    evaluation : the evaluation to report
    path : the file to write; an existing file is replaced once the new one is complete. Its ending is one of
        {formats}
    certificate : the certificate of these results, from `certify`
    selection : the choice of the model among checkpoints, from `select`; by default that of the configuration
    config : a TOML file with texts, people and limits, or a dictionary with the same tables, such as
        `{"limits": {"brier": 0.2}}`; see docs/configuration.md
    profile : how much a .pdf or .html contains: "summary", "standard" or "full"; by default that of the
        configuration, or else "standard"
    omit : names of sections to leave out of a .pdf or .html; by default those of the configuration
    checklists : names of checklists, such as "tripod-ai", or .toml files, for the annex of a .pdf or .html;
        by default those of the configuration
    templates : a folder with templates that replace those of the package with the same name
    date : the date of the report, by default now; the same date gives the same bytes
    sign, password : a PKCS#12 file (.p12) with which to sign a PDF, and its password

    Examples
    --------
    >>> import scorereport as sr
    >>> evaluation = sr.evaluate([0, 1, 1, 0], {"model": [0.2, 0.7, 0.8, 0.4]}, resamples=0)
    >>> sr.write_report(evaluation, "model-card.md", date="2026-11-15")  # doctest: +SKIP
    PosixPath('model-card.md')
    """
    check_result(evaluation, "evaluation", Evaluation, "sr.evaluate")
    if certificate is not None:
        check_result(certificate, "certificate", Certificate, "sr.certify")
    target = check_name(path)
    sections = check_section_choice(profile, omit, checklists=checklists)
    signer = None if sign is None else open_signer(check_signed(Path(sign), [target]), password=password)
    configuration = as_configuration(config)
    folder = find_templates(configuration, templates)
    chosen = selection or _select_for_evaluation(evaluation, configuration)
    with fixed_time(None if date is None else read_time(date)):
        report = prepare_report(evaluation, certificate, configuration, templates=folder, selection=chosen)
    return write_pages(report.with_sections(sections), [target], templates=folder, sign=signer)[0]


if write_report.__doc__:  # absent under python -OO
    _listed = fill(describe_formats(), 98, subsequent_indent=" " * 8)
    write_report.__doc__ = write_report.__doc__.replace("{formats}", _listed)


def _select_for_evaluation(evaluation: Evaluation, configuration: Configuration | None) -> Selection | None:
    """Return the configured choice among checkpoints, with the classes of the evaluation."""
    classes = evaluation.data.classes
    return select_checkpoint(
        configuration,
        classes=None if classes is None else classes.labels,
        normalize=classes is not None and bool(classes.rescaled),
    )


def prepare_report(
    evaluation: Evaluation,
    certificate: Certificate | None,
    configuration: Configuration | None,
    *,
    templates: Path | None = None,
    command: str = "",
    overridden: Collection[str] = (),
    selection: Selection | None = None,
    trend: Trend | None = None,
    limit_provenance: LimitProvenance | None = None,
) -> Report:
    """Build a report with the provenance of this run, to be rendered with these templates."""
    return build_report(
        evaluation,
        trace_provenance(command=command, templates_sha256=hash_templates(templates)),
        certificate=certificate,
        configuration=configuration,
        overridden=overridden,
        selection=selection,
        trend=trend,
        limit_provenance=limit_provenance,
    )


def check_signed(certificate: Path, paths: Sequence[Path]) -> Path:
    """Return the certificate; refuse it if there is no PDF to sign."""
    if not any(path.suffix.lower() == ".pdf" for path in paths):
        raise UsageError(f"Only a PDF can be signed; got {join_words(path.name for path in paths)}.")
    return certificate


def find_templates(configuration: Configuration | None, templates: str | Path | None = None) -> Path | None:
    """Return the folder of the user's templates: the one given, or else the configured one."""
    if templates is not None:
        return Path(templates)
    if configuration is None or not configuration.report.templates:
        return None
    return Path(configuration.folder, configuration.report.templates)


@contextmanager
def drawing_pages(paths: Sequence[Path]) -> Iterator[None]:
    """Get ready to draw the pages of these files while the block evaluates what they show."""
    formats = [find_format(path) for path in paths]
    report_work(formats=tuple(each.ending for each in formats))
    if not any(each.has_figures for each in formats):
        yield
        return
    list_sections()  # loads the sections, which the process that draws then has as well
    with drawing_ahead():
        yield


def write_pages(
    report: Report,
    paths: Sequence[Path],
    *,
    templates: Path | None = None,
    sign: Callable[[bytes], bytes] | None = None,
    announce: Callable[[Path], None] | None = None,
) -> list[Path]:
    """Write a report to all paths, each in the format of its ending: files to read at once, then the PDF.

    All other files are written together before the PDF, which takes longest, is laid out; if that fails, they
    stay. `announce` is called with each path when its file is complete.
    """
    renderer = _Renderer(report, templates)
    for is_slow in (False, True):
        contents = {
            path: renderer.render(find_format(path), sign)
            for path in paths
            if find_format(path).is_slow is is_slow
        }
        for written in write_together(contents):
            if announce is not None:
                announce(written)
    return list(paths)


def render_report(report: Report, endings: set[str], *, templates: Path | None = None) -> dict[str, bytes]:
    """Render a report in each format of `endings`, ".html" and ".pdf", and always as ".json"."""
    renderer = _Renderer(report, templates)
    ordered = (".json", *sorted(endings - {".json"}))
    return {ending: renderer.render(find_format(f"report{ending}")) for ending in ordered}


class _Renderer:
    """Renders the formats of one report; what several of them show is described and drawn once."""

    def __init__(self, report: Report, templates: Path | None) -> None:
        self.report = report
        self._templates = templates
        self._rendered: dict[str, bytes] = {}

    def render(self, form: OutputFormat, sign: Callable[[bytes], bytes] | None = None) -> bytes:
        """Return the report in a format; a PDF is signed if `sign` is given."""
        ending = form.ending
        if ending not in self._rendered:
            content = form.render(self)
            self._rendered[ending] = sign(content) if sign is not None and ending == ".pdf" else content
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
            page = render_html("report.html", context, templates=self._templates)
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


def check_name(path: str | Path) -> Path:
    """Return the path of a report; refuse an unknown ending, a missing package or a missing folder."""
    target = Path(path)
    check_package(find_format(target), target.name)
    if not target.parent.is_dir():
        raise UsageError(
            f"The folder {target.parent} does not exist. To fix: create it, or write to another folder."
        )
    if target.is_dir():
        raise UsageError(f"{target} is a folder; give the name of a file.")
    return target


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
