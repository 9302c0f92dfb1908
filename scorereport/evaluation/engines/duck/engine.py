"""`open_duckdb()`: sources of any size, sorted and scanned by DuckDB."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

from scorereport._utils.checks import check_option
from scorereport.data.hashing import hash_file
from scorereport.data.roles import Roles, check_forecasts
from scorereport.data.sources import locate_source
from scorereport.evaluation.engines.duck.duck_engine import survey_rows
from scorereport.evaluation.engines.duck.duck_tables import open_rows
from scorereport.evaluation.engines.duck.row_scans import reduce_rows
from scorereport.evaluation.engines.duck.sorted_digests import digest_labels, digest_model
from scorereport.evaluation.engines.duck.workspace import Workspace
from scorereport.evaluation.subgroups import check_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.duck.layout import SqlLayout
    from scorereport.evaluation.engines.protocol import Batch, DigestPlan, Sums, Survey


class DuckEngine:
    """Sorts and scans the rows of a source by DuckDB; a context manager that leaves nothing behind."""

    name = "duckdb"

    def __init__(self, workspace: Workspace, layout: SqlLayout, survey: Survey) -> None:
        self._workspace = workspace
        self._layout = layout
        self.survey = survey

    @property
    def folder(self) -> Path:
        """Where everything temporary is, until the engine is closed."""
        return self._workspace.folder

    def digest(self, model: str, marks: DigestPlan) -> Digest:
        """The digest of all rows of a model."""
        return digest_model(self._workspace, self._layout, model, marks, self.survey.rows)

    def digest_groups(self, model: str, column: str, marks_of: Mapping[int, DigestPlan]) -> dict[int, Digest]:
        """A digest for each of some labels, by their codes, of a group column or of the time column."""
        return digest_labels(self._workspace, self._layout, model, column, marks_of)

    def reduce(self, function: Callable[[Batch], Sums], what: str) -> Sums:
        """Sums of what a function gives for each batch of rows, added in the order of the rows."""
        return reduce_rows(self._workspace, self._layout, self.survey.rows, function, what)

    def close(self) -> None:
        """Remove everything temporary."""
        self._workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_duckdb(  # noqa: PLR0913  # each part that a column may play has its name
    source: Any,
    *,
    outcome: str,
    forecasts: Sequence[str],
    weight: str | None = None,
    weight_kind: str = "sampling",
    group: str | Sequence[str] | None = None,
    cluster: str | None = None,
    grade: str | None = None,
    time: str | None = None,
    positive: object = None,
    missing: str = "refuse",
    table: str | None = None,
    window: str | None = None,
    memory_limit: str | None = None,
    temporary_folder: str | Path | None = None,
) -> DuckEngine:
    """Open a source whose rows need not fit into memory, and survey it.

    Parameters
    ----------
    source : a .parquet file, a folder or pattern of such files, a .csv or .csv.gz file, a DuckDB file or
        the SQLAlchemy address of a database with a `table`, or a frame
    outcome, forecasts, weight, weight_kind, group, cluster, grade, time, positive, missing : as
        `read_predictions` takes them
    table : the table or view of a database
    window : the periods of the time column, as `evaluate` takes them
    memory_limit : how much memory DuckDB may take, such as "1GB"; a quarter of the machine's unless given
    temporary_folder : where a folder is made for what does not fit into memory; that of the system unless
        given
    """
    check_option(missing, "missing", ("refuse", "drop"))
    check_forecasts(forecasts)
    columns_of = {str(name): (str(name),) for name in forecasts}
    roles = Roles.of(outcome, columns_of, weight, group, cluster, grade, time, weight_kind)
    check_window(window, roles)
    place = locate_source(source, table)
    workspace, is_over = Workspace(memory_limit, temporary_folder, place.parquet), Event()
    try:
        rows = open_rows(workspace, place, source, table, roles)
        wait_for_hash = _begin_hash(source, table, is_over)
        layout, survey = survey_rows(
            workspace, rows, roles, positive=positive, drop=missing == "drop", window=window
        )
        return DuckEngine(workspace, layout, replace(survey, file_sha256=wait_for_hash()))
    except BaseException:
        is_over.set()
        workspace.close()
        raise


def _begin_hash(source: Any, table: str | None, is_over: Event) -> Callable[[], str]:
    """Hash the file while rows are surveyed, on a thread that ends early if they are refused."""
    found: list[str] = []
    worker = Thread(target=lambda: found.append(hash_file(source, table, is_over=is_over)), daemon=True)
    worker.start()

    def wait() -> str:
        worker.join()
        return found[0] if found else hash_file(source, table)

    return wait
