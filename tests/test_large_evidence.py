"""Evidence of audits whose rows are never in memory together: the numbers of the same rows in memory."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from audit_tools import BRIEF, write_audit

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.configuration.periods import Period
from scorereport.evaluation.engines.duck import panel_batches
from scorereport.history.audit_record import AuditStatus
from scorereport.history.store import open_history

MODELS = ["boost", "logit"]
LIMITS = {"brier": {"fail": 0.21}, "log_loss": {"warn": 0.6, "fail": 0.7}}
MONTHS = ("2026-08-02", "2026-09-02", "2026-10-02")
OCTOBER = Period(label="2026-10", start="2026-10-01", end="2026-11-01")


def draw_rows(start="2026-07-01", days=92, rows=12):
    """Rows of two models that are wrong by a little, with columns for every role."""
    rng = np.random.default_rng(27)
    n = days * rows
    x = rng.normal(-0.7, 1.2, n)
    return pd.DataFrame(
        {
            "day": np.repeat(pd.date_range(start, periods=days).strftime("%Y-%m-%d"), rows),
            "y": (rng.random(n) < 1 / (1 + np.exp(-0.8 * x))).astype(int),
            "logit": 1 / (1 + np.exp(-x)),
            "boost": 1 / (1 + np.exp(-0.7 * x - rng.normal(0, 0.3, n))),
            "repeats": rng.integers(0, 4, n),
            "weight": np.where(rng.random(n) < 0.1, 0.0, rng.gamma(2.0, 1.0, n)),
            "site": rng.choice([f"s{number}" for number in range(150)], n),
        }
    )


def run_engine(place, engine, moments=MONTHS, **audit):
    """Run an audit of the file at several moments, and return its configuration and its records."""
    evaluation = {"forecasts": MODELS, "engine": engine} | audit.pop("evaluation", {})
    audit = {"source": {"file": "scores.parquet"}, "limits": LIMITS, "report": BRIEF} | audit
    config = write_audit(place, engine, name="loans", folder=engine, evaluation=evaluation, **audit)
    for moment in moments:
        record = run_audit(config, as_of=moment).record
        assert record.status is not AuditStatus.FAILED, record.reason
    return config, list_records(config)


def list_records(config):
    with open_history(read_plan(config).database_url) as history:
        return history.records()


def assert_same(found, expected, where=""):
    """Compare records in all fields; numbers may differ by rounding, hashes of records differ."""
    if is_dataclass(expected):
        assert type(found) is type(expected), where
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(expected, tuple):
        assert len(found) == len(expected), where
        if not where.endswith(".fitted_on"):
            for place, pair in enumerate(zip(found, expected, strict=True)):
                assert_same(*pair, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-10), where
    elif not where.endswith(".baseline"):
        assert found == expected, where


def compare_engines(place, frame, panel_rows=70, **audit):
    """Assert that DuckDB gives the evidence of the same rows in memory; return that of the last audit."""
    frame.to_parquet(place / "scores.parquet", index=False)
    _, memory = run_engine(place, "memory", **{key: _copy(value) for key, value in audit.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel_batches, "PANEL_ROWS", panel_rows)
        config, large = run_engine(place, "duckdb", **audit)
    found, expected = (
        [record for record in records if record.kind == "audit"] for records in (large, memory)
    )
    for one, other in zip(found, expected, strict=True):
        assert (one.evidence is None) == (other.evidence is None)
        if other.evidence is not None:
            assert_same(one.evidence, other.evidence)
    assert [finding.sentence for finding in verify_audit_history(read_plan(config)).findings] == []
    return found[-1].evidence


def _copy(value):
    return dict(value) if isinstance(value, dict) else value


ROLES = {
    "plain": {},
    "frequency weights": {"weight": "repeats", "weight_kind": "frequency"},
    "sampling weights": {"weight": "weight"},
    "clusters": {"cluster": "site"},
    "clusters and sampling weights": {"cluster": "site", "weight": "weight"},
    "clusters and frequency weights": {"cluster": "site", "weight": "repeats", "weight_kind": "frequency"},
}


@pytest.mark.sweep
@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_evidence_is_that_of_the_same_rows_in_memory(tmp_path, roles):
    """Three audits of two models with limits; bets of the later ones are fitted on the earlier ones."""
    last = compare_engines(tmp_path, draw_rows(), evaluation=roles)
    found = [each.hypothesis for each in last.evidence]
    assert [found.count(name) for name in ("calibration", "limit", "difference")] == [2, 4, 2]
    assert len(last.fitted_on) == 2
    assert {bet.name for bet in last.evidence[0].bets} == {"logistic", "isotonic", "shift", "slope"}
    assert (len(last.digests), len(last.moments)) == (2, 5)
