"""Notifications reach real servers, and every problem is a sentence without secrets."""

from __future__ import annotations

import base64
import email
import email.policy
import json
import os
import socket
import socketserver
import ssl
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scorereport._utils.redaction import Redactor, expand_variables
from scorereport.audit.delivery import send_notifications
from scorereport.audit.outcomes import summarize_outcome
from scorereport.channels import notification
from scorereport.channels.mail import EmailTable
from scorereport.channels.webhook import WebhookTable, is_same_server
from scorereport.configuration.audit_tables import NotifyTable
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.configuration.periods import Period
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.trend.drift_records import Drift

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage

SECRET = "geheim/42 wort"
HOST = "127.0.0.1"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxies, short waits, one secret in the environment."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TOKEN", SECRET)
    monkeypatch.setattr(notification, "RETRY_PAUSES", (0.01, 0.02))
    monkeypatch.setattr(notification, "SILENCE_LIMIT", 5.0)
    monkeypatch.setattr("socket.getfqdn", lambda *_: "localhost")


def judge(verdict: LimitVerdict, sentence: str) -> Judgement:
    return Judgement(
        model="logit",
        group="",
        measure="brier",
        label="Brier score",
        value=0.2,
        lower=0.19,
        upper=0.21,
        level=0.9,
        warn_lower=None,
        warn_upper=0.15,
        fail_lower=None,
        fail_upper=0.18,
        verdict=verdict,
        sentence=sentence,
    )


def drift(sentence: str, has_drifted: bool) -> Drift:
    return Drift(
        model="logit",
        measure="brier",
        label="Brier score",
        value=0.2,
        reference=0.1,
        difference=0.1,
        lower=0.05,
        upper=0.15,
        statistic=3.0,
        p_value=0.001,
        p_value_adjusted=0.01,
        has_drifted=has_drifted,
        method="z",
        sentence=sentence,
    )


def make_record(**changes: Any) -> Record:
    values: dict[str, Any] = {
        "id": 17,
        "audit": "retail-default",
        "period": Period(label="2026-10", start="2026-10-01", end="2026-11-01"),
        "as_of": "2026-11-15T06:30:00+01:00",
        "status": AuditStatus.FAIL,
        "exit_code": 1,
        "started": "2026-11-15T05:30:00+00:00",
        "finished": "2026-11-15T05:31:00+00:00",
        "judgements": (
            judge(LimitVerdict.PASS, "This is met."),
            judge(LimitVerdict.FAIL, "The Brier score is too high."),
        ),
        "drifts": (drift("The score has risen.", True), drift("Nothing moved.", False)),
    }
    return Record(**{**values, **changes})


def send(
    table: NotifyTable, record: Record | None = None, files: tuple[Path, ...] = (), **more: Any
) -> list[str]:
    """Send notifications; assert that the problems contain the secret in no encoding."""
    problems = send_notifications(
        table,
        record or make_record(),
        files=files,
        redactor=Redactor(),
        expand=lambda text, key: expand_variables(text, key=key)[0],
        **more,
    )
    shown = "\n".join(problems)
    encoded = base64.b64encode(SECRET.encode()).decode().rstrip("=")
    assert not [form for form in (SECRET, "geheim", "42 wort", "geheim%2F42", encoded) if form in shown]
    return problems


# Content and selection


def test_an_outcome_is_plain_json() -> None:
    record = make_record()
    outcome = summarize_outcome(record, files=[Path("/srv/reports/2026-10.pdf")])
    assert json.loads(json.dumps(outcome)) == outcome
    text = outcome.pop("text")
    assert text.startswith("The audit retail-default of the period 2026-10 has the status: fail.\n\n")
    assert outcome == {
        "subject": "retail-default 2026-10: fail - Brier score 0.2, limit 0.18 (logit)",
        "findings": ["The Brier score is too high.", "The score has risen."],
        "link": "/srv/reports/2026-10.pdf",
        "audit": "retail-default",
        "period": {"label": "2026-10", "start": "2026-10-01", "end": "2026-11-01"},
        "as_of": "2026-11-15T06:30:00+01:00",
        "status": "fail",
        "exit_code": 1,
        "reason": "",
        "summary": None,
        "judgements": ["The Brier score is too high."],
        "drifts": ["The score has risen."],
        "record": {"id": 17, "sha256": record.sha256},
        "head": {"id": 17, "sha256": record.sha256, "key": ""},
        "files": ["/srv/reports/2026-10.pdf"],
    }


def test_only_selected_outcomes_are_notified(tmp_path: Path) -> None:
    table = NotifyTable(on=("fail", "failed"), command=("touch", "sent"))
    assert send(table, make_record(status=AuditStatus.PASS), folder=tmp_path) == []
    assert send(table, make_record(status=AuditStatus.UNCERTIFIED), folder=tmp_path) == []
    assert list(tmp_path.iterdir()) == []
    assert send(table, make_record(status=AuditStatus.FAILED), folder=tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["sent"]


def test_a_table_without_channels_is_not_a_problem() -> None:
    assert send(NotifyTable()) == []


# Commands


def test_a_command_gets_json_and_variables_and_no_shell(tmp_path: Path) -> None:
    code = (
        "import json, os, sys; names = ('AUDIT', 'STATUS', 'PERIOD', 'RECORD', 'EXIT_CODE'); "
        "values = [os.environ['SCOREREPORT_' + name] for name in names]; "
        "json.dump([json.load(sys.stdin), values, sys.argv[1:]], open('sent.json', 'w'))"
    )
    table = NotifyTable(command=(sys.executable, "-S", "-c", code, "$(touch harm)", "; touch harm"))
    assert send(table, folder=tmp_path) == []
    outcome, variables, arguments = json.loads((tmp_path / "sent.json").read_text())
    assert outcome == summarize_outcome(make_record(), files=[])
    assert variables == ["retail-default", "fail", "2026-10", "17", "1"]
    assert arguments == ["$(touch harm)", "; touch harm"]
    assert not (tmp_path / "harm").exists()


def test_notifications_contain_no_secrets(tmp_path: Path) -> None:
    record = make_record(
        status=AuditStatus.FAILED, reason=f"No login with {SECRET}.", judgements=(), drifts=()
    )
    table = NotifyTable(command=("sh", "-c", "cat > sent.json"))
    redactor = Redactor((SECRET,))
    problems = send_notifications(
        table, record, files=[], redactor=redactor, expand=lambda text, _: text, folder=tmp_path
    )
    assert problems == []
    assert json.loads((tmp_path / "sent.json").read_text())["reason"] == "No login with ***."


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo first >&2; echo last words >&2; echo >&2; exit 3", "ended with exit code 3: last words"),
        ("exit 2", "ended with exit code 2 without an error message."),
        ("kill -9 $$", "was ended by signal 9 without an error message."),
        (
            'echo "postgresql://me:word@host/db" >&2; exit 1',
            "ended with exit code 1: postgresql://***@host/db",
        ),
    ],
)
def test_a_command_that_fails_is_a_problem(script: str, problem: str) -> None:
    assert send(NotifyTable(command=("sh", "-c", script))) == [
        f"`audit.notify.command`: the command {problem}"
    ]


def test_a_long_problem_is_cut_after_secrets_are_hidden() -> None:
    script = 'printf "%0960d%s" 0 "$TOKEN$TOKEN" >&2; exit 1'
    table = NotifyTable(command=("sh", "-c", script))
    expanding = Redactor((SECRET,))
    (problem,) = send_notifications(
        table, make_record(), files=[], redactor=expanding, expand=lambda text, _: text
    )
    assert len(problem) <= 1000
    assert "geheim" not in problem


def test_a_missing_command_is_a_problem() -> None:
    (problem,) = send(NotifyTable(command=("/nowhere/notify",)))
    assert problem.startswith("`audit.notify.command`: FileNotFoundError: ")
    assert "/nowhere/notify" in problem


def test_a_command_that_hangs_is_stopped_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification, "COMMAND_LIMIT", 0.2)
    started = time.monotonic()
    command = ("sh", "-c", "(sleep 0.6; touch late) & sleep 60")
    assert send(NotifyTable(command=command), folder=tmp_path) == [
        "`audit.notify.command`: the command took longer than 0.2 seconds and was stopped."
    ]
    assert time.monotonic() - started < 5
    time.sleep(0.7)
    assert not (tmp_path / "late").exists()


def test_a_background_program_does_not_delay_the_run() -> None:
    started = time.monotonic()
    assert send(NotifyTable(command=("sh", "-c", "sleep 3 & exit 0"))) == []
    assert time.monotonic() - started < 2.5


# Webhooks


@dataclass
class Hook:
    """A web server: the requests that it got, and the codes that it answers; the last code is repeated."""

    answers: list[int] = field(default_factory=lambda: [200])
    location: str = ""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def run_hook(hook: Hook, context: ssl.SSLContext | None = None) -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.requests.append((self.path, dict(self.headers.items()), body))
            is_moved = bool(hook.location) and self.path != "/new"
            code = 308 if is_moved else hook.answers[min(len(hook.requests), len(hook.answers)) - 1]
            self.send_response(code)
            if is_moved:
                self.send_header("Location", hook.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Ignore clients that reject the certificate and close the connection."""

    with Server((HOST, 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        hook.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield hook
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def hook() -> Iterator[Hook]:
    with run_hook(Hook()) as running:
        yield running


def call(url: str, **headers: str) -> NotifyTable:
    return NotifyTable(webhook=WebhookTable(url=url, headers=headers))


def test_a_webhook_gets_json_with_headers(hook: Hook) -> None:
    assert send(call(f"{hook.url}/in?x=1", Authorization="Bearer ${TOKEN}", Extra="plain")) == []
    ((path, headers, body),) = hook.requests
    assert path == "/in?x=1"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert headers["Extra"] == "plain"
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(body) == summarize_outcome(make_record(), files=[])


def test_a_webhook_that_is_busy_is_tried_again(hook: Hook) -> None:
    hook.answers = [500, 429, 200]
    assert send(call(hook.url)) == []
    assert len(hook.requests) == 3


def test_a_webhook_that_stays_busy_is_a_problem(hook: Hook) -> None:
    hook.answers = [503]
    problem = "`audit.notify.webhook`: the server answered 503 (Service Unavailable)."
    assert send(call(hook.url, Key="${TOKEN}")) == [problem]
    assert len(hook.requests) == 3


def test_a_webhook_that_refuses_is_not_tried_again(hook: Hook) -> None:
    hook.answers = [404]
    assert send(call(hook.url)) == ["`audit.notify.webhook`: the server answered 404 (Not Found)."]
    assert len(hook.requests) == 1


def test_a_redirect_on_the_same_server_is_followed(hook: Hook) -> None:
    hook.location = "/new"
    assert send(call(f"{hook.url}/old", Key="${TOKEN}")) == []
    assert [path for path, _, _ in hook.requests] == ["/old", "/new"]
    assert hook.requests[1][1]["Key"] == SECRET
    assert hook.requests[1][2] == hook.requests[0][2]


def test_a_redirect_to_another_server_is_not_followed(hook: Hook) -> None:
    with run_hook(Hook()) as other:
        hook.location = f"{other.url}/new"
        assert send(call(hook.url, Key="${TOKEN}")) == [
            "`audit.notify.webhook`: the server redirects to another server, which is not followed."
        ]
        assert other.requests == []


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("http://host:80/other", True),
        ("https://host/x", True),
        ("https://host:443/x", True),
        ("https://host:8443/x", False),
        ("https://other/x", False),
        ("http://host:81/x", False),
        ("http://host:80@other/x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_the_same_server_may_be_its_encrypted_side(target: str, expected: bool) -> None:
    assert is_same_server("http://host:80/x", target) is expected
    assert is_same_server("https://host/x", "http://host/x") is False


def test_a_circular_redirect_ends(hook: Hook) -> None:
    hook.location = "/round"
    assert send(call(hook.url)) == ["`audit.notify.webhook`: the server redirects too often."]
    assert len(hook.requests) == 4


@contextmanager
def listen() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as server:
        yield server


def test_a_server_that_is_down_is_a_problem() -> None:
    with listen() as server:
        port = server.getsockname()[1]
    (problem,) = send(call(f"http://{HOST}:{port}/geheim", Key="${TOKEN}"))
    assert problem.startswith("`audit.notify.webhook`: ConnectionRefusedError: ")


def test_a_silent_server_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification, "SILENCE_LIMIT", 0.1)
    with listen() as server:
        started = time.monotonic()
        (problem,) = send(call(f"http://{HOST}:{server.getsockname()[1]}/", Key="${TOKEN}"))
        assert problem.startswith("`audit.notify.webhook`: TimeoutError: ")
        assert time.monotonic() - started < 4


def test_a_response_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte arrives in time, but the response never ends."""
    monkeypatch.setattr(notification, "TOTAL_LIMIT", 0.5)
    stop = threading.Event()

    def drip(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not stop.wait(0.05):
                connection.sendall(b"x")

    with listen() as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        problems = send(call(f"http://{HOST}:{server.getsockname()[1]}/"))
        stop.set()
        thread.join()
    assert problems == ["`audit.notify.webhook`: this took longer than 0.5 seconds and was given up."]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("ftp://host/x", "must begin with http:// or https://"),
        ("https:///geheim", "must begin with http:// or https://"),
        ("http://[::1/x", "must begin with http:// or https://"),
        ("http://host:geheim/x", "must begin with http:// or https://"),
        ("http://host/a\r\nX: y", "must begin with http:// or https://"),
        ("http://host/${TOKEN}", "have neither spaces nor characters beyond ASCII."),
        ("${TOKEN}", "must begin with http:// or https://"),
        ("https://me:geheim@host/x", "must not contain a user or password; send them in a header."),
        ("https://host/${NOT_THERE}", "needs the environment variable NOT_THERE, which is not set"),
    ],
)
def test_an_invalid_address_is_a_problem(url: str, problem: str) -> None:
    (said,) = send(call(url))
    assert said.startswith("`audit.notify.webhook`: ")
    assert problem in said


@pytest.mark.parametrize("url", ["http://chat.example/x", "${OPEN_URL}"])
def test_a_token_is_not_sent_over_plain_http(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPEN_URL", "http://chat.example/geheim")
    assert send(call(url, Key="${TOKEN}")) == [
        "`audit.notify.webhook`: `audit.notify.webhook.url` must begin with https:// if the address or a "
        "header holds a secret; got http://, which is not encrypted. Only localhost may be reached by http://."
    ]


@pytest.mark.parametrize("value", ["geheim\r\nX-Other: y", "geheim-ü", "geheim\0"])
def test_a_header_is_one_line_of_ascii(hook: Hook, value: str) -> None:
    assert send(call(hook.url, Key=value)) == [
        "`audit.notify.webhook`: `audit.notify.webhook.headers.Key` must be a name and a value of ASCII "
        "characters on one line."
    ]
    assert hook.requests == []


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate as a file, and the context of a server that uses it."""

    file: Path
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    pytest.importorskip("cryptography", reason="no certificates without the package `cryptography`")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "both.pem").write_bytes(private + signed.public_bytes(pem))
    (folder / "public.pem").write_bytes(signed.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return Certificate(file=folder / "public.pem", context=context)


def test_certificates_of_webhooks_are_checked(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification, "RETRY_PAUSES", (30.0,))  # a retry would exceed the time below
    with run_hook(Hook(), certificate.context) as hook:
        started = time.monotonic()
        table = call(hook.url.replace("http:", "https:"), Key="${TOKEN}")
        (problem,) = send(table)
        assert problem.startswith("`audit.notify.webhook`: SSLCertVerificationError: ")
        assert time.monotonic() - started < 20
        assert hook.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
        assert send(table) == []
        assert hook.requests[0][1]["Key"] == SECRET


# E-mails


@dataclass
class Mailbox:
    """A mail server: its settings, and the messages and lines that it received."""

    context: ssl.SSLContext | None = None
    security: str = "none"
    password: str = SECRET
    refused: str = "nobody@example.org"
    messages: list[tuple[list[str], bytes]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    port: int = 0


class MailHandler(socketserver.BaseRequestHandler):
    """The part of SMTP that these tests need."""

    def handle(self) -> None:
        mailbox: Mailbox = self.server.mailbox  # type: ignore[attr-defined]
        try:
            if mailbox.security == "tls" and mailbox.context:
                self.request = mailbox.context.wrap_socket(self.request, server_side=True)
            self.serve(mailbox)
        except (OSError, ssl.SSLError):
            pass  # a client that rejects the certificate closes the connection
        finally:
            self.request.close()

    def reply(self, text: str) -> None:
        self.request.sendall(f"{text}\r\n".encode())

    def read_line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            byte = self.request.recv(1)
            if not byte:
                raise OSError("gone")
            line += byte
        return line.decode().rstrip("\r\n")

    def serve(self, mailbox: Mailbox) -> None:
        self.reply("220 test")
        recipients: list[str] = []
        while (line := self.read_line()) != "QUIT":
            mailbox.lines.append(line)
            verb = line.split()[0].upper()
            if verb == "EHLO":
                self.reply("250-test\r\n250 " + ("STARTTLS" if self.may_start(mailbox) else "AUTH PLAIN"))
            elif verb == "STARTTLS" and mailbox.context:
                self.reply("220 go on")
                self.request = mailbox.context.wrap_socket(self.request, server_side=True)
            elif verb == "AUTH":
                given = base64.b64decode(line.split()[2]).decode().split("\0")
                is_right = given[-1] == mailbox.password
                self.reply("235 welcome" if is_right else f"535 {given[-1]} is wrong ({line.split()[2]})")
            elif verb == "RCPT":
                is_refused = mailbox.refused in line
                recipients += [] if is_refused else [line]
                self.reply("550 unknown" if is_refused else "250 ok")
            elif verb == "DATA":
                self.reply("354 go on")
                mailbox.messages.append((recipients, self.read_message()))
                self.reply("250 ok")
            else:
                self.reply("250 ok")
        self.reply("221 bye")

    def may_start(self, mailbox: Mailbox) -> bool:
        return mailbox.security == "starttls" and not isinstance(self.request, ssl.SSLSocket)

    def read_message(self) -> bytes:
        lines: list[str] = []
        while (line := self.read_line()) != ".":
            lines.append(line.removeprefix(".") if line.startswith("..") else line)
        return "\r\n".join(lines).encode()


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def run_mailbox(mailbox: Mailbox) -> Iterator[Mailbox]:
    with MailServer((HOST, 0), MailHandler) as server:
        server.mailbox = mailbox  # type: ignore[attr-defined]
        mailbox.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield mailbox
        finally:
            server.shutdown()
            thread.join()


def mail(mailbox: Mailbox, **changes: Any) -> NotifyTable:
    values: dict[str, Any] = {
        "host": HOST,
        "port": mailbox.port,
        "security": mailbox.security,
        "sender": "scorereport@example.org",
        "recipients": ("Model Risk <risk@example.org>", "second@example.org"),
    }
    return NotifyTable(email=EmailTable(**{**values, **changes}))


def read_only_message(mailbox: Mailbox) -> EmailMessage:
    ((_, content),) = mailbox.messages
    return email.message_from_bytes(content, policy=email.policy.default)


def test_an_email_has_subject_text_and_attachments(tmp_path: Path) -> None:
    files = tuple(tmp_path / f"2026-10.{ending}" for ending in ("pdf", "html", "json"))
    for file in files:
        file.write_bytes(b"%PDF \xff" + file.name.encode())
    with run_mailbox(Mailbox()) as mailbox:
        assert send(mail(mailbox, attach=("pdf", "json")), files=files) == []
    assert mailbox.messages[0][0] == ["rcpt TO:<risk@example.org>", "rcpt TO:<second@example.org>"]
    message = read_only_message(mailbox)
    assert message["Subject"] == "retail-default 2026-10: fail - Brier score 0.2, limit 0.18 (logit)"
    assert message["From"] == "scorereport@example.org"
    assert message["To"] == "Model Risk <risk@example.org>, second@example.org"
    assert message["Auto-Submitted"] == "auto-generated"
    body = message.get_body()
    assert body is not None
    text = body.get_content().replace("\r\n", "\n")
    assert text.startswith(
        "The audit retail-default of the period 2026-10 has the status: fail.\n\n"
        "Findings:\n- The Brier score is too high.\n- The score has risen.\n\n"
        f"Report: {files[0]}\n"
    )
    assert "This is met." not in text
    assert f"Record 17, SHA-256 {make_record().sha256}." in text
    attached = {part.get_filename(): part.get_content() for part in message.iter_attachments()}
    assert attached == {"2026-10.pdf": files[0].read_bytes(), "2026-10.json": files[2].read_bytes()}


def test_an_email_of_a_failure_without_a_record_lists_the_alarms() -> None:
    record = make_record(
        id=0, status=AuditStatus.FAILED, reason="The records do not hold.", judgements=(), drifts=()
    )
    with run_mailbox(Mailbox()) as mailbox:
        assert send(mail(mailbox), record, alarms=("Record 17 was not noted.",)) == []
    body = read_only_message(mailbox).get_body()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == (
        "The audit retail-default of the period 2026-10 has the status: failed.\n\n"
        "The records do not hold.\n\nRecord 17 was not noted.\n\nThere is no record of this run."
    )


def test_alarms_are_sent_whatever_the_outcome(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = f"import sys; open({str(seen)!r}, 'wb').write(sys.stdin.buffer.read())"
    table = NotifyTable(on=("fail",), command=(sys.executable, "-c", program))
    done = make_record(status=AuditStatus.PASS)
    assert send(table, done, folder=tmp_path) == []
    assert not seen.exists()
    assert send(table, done, folder=tmp_path, alarms=("Record 17 was not noted.",)) == []
    assert json.loads(seen.read_bytes())["alarms"] == ["Record 17 was not noted."]


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_an_email_is_sent_with_a_login(
    security: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    with run_mailbox(Mailbox(security=security, context=certificate.context)) as mailbox:
        assert send(mail(mailbox, user="me", password="${TOKEN}")) == []
        assert read_only_message(mailbox)["Subject"].startswith("retail-default 2026-10: fail - ")
        assert any(line.startswith("AUTH") for line in mailbox.lines)


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_certificates_of_mail_servers_are_checked(security: str, certificate: Certificate) -> None:
    with run_mailbox(Mailbox(security=security, context=certificate.context)) as mailbox:
        (problem,) = send(mail(mailbox, user="me", password="${TOKEN}"))
        assert problem.startswith("`audit.notify.email`: SSLCertVerificationError: ")
        assert mailbox.messages == []
        assert not any(line.startswith("AUTH") for line in mailbox.lines)


def test_nothing_is_sent_without_the_required_encryption() -> None:
    with run_mailbox(Mailbox()) as mailbox:
        (problem,) = send(mail(mailbox, security="starttls", user="me", password="${TOKEN}"))
        assert problem == (
            "`audit.notify.email`: SMTPNotSupportedError: STARTTLS extension not supported by server."
        )
        assert not any(line.startswith(("AUTH", "MAIL")) for line in mailbox.lines)


def test_a_wrong_password_is_not_shown_even_if_the_server_does() -> None:
    with run_mailbox(Mailbox(password="another")) as mailbox:
        (problem,) = send(mail(mailbox, user="me", password="${TOKEN}"))
        assert problem.startswith("`audit.notify.email`: SMTPAuthenticationError: (535, b'***")
        assert mailbox.messages == []


def test_names_cannot_add_headers() -> None:
    record = make_record(audit="retail\r\nBcc: thief@example.org\n\nbody")
    with run_mailbox(Mailbox()) as mailbox:
        assert send(mail(mailbox), record) == []
    message = read_only_message(mailbox)
    assert message["Subject"].startswith("retail Bcc: thief@example.org body 2026-10: fail - ")
    assert message["Bcc"] is None
    assert len(mailbox.messages[0][0]) == 2


@pytest.mark.parametrize("key", ["sender", "recipients"])
def test_addresses_cannot_add_headers(key: str) -> None:
    address = "me@example.org\r\nBcc: thief@example.org"
    with run_mailbox(Mailbox()) as mailbox:
        (problem,) = send(mail(mailbox, **{key: address if key == "sender" else (address,)}))
        assert problem.startswith("`audit.notify.email`: ValueError: Header values may not contain linefeed")
        assert mailbox.messages == []


def test_recipients_that_are_refused_are_named() -> None:
    with run_mailbox(Mailbox()) as mailbox:
        table = mail(mailbox, recipients=("risk@example.org", "nobody@example.org"))
        assert send(table) == [
            "`audit.notify.email`: the server refused nobody@example.org as a recipient.",
        ]
        assert len(mailbox.messages) == 1


def test_a_missing_file_does_not_stop_the_email(tmp_path: Path) -> None:
    with run_mailbox(Mailbox()) as mailbox:
        (problem,) = send(mail(mailbox, attach=("pdf",)), files=(tmp_path / "gone.pdf",))
        assert problem.startswith("`audit.notify.email`: gone.pdf could not be attached: FileNotFoundError: ")
        assert len(mailbox.messages) == 1


def test_characters_that_cannot_be_sent_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "geheim-ü")
    with run_mailbox(Mailbox()) as mailbox:
        assert send(mail(mailbox, user="me", password="${TOKEN}")) == [
            "`audit.notify.email`: a name, an address or a password has characters that cannot be sent."
        ]


def test_a_silent_mail_server_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification, "SILENCE_LIMIT", 0.1)
    with listen() as server:
        (problem,) = send(mail(Mailbox(port=server.getsockname()[1]), user="me", password="${TOKEN}"))
    assert problem.startswith("`audit.notify.email`: SMTPServerDisconnected: ")
    assert problem.endswith("timed out")


# All together


def test_a_failing_channel_does_not_stop_the_others(hook: Hook, tmp_path: Path) -> None:
    with listen() as server:
        port = server.getsockname()[1]
    table = NotifyTable(
        command=("false",),
        webhook=WebhookTable(url=f"{hook.url}/in", headers={"Key": "${TOKEN}"}),
        email=mail(Mailbox(port=port), password="${TOKEN}", user="me").email,
    )
    problems = send(table, folder=tmp_path)
    assert [problem.split(":")[0] for problem in problems] == [
        "`audit.notify.command`",
        "`audit.notify.email`",
    ]
    assert len(hook.requests) == 1


def test_errors_of_expanding_are_not_raised() -> None:
    def fail(text: str, key: str) -> str:
        raise RuntimeError(f"no {text} for {key}")

    table = NotifyTable(webhook=WebhookTable(url="http://me:password@host"))
    problems = send_notifications(table, make_record(), files=[], redactor=Redactor(), expand=fail)
    assert problems == [
        "`audit.notify.webhook`: RuntimeError: no http://***@host for audit.notify.webhook.url"
    ]
    assert "TOKEN" in os.environ
