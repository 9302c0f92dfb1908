"""Rows of an audit that are too many to be gathered: an engine looks them up in a file.

It is that of the source, or one of our own with the rows of the period.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.audit.rows.source_reference import SourceCopy
from scorereport.audit.rows.source_rows import hash_while_unchanged

if TYPE_CHECKING:
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceReference:
    """Where the rows of an audit are, and the hash of the file that is their source if it is one.

    `arguments` are those of `evaluate` beside its settings; `engine` is what will do the work. Rows that were
    copied lie in `copy`, which goes when this is closed.
    """

    path: Path
    arguments: Mapping[str, Any]
    engine: str
    source: str
    source_sha256: str = ""
    copy: SourceCopy | None = field(default=None, repr=False)

    @property
    def data_sha256(self) -> str:
        """Not known before the rows are read."""
        return ""

    def evaluate(self, evaluate: Callable[..., Evaluation], settings: Mapping[str, Any]) -> Evaluation:
        """Evaluate the rows of a source that nobody writes meanwhile."""
        if self.copy is None:
            with hash_while_unchanged(self.path, self.source_sha256):
                return evaluate(self.path, **self.arguments, **settings)
        with self.copy.telling():
            evaluation = evaluate(self.path, **self.arguments, **settings)
        flow = self.copy.extend(evaluation.data.row_flow)
        data = replace(evaluation.data, source=self.source, file_sha256=self.source_sha256, row_flow=flow)
        object.__setattr__(evaluation, "data", data)  # of the source, not of the copy; nobody has seen it yet
        return evaluation

    def close(self) -> None:
        """Remove what was copied."""
        if self.copy is not None:
            self.copy.remove()
