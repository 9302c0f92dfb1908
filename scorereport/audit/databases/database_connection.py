"""What a database says if it fails, in sentences that give away neither its address nor any data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted
from scorereport.audit.databases.settings import DATABASE_KEY, TIME_LIMIT_KEY, TIMEOUT_SECONDS

if TYPE_CHECKING:
    from scorereport.audit.databases.time_limits import TimeLimit

_WRITES = "the query tries to write, and an audit only reads."
_DOES_MORE = "the query, or a view it reads, does more than read tables of the file, and an audit only reads."
_NO_SERVER = f"no server answers at the address of `{DATABASE_KEY}`."
_UNKNOWN_HOST = f"the host that `{DATABASE_KEY}` names is not known."
_CANCELLED = f"the server, or somebody there, ended the query earlier than `{TIME_LIMIT_KEY}` asks for."
_ENDED = "the server ended the connection; run the audit again."
#: What SQLite says of a query, which names nothing but parts of it.
_SQLITE_QUERY = re.compile(
    r'(no such (table|column|function|collation sequence): .*|near ".*": syntax error'
    r"|ambiguous column name: .*|unrecognized token: .*|incomplete input|misuse of .*|wrong number of arg.*)",
    re.DOTALL,
)
_SQLITE = {
    "readonly database": _WRITES,
    "not authorized": _DOES_MORE,
    "prohibited": _DOES_MORE,
    "unsafe use": _DOES_MORE,
    "database is locked": f"another program kept the file locked for {TIMEOUT_SECONDS} s; run the audit later.",
    "not a database": f"the file that `{DATABASE_KEY}` names is none of SQLite.",
    "unable to open": "the file cannot be opened; look at the permissions of the file and of its folder.",
    "malformed": "the file is damaged.",
    "decode to UTF-8": "a text in it is not UTF-8.",
}
_POSTGRESQL = {
    "password authentication failed": f"the server refuses the user or the password of `{DATABASE_KEY}`.",
    "no password supplied": f"the server asks for a password, and `{DATABASE_KEY}` has none.",
    "Connection refused": _NO_SERVER,
    "No such file or directory": _NO_SERVER,
    "timeout": f"no server answered within {TIMEOUT_SECONDS} seconds at the address of `{DATABASE_KEY}`.",
    "resolve host": _UNKNOWN_HOST,
    "translate host name": _UNKNOWN_HOST,
    "does not exist": f"the server has no database or no user of the name in `{DATABASE_KEY}`.",
    "server closed the connection": _ENDED,
    "connection is lost": _ENDED,
    "too large": "it holds a time that is infinite or after the year 9999.",
    "too small": "it holds a time before the year 1.",
}


def explain_database_error(error: Exception, source: str, kind: str, limit: TimeLimit) -> str:
    """What a database says, in a sentence that gives away neither its address nor any data."""
    cause = getattr(error, "orig", None) or error
    if limit.is_over and _is_cancelled(cause):
        reason = f"it took longer than {format_counted(limit.seconds, 'second')}, the limit that `{TIME_LIMIT_KEY}` sets."
    else:
        reason = _explain_sqlite(cause) if kind == "sqlite" else _explain_postgresql(cause)
    return describe_refusal(source, reason)


def describe_refusal(source: str, reason: str) -> str:
    """The sentence that a source cannot be read for a reason."""
    return f"The {source} cannot be read: {reason}"


def _is_cancelled(cause: BaseException) -> bool:
    return getattr(cause, "sqlstate", "") == "57014" or str(cause) == "interrupted"


def _explain_sqlite(cause: BaseException) -> str:
    said = str(cause)
    if getattr(cause, "sqlite_errorname", "").startswith("SQLITE_READONLY_"):
        return "SQLite needs to write beside the file, which is in WAL mode, and may not write in its folder."
    if _SQLITE_QUERY.fullmatch(said):
        return f"{' '.join(said.split())}."
    known = next((told for part, told in _SQLITE.items() if part in said), None)
    return known or f"SQLite failed ({type(cause).__name__})."


def _explain_postgresql(cause: BaseException) -> str:
    state: str = getattr(cause, "sqlstate", None) or ""
    if state == "25006" or (state == "0A000" and "DECLARE CURSOR" in str(cause)):
        return _WRITES
    if state == "08P01":
        return "it has a parameter such as $1, and may have no others than :start and :end."
    if _is_cancelled(cause):
        return _CANCELLED
    if state.startswith("57P"):
        return _ENDED
    if state.startswith("42"):  # errors of the query, which name its words, and rights that are lacking
        return f"{' '.join(str(cause.diag.message_primary).split())}."  # type: ignore[attr-defined]
    known = next((told for part, told in _POSTGRESQL.items() if not state and part in str(cause)), None)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(cause).__name__).lower()
    return known or f"PostgreSQL failed ({words})."
