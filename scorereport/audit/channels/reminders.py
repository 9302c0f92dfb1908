"""A reminder that people are to be told of a record: written before the record, gone once they were told."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.scorereport_files import make_folder, write_text

if TYPE_CHECKING:
    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record


@dataclass(frozen=True, kw_only=True)
class PendingNotification:
    """The file that outlives a run which is killed before anybody was told."""

    path: Path

    def write(self, record: Record) -> None:
        """Remember a record that is about to be added."""
        make_folder(self.path.parent)
        write_text(self.path, f"{record.attempt} {record.period.label}\n")

    def read(self) -> tuple[str, int] | None:
        """The period and the attempt of which people are to be told still; None if there is none."""
        with suppress(OSError, ValueError):
            attempt, _, label = self.path.read_text(encoding="utf-8").strip().partition(" ")
            return label, int(attempt)
        return None

    @property
    def age(self) -> float:
        """How many seconds ago it was written; infinitely many if there is none."""
        with suppress(OSError):
            return time.time() - self.path.stat().st_mtime
        return math.inf

    def forget(self) -> None:
        """Remove it."""
        self.path.unlink(missing_ok=True)


def open_pending_notification(plan: Plan, audit: str = "") -> PendingNotification:
    """The reminder of an audit; of another one in the same folder if its name is given."""
    return PendingNotification(path=plan.locks / f"{audit or plan.name}.untold")
