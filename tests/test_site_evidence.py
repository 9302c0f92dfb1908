"""Evidence, confidence sequences and annulments on the site."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from datetime import date
from itertools import pairwise

import pytest
from site_evidence_tools import ALARM_AT, annul, make_evidence
from site_page_tools import HOSTILE, TIME, write
from site_tools import chain, make_records
from test_site import read, walk

from scorereport.audit.site.audit_runs import group_runs
from scorereport.audit.site.audit_settings import (
    AuditSettings,
    find_site_state,
    parse_audit_settings,
    read_audit_settings,
)
from scorereport.audit.site.chart_lanes import UNITS_PER_PIXEL
from scorereport.audit.site.evidence_charts import align_sequences, build_evidence_chart
from scorereport.audit.site.evidence_texts import describe_audit_evidence, describe_board_evidence
from scorereport.audit.site.measure_series import collect_runs
from scorereport.audit.site.pages import describe_index, group_by_letter, list_filters
from scorereport.audit.site.site_data import SiteFacts
from scorereport.audit.site.site_files import plan_copies
from scorereport.audit.site.status_board import build_board
from scorereport.audit.site.trend_charts import MAX_COLUMNS, build_charts, frame_days, thin_points
from scorereport.history.audit_record import AuditStatus
from scorereport.history.trend.evidence_records import EvidencePoint, EvidenceSeries, TrendEvidence
from scorereport.report.templates import render_html


def make_series(logs, *, alarm_at=ALARM_AT, hypothesis="calibration", model="logit", **given):
    """Evidence whose detector has these powers of ten."""
    points = tuple(
        EvidencePoint(period=f"2026-{month:02}", log_product=0.0, log_detector=power * math.log(10))
        for month, power in enumerate(logs, 1)
    )
    is_alarm = logs[-1] >= math.log10(alarm_at)
    return EvidenceSeries(
        **({"bound": 0.1} | given),
        model=model,
        hypothesis=hypothesis,
        alarm_at=alarm_at,
        points=points,
        is_alarm=is_alarm,
        sentence=f"Evidence about {model}.",
    )


def draw(series):
    count = max(len(one.points) for one in series)
    periods = [f"2026-{month:02}" for month in range(1, count + 1)]
    frame = frame_days([date(2026, month, 15) for month in range(1, count + 1)], [])
    return build_evidence_chart("Evidence", series, periods, frame)


# ---- The chart ----


def test_each_power_of_ten_has_the_same_height():
    lane = draw([make_series([0, 1, 2, 3])]).lanes[0]
    heights = [y for _, y in walk(lane.line)]
    steps = [a - b for a, b in pairwise(heights)]
    assert max(steps) - min(steps) <= 1
    assert min(steps) > 0
    ticks = {tick.text: tick.place * UNITS_PER_PIXEL for tick in lane.ticks}
    assert [ticks[text] for text in ("1", "10", "100", "1 k")] == pytest.approx(heights)


def test_the_alarm_line_is_at_its_evidence_and_the_newest_evidence_is_labelled():
    chart = draw([make_series([0, math.log10(35)]), make_series([1, math.log10(ALARM_AT)], model="boost")])
    for lane in chart.lanes:
        ((kind, path),) = lane.limits
        assert kind == "alarm"
        ticks = {tick.text: tick.place for tick in lane.ticks}
        share = math.log10(ALARM_AT) - 2
        height = ticks["100"] - share * (ticks["10"] - ticks["100"])
        assert int(re.fullmatch(r"M0 (\d+)h10000", path)[1]) / UNITS_PER_PIXEL == pytest.approx(
            height, abs=0.2
        )
    first, second = ({(label.kind, label.text + label.unit) for label in lane.labels} for lane in chart.lanes)
    assert first == {("newest", "35 to 1"), ("alarm", "alarm 240 to 1")}
    assert second == {("newest alarming", "240 to 1"), ("alarm", "alarm 240 to 1")}
    reached = list(walk(chart.lanes[1].line))[-1][1]
    assert chart.lanes[1].limits[0][1] == f"M0 {reached}h10000"


@pytest.mark.parametrize(
    ("logs", "note", "label"),
    [
        ([-3, -2], "Evidence below 1 to 1 is no evidence, and drawn at the lower edge.", "none"),
        ([2, 40], "Evidence above 1,000,000 to 1 is drawn at the upper edge.", "> 1,000,000 to 1"),
        ([-math.inf, 1], "Evidence below 1 to 1 is no evidence, and drawn at the lower edge.", "10 to 1"),
    ],
)
def test_evidence_beyond_the_scale_is_drawn_at_its_edge_and_noted(logs, note, label):
    chart = draw([make_series(logs)])
    assert chart.notes == (note,)
    lane = chart.lanes[0]
    assert all(lane.top <= y <= lane.bottom for _, y in walk(lane.line))
    assert {label.text + label.unit for label in lane.labels} == {label, "alarm 240 to 1"}
    assert len(lane.ticks) <= 8


def test_a_period_without_evidence_is_left_out():
    series = make_series([0, 1, 2])
    chart = draw([series, replace(series, points=series.points[::2])])
    assert [column.dots.count("M") for column in chart.columns] == [2, 1, 2]
    assert len(list(walk(chart.lanes[1].line))) == 2


def test_many_hypotheses_are_split_by_their_evidence():
    series = [make_series([0, place / 10], model=f"m{place:02}") for place in range(20)]
    frame = frame_days([date(2026, month, 15) for month in (1, 2)], [])
    evidence = TrendEvidence(series=tuple(series))
    (chart,) = describe_audit_evidence(evidence, ["2026-01", "2026-02"], frame)["charts"]
    assert chart["names"] == [f"m{place:02}" for place in range(19, 11, -1)]
    assert chart["more"]["names"] == [f"m{place:02}" for place in range(11, -1, -1)]
    assert chart["id"] != chart["more"]["id"]


# ---- The board ----


@pytest.mark.parametrize(
    ("series", "tone", "text"),
    [
        ([make_series([math.log10(35.5)])], "", "35 to 1 against calibration of logit; alarm at 240 to 1"),
        ([make_series([-1])], "", "no evidence against any of 1; alarm at 240 to 1"),
        (
            [make_series([1.2]), make_series([0.9], alarm_at=9, hypothesis="limit", measure="brier")],
            "",
            "7.9 to 1 against the limit on Brier score of logit; alarm at 9 to 1",
        ),
        (
            [make_series([3]), make_series([3.1], hypothesis="baseline"), make_series([1], model="x")],
            "open",
            "1,258 to 1 against the baseline of logit; alarm at 240 to 1, and 1 more alarm",
        ),
    ],
)
def test_the_board_states_the_evidence_closest_to_its_alarm_line(series, tone, text):
    assert describe_board_evidence(TrendEvidence(series=tuple(series))) == {"tone": tone, "text": text}


def test_differences_raise_no_alarm_and_no_evidence_is_no_line():
    pair = make_series([5], hypothesis="difference", measure="brier", other="boost")
    assert describe_board_evidence(TrendEvidence(series=(replace(pair, is_alarm=False),))) is None
    assert describe_board_evidence(None) is None


def test_pages_show_sentences_standings_and_the_alarm(tmp_path):
    records = make_records(14, 3, step=30)
    evidence = make_evidence(records)
    write(records, tmp_path, find_evidence=make_evidence)
    page, board = read(tmp_path / "site/audits/credit.html"), read(tmp_path / "site/index.html")
    text = re.sub("<[^>]+>", "", page)
    for series in evidence.series:
        assert series.sentence in text
    assert "after 14 audits logit and poisson remain; boosted trees left in" in text
    assert "(evidence 31 to 1)" in text
    assert "the mean number of audits to the first alarm is at least 240" in " ".join(text.split())
    assert any(series.is_alarm for series in evidence.series)
    assert "Evidence raised an alarm in 1 audit." in board
    assert re.search(r"alarm, [\d,.]+ to 1 against", board)
    assert "data-attention" in board


def test_without_evidence_pages_show_none(tmp_path):
    write(make_records(2, 1), tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert 'id="evidence"' not in page
    assert "confidence sequence" not in page
    assert json.loads(read(tmp_path / "site/audits.json"))["audits"][0]["evidence"] is None


# ---- Confidence sequences ----


def test_confidence_sequences_are_drawn_in_the_lane_of_their_model():
    records = make_records(9, 2)
    (audit,) = group_runs(records, make_evidence)
    periods = [run.record.period.label for run in audit.measured]
    series, days = collect_runs(audit.measured), [run.day for run in audit.measured]
    brier, *others = build_charts(series, days, [], align_sequences(audit.evidence, periods))
    for lane, sequence in zip(brier.lanes, audit.evidence.sequences, strict=True):
        assert lane.model == sequence.model
        band, mean = list(walk(lane.sequence)), list(walk(lane.mean))
        assert len(band) == 2 * len(mean) == 18
        inside = [
            upper <= middle <= lower
            for (_, upper), (_, middle), (_, lower) in zip(band[:9], mean, reversed(band[9:]), strict=True)
        ]
        assert all(inside)
        widths = [a[1] - b[1] for a, b in zip(reversed(band[9:]), band[:9], strict=True)]
        assert widths[-1] < widths[1]
    assert not any(lane.sequence or lane.mean for chart in others for lane in chart.lanes)


def test_a_sequence_wider_than_the_chart_is_noted_and_explained(tmp_path):
    def widen(records):
        evidence = make_evidence(records)
        wide = tuple(
            replace(one, points=(replace(one.points[0], lower=0.0, upper=1.0), *one.points[1:]))
            for one in evidence.sequences
        )
        return replace(evidence, sequences=wide)

    write(make_records(9, 1), tmp_path, find_evidence=widen)
    page = read(tmp_path / "site/audits/credit.html")
    assert re.search(
        r"confidence sequence is wider than the chart at \d points?, and cut at the edge\.", page
    )
    assert "The pale band is the 95 % confidence sequence of the mean of all audits so far" in page
    assert page.count('class="legend"') == 1
    assert re.search(r"logit 0\.\d{4} \[.*?\]; so far 0\.\d{4} \[", page)


# ---- Annulments, and runs that were made good ----


def test_an_annulled_record_is_listed_and_does_not_count(tmp_path):
    records = make_records(4, 1)
    history = chain([*records, annul(records[3], "Test accounts.")])
    (audit,) = group_runs(history)
    assert [run.record.id for run in audit.runs] == [1, 2, 3, 4]
    assert [run.record.id for run in audit.measured] == [1, 2, 3]
    assert audit.latest.record.id == 3
    write(history, tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert "Annulled by record 5: Test accounts." in page
    assert re.search(r'<tr id="r4" data-status="annulled" class="past">', page)
    assert "1 annulled record" in read(tmp_path / "site/index.html")
    (document,) = json.loads(read(tmp_path / "site/audits.json"))["audits"]
    assert document["measured"] == [1, 2, 3]
    assert [run.get("annulled_by") for run in document["runs"]] == [None, None, None, 5]
    (annulment,) = document["annulments"]
    assert (annulment["id"], annulment["annuls"], annulment["reason"]) == (5, 4, "Test accounts.")


def test_an_annulment_brings_back_the_run_before_and_all_annulled_is_a_state(tmp_path):
    records = make_records(1, 1)
    again = replace(records[0], attempt=2, status=AuditStatus.FAIL, finished="2025-11-09T00:00:00+00:00")
    runs = chain([records[0], again])
    assert build_board(group_runs(runs))[0].newest.record.id == 2
    annulled = chain([*runs, annul(runs[1])])
    assert build_board(group_runs(annulled))[0].newest.record.id == 1
    none = chain([*annulled, annul(annulled[0])])
    (entry,) = build_board(group_runs(none))
    assert (entry.measured, entry.has_failed, entry.is_in_breach) == (None, False, False)
    write(none, tmp_path)
    assert "2 annulled records; no audit counts." in read(tmp_path / "site/index.html")
    assert "All audits are annulled." in read(tmp_path / "site/audits/credit.html")


def test_a_failed_run_that_was_made_good_is_history(tmp_path):
    records = make_records(3, 1, failed=(1,))
    good = make_records(3, 1)[1]
    history = chain([*records, replace(good, attempt=2)])
    (audit,) = group_runs(history)
    assert (audit.failed, len(audit.measured)) == ((), 3)
    write(history, tmp_path)
    page = read(tmp_path / "site/audits/credit.html")
    assert 'class="rail"' not in page
    assert "Another run of the period has results." in page
    assert re.search(r'<tr id="r2" data-status="failed" class="past">', page)
    failed_again = chain([*history, replace(records[1], attempt=3)])
    assert [run.record.id for run in group_runs(failed_again)[0].measured] == [1, 4, 3]


# ---- The state of the period that is due ----


CONFIGURATION = b"""
[audit]
time_zone = "Europe/Berlin"
[audit.window]
period = "previous calendar day"
[audit.schedule]
cron = "30 6 * * *"
"""


def find_state(now):
    settings = parse_audit_settings(CONFIGURATION)
    return lambda records: find_site_state(records, now, settings)


def test_a_due_period_without_a_record_is_stated(tmp_path):
    records = make_records(3, 1)  # the last period is 2025-11-03
    in_time, late = find_state("2025-11-04T05:00:00+00:00"), find_state("2025-11-07T12:00:00+00:00")
    write(records, tmp_path, find_state=in_time)
    page = read(tmp_path / "site/index.html")
    assert "not run" not in page
    assert "ran 2025-11-04 02:00 UTC (2 hours ago)" in page
    write(records, tmp_path, find_state=late)
    page = read(tmp_path / "site/index.html")
    assert "1 audit due and not run; the numbers shown are older." in page
    assert "Not run: the audit of 2025-11-06 is due for 6 hours." in page
    assert 'data-status="not-run" data-attention' in page
    assert "Old numbers" in page
    (audit,) = json.loads(read(tmp_path / "site/audits.json"))["audits"]
    assert (audit["status"], audit["due"]) == ("not run", "2025-11-06")


def test_a_failed_repetition_leaves_the_results_and_is_noted(tmp_path):
    records = make_records(2, 1)
    failed = make_records(2, 1, failed=(1,))[1]
    history = chain([*records, replace(failed, attempt=2)])
    write(history, tmp_path, find_state=find_state("2025-11-03T08:00:00+00:00"))
    page = read(tmp_path / "site/index.html")
    assert "A later run failed: The query of" in page
    assert "Old numbers" not in page
    assert 'data-status="pass"' in page


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"[audit]\ntime_zone = 'Nowhere'", b"audit = 1", b"[audit.window]\nperiod = 'now'", b"[audit"],
)
def test_settings_that_cannot_be_read_are_not_used(content):
    class Documents:
        def document(self, _):
            return content

    record = replace(make_records(1, 1)[0], configuration_sha256="0" * 64)
    assert read_audit_settings(Documents(), record) == AuditSettings()
    assert parse_audit_settings(b"").window == "all"


# ---- Data ----


def test_the_data_have_the_evidence_of_the_pages(tmp_path):
    records = make_records(5, 2)
    evidence = make_evidence(records)
    write(records, tmp_path, find_evidence=make_evidence)
    document = json.loads(read(tmp_path / "site/audits.json"))
    assert document["version"] == 1
    found = document["audits"][0]["evidence"]
    assert (found["alpha"], found["looks"], found["is_alarming"]) == (0.05, 12, evidence.is_alarming)
    for series, described in zip(evidence.series, found["series"], strict=True):
        assert described["sentence"] == series.sentence
        logs = [point.log_detector for point in series.points]
        assert described["log_detector"] == pytest.approx(logs, rel=1e-5)
        assert described["period"] == [point.period for point in series.points]
    assert [one["model"] for one in found["sequences"]] == ["logit", "poisson"]
    assert found["standings"][1] == {"model": "poisson", "log_evidence": 3.43399, "left": "2025-11-03"}


# ---- Long lists ----


def test_filters_count_what_they_show():
    badge = {"text": "pass"}
    assert list_filters([("pass", badge, False)] * 3) == []
    listed = list_filters([("pass", badge, False), ("warn", {"text": "warn"}, True), ("pass", badge, True)])
    assert [(one["key"], one["count"]) for one in listed] == [
        ("all", "3"),
        ("attention", "2"),
        ("warn", "1"),
        ("pass", "2"),
    ]


def test_many_audits_are_grouped_by_letter():
    few = [{"name": name} for name in ("b", "A", "a")]
    assert [[one["name"] for one in group["entries"]] for group in group_by_letter(few)] == [["A", "a", "b"]]
    many = [{"name": f"{letter}{n}"} for letter in "bAé" for n in range(9)]
    assert [group["letter"] for group in group_by_letter(many)] == ["A", "B", "É"]


def test_a_long_line_is_thinned_without_losing_its_extremes():
    points = [(x, (x * 7919) % 101) for x in range(1000)]
    points[333], points[777] = (333, -50), (777, 500)
    points[500] = None
    thin = thin_points(points)
    assert len(thin) <= 70
    assert {(333, -50), (777, 500), points[0], points[-1]} <= set(thin)
    assert thin_points(points[:20]) == points[:20]


@pytest.mark.sweep
def test_a_thousand_runs_keep_pages_small(tmp_path):
    records = make_records(1000, 2, forms=(), bins=3)
    write(records, tmp_path, find_evidence=make_evidence)
    page = read(tmp_path / "site/audits/credit.html")
    assert page.count('<tr id="r') == 1000
    charts = page.count('<g class="points">')
    assert page.count("<rect") <= charts * MAX_COLUMNS
    assert "(last of 3 audits here)" in page
    assert [*re.findall(r'<details class="year"( open)? id="runs-(\d+)">', page)] == [
        (" open", "2028"),
        ("", "2027"),
        ("", "2026"),
        ("", "2025"),
    ]
    assert len(page) < 2_500_000
    assert len(read(tmp_path / "site/index.html")) < 20_000


@pytest.mark.sweep
def test_two_hundred_audits_are_one_page(tmp_path):
    records = [
        record
        for n in range(200)
        for record in make_records(3, 5, audit=f"{'abcdefgh'[n % 8]}-{n}", forms=(), bins=2)
    ]
    audits = group_runs(chain(records), make_evidence)
    copies = plan_copies(audits, tmp_path, lambda _: tmp_path)
    facts = SiteFacts(
        title="Audits", time=TIME, records=len(records), last_id=0, last_sha256="", verification=None
    )
    page = render_html("site/index.html", describe_index(facts, build_board(audits), copies))
    assert page.count('<section class="entry') == 200
    assert '<details class="part" open>' not in page
    assert len(page) < 2_000_000
    assert page.count('<a href="#letter-') == 8


def test_hostile_names_in_evidence_are_text(tmp_path):
    records = make_records(3, 5, names=HOSTILE, audit="x")
    write(records, tmp_path, find_evidence=make_evidence)
    for path in (tmp_path / "site").rglob("*.html"):
        assert "<script" not in read(path)
