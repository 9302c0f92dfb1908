"""Secrets: read from environment variables, and hidden in every text that is written or sent."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The text that replaces a secret.
MASK = "***"
#: The rule for a value of the configuration that holds a secret, after the name of its key.
SECRET_REFUSED = (
    "must not hold a password or a token, because reports contain their configuration: "
    "write ${NAME} instead, and set the environment variable NAME."
)
#: Shorter values are not treated as secrets: hiding them would spoil every text and give them away.
SHORTEST_SECRET = 4
_SHORTEST_LINE = 8
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WEB_LOGIN = re.compile(r"""(?:(?<=http://)|(?<=https://))[^\s/?#'"<>]+(?=@)""", re.IGNORECASE)
#: The login of a database address, as SQLAlchemy reads it: a password may contain anything.
_LOGIN = re.compile(r"""(?<!http://)(?<!https://)(?<=://)[^\s/:@?#'"<>]*:[^\s'"<>]+(?=@)""", re.IGNORECASE)
#: A login with blanks; a text that continues after a port or a path is not a login.
_SPACED_LOGIN = re.compile(r"""(?<=://)[^\n/:@?#'"<>]*:(?=\S)[^\n/'"<>]*(?=@)""")
#: The password of a text that is a complete address, which may contain anything.
_PASSWORD = re.compile(r"(?<!http)(?<!https)://[^/:@?#]*:(.+)@", re.IGNORECASE | re.DOTALL)
_WEB_PASSWORD = re.compile(r"https?://[^/?#:]*:([^/?#]+)@", re.IGNORECASE)
_ADDRESS_LOGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^@]*@")
#: User, host and database of a URL that is a secret itself.
_PLACE = re.compile(r"[A-Za-z][\w+.-]*://(?:([^:@/?#]*)[^@/?#]*@)?([^:/?#]*)[^/?#]*/?([^?#]*)")
_SECRET_KEYS = "(?:ssl)?password|passwd|pwd|token|secret|api_?key"
#: A value in quotes, or in the braces of ODBC, may contain blanks.
_PARAMETER = re.compile(
    rf"""(?<![A-Za-z])(?:{_SECRET_KEYS})(?:\s*=\s*(?='[^']|"[^"]|\{{[^}}])|=|\s*=\s*(?![${{]))"""
    r"""('(?:[^'\\]|\\.)+'|"(?:[^"\\]|\\.)+"|\{[^}]+\}|[^\s&;'"<>]+)""",
    re.IGNORECASE,
)
_SECRET_KEY = re.compile(_SECRET_KEYS, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Hides secrets in texts; its own representation does not show them.

    Parameters
    ----------
    secrets
        The values to hide, in any form: plain, in a URL, in JSON, HTML or base64.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)

    def redact(self, text: str) -> str:
        """Replace each secret, and the login in any URL, by ***.

        >>> Redactor(("s3cret/word",)).redact("sent s3cret%2Fword to https://me:other@host/path")
        'sent *** to https://***@host/path'
        """
        spans = sorted([*_find_forms(text, self.secrets), *_find_logins(text)])
        return "".join(_mask(text, spans))

    def adding(self, *secrets: str) -> Redactor:
        """Return a redactor that hides these secrets as well."""
        return Redactor(tuple(dict.fromkeys((*self.secrets, *secrets))))


def expand_variables(
    text: str, environ: Mapping[str, str] = os.environ, *, key: str = "a value"
) -> tuple[str, tuple[str, ...]]:
    """Replace each `${NAME}` by the value of the environment variable; return the text and these values.

    `key` is the key of the text in the configuration, for messages. No other syntax has a special meaning.

    >>> expand_variables("postgresql://me:${PASSWORD}@host/data", {"PASSWORD": "s3cret"})
    ('postgresql://me:s3cret@host/data', ('s3cret',))
    """
    if "${" in _VARIABLE.sub("", text):
        raise UsageError(
            f"In `{key}`, `${{` must be followed by the name of an environment variable, of letters, digits "
            "and underscores, and by `}`."
        )
    values = {name: _read_variable(name, environ, key) for name in find_variables(text)}
    return _VARIABLE.sub(lambda match: values[match[1]], text), tuple(dict.fromkeys(values.values()))


def expand_address(text: str, environ: Mapping[str, str] = os.environ, *, key: str = "a value") -> str:
    """Expand the variables of a database address; values in the login are quoted, so they may be any text.

    >>> expand_address("postgresql://me:${PASSWORD}@host/data", {"PASSWORD": "p@ss/word"})
    'postgresql://me:p%40ss%2Fword@host/data'
    >>> expand_address("${DATABASE}", {"DATABASE": "postgresql://me:p%40ss@host/data"})
    'postgresql://me:p%40ss@host/data'
    """
    login = _ADDRESS_LOGIN.match(text)
    if login is None:
        return expand_variables(text, environ, key=key)[0]
    quoted = {name: quote(environ[name], safe="") for name in find_variables(login[0]) if name in environ}
    return (
        expand_variables(login[0], quoted, key=key)[0]
        + expand_variables(text[login.end() :], environ, key=key)[0]
    )


def find_variables(text: str) -> list[str]:
    """Return the names of the environment variables in a text.

    >>> find_variables("${USER_NAME}:${PASSWORD}")
    ['USER_NAME', 'PASSWORD']
    """
    return _VARIABLE.findall(text)


def find_literal_secret(url: str) -> bool:
    """Whether a URL contains a password, or part of one, rather than an environment variable.

    >>> find_literal_secret("postgresql://me:s3cret@host/data")
    True
    >>> find_literal_secret("postgresql://me:${PASSWORD}@host/data")
    False
    """
    text = _VARIABLE.sub("", url)
    return any(pattern.search(text) for pattern in (_PARAMETER, _PASSWORD, _WEB_PASSWORD))


def find_passwords(address: str) -> tuple[str, ...]:
    """Return the passwords in an address, before its host or in its query, as they are written there.

    >>> find_passwords("postgresql://me:s3 cret@host/data?sslpassword=4 you")
    ('s3 cret', '4 you')
    """
    pairs = (pair.partition("=") for pair in address.partition("?")[2].split("&"))
    named = (value for key, _, value in pairs if _SECRET_KEY.fullmatch(key.strip()))
    return tuple(filter(None, (*_PASSWORD.findall(address), *_WEB_PASSWORD.findall(address), *named)))


def _read_variable(name: str, environ: Mapping[str, str], key: str) -> str:
    value = environ.get(name, "")
    if not value:
        state = "empty" if name in environ else "not set"
        raise UsageError(
            f"`{key}` needs the environment variable {name}, which is {state}; set it where the audit runs."
        )
    return value


def _find_forms(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    for form in {form for secret in secrets for form in _list_forms(secret)}:
        start = text.find(form)
        while start >= 0:
            yield start, start + len(form)
            start = text.find(form, start + 1)


def _find_logins(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_LOGIN, _SPACED_LOGIN, _WEB_LOGIN):
        yield from (match.span() for match in pattern.finditer(text))
    for match in _PARAMETER.finditer(text):
        yield match.span(1)


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Parts of the text between spans, and one mask for spans that touch or overlap."""
    done = -1
    for start, end in spans:
        if start > done:
            yield text[max(done, 0) : start]
            yield MASK
        done = max(done, end)
    yield text[max(done, 0) :]


def _list_forms(secret: str) -> Iterator[str]:
    """All forms of a secret in a text."""
    for part in _list_parts(secret):
        yield part
        yield from {quoted for safe in ("", "/") for quoted in _quote(part, safe)}
        yield from (json.dumps(part, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
        yield repr(part)[1:-1]
        yield html.escape(part)
        yield from _list_encoded(part.encode("utf-8", "surrogateescape"))


def _list_parts(secret: str) -> set[str]:
    """The secret, its lines if there are several, and for a URL its passwords, user, host and database."""
    lines = {line.strip() for line in secret.splitlines()}
    logins = [*_LOGIN.findall(secret), *_WEB_LOGIN.findall(secret)]
    passwords = {login.partition(":")[2] or login for login in logins} | set(_PASSWORD.findall(secret))
    place = _PLACE.match(secret.strip())
    named = set() if place is None else {part for part in place.groups() if part}
    candidates = {
        secret,
        secret.strip(),
        " ".join(secret.split()),
        *passwords,
        *map(unquote, passwords),
        *named,
    }
    return {part for part in candidates if len(part) >= SHORTEST_SECRET} | {
        line for line in lines if len(line) >= _SHORTEST_LINE
    }


def _quote(text: str, safe: str) -> Iterator[str]:
    for way in (quote, quote_plus):
        quoted = way(text, safe=safe, errors="surrogateescape")
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)


def _list_encoded(data: bytes) -> Iterator[str]:
    """The part of each base64 form that does not depend on the bytes before and after the secret."""
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode()
        stable = encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        yield stable
        yield stable.translate(str.maketrans("+/", "-_"))
