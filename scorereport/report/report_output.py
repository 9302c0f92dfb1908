"""Output of reports to files: HTML first, and each file completely or not at all."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from scorereport._utils.clock import fixed_time, read_time
from scorereport._utils.files import write_together
from scorereport._utils.formatting import join_words
from scorereport._utils.progress import report_stage
from scorereport._utils.rules import check_result
from scorereport._utils.work_plan import Stage
from scorereport.configuration.configuration_source import as_configuration
from scorereport.configuration.configuration_tables import CheckpointsTable
from scorereport.configuration.section_choice import check_section_choice
from scorereport.errors import UsageError
from scorereport.evaluation.selection.choice import select
from scorereport.reference.reference_documents import Certificate
from scorereport.report.output_formats import check_package, describe_formats, find_format
from scorereport.report.page_process import order_pages
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_record import build_report
from scorereport.report.signatures import open_signer
from scorereport.report.templates import hash_templates
from scorereport.results.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from scorereport.configuration import Configuration
    from scorereport.configuration.configuration_source import ConfigurationSource
    from scorereport.configuration.limit_changes import LimitProvenance
    from scorereport.evaluation.selection.selection_records import Selection
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.output_formats import OutputFormat
    from scorereport.report.renderer import Renderer
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


def write_pages(
    report: Report,
    paths: Sequence[Path],
    *,
    templates: Path | None = None,
    sign: Callable[[bytes], bytes] | None = None,
    announce: Callable[[Path], None] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> list[Path]:
    """Write a report to all paths, each in the format of its ending: files to read at once, then the PDF.

    All other files are written together before the PDF, which takes longest, is laid out; if that fails, they
    stay. `announce` is called with each path when its file is complete, and `meanwhile` while another process
    may render the report.
    """
    in_order = sorted(paths, key=lambda path: find_format(path).is_slow)
    rendering = _Rendering(report, templates, in_order, sign)
    if meanwhile is not None:
        meanwhile()
    for _, together in groupby(in_order, key=lambda path: find_format(path).is_slow):
        contents = {path: rendering.render(find_format(path)) for path in together}
        for written in write_together(contents):
            if announce is not None:
                announce(written)
    return list(paths)


def render_report(report: Report, endings: set[str], *, templates: Path | None = None) -> dict[str, bytes]:
    """Render a report in each format of `endings`, ".html" and ".pdf", and always as ".json"."""
    from scorereport.report.renderer import Renderer

    renderer = Renderer(report, templates)
    return {ending: renderer.render(ending) for ending in (".json", *sorted(endings - {".json"}))}


class _Rendering:
    """The contents of files of one report, in their order: rendered ahead by another process, or here."""

    def __init__(
        self,
        report: Report,
        templates: Path | None,
        paths: Sequence[Path],
        sign: Callable[[bytes], bytes] | None,
    ) -> None:
        endings = list(dict.fromkeys(find_format(path).ending for path in paths))
        report_stage(Stage.PAGES)
        report.to_json()  # the other process takes the document along
        self._ahead = order_pages(report, templates, endings)
        self._report = report
        self._templates = templates
        self._sign = sign
        self._known: dict[str, bytes] = {}

    def render(self, form: OutputFormat) -> bytes:
        """Return the content of a file; a PDF is signed if there is a signature."""
        ending = form.ending
        if ending not in self._known:
            if form.is_slow:
                report_stage(Stage.PDF)
            content = next(self._ahead, None) or self._renderer.render(ending)
            self._known[ending] = self._sign(content) if self._sign and ending == ".pdf" else content
        return self._known[ending]

    @cached_property
    def _renderer(self) -> Renderer:
        """Renders in this process, which may not be necessary: what it needs takes long to import."""
        from scorereport.report.renderer import Renderer

        return Renderer(self._report, self._templates)


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
