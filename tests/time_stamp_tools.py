"""A time-stamp authority (RFC 3161) on this machine, with a certificate of a test authority."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from asn1crypto import keys, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pyhanko.sign.timestamps import DummyTimeStamper

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "Test time stamps"


def make_name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


@dataclass(kw_only=True)
class Authority:
    """A root certificate and a certificate for time stamps that it signed."""

    root: x509.Certificate
    certificate: x509.Certificate
    key: rsa.RSAPrivateKey
    between: list[x509.Certificate] = field(default_factory=list)

    @property
    def pem(self) -> bytes:
        """The root, as a file of trusted certificates."""
        return self.root.public_bytes(serialization.Encoding.PEM)

    def stamper(self, **options: Any) -> DummyTimeStamper:
        """The authority; with its certificates between, which an answer contains."""
        form = serialization.Encoding.DER
        private = self.key.private_bytes(
            form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return DummyTimeStamper(
            asn1_x509.Certificate.load(self.certificate.public_bytes(form)),
            keys.PrivateKeyInfo.load(private),
            certs_to_embed=[asn1_x509.Certificate.load(each.public_bytes(form)) for each in self.between],
            **options,
        )

    def stamp(self, sha256: str, **options: Any) -> bytes:
        """The stamp of a hash, as the authority would answer."""
        stamper = self.stamper(**options)
        _, request = stamper.request_cms(bytes.fromhex(sha256), "sha256")
        return stamper.request_tsa_response(request).dump()


def make_authority(
    *, usage: Any = None, begins: float = -10, ends: float = 10, name: str = NAME, between: bool = False
) -> Authority:
    """An authority whose certificates are valid from and to these days from now.

    With `between`, the root signed another certificate, which signed that of the authority.
    """
    now = datetime.now(UTC)
    root_key, middle_key, key = (rsa.generate_private_key(65537, 2048) for _ in range(3))

    def sign(subject: str, public: Any, issuer: str, issuer_key: rsa.RSAPrivateKey) -> x509.Certificate:
        is_authority = subject != name
        extension: Any = (
            x509.BasicConstraints(ca=True, path_length=None)
            if is_authority
            else x509.ExtendedKeyUsage([usage or x509.ExtendedKeyUsageOID.TIME_STAMPING])
        )
        above = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(make_name(subject))
            .issuer_name(make_name(issuer))
            .public_key(public.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=begins))
            .not_valid_after(now + timedelta(days=ends))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public.public_key()), critical=False)
            .add_extension(above, critical=False)
            .add_extension(extension, critical=True)
            .sign(issuer_key, hashes.SHA256())
        )

    root = sign(f"{name} root", root_key, f"{name} root", root_key)
    if not between:
        return Authority(root=root, certificate=sign(name, key, f"{name} root", root_key), key=key)
    middle = sign(f"{name} middle", middle_key, f"{name} root", root_key)
    certificate = sign(name, key, f"{name} middle", middle_key)
    return Authority(root=root, certificate=certificate, key=key, between=[middle])


@dataclass(kw_only=True)
class StampServer:
    """A time-stamp authority that is reached by HTTP; `answer` turns a request into an answer."""

    answer: Callable[[tsp.TimeStampReq], bytes]
    requests: list[bytes] = field(default_factory=list)
    delay: float = 0
    status: int = 200
    url: str = ""


@contextmanager
def serve_stamps(authority: Authority, **options: Any) -> Iterator[StampServer]:
    """Start the authority on a free port of this machine."""
    stamper = authority.stamper(**options)
    state = StampServer(answer=lambda request: stamper.request_tsa_response(request).dump())

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append(body)
            time.sleep(state.delay)
            answer = state.answer(tsp.TimeStampReq.load(body))
            self.send_response(state.status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/stamp"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
