"""The report as a record: everything that its pages show, to render them again without the data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from scorereport._utils import json_documents
from scorereport._utils.clock import read_time
from scorereport._utils.representation import short_repr
from scorereport.configuration import Configuration, check_configuration, parse_configuration
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_changes import LimitProvenance
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict, find_worst_verdict
from scorereport.configuration.section_choice import describe_options
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.selection.choice import check_selection
from scorereport.evaluation.selection.selection_records import Selection
from scorereport.history.trend.drift_records import Trend
from scorereport.reference.reference_documents import Certificate
from scorereport.report.checklists import Checklist, read_checklists
from scorereport.report.provenance import Provenance, trace_provenance
from scorereport.results.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Collection

    from scorereport.configuration.section_choice import SectionChoice

VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSource:
    """The configuration as written, with the name of its file."""

    name: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """An evaluation with its certificate, the texts and limits of its configuration, and the verdicts.

    `overridden` names settings of the configuration that options replaced. `origin` is the provenance of
    results that were reported before, under another configuration. `selection` is the choice of the model
    among checkpoints, if it is to be shown. `trend` compares an audit with earlier ones, `limit_provenance`
    its limits with those of the audit before.
    """

    version: Literal[1] = VERSION
    evaluation: Evaluation
    provenance: Provenance
    certificate: Certificate | None = None
    configuration_source: ConfigurationSource = field(default_factory=ConfigurationSource)
    results_sha256: str = ""
    judgements: tuple[Judgement, ...] = ()
    checklists: tuple[Checklist, ...] = ()
    overridden: tuple[str, ...] = ()
    origin: Provenance | None = None
    selection: Selection | None = None
    limit_provenance: LimitProvenance | None = None
    trend: Trend | None = None  # last, because verification finds the record before at the end

    OPTIONAL: ClassVar = ("limit_provenance",)

    __repr__ = short_repr

    @cached_property
    def configuration(self) -> Configuration:
        """The configuration, read from its source."""
        source = self.configuration_source
        return parse_configuration(source.text, source.name) if source.text else Configuration()

    def with_sections(self, choice: SectionChoice) -> Report:
        """Return the report with other sections; its document, which has all results, stays the same."""
        chosen, table = replace(self), choice.replace_in(self.configuration.report)
        configuration = vars(chosen)["configuration"] = replace(self.configuration, report=table)
        if choice.checklists is not None:  # files named by an option are relative to the current folder
            vars(chosen)["shown_checklists"] = read_checklists(replace(configuration, folder=""))
        return chosen

    @cached_property
    def shown_checklists(self) -> tuple[Checklist, ...]:
        """The checklists of the pages: those of the document, unless options name others."""
        return self.checklists

    @property
    def section_options(self) -> str:
        """The options of `scorereport report` that render these sections from the document."""
        return describe_options(replace(self).configuration.report, self.configuration.report)

    @property
    def verdict(self) -> LimitVerdict | None:
        """The worst verdict on any limit; None if there are no limits."""
        return find_worst_verdict(self.judgements)

    def to_json(self) -> str:
        """Return the report as a JSON document."""
        return self._document

    @cached_property
    def _document(self) -> str:
        """The JSON document, written once: it is filed, attached to the PDF, and hashed for the pages."""
        return json_documents.dump(self, {"evaluation": self.evaluation.to_json()})

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of report documents; `scorereport/schemas` holds it as a file."""
        return json_documents.json_schema(cls, f"scorereport report, version {VERSION}")


def build_report(
    evaluation: Evaluation,
    provenance: Provenance,
    *,
    certificate: Certificate | None = None,
    configuration: Configuration | None = None,
    overridden: Collection[str] = (),
    selection: Selection | None = None,
    trend: Trend | None = None,
    limit_provenance: LimitProvenance | None = None,
) -> Report:
    """Judge an evaluation by the limits of a configuration, and return the report.

    The settings of the evaluation must be those of the configuration, except those in `overridden`.
    """
    configuration = configuration or Configuration()
    configured = set(configuration.evaluation.given)
    check_certificate(certificate, evaluation)
    check_configuration(configuration, evaluation, overridden=overridden)
    return Report(
        evaluation=evaluation,
        provenance=provenance,
        certificate=certificate,
        configuration_source=_configuration_source(configuration),
        results_sha256=evaluation.sha256,
        judgements=judge(evaluation, configuration.limits),
        checklists=read_checklists(configuration),
        overridden=tuple(sorted(configured.intersection(overridden))),
        selection=selection,
        trend=trend,
        limit_provenance=limit_provenance,
    )


def reconfigure_report(report: Report, configuration: Configuration, provenance: Provenance) -> Report:
    """Return a report of the same results under another configuration, with the provenance of now."""
    again = build_report(
        report.evaluation,
        provenance,
        certificate=report.certificate,
        configuration=configuration,
        overridden=report.overridden,
        selection=report.selection,
        trend=report.trend,
    )
    return replace(again, origin=report.origin or report.provenance)


def read_report(path: str | Path, *, templates_sha256: str = "") -> Report:
    """Read a report document, or build a report from the document of an evaluation.

    A document whose parts contradict each other is refused.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"The results document {path} cannot be read: {error.strerror}.") from error
    json_documents.check_version(text, VERSION, str(path))
    if not json_documents.has_field(text, "evaluation"):
        return build_report(Evaluation.from_json(path), trace_provenance(templates_sha256=templates_sha256))
    report = json_documents.load(Report, text, str(path))
    try:
        read_time(report.provenance.time)
        check_certificate(report.certificate, report.evaluation)
        if report.selection is not None:
            check_selection(report.selection)
        expected = judge(report.evaluation, report.configuration.limits)
    except UsageError as error:
        raise DataError(f"{path} contradicts itself: {error}") from error
    if report.results_sha256 != report.evaluation.sha256:
        raise DataError(_explain_refusal(path, report, "the hash it records is not that of its results"))
    if json_documents.encode(expected) != json_documents.encode(report.judgements):
        raise DataError(
            _explain_refusal(path, report, "its verdicts do not follow from its numbers and limits")
        )
    return report


def _explain_refusal(path: str | Path, report: Report, contradiction: str) -> str:
    """Explain why a document is refused; one of another version cannot be checked by this version."""
    written, here = report.evaluation.software.get("scorereport", ""), version("scorereport")
    if written in ("", here):
        return f"{path} contradicts itself: {contradiction}."
    return (
        f"{path} was written by scorereport {written}, and version {here} cannot confirm its numbers. To "
        f"fix: render it with version {written}, or evaluate the data again."
    )


def check_certificate(certificate: Certificate | None, evaluation: Evaluation) -> None:
    """Refuse a certificate of other results."""
    if certificate is not None and certificate.results_sha256 != evaluation.sha256:
        raise UsageError(
            f"The certificate is for other results: it names {certificate.results_sha256[:12]}…, these are "
            f"{evaluation.sha256[:12]}…. To fix: certify this evaluation."
        )


def _configuration_source(configuration: Configuration) -> ConfigurationSource:
    return (
        ConfigurationSource(name=configuration.name, text=configuration.text)
        if configuration.text
        else ConfigurationSource()
    )
