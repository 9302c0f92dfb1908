"""Documents of comparisons: the certificate of an evaluation, and the validation study."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from scorereport._utils import json_documents
from scorereport._utils.files import write_text
from scorereport._utils.formatting import format_count, format_time
from scorereport._utils.overviews import Overview, overview_html, overview_repr
from scorereport._utils.representation import short_repr
from scorereport.reference.certificate_verdicts import (
    CertificateVerdict,
    WrittenVerdict,
    read_sentence,
    read_verdict,
)
from scorereport.reference.comparison_records import Comparison, Verdict

STUDY_VERSION: Literal[1] = 1
CERTIFICATE_VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySeries:
    """A line, markers or bubbles of a panel.

    Series of one `colour`, a number from 0, belong together; None is the colour of text. If several lines
    have one colour, the first is broad and pale, so that the others are visible on it. A line without a label
    is a guide line. Bubbles have areas in proportion to `size`.
    """

    label: str
    kind: Literal["line", "marks", "bubbles"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    size: tuple[float, ...] | None = None
    colour: int | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPanel:
    """One diagram; its `note` has the most important numbers."""

    title: str
    note: str = ""
    x_label: str
    y_label: str
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    series: tuple[StudySeries, ...]

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFigure:
    """Panels that are shown together; the `subject` is that of the comparisons they illustrate."""

    key: str
    subject: str
    title: str
    caption: str
    panels: tuple[StudyPanel, ...]

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySection:
    """Comparisons of one kind, with a text on the method, and figures."""

    key: str
    title: str
    text: str
    comparisons: tuple[Comparison, ...]
    figures: tuple[StudyFigure, ...] = ()

    __repr__ = short_repr

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons that need attention."""
        return tuple(line for line in self.comparisons if line.is_unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All sections of a study: installation, operation, performance."""

    version: Literal[1] = STUDY_VERSION
    time: str
    seed: int
    cases: int
    software: dict[str, str]
    sections: tuple[StudySection, ...]

    __repr__ = short_repr

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons of all sections that need attention."""
        return tuple(line for section in self.sections for line in section.unexpected)

    @property
    def passed(self) -> bool:
        """Whether no comparison is unexpected."""
        return not self.unexpected

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of studies; `scorereport/schemas` holds it as a file."""
        return json_documents.json_schema(cls, f"scorereport study, version {STUDY_VERSION}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A reference that could not be used, the reason, and the command that fixes it."""

    reference: str
    reason: str
    remedy: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certificate:
    """All comparisons of an evaluation with a reference, which is always named.

    `verdict` is "certified" if the R package reliabilitydiag agrees, "confirmed" if base R agrees, "failed"
    if a number differs, and "not checked" if R computed nothing of these data; `sentence` gives the reason.
    Earlier versions wrote "certified" also for base R, and "not certified" for "not checked": see
    `current_verdict`. `sha256` is that of the data, `Predictions.sha256`; `results_sha256` is that of the
    results document whose numbers were compared. `left_out` names the parts of it that were not compared.
    `notes` state the memory that R needed, if it was much, and the rows of a band that did not fit into it.
    """

    version: Literal[1] = CERTIFICATE_VERSION
    verdict: WrittenVerdict
    sentence: str
    reference: str
    time: str
    rows: int
    sha256: str
    results_sha256: str
    software: dict[str, str]
    comparisons: tuple[Comparison, ...] = ()
    left_out: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()

    #: Left out of documents if it is empty, as in those of earlier versions.
    OPTIONAL: ClassVar = ("notes",)

    __repr__ = overview_repr
    _repr_html_ = overview_html

    @property
    def current_verdict(self) -> CertificateVerdict:
        """The verdict in the words of this version, also if an earlier version wrote the certificate."""
        return read_verdict(self.verdict, self.reference)

    @property
    def current_sentence(self) -> str:
        """The reason for the verdict, in the words of this version."""
        return read_sentence(self.sentence, self.current_verdict)

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons that need attention."""
        return tuple(line for line in self.comparisons if line.is_unexpected)

    @property
    def expected(self) -> tuple[Comparison, ...]:
        """Known deviations of the reference, each with its reason."""
        return tuple(line for line in self.comparisons if line.verdict == Verdict.EXPECTED)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the certificate as JSON; if a path is given, also write it to a file."""
        text = json_documents.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Certificate:
        """Read a certificate from JSON; it equals the one that was written."""
        text = Path(path).read_bytes()
        json_documents.check_version(text, CERTIFICATE_VERSION, str(path))
        return json_documents.load(cls, text, str(path))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of certificates; `scorereport/schemas` holds it as a file."""
        return json_documents.json_schema(cls, f"scorereport certificate, version {CERTIFICATE_VERSION}")

    def _describe(self) -> Overview:
        counts = Counter(str(line.verdict) for line in self.comparisons)
        found = ", ".join(f"{verdict}: {format_count(n)}" for verdict, n in counts.most_common())
        facts = (
            ("reason", self.current_sentence),
            ("reference", self.reference),
            ("comparisons", f"{format_count(len(self.comparisons))}{f' ({found})' if found else ''}"),
            ("rows", format_count(self.rows)),
            ("time", format_time(self.time)),
            ("left out", ", ".join(self.left_out)),
            ("note", " ".join(self.notes)),
            ("not used", "; ".join(f"{each.reference}: {each.reason}" for each in self.attempts)),
        )
        known = tuple(fact for fact in facts if fact[1])
        rows = tuple((line.subject, line.quantity, str(line.verdict)) for line in self.unexpected)
        columns = ("subject", "quantity", "verdict")
        return Overview(title=f"Certificate: {self.current_verdict}", facts=known, columns=columns, rows=rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and json_documents.encode(self) == json_documents.encode(other)

    __hash__ = None  # type: ignore[assignment]
