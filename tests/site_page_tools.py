"""Sites that two test files share."""

from __future__ import annotations

from site_evidence_tools import make_evidence
from site_tools import chain, make_records, write_reports

from scorereport.audit.site.publication import write_site

TIME = "2026-11-15T16:00:00+00:00"


SCRIPT = "<script>alert(1)</script>"


LONG = ("a_name_without_any_place_to_break_it_" * 4)[:120]


CJK = "信用风险模型"


QUOTES = "\"two\" & 'one' {{ 7*7 }}/.."


HOSTILE = (SCRIPT, LONG, CJK, QUOTES, "../../etc/passwd")


def write(records, folder, **options):
    """A site in `folder/site` of reports in `folder/reports`."""
    given = {"title": "Audits of a bank", "time": TIME} | options
    return write_site(records, folder / "site", find_folder=lambda _: folder / "reports", **given)


def site_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    records = chain(
        [
            *make_records(60, 5, failed=(20,)),
            *make_records(1, 1, audit="new"),
            *make_records(6, 5, audit=SCRIPT, names=HOSTILE, step=30, failed=(5,)),
        ]
    )
    write_reports(records, folder / "reports")
    write(records, folder, find_evidence=make_evidence)
    return folder / "site"
