"""JUnit XML of the verdicts of a report: a test case for each limit and model, and one for the certificate.

The order of elements is that of the schema that Jenkins, GitLab and actions of GitHub read: `testsuites` with
one `testsuite`, which has `properties`, `testcase` elements and `system-out`. Names of cases contain no
results, so that consumers can follow a case from run to run.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Self
from xml.etree import ElementTree as ET

from scorereport._utils.clock import timestamp
from scorereport._utils.exits import describe_error, is_expected
from scorereport._utils.files import write_bytes
from scorereport._utils.formatting import format_fixed, visible_lines
from scorereport._utils.redaction import Redactor
from scorereport._utils.version import package_version
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.errors import UsageError
from scorereport.report.verdict_text import format_judgements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from scorereport.configuration import Configuration
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.report_record import Report

_NAME = "scorereport"
#: Test cases by the verdict on a limit, or of a certificate; those that are open fail in strict runs.
_FAILED, _OPEN = ("fail", "failed"), ("warn", "inconclusive", "not checked")
#: Characters that XML 1.0 does not have, and those that divide the name of a class.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIVIDERS = re.compile(r"[\s.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JunitCase:
    """A test case: its names, its result ("" if it passes) with a message, and its printed output."""

    classname: str
    name: str
    result: str = ""
    kind: str = ""
    message: str = ""
    output: str = ""


class JunitFile:
    """A JUnit file that a command writes in any case: its verdicts or, if it ends before, the error.

    Without a path, nothing is written. Use it as a context manager around the work of the command, so that a
    file of an earlier run is not taken for the results of this one.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = None if path is None else _check_path(path)
        self._start = perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            with suppress(OSError):  # of two errors, the first is the one to report
                self._write([_describe_error_case(error)])

    def require(self, configuration: Configuration | None, *, will_certify: bool) -> None:
        """Refuse, before the evaluation, a run that will have neither limits nor a certificate to state."""
        has_limits = configuration is not None and bool(configuration.limits.bounds)
        self._refuse_if_empty(has_verdicts=has_limits or will_certify)

    def _refuse_if_empty(self, *, has_verdicts: bool) -> None:
        if self._path is not None and not has_verdicts:
            raise UsageError(
                "--junit states verdicts, and this run has none. To fix: set limits in the table [limits] of "
                "a configuration and name it with --config, or give --certify."
            )

    def write(self, report: Report, *, strict: bool) -> None:
        """Write the verdicts of a report; if `strict`, warnings and inconclusive verdicts are failures."""
        self._refuse_if_empty(has_verdicts=bool(report.judgements) or report.certificate is not None)
        cases = [_describe_limit(judgement, strict=strict) for judgement in report.judgements]
        if report.certificate is not None:
            cases.append(_describe_certificate(report.certificate, strict=strict))
        output = format_judgements(report.judgements) if report.judgements else ""
        self._write(cases, properties=_list_properties(report), output=output)

    def _write(
        self, cases: Sequence[JunitCase], *, properties: Mapping[str, str] | None = None, output: str = ""
    ) -> None:
        if self._path is not None:
            version = {"version": package_version()}
            seconds = perf_counter() - self._start
            suites = _build_suites(cases, {**version, **(properties or {})}, output, seconds)
            content = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
            write_bytes(self._path, content, public=True)  # servers read it, often as another user


def _check_path(path: Path) -> Path:
    """Return the path of a JUnit file; its ending protects other files that are named by mistake."""
    if path.suffix.lower() != ".xml":
        raise UsageError(f"The name of a JUnit file must end in .xml; got {path.name!r}.")
    if not path.parent.is_dir():
        raise UsageError(f"The folder {path.parent} does not exist. To fix: create it.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file.")
    return path


# ---- Test cases ----


def _describe_limit(judgement: Judgement, *, strict: bool) -> JunitCase:
    """A case for a limit; its class is the model, so that consumers list the limits of a model together."""
    label = judgement.label[0].upper() + judgement.label[1:]
    where = f" where {judgement.group}" if judgement.group else ""
    passed = judgement.verdict is LimitVerdict.PASS
    return JunitCase(
        classname=_name_class("limits", judgement.model or "data"),
        name=f"{label}{where}",
        result=_find_result(judgement.verdict, strict=strict),
        kind=str(judgement.verdict),
        message=judgement.sentence,
        output=judgement.sentence if passed else "",
    )


def _describe_certificate(certificate: Certificate, *, strict: bool) -> JunitCase:
    lines = [f"{line.subject}, {line.quantity}: {line.verdict}." for line in certificate.unexpected]
    verdict, sentence = certificate.current_verdict, certificate.current_sentence
    return JunitCase(
        classname=_name_class("certificate"),
        name="R certificate",
        result=_find_result(verdict, strict=strict),
        kind=verdict,
        message=sentence,
        output="\n".join((sentence, *lines)),
    )


def _find_result(verdict: str, *, strict: bool) -> str:
    """The element of a verdict: JUnit has no warnings, so those that do not fail a run are skipped cases."""
    if verdict in _FAILED or (strict and verdict in _OPEN):
        return "failure"
    return "skipped" if verdict in _OPEN else ""


def _describe_error_case(error: Exception) -> JunitCase:
    """A case for a run that ended in an error."""
    sentence = describe_error(error)
    return JunitCase(
        classname=_name_class("run"),
        name="Evaluation",
        result="error",
        kind=type(error).__name__,
        message=sentence if is_expected(error) else Redactor().redact(sentence),
    )


def _name_class(*parts: str) -> str:
    """The name of a class: parts divided by dots, without dots and blanks of their own."""
    return ".".join((_NAME, *(_DIVIDERS.sub("_", part) for part in parts)))


def _list_properties(report: Report) -> dict[str, str]:
    """Facts about data and results, without which verdicts could not be traced."""
    data, settings = report.evaluation.data, report.evaluation.settings
    facts = {
        "verdict": str(report.verdict or ""),
        "models": ", ".join(result.model for result in report.evaluation.results),
        "source": data.source,
        "n": str(data.sample.rows),
        "data_sha256": data.sha256,
        "file_sha256": data.file_sha256,
        "results_sha256": report.results_sha256,
        "configuration": report.configuration_source.name,
        "level": str(settings.level),
        "seed": str(settings.seed),
        "engine": settings.engine,
    }
    return {name: value for name, value in facts.items() if value}


# ---- XML ----


def _build_suites(
    cases: Sequence[JunitCase], properties: Mapping[str, str], output: str, seconds: float
) -> ET.Element:
    results = [case.result for case in cases]
    counts = {
        "tests": str(len(cases)),
        "failures": str(results.count("failure")),
        "errors": str(results.count("error")),
        "skipped": str(results.count("skipped")),
        "time": format_fixed(seconds, 3),
    }
    suites = ET.Element("testsuites", {"name": _NAME, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _NAME, **counts, "timestamp": timestamp()})
    listed = ET.SubElement(suite, "properties")
    for name, value in properties.items():
        ET.SubElement(listed, "property", {"name": f"{_NAME}.{name}", "value": _clean(value)})
    suite.extend(_build_case(case) for case in cases)
    if output:
        ET.SubElement(suite, "system-out").text = _clean(output)
    ET.indent(suites)
    return suites


def _build_case(case: JunitCase) -> ET.Element:
    """The element of a case; only the suite has a time, because all limits are judged on one evaluation."""
    names = {"classname": _clean(case.classname), "name": _clean(case.name), "time": "0"}
    element = ET.Element("testcase", names)
    if case.result:
        message = _clean(case.message)
        marked = ET.SubElement(element, case.result, {"type": case.kind, "message": message})
        marked.text = message
    if case.output:
        ET.SubElement(element, "system-out").text = _clean(case.output)
    return element


def _clean(text: str) -> str:
    """Escape control characters in each line, and replace what XML does not have."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", visible_lines(text))
