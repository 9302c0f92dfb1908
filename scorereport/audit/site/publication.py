"""Publication of the site: pages, style sheet, fonts, data, and copies of the reports."""

from __future__ import annotations

import html
import re
from base64 import b64decode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from scorereport._utils.clock import timestamp
from scorereport._utils.files import write_together
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.site.audit_runs import SITE_FEED, group_runs
from scorereport.audit.site.audit_settings import find_site_state, read_audit_settings
from scorereport.audit.site.entry_texts import CERTIFICATE_KEYS, STATUS_KEYS
from scorereport.audit.site.feeds import render_feeds
from scorereport.audit.site.pages import describe_audit, describe_index
from scorereport.audit.site.site_data import SiteFacts, render_data
from scorereport.audit.site.site_files import (
    FileState,
    check_no_foreign_files,
    plan_copies,
    read_manifest,
    remove_site_files,
    write_copies,
    write_manifest,
)
from scorereport.audit.site.status_board import build_board
from scorereport.history.counted_evidence import find_trend_evidence
from scorereport.plots.fonts import font_faces
from scorereport.report.page_policy import SITE_POLICY, add_policy, check_self_contained, check_style
from scorereport.report.templates import open_templates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.audit.site.audit_runs import FindEvidence, FindState
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History
    from scorereport.history.verification_findings import Verification

    RenderTemplate = Callable[[str, Mapping[str, Any]], str]


_STYLE_SHEET = "style.css"
#: Characters that are in the fonts of every site, so that the fonts seldom change.
_ALWAYS_INCLUDED = "".join(map(chr, range(0x20, 0x7F))) + "·…−∞●○✓✗≈±×–—‘’“”‹›"
#: The font faces of the style sheet.
_FONT_FACE = re.compile(
    r'@font-face \{ font-family: "([^"]+)"; font-weight: (\d+); font-style: normal; '
    r'src: url\("data:font/woff;base64,([^"]+)"\)'
)


def write_site(
    records: Sequence[Record],
    folder: Path,
    *,
    find_folder: Callable[[Record], Path],
    title: str,
    time: str,
    verification: Verification | None = None,
    templates: Path | None = None,
    find_evidence: FindEvidence = find_trend_evidence,
    find_state: FindState | None = None,
    address: str = "",
) -> list[Path]:
    """Write the web pages of all audits of a history into a folder, and return their paths.

    Parameters
    ----------
    records : the whole history, oldest first
    folder : a new folder, an empty one, or one of an earlier site, whose files are replaced
    find_folder : returns the folder of reports of a record, to which the names of its files are relative
    title : the title of the site
    time : when the site is written, in ISO format; the same records, title and time give the same bytes
    verification : the result of `verify` for the history, if it was run
    templates : a folder of templates that replace those of the package
    find_evidence : returns the evidence of the records of one audit, by default all that they have
    find_state : returns the state of the records of one audit, by default that of the newest period
    address : the address at which the site is published, for links in feeds; without it they are relative
    """
    own = read_manifest(folder)
    audits = group_runs(records, find_evidence, find_state or (lambda own: find_site_state(own, time)))
    copies = plan_copies(audits, folder, find_folder)
    facts = _collect_facts(records, title, time, verification)
    entries = build_board(audits)
    render = open_templates(templates)
    pages = {
        audit.address: _finish_page(
            render("site/audit.html", describe_audit(facts, audit, copies)),
            feed=audit.feed_beside,
        )
        for audit in audits
    }
    pages["index.html"] = _finish_page(
        render("site/index.html", describe_index(facts, entries, copies)), feed=SITE_FEED
    )
    style, fonts = _render_style("".join(pages.values()), render)
    feeds = render_feeds(facts, audits, copies, address)
    texts = {"audits.json": render_data(facts, entries, copies), _STYLE_SHEET: style, **pages, **feeds}
    contents = fonts | {name: text.encode() for name, text in texts.items()}
    return _write(folder, contents, copies, own)


def _finish_page(page: str, *, feed: str) -> str:
    """Check that a page loads nothing but the style sheet of the site and its fonts, and add its policy."""
    check_self_contained(page, beside=(_STYLE_SHEET, f"../{_STYLE_SHEET}", feed))
    return add_policy(page, SITE_POLICY)


def _collect_facts(
    records: Sequence[Record], title: str, time: str, verification: Verification | None
) -> SiteFacts:
    return SiteFacts(
        title=title,
        time=time,
        records=len(records),
        last_id=records[-1].id if records else 0,
        last_sha256=records[-1].sha256 if records else "",
        verification=verification,
    )


def _render_style(text: str, render: RenderTemplate) -> tuple[str, dict[str, bytes]]:
    """Render the style sheet of all pages, and its fonts, reduced to the characters of the pages."""
    sheet = render("site/style.css", {"statuses": STATUS_KEYS, "certificates": CERTIFICATE_KEYS})
    check_style(sheet)
    rules, fonts = [], {}
    for family, weight, packed in _FONT_FACE.findall(
        font_faces(_ALWAYS_INCLUDED + html.unescape(text) + sheet)
    ):
        content = b64decode(packed)
        name = f"fonts/{family.lower().replace(' ', '-')}-{weight}-{sha256(content).hexdigest()[:8]}.woff"
        fonts[name] = content
        rules.append(
            f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-display: swap; '
            f'src: url("{name}") format("woff"); }}\n'
        )
    return "".join(rules) + sheet, fonts


def _write(
    folder: Path,
    contents: Mapping[str, bytes],
    copies: Mapping[int, Sequence[ReportCopy]],
    own: frozenset[str],
) -> list[Path]:
    """Write the files; the manifest comes first, so that it lists all files of the site even after a crash.

    Files of the earlier site are removed last.
    """
    kept = {
        copy.target for of_record in copies.values() for copy in of_record if copy.state is FileState.THERE
    }
    wanted = {*contents, *kept}
    check_no_foreign_files(folder, wanted, own)
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(folder, own | wanted)
    write_copies(copies, folder)
    _write_changed(folder, contents)
    remove_site_files(folder, own - wanted)
    write_manifest(folder, wanted)
    return [folder / name for name in sorted(wanted)]


def _write_changed(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files that are new or changed: all of them, or none."""
    changed = {
        folder / name: content
        for name, content in contents.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content
    }
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
    if changed:
        write_together(changed, public=True)


def publish_site(plan: Plan, history: History, folder: Path) -> Path:
    """Write the pages of all audits of a history into a folder, and return the path of the index.

    The schedule and the window of an audit are those of the configuration of its last run.
    """
    time = timestamp()
    records = history.records()
    last = {record.audit: record for record in records if record.kind == "audit"}
    settings = {name: read_audit_settings(history, record) for name, record in last.items()}
    write_site(
        records,
        folder,
        find_folder=lambda record: plan.resolve(record.folder),
        title=plan.configuration.report.organisation or "Model audits",
        time=time,
        verification=verify_audit_history(plan),
        find_state=lambda own: find_site_state(own, time, settings[own[0].audit]),
        address=plan.audit.notify.site,
    )
    return folder / "index.html"
