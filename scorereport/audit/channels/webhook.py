"""Sending a text to a server; redirects are followed only where headers may go that hold secrets."""

from __future__ import annotations

import ssl
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

from scorereport.audit.channels import limits
from scorereport.audit.channels.problems import describe_channel_error

_REDIRECT_CODES = (301, 302, 307, 308)
_MAX_REDIRECTS = 3


def post_body(url: str, headers: dict[str, str], body: bytes) -> tuple[str, bool]:
    """What went wrong, empty if nothing, and whether another try may help."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    for _ in range(_MAX_REDIRECTS + 1):
        try:
            _open_connection(url, headers, body)
            return "", False
        except HTTPError as error:
            error.close()
            target = urljoin(url, error.headers.get("Location") or "")
            if error.code not in _REDIRECT_CODES:
                return (
                    f"the server answered {_describe_status_code(error.code)}.",
                    error.code >= 500 or error.code == 429,
                )
            if not is_same_server(url, target):
                return "the server sends on to another place, which is not followed.", False
            url = target
        except URLError as error:
            reason = error.reason if isinstance(error.reason, BaseException) else error
            return describe_channel_error(reason), not isinstance(reason, ssl.SSLCertVerificationError)
        except (OSError, HTTPException) as error:
            return describe_channel_error(error), True
    return "the server sends on again and again.", False


def _open_connection(url: str, headers: dict[str, str], body: bytes) -> None:
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

    class NotFollowing(HTTPRedirectHandler):
        """Leaves redirects to us, for headers may hold secrets."""

        def redirect_request(self, *_: Any) -> None:
            return None

    is_encrypted = urlsplit(url).scheme == "https"
    secure = [HTTPSHandler(context=ssl.create_default_context())] if is_encrypted else []
    opener = build_opener(NotFollowing, *secure)
    request = Request(url, data=body, headers=headers, method="POST")
    with opener.open(request, timeout=limits.SILENCE_LIMIT):
        pass


def is_same_server(url: str, target: str) -> bool:
    """Whether a redirect stays with the same server, or goes to its encrypted side."""
    before, after = urlsplit(url), urlsplit(target)
    if (before.scheme, before.netloc) == (after.scheme, after.netloc):
        return True
    is_upgrade = (before.scheme, after.scheme) == ("http", "https")
    return is_upgrade and before.hostname == after.hostname and after.port in (None, 443)


def _describe_status_code(code: int) -> str:
    known = {status.value for status in HTTPStatus}
    return f"{code} ({HTTPStatus(code).phrase})" if code in known else str(code)
