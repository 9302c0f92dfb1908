"""Evidence along the chain: reruns, backfills, annulments and missed periods change it only by the rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from scorereport.audit.evidence_agreement import EvidenceCheck
from scorereport.audit.integrity import RecordExaminer
from scorereport.configuration.periods import Period
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.counted_evidence import find_trend_evidence, list_steps
from scorereport.history.evidence_plan import EvidenceTerms, compute_evidence, plan_evidence
from scorereport.history.trend.baselines import count_in_bins
from scorereport.history.trend.drift_records import Snapshot
from scorereport.history.trend.evidence_chain import build_trend_evidence, find_key
from scorereport.history.trend.evidence_factors import (
    CountedRows,
    Hypotheses,
    ScoreLimit,
    ScoreValues,
    digest_outcomes,
)
from scorereport.history.trend.evidence_parts import CountedParts
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.inference.panel import make_panel
from scorereport.results.tallies import EDGES

MODELS = ("boost", "logit")
HYPOTHESES = Hypotheses(
    tolerance=0.1,
    limits=tuple(ScoreLimit(model=model, measure="brier", bound=0.2, is_upper=True) for model in MODELS),
)
TERMS = EvidenceTerms(alpha=0.05, looks=12, level=0.95)
PERIODS = 7


def name_period(place):
    return f"2026-{place + 1:02d}"


def find_month(place):
    return Period(
        label=name_period(place), start=f"{name_period(place)}-01", end=f"{name_period(place + 1)}-01"
    )


def draw_rows(place, version, rows=80):
    """Rows of a month; another version has other outcomes of the same cases."""
    rng = np.random.default_rng([place, version])
    x = np.random.default_rng(place).normal(-1, 1.2, rows)
    outcome = rng.random(rows) < expit(x + 0.1 * place)
    forecasts = {"boost": expit(0.7 * x), "logit": expit(x)}
    panel = make_panel(outcome, forecasts)
    values = {model: (panel.outcome - p) ** 2 for model, p in panel.forecasts.items()}
    return CountedRows(
        panel=panel, scores=(ScoreValues(measure="brier", upper=1.0, by_model=values),), compared="brier"
    )


@dataclass
class History:
    """Records of one audit, appended as runs append them, and an account of the rules by other means."""

    records: list[Record] = field(default_factory=list)

    def append(self, **changes):
        number = len(self.records) + 1
        previous = self.records[-1].sha256 if self.records else "0" * 64
        record = Record(
            id=number,
            previous=previous,
            audit="claims",
            as_of="2026-12-01T12:00:00+00:00",
            started="2026-12-02T12:00:00+00:00",
            finished="2026-12-02T12:00:00+00:00",
            **{"status": AuditStatus.PASS, "exit_code": 0} | changes,
        )
        self.records.append(record)
        return record

    def run(self, period, rows, since="", hypotheses=HYPOTHESES, terms=TERMS):
        planned = plan_evidence(self.records, period, since)
        evidence = compute_evidence(CountedParts.of(rows), hypotheses, planned, terms)
        snapshot = Snapshot(
            period=period, time="", rows=80, size=80.0, level=0.95, main_score="brier", numbers=()
        )
        return self.append(period=period, snapshot=snapshot, evidence=evidence)

    def fail(self, period):
        return self.append(period=period, status=AuditStatus.FAILED, exit_code=4, reason="No rows.")

    def annul(self, record):
        return self.append(period=record.period, kind="annulment", annuls=record.id, reason="Wrong file.")

    def find_in_force(self):
        """The factors that the rules of SEQUENTIAL 4 leave: the last valid result of each period."""
        annulled = {record.annuls for record in self.records}
        by_period = {}
        for record in self.records:
            if record.kind == "audit" and record.evidence is not None and record.id not in annulled:
                by_period[record.period.label] = record
        return [by_period[label] for label in sorted(by_period)]

    def find_detectors(self):
        """Product and detector of each hypothesis, multiplied out over all starting points."""
        factors = {}
        for record in self.find_in_force():
            for each in record.evidence.evidence:
                factors.setdefault(find_key(each, ""), []).append(each.log_factor)
        return {
            key: (
                sum(logs),
                math.log(sum(math.exp(sum(logs[place:])) for place in range(len(logs)))),
            )
            for key, logs in factors.items()
        }


def assert_evidence_follows(history):
    """The evidence shown is that of the records in force, computed in another way."""
    shown, expected = find_trend_evidence(history.records), history.find_detectors()
    in_force = history.find_in_force()
    if not in_force:
        assert shown is None
        return
    assert {find_key(series, "") for series in shown.series} == {
        key for key in expected if key.hypothesis != "difference"
    }
    for series in shown.series:
        product, detector = expected[find_key(series, "")]
        assert [point.period for point in series.points] == [r.period.label for r in in_force]
        assert series.points[-1].log_product == pytest.approx(product, abs=1e-9)
        assert series.points[-1].log_detector == pytest.approx(detector, abs=1e-9)
        assert series.is_alarm == (detector >= math.log(series.alarm_at))


def verify(records):
    check = EvidenceCheck()
    return [claim for record in records for claim in check.check(record)]


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["run", "run", "run", "again", "changed", "fail", "annul"]),
        st.integers(0, PERIODS - 1),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=10, deadline=None)
@given(OPERATIONS)
def test_no_order_of_runs_changes_evidence_except_by_the_rules(operations):
    check_operations(operations)


@pytest.mark.sweep
@settings(max_examples=300, deadline=None)
@given(OPERATIONS)
def test_no_order_of_many_runs_changes_evidence_except_by_the_rules(operations):
    check_operations(operations)


def check_operations(operations):
    history, versions = History(), dict.fromkeys(range(PERIODS), 0)
    for operation, place, pick in operations:
        period, before = find_month(place), find_trend_evidence(history.records)
        known = [r for r in history.find_in_force() if r.period.label == period.label]
        if operation == "fail":
            history.fail(period)
            assert find_trend_evidence(history.records) == before
        elif operation == "annul":
            annulled = {record.annuls for record in history.records}
            runs = [r for r in history.records if r.kind == "audit" and r.id not in annulled]
            if runs:
                history.annul(runs[pick % len(runs)])
        else:
            versions[place] += operation == "changed"
            made = history.run(period, draw_rows(place, versions[place]))
            if known and operation != "changed" and known[0].evidence.digests == made.evidence.digests:
                factors = [each.log_factor for each in made.evidence.evidence]
                assert factors == [each.log_factor for each in known[0].evidence.evidence]
        assert_evidence_follows(history)
    assert verify(history.records) == []


def test_bets_are_fitted_on_earlier_periods_only_whatever_the_order_of_runs():
    history = History()
    for place in (4, 2, 5, 0, 3, 1):
        made = history.run(find_month(place), draw_rows(place, 0))
        hashes = {record.sha256: record.period.label for record in history.records}
        fitted = [hashes[sha256] for sha256 in made.evidence.fitted_on]
        earlier = sorted(r.period.label for r in history.records if r.period.label < made.period.label)
        assert fitted == earlier[-6:]
    assert verify(history.records) == []


def test_run_again_keeps_the_bets_of_the_first_run_though_more_is_known():
    history = History()
    history.run(find_month(0), draw_rows(0, 0))
    first = history.run(find_month(2), draw_rows(2, 0))
    history.run(find_month(1), draw_rows(1, 0))
    history.annul(first)
    again = history.run(find_month(2), draw_rows(2, 0))
    assert again.evidence.fitted_on == first.evidence.fitted_on
    assert [e.log_factor for e in again.evidence.evidence] == [e.log_factor for e in first.evidence.evidence]
    assert [e.audits for e in again.evidence.evidence] == [3] * len(again.evidence.evidence)
    assert verify(history.records) == []


def test_periods_before_the_start_do_not_count():
    history = History()
    for place in range(4):
        history.run(find_month(place), draw_rows(place, 0))
    made = history.run(find_month(4), draw_rows(4, 0), since="2026-03-01")
    assert {each.audits for each in made.evidence.evidence} == {3}
    late = history.run(find_month(0), draw_rows(0, 1), since="2026-03-01")
    assert late.evidence is None


def test_documents_of_many_audits_have_the_points_of_the_last_ones():
    history = History()
    for place in range(4):
        history.run(find_month(place), draw_rows(place, 0))
    steps = list_steps(history.records)
    whole, short = build_trend_evidence(steps), build_trend_evidence(steps, most=2)
    assert (whole.counted_audits, short.counted_audits) == (4, 4)
    for one, other in zip((*whole.series, *whole.sequences), (*short.series, *short.sequences), strict=True):
        assert len(other.points) == 2
        assert one.points[-2:] == other.points
    assert short.standings == whole.standings


def make_window(last):
    return Period(
        label=f"2026-03-{last - 9:02d}--2026-03-{last:02d}",
        start=f"2026-03-{last - 9:02d}",
        end=f"2026-03-{last + 1:02d}",
    )


def test_days_of_rolling_windows_count_once():
    history = History()
    for last in (12, 13, 16, 26):
        history.run(make_window(last), draw_rows(last, 0))
    days = [(r.evidence.start, r.evidence.end) for r in history.records]
    assert days == [
        ("2026-03-03", "2026-03-13"),
        ("2026-03-13", "2026-03-14"),
        ("2026-03-14", "2026-03-17"),
        ("2026-03-17", "2026-03-27"),
    ]
    inside = history.run(make_window(14), draw_rows(14, 0))
    assert inside.evidence is None
    assert len(list_steps(history.records)) == 4
    assert verify(history.records) == []


def test_days_of_an_annulled_run_count_in_a_later_one():
    history = History()
    first = history.run(make_window(12), draw_rows(12, 0))
    history.annul(first)
    later = history.run(make_window(13), draw_rows(13, 0))
    again = history.run(make_window(12), draw_rows(12, 0))
    assert (later.evidence.start, later.evidence.end) == ("2026-03-04", "2026-03-14")
    assert (again.evidence.start, again.evidence.end) == ("2026-03-03", "2026-03-04")
    assert verify(history.records) == []


def change(record, place, **changes):
    """The record with one evidence changed."""
    evidence = list(record.evidence.evidence)
    evidence[place] = replace(evidence[place], **changes)
    return replace(record, evidence=replace(record.evidence, evidence=tuple(evidence)))


def change_bet(record, **changes):
    bets = record.evidence.evidence[0].bets
    return change(record, 0, bets=(replace(bets[0], **changes), *bets[1:]))


TAMPERINGS = {
    "product": lambda r: change(r, 0, log_product=r.evidence.evidence[0].log_product - 1),
    "detector": lambda r: change(r, 1, log_detector=r.evidence.evidence[1].log_detector - 1),
    "factor": lambda r: change(r, 2, log_factor=r.evidence.evidence[2].log_factor - 1),
    "audits": lambda r: change(r, 0, audits=1),
    "line": lambda r: change(r, 0, alarm_at=1e9),
    "alarm": lambda r: change(r, 0, is_alarm=not r.evidence.evidence[0].is_alarm),
    "bet": lambda r: change_bet(r, parameters=(0.0, 1.1)),
    "weight": lambda r: change_bet(r, weight=0.5),
    "outcome of a bet": lambda r: change_bet(r, log_evidence=0.1),
    "fitted": lambda r: replace(r, evidence=replace(r.evidence, fitted_on=r.evidence.fitted_on[1:])),
    "days": lambda r: replace(r, evidence=replace(r.evidence, start="2026-01-01")),
    "hypothesis": lambda r: change(r, 0, bound=0.3),
}


def run_against_baseline():
    """A history whose second record is compared with a baseline: that of the first rows."""
    history, rows = History(), draw_rows(0, 0, rows=2_000)
    digests = {digest.model: digest for digest in digest_outcomes(rows.panel)}
    counts = {model: count_in_bins(digest) for model, digest in digests.items()}
    bands = {
        (model, ""): find_baseline_band(EDGES, cases, events, level=0.95)
        for model, (cases, events) in counts.items()
    }
    for place in (1, 2):
        history.run(
            find_month(place),
            draw_rows(place, 0),
            hypotheses=replace(HYPOTHESES, bands=bands),
            terms=replace(TERMS, baseline="a" * 64),
        )
    return history.records


def test_evidence_against_a_baseline_bets_on_its_curve_and_on_means():
    records = run_against_baseline()
    found = [e for e in records[-1].evidence.evidence if e.hypothesis == "baseline"]
    assert [each.model for each in found] == list(MODELS)
    assert [each.audits for each in found] == [2, 2]
    for each in found:
        names = {bet.name for bet in each.bets}
        assert {"logistic", "isotonic", "shift", "slope", "mean above", "mean below"} == names
        assert sum(bet.weight for bet in each.bets) == pytest.approx(1)
    assert verify(records) == []


@pytest.mark.parametrize(
    "changes",
    [{"parameters": (0.3, 9.0)}, {"weight": 0.9}, {"name": "mean below"}],
    ids=lambda c: next(iter(c)),
)
def test_verification_finds_changed_bets_on_means(changes):
    first, last = run_against_baseline()
    place = next(k for k, e in enumerate(last.evidence.evidence) if e.hypothesis == "baseline")
    bets = list(last.evidence.evidence[place].bets)
    changed = next(k for k, bet in enumerate(bets) if bet.name == "mean above")
    bets[changed] = replace(bets[changed], **changes)
    assert verify([first, change(last, place, bets=tuple(bets))])


@pytest.mark.parametrize("name", TAMPERINGS)
def test_verification_finds_evidence_that_no_run_can_have_written(name):
    history = History()
    for place in range(4):
        history.run(find_month(place), draw_rows(place, 0))
    assert verify(history.records) == []
    last = TAMPERINGS[name](history.records[-1])
    assert verify([*history.records[:-1], last])


@pytest.mark.parametrize("is_same", [True, False], ids=["this version", "another version"])
def test_evidence_of_another_version_is_a_note(is_same):
    history = History()
    for place in range(2):
        history.run(find_month(place), draw_rows(place, 0))
    software = {"scorereport": version("scorereport") if is_same else "9.9"}
    last = replace(TAMPERINGS["product"](history.records[-1]), software=software)
    examiner = RecordExaminer()
    examiner.start([history.records[0], last], is_complete=True, now=last.finished)
    examined = examiner.examine(1)
    claim = "Record 2 has evidence about boost that is not the product of the audits that count"
    found = [finding.sentence for finding in examined.findings if "evidence" in finding.sentence]
    assert found == ([f"{claim}."] if is_same else [])
    assert examined.notes == (() if is_same else (f"{claim}, by the rules of this version.",))


def test_evidence_of_no_day_is_named():
    made = History().run(find_month(1), draw_rows(1, 0))
    empty = replace(made, evidence=replace(made.evidence, end=made.evidence.start))
    assert verify([empty]) == [
        "counts the days from 2026-02-01 up to, not including, 2026-02-01, which the records before it do "
        "not leave"
    ]
