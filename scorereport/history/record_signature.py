"""Signatures of records: the text of a record without its signature is signed by the key of its run."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils import json_documents
from scorereport.history.audit_record import Record, RecordSignature
from scorereport.history.signing_keys import decode_base64, is_signed

if TYPE_CHECKING:
    from scorereport.history.signing_keys import SigningKey

#: The type that is signed with the text of a record.
RECORD_TYPE = "application/vnd.scorereport.record+json"
_BEGINNING = ',"signature":{'


def sign_record(record: Record, key: SigningKey) -> Record:
    """Return a record, complete but for its signature, with the signature of a key."""
    unsigned = json_documents.dump(replace(record, signature=None))
    value = key.sign(unsigned.encode(), RECORD_TYPE)
    return replace(
        record,
        signature=RecordSignature(
            public_key=base64.b64encode(key.public_key).decode(), value=base64.b64encode(value).decode()
        ),
    )


def has_valid_signature(record: Record) -> bool:
    """Whether the signature of a record is that of its text by its public key."""
    signature, text = record.signature, record.to_json()
    if signature is None:
        return False
    end = f"{_BEGINNING}{json_documents.dump(signature)[1:-1]}}}\n"
    return is_signed(
        f"{text.removesuffix(end)}}}\n".encode(),
        RECORD_TYPE,
        signature=decode_base64(signature.value),
        public_key=decode_base64(signature.public_key),
    )
