"""No decision depends on the last bits of a number, in which processors differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils.rounding import are_equal, documents_agree, exceeds, first_lowest, rank_ties
from scorereport.configuration import Bounds
from scorereport.configuration.limit_verdicts import find_verdict
from scorereport.curves.retention import order_for_retention
from scorereport.evaluation.selection.choice import _choose, _stop_early, check_selection, select
from scorereport.evaluation.selection.score_tracks import Checkpoints, ScoreTrack
from scorereport.inference.binned_errors import expected_calibration_error
from scorereport.inference.bootstrap_results import _bounds
from scorereport.inference.calibration_tests import hosmer_lemeshow_test
from scorereport.scores.registry import Direction

#: Relative difference between sums of different processors.
LAST_BITS = 4 * np.finfo(float).eps
BOTH_WAYS = (1 - LAST_BITS, 1.0, 1 + LAST_BITS)


def test_infinite_and_missing_numbers_are_equal_to_themselves_only():
    values = np.array([np.inf, -np.inf, np.nan, 0.0, 1e300])
    for place, value in enumerate(values):
        assert are_equal(value, values).tolist() == [other == place for other in range(5)]
    assert exceeds(np.inf, 1e308)
    assert not exceeds(np.inf, np.inf)
    assert not exceeds(np.nan, 1.0)


def test_small_numbers_are_compared_relative_to_their_size():
    assert exceeds(1.001e-9, 1e-9)
    assert not exceeds(1e-9 * (1 + 1e-13), 1e-9)


def test_ranks_share_ties_whatever_their_last_bits():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 20, 500) / 7
    noisy = values * (1 + LAST_BITS * rng.choice([-1, 0, 1], 500))
    assert (rank_ties(noisy) == np.unique(values, return_inverse=True)[1]).all()
    assert rank_ties([]).tolist() == []
    assert rank_ties([3.0]).tolist() == [0]


@pytest.mark.parametrize("factor", BOTH_WAYS)
def test_a_curve_on_the_edge_of_a_band_is_inside(factor):
    rng = np.random.default_rng(1)
    p = rng.integers(1, 10, 300) / 10
    fit = sr.corp((rng.random(300) < p).astype(int), p)
    band = fit.band(kind="consistency", coverage="simultaneous", resamples=100)
    assert band.holds(band.lower * factor)
    assert band.holds(band.upper * factor)
    assert not band.holds(band.upper + 1e-9)
    assert not band.holds(band.lower - 1e-9)
    assert not band.holds(np.full(len(band.x), np.nan))


@pytest.mark.parametrize("factor", BOTH_WAYS)
def test_a_number_on_a_limit_meets_it(factor):
    limit = 0.1 + 0.2
    above = Bounds(warn_upper=limit, fail_upper=limit)
    below = Bounds(warn_lower=limit, fail_lower=limit)
    assert find_verdict(0.3 * factor, 0.3 * factor, above) == "pass"
    assert find_verdict(0.3 * factor, 0.3 * factor, below) == "pass"
    assert find_verdict(0.3001, 0.3001, above) == "fail"
    assert find_verdict(0.2999, 0.2999, below) == "fail"
    assert find_verdict(0.2, 0.3001, above) == "inconclusive"


def test_replicates_that_equal_the_value_are_ties_in_bca_intervals():
    """Half of the resamples equal the value: the last bits must not change the bias from 0 to its maximum."""
    replicates = np.repeat([0.1, 0.3, 0.5], [250, 500, 250])
    rng = np.random.default_rng(2)
    expected = _bounds(0.3, replicates, 0.9, "bca", 0.0)
    for direction in (-1, 1, rng.choice([-1, 1], 1000)):
        noisy = replicates * (1 + LAST_BITS * direction)
        assert _bounds(0.3, noisy, 0.9, "bca", 0.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", BOTH_WAYS)
def test_the_first_of_equal_checkpoints_is_chosen(factor):
    track = ScoreTrack(score="log", direction=Direction.LOWER, value=np.array([0.5, 0.3, 0.3 * factor, 0.4]))
    found = Checkpoints(labels=tuple("abcd"), tracks=(track,))
    assert _choose(track, found, None).best == "b"
    assert _stop_early(track, found, 1).kept == "b"
    assert _stop_early(track, found, 1).at == "c"


def test_a_selection_from_another_processor_can_be_read():
    """Its correlations differ in the last bits; a choice that does not follow is still refused."""
    frame = pd.DataFrame({"epoch": range(5), "log_loss": [0.9, 0.5, 0.4, 0.45, 0.7]})
    frame["accuracy"] = [0.5, 0.6, 0.71, 0.69, 0.6]
    selection = select(frame, checkpoint="epoch", score="log_loss")
    pair = selection.pairwise[0]
    nudged = replace(selection, pairwise=(replace(pair, pearson=pair.pearson * (1 - LAST_BITS)),))
    check_selection(nudged)
    forged = replace(selection, pairwise=(replace(pair, pearson=pair.pearson + 1e-6),))
    with pytest.raises(sr.UsageError, match="the pairwise among checkpoints do not follow from their scores"):
        check_selection(forged)


def test_cases_with_equal_scores_are_set_aside_in_the_order_of_their_classes():
    """Equal scores may differ in their last bits, which must not determine the order."""
    y = np.array([2, 1, 0, 2, 1, 0])
    p = np.full((6, 3), 1 / 3)
    jitter = np.array([1, -1, 0, -1, 1, 0]) * LAST_BITS
    queues = [
        order_for_retention(
            y, p, lambda *_, n=noise: 0.7 * (1 + n), weight=None, fraction=np.array([0.0, 0.5])
        )
        for noise in (0 * jitter, jitter, -jitter)
    ]
    assert {tuple(queue.y.tolist()) for queue in queues} == {(0, 0, 1, 1, 2, 2)}


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 0.7])
def test_the_unit_of_weights_does_not_move_the_edges_of_groups(unit):
    rng = np.random.default_rng(3)
    p = np.sort(rng.random(100))
    y = (rng.random(100) < p).astype(int)
    weight = np.full(100, 1.0)
    plain = expected_calibration_error(y, p, strategy="quantile", sample_weight=weight)
    other = expected_calibration_error(y, p, strategy="quantile", sample_weight=unit * weight)
    assert other.upper.tolist() == plain.upper.tolist()
    groups = hosmer_lemeshow_test(y, p, sample_weight=weight).degrees_of_freedom
    assert hosmer_lemeshow_test(y, p, sample_weight=unit * weight).degrees_of_freedom == groups


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 0.7])
def test_blocks_of_equal_means_are_one_whatever_the_weights_sum_to(unit):
    """Every forecast has one event in three: with any unit of weights that is one block."""
    p = np.repeat(np.arange(1, 30) / 30, 3)
    y = np.tile([1, 0, 0], 29)
    weight = unit * np.repeat(np.arange(1, 30), 3)
    assert len(sr.corp(y, p, weight).bins) == 1


def test_documents_agree_up_to_rounding_only():
    document = {"a": [1, "x", None, 0.3], "b": {"c": True}}
    assert documents_agree(document, {"a": [1, "x", None, 0.1 + 0.2], "b": {"c": True}})
    for other in (
        {"a": [1, "x", None, 0.3 + 1e-9], "b": {"c": True}},
        {"a": [1, "y", None, 0.3], "b": {"c": True}},
        {"a": [1, "x", None], "b": {"c": True}},
        {"a": [1, "x", None, 0.3]},
    ):
        assert not documents_agree(document, other)


def test_the_lowest_is_the_first_of_equal_ones():
    assert first_lowest([0.3 * (1 + LAST_BITS), 0.3, 0.3 * (1 - LAST_BITS)]) == 0
    assert first_lowest([np.nan, np.nan]) == 0
    assert first_lowest([1.0, -np.inf, -np.inf]) == 1
