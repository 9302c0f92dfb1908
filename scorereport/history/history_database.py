"""The database of a history, and its transactions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport.history.database import (
    describe_url,
    find_database_file,
    open_history_engine,
    read_transaction,
    translate_errors,
    write_transaction,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from sqlalchemy import URL, Connection, Engine


class HistoryDatabase:
    """Where a history is kept: `name` is for people, `file` is None if it is on a server."""

    def __init__(self, address: URL) -> None:
        self.address = address
        self.name = describe_url(address)
        self.file = find_database_file(address)
        self.engine: Engine = open_history_engine(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the history."""
        with translate_errors(self.address), read_transaction(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside."""
        with translate_errors(self.address), write_transaction(self.engine) as connection:
            yield connection
