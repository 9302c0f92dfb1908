"""The coverage study: its recorded table, its settings, and that it runs and can be interrupted."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest
from conftest import REPOSITORY

from validation.coverage import __main__ as program
from validation.coverage import (
    audit_streams,
    changes,
    classes,
    delays,
    documented,
    explained,
    record,
    scaling,
    weights,
)
from validation.coverage.page import MAYBE_CHANCE, NOT_EXPLAINED, find_reason, is_off, is_safe, render_page
from validation.coverage.pairs import PAIRS
from validation.coverage.settings import DISTRIBUTIONS, SETTINGS

ABOUT, ROWS = record.read_record(program.RECORDED)


def test_the_recorded_study_was_run_to_its_end():
    assert ABOUT["is_complete"]
    assert {row.study for row in ROWS} == set(explained.TEXTS)
    keys = [(row.study, row.setting, row.n, row.method) for row in ROWS]
    assert len(keys) == len(set(keys))


def test_every_documented_value_of_the_sizes_simulated_is_compared():
    simulated = {(row.study, row.setting, row.n) for row in ROWS}
    expected = {key: value for key, value in documented.references().items() if key[:3] in simulated}
    found = {(row.study, row.setting, row.n, row.method): row for row in ROWS if row.reference is not None}
    assert found.keys() == expected.keys()
    assert all(found[key].reference == expected[key].value for key in found)
    assert len(found) > 150


@pytest.mark.parametrize("study", sorted({row.study for row in ROWS}))
def test_rows_are_consistent(study):
    for row in ROWS:
        if row.study == study:
            assert_consistent(row)


def assert_consistent(row):
    assert 0 <= row.empirical <= 1
    assert row.runs > 0
    assert 0 < row.nominal < 1 or (row.study, row.nominal) == ("missing outcomes", 1)  # bounds always hold
    if row.reference is None:
        assert row.agrees is None
        return
    reference = record.Reference(value=row.reference, runs=row.reference_runs)
    allowed = record.ERRORS_ALLOWED * record.combined_error(row.empirical, row.runs, reference)
    assert row.agrees == (abs(row.empirical - row.reference) <= allowed)
    assert row.agrees or (row.study, row.setting, row.n, row.method) in explained.DISAGREEMENTS


def test_bounds_over_missing_outcomes_hold_in_every_run():
    bounds = [row for row in ROWS if row.study == "missing outcomes" and row.nominal == 1]
    assert len(bounds) == 30
    assert all(row.empirical == 1 for row in bounds)


def test_evidence_on_scores_keeps_its_bounds_and_what_ignores_looks_does_not():
    studies = ("limits over time", "models in the running", "confidence sequences")
    found = [row for row in ROWS if row.study in studies]
    assert {row.study for row in found} == set(studies)
    for row in found:
        if not row.method.endswith("for contrast"):
            assert is_safe(row) or abs(row.empirical - row.nominal) <= 3 * row.monte_carlo_error, row
    repeated = [row for row in found if "after each audit" in row.method or "one look" in row.method]
    assert not any(is_safe(row) for row in repeated)
    (drifting,) = {row.setting for row in found if row.setting.endswith("drifts")}
    crossed = [row for row in found if row.setting == drifting and row.method.startswith("intersection")]
    assert crossed
    assert not any(is_safe(row) for row in crossed)


def test_breaches_and_worse_models_are_found_the_sooner_the_more_rows():
    for study, method in (("breached limits", "alarm within 3 audits"), ("worse models", "worse*within 3*")):
        rows = [row for row in ROWS if row.study == study and fnmatchcase(row.method, method)]
        for setting in {row.setting for row in rows}:
            found = sorted((row for row in rows if row.setting == setting), key=lambda row: row.n)
            assert len(found) == 3
            assert [row.empirical for row in found] == sorted(row.empirical for row in found)
            assert found[-1].empirical > 0.9


def test_bands_cover_what_they_promise_at_the_largest_n():
    bands = [row for row in ROWS if row.study == "pointwise bands"]
    largest = [row for row in bands if row.n == max(row.n for row in bands)]
    assert len(largest) == len(DISTRIBUTIONS) * 4 * 3
    for row in largest:
        assert row.empirical >= row.nominal - 3 * row.monte_carlo_error, row


def test_evidence_against_calibration_stays_below_its_bounds():
    """It does not where rows of clusters are taken as independent: the study can fail."""
    found = [row for row in ROWS if row.study == audit_streams.STUDY and "tests of" not in row.method]
    assert len(found) > 50
    for row in found:
        excess = (row.empirical - row.nominal) / row.monte_carlo_error
        assert excess > 3 if row.setting.startswith("clusters taken") else excess < 3, row


def test_larger_audits_and_larger_changes_lead_to_earlier_alarms():
    within = {
        (row.setting, row.n): row.empirical
        for row in ROWS
        if (row.study, row.method) == (audit_streams.DELAYS, "evidence, within 3 audits")
    }
    for tolerance in ("0", "0.05", "0.1"):
        for small, large in (("shift .2", "shift .4"), ("slope .8", "slope .6")):
            later, earlier = (f"{change}, tolerance {tolerance}" for change in (small, large))
            assert within[later, 300] <= within[earlier, 300] + 0.1
            assert within[earlier, 5000] == 1
    assert within["shift .2, tolerance 0", 300] < within["shift .2, tolerance 0", 5000]


def test_delays_are_the_quantiles_of_the_shares():
    rows = [
        replace(ROWS[0], setting="s", n=100, method=f"evidence, within {k} audits", empirical=share)
        for k, share in ((1, 0.2), (2, 0.5), (3, 0.6), (24, 0.7))
    ]
    assert list(delays.render_delays(rows))[2:] == [("s", "evidence", "2 (2 to over 24)")]
    rows[-1] = replace(rows[-1], empirical=0.8)
    assert list(delays.render_delays(rows))[2:] == [("s", "evidence", "2 (2 to 4-24)")]


def test_the_page_shows_the_recorded_table():
    page = render_page(ABOUT, ROWS)
    assert page == (REPOSITORY / "docs" / "coverage.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETTINGS)
def test_population_values_are_those_of_the_document(name):
    printed = documented.population("component intervals")[name]
    for component, value in SETTINGS[name].population().items():
        assert value == pytest.approx(printed[component], abs=0.051e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_population_differences_are_those_of_the_document(name):
    printed = documented.population("difference intervals")[name]
    for component, value in PAIRS[name].population().items():
        assert value == pytest.approx(printed[component], abs=0.051e-5)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda distribution: distribution.name)
def test_distributions_of_forecasts_have_their_density(distribution):
    edges = np.linspace(0, 1, 21)
    u = (np.arange(200_000) + 0.5) / 200_000
    share = np.histogram(distribution.quantile(u), edges)[0] / len(u)
    middle = (edges[1:] + edges[:-1]) / 2
    density = (
        distribution.density(edges[:-1]) + 4 * distribution.density(middle) + distribution.density(edges[1:])
    ) / 6  # Simpson
    np.testing.assert_allclose(share, density / 20, atol=1e-4)
    values, counts = np.unique(distribution.calibrated(10).quantile(u), return_counts=True)
    np.testing.assert_allclose(values, np.arange(0.05, 1, 0.1))
    expected = distribution.density(values) / distribution.density(values).sum()
    np.testing.assert_allclose(counts / len(u), expected, atol=1e-4)


def test_clusters_and_weights_leave_forecasts_calibrated():
    rng = np.random.default_rng(5)
    clustered = SETTINGS["calibrated"].draw_clusters(rng, 20_000)
    weighted = SETTINGS["calibrated"].draw_weighted(rng, 20_000)
    for sample in (clustered, weighted):
        assert abs((sample.y - sample.x).mean()) < 0.02
        assert abs(np.quantile(sample.x, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.02
    sums = np.bincount(clustered.cluster, clustered.y - clustered.x)
    assert sums.var() > 1.3 * 5 * (clustered.y - clustered.x).var()
    assert weighted.weight.mean() == pytest.approx(1, abs=0.02)


@pytest.mark.sweep
def test_every_study_runs_and_repeats_itself(tmp_path, monkeypatch):
    for study in (classes, scaling):  # the truth is found from fewer cases, as two runs prove nothing
        monkeypatch.setattr(study, "_MANY", 5_000)
    monkeypatch.setattr(weights, "_LARGE", 5_000)
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    assert program.main(["--rehearse", "--out", str(whole)]) == 0
    about, rows = record.read_record(whole)
    assert about["is_complete"]
    assert {(row.study, row.method) for row in rows} == {(row.study, row.method) for row in ROWS}
    assert whole.with_suffix(".md").read_text().startswith("# Coverage study\n")

    assert program.main(["--rehearse", "--only", "intervals", "--out", str(part)]) == 0
    about, repeated = record.read_record(part)
    assert not about["is_complete"]
    assert repeated == [row for row in rows if row.study in {"component intervals", "difference intervals"}]


@pytest.mark.sweep
def test_a_study_that_was_run_alone_is_merged_into_the_table(tmp_path):
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    new = [replace(row, empirical=0.5, runs=20_000) for row in ROWS if row.study == "test power"][1:]
    few = next(replace(row, empirical=0.1, runs=1) for row in ROWS if row.study == "test power")
    for path, rows in ((whole, ROWS), (part, [few, *new])):
        record.write_record(path, rows, mode="quick", seed=1, is_complete=True)
    assert program.main(["--merge", str(part), "--out", str(whole)]) == 0
    about, rows = record.read_record(whole)
    assert about["is_complete"]
    old = next(row for row in ROWS if row.study == "test power")  # it had more runs
    assert [row for row in rows if row.study == "test power"] == [old, *new]
    assert [row for row in rows if row.study != "test power"] == [r for r in ROWS if r.study != "test power"]


@pytest.mark.parametrize(
    ("nominal", "empirical", "off", "safe"),
    [
        (0.95, 0.98, False, True),
        (0.95, 0.9801, True, True),
        (0.95, 0.919, True, False),
        (0.05, 0.01, True, True),
    ],
)
def test_cells_far_from_their_nominal_value_are_off(nominal, empirical, off, safe):
    row = replace(ROWS[0], nominal=nominal, empirical=empirical)
    assert (is_off(row), is_safe(row)) == (off, safe)


def test_a_reason_is_found_by_study_setting_method_and_side():
    row = replace(ROWS[0], study="test power", nominal=0.05, empirical=0.9)
    assert find_reason(row) == "These are rejections of a false hypothesis: more is better."
    assert find_reason(replace(row, study="something else")) == NOT_EXPLAINED
    assert find_reason(replace(row, monte_carlo_error=0.3)) == MAYBE_CHANCE


def test_every_cell_that_is_off_has_its_sentence():
    assert [row for row in ROWS if is_off(row) and find_reason(row) == NOT_EXPLAINED] == []
    assert all(len(patterns.split(" | ")) == 4 for patterns in explained.REASONS)


@pytest.mark.parametrize(
    "study",
    ["AUC intervals", "few clusters", "few events", "few distinct forecasts", "recalibration gains", "drift"],
)
def test_headline_cells_have_a_thousand_runs(study):
    """What a referee asked for is recorded in the long mode; samples without an event have no skill."""
    of_study = [row for row in ROWS if row.study == study and not row.method.endswith("skill")]
    assert min(row.runs for row in of_study) >= 1000


def test_an_interrupt_leaves_what_was_finished(tmp_path, monkeypatch, capsys):
    def interrupted(_plan):
        yield ROWS[0]
        raise KeyboardInterrupt

    monkeypatch.setitem(program.STUDIES, "bands", lambda _plan: iter(ROWS[:3]))
    monkeypatch.setitem(program.STUDIES, "simultaneous", interrupted)
    out = tmp_path / "table.json"
    assert program.main(["--out", str(out)]) == program.INTERRUPTED == 130
    assert "interrupted" in capsys.readouterr().err
    about, rows = record.read_record(out)
    assert not about["is_complete"]
    assert rows == [*ROWS[:3], ROWS[0]]
    assert "does not contain the whole study" in out.with_suffix(".md").read_text()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "table-summary.json",
        "table.json",
        "table.md",
    ]


def test_errors_are_never_zero_and_shares_use_their_spread():
    assert record.share_error(1.0, 100) == pytest.approx(np.sqrt(101 / 102 / 102 / 100))
    reference = record.Reference(value=0.9, runs=300)
    pooled = np.sqrt((361 / 402) * (41 / 402) * (1 / 100 + 1 / 300))
    assert record.combined_error(0.9, 100, reference) == pytest.approx(pooled)
    shares = np.array([0.8, 0.9, 1.0])
    assert record.monte_carlo_error(shares) == pytest.approx(0.1 / np.sqrt(3))


# Before and after


def make_cell(method, nominal, empirical, error=0.01):
    return record.Row(
        study="test sizes",
        setting="calibrated",
        n=200,
        method=method,
        nominal=nominal,
        empirical=empirical,
        runs=100,
        monte_carlo_error=error,
    )


def test_cells_are_compared_with_an_earlier_table(tmp_path):
    """A test that rejects more often, and an interval that covers less often, are worse."""
    before = [make_cell("test", 0.05, 0.05), make_cell("interval", 0.9, 0.9), make_cell("gone", 0.9, 0.9)]
    after = [make_cell("test", 0.05, 0.1), make_cell("interval", 0.9, 0.87), make_cell("new", 0.9, 0.5)]
    rows = changes.add_before(after, before)
    assert [(row.before, row.before_error) for row in rows] == [(0.05, 0.01), (0.9, 0.01), (None, None)]
    assert changes.find_change(rows[0]) == pytest.approx((-0.05, 0.02**0.5 * 0.1))
    assert changes.find_change(rows[1])[0] == pytest.approx(-0.03)
    text = "\n".join(changes.render_changes(rows))
    assert "| test sizes | 2 | -4.00 ±1.00 | 2 | 0.0 | 1 |" in text
    assert text.count("Worse: ") == 1
    assert "Worse: test sizes, calibrated, n = 200, test: 5.0 before, 10.0 after." in text
    assert list(changes.render_changes(after)) == []
    with pytest.raises(ValueError, match="no earlier value"):
        changes.find_change(rows[2])
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    record.write_record(one, after, mode="quick", seed=1, is_complete=False)
    record.write_record(other, before, mode="quick", seed=1, is_complete=False)
    assert program.main(["--before", str(other), "--out", str(one)]) == 0
    assert record.read_record(one)[1] == rows
    assert "## Before and after" in one.with_suffix(".md").read_text(encoding="utf-8")
