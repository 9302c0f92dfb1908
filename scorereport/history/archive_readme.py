"""README of an exported archive: how to check chain, signatures and anchors without scorereport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.history.attestations import PAYLOAD_TYPE
from scorereport.history.audit_record import CHAIN_START
from scorereport.history.record_signature import RECORD_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

_README = """\
A history of audits, written by scorereport
===========================================

records.jsonl   the records of the audits, one on each line, the oldest first
numbers.csv     their numbers as a table; a text that a spreadsheet would take for a formula, because it
                begins with = + - or @, has an apostrophe before it; the status "annulled" means that a later
                record annuls the run
documents/      documents that the history stores with its records: results (.json), configurations (.toml)
                and hashes of sealed rows (.bin), each named by its SHA-256
reports/        the files of the reports, under the names in the records
{anchors_line}
A SHA-256 is a fingerprint of a file or a text: a change of a single character changes it. Every record
contains the fingerprint of the record before it, under the name "previous"; the first one contains 64 zeros.
A record therefore cannot be changed, removed, inserted or moved without changing all records after it.

You can check this without scorereport, with a shell and the program sha256sum:

    expected={beginning}
    while IFS= read -r line; do
        case "$line" in
            *"\\"previous\\":\\"$expected\\""*) ;;
            *) echo "This record does not link to the one before: $line" ;;
        esac
        expected=$(printf '%s\\n' "$line" | sha256sum | cut -d ' ' -f 1)
    done < records.jsonl
    echo "$expected"

If only one fingerprint is printed, the chain is complete. It is the fingerprint of the last record: compare
it with one that you have kept elsewhere, because rewriting the whole chain changes it.
{part}
The fingerprints of the documents are their names, and those of the reports are in the records, under "files":

    sha256sum documents/* reports/*/*
{signatures}{anchors}{left_out}"""
_PARTIAL_NOTE = """
This archive has the records of one audit, {audit}. The history has records of other audits between them;
there the check above prints the record after the gap. Each record can be found in the whole history by its
fingerprint.
"""
_ANCHORS_LINE = """\
anchors/        attestations (.dsse.json) and time stamps (.tsr) of the records
"""
_SIGNATURES = """
Signatures
----------
A record ends with its signature: a public key and a value. The key signs the line without the signature,
after a prefix that states type and length (DSSE, https://github.com/secure-systems-lab/dsse). To check the
record on line 1 with the program openssl, version 3:

    line=$(sed -n 1p records.jsonl)
    printf '%s\\n' "$line" | sed 's/,"signature":{{[^}}]*}}}}$/}}/' > text
    printf '%s\\n' "$line" | sed 's/.*"public_key":"\\([^"]*\\)".*/\\1/' | openssl base64 -d -A > key.der
    printf '%s\\n' "$line" | sed 's/.*"value":"\\([^"]*\\)"}}}}$/\\1/' | openssl base64 -d -A > signature
    printf 'DSSEv1 {length} {type} %d ' "$(wc -c < text)" | cat - text > signed
    openssl pkey -pubin -inform DER -in key.der -out key.pem
    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed -sigfile signature
    sha256sum key.der

The last line prints the fingerprint of the key: compare it with one that you know. The command before it is
for Ed25519 keys. For an ECDSA key, and for an RSA key, use one of these instead:

    openssl dgst -sha256 -verify key.pem -signature signature signed
    openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest \\
        -verify key.pem -signature signature signed
"""
_ANCHORS = """
Anchors
-------
An attestation is a statement about a record (in-toto, https://in-toto.io) in a signed envelope; the hash of
the record is the first one in it. To check it, continue as above from its parts:

    file=anchors/{name}.dsse.json
    sed 's/.*"payload":"\\([^"]*\\)".*/\\1/' "$file" | openssl base64 -d -A > text
    sed 's/.*"sig":"\\([^"]*\\)".*/\\1/' "$file" | openssl base64 -d -A > signature
    sed 's/.*"publicKey":"\\([^"]*\\)".*/\\1/' text | openssl base64 -d -A > key.der
    printf 'DSSEv1 {length} {type} %d ' "$(wc -c < text)" | cat - text > signed
    openssl pkey -pubin -inform DER -in key.der -out key.pem
    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed -sigfile signature

A time stamp (RFC 3161) states when an authority saw the hash of a record. With the certificates of the
authority, which it publishes, in tsa.pem:

    openssl ts -verify -digest HASH_OF_THE_RECORD -in anchors/{name}.tsr -CAfile tsa.pem
"""


def describe_archive(
    left_out: Sequence[str], audit: str | None, *, has_signatures: bool, anchors: Sequence[str]
) -> str:
    """Return the README of an archive that lacks the files `left_out` and has these anchors."""
    listed = "".join(f"    {name}\n" for name in left_out)
    why = (
        "\nNot in this archive, because the files have expired and were removed, are kept on another machine "
        "that shares the history, or are not as recorded:\n\n"
    )
    return _README.format(
        beginning=CHAIN_START,
        part="" if audit is None else _PARTIAL_NOTE.format(audit=audit),
        anchors_line=_ANCHORS_LINE if anchors else "",
        signatures=_SIGNATURES.format(length=len(RECORD_TYPE), type=RECORD_TYPE) if has_signatures else "",
        anchors=_describe_anchors(anchors),
        left_out=f"{why}{listed}" if left_out else "",
    )


def _describe_anchors(anchors: Sequence[str]) -> str:
    if not anchors:
        return ""
    name = anchors[0].partition(".")[0]
    return _ANCHORS.format(name=name, length=len(PAYLOAD_TYPE), type=PAYLOAD_TYPE)
