"""Time stamps (RFC 3161): an authority signs the hash of a record with the time at which it saw it.

Requests and checks are those of pyHanko, without any access to the network: certificates are checked as of
the time of the stamp, against the trusted certificates only.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import one_line

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from pathlib import Path

STAMP_ENDING = ".tsr"
QUERY_HEADERS = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
#: The most bytes that an answer of an authority may have.
MAX_STAMP_BYTES = 1 << 18
NOT_INSTALLED = "needs pyHanko, which is not installed. To fix: pip install 'scorereport[sign]'"
_LONGEST_NAME = 80


class StampError(ValueError):
    """A stamp that is not accepted; the message is the end of a sentence about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeStamp:
    """A stamp that was checked: its time, and the name of the authority."""

    time: datetime
    authority: str

    def describe(self) -> str:
        """Describe when and by whom."""
        return f"{self.time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC by {self.authority}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StampQuery:
    """A request to stamp a hash: its bytes, and the number that the answer must repeat."""

    content: bytes
    nonce: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """The parts of an answer: what it says, and the signed data."""

    time: datetime
    algorithm: str
    imprint: bytes
    nonce: int | None
    signed_data: Any


def can_check_stamps() -> bool:
    """Whether pyHanko is installed."""
    try:
        import pyhanko.sign.validation  # noqa: F401
    except ImportError:
        return False
    return True


def build_stamp_query(sha256: str) -> StampQuery:
    """Return a request to stamp a SHA-256."""
    import pyhanko.sign.timestamps

    stamper: Any = pyhanko.sign.timestamps.TimeStamper
    nonce, request = stamper().request_cms(bytes.fromhex(sha256), "sha256")
    return StampQuery(content=request.dump(), nonce=nonce)


def describe_stamp(content: bytes) -> TimeStamp:
    """Return what a stamp says about itself, unchecked; a `StampError` if it says nothing."""
    from pyhanko.sign.validation.generic_cms import extract_certs_for_validation

    token = _read_token(content)
    try:
        signer = extract_certs_for_validation(token.signed_data).signer_cert
    except Exception as error:
        raise StampError("has no certificate of its authority") from error
    return TimeStamp(time=token.time, authority=_name_signer(signer))


def read_stamped_hash(content: bytes) -> str:
    """Return the SHA-256 that a stamp is of, unchecked."""
    return _read_token(content).imprint.hex()


@cache
def _define_answer() -> Any:
    """Define the answer of an authority: a refusal has no stamp (RFC 3161, 2.4.2), unlike in asn1crypto."""
    from asn1crypto import cms, core, tsp  # type: ignore[import-untyped]

    token = ("time_stamp_token", cms.ContentInfo, {"optional": True})
    return type("TimeStampAnswer", (core.Sequence,), {"_fields": [("status", tsp.PKIStatusInfo), token]})


def _read_token(content: bytes) -> _Token:
    """Read an answer of an authority; refuse one without a stamp."""
    try:
        answer = _define_answer().load(content, strict=True)
        status = str(answer["status"]["status"].native)
        reasons = answer["status"]["status_string"].native or []
    except Exception as error:  # whatever the parser raises for bytes of others
        raise StampError("is not the answer of a time-stamp authority") from error
    if status not in ("granted", "granted_with_mods"):
        said = one_line("; ".join(map(str, reasons)))[:200]
        raise StampError(
            f"has no time stamp: the authority refused it ({status}{f': {said}' if said else ''})"
        )
    try:
        signed_data = answer["time_stamp_token"]["content"]
        info = signed_data["encap_content_info"]["content"].parsed
        imprint = info["message_imprint"]
        return _Token(
            time=info["gen_time"].native,
            algorithm=str(imprint["hash_algorithm"]["algorithm"].native),
            imprint=bytes(imprint["hashed_message"].native),
            nonce=info["nonce"].native,
            signed_data=signed_data,
        )
    except Exception as error:
        raise StampError("has a time stamp that cannot be read") from error


def _name_signer(certificate: Any) -> str:
    subject = certificate.subject
    name = subject.native.get("common_name") or subject.human_friendly
    return one_line(str(name))[:_LONGEST_NAME]


@dataclass(frozen=True, slots=True)
class StampCheck:
    """Checks stamps against trusted certificates, offline."""

    trusted: tuple[Any, ...] = field(repr=False)

    def check(self, content: bytes, sha256: str, nonce: int | None = None) -> TimeStamp:
        """Return the stamp of a hash; a `StampError` says why it is not accepted."""
        token = _read_token(content)
        if token.algorithm != "sha256" or token.imprint.hex() != sha256:
            raise StampError(f"stamps {token.algorithm} {token.imprint.hex()}, not the record {sha256}")
        if nonce is not None and token.nonce != nonce:
            raise StampError("does not answer this request: its nonce differs")
        return self._check_signature(token)

    def _check_signature(self, token: _Token) -> TimeStamp:
        try:
            with _quiet():
                status = _await(self._validate(token))
            stamp = TimeStamp(time=token.time, authority=_name_signer(status["signing_cert"]))
        except Exception as error:  # whatever the parser raises for bytes of others
            raise StampError("has a signature that cannot be checked: it was forged or changed") from error
        if not (status["valid"] and status["intact"]):
            raise StampError(
                f"has a signature of {stamp.authority} that is not valid: it was forged or changed"
            )
        certificate = f"is signed by the certificate of {stamp.authority}"
        usage = status["signing_cert"].extended_key_usage_value
        if usage is None or "time_stamping" not in usage.native:
            raise StampError(f"{certificate}, which is not one for time stamps")
        if status["trust_problem_indic"] is not None:
            raise StampError(
                f"{certificate}, which no trusted certificate has issued, or which was not valid at "
                f"{stamp.time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
            )
        return stamp

    def _validate(self, token: _Token) -> Coroutine[Any, Any, dict[str, Any]]:
        from pyhanko.sign.validation.generic_cms import validate_tst_signed_data
        from pyhanko_certvalidator import ValidationContext

        context = ValidationContext(trust_roots=list(self.trusted), moment=token.time, allow_fetching=False)
        return validate_tst_signed_data(token.signed_data, context, lambda _: token.imprint)


def _await(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Return the result of asynchronous work; in a thread if this one runs an event loop, as notebooks do."""
    import asyncio  # takes long, as does `ssl`, which it loads

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pyHanko from writing its warnings to standard error: the result says the same."""
    loggers = [logging.getLogger(name) for name in ("pyhanko", "pyhanko_certvalidator")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def open_stamp_check(path: Path) -> StampCheck:
    """Read the trusted certificates of a .pem file; a `StampError` says why that failed."""
    from asn1crypto import pem, x509

    try:
        content = path.read_bytes()
    except OSError as error:
        raise StampError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        armored = [der for kind, _, der in pem.unarmor(content, multiple=True) if kind == "CERTIFICATE"]
        trusted = tuple(x509.Certificate.load(der, strict=True) for der in armored)
    except (ValueError, TypeError) as error:
        raise StampError(f"{path} is not a file of certificates in PEM") from error
    if not trusted:
        raise StampError(f"{path} has no certificates in PEM")
    return StampCheck(trusted)
