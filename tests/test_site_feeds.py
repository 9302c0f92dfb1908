"""Atom feeds of the site, checked with parsers of their own against the rules of RFC 4287."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from urllib.parse import unquote, urljoin, urlsplit
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from site_evidence_tools import annul
from site_page_tools import HOSTILE, SCRIPT, TIME, write
from site_tools import chain, make_records, write_reports

from scorereport.audit.site.feeds import MOST_ENTRIES, format_rfc_time
from scorereport.history.audit_record import AuditStatus
from scorereport.results.summary_texts import SummaryTexts

ATOM = "{http://www.w3.org/2005/Atom}"
#: Children that RFC 4287 requires exactly once (4.1.1, 4.1.2), and those that it allows at most once.
ONCE = {"feed": ("id", "title", "updated"), "entry": ("id", "title", "updated")}
MOST_ONCE = {"feed": ("generator", "icon", "logo", "rights", "subtitle"), "entry": ("summary", "content")}
KNOWN = {
    "feed": {*ONCE["feed"], *MOST_ONCE["feed"], "author", "category", "contributor", "link", "entry"},
    "entry": {*ONCE["entry"], *MOST_ONCE["entry"], "author", "category", "link", "published", "source"},
}
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def parse(path):
    """The root of a feed, read by two parsers that must agree on its elements."""
    content = path.read_bytes()
    root = ElementTree.fromstring(content)
    document = minidom.parseString(content)
    assert len(document.getElementsByTagName("*")) == sum(1 for _ in root.iter())
    assert document.encoding == "utf-8"
    return root


def check_atom(root):
    """Check the structure of a feed against RFC 4287; return its entries."""
    assert root.tag == f"{ATOM}feed"
    entries = root.findall(f"{ATOM}entry")
    assert root.find(f"{ATOM}author/{ATOM}name").text  # 4.1.1: one author, as entries have none
    assert [link.get("rel") for link in root.findall(f"{ATOM}link")] == ["self", "alternate"]
    for element in (root, *entries):
        kind = element.tag.removeprefix(ATOM)
        names = [child.tag.removeprefix(ATOM) for child in element]
        assert all(child.tag.startswith(ATOM) for child in element)
        assert set(names) <= KNOWN[kind]
        assert all(names.count(name) == 1 for name in ONCE[kind])
        assert all(names.count(name) <= 1 for name in MOST_ONCE[kind])
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", text_of(element, "id"))
        assert RFC_3339.fullmatch(text_of(element, "updated"))
        datetime.fromisoformat(text_of(element, "updated"))
        kinds = [(link.get("rel"), link.get("type")) for link in element.findall(f"{ATOM}link")]
        assert len(set(kinds)) == len(kinds)  # 4.1.1, 4.1.2: no two alternates of one type
        assert all(link.get("href") for link in element.findall(f"{ATOM}link"))
    for entry in entries:  # 4.1.2: without content an alternate link is required
        assert entry.find(f"{ATOM}link").get("rel") == "alternate"
        assert text_of(entry, "summary")
        assert entry.find(f"{ATOM}category").get("term")
    ids = [text_of(element, "id") for element in (root, *entries)]
    assert len(set(ids)) == len(ids)
    return entries


def text_of(element, name):
    return element.find(f"{ATOM}{name}").text


def read_feed(folder, name="feed.xml"):
    root = parse(folder / "site" / name)
    return root, check_atom(root)


def test_an_entry_states_verdict_findings_and_links_to_the_report(tmp_path):
    records = make_records(3, 1, audit="retail-default", failed=(1,))
    summary = SummaryTexts(verdict="Warn: one limit.", findings=("First.", "Second.", "Third.", "Fourth."))
    records[2] = replace(records[2], status=AuditStatus.WARN, summary=summary)
    records = chain(records)
    write_reports(records, tmp_path / "reports")
    write(records, tmp_path)
    root, (warned, failed, passed) = read_feed(tmp_path)
    assert text_of(warned, "title") == "retail-default 2025-11-03: warn"
    assert text_of(warned, "summary") == "Warn: one limit. First. Second. Third."
    assert text_of(warned, "updated") == "2025-11-04T02:00:41Z" == text_of(root, "updated")
    assert warned.find(f"{ATOM}link").get("href") == "reports/retail-default/2025-11-03.html"
    assert text_of(failed, "title").endswith(": failed")
    assert "gave no rows for the period 2025-11-02" in text_of(failed, "summary")
    assert failed.find(f"{ATOM}link").get("href") == "audits/retail-default.html#r2"
    assert text_of(passed, "summary").startswith("Pass: ")


def test_links_lead_to_files_of_the_site_from_every_feed(tmp_path):
    records = chain([*make_records(2, 1), *make_records(2, 1, audit="a b/ü#?", failed=(0,), forms=())])
    write_reports(records, tmp_path / "reports")
    write(records, tmp_path)
    feeds = sorted((tmp_path / "site").rglob("*.xml"))
    assert len(feeds) == 3
    for path in feeds:
        root = parse(path)
        check_atom(root)
        for link in root.iter(f"{ATOM}link"):
            target = urlsplit(urljoin(path.as_uri(), link.get("href")))
            page = type(path)(unquote(target.path))
            assert page.is_file()
            assert not target.fragment or f'id="{target.fragment}"' in page.read_text(encoding="utf-8")
    assert parse(path).find(f"{ATOM}link").get("href").startswith("../audits/") or path.name == "feed.xml"


@pytest.mark.parametrize("address", ["https://audits.example/site", "https://audits.example/site/"])
def test_links_are_absolute_if_the_address_of_the_site_is_known(tmp_path, address):
    records = make_records(1, 1)
    write_reports(records, tmp_path / "reports")
    write(records, tmp_path, address=address)
    for name in ("feed.xml", "audits/credit.xml"):
        root, (entry,) = read_feed(tmp_path, name)
        assert root.find(f"{ATOM}link").get("href") == f"https://audits.example/site/{name}"
        assert entry.find(f"{ATOM}link").get("href") == (
            "https://audits.example/site/reports/credit/2025-11-01.html"
        )


def test_pages_name_their_feeds(tmp_path):
    write(make_records(1, 1), tmp_path)
    for page, feed in (("index.html", "feed.xml"), ("audits/credit.html", "credit.xml")):
        text = (tmp_path / "site" / page).read_text(encoding="utf-8")
        assert f'<link rel="alternate" type="application/atom+xml" href="{feed}"' in text
        assert (tmp_path / "site" / page).with_name(feed).is_file()


def test_an_annulment_is_an_entry_and_the_annulled_record_is_none(tmp_path):
    records = make_records(3, 1)
    annulled = chain([*records, annul(records[1], "Test accounts.")])
    write(records, tmp_path)
    _, before = read_feed(tmp_path)
    write(annulled, tmp_path)
    _, after = read_feed(tmp_path)
    assert [text_of(entry, "title") for entry in after] == [
        "credit 2025-11-02: annulled",
        "credit 2025-11-03: pass",
        "credit 2025-11-01: pass",
    ]
    assert text_of(after[0], "summary") == "Record 2 is annulled and does not count. Test accounts."
    assert after[0].find(f"{ATOM}link").get("href") == "audits/credit.html#r2"
    known = {text_of(entry, "title"): text_of(entry, "id") for entry in before}
    assert {text_of(entry, "id") for entry in after[1:]} < set(known.values())


def test_identifiers_stay_and_bytes_repeat(tmp_path):
    records = make_records(4, 1)
    write(records[:3], tmp_path)
    root, entries = read_feed(tmp_path)
    first = (tmp_path / "site/feed.xml").read_bytes()
    write(records[:3], tmp_path, time="2027-01-01T00:00:00+00:00")
    assert (tmp_path / "site/feed.xml").read_bytes() == first
    write(records, tmp_path, title="Another title")
    later, more = read_feed(tmp_path)
    assert text_of(later, "id") == text_of(root, "id")
    assert [text_of(entry, "id") for entry in more[1:]] == [text_of(entry, "id") for entry in entries]
    own, _ = read_feed(tmp_path, "audits/credit.xml")
    assert text_of(own, "id") != text_of(later, "id")


def test_the_newest_entries_are_kept_and_an_empty_feed_is_valid(tmp_path):
    write(make_records(MOST_ENTRIES + 7, 1, forms=()), tmp_path)
    _, entries = read_feed(tmp_path)
    times = [text_of(entry, "updated") for entry in entries]
    assert len(times) == MOST_ENTRIES
    assert times == sorted(times, reverse=True)
    assert times[0].startswith("2025-12-28")
    write([], tmp_path)
    root, entries = read_feed(tmp_path)
    assert entries == []
    assert text_of(root, "updated") == format_rfc_time(TIME)


def test_names_and_reasons_are_text(tmp_path):
    odd = "\x00\x1b\ufffe]]>&amp;<b>"
    records = [record for name in HOSTILE for record in make_records(1, 1, audit=name, failed=(0,), forms=())]
    records[0] = replace(records[0], reason=f"{SCRIPT}{odd}")
    write(chain(records), tmp_path, title=SCRIPT)
    for path in (tmp_path / "site").rglob("*.xml"):
        assert "<script" not in path.read_text(encoding="utf-8")
        check_atom(parse(path))
    root, entries = read_feed(tmp_path)
    assert text_of(root, "title") == SCRIPT
    assert {text_of(entry, "title").removesuffix(" 2025-11-01: failed") for entry in entries} == set(HOSTILE)
    assert any(text_of(entry, "summary").endswith("]]>&amp;<b>") for entry in entries)
