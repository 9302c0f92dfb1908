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

#: Batches that wait for their reader.
_AHEAD = 2
#: Seconds until a thread looks whether it is still wanted.
_PATIENCE = 0.05


class Workspace:
    """A DuckDB database with a limit on its memory; what does not fit is in a folder of its own.

    Of the files outside of its folder it can scan the named ones.
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
        """How DuckDB has to work, here and where it reads a source: all that it spills is in our folder."""
        return {
            "memory_limit": f"{self.limit // 1000}KB",
            "temp_directory": str(self.folder / name),
            "threads": count_threads(),
        }

    def execute(self, statement: str) -> None:
        """Run a statement that has no result."""
        self.table(statement)

    def table(self, query: str) -> pa.Table:
        """A small result; without rows it has no columns either."""
        import pyarrow as pa

        batches = list(self.batches(query, 1 << 16))
        return pa.Table.from_batches(batches) if batches else pa.table({})

    def row(self, query: str) -> dict[str, Any]:
        """A result of one row."""
        return self.table(query).to_pylist()[0]

    def batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """A result in batches of about so many rows, which need not fit into memory.

        DuckDB works in a thread of its own, so that an interrupt is heard at once, and ends it.
        """
        waiting: Queue[pa.RecordBatch | BaseException | None] = Queue(_AHEAD)
        is_over = Event()
        cursor = self.connection.cursor()
        worker = Thread(target=_produce, args=(cursor, query, rows, waiting, is_over), daemon=True)
        worker.start()
        try:
            while True:
                try:
                    item = waiting.get(timeout=_PATIENCE)
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
                worker.join(_PATIENCE)
            cursor.close()

    def _explain(self, error: BaseException) -> BaseException:
        """What went wrong in one sentence; Arrow hands DuckDB's errors on as its own, by their text."""
        import duckdb

        told = str(error).splitlines()[0].rstrip(".") if str(error) else ""
        if isinstance(error, duckdb.OutOfMemoryException) or told.startswith("Out of Memory"):
            megabytes = self.limit // 1_000_000
            return UsageError(f"`memory_limit` of {megabytes} MB is too small for this work: {told}.")
        if isinstance(error, duckdb.IOException):
            return DataError(f"DuckDB cannot read or write: {told}.")
        if isinstance(error, (duckdb.Error, OSError)):
            return DataError(f"DuckDB cannot work on these rows: {told}.")
        return error

    def lots(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """A result in batches of exactly so many rows, save the last: how DuckDB cut it leaves no trace."""
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

    def fill(self, name: str, lots: Iterable[pa.Table]) -> None:
        """Append lots to a table, in their order."""
        import duckdb

        cursor = self.connection.cursor()
        try:
            cursor.execute("BEGIN")
            for lot in lots:
                cursor.register("lot", lot)
                cursor.execute(f"INSERT INTO {name} SELECT * FROM lot")
                cursor.unregister("lot")
            cursor.execute("COMMIT")
        except duckdb.Error as error:
            raise self._explain(error) from error
        finally:
            cursor.close()

    def close(self) -> None:
        """Remove the folder with all that is in it."""
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
                return waiting.put(item, timeout=_PATIENCE)
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
    except BaseException as error:  # told in the thread that asked
        hand_over(error)


def _make_folder(below: str | Path | None) -> TemporaryFolder:
    place = check_temporary_folder(below)
    try:
        return TemporaryFolder(below=place)
    except OSError as error:
        told = error.strerror or str(error)
        raise UsageError(
            f"`temporary_folder` must be a folder that can be written to; got {str(place)!r}: {told}."
        ) from error


def _remove(connection: DuckDBPyConnection, folder: TemporaryFolder) -> None:
    connection.interrupt()
    connection.close()
    folder.close()
