"""The verdicts of a certificate, and what those that earlier versions wrote mean today.

Earlier versions wrote "certified" for any live reference, and "not certified" without one. Documents and
records keep the text that was written, because a chain of records has its hash; what a reader sees is derived
here from that text and from the reference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Certified: the R package agreed. Confirmed: base R agreed. Not checked: R computed nothing of these data.
CertificateVerdict: TypeAlias = Literal["certified", "confirmed", "not checked", "failed"]
#: What documents may have: also the former word for "not checked".
WrittenVerdict: TypeAlias = Literal["certified", "confirmed", "not checked", "failed", "not certified"]
#: How the name of base R begins in certificates of all versions.
BASE_R = "base R"
#: The first sentence of a certificate by its verdict, and that of earlier versions.
OPENINGS: dict[CertificateVerdict, str] = {
    "certified": "Certified on these data.",
    "confirmed": "Confirmed on these data by base R.",
    "not checked": "Not checked on these data.",
    "failed": "Failed.",
}
_FORMER_OPENINGS = {"confirmed": "Certified on these data.", "not checked": "Not certified on these data."}
#: The sentence on the certificate in the summary of a report begins with this.
BASIS = "R certificate: "
_SENTENCE = re.compile(f"{BASIS}({'|'.join(get_args(WrittenVerdict))})(.*)", re.DOTALL)
#: What is known of a certificate if its record does not name the reference.
EITHER = "certified or confirmed"


def read_verdict(written: str, reference: str) -> CertificateVerdict:
    """Return the verdict that a certificate has today, from the text that was written and its reference.

    >>> read_verdict("certified", "base R 4.2.2"), read_verdict("not certified", "")
    ('confirmed', 'not checked')
    """
    if written == "not certified":
        return "not checked"
    if written == "certified" and reference.startswith(BASE_R):
        return "confirmed"
    return cast("CertificateVerdict", written)


def read_sentence(sentence: str, verdict: CertificateVerdict) -> str:
    """Return the sentence of a certificate in the words of its verdict today.

    >>> read_sentence("Not certified on these data. R is not installed.", "not checked")
    'Not checked on these data. R is not installed.'
    """
    former = _FORMER_OPENINGS.get(verdict)
    if former is None or not sentence.startswith(former):
        return sentence
    return f"{OPENINGS[verdict]}{sentence.removeprefix(former)}"


def read_recorded_verdict(written: str, basis: Iterable[str]) -> str:
    """Return the verdict that the certificate of a record has today, as text.

    `basis` are the sentences of the summary of its report: records name the reference only there, and the
    oldest have no summary.

    >>> read_recorded_verdict("certified", ["R certificate: certified, 2 of 2 as expected (base R 4.2.2)."])
    'confirmed'
    >>> read_recorded_verdict("certified", [])
    'certified or confirmed'
    """
    line = next(filter(split_basis, basis), "")
    if written == "certified" and not line:
        return EITHER
    return read_verdict(written, line.partition("(")[2])


def split_basis(sentence: str) -> tuple[str, str] | None:
    """Return the verdict in the sentence on the certificate, and the text after it; None for other sentences.

    >>> split_basis("R certificate: confirmed, 2 of 2 comparisons as expected.")
    ('confirmed', ', 2 of 2 comparisons as expected.')
    """
    found = _SENTENCE.match(sentence)
    return None if found is None else (found[1], found[2])


def read_basis(sentence: str) -> str:
    """Return a sentence of the basis of a recorded summary with the verdict that its certificate has today.

    >>> read_basis("R certificate: certified, 2 of 2 comparisons as expected (base R 4.2.2).")
    'R certificate: confirmed, 2 of 2 comparisons as expected (base R 4.2.2).'
    """
    parts = split_basis(sentence)
    if parts is None:
        return sentence
    written, rest = parts
    return f"{BASIS}{read_recorded_verdict(written, (sentence,))}{rest}"
