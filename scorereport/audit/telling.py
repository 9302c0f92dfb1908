"""Telling people what an audit came to: by a command, a webhook or an e-mail.

No failure of these is one of the audit: it comes back as a sentence, without secrets.
"""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from scorereport.errors import DataError, UsageError
from scorereport.redacting import find_variables

if TYPE_CHECKING:
    import smtplib
    from collections.abc import Iterator
    from email.message import EmailMessage

    from scorereport.configuration.audit_tables import EmailTable, NotifyTable, WebhookTable
    from scorereport.history.records import Record
    from scorereport.redacting import Redactor

#: Seconds that a command may take, that a server may be silent, and that any way of telling may take in all.
COMMAND_LIMIT = 60.0
SILENCE_LIMIT = 10.0
TOTAL_LIMIT = 90.0
#: Seconds between the tries to reach a webhook.
PAUSES = (1.0, 4.0)
_PORTS = {"starttls": 587, "tls": 465, "none": 25}
_REDIRECTS = (301, 302, 307, 308)
_MOST_REDIRECTS = 3
_LONGEST_PROBLEM = 1000
_TYPES = {".pdf": ("application", "pdf"), ".html": ("text", "html"), ".json": ("application", "json")}


@dataclass(frozen=True, slots=True)
class _Vault:
    """Reads values of the configuration, and remembers which of them are secret."""

    expand: Callable[[str, str], str]
    secrets: list[str] = field(default_factory=list, repr=False)

    def read(self, text: str, key: str) -> str:
        value = self.expand(text, key)
        self.secrets.extend(os.environ.get(name, "") for name in find_variables(text))
        return value

    def read_secret(self, text: str, key: str) -> str:
        value = self.read(text, key).strip()
        self.secrets.append(value)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """What there is to tell, and the files that may go with it."""

    outcome: dict[str, Any]
    files: Sequence[Path]

    @property
    def body(self) -> bytes:
        return json.dumps(self.outcome, ensure_ascii=False).encode("utf-8", "replace")


def describe_outcome(record: Record, *, files: Sequence[Path]) -> dict[str, Any]:
    """What an audit came to, as plain JSON: the sentences are of limits not met and numbers that drifted."""
    period = record.period
    return {
        "audit": record.audit,
        "period": {"label": period.label, "start": period.start, "end": period.end},
        "as_of": record.as_of,
        "status": str(record.status),
        "exit_code": int(record.exit_code),
        "reason": record.reason,
        "judgements": [each.sentence for each in record.judgements if str(each.verdict) != "pass"],
        "drifts": [drift.sentence for drift in record.drifts if drift.has_drifted],
        "record": {"id": record.id, "sha256": record.sha256},
        "files": [str(file) for file in files],
    }


def tell(
    table: NotifyTable,
    record: Record,
    *,
    files: Sequence[Path],
    redactor: Redactor,
    expand: Callable[[str, str], str],
    folder: Path | None = None,
) -> list[str]:
    """Tell those whom the configuration names, if the outcome is one of those they want to hear of.

    Parameters
    ----------
    table
        `[audit.notify]` of the configuration.
    record
        The audit.
    files
        The files of its report, which an e-mail may carry.
    redactor
        Hides the secrets that are known already; those read here are hidden as well.
    expand
        Puts environment variables into a text of the configuration, whose key it is told.
    folder
        Where a command runs; by default where this program does.

    Returns
    -------
    list of str
        What went wrong, a sentence each.
    """
    if str(record.status) not in table.on:
        return []
    outcome = _redact_all(describe_outcome(record, files=files), redactor)
    news = _News(outcome=outcome, files=files)
    problems: list[str] = []
    for key, send in _list_ways(table, news, folder):
        vault = _Vault(expand)
        found = _attempt(send, vault)
        hide = redactor.adding(*vault.secrets).redact
        problems += [hide(f"`audit.notify.{key}`: {problem}")[:_LONGEST_PROBLEM] for problem in found]
    return problems


def _list_ways(
    table: NotifyTable, news: _News, folder: Path | None
) -> Iterator[tuple[str, Callable[[_Vault], list[str]]]]:
    if table.command:
        yield "command", lambda _: _run_command(table.command, news, folder)
    if (webhook := table.webhook) is not None:
        yield "webhook", lambda vault: _call_webhook(webhook, news, vault)
    if (email := table.email) is not None:
        yield "email", lambda vault: _send_email(email, news, vault)


def _redact_all(value: Any, redactor: Redactor) -> Any:
    """The same structure with every text in it redacted."""
    if isinstance(value, dict):
        return {key: _redact_all(part, redactor) for key, part in value.items()}
    if isinstance(value, list):
        return [_redact_all(part, redactor) for part in value]
    return redactor.redact(value) if isinstance(value, str) else value


def _attempt(send: Callable[[_Vault], list[str]], vault: _Vault) -> list[str]:
    """What went wrong; in a thread, for a server may send a byte now and then for ever."""
    answers: list[list[str]] = []

    def work() -> None:
        try:
            answers.append(send(vault))
        except Exception as error:
            answers.append([_describe_error(error)])

    thread = Thread(target=work, daemon=True, name="scorereport-telling")
    thread.start()
    thread.join(TOTAL_LIMIT)
    return answers[0] if answers else [f"this took longer than {TOTAL_LIMIT:g} seconds and was given up."]


def _describe_error(error: BaseException) -> str:
    said = _one_line(str(error))
    if isinstance(error, UsageError | DataError):
        return said
    if isinstance(error, UnicodeError):  # which quotes what it stumbles over
        return "a name, an address or a password has letters that cannot be sent."
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__}."


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _run_command(command: Sequence[str], news: _News, folder: Path | None) -> list[str]:
    """Run a program, without a shell, that reads the outcome from its standard input."""
    # Files rather than pipes: programs that it leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(news.body)
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, **_list_variables(news.outcome)},
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            _kill(process)
            return [f"the command took longer than {COMMAND_LIMIT:g} seconds and was stopped."]
        said.seek(0)
        return [] if code == 0 else [_describe_exit(code, said.read())]


def _list_variables(outcome: dict[str, Any]) -> dict[str, str]:
    values = {
        "AUDIT": outcome["audit"],
        "STATUS": outcome["status"],
        "PERIOD": outcome["period"]["label"],
        "RECORD": str(outcome["record"]["id"]),
        "EXIT_CODE": str(outcome["exit_code"]),
    }
    return {f"SCOREREPORT_{name}": value.replace("\0", "") for name, value in values.items()}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and those it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _describe_exit(code: int, said: bytes) -> str:
    lines = [line for line in map(_one_line, said.decode("utf-8", "replace").splitlines()) if line]
    ending = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"the command {ending}" + (f": {lines[-1]}" if lines else " and said nothing.")


def _call_webhook(table: WebhookTable, news: _News, vault: _Vault) -> list[str]:
    """Send the outcome to an address; tried again if the server cannot be reached or is busy."""
    url = _check_url(vault.read_secret(table.url, "audit.notify.webhook.url"))
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "scorereport"}
    for name, value in table.headers.items():
        key = f"audit.notify.webhook.headers.{name}"
        headers[name] = _check_header(vault.read_secret(value, key), name, key)
    problem = ""
    for pause in (0.0, *PAUSES):
        time.sleep(pause)
        problem, may_try_again = _post(url, headers, news.body)
        if not (problem and may_try_again):
            break
    return [problem] if problem else []


def _check_url(url: str) -> str:
    """The address, if it is one; no message shows it, as many addresses are secret."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound or not re.fullmatch(r"[\x21-\x7e]+", url):
        raise UsageError(
            "the address must begin with http:// or https://, name a host, and have neither blanks nor "
            "letters beyond ASCII."
        )
    if "@" in parts.netloc:
        raise UsageError("the address must not hold a user or password; send them by a header.")
    return url


def _check_header(value: str, name: str, key: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[\x20-\x7e]*", value):
        raise UsageError(f"`{key}` must be a name and a value of ASCII characters on one line.")
    return value


def _post(url: str, headers: dict[str, str], body: bytes) -> tuple[str, bool]:
    """What went wrong, empty if nothing, and whether another try may help."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    for _ in range(_MOST_REDIRECTS + 1):
        try:
            _open(url, headers, body)
            return "", False
        except HTTPError as error:
            error.close()
            target = urljoin(url, error.headers.get("Location") or "")
            if error.code not in _REDIRECTS:
                return (
                    f"the server answered {_name_code(error.code)}.",
                    error.code >= 500 or error.code == 429,
                )
            if not _is_same_place(url, target):
                return "the server sends on to another place, which is not followed.", False
            url = target
        except URLError as error:
            reason = error.reason if isinstance(error.reason, BaseException) else error
            return _describe_error(reason), not isinstance(reason, ssl.SSLCertVerificationError)
        except (OSError, HTTPException) as error:
            return _describe_error(error), True
    return "the server sends on again and again.", False


def _open(url: str, headers: dict[str, str], body: bytes) -> None:
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

    class NotFollowing(HTTPRedirectHandler):
        """Leaves redirects to us, for headers may hold secrets."""

        def redirect_request(self, *_: Any) -> None:
            return None

    is_encrypted = urlsplit(url).scheme == "https"
    secure = [HTTPSHandler(context=ssl.create_default_context())] if is_encrypted else []
    opener = build_opener(NotFollowing, *secure)
    request = Request(url, data=body, headers=headers, method="POST")
    with opener.open(request, timeout=SILENCE_LIMIT):
        pass


def _is_same_place(url: str, target: str) -> bool:
    """Whether a redirect stays with the same server, or goes to its encrypted side."""
    before, after = urlsplit(url), urlsplit(target)
    if (before.scheme, before.netloc) == (after.scheme, after.netloc):
        return True
    is_upgrade = (before.scheme, after.scheme) == ("http", "https")
    return is_upgrade and before.hostname == after.hostname and after.port in (None, 443)


def _name_code(code: int) -> str:
    known = {status.value for status in HTTPStatus}
    return f"{code} ({HTTPStatus(code).phrase})" if code in known else str(code)


def _send_email(table: EmailTable, news: _News, vault: _Vault) -> list[str]:
    """Send an e-mail with the sentences, and the files in the forms asked for."""
    host = vault.read(table.host, "audit.notify.email.host")
    user = vault.read(table.user, "audit.notify.email.user")
    password = vault.read_secret(table.password, "audit.notify.email.password") if table.password else ""
    message, problems = _write_message(table, news, vault)
    with _connect(host, table.port or _PORTS[table.security], table.security) as server:
        if user:
            server.login(user, password)
        refused = server.send_message(message)
    return [*problems, *(f"the server refused {_one_line(address)} as a recipient." for address in refused)]


def _connect(host: str, port: int, security: str) -> smtplib.SMTP:
    import smtplib

    if security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(host, port, timeout=SILENCE_LIMIT, context=context)
    server = smtplib.SMTP(host, port, timeout=SILENCE_LIMIT)
    if security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server


def _write_message(table: EmailTable, news: _News, vault: _Vault) -> tuple[EmailMessage, list[str]]:
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import format_datetime, localtime

    outcome = news.outcome
    message = EmailMessage(policy=SMTP)
    subject = f"scorereport: {outcome['audit']} {outcome['period']['label']}: {outcome['status']}"
    message["Subject"] = _one_line(subject)
    message["From"] = vault.read(table.sender, "audit.notify.email.sender")
    recipients = [vault.read(each, "audit.notify.email.recipients") for each in table.recipients]
    message["To"] = ", ".join(recipients)
    message["Date"] = format_datetime(localtime())
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join(_list_paragraphs(outcome)) + "\n")
    problems = [
        _attach(message, file) for file in news.files if file.suffix.removeprefix(".") in table.attach
    ]
    return message, [problem for problem in problems if problem]


def _list_paragraphs(outcome: dict[str, Any]) -> Iterator[str]:
    label = outcome["period"]["label"]
    yield f"The audit {outcome['audit']} of the period {label} came to: {outcome['status']}."
    if outcome["reason"]:
        yield outcome["reason"]
    yield from outcome["judgements"]
    yield from outcome["drifts"]
    if outcome["files"]:
        yield "\n".join(["Files:", *outcome["files"]])
    yield f"Record {outcome['record']['id']}, SHA-256 {outcome['record']['sha256']}."


def _attach(message: EmailMessage, file: Path) -> str:
    """Attach a file; a sentence if it cannot be read, for the words are to arrive all the same."""
    try:
        content = file.read_bytes()
    except OSError as error:
        return f"{file.name} could not be attached: {_describe_error(error)}"
    main, sub = _TYPES.get(file.suffix, ("application", "octet-stream"))
    message.add_attachment(content, maintype=main, subtype=sub, filename=_one_line(file.name))
    return ""
