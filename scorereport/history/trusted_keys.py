"""File of trusted keys: the fingerprints of the keys whose records are accepted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorereport._utils.files import make_folder, write_text
from scorereport._utils.formatting import one_line
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def read_trusted_keys(path: Path) -> dict[str, str]:
    """Read the trusted fingerprints, with what is noted beside each; none if there is no file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"The file of trusted keys {path} cannot be read: {reason}.") from error
    found = {}
    for number, line in enumerate(filter(str.strip, lines), start=1):
        fingerprint, _, note = line.strip().partition(" ")
        if not FINGERPRINT.fullmatch(fingerprint):
            raise UsageError(
                f"Line {number} of the file of trusted keys {path} must begin with a fingerprint, 64 "
                f"characters 0-9 and a-f; got {fingerprint!a:.80}."
            )
        found[fingerprint] = note.strip()
    return found


def add_trusted_key(path: Path, fingerprint: str, note: str) -> None:
    """Add a fingerprint to the file of trusted keys, with a note for people; keep a known one as it is."""
    known = read_trusted_keys(path)
    if fingerprint in known:
        return
    known[fingerprint] = one_line(note)
    try:
        make_folder(path.parent)
        write_text(path, "".join(f"{key} {note}".rstrip() + "\n" for key, note in known.items()))
    except OSError as error:
        raise UsageError(
            f"The file of trusted keys {path} cannot be written: {error.strerror or error}."
        ) from error
