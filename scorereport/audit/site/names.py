"""Names of files in the site: safe on every system, and never the same for two audits."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath
from urllib.parse import quote

#: What may stay as it is: short, without capitals, which some systems do not tell apart, and nowhere `..`.
_PLAIN = re.compile(r"(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?")
#: How changed names end; no name that stays as it is ends so.
_CHANGED = re.compile(r"-[0-9a-f]{10}$")
#: Names that some systems keep for devices, whatever ending follows.
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_ENDINGS = (".html", ".pdf", ".json")


def safe_name(name: str) -> str:
    """A name for a file or a folder: the same one for the same name, another one for any other name.

    >>> safe_name("credit-risk"), safe_name("../Crédit")
    ('credit-risk', 'cr-dit-28631bf00e')
    """
    if _PLAIN.fullmatch(name) and not _CHANGED.search(name) and not _DEVICE_NAMES.fullmatch(name):
        return name
    kept = re.sub("[^a-z0-9]+", "-", name.lower())[:40].strip("-") or "audit"
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{kept}-{digest[:10]}"


def safe_file_name(name: str) -> str:
    """The same for a file, whose ending stays if it is one of a report.

    >>> safe_file_name("2026-10.pdf"), safe_file_name("a/b.exe")
    ('2026-10.pdf', 'a-b-exe-c865741344')
    """
    ending = PurePosixPath(name).suffix
    return f"{safe_name(name.removesuffix(ending))}{ending}" if ending in _ENDINGS else safe_name(name)


def link_to_file(path: str, *, above: int = 0) -> str:
    """The address of a file of the site, from a page so many folders below its top."""
    return "../" * above + quote(path)
