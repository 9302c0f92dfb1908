"""Samples and lowered thresholds that two test files share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from scorereport._utils.arrays import row_chunks
from scorereport.inference import large_panels, scale_fits, scale_groups, scale_powers
from scorereport.inference import large_panels as fits
from scorereport.inference.panel import make_panel

MANY = 500


def set_chunk_rows(monkeypatch, rows):
    """Set the number of rows of a chunk wherever rows are cut into chunks."""
    monkeypatch.setattr(row_chunks, "__defaults__", (rows,))


def lower_thresholds(monkeypatch):
    for module in (large_panels, fits):
        monkeypatch.setattr(module, "MANY_ROWS", MANY)
    monkeypatch.setattr(large_panels, "_MOST_FITTED", 2 * MANY)  # of two models
    monkeypatch.setattr(scale_groups, "MOST_ROWS", MANY)
    monkeypatch.setattr(scale_fits, "GROUPS", 60)
    monkeypatch.setattr(scale_fits, "ALONE", 8)
    monkeypatch.setattr(scale_powers, "_CHUNK_ROWS", 101)
    set_chunk_rows(monkeypatch, 97)


def few_are_many_fixture(monkeypatch):
    """Samples of more than 500 rows go the ways of those of more than 100,000."""
    lower_thresholds(monkeypatch)


def draw_sample(n, seed=1, digits=None):
    """Outcomes and two forecasts, the second not calibrated."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.3, 1.3, n)
    y = (rng.random(n) < expit(x)).astype(float)
    first, second = expit(x + rng.normal(0, 0.3, n)), expit(1.5 * x)
    return (y, first, second) if digits is None else (y, first.round(digits), second.round(digits))


def draw_panel(n, seed=1, digits=None):
    y, first, second = draw_sample(n, seed, digits)
    return make_panel(y, {"first": first, "second": second})


def assert_same_interval(one, other, factor):
    """The same value, and an interval that differs as much as draws do."""
    assert other.value == pytest.approx(one.value, rel=1e-12, abs=1e-12)
    assert (other.note, other.method, other.n) == (one.note, one.method, one.n)
    if np.isnan(one.standard_error):
        assert np.isnan([other.standard_error, other.lower, other.upper]).all()
        return
    assert one.standard_error / factor <= other.standard_error <= one.standard_error * factor
    allowed = 2 * (factor - 1) * one.standard_error
    assert other.lower == pytest.approx(one.lower, abs=allowed)
    assert other.upper == pytest.approx(one.upper, abs=allowed)
