"""A year of daily audits of five models: time of history and site, and size of the site."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.audit.site.publication import write_site
from scorereport.history.store import open_history
from tests.site_tools import make_records, write_reports
from validation.benchmarks.measure import Comparison, time_by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.history.audit_record import Record

YEAR, TENTH, MODELS = 365, 36, 5
#: Limits on seconds and bytes of the site of a year, without the copies of the reports.
SECONDS, BYTES = 10.0, 3e6
TIME = "2026-11-15T00:00:00+00:00"


def compare_audits() -> Iterator[Comparison]:
    """Compare the time of ten times as many audits, and time and size of a year's site with limits."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        many, few = (_Case(folder / str(days), days) for days in (YEAR, TENTH))
        yield _compare_times("reading the history", time_by_turns(many.read, few.read, repeats=3), 12)
        site = time_by_turns(many.write, few.write, repeats=3)
        yield _compare_times("the site", site, 12)
        yield Comparison(
            name=f"the site of {YEAR} audits of {MODELS} models / {SECONDS:g} s",
            ours=site[0],
            other=SECONDS,
            ratio=site[0] / SECONDS,
            limit=1,
        )
        size = many.measure_pages()
        name = f"the pages of {YEAR} audits of {MODELS} models / 3 MB"
        yield Comparison(name=name, ours=size, other=BYTES, ratio=size / BYTES, limit=1, unit="bytes")


def _compare_times(what: str, times: tuple[float, float], limit: float) -> Comparison:
    return Comparison(
        name=f"{what} of {YEAR} audits of {MODELS} models / of {TENTH}",
        ours=times[0],
        other=times[1],
        ratio=times[0] / times[1],
        limit=limit,
    )


class _Case:
    """A history in SQLite with its reports, and the site that is written from it repeatedly."""

    def __init__(self, folder: Path, days: int) -> None:
        self.folder = folder
        folder.mkdir()
        self.url = f"sqlite:///{folder / 'history.db'}"
        drafts = make_records(days, MODELS, failed=range(20, days, 50))
        write_reports(drafts, folder / "reports")
        with closing(open_history(self.url)) as history:
            self.records: Sequence[Record] = [history.append(draft) for draft in drafts]

    def read(self) -> None:
        """Read all records from the database."""
        with closing(open_history(self.url)) as history:
            self.records = history.records()

    def write(self) -> None:
        """Write the site without reading the history; reports are copied the first time only."""
        write_site(
            self.records,
            self.folder / "site",
            find_folder=lambda _: self.folder / "reports",
            title="Audits",
            time=TIME,
        )

    def measure_pages(self) -> int:
        """Return the bytes of all files except the copies of reports."""
        files = [path for path in (self.folder / "site").rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in files if "reports" not in path.parts)
