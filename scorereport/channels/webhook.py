"""Webhook channel: the outcome is posted as JSON; redirects are followed only where headers may go."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urljoin, urlsplit

from scorereport._utils.redaction import SECRET_REFUSED, find_literal_secret, find_variables
from scorereport.channels import notification
from scorereport.channels.channel import STRICT, Channel
from scorereport.channels.notification import describe_channel_error
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.channels.channel import Problem
    from scorereport.channels.notification import Notification, SecretReader

_REDIRECT_CODES = (301, 302, 307, 308)
_MAX_REDIRECTS = 3
#: Headers that hold no secrets.
_PLAIN_HEADERS = ("accept", "content-type", "user-agent")
#: Long parts of an address, and values in its query, are likely secrets.
_SECRET_PLACE = re.compile(
    r"://[^/?#]*/.*([A-Za-z0-9_-]{16}|\?.*=)|://[^/?#]*(slack|discord|office|azure)\.com(:[0-9]+)?/."
)
_NOT_ENCRYPTED = (
    "must begin with https:// if the address or a header holds a secret; "
    "got http://, which is not encrypted. Only localhost may be reached by http://."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTable:
    """`[audit.notify.webhook]`: an address to which the outcome of an audit is sent as JSON."""

    __pydantic_config__: ClassVar = STRICT

    url: str
    headers: dict[str, str] = field(default_factory=dict)


def find_address_problems(webhook: WebhookTable) -> Iterator[Problem]:
    """Find what is wrong with an address and its headers: the keys, and a rule for each."""
    is_plain = not find_variables(webhook.url)
    if find_literal_secret(webhook.url) or (is_plain and _SECRET_PLACE.search(webhook.url)):
        yield ("url",), SECRET_REFUSED
    for name, value in webhook.headers.items():
        if name.lower() not in _PLAIN_HEADERS and not find_variables(value):
            yield ("headers", name), "must take its secret from the environment, as ${NAME}; got plain text."
    if not _is_encrypted(webhook.url, webhook):
        yield ("url",), _NOT_ENCRYPTED
    if not re.match(r"(?i)https?://|\$\{", webhook.url):
        yield ("url",), f"must begin with https:// or http://; got {webhook.url!r}."


def _is_encrypted(url: str, webhook: WebhookTable) -> bool:
    """Whether no secret is sent over http, except to this machine.

    The address may hold variables or their values; a host that is a variable is checked later.
    """
    host = re.match(r"(?i)http://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^:/?#]*)", url)
    is_secret = bool(find_variables(webhook.url)) or any(map(find_variables, webhook.headers.values()))
    if not (host and is_secret):
        return True
    return bool(find_variables(host[1])) or _is_loopback(host[1].strip("[]"))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """The answer of a server, or the problem, and whether another attempt may help."""

    content: bytes = b""
    problem: str = ""
    may_try_again: bool = False


def post_body(url: str, headers: dict[str, str], body: bytes, *, limit: int = 0) -> ServerAnswer:
    """Post the body; return the answer if it has at most `limit` bytes, without `limit` an empty one."""
    import ssl
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    for _ in range(_MAX_REDIRECTS + 1):
        try:
            content = _open_connection(url, headers, body, limit + 1 if limit else 0)
            too_long = f"the server answered with more than {limit} bytes."
            return ServerAnswer(problem=too_long) if len(content) > limit else ServerAnswer(content=content)
        except HTTPError as error:
            error.close()
            target = urljoin(url, error.headers.get("Location") or "")
            if error.code not in _REDIRECT_CODES:
                return ServerAnswer(
                    problem=f"the server answered {_describe_status_code(error.code)}.",
                    may_try_again=error.code >= 500 or error.code == 429,
                )
            if not is_same_server(url, target):
                return ServerAnswer(problem="the server redirects to another server, which is not followed.")
            url = target
        except URLError as error:
            reason = error.reason if isinstance(error.reason, BaseException) else error
            may_try_again = not isinstance(reason, ssl.SSLCertVerificationError)
            return ServerAnswer(problem=describe_channel_error(reason), may_try_again=may_try_again)
        except (OSError, HTTPException) as error:
            return ServerAnswer(problem=describe_channel_error(error), may_try_again=True)
    return ServerAnswer(problem="the server redirects too often.")


def _open_connection(url: str, headers: dict[str, str], body: bytes, size: int) -> bytes:
    import ssl
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

    class NotFollowing(HTTPRedirectHandler):
        """Does not follow redirects: `post_body` decides, because headers may hold secrets."""

        def redirect_request(self, *_: Any) -> None:
            return None

    is_encrypted = urlsplit(url).scheme == "https"
    secure = [HTTPSHandler(context=ssl.create_default_context())] if is_encrypted else []
    opener = build_opener(NotFollowing, *secure)
    request = Request(url, data=body, headers=headers, method="POST")
    with opener.open(request, timeout=notification.SILENCE_LIMIT) as response:
        return bytes(response.read(size)) if size else b""


def is_same_server(url: str, target: str) -> bool:
    """Whether a redirect stays on the same server, or upgrades it to https."""
    before, after = urlsplit(url), urlsplit(target)
    if (before.scheme, before.netloc) == (after.scheme, after.netloc):
        return True
    is_upgrade = (before.scheme, after.scheme) == ("http", "https")
    return is_upgrade and before.hostname == after.hostname and after.port in (None, 443)


def _describe_status_code(code: int) -> str:
    from http import HTTPStatus

    known = {status.value for status in HTTPStatus}
    return f"{code} ({HTTPStatus(code).phrase})" if code in known else str(code)


def call_webhook(table: WebhookTable, message: Notification, reader: SecretReader) -> list[str]:
    """Post the outcome to an address and return problems; retry if the server is unreachable or busy."""
    url = check_address(reader.read_secret(table.url, "url"), table, f"{reader.table}.url")
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "scorereport"}
    for name, value in table.headers.items():
        key = f"headers.{name}"
        headers[name] = _check_header(reader.read_secret(value, key), name, f"{reader.table}.{key}")
    answer = ServerAnswer()
    for pause in (0.0, *notification.RETRY_PAUSES):
        time.sleep(pause)
        answer = post_body(url, headers, message.body)
        if not answer.may_try_again:
            break
    return [answer.problem] if answer.problem else []


def check_address(url: str, table: WebhookTable, key: str) -> str:
    """Return an address with its secrets if it may be called; an error names its key and never shows it."""
    checked = _check_url(url)
    if not _is_encrypted(checked, table):
        raise UsageError(f"`{key}` {_NOT_ENCRYPTED}")
    return checked


def _check_url(url: str) -> str:
    """Return the address if it is valid; no error message shows it, because many addresses are secret."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or not re.fullmatch(r"[\x21-\x7e]+", url):
        raise UsageError(
            "the address must begin with http:// or https://, name a host, and have neither spaces nor "
            "characters beyond ASCII."
        )
    if "@" in parts.netloc:
        raise UsageError("the address must not contain a user or password; send them in a header.")
    return url


def _check_header(value: str, name: str, key: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[\x20-\x7e]*", value):
        raise UsageError(f"`{key}` must be a name and a value of ASCII characters on one line.")
    return value


CHANNEL = Channel(
    name="webhook",
    help=(
        "a table: `url`, and `headers` if any; the same JSON is posted to it. If the address or a header "
        "contains a secret, the address must begin with `https://`, except for localhost"
    ),
    table=WebhookTable,
    find_problems=find_address_problems,
    send=call_webhook,
    rank=2,
)
