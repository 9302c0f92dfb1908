"""The query of an audit: checked to be one statement that reads, and bound to the days of the period."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import TextClause

    from scorereport.periods import Period

_QUERY = "`audit.source.query`"
#: What a query begins with that only reads.
_READING_WORDS = ("SELECT", "WITH", "VALUES", "TABLE")
#: Parts of a query in which a colon or a semicolon means something, or nothing at all.
_TOKEN = re.compile(
    r"""
    (?P<quoted>
        (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'
      | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
      | (?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$
    )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<cast> :: )
    | (?<!\w):(?P<parameter>[^\W\d]\w*)
    | (?P<colon> : )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)


def bind_period(query: str, period: Period) -> TextClause:
    """The query with the days of the period bound to :start and :end, as far as it asks for them."""
    import sqlalchemy as sa

    _check_query(query)
    days = {"start": period.first_day, "end": period.day_after}
    names = {match["parameter"] for match in _TOKEN.finditer(query)} - {None}
    for name in sorted(names):
        if name not in days:
            raise UsageError(f"{_QUERY} may have the parameters :start and :end; got :{name}.")
        if days[name] is None:
            raise UsageError(f"{_QUERY} asks for :start, but a period of all rows has none.")
    bound = [sa.bindparam(name, days[name], sa.Date()) for name in sorted(names)]
    return sa.text(_TOKEN.sub(_escape, query)).bindparams(*bound)


def _escape(match: re.Match[str]) -> str:
    """A backslash tells SQLAlchemy that a colon begins no parameter; the end needs no semicolon."""
    if match["end"]:
        return " "
    return match[0] if match["parameter"] else match[0].replace(":", r"\:")


def _check_query(query: str) -> None:
    """One statement, of those that read."""
    bare = _TOKEN.sub(lambda match: "''" if match["quoted"] else " " if match["comment"] else match[0], query)
    statements = [statement for statement in bare.split(";") if statement.strip()]
    if len(statements) != 1:
        raise UsageError(f"{_QUERY} must be one statement; got {len(statements)}.")
    word = re.match(r"[\s(]*(\w*)", statements[0])
    if word is None or word[1].upper() not in _READING_WORDS:
        got = word[1] if word and word[1] else statements[0].strip()[:1]
        raise UsageError(f"{_QUERY} must only read, and so begin with SELECT or WITH; it begins with {got}.")
