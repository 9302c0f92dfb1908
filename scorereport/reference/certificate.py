"""The certificate: what an independent implementation says of the numbers of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scorereport._utils import json_documents
from scorereport._utils.scorereport_files import write_text
from scorereport.reference.comparison_records import Comparison, Verdict

CERTIFICATE_VERSION: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A reference that could not be used, why, and what mends it."""

    reference: str
    reason: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certificate:
    """Every number compared, with the reference it was compared with, never passed off as another.

    `verdict` is "certified", "failed", or "not certified", then `sentence` says why. `sha256` is of the data,
    as `Predictions.sha256` has it;
    `results_sha256` is of the results document whose numbers were compared, and `left_out` names what of it
    was not.
    """

    version: Literal[1] = CERTIFICATE_VERSION
    verdict: Literal["certified", "failed", "not certified"]
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

    @property
    def unexpected(self) -> tuple[Comparison, ...]:
        """Comparisons that somebody must look at."""
        return tuple(line for line in self.comparisons if line.is_unexpected)

    @property
    def expected(self) -> tuple[Comparison, ...]:
        """Known deviations of the reference, each with its reason."""
        return tuple(line for line in self.comparisons if line.verdict == Verdict.EXPECTED)

    def to_json(self, path: str | Path | None = None) -> str:
        """The certificate as JSON text, written to a file as well if a path is given."""
        text = json_documents.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Certificate:
        """Read a certificate back; it equals the one that was written."""
        text = Path(path).read_bytes()
        json_documents.check_version(text, CERTIFICATE_VERSION, str(path))
        return json_documents.load(cls, text, str(path))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of certificates; `scorereport/schemas` holds it as a file."""
        return json_documents.json_schema(cls, f"scorereport certificate, version {CERTIFICATE_VERSION}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and json_documents.encode(self) == json_documents.encode(other)

    __hash__ = None  # type: ignore[assignment]
