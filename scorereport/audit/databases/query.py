"""Query of an audit: checked to be a single reading statement, and bound to the days or hours of the period.

The check gives an early and clear error. It guarantees nothing: only the read-only session does.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import BindParameter, TextClause

    from scorereport.configuration.periods import Period

_QUERY = "`audit.source.query`"
#: The first keyword of a query that only reads.
_READING_WORDS = ("SELECT", "WITH", "VALUES", "TABLE")
#: For PostgreSQL, every character beyond ASCII is a letter. A name does not end before a letter or a dollar.
_LETTER = r"[A-Za-z_\u0080-\U0010ffff]"
_WORD_START = r"(?<![A-Za-z0-9_$\u0080-\U0010ffff])"
_TAG = rf"(?:{_LETTER}(?:{_LETTER}|[0-9])*)?"
#: Quoted parts, and the rest of a one-line comment, in each kind of database.
_QUOTED = {
    "postgresql": rf"""
        {_WORD_START}[eE]'(?:[^'\\]|\\.|'')*'(?:\s*\n\s*'(?:[^'\\]|\\.|'')*')*
      | {_WORD_START}\$(?P<tag>{_TAG})\$.*?\$(?P=tag)\$
      | '(?:[^']|'')*' | "(?:[^"]|"")*"
    """,
    "sqlite": r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\]""",
}
_LINE = {"postgresql": r"[^\n\r]*", "sqlite": r"[^\n]*"}
#: The start of a quoted part that is never closed: it is tried after `_QUOTED`, which needs the end.
_OPENING = {
    "postgresql": rf"""['"] | {_WORD_START}[eE]' | {_WORD_START}\${_TAG}\$""",
    "sqlite": r"""['"`\[]""",
}


@cache  # compiled when a query is read: most audits have none
def _compile_tokens(kind: str) -> re.Pattern[str]:
    """Compile the pattern of the parts of a query that matter for colons and semicolons."""
    return re.compile(
        rf"""
        (?P<quoted> {_QUOTED[kind]} )
        | (?P<comment> --{_LINE[kind]} | /\* )
        | (?P<opening> {_OPENING[kind]} )
        | (?P<cast> :: )
        | (?<!\w):(?P<parameter>[^\W\d]\w*)
        | (?P<colon> : )
        | (?P<end> ; )
        """,
        re.VERBOSE | re.DOTALL,
    )


_COMMENT_EDGE = re.compile(r"/\*|\*/")


class _Part(NamedTuple):
    """A part of a query: `kind` is code, quoted, comment, cast, parameter, colon or end."""

    kind: str
    text: str


def bind_period(query: str, period: Period, database: str) -> TextClause:
    """Return the query with its parameters :start and :end, if any, bound to the edges of the period."""
    import sqlalchemy as sa

    parts = list(_split(query, database))
    _check_query(parts)
    bounds = {"start": period.start, "end": period.end}
    names = sorted({part.text[1:] for part in parts if part.kind == "parameter"})
    for name in names:
        if name not in bounds:
            raise UsageError(f"{_QUERY} may have the parameters :start and :end; got :{name}.")
        if bounds[name] is None:
            raise UsageError(f"{_QUERY} has the parameter :start, but a period of all rows has no start.")
    bound = [_bind_time(name, bounds[name] or "", database) for name in names]
    return sa.text("".join(map(_escape, parts))).bindparams(*bound)


def _bind_time(name: str, text: str, database: str) -> BindParameter[Any]:
    """Bind a day as a date, an hour as a local time; SQLite, which has no times, compares texts.

    Its texts end with the minutes, so that they come before those with seconds, as `datetime()` writes them.
    """
    import sqlalchemy as sa

    if "T" not in text:
        return sa.bindparam(name, date.fromisoformat(text), sa.Date())
    if database == "sqlite":
        return sa.bindparam(name, text.replace("T", " "), sa.String())
    return sa.bindparam(name, datetime.fromisoformat(text), sa.DateTime())


def _split(query: str, database: str) -> Iterator[_Part]:
    """Split a query into consecutive parts; raise an error if a quote or a comment is not closed."""
    if "\0" in query:
        raise UsageError(f"{_QUERY} must not contain the character NUL.")
    place, token = 0, _compile_tokens(database)
    while match := token.search(query, place):
        kind = next(name for name, text in match.groupdict().items() if text is not None and name != "tag")
        end = match.end()
        if match[0] == "/*":
            end = _find_comment_end(query, match.start(), nests=database == "postgresql")
        if kind == "opening" or end < 0:
            line = query.count("\n", 0, match.start()) + 1
            raise UsageError(f"{_QUERY} opens {match[0]} in line {line} and does not close it.")
        yield _Part("code", query[place : match.start()])
        yield _Part(kind, query[match.start() : end])
        place = end
    yield _Part("code", query[place:])


def _find_comment_end(query: str, start: int, *, nests: bool) -> int:
    """Return the end of the comment that begins at `start`; -1 if it is not closed."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(query, start):
        if edge[0] == "*/":
            depth -= 1
        elif nests or not depth:
            depth += 1
        if depth == 0:
            return edge.end()
    return -1


def _escape(part: _Part) -> str:
    """Escape colons that begin no parameter for SQLAlchemy, and remove the final semicolon."""
    if part.kind == "end":
        return " "
    return part.text if part.kind == "parameter" else part.text.replace(":", r"\:")


def _check_query(parts: Sequence[_Part]) -> None:
    """Refuse a query that is not a single reading statement."""
    shown = {"quoted": "''", "comment": " "}
    bare = "".join(shown.get(part.kind, part.text) for part in parts)
    statements = [statement for statement in bare.split(";") if statement.strip()]
    if len(statements) != 1:
        raise UsageError(f"{_QUERY} must be one statement; got {len(statements)}.")
    word = re.match(r"[\s(]*(\w*)", statements[0])
    if word is None or word[1].upper() not in _READING_WORDS:
        got = word[1] if word and word[1] else statements[0].strip()[:1]
        raise UsageError(
            f"{_QUERY} must only read, so it must begin with SELECT or WITH; it begins with {got}."
        )
