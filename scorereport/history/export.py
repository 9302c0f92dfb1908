"""Export of a history: records as text, numbers as a table, or everything as an archive."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import zipfile
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import open_beside, write_text
from scorereport.errors import UsageError
from scorereport.history.audit_record import read_audit_record
from scorereport.history.filed_reports import find_filed_path, is_below, list_filed_reports
from scorereport.history.valid_records import find_annulled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.history.audit_record import Record
    from scorereport.history.store import History
    from scorereport.history.trend.drift_records import Number

EXPORT_ENDINGS = (".jsonl", ".csv", ".zip")
NUMBER_COLUMNS = (
    *("audit", "period", "start", "end", "attempt", "status", "finished"),
    *("model", "measure", "value", "lower", "upper", "verdict", "sha256"),
)
#: A spreadsheet evaluates text that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
#: The earliest time that a ZIP archive can hold, so that its bytes do not depend on when it was written.
_ARCHIVE_TIME = (1980, 1, 1, 0, 0, 0)
#: The status of rows whose record is annulled.
_ANNULLED = "annulled"
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
{left_out}"""
_PARTIAL_NOTE = """
This archive has the records of one audit, {audit}. The history has records of other audits between them;
there the check above prints the record after the gap. Each record can be found in the whole history by its
fingerprint.
"""


def export_history(
    history: History,
    path: str | Path,
    *,
    find_folder: Callable[[Record], Path],
    audit: str | None = None,
) -> Path:
    """Write a history to a file, completely or not at all, in the format of the file name's ending.

    `.jsonl` has the records, one on each line: exactly the bytes that are hashed. `.csv` has a row for each
    number, and one without a number for an audit that has none; text that a spreadsheet would take for a
    formula gets an apostrophe before it. `.zip` has both, the documents, the files of the reports that are as
    recorded, and instructions to check the chain by hand; the same history gives the same bytes.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in EXPORT_ENDINGS:
        raise UsageError(
            f"The name of an exported file must end in one of {', '.join(EXPORT_ENDINGS)}; got {path}."
        )
    bodies = history.bodies(audit)
    try:
        if ending == ".zip":
            return _write_archive(target, history, bodies, find_folder, audit)
        return write_text(target, "".join(bodies) if ending == ".jsonl" else render_numbers(bodies))
    except OSError as error:
        raise UsageError(f"The history cannot be exported to {path}: {error.strerror or error}.") from error


def render_numbers(bodies: Sequence[str]) -> str:
    """Render the numbers of records as a table of comma-separated values."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NUMBER_COLUMNS)
    records = [read_audit_record(body, "A record of the history") for body in bodies]
    annulled = find_annulled(records)
    for record, body in zip(records, bodies, strict=True):
        if record.kind == "audit":
            status = _ANNULLED if record.id in annulled else record.status.value
            writer.writerows(_describe_rows(record, status, hashlib.sha256(body.encode()).hexdigest()))
    return text.getvalue()


def _describe_rows(record: Record, status: str, sha256: str) -> Iterator[list[Any]]:
    period = record.period
    begin = [record.audit, period.label, period.start or "", period.end, record.attempt, status]
    verdicts = {(j.model, j.measure): j.verdict.value for j in record.judgements if not j.group}
    numbers = record.snapshot.numbers if record.snapshot is not None else ()
    for cells in [_describe_number(number, verdicts) for number in numbers] or [[""] * 6]:
        yield [_escape_formula(cell) for cell in (*begin, record.finished, *cells, sha256)]


def _describe_number(number: Number, verdicts: dict[tuple[str, str], str]) -> list[Any]:
    ends = [_describe_value(value) for value in (number.value, number.lower, number.upper)]
    return [number.model, number.measure, *ends, verdicts.get((number.model, number.measure), "")]


def _describe_value(value: float) -> float | str:
    """Return a number in full precision, for programs to read; "" if it is not defined."""
    return "" if math.isnan(value) else value


def _escape_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def _write_archive(
    target: Path,
    history: History,
    bodies: Sequence[str],
    find_folder: Callable[[Record], Path],
    audit: str | None,
) -> Path:
    """Write file by file, because all reports together may be large; rename to the target at the end."""
    unfinished = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        with open_beside(unfinished, target) as file:
            with zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED) as archive:
                for name, content in _list_members(history, bodies, find_folder, audit):
                    _add_member(archive, name, content)
            file.flush()
            os.fsync(file.fileno())
        return unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _list_members(
    history: History, bodies: Sequence[str], find_folder: Callable[[Record], Path], audit: str | None
) -> Iterator[tuple[str, bytes]]:
    records = [read_audit_record(body, "A record of the history") for body in bodies]
    yield "records.jsonl", "".join(bodies).encode()
    yield "numbers.csv", render_numbers(bodies).encode()
    configurations = {record.configuration_sha256 for record in records}
    hashes = {record.seal.hashes_sha256 for record in records if record.seal is not None}
    for sha256 in sorted({name for record in records for name in record.documents}):
        ending = "toml" if sha256 in configurations else "bin" if sha256 in hashes else "json"
        yield f"documents/{sha256}.{ending}", history.document(sha256)
    left_out = []
    for name, place in sorted(_find_reports(records, find_folder).items()):
        if place is None:
            left_out.append(name)
        else:
            yield f"reports/{name}", place.read_bytes()
    yield "README.txt", _describe_archive(left_out, audit).encode()


def _find_reports(records: Sequence[Record], find_folder: Callable[[Record], Path]) -> dict[str, Path | None]:
    filings = list_filed_reports(records, find_folder)
    return {filing.file.name: find_filed_path(filing) for filing in filings if is_below(filing.file.name)}


def _describe_archive(left_out: Sequence[str], audit: str | None) -> str:
    from scorereport.history.audit_record import CHAIN_START

    listed = "".join(f"    {name}\n" for name in left_out)
    why = (
        "\nNot in this archive, because the files have expired and were removed, are kept on another machine "
        "that shares the history, or are not as recorded:\n\n"
    )
    return _README.format(
        beginning=CHAIN_START,
        part="" if audit is None else _PARTIAL_NOTE.format(audit=audit),
        left_out=f"{why}{listed}" if left_out else "",
    )


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, _ARCHIVE_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3  # the same bytes on all systems
    member.external_attr = 0o644 << 16
    archive.writestr(member, content)
