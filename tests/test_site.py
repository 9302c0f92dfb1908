"""The web site: names, axes, series, board and files."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import time
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from site_page_tools import HOSTILE, LONG, SCRIPT, TIME, site_fixture, write
from site_tools import NAMES, chain, content_of, make_records, write_reports

from scorereport.audit.site.audit_runs import (
    RecordedRun,
    group_runs,
    hash_records,
    link_to_file,
    safe_file_name,
    safe_name,
)
from scorereport.audit.site.chart_axes import (
    CHART_WIDTH,
    count_decimals,
    list_day_ticks,
    scale_of_days,
    scale_of_numbers,
)
from scorereport.audit.site.measure_series import choose_site_format, collect_runs
from scorereport.audit.site.publication import write_site
from scorereport.audit.site.site_files import MANIFEST_FILE, FileState, plan_copies
from scorereport.audit.site.status_board import build_board
from scorereport.audit.site.trend_charts import MAX_DOTS, build_charts, build_sparkline
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.configuration.periods import Period
from scorereport.errors import UsageError
from scorereport.history.audit_record import AuditStatus, Record, RecordedFile
from scorereport.history.verification_findings import FindingKind, IntegrityFinding, Verification
from scorereport.plots.trend_picture import spread_labels

site = pytest.fixture(scope="module")(site_fixture)


def read(path):
    return path.read_text(encoding="utf-8")


def list_files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def change_number(record, place, **changes):
    numbers = list(record.snapshot.numbers)
    numbers[place] = replace(numbers[place], **changes)
    return replace(record, snapshot=replace(record.snapshot, numbers=tuple(numbers)), judgements=())


def charts_of(records):
    (audit,) = group_runs(records)
    days, failed = [run.day for run in audit.measured], [run.day for run in audit.failed]
    return build_charts(collect_runs(audit.measured), days, failed)


def test_a_run_is_drawn_in_the_middle_of_its_period():
    """The run of January is drawn over January, not over the tick of February."""
    (record,) = make_records(1, 1)
    january = Period(label="2026-01", start="2026-01-01", end="2026-02-01")
    days = [
        RecordedRun(record=replace(record, period=period), sha256="").day
        for period in (january, replace(january, start=None))
    ]
    assert days == [date(2026, 1, 16), date(2026, 1, 31)]


# ---- Names ----


@pytest.mark.parametrize(
    "name", [*HOSTILE, "", ".", "..", "con", "nul.txt", "Credit", "a b", "x" * 500, "\ud800", "-a"]
)
def test_unsafe_names_become_plain_ones(name):
    safe = safe_name(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*-[0-9a-f]{10}", safe)
    assert len(safe) <= 60
    assert safe == safe_name(name)


def test_safe_names_are_kept_and_different_names_stay_different():
    plain = ["credit", "credit-risk", "2026-10", "a.b_c", "a"]
    assert [safe_name(name) for name in plain] == plain
    forged = safe_name("Credit")
    names = [*plain, *HOSTILE, "Credit", "CREDIT", "credit ", forged, safe_name(forged)]
    assert len({safe_name(name).casefold() for name in names}) == len(names)


def test_names_of_files_keep_the_ending_of_a_report_only():
    assert safe_file_name("2026-10.html") == "2026-10.html"
    assert re.fullmatch(r"etc-passwd-[0-9a-f]{10}\.pdf", safe_file_name("../../etc/passwd.pdf"))
    assert re.fullmatch(r"a-sh-[0-9a-f]{10}", safe_file_name("a b.sh").replace("a-b-sh", "a-sh"))
    assert link_to_file("reports/a b#?.html", above=1) == "../reports/a%20b%23%3F.html"


# ---- Axes ----


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (1, ["1 Nov"]),
        (5, ["1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov"]),
        (40, ["5 Nov", "12 Nov", "19 Nov", "26 Nov", "3 Dec", "10 Dec"]),
        (365, ["Nov", "Jan", "Mar", "May", "Jul", "Sep"]),
        (3 * 365, ["Jan", "Jul", "Jan", "Jul", "Jan", "Jul"]),
    ],
)
def test_days_at_the_axis_are_round_and_few(days, texts):
    listed = [date(2025, 11, 1) + timedelta(days=place) for place in range(days)]
    ticks = list_day_ticks(listed, scale_of_days(listed))
    assert [tick.text for tick in ticks] == texts
    assert all(0 <= tick.place <= 1 for tick in ticks)
    assert 1 <= sum(tick.main for tick in ticks) <= 4
    years = [tick.year for tick in ticks if tick.year]
    assert years == sorted(set(years))
    assert all(tick.main for tick in ticks[1:] if tick.year) or days > 365


def test_the_time_axis_is_one_of_real_time():
    days = [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 11)]
    scale = scale_of_days(days)
    places = [scale.place(day) for day in days]
    assert (places[2] - places[1]) / (places[1] - places[0]) == pytest.approx(9, rel=0.01)
    assert scale_of_days([days[0]]).place(days[0]) == CHART_WIDTH / 2


@pytest.mark.parametrize(
    "values", [[0.16, 0.21], [0.0, 0.0], [], [-1e-9, 1e-9], [5.0], [1e6, 2e6], [0.0191, 0.0209]]
)
def test_numbers_at_the_axis_are_round_and_two_at_least(values):
    scale = scale_of_numbers(values, 1100)
    ticks = scale.ticks(3)
    assert 2 <= len(ticks) <= 5
    assert all(scale.holds(tick) for tick in ticks)
    texts = {f"{tick:.{count_decimals(ticks)}f}" for tick in ticks}
    assert len(texts) == len(ticks)
    assert all(0 <= scale.place(value) <= 1100 for value in values)


def test_labels_never_touch_and_stay_in_their_box():
    for places in ([50, 50, 50, 50], [0, 1, 99, 100], [97, 98, 99]):
        moved = spread_labels(places, 100, 15)
        assert all(after - before >= 15 - 1e-9 for before, after in pairwise(moved))
        assert min(moved) >= 0
        assert max(moved) <= 100


# ---- Series and charts ----


def test_every_chart_has_a_point_for_each_audit_and_a_mark_for_each_failure():
    charts = charts_of(make_records(12, 3, step=30, failed=(4, 7)))
    assert [chart.measure for chart in charts] == [
        "brier",
        "brier_miscalibration",
        "brier_discrimination",
        "roc_auc",
        "prevalence",
    ]
    for chart in charts:
        lanes = 1 if chart.measure == "prevalence" else 3
        assert len(chart.lanes) == lanes
        assert len(chart.columns) == 10
        assert len(chart.failures) == 2
        assert all(column.dots.count("M") == lanes for column in chart.columns)
        assert not chart.is_dense
        assert chart.columns[3].place < chart.failures[0] < chart.columns[4].place


def test_few_audits_have_whiskers_and_many_a_band():
    few, many = (charts_of(make_records(days, 1))[0].lanes[0] for days in (MAX_DOTS, MAX_DOTS + 1))
    assert (few.whiskers.count("M"), few.band) == (MAX_DOTS, "")
    assert (many.whiskers, many.band.count("M")) == ("", 1)


def test_lines_go_through_the_numbers_they_show():
    records = make_records(60, 1)
    chart = charts_of(records)[0]
    lane = chart.lanes[0]
    points = list(walk(lane.line))
    assert [f"M{x} {y}h0" for x, y in points] == [column.dots for column in chart.columns]
    band = list(walk(lane.band))
    assert len(band) == 2 * len(points)
    for (x, y), (_, upper), (back, lower) in zip(points, band[:60], reversed(band[60:]), strict=True):
        assert x == back
        assert lane.top <= upper < y < lower <= lane.bottom
    values = [record.snapshot.numbers[0].value for record in records]
    order = sorted(range(60), key=lambda place: -values[place])
    heights = [points[place][1] for place in order]
    assert heights == sorted(heights)


def walk(path):
    """The points of a path, accumulated from its steps."""
    start, steps = re.fullmatch(r"M(\d+ \d+)l([-\d ]+)z?", path).groups()
    x, y = map(int, start.split())
    yield x, y
    numbers = [int(number) for number in re.findall(r"-?\d+", steps)]
    for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
        x, y = x + dx, y + dy
        yield x, y


def test_a_missing_number_is_a_gap():
    records = make_records(5, 1)
    records[2] = change_number(
        records[2], 0, value=math.nan, corrected=math.nan, lower=math.nan, upper=math.nan
    )
    chart = charts_of(chain(records))[0]
    assert chart.lanes[0].line.count("M") == 2
    assert chart.lanes[0].whiskers.count("M") == 4
    assert [column.dots.count("M") for column in chart.columns] == [1, 1, 0, 1, 1]


def test_numbers_that_are_not_fully_drawn_are_noted():
    records = make_records(9, 1)
    records[3] = change_number(records[3], 0, value=math.inf, corrected=math.inf)
    records[5] = change_number(records[5], 0, lower=-8.0, upper=9.0)
    chart = charts_of(chain(records))[0]
    assert chart.notes == (
        "1 infinite number drawn at the edge.",
        "1 interval far wider than the others, cut at the edge.",
    )
    assert chart.columns[3].dots.endswith(f" {chart.lanes[0].top}h0")


def test_an_interval_below_the_least_possible_number_is_not_cut():
    records = [change_number(record, 1, lower=-0.01) for record in make_records(5, 1)]
    chart = charts_of(chain(records))[1]
    assert chart.measure == "brier_miscalibration"
    assert chart.notes == ()


def test_limits_far_from_all_numbers_do_not_flatten_them():
    records = make_records(9, 1)
    judged = [
        replace(record, judgements=(replace(record.judgements[0], warn_upper=0.2, fail_upper=25.0),))
        for record in records
    ]
    chart = charts_of(chain(judged))[0]
    assert chart.notes == ("Beyond the edge, far from all numbers: limit 25.",)
    assert [kind for kind, _ in chart.lanes[0].limits] == ["warn"]
    assert next((label.kind, label.text) for label in chart.lanes[0].labels) == ("warn", "0.2")


def test_a_limit_that_was_changed_is_drawn_as_it_was():
    records = make_records(9, 1)
    before = [
        replace(record, judgements=(replace(record.judgements[0], warn_upper=None, fail_upper=0.2),))
        for record in records[:4]
    ]
    lane = charts_of(chain([*before, *records[4:]]))[0].lanes[0]
    (kind, fail), (_, warn) = lane.limits
    assert kind == "fail"
    assert len(re.findall(r"M\d+ \d+H\d+", fail)) == 2
    assert fail.startswith("M0 ")
    assert fail.endswith(f"H{CHART_WIDTH}")
    assert warn.count("M") == 1
    assert not warn.startswith("M0 ")


def test_components_are_shown_without_overfit_and_judged_numbers_beside_others():
    record = make_records(1, 1)[0]
    extra = replace(record.judgements[0], measure="calibration_slope", label="calibration slope", value=0.9)
    in_a_group = replace(extra, group="plan = a", measure="log_loss")
    (audit,) = group_runs([replace(record, judgements=(*record.judgements, extra, in_a_group))])
    series = {one.measure: one for one in collect_runs(audit.measured)}
    assert "log_loss" not in series
    assert series["calibration_slope"].readings[0].value == 0.9
    reading = series["brier_miscalibration"].readings[0]
    number = record.snapshot.numbers[1]
    assert (reading.value, reading.raw) == (number.corrected, number.value)
    assert reading.judgement.warn_upper == 0.012


def test_a_model_added_later_has_a_line_from_then_on():
    old, new = make_records(4, 1), make_records(8, 2)[4:]
    series = collect_runs(group_runs(chain([*old, *new]))[0].measured)
    assert [one.model for one in series if one.measure == "brier"] == list(NAMES[:2])
    assert [reading is None for reading in series[1].readings] == [True] * 4 + [False] * 4
    assert (
        build_sparkline(series[1], [date(2026, 1, 1) + timedelta(days=n) for n in range(8)]).line.count("M")
        == 1
    )


def test_numbers_are_formatted_consistently():
    records = make_records(2, 1)
    series = {one.measure: one for one in collect_runs(group_runs(records)[0].measured)}
    brier = choose_site_format("brier", series["brier"].known)
    share = choose_site_format("prevalence", series["prevalence"].known)
    assert (brier.number(0.1), brier.interval(-0.1, 0.2)) == ("0.1000", "[−0.1000, 0.2000]")
    assert (brier.change(0.0012), brier.change(-0.0012), brier.change(1e-9)) == (
        "+0.0012",
        "−0.0012",
        "0.0000",
    )
    assert (share.number(0.263), share.interval(0.1, 0.2)) == ("26.3 %", "[10.0, 20.0] %")
    assert (share.change(0.011), share.interval(math.nan, 1)) == ("+1.1 points", "")


# ---- The board ----


def test_the_board_has_the_newest_state_the_worst_first():
    good = make_records(3, 2, audit="good")
    broken = make_records(3, 2, audit="broken", failed=(2,))
    breached = make_records(3, 5, audit="breached")
    breached[2] = replace(breached[2], status=AuditStatus.FAIL)
    entries = build_board(group_runs(chain([*good, *breached, *broken])))
    assert [entry.audit.name for entry in entries] == ["broken", "breached", "good"]
    assert [entry.has_failed for entry in entries] == [True, False, False]
    assert [entry.is_old for entry in entries] == [True, False, False]
    assert [entry.is_in_breach for entry in entries] == [False, True, False]
    row, _, sample = entries[2].rows
    numbers = [record.snapshot.numbers[0].value for record in good]
    assert row.reading.value == numbers[2]
    assert row.change == pytest.approx(numbers[2] - numbers[1])
    assert row.is_better == (numbers[2] < numbers[1])
    assert (row.verdict, row.counts[LimitVerdict.PASS], row.drifted) == (LimitVerdict.PASS, 2, ())
    assert (sample.model, sample.series.measure, sample.is_better) == ("", "prevalence", None)


@pytest.mark.sweep
def test_a_limit_is_breached_also_where_the_numbers_of_r_differ(tmp_path):
    record = make_records(1, 1)[0]
    judged = replace(record.judgements[0], verdict=LimitVerdict.FAIL)
    period = replace(record.period, label="2025-10-03--2025-11-01", start="2025-10-03")
    record = replace(record, status=AuditStatus.UNCERTIFIED, judgements=(judged,), period=period)
    assert build_board(group_runs([record]))[0].is_in_breach
    write([record], tmp_path)
    page = read(tmp_path / "site/index.html")
    assert "1 audit, 1 in breach of a limit" in page
    assert "The numbers of R differ in 1 audit." in page
    assert "2025-10-03 to 2025-11-01 · " in page
    assert "certificate failed" in page


def test_an_audit_of_the_past_is_not_the_newest():
    records = make_records(4, 1)
    again = replace(records[1], attempt=2, finished=TIME)
    (entry,) = build_board(group_runs(chain([*records, again])))
    assert entry.newest.record.id == 4
    assert [run.record.id for run in entry.audit.runs] == [1, 2, 5, 3, 4]


def test_an_audit_of_the_future_is_listed_and_does_not_count(tmp_path):
    records = make_records(4, 1, failed=[3], forms=())
    future = Period(label="2029-12", start="2029-12-01", end="2030-01-01")
    records[3] = replace(records[3], period=future, as_of="2030-01-01T12:00:00+00:00")
    (audit,) = group_runs(chain(records))
    assert [run.record.id for run in audit.runs] == [1, 2, 3, 4]
    assert audit.latest.record.id == 3
    assert (len(audit.measured), audit.failed) == (3, ())
    write(chain(records), tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert "2029-12" in page
    assert "The period was in the future when this audit ran, so it does not count." in page
    assert "2029-12" not in read(tmp_path / "site/index.html")
    (alone,) = group_runs(chain(records[3:]))
    assert alone.latest.record.period == future


def test_hashes_are_those_of_the_chain_and_computed_where_it_has_gaps():
    records = make_records(5, 1)
    truth = [record.sha256 for record in records]
    assert hash_records(records) == truth
    assert hash_records(records[::2]) == truth[::2]
    assert hash_records([]) == []


# ---- Files ----


def test_the_same_records_title_and_time_give_the_same_bytes(tmp_path):
    records = make_records(3, 2)
    write_reports(records, tmp_path / "reports")
    first = {path: path.read_bytes() for path in write(records, tmp_path)}
    times = {path: path.stat().st_mtime_ns for path in first}
    assert {path: path.read_bytes() for path in write(records, tmp_path)} == first
    assert {path: path.stat().st_mtime_ns for path in first} == times
    shutil.rmtree(tmp_path / "site")
    assert {path: path.read_bytes() for path in write(records, tmp_path)} == first
    assert list_files(tmp_path / "site") - {MANIFEST_FILE} == {
        path.relative_to(tmp_path / "site").as_posix() for path in first
    }


def test_pages_are_plain_and_refer_to_nothing_outside(tmp_path):
    records = make_records(3, 2, failed=(1,))
    write_reports(records, tmp_path / "reports")
    for path in write(records, tmp_path):
        if path.suffix in (".html", ".css") and "reports" not in path.parts:
            page = read(path)
            assert not re.search(r"<script|https?://|(?:href|src)=\"/|@import|javascript:", page)
            assert all((path.parent / name).is_file() for name in re.findall(r'url\("([^"]+)"\)', page))


def test_pages_are_well_formed(tmp_path):
    write(make_records(3, 2, failed=(1,)), tmp_path)
    pages = list((tmp_path / "site").rglob("*.html"))
    drawings = [svg for path in pages for svg in re.findall(r"<svg.*?</svg>", read(path), re.DOTALL)]
    assert len(drawings) > len(pages)
    assert {ElementTree.fromstring(drawing).tag.rpartition("}")[2] for drawing in drawings} == {"svg"}


def test_every_report_is_copied_once_and_linked(tmp_path):
    records = make_records(3, 1)
    write_reports(records, tmp_path / "reports")
    write(records, tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    for record in records:
        for file in record.files:
            copy = tmp_path / "site/reports" / file.name
            assert copy.read_bytes() == content_of(file.name)
            assert f'href="../reports/{file.name}"' in page
    shutil.rmtree(tmp_path / "reports")
    changed = tmp_path / "site/reports" / records[0].files[0].name
    changed.write_bytes(b"x" * records[0].files[0].size)
    write(records, tmp_path)
    assert not changed.exists()
    assert (tmp_path / "site/reports" / records[1].files[0].name).exists()
    assert "HTML missing" in read(tmp_path / "site/audits/credit.html")


def test_missing_or_changed_files_are_named(tmp_path):
    records = make_records(5, 1, forms=("pdf",))
    files = [record.files[0] for record in records]
    write_reports(records, tmp_path / "reports")
    kept = Record(
        kind="retention",
        audit="credit",
        period=records[-1].period,
        as_of=TIME,
        status=AuditStatus.DONE,
        exit_code=0,
        started=TIME,
        finished=TIME,
        removed=(files[0],),
    )
    folder = tmp_path / "reports"
    (folder / files[0].name).unlink()
    (folder / files[1].name).unlink()
    (folder / files[2].name).write_bytes(b"%PDF-1.7 other")
    staging = folder / "credit/.staging"
    staging.mkdir()
    (folder / files[3].name).rename(staging / "2025-11-04.pdf")
    history = chain([*records, kept])
    planned = plan_copies(group_runs(history), tmp_path / "site", lambda _: folder)
    assert [planned[number][0].state for number in range(1, 6)] == [
        FileState.NOT_KEPT,
        FileState.MISSING,
        FileState.CHANGED,
        FileState.THERE,
        FileState.THERE,
    ]
    write(history, tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert [page.count(f">PDF {word}<") for word in ("not kept", "missing", "changed")] == [1, 1, 1]
    assert {path.name for path in (tmp_path / "site/reports/credit").iterdir()} == {
        "2025-11-04.pdf",
        "2025-11-05.pdf",
    }
    assert 'href="#r1" tabindex="-1"' in page


def test_a_file_outside_of_the_reports_is_never_copied(tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_bytes(b"secret")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/link.html").symlink_to(secret)
    digest = hashlib.sha256(b"secret").hexdigest()
    names = ("../secret.html", str(secret), "link.html")
    files = tuple(RecordedFile(name=name, sha256=digest, size=6) for name in names)
    write(chain([replace(make_records(1, 1)[0], files=files)]), tmp_path)
    assert not (tmp_path / "site/reports").exists()
    assert read(tmp_path / "site/index.html").count("HTML missing") == 3


def test_the_later_of_two_files_with_one_name_is_offered(tmp_path):
    records = make_records(2, 1, forms=("html",))
    name = records[1].files[0].name
    first = replace(records[0], files=(RecordedFile(name=name, sha256="0" * 64, size=3),))
    write_reports(records, tmp_path / "reports")
    write(chain([first, records[1]]), tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert page.count(">HTML changed<") == 1
    assert (tmp_path / "site/reports" / name).read_bytes() == content_of(name)


@pytest.mark.sweep
def test_pages_of_removed_audits_are_removed_and_other_files_stay(tmp_path):
    records = chain([*make_records(2, 1), *make_records(2, 1, audit="claims")])
    write_reports(records, tmp_path / "reports")
    write(records, tmp_path)
    site = tmp_path / "site"
    (site / "audits/notes.txt").write_text("mine", encoding="utf-8")
    (site / "reports/claims/notes.txt").write_text("mine", encoding="utf-8")
    write(records[:2], tmp_path)
    assert {name for name in list_files(site) if "claims" in name} == {"reports/claims/notes.txt"}
    assert (site / "audits/notes.txt").exists()
    write([], tmp_path)
    assert "No audit has been recorded yet." in read(site / "index.html")
    assert not (site / "reports/credit").exists()


def test_a_folder_with_other_files_is_not_changed(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"holds files, and is not a site of scorereport; name another folder\.$"
    ):
        write(make_records(1, 1), tmp_path)
    assert list_files(site) == {"index.html"}
    (site / "index.html").unlink()
    write(make_records(1, 1), tmp_path)
    (site / "audits/new.html").write_text("mine", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"new\.html was not written by scorereport; move it away, or name another"
    ):
        write(make_records(1, 1, audit="new"), tmp_path)
    assert (site / "audits/credit.html").exists()
    with pytest.raises(UsageError, match=r"^The site needs a folder; .*index\.html is a file\.$"):
        write_site([], site / "index.html", find_folder=lambda _: tmp_path, title="", time=TIME)


def test_a_manifest_that_names_files_outside_removes_none_of_them(tmp_path):
    write(make_records(1, 1), tmp_path)
    outside, elsewhere = tmp_path / "outside.html", tmp_path / "elsewhere"
    outside.write_text("mine", encoding="utf-8")
    elsewhere.mkdir()
    (elsewhere / "page.html").write_text("mine", encoding="utf-8")
    (tmp_path / "site/link").symlink_to(elsewhere)
    path = tmp_path / "site" / MANIFEST_FILE
    document = json.loads(read(path))
    document["files"] += ["../outside.html", str(outside), "link/page.html", "..\\outside.html"]
    path.write_text(json.dumps(document), encoding="utf-8")
    write(make_records(1, 1), tmp_path)
    assert outside.exists()
    assert (elsewhere / "page.html").exists()
    for changed in ({}, document | {"version": -1}, document | {"files": [1]}):
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(
            UsageError, match=r"is not a manifest of this version of scorereport; move the folder away"
        ):
            write(make_records(1, 1), tmp_path)


def test_a_linked_folder_is_not_written_into(tmp_path):
    write([], tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "site/audits").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(
        UsageError, match=r"audits leads out of the folder .*site; move it away, or name another one\.$"
    ):
        write(make_records(1, 1), tmp_path)
    assert list_files(tmp_path / "elsewhere") == set()


def test_hostile_names_are_text_and_their_files_are_inside(tmp_path):
    records = [
        record
        for name in HOSTILE
        for record in make_records(2, 5, audit=name, names=HOSTILE, failed=(0,), forms=())
    ]
    failed = replace(records[0], reason=f"{SCRIPT} `{SCRIPT}` {LONG}")
    files = write(chain([failed, *records[1:]]), tmp_path, title=SCRIPT)
    assert all(path.resolve().is_relative_to(tmp_path / "site") for path in files)
    assert len(list((tmp_path / "site/audits").glob("*.html"))) == len(HOSTILE)
    for path in (tmp_path / "site").rglob("*.html"):
        assert "<script" not in read(path)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in read(path)
        assert "{{ 7*7 }}" in read(path)
    document = json.loads(read(tmp_path / "site/audits.json"))
    assert {audit["audit"] for audit in document["audits"]} == set(HOSTILE)


def test_the_data_have_the_numbers_of_the_pages(tmp_path):
    records = make_records(4, 2, failed=(1,))
    write(records, tmp_path)
    document = json.loads(read(tmp_path / "site/audits.json"))
    (audit,) = document["audits"]
    assert document["last_record"] == {"id": 4, "sha256": records[-1].sha256}
    assert audit["measured"] == [1, 3, 4]
    assert [run["status"] for run in audit["runs"]][1] == "failed"
    assert audit["runs"][1]["reason"] == records[1].reason
    assert [run["sha256"] for run in audit["runs"]] == [record.sha256 for record in records]
    (brier,) = (one for one in audit["series"] if (one["measure"], one["model"]) == ("brier", "poisson"))
    numbers = [record.snapshot.numbers[4] for record in records if record.snapshot]
    assert brier["value"] == pytest.approx([number.value for number in numbers], rel=1e-5)
    assert brier["lower"] == pytest.approx([number.lower for number in numbers], rel=1e-5)
    assert brier["limits"]["fail_upper"] == 0.21
    assert f"{brier['value'][-1]:.4f}" in read(tmp_path / "site/index.html")


@pytest.mark.parametrize(
    ("findings", "sentence", "tone"),
    [
        (0, "Chain of 3 records and 9 files verified on 2026-11-15 16:00 UTC.", "good"),
        (25, "Not intact: 25 findings in a chain of 3 records and 9 files on 2026-11-15 16:00 UTC.", "bad"),
    ],
)
def test_the_board_states_what_verification_found(tmp_path, findings, sentence, tone):
    found = tuple(
        IntegrityFinding(kind=FindingKind.CHANGED, subject=f"record {n}", sentence=f"Record {n} was changed.")
        for n in range(findings)
    )
    verification = Verification(records=3, files=9, head="0" * 64, findings=found, notes=("A note.",))
    write(make_records(3, 1), tmp_path, verification=verification)
    page = read(tmp_path / "site/index.html")
    assert f'<dd class="verdict {tone}">{sentence}</dd>' in page
    assert page.count("was changed.") == min(findings, 20)
    assert ("And 5 more findings; <code>scorereport audit verify</code> lists all." in page) == bool(findings)
    assert ("The history is not intact: see below." in page) == bool(findings)
    assert "A note." in page


def test_templates_of_a_user_replace_ours(tmp_path):
    own = tmp_path / "own/site"
    own.mkdir(parents=True)
    (own / "site.css").write_text("body { color: teal; }", encoding="utf-8")
    write(make_records(1, 1), tmp_path, templates=tmp_path / "own")
    assert "color: teal" in read(tmp_path / "site/style.css")
    assert "--ink" in read(tmp_path / "site/style.css")


@pytest.mark.sweep
def test_a_year_of_daily_audits_is_fast_and_small(tmp_path):
    records = make_records(365, 5, failed=(40, 41, 200), bins=8)
    start = time.perf_counter()
    files = write(records, tmp_path)
    assert time.perf_counter() - start < 20
    assert sum(path.stat().st_size for path in files) < 1_500_000
    page = read(tmp_path / "site/audits/credit.html")
    assert page.count('<tr id="r') == 365
    assert page.count("<rect") == 5 * 362
