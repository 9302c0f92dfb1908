"""Atom feeds (RFC 4287) of the verdicts of all audits, and of each audit.

An entry is a record that is valid, or an annulment. Its identifier follows from the hash of the record, and
its times are those of the record, so that the same records give the same bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from uuid import UUID, uuid5
from xml.etree import ElementTree

from scorereport._utils.formatting import one_line
from scorereport._utils.version import package_version
from scorereport.audit.site.audit_runs import SITE_FEED, link_to_file
from scorereport.audit.site.entry_texts import status_sentence
from scorereport.audit.site.site_files import FileState
from scorereport.configuration.limit_changes import describe_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.site.audit_runs import AuditRuns, RecordedRun
    from scorereport.audit.site.site_data import SiteFacts
    from scorereport.audit.site.site_files import ReportCopy

_ATOM = "http://www.w3.org/2005/Atom"
#: The namespace of identifiers; it must never change.
_NAMESPACE = UUID("5f0b5c0e-3f5d-5a39-9a5c-0f4c7f2f6b61")
#: The number of entries of a feed, and of findings in the summary of an entry.
MOST_ENTRIES, _MOST_FINDINGS = 50, 3
#: Characters that XML 1.0 does not allow.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNKNOWN_TIME = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """A verdict or an annulment; `path` leads from the top of the site to the report or the run."""

    sha256: str
    updated: str
    title: str
    summary: str
    category: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed: its path, the page that it belongs to, and its entries, the newest first."""

    path: str
    page: str
    key: str
    title: str
    author: str
    updated: str
    entries: tuple[FeedEntry, ...]


def render_feeds(
    facts: SiteFacts, audits: Sequence[AuditRuns], copies: Mapping[int, Sequence[ReportCopy]], address: str
) -> dict[str, str]:
    """Render the feed of all audits and that of each audit, by their paths in the site."""
    by_audit = {audit.name: _list_entries(audit, copies) for audit in audits}
    first = min((run for audit in audits for run in audit.runs), key=lambda run: run.record.id, default=None)
    origin = facts.title if first is None else first.sha256
    feeds = [
        _collect_feed(facts, SITE_FEED, "index.html", origin, facts.title, [*by_audit.values()]),
        *(
            _collect_feed(
                facts,
                audit.feed,
                audit.address,
                f"{origin} {audit.name}",
                f"{audit.name} · {facts.title}",
                [by_audit[audit.name]],
            )
            for audit in audits
        ),
    ]
    return {feed.path: _render_feed(feed, address) for feed in feeds}


def _collect_feed(
    facts: SiteFacts, path: str, page: str, key: str, title: str, entries: Sequence[Sequence[FeedEntry]]
) -> Feed:
    found = sorted(
        (entry for some in entries for entry in some),
        key=lambda entry: (entry.updated, entry.sha256),
        reverse=True,
    )
    return Feed(
        path=path,
        page=page,
        key=key,
        title=title,
        author=facts.title,
        updated=found[0].updated if found else format_rfc_time(facts.time),
        entries=tuple(found[:MOST_ENTRIES]),
    )


def _list_entries(audit: AuditRuns, copies: Mapping[int, Sequence[ReportCopy]]) -> list[FeedEntry]:
    """List an entry for each valid run of an audit, and for each annulment."""
    valid = [run for run in audit.runs if run.annulment is None and not run.is_ahead]
    verdicts = [_describe_verdict(audit, run, copies[run.record.id]) for run in valid]
    return [*verdicts, *(_describe_annulment(audit, run) for run in audit.annulments)]


def _describe_verdict(audit: AuditRuns, run: RecordedRun, copies: Sequence[ReportCopy]) -> FeedEntry:
    record = run.record
    report = next((c.target for c in copies if c.kind == "html" and c.state is FileState.THERE), "")
    return FeedEntry(
        sha256=run.sha256,
        updated=format_rfc_time(record.finished),
        title=f"{audit.name} {run.period}: {record.status.value}",
        summary=_summarise(run),
        category=record.status.value,
        path=link_to_file(report) if report else f"{link_to_file(audit.address)}#r{record.id}",
    )


def _summarise(run: RecordedRun) -> str:
    """Return the verdict and the most important findings; the reason of a run without results."""
    record = run.record
    if record.summary is None:
        return " ".join(filter(None, (status_sentence(record.status), record.reason)))
    findings, changed = record.summary.findings[:_MOST_FINDINGS], describe_changes(record.limit_changes)
    is_stated = not changed or any(changed in finding for finding in findings)
    limits = [] if is_stated else [f"Limits changed: {changed}."]
    certificate = [f"R certificate: {record.current_certificate}."] if record.certificate else []
    return " ".join((record.summary.verdict, *findings, *limits, *certificate))


def _describe_annulment(audit: AuditRuns, run: RecordedRun) -> FeedEntry:
    record = run.record
    return FeedEntry(
        sha256=run.sha256,
        updated=format_rfc_time(record.finished),
        title=f"{audit.name} {run.period}: annulled",
        summary=f"Record {record.annuls} is annulled and does not count. {record.reason}".rstrip(),
        category="annulled",
        path=f"{link_to_file(audit.address)}#r{record.annuls}",
    )


def format_rfc_time(text: str) -> str:
    """Return a time in ISO format as RFC 3339 demands, in UTC; a text that is not a time is the first moment.

    >>> format_rfc_time("2026-11-15T07:30:12.5+01:00"), format_rfc_time("once")
    ('2026-11-15T06:30:12Z', '1970-01-01T00:00:00Z')
    """
    try:
        time = datetime.fromisoformat(text)
        zoned = (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return _UNKNOWN_TIME
    return f"{zoned:%Y-%m-%dT%H:%M:%SZ}"


# ---- XML ----


def _render_feed(feed: Feed, address: str) -> str:
    """Render a feed; names and reasons are text, so that nothing in them becomes markup."""
    root = ElementTree.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _add_text(root, "id", _make_id(f"feed {feed.key}"))
    _add_text(root, "title", feed.title)
    _add_text(root, "updated", feed.updated)
    _add_text(_add(root, "author"), "name", feed.author)
    for relation, path, kind in (
        ("self", feed.path, "application/atom+xml"),
        ("alternate", feed.page, "text/html"),
    ):
        _add(root, "link", rel=relation, type=kind, href=_resolve(link_to_file(path), feed, address))
    _add_text(root, "generator", f"scorereport {package_version()}")
    for entry in feed.entries:
        _add_entry(root, entry, feed, address)
    ElementTree.indent(root, space="")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _add_entry(root: ElementTree.Element, entry: FeedEntry, feed: Feed, address: str) -> None:
    element = _add(root, "entry")
    _add_text(element, "id", _make_id(f"record {entry.sha256}"))
    _add_text(element, "title", entry.title)
    _add_text(element, "updated", entry.updated)
    _add(element, "link", rel="alternate", type="text/html", href=_resolve(entry.path, feed, address))
    _add(element, "category", term=entry.category)
    _add_text(element, "summary", entry.summary)


def _make_id(text: str) -> str:
    """Return an identifier that follows from a text."""
    return uuid5(_NAMESPACE, text.encode(errors="surrogatepass").hex()).urn


def _resolve(path: str, feed: Feed, address: str) -> str:
    """Return the address of a file of the site, or its path relative to the feed if there is no address."""
    if address:
        return urljoin(address if address.endswith("/") else f"{address}/", path)
    return "../" * feed.path.count("/") + path


def _add(parent: ElementTree.Element, name: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, name, attributes)


def _add_text(parent: ElementTree.Element, name: str, text: str) -> None:
    """Add an element with a text on one line, which is never empty, without characters that XML forbids."""
    _add(parent, name).text = one_line(_NOT_XML.sub("\ufffd", text)) or "n/a"
