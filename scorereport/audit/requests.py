"""What a configuration asks of an audit, as far as its records show it.

Only these values are read: the rest may be of a version with other rules.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from scorereport.configuration.audit_tables import OutputTable, WindowTable


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """The name of the audit, its window, the forms of its reports, and whether they state their hashes."""

    name: str
    window: str
    formats: tuple[str, ...]
    states_hashes: bool


def read_audit_request(content: bytes, file_name: str) -> AuditRequest:
    """Read a configuration, which is TOML; a ValueError if these values cannot be read."""
    tables = tomllib.loads(content.decode("utf-8-sig"))
    audit, report = _find_table(tables, "audit"), _find_table(tables, "report")
    formats = _find_table(audit, "output").get("formats", OutputTable().formats)
    if not isinstance(formats, list | tuple):
        raise ValueError("`audit.output.formats` is not a list")
    return AuditRequest(
        name=str(audit.get("name") or PurePath(file_name).stem),
        window=str(_find_table(audit, "window").get("period", WindowTable().period)),
        formats=tuple(map(str, formats)),
        states_hashes=not report.get("templates") and "provenance" not in report.get("omit", ()),
    )


def _find_table(table: dict[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(f"`{name}` is not a table")
    return found
