"""Evidence of audits whose rows are never in memory together: the numbers of the same rows in memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import fields, is_dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from audit_tools import BRIEF, write_audit

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.rows import counted_rows
from scorereport.audit.rows.counted_rows import explain_uncounted, open_counted_rows
from scorereport.audit.rows.loaded_rows import load_rows
from scorereport.audit.run import run_audit
from scorereport.configuration.audit_tables import SourceTable, WindowTable
from scorereport.configuration.periods import Period
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck import panel_batches
from scorereport.evaluation.engines.duck.panel_batches import open_panels
from scorereport.history.audit_record import AuditStatus
from scorereport.history.store import open_history
from scorereport.history.trend.evidence_factors import CountedRows, Hypotheses, ScoreLimit, ScoreValues
from scorereport.history.trend.evidence_parts import CountedParts, add_up_evidence, digest_panels
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.inference.panel import PanelRows
from scorereport.results.tallies import EDGES

ROOT = Path(__file__).parents[1]
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


# ---- parts add up ----


def make_parts(weight=None, weight_kind="sampling", cluster=None, labels=()):
    """The same rows as one panel, and as several that share no cluster, with Brier scores."""
    rng = np.random.default_rng(5)
    outcome = rng.integers(0, len(labels) or 2, 300)
    shape = (300, len(labels)) if labels else 300
    forecasts = {
        model: rng.dirichlet(np.ones(len(labels)), 300) if labels else rng.random(shape) for model in MODELS
    }
    whole = PanelRows(
        outcome=outcome, forecasts=forecasts, weight=weight, weight_kind=weight_kind, cluster=cluster
    )
    group = np.arange(300) // 70 if cluster is None else cluster % 4
    parts = [whole.select(np.flatnonzero(group == number)) for number in np.unique(group)]

    def score(panel):
        values = {
            model: np.abs(p[:, 0] if labels else p - panel.outcome) for model, p in panel.forecasts.items()
        }
        scores = (ScoreValues(measure="brier", upper=1.0, by_model=values),)
        return CountedRows(panel=panel, labels=labels, scores=scores, compared="brier")

    return [CountedParts(panels=panels, score=score, labels=labels) for panels in ([whole], parts)]


_RNG = np.random.default_rng(6)
SAMPLES = {
    "rows": {},
    "frequency weights": {"weight": _RNG.integers(1, 5, 300).astype(float), "weight_kind": "frequency"},
    "sampling weights": {"weight": _RNG.gamma(2.0, 1.0, 300)},
    "clusters": {"cluster": _RNG.permutation(np.arange(300) % 40)},
    "weighted clusters": {
        "cluster": _RNG.permutation(np.arange(300) % 40),
        "weight": _RNG.gamma(2.0, 1.0, 300),
    },
    "classes": {"labels": ("a", "b", "c"), "weight": _RNG.gamma(2.0, 1.0, 300)},
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_evidence_of_parts_adds_up_to_that_of_all_rows(sample):
    whole, parts = make_parts(**sample)
    cases = np.full(len(EDGES) + 1, 50.0)
    band = find_baseline_band(EDGES, cases, np.linspace(5, 45, len(cases)), level=0.95)
    hypotheses = Hypotheses(
        tolerance=0.1,
        limits=(ScoreLimit(model="logit", measure="brier", bound=0.4, is_upper=True),),
        bands={(model, label): band for model in MODELS for label in whole.labels or ("",)},
    )
    found, expected = (add_up_evidence(rows, hypotheses, []) for rows in (parts, whole))
    assert len(expected.factors) == 7
    assert_same(found, expected)
    assert_same(digest_panels(parts.panels, parts.labels), expected.digests)


# ---- audits ----


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


def make_certain(frame):
    """Some forecasts of exactly 0 and 1, right and wrong ones."""
    logit = frame.logit.to_numpy().copy()
    logit[::40], logit[7::50] = 0.0, 1.0
    return frame.assign(logit=logit)


def lose_values(frame):
    """Rows without an outcome, a forecast or a site."""
    outcome, boost = frame.y.astype(float), frame.boost.copy()
    outcome[5::30], boost[11::40] = np.nan, np.nan
    return frame.assign(y=outcome, boost=boost, site=frame.site.mask(frame.index % 45 == 3))


DROP = {"missing": "drop", "groups": ["site"]}
#: How rows differ from plain ones, and what the configuration says about it.
CASES = {
    "certain forecasts": (make_certain, {}),
    "dropped rows": (lose_values, {"evaluation": DROP}),
    "dropped rows with weights": (lose_values, {"evaluation": DROP | {"weight": "weight"}}),
    "labels": (lambda f: f.assign(y=f.y.map({0: "kept", 1: "lost"})), {"evaluation": {"positive": "lost"}}),
    "rolling windows": (
        None,
        {
            "window": {"column": "day", "period": "last 30 days"},
            "moments": ("2026-08-02", "2026-08-10", "2026-09-20"),
        },
    ),
    "rolling windows with weights and clusters": (
        None,
        {
            "window": {"column": "day", "period": "last 30 days"},
            "moments": ("2026-08-02", "2026-08-10", "2026-09-20"),
            "evaluation": {"weight": "weight", "cluster": "site"},
        },
    ),
    "late outcomes": (
        None,
        {
            "outcomes": {"mature_after": "10 days"},
            "window": {"column": "day", "period": "last 30 days"},
            "moments": ("2026-08-02", "2026-08-20", "2026-09-20"),
        },
    ),
    "times of the evaluation": (None, {"evaluation": {"time": "day"}}),
}


@pytest.mark.sweep
@pytest.mark.parametrize(("change", "audit"), CASES.values(), ids=CASES)
def test_evidence_of_rows_of_every_kind_is_that_in_memory(tmp_path, change, audit):
    frame = draw_rows() if change is None else change(draw_rows())
    assert compare_engines(tmp_path, frame, **audit).evidence


@pytest.mark.sweep
@pytest.mark.parametrize("roles", [{}, ROLES["clusters and sampling weights"]], ids=["rows", "clusters"])
def test_a_baseline_is_sealed_with_its_outcomes_and_gives_evidence(tmp_path, roles):
    draw_rows("2026-01-01", 100).to_parquet(tmp_path / "first.parquet", index=False)
    last = compare_engines(tmp_path, draw_rows(), baseline={"file": "first.parquet"}, evaluation=roles)
    against = [each for each in last.evidence if each.hypothesis == "baseline"]
    assert [each.model for each in against] == MODELS
    assert {bet.name for bet in against[0].bets} >= {"mean above", "mean below", "logistic"}
    sealed = [
        next(record.baseline for record in list_records(tmp_path / f"{engine}.toml") if record.baseline)
        for engine in ("memory", "duckdb")
    ]
    assert_same(sealed[1].digests, sealed[0].digests)
    assert sealed[0].digests


@pytest.mark.sweep
def test_evidence_does_not_depend_on_the_size_of_batches_and_is_the_same_every_time(tmp_path):
    frame = draw_rows(days=31)
    roles = ROLES["clusters and sampling weights"]
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    found = []
    for number, rows in enumerate((3, 1_000_000, 3)):
        (place := tmp_path / str(number)).mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(panel_batches, "PANEL_ROWS", rows)
            _, records = run_engine(
                place, "duckdb", MONTHS[:1], source={"file": "../scores.parquet"}, evaluation=roles
            )
        found.append(records[0].evidence)
    assert_same(found[0], found[1])
    assert found[0] == found[2]


@pytest.mark.sweep
def test_a_history_may_have_audits_of_both_kinds(tmp_path):
    """The rows of July in memory, of August by DuckDB and of September in memory again."""
    draw_rows().to_parquet(tmp_path / "scores.parquet", index=False)
    _, expected = run_engine(tmp_path, "memory")
    (mixed := tmp_path / "mixed").mkdir()
    for engine, moment in zip(("memory", "duckdb", "memory"), MONTHS, strict=True):
        options = {"source": {"file": "../scores.parquet"}, "limits": LIMITS, "report": BRIEF}
        evaluation = {"forecasts": MODELS, "engine": engine}
        config = write_audit(mixed, "loans", name="loans", folder="out", evaluation=evaluation, **options)
        run_audit(config, as_of=moment)
    found = list_records(config)
    for one, other in zip(found, expected, strict=True):
        assert_same(one.evidence, other.evidence)
    verified = verify_audit_history(read_plan(config))
    assert ([finding.sentence for finding in verified.findings], verified.warnings) == ([], ())


SOURCES = {
    "csv": {"file": "scores.csv"},
    "folder": {"file": "parts/"},
    "database": {"database": "sqlite:///scores.db", "table": "scored"},
}


@pytest.mark.sweep
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("column", ["day", ""], ids=["column", "no column"])
def test_evidence_of_every_source_is_that_in_memory(tmp_path, source, column):
    """Without a column of times, the file itself is read, and all of its rows count in the first audit."""
    frame = draw_rows(days=31)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    (tmp_path / "parts").mkdir()
    frame[:100].to_parquet(tmp_path / "parts/1.parquet", index=False)
    frame[100:].to_parquet(tmp_path / "parts/2.parquet", index=False)
    with closing(sqlite3.connect(tmp_path / "scores.db")) as connection:
        frame.to_sql("scored", connection, index=False)
    window = {"column": column, "period": "previous calendar month"} if column else {"period": "all"}
    evaluation = {"weight": "weight", "cluster": "site"}
    options = {"source": source, "window": window, "moments": MONTHS[:1], "evaluation": evaluation}
    evidence = compare_engines(tmp_path, frame, **options)
    assert sum(evidence.digests[0].weights) > 0.5 * len(frame)  # sampling weights count fewer cases


# ---- rows that count ----


def load(place, period=OCTOBER, column="day", **columns):
    named = {"outcome": "y", "forecasts": MODELS} | columns
    return load_rows(
        SourceTable(file="scores.parquet"),
        WindowTable(column=column),
        period,
        named,
        folder=place,
        zone=ZoneInfo("Europe/Berlin"),
        expand=lambda text, _: text,
        work={"engine": "duckdb"},
    )


def test_days_without_rows_give_the_reason_that_memory_gives(tmp_path):
    frame = draw_rows("2026-10-01", 20)
    frame.loc[frame.day == "2026-10-20", "weight"] = 0.0
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    with closing(load(tmp_path, weight="weight")) as rows:
        for start in ("2026-10-20", "2026-10-25"):
            with open_counted_rows(rows, OCTOBER, start, OCTOBER.end) as counted:
                assert counted.reason == f"No evaluated row is of {start} to 2026-10-31."
        with open_counted_rows(rows, OCTOBER, "2026-10-05", "2026-10-07") as counted:
            panels = list(counted.panels)
    expected = frame[frame.day.between("2026-10-05", "2026-10-06") & (frame.weight > 0)]
    np.testing.assert_array_equal(panels[0].forecasts["logit"], expected.logit)
    assert len(panels) == 1


def test_part_of_the_rows_needs_a_column_of_times(tmp_path):
    draw_rows("2026-10-01", 20).to_parquet(tmp_path / "scores.parquet", index=False)
    with closing(load(tmp_path, column="")) as rows:
        assert "`audit.window.column`" in explain_uncounted(rows, OCTOBER, "2026-10-05", "2026-10-07")
        with open_counted_rows(rows, OCTOBER, OCTOBER.start, OCTOBER.end) as counted:
            assert sum(len(panel.outcome) for panel in counted.panels) == 240


def test_a_source_that_changes_before_its_evidence_is_refused(tmp_path):
    frame = draw_rows("2026-10-01", 20)
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    with closing(load(tmp_path, column="")) as rows:
        frame.assign(y=1 - frame.y).to_parquet(tmp_path / "scores.parquet", index=False)
        with (
            pytest.raises(DataError, match="changed while it was read"),
            open_counted_rows(rows, OCTOBER, OCTOBER.start, OCTOBER.end),
        ):
            pass


def test_a_cluster_that_is_too_large_gives_no_evidence_and_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(counted_rows, "MOST_CLUSTER_ROWS", 50)
    frame = draw_rows("2026-07-01", 31).assign(site="s1")
    frame.loc[:199, "site"] = "s2"
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    config, (record,) = run_engine(tmp_path, "duckdb", MONTHS[:1], evaluation={"cluster": "site"})
    assert record.evidence is None
    with open_history(read_plan(config).database_url) as history:
        document = history.document(record.results_sha256).decode()
    assert "at most 50 of them, and the largest cluster has 200." in document


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_panels_have_whole_clusters_and_all_rows_once(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(panel_batches, "PANEL_ROWS", rows)
    frame = draw_rows(days=5).assign(site=lambda f: f.site.str[:2])
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    columns = {"outcome": "y", "forecasts": MODELS, "cluster": "site"}
    with open_panels(tmp_path / "scores.parquet", **columns) as panels:
        first, again = list(panels), list(panels)
        assert panels.find_largest_cluster() == frame.site.value_counts().max()
    sizes = [size for panel in first for size in np.bincount(panel.cluster)]
    assert sizes == frame.site.value_counts().sort_index().tolist()
    seen = np.concatenate([panel.forecasts["boost"] for panel in first])
    np.testing.assert_array_equal(np.sort(seen), np.sort(frame.boost))
    np.testing.assert_array_equal(seen, np.concatenate([panel.forecasts["boost"] for panel in again]))
    assert max(len(panel.outcome) for panel in first) <= rows + frame.site.value_counts().max()
    assert len(first) == 2 if rows == 1000 else len(first) > 5  # the last cluster might have gone on


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_panels_of_rows_have_the_order_of_the_source(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(panel_batches, "PANEL_ROWS", rows)
    frame = draw_rows(days=2)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    with open_panels(tmp_path / "scores.csv", outcome="y", forecasts=MODELS) as panels:
        found = list(panels)
    assert [len(panel.outcome) for panel in found[:-1]] == [rows] * (len(found) - 1)
    np.testing.assert_array_equal(np.concatenate([panel.outcome for panel in found]), frame.y)


def test_the_page_states_the_sizes():
    page = (ROOT / "docs/audits.md").read_text(encoding="utf-8")
    assert f"in batches of {panel_batches.PANEL_ROWS:,}," in page
    assert f"more than {counted_rows.MOST_CLUSTER_ROWS:,} rows" in page
