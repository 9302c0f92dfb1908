"""Attestations of records: statements of in-toto in signed envelopes (DSSE), to be kept outside of a history.

An attestation is a function of its record and of the key that signed the record: it can be written again,
and compared with the record. Other programs that know in-toto read it as the result of a test.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils import json_documents
from scorereport.history.audit_record import AuditStatus
from scorereport.history.signing_keys import decode_base64, find_fingerprint, is_signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.audit_record import Record
    from scorereport.history.signing_keys import SigningKey

ATTESTATION_ENDING = ".dsse.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
#: The name of the fields of this package in the predicate.
_EXTENSION = "scorereport"
_PASSED, _WARNED, _FAILED = "PASSED", "WARNED", "FAILED"
_RESULTS = {
    AuditStatus.PASS: _PASSED,
    AuditStatus.DONE: _PASSED,
    AuditStatus.WARN: _WARNED,
    AuditStatus.INCONCLUSIVE: _WARNED,
    AuditStatus.FAIL: _FAILED,
    AuditStatus.UNCERTIFIED: _FAILED,
    AuditStatus.FAILED: _FAILED,
}
_TESTS = {"pass": _PASSED, "warn": _WARNED, "inconclusive": _WARNED, "fail": _FAILED}
_CERTIFICATES = {
    "certified": _PASSED,
    "confirmed": _PASSED,
    "not checked": _WARNED,
    "not certified": _WARNED,  # as earlier versions wrote "not checked"
    "failed": _FAILED,
}
#: The first characters of the hash of a record, in the name of its anchor.
_SHORT_HASH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """An attestation that was read: the record that it names, and the key that signed it.

    `fingerprint` is that of the key; `is_signed` whether the signature of this key is valid. `sha256` is the
    hash of the record, `finished` when the record says that it ended. `statement` is the text that is signed.
    """

    record: int
    sha256: str
    audit: str
    period: str
    finished: str
    fingerprint: str
    is_signed: bool
    statement: str


def name_anchor(number: int, sha256: str) -> str:
    """Return the name that the files of the anchor of a record have, without ending."""
    return f"{number}-{sha256[:_SHORT_HASH]}"


def attest_record(record: Record, key: SigningKey) -> bytes:
    """Return the attestation of a record, signed by the key that signed the record."""
    statement = build_statement(record).encode()
    return _encode_envelope(statement, key.fingerprint, key.sign(statement, PAYLOAD_TYPE))


def _encode_envelope(statement: bytes, fingerprint: str, signature: bytes) -> bytes:
    envelope = {
        "payload": base64.b64encode(statement).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": fingerprint, "sig": base64.b64encode(signature).decode()}],
    }
    return json_documents.dump(envelope).encode()


def _dump(value: object) -> str:
    return json.dumps(
        json_documents.encode(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def build_statement(record: Record) -> str:
    """Return the statement about a record: the same record gives the same text."""
    files = [{"name": file.name, "digest": {"sha256": file.sha256}} for file in record.files]
    return _dump(
        {
            "_type": STATEMENT_TYPE,
            "subject": [
                {"name": f"record {record.id} of {record.audit}", "digest": {"sha256": record.sha256}},
                *files,
            ],
            "predicateType": PREDICATE_TYPE,
            "predicate": {
                "result": _RESULTS[record.status],
                "configuration": [
                    {"name": record.configuration, "digest": {"sha256": record.configuration_sha256}}
                ],
                "passedTests": _list_tests(record, _PASSED),
                "warnedTests": _list_tests(record, _WARNED),
                "failedTests": _list_tests(record, _FAILED),
                _EXTENSION: _describe_record(record),
            },
        }
    )


def _list_tests(record: Record, result: str) -> list[str]:
    """List the limits, and the comparison with R, that have a result."""
    names = [_name_limit(each) for each in record.judgements if _TESTS[str(each.verdict)] == result]
    return [*names, *(["R certificate"] if _CERTIFICATES.get(record.certificate) == result else [])]


def _name_limit(judgement: Judgement) -> str:
    model = f" of {judgement.model}" if judgement.model else ""
    group = f" ({judgement.group})" if judgement.group else ""
    return f"{judgement.measure}{model}{group}"


def _describe_record(record: Record) -> dict[str, Any]:
    return {
        "record": record.id,
        "previous": record.previous,
        "kind": record.kind,
        "audit": record.audit,
        "period": record.period,
        "asOf": record.as_of,
        "attempt": record.attempt,
        "status": record.status,
        "exitCode": int(record.exit_code),
        "started": record.started,
        "finished": record.finished,
        "dataSha256": record.data_sha256,
        "resultsSha256": record.results_sha256,
        "configurationSha256": record.configuration_sha256,
        "certificate": record.certificate,
        "limits": [{"limit": _name_limit(each), "verdict": str(each.verdict)} for each in record.judgements],
        "version": record.software.get("scorereport", ""),
        "publicKey": "" if record.signature is None else record.signature.public_key,
    }


def read_attestation(content: bytes) -> Attestation:
    """Read an attestation; a ValueError says why it is not one. The key that it names need not be trusted."""
    try:
        envelope = json.loads(content)
        (signature,) = envelope["signatures"]
        payload, value = decode_base64(envelope["payload"]), decode_base64(signature["sig"])
        statement = json.loads(payload)
        described = statement["predicate"][_EXTENSION]
        public_key = decode_base64(described["publicKey"])
        found = Attestation(
            record=_check(described["record"], int),
            sha256=_check(statement["subject"][0]["digest"]["sha256"], str),
            audit=_check(described["audit"], str),
            period=_check(described["period"]["label"], str),
            finished=_check(described["finished"], str),
            fingerprint=find_fingerprint(public_key),
            is_signed=is_signed(payload, PAYLOAD_TYPE, signature=value, public_key=public_key),
            statement=payload.decode(),
        )
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as error:
        raise ValueError("it is not an attestation of a record") from error
    is_known = (statement.get("_type"), statement.get("predicateType")) == (STATEMENT_TYPE, PREDICATE_TYPE)
    if not is_known or content != _encode_envelope(payload, found.fingerprint, value):
        raise ValueError("it is not written as runs write attestations")
    return found


def _check(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.40} is not of the type {kind.__name__}")
    return value


def find_differences(attestation: Attestation, record: Record) -> Iterator[str]:
    """Yield what an attestation says otherwise than its record, as ends of sentences.

    Fields that only one of them has are left out: another version may have written the attestation.
    """
    stated, expected = json.loads(attestation.statement), json.loads(build_statement(record))
    if stated["subject"] != expected["subject"]:
        yield "names other files than the record, or other hashes of them"
    yield from _compare(stated["predicate"], expected["predicate"])


def _compare(stated: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    for name in (name for name in stated if name in expected):
        value, other = stated[name], expected[name]
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _compare(value, other)
        elif value != other:
            yield f"says {name} = {_dump(value):.200}, but the record says {_dump(other):.200}"
