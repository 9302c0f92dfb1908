"""The name of a table and of its schema, each one name whatever it holds, and what there is instead."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport._utils.formatting import join_words
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection, Inspector, TableClause
    from sqlalchemy.types import TypeEngine

_MAX_NAMES = 5


class TableName(NamedTuple):
    """A table or a view; without a schema it is looked for where the database looks first."""

    name: str
    schema: str = ""

    def __str__(self) -> str:
        """The name for records and messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def clause(self) -> TableClause:
        """The table as part of a statement."""
        import sqlalchemy as sa

        return sa.table(
            quote_identifier(self.name), schema=quote_identifier(self.schema) if self.schema else None
        )

    def find_types(self, connection: Connection) -> dict[str, TypeEngine[Any]]:
        """The types of its columns; a table that is not there is refused."""
        import sqlalchemy as sa
        from sqlalchemy.exc import NoSuchTableError

        inspector = sa.inspect(connection)
        if self.schema:
            _check_schema(self.schema, inspector.get_schema_names())
        try:
            columns = inspector.get_columns(self.clause.name, schema=self.clause.schema)
        except NoSuchTableError:
            raise DataError(_describe_missing_table(self, inspector)) from None
        return {column["name"]: column["type"] for column in columns}


def quote_identifier(name: str) -> str:
    """A name that is quoted in a statement, whatever it holds."""
    from sqlalchemy.sql import quoted_name

    return quoted_name(name, quote=True)


def _check_schema(schema: str, known: Iterable[str]) -> None:
    if schema not in known:
        raise DataError(
            f"`audit.source.schema` names {schema!r}, which the database does not have; "
            f"its schemas nearest to it are {_list_similar_names(schema, known)}."
        )


def _describe_missing_table(table: TableName, inspector: Inspector) -> str:
    """That a table is not there, and which may be meant."""
    schema = table.clause.schema
    where = f"the schema {table.schema!r}" if schema else "the database"
    told = f"`audit.source.table` names {table.name!r}, which {where} does not have"
    meant = next(_list_schema_matches(table, inspector), None)
    if meant:
        return f'{told}; set audit.source.schema to "{meant.schema}" and table to "{meant.name}".'
    names = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)}
    return f"{told}; its tables and views nearest to it are {_list_similar_names(table.name, names)}."


def _list_schema_matches(table: TableName, inspector: Inspector) -> Iterator[TableName]:
    """Tables of a schema, if the name is that of both with a dot between."""
    schemas = [] if table.schema else inspector.get_schema_names()
    for schema in schemas:
        name = table.name.removeprefix(f"{schema}.")
        if name != table.name and inspector.has_table(
            quote_identifier(name), schema=quote_identifier(schema)
        ):
            yield TableName(name, schema)


def _list_similar_names(name: str, names: Iterable[str]) -> str:
    return join_words(get_close_matches(name, sorted(names), n=_MAX_NAMES, cutoff=0) or ["none"])
