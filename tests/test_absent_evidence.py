"""Runs without evidence state the reason, and a verification does not name them."""

from __future__ import annotations

import pytest
from audit_tools import BRIEF, make_scored, write_audit

from scorereport._utils.clock import fixed_time
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit

pytestmark = pytest.mark.sweep
NOW = "2026-12-15T06:00:00+00:00"
ROLLING = {"column": "day", "period": "last 30 days"}

#: Tables of a configuration, the moments of runs, and which of them have evidence.
RUNS = {
    "months": ({}, ["2026-10-02", "2026-11-02"], [True, True]),
    "again": ({}, ["2026-10-02", "2026-10-02", "2026-10-03"], [True, True, True]),
    "tests": ({"comparison": {"method": "tests"}}, ["2026-10-02", "2026-11-02"], [False, False]),
    "engine": ({"evaluation": {"engine": "duckdb"}}, ["2026-10-02", "2026-11-02"], [True, True]),
    "start": ({"comparison": {"since": "2026-10"}}, ["2026-10-02", "2026-11-02"], [False, True]),
    "rolling": ({"window": ROLLING}, ["2026-10-15", "2026-10-25", "2026-10-20"], [True, True, False]),
    "young": (
        {"outcomes": {"mature_after": "20 days"}},
        ["2026-10-02", "2026-10-25", "2026-11-02"],
        [True, True, True],
    ),
    "young and rolling": (
        {"outcomes": {"mature_after": "20 days"}, "window": ROLLING},
        ["2026-10-15", "2026-10-16", "2026-10-16T18:00", "2026-10-15"],
        [True, True, True, True],
    ),
    "young between others": (
        {"outcomes": {"mature_after": "20 days"}, "window": ROLLING},
        ["2026-10-14", "2026-10-16", "2026-10-15"],
        [True, True, False],
    ),
}


@pytest.mark.parametrize(("tables", "moments", "have_evidence"), RUNS.values(), ids=RUNS)
def test_runs_are_not_named(tables, moments, have_evidence, tmp_path):
    make_scored("2026-09-01", 100, rows=6).to_csv(tmp_path / "scores.csv", index=False)
    config = write_audit(tmp_path, report=BRIEF, **tables)
    with fixed_time(NOW):
        records = [run_audit(config, as_of=moment, again=True).record for moment in moments]
        assert verify_audit_history(read_plan(config)).findings == ()
    assert [(str(r.status), r.evidence is not None) for r in records] == [
        ("done", expected) for expected in have_evidence
    ]
