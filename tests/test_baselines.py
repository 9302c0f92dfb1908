"""Sealed baselines: what is sealed and when, what stays in force, and what verification finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from audit_tools import BRIEF, make_scored, write_audit

from scorereport.audit.baseline_rules import check_baselines
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.errors import UsageError
from scorereport.history.sealed_baselines import build_from_audits, find_baseline
from scorereport.history.store import open_history
from scorereport.history.trend.baselines import baseline_band, count_in_bins, overlaps_baseline
from scorereport.results.tallies import find_bins

MONTHS = ("2026-02", "2026-03", "2026-04", "2026-05")


def write_rows(place):
    scored = make_scored("2026-01-01", 120, rows=20)
    scored["region"] = np.where(np.arange(len(scored)) % 3 == 0, "north", "south")
    scored.to_csv(place / "scores.csv", index=False)


def write_development(place, seed=5):
    """A development sample without dates, which an audit does not need of a baseline."""
    rows = make_scored("2025-01-01", 100, rows=30, seed=seed).drop(columns="day")
    rows["region"] = np.where(np.arange(len(rows)) % 3 == 0, "north", "south")
    rows.to_csv(place / "development.csv", index=False)
    return rows


def run_months(config, months=MONTHS, **options):
    return [run_audit(config, as_of=f"{month}-02", **options).record for month in months]


def list_records(config):
    plan = read_plan(config)
    with open_history(plan.database_url) as history:
        return history.records()


def list_notes(config, record):
    import json

    with open_history(read_plan(config).database_url) as history:
        return json.loads(history.document(record.results_sha256))["trend"]["notes"]


def write(place, **baseline):
    return write_audit(place, report=BRIEF, evaluation={"groups": ["region"]}, baseline=baseline)


def test_a_file_is_sealed_once_before_the_first_audit(tmp_path):
    write_rows(tmp_path)
    rows = write_development(tmp_path)
    config = write(tmp_path, file="development.csv")
    audits = run_months(config, MONTHS[:2])
    first, *others = list_records(config)
    assert [record.kind for record in (first, *others)] == ["baseline", "audit", "audit"]
    sealed = first.baseline
    assert (sealed.source, sealed.rows, sealed.size) == ("development.csv", len(rows), len(rows))
    assert sealed.shares == pytest.approx((rows.y.mean(), 1 - rows.y.mean()))
    (digest,) = sealed.digests
    place = find_bins(rows.logit.to_numpy())
    cases, events = count_in_bins(digest)
    assert cases.tolist() == np.bincount(place, minlength=len(cases)).tolist()
    assert events.tolist() == np.bincount(place, weights=rows.y, minlength=len(cases)).tolist()
    assert sealed.means == pytest.approx([rows.logit.mean()])
    assert dict(zip(sealed.groups[0].values, sealed.groups[0].weights, strict=True)) == pytest.approx(
        rows.region.value_counts().to_dict()
    )
    assert all(record.evidence.baseline == first.sha256 for record in audits)
    assert {drift.against for record in audits for drift in record.drifts} == {"baseline"}
    assert not verify_audit_history(read_plan(config)).findings


def test_a_changed_file_leaves_the_sealed_baseline_in_force(tmp_path):
    write_rows(tmp_path)
    write_development(tmp_path)
    config = write(tmp_path, file="development.csv")
    run_months(config, MONTHS[:1])
    write_development(tmp_path, seed=6)
    (second,) = run_months(config, MONTHS[1:2])
    first, *_ = list_records(config)
    assert second.evidence.baseline == first.sha256
    assert "The file development.csv has changed since the baseline was sealed" in " ".join(
        list_notes(config, second)
    )


def test_a_file_that_cannot_be_read_fails_the_run_and_says_which(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, file="development.csv")
    (record,) = run_months(config, MONTHS[:1])
    assert record.status == "failed"
    assert record.reason.startswith("The baseline, `audit.baseline.file`, cannot be evaluated.")
    assert "development.csv" in record.reason


def test_the_audit_of_a_period_is_sealed_with_the_next_run(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, period="2026-01")
    audits = run_months(config, MONTHS[:2])
    kinds = [record.kind for record in list_records(config)]
    assert kinds == ["audit", "baseline", "audit"]
    sealed = list_records(config)[1].baseline
    assert sealed.records == (audits[0].sha256,)
    assert sealed.digests == audits[0].evidence.digests
    assert (sealed.rows, sealed.start, sealed.end) == (audits[0].rows, "2026-01-01", "2026-02-01")
    assert not audits[0].evidence.baseline
    assert "There is no audit of 2026-01 yet" in " ".join(list_notes(config, audits[0]))
    assert not verify_audit_history(read_plan(config)).findings


def test_a_run_again_of_a_sealed_period_is_not_compared_with_itself(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, period="2026-01")
    run_months(config, MONTHS[:2])
    (again,) = run_months(config, MONTHS[:1], again=True)
    assert not again.evidence.baseline
    assert "Days of 2026-01 are part of the baseline" in " ".join(list_notes(config, again))
    baseline = next(record.baseline for record in list_records(config) if record.baseline)
    assert overlaps_baseline(baseline, again.period)
    assert baseline.records != (again.sha256,)


def test_the_first_audits_are_sealed_as_soon_as_there_are_enough(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, audits=2)
    audits = run_months(config)
    records = list_records(config)
    assert [record.kind for record in records] == ["audit", "audit", "baseline", "audit", "audit"]
    sealed = records[2].baseline
    assert sealed.records == tuple(record.sha256 for record in audits[:2])
    assert sealed.rows == sum(record.rows for record in audits[:2])
    for digest, *parts in zip(sealed.digests, *(a.evidence.digests for a in audits[:2]), strict=True):
        expected = sum(np.array(count_in_bins(part)) for part in parts)
        assert np.array(count_in_bins(digest)) == pytest.approx(expected)
    assert [record.evidence.baseline for record in audits] == ["", "", records[2].sha256, records[2].sha256]
    assert not verify_audit_history(read_plan(config)).findings


def test_another_definition_seals_another_baseline_and_evidence_starts_anew(tmp_path):
    write_rows(tmp_path)
    write_development(tmp_path)
    run_months(write(tmp_path, file="development.csv"), MONTHS[:2])
    config = write(tmp_path, period="2026-01")
    (third,) = run_months(config, MONTHS[2:3])
    sealed = [record for record in list_records(config) if record.kind == "baseline"]
    assert [record.baseline.source for record in sealed] == ["development.csv", "the audit of 2026-01"]
    (against,) = [e for e in third.evidence.evidence if e.hypothesis == "baseline"]
    assert (against.audits, third.evidence.baseline) == (1, sealed[1].sha256)
    assert "evidence against the baseline starts anew" in " ".join(list_notes(config, third))


def test_the_last_valid_record_of_a_definition_is_in_force(tmp_path):
    write_rows(tmp_path)
    write_development(tmp_path)
    config = write(tmp_path, file="development.csv")
    run_months(config, MONTHS[:1])
    records, table = list_records(config), read_plan(config).audit.baseline
    assert find_baseline(records, table) == records[0]
    annulment = replace(records[1], id=3, kind="annulment", annuls=1, snapshot=None)
    assert find_baseline([*records, annulment], table) is None
    assert find_baseline(records, replace(table, file="other.csv")) is None


def test_numbers_that_are_not_those_of_the_named_records_are_found(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, audits=2)
    run_months(config, MONTHS[:3])
    records = list_records(config)
    assert not list(check_baselines(records))
    sealed = records[2].baseline
    for wrong, claim in (
        (replace(sealed, rows=sealed.rows + 1), "whose numbers are not those of the records"),
        (replace(sealed, shares=(0.5, 0.5)), "whose numbers are not those of the records"),
        (replace(sealed, records=sealed.records[::-1]), "seals other records"),
        (replace(sealed, records=(*sealed.records[:1], "0" * 64)), "seals other records"),
        (replace(sealed, source="the audit of 2026-02"), "seals other records"),
    ):
        changed = [*records[:2], replace(records[2], baseline=wrong)]
        assert [claim in found for _, found in check_baselines(changed)] == [True], wrong
    twice = [*records[:3], replace(records[2], id=4)]
    assert "though record 3 seals it" in " ".join(found for _, found in check_baselines(twice))
    unsealed = [*records[:2], records[3]]
    assert "that no valid record before it seals" in " ".join(f for _, f in check_baselines(unsealed))


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ({"file": "a.csv", "audits": 2}, "must have only one of `file`, `period` and `audits`"),
        ({"file": "dev/*.csv"}, "must be the name of one file"),
        ({"audits": 0}, "audit.baseline.audits"),
    ],
)
def test_a_baseline_is_defined_in_one_way(tmp_path, baseline, message):
    with pytest.raises(UsageError, match=message):
        read_plan(write(tmp_path, **baseline))


def test_the_band_of_a_baseline_is_wider_for_dependent_rows_and_absent_for_unknown_models(tmp_path):
    write_rows(tmp_path)
    config = write(tmp_path, audits=1)
    (audit,) = run_months(config, MONTHS[:1])
    sealed = build_from_audits("the first 1 audits", [audit], level=0.975)
    band = baseline_band(sealed, "logit", 0.05)
    wider = baseline_band(replace(sealed, size=sealed.size / 4), "logit", 0.05)
    assert (wider.lower <= band.lower).all()
    assert (wider.upper >= band.upper).all()
    assert (wider.upper - wider.lower).sum() > 1.2 * (band.upper - band.lower).sum()
    assert baseline_band(sealed, "boost", 0.05) is None


def test_an_annulled_baseline_is_sealed_again_by_the_next_run(tmp_path):
    from scorereport.audit.annulment import annul_record

    write_rows(tmp_path)
    write_development(tmp_path)
    config = write(tmp_path, file="development.csv")
    run_months(config, MONTHS[:1])
    rows = write_development(tmp_path, seed=6)
    annul_record(config, 1, reason="The development sample was the wrong one.")
    (second,) = run_months(config, MONTHS[1:2])
    sealed = [record for record in list_records(config) if record.kind == "baseline"]
    assert second.evidence.baseline == sealed[1].sha256
    assert sealed[1].baseline.shares[0] == pytest.approx(rows.y.mean())
    assert not verify_audit_history(read_plan(config)).findings


def test_history_and_show_describe_a_sealed_baseline(tmp_path, capsys):
    from scorereport.cli.terminal import print_history, print_record

    write_rows(tmp_path)
    config = write(tmp_path, period="2026-01")
    run_months(config, MONTHS[:2])
    records = list_records(config)
    print_history(records)
    assert "baseline sealed: the audit of 2026-01" in " ".join(capsys.readouterr().out.split())
    print_record(records[1])
    shown = capsys.readouterr().out
    assert "Baseline: the audit of 2026-01, 620 rows" in shown
    assert f"records {records[0].sha256[:12]}" in shown
    assert "Calibration curves of logit" in shown
    assert "Prevalence: " in shown
