"""A DuckDB database in a temporary folder, removed when it is closed, at an interrupt and at exit."""

from __future__ import annotations

import weakref
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.machine import count_threads
from scorereport.data.database_sessions import connect_duckdb
from scorereport.data.database_tables import scannable
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.setting_checks import check_memory_limit, check_temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: Batches that are read ahead.
_AHEAD = 2
#: Seconds after which a waiting thread checks whether it must end.
_POLL = 0.05


class Workspace:
    """A DuckDB database with a memory limit; what does not fit into memory is in a temporary folder.

    Outside of this folder, DuckDB can read only the given files.
    """

    def __init__(
        self, memory_limit: str | None, temporary_folder: str | Path | None, files: Sequence[Path] = ()
    ) -> None:
        self.limit = check_memory_limit(memory_limit)
        temporary = _make_folder(temporary_folder)
        self.folder = temporary.path
        try:
            self.connection = self._connect(files)
        except BaseException:
            temporary.close()
            raise
        self._finalizer = weakref.finalize(self, _remove, self.connection, temporary)

    def _connect(self, files: Sequence[Path]) -> DuckDBPyConnection:
        import duckdb

        path, settings = self.folder / "rows.duckdb", self.settings("sorting")
        try:
            return connect_duckdb(path, files=scannable(files), settings=settings)
        except duckdb.Error as error:
            raise self._explain(error) from error

    def settings(self, name: str) -> Mapping[str, str | int]:
        """Settings of DuckDB, here and where it reads a source: temporary files go to our folder."""
        return {
            "memory_limit": f"{self.limit // 1000}KB",
            "temp_directory": str(self.folder / name),
            "threads": count_threads(),
        }

    def execute(self, statement: str) -> None:
        """Run a statement that has no result."""
        self.table(statement)

    def table(self, query: str) -> pa.Table:
        """A small result of a query; without rows, it has no columns either."""
        import pyarrow as pa

        batches = list(self.batches(query, 1 << 16))
        return pa.Table.from_batches(batches) if batches else pa.table({})

    def row(self, query: str) -> dict[str, Any]:
        """The single row of a result."""
        return self.table(query).to_pylist()[0]

    def batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """The result of a query in batches of about `rows` rows; it need not fit into memory.

        DuckDB works in a thread of its own, so that an interrupt takes effect at once.
        """
        waiting: Queue[pa.RecordBatch | BaseException | None] = Queue(_AHEAD)
        is_over = Event()
        cursor = self.connection.cursor()
        worker = Thread(target=_produce, args=(cursor, query, rows, waiting, is_over), daemon=True)
        worker.start()
        try:
            while True:
                try:
                    item = waiting.get(timeout=_POLL)
                except Empty:
                    continue
                if item is None:
                    return
                if isinstance(item, BaseException):
                    raise self._explain(item)
                yield item
        finally:
            is_over.set()
            while worker.is_alive():
                cursor.interrupt()
                worker.join(_POLL)
            cursor.close()

    def _explain(self, error: BaseException) -> BaseException:
        """The error as one of ours, in one sentence; Arrow re-raises errors of DuckDB with their text."""
        import duckdb

        reason = str(error).splitlines()[0].rstrip(".") if str(error) else ""
        if isinstance(error, duckdb.OutOfMemoryException) or reason.startswith("Out of Memory"):
            megabytes = self.limit // 1_000_000
            return UsageError(f"`memory_limit` of {megabytes} MB is too small for this work: {reason}.")
        if isinstance(error, duckdb.IOException):
            return DataError(f"DuckDB cannot read or write: {reason}.")
        if isinstance(error, (duckdb.Error, OSError)):
            return DataError(f"DuckDB cannot work on these rows: {reason}.")
        return error

    def equal_batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """The result of a query in batches of exactly `rows` rows, except the last."""
        import pyarrow as pa

        waiting: list[pa.RecordBatch] = []
        for batch in self.batches(query, rows):
            waiting.append(batch)
            while sum(map(len, waiting)) >= rows:
                joined = waiting[0] if len(waiting) == 1 else pa.concat_batches(waiting)
                yield joined.slice(0, rows)
                waiting = [joined.slice(rows)] if len(joined) > rows else []
        if waiting:
            yield pa.concat_batches(waiting)

    def fill(self, name: str, batches: Iterable[pa.Table]) -> None:
        """Append batches to a table, in their order."""
        import duckdb

        cursor = self.connection.cursor()
        try:
            cursor.execute("BEGIN")
            for batch in batches:
                cursor.register("batch", batch)
                cursor.execute(f"INSERT INTO {name} SELECT * FROM batch")
                cursor.unregister("batch")
            cursor.execute("COMMIT")
        except duckdb.Error as error:
            raise self._explain(error) from error
        finally:
            cursor.close()

    def close(self) -> None:
        """Remove the temporary folder and everything in it."""
        self._finalizer()


def _produce(
    cursor: DuckDBPyConnection,
    query: str,
    rows: int,
    waiting: Queue[pa.RecordBatch | BaseException | None],
    is_over: Event,
) -> None:
    def hand_over(item: pa.RecordBatch | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                return waiting.put(item, timeout=_POLL)
            except Full:
                continue
        return None

    try:
        result = cursor.sql(query)
        if result is not None:
            reader = result.to_arrow_reader(rows)
            for batch in reader:
                hand_over(batch)
        hand_over(None)
    except BaseException as error:  # raised again in the thread that reads
        hand_over(error)


def _make_folder(below: str | Path | None) -> TemporaryFolder:
    place = check_temporary_folder(below)
    try:
        return TemporaryFolder(below=place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"`temporary_folder` must be a folder that can be written to; got {str(place)!r}: {reason}."
        ) from error


def _remove(connection: DuckDBPyConnection, folder: TemporaryFolder) -> None:
    connection.interrupt()
    connection.close()
    folder.close()
