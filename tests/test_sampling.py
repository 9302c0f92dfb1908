"""Independent draws and their errors against statsmodels; repeated work in order, on threads, interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from scorereport import UsageError
from scorereport._utils import machine
from scorereport._utils.arrays import CACHED_ROWS
from scorereport._utils.choices import SEED
from scorereport._utils.machine import count_threads, repeat
from scorereport._utils.progress import steps, watched_by
from scorereport.inference.mean_errors import without_rounding
from scorereport.reliability.sampling import _FEW_REPEATS, SamplingUnits, random_stream

RNG = np.random.default_rng(6)
N = 60
VALUES = RNG.exponential(2, N)
WHOLE = RNG.integers(1, 5, N).astype(float)
FRACTIONAL = RNG.random(N) + 0.1
CLUSTER = np.unique(RNG.integers(0, 14, N), return_inverse=True)[1]
ONE = np.ones(N)

# Errors of a mean


def assert_agree(left, right):
    """Sums of 60 to 240 terms of equal sign: their rounding errors are below 240·1.1e-16 = 3e-14."""
    assert left == pytest.approx(right, rel=1e-12, abs=0)


def test_rows_have_the_error_of_ordinary_least_squares():
    """OLS on a constant: √(Σr²/(n - 1)/n), the same formula."""
    assert_agree(SamplingUnits(rows=N).standard_error(VALUES), sm.OLS(VALUES, ONE).fit().bse[0])


def test_frequencies_have_the_error_of_ordinary_least_squares_on_repeated_rows():
    units, y = SamplingUnits(rows=N, weight=WHOLE, weight_kind="frequency"), VALUES.repeat(WHOLE.astype(int))
    model = sm.OLS(y, np.ones_like(y)).fit()
    assert_agree(units.standard_error(VALUES), model.bse[0])
    assert_agree(units.mean(VALUES), model.params[0])


@pytest.mark.parametrize("weight", [WHOLE, FRACTIONAL], ids=["whole", "fractional"])
def test_sampling_weights_have_the_robust_error_of_weighted_least_squares(weight):
    """HC1 is √(n/(n - 1) Σ(w r)²)/Σw if only a constant is estimated."""
    units = SamplingUnits(rows=N, weight=weight)
    model = sm.WLS(VALUES, ONE, weights=weight).fit(cov_type="HC1")
    assert_agree(units.standard_error(VALUES), model.bse[0])
    assert_agree(units.mean(VALUES), model.params[0])


def test_equal_clusters_have_the_cluster_robust_error():
    """statsmodels corrects by G/(G - 1)·(n - 1)/(n - k), and k = 1 for a constant."""
    cluster = np.arange(N) % 12
    units = SamplingUnits(rows=N, cluster=cluster)
    model = sm.OLS(VALUES, ONE).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    assert_agree(units.standard_error(VALUES), model.bse[0])
    assert_agree(units.degrees_of_freedom, 11)
    lower, upper = model.conf_int()[0]
    assert_agree(units.critical_value(0.95) * units.standard_error(VALUES), (upper - lower) / 2)


@pytest.mark.parametrize("weight", [None, WHOLE, FRACTIONAL], ids=["none", "whole", "fractional"])
def test_unequal_clusters_have_a_bias_reduced_error(weight):
    """By hand: the squared sum of deviations of each cluster over 1 minus its share of the weight."""
    w = ONE if weight is None else weight
    deviation = VALUES - np.average(VALUES, weights=w)
    variance = sum(
        (w * deviation)[c == CLUSTER].sum() ** 2 / (1 - w[c == CLUSTER].sum() / w.sum())
        for c in range(CLUSTER.max() + 1)
    )
    units = SamplingUnits(rows=N, weight=weight, cluster=CLUSTER)
    assert_agree(units.standard_error(VALUES), np.sqrt(variance) / w.sum())


def test_one_large_cluster_leaves_few_degrees_of_freedom():
    equal, unequal = np.arange(400) // 20, np.append(np.zeros(210, int), 1 + np.arange(190) // 10)
    of_equal, of_unequal = (SamplingUnits(rows=400, cluster=cluster) for cluster in (equal, unequal))
    assert (of_equal.size, of_unequal.size) == (20, 20)
    assert_agree(of_equal.effective_size, 20)
    assert_agree(of_unequal.effective_size, 400**2 / (210**2 + 19 * 10**2))
    assert_agree(of_equal.degrees_of_freedom, 19)
    assert 1 < of_unequal.degrees_of_freedom < 4
    assert of_unequal.critical_value(0.95) > 2.7


@pytest.mark.parametrize("cluster", [None, CLUSTER], ids=["rows", "clusters"])
def test_frequencies_equal_repeated_rows(cluster):
    k = WHOLE.astype(int)
    weighted = SamplingUnits(rows=N, weight=WHOLE, cluster=cluster, weight_kind="frequency")
    repeated = SamplingUnits(rows=k.sum(), cluster=None if cluster is None else cluster.repeat(k))
    assert_agree(weighted.mean(VALUES), repeated.mean(VALUES.repeat(k)))
    assert_agree(weighted.standard_error(VALUES), repeated.standard_error(VALUES.repeat(k)))
    assert_agree(weighted.acceleration(VALUES), repeated.acceleration(VALUES.repeat(k)))
    assert (weighted.size, weighted.total) == (repeated.size, repeated.total)


def test_rows_are_clusters_of_their_own():
    shuffled = np.random.default_rng(2).permutation(N)
    rows, clusters = SamplingUnits(rows=N), SamplingUnits(rows=N, cluster=shuffled)
    assert_agree(rows.standard_error(VALUES), clusters.standard_error(VALUES))
    for weight in (None, FRACTIONAL):
        rows, clusters = (
            SamplingUnits(rows=N, weight=weight),
            SamplingUnits(rows=N, weight=weight, cluster=shuffled),
        )
        assert_agree(rows.acceleration(VALUES), clusters.acceleration(VALUES))


def test_the_unit_of_fractional_weights_does_not_matter():
    one, other = SamplingUnits(rows=N, weight=FRACTIONAL), SamplingUnits(rows=N, weight=FRACTIONAL * 3.7)
    assert_agree(one.standard_error(VALUES), other.standard_error(VALUES))
    assert_agree(one.acceleration(VALUES), other.acceleration(VALUES))


@pytest.mark.parametrize(
    ("units", "size", "total", "describes"),
    [
        (SamplingUnits(rows=3), 3, 3, "rows"),
        (SamplingUnits(rows=3, weight=np.array([2.0, 1, 4]), weight_kind="frequency"), 7, 7, "rows"),
        (SamplingUnits(rows=3, weight=np.array([2.0, 1, 4])), 3, 7, "rows"),
        (SamplingUnits(rows=3, weight=np.array([0.5, 1, 4])), 3, 5.5, "rows"),
        (SamplingUnits(rows=3, cluster=np.array([1, 0, 1])), 2, 3, "clusters"),
        (
            SamplingUnits(rows=3, weight=np.array([0.5, 1, 4]), cluster=np.array([1, 0, 1])),
            2,
            5.5,
            "clusters",
        ),
    ],
    ids=["rows", "repeated rows", "whole weights", "weighted rows", "clusters", "weighted clusters"],
)
def test_units_are_counted_by_what_was_drawn(units, size, total, describes):
    assert (units.size, units.total, units.describes) == (size, total, describes)


def test_equal_values_have_no_skewness_however_their_mean_is_rounded():
    assert [SamplingUnits(rows=3).acceleration(np.full(3, value)) for value in (0.1, 0.0, 1e300)] == [0, 0, 0]


def test_weights_divided_by_that_of_a_case_count_cases():
    """Kish's (Σw)²/Σw², by hand 16/6.5; the rows for equal weights; frequencies count themselves."""
    units = SamplingUnits(rows=3, weight=np.array([0.5, 1.5, 2.0]))
    assert_agree(units.total / units.case_weight, 16 / 6.5)
    assert_agree(SamplingUnits(rows=4, weight=np.full(4, 0.3)).case_weight, 0.3)
    repeated = SamplingUnits(rows=2, weight=np.array([3.0, 5.0]), weight_kind="frequency")
    assert repeated.case_weight == SamplingUnits(rows=2).case_weight == 1


def test_cases_of_some_rows_are_counted_by_their_own_weights():
    """Ten events of weight 1 among non-events of weight 9 are ten cases, whatever the non-events weigh."""
    is_event = np.arange(20) < 10
    units = SamplingUnits(rows=20, weight=np.where(is_event, 1.0, 9.0))
    assert_agree(units.count(is_event), 10)
    assert_agree(units.count(~is_event), 10)
    assert_agree(
        SamplingUnits(rows=3, weight=np.array([0.5, 1.5, 2.0])).count(np.ones(3, dtype=bool)), 16 / 6.5
    )
    assert SamplingUnits(rows=20).count(is_event) == 10
    assert units.count(np.zeros(20, dtype=bool)) == 0
    assert (
        SamplingUnits(rows=2, weight=np.array([3.0, 5.0]), weight_kind="frequency").count(
            np.array([True, False])
        )
        == 3
    )


@pytest.mark.parametrize(
    ("weight", "kind", "are_repeated"),
    [
        (None, "sampling", True),
        ([1.0, 3.0], "sampling", False),
        ([1.0, 3.0], "frequency", True),
        ([1.0, 1.0], "sampling", False),
    ],
)
def test_the_kind_of_weights_determines_whether_rows_are_repeated(weight, kind, are_repeated):
    units = SamplingUnits(rows=2, weight=None if weight is None else np.array(weight), weight_kind=kind)
    assert units.are_repeated_rows is are_repeated


@pytest.mark.parametrize(
    ("weight", "cluster"),
    [(None, None), (np.array([1.0]), None), (np.array([0.7]), None), (None, np.array([0]))],
    ids=["row", "row of weight 1", "row of weight 0.7", "cluster"],
)
def test_one_draw_has_no_error(weight, cluster):
    assert np.isnan(SamplingUnits(rows=1, weight=weight, cluster=cluster).standard_error(np.array([3.0])))


def test_one_cluster_of_many_rows_has_no_error():
    assert np.isnan(SamplingUnits(rows=3, cluster=np.zeros(3, dtype=np.int64)).standard_error(np.arange(3.0)))


def test_two_draws_have_an_error():
    """By hand: deviations ∓1, √(2·2/(2 - 1))/2."""
    assert SamplingUnits(rows=2).standard_error(np.array([1.0, 3.0])) == 1.0


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=9))
def test_acceleration_is_a_sixth_of_the_skewness_of_the_mean(rows):
    """In fractions: Σd³/(6 (Σd²)^(3/2)), each row as often as it was repeated."""
    values, repeats = zip(*rows, strict=True)
    mean = Fraction(sum(v * k for v, k in rows), sum(repeats))
    spread = sum(k * (v - mean) ** 2 for v, k in rows)
    cubes = sum(k * (v - mean) ** 3 for v, k in rows)
    expected = float(cubes) / (6 * float(spread) ** 1.5) if spread else 0.0
    units = SamplingUnits(rows=len(rows), weight=np.array(repeats, dtype=float), weight_kind="frequency")
    found = units.acceleration(np.array(values, dtype=float))
    if spread:
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
    else:
        assert abs(found) <= 1 / 6  # constant values may differ from their mean in the last digit


def test_acceleration_of_constant_values_is_zero():
    assert SamplingUnits(rows=4).acceleration(np.full(4, 0.5)) == 0


# Resamples


def test_a_resample_of_frequencies_is_that_of_repeated_rows_to_the_last_bit():
    k = WHOLE.astype(int)
    owner = np.repeat(np.arange(N), k)
    for seed in range(5):
        repeated = SamplingUnits(rows=k.sum()).draw(random_stream(seed))
        weighted = SamplingUnits(rows=N, weight=WHOLE, weight_kind="frequency").draw(random_stream(seed))
        assert weighted.dtype == np.float64
        np.testing.assert_array_equal(weighted, np.bincount(owner, weights=repeated))


@given(st.integers(0, 1000))
def test_resamples_have_as_many_draws_as_the_sample(seed):
    assert SamplingUnits(rows=N).draw(random_stream(seed)).sum() == N
    for times in (1, 100):
        repeated = SamplingUnits(rows=N, weight=WHOLE * times, weight_kind="frequency")
        assert repeated.draw(random_stream(seed)).sum() == times * WHOLE.sum()
    times = SamplingUnits(rows=N, weight=FRACTIONAL).draw(random_stream(seed)) / FRACTIONAL
    np.testing.assert_allclose(times, times.round(), rtol=0, atol=1e-13)
    assert times.round().sum() == N
    for weight in (None, WHOLE, FRACTIONAL):
        drawn = SamplingUnits(rows=N, weight=weight, cluster=CLUSTER).draw(random_stream(seed))
        times = (drawn / (1 if weight is None else weight)).round(9)
        per_cluster = [set(times[np.equal(CLUSTER, g)]) for g in range(CLUSTER.max() + 1)]
        assert all(len(values) == 1 for values in per_cluster)
        assert sum(values.pop() for values in per_cluster) == CLUSTER.max() + 1


@pytest.mark.parametrize("times", [1, 20], ids=["drawn one by one", "drawn by their distribution"])
def test_repeated_rows_are_multinomial(times):
    """Mean n p and covariance n (diag(p) - p p'), to 5 standard errors of 4000 draws: each of the 12 numbers
    fails by chance with probability 6e-7.
    """
    weight = np.array([1.0, 2, 5]) * times
    assert (weight.sum() > _FEW_REPEATS * 3) == (times == 20)
    units = SamplingUnits(rows=3, weight=weight, weight_kind="frequency")
    drawn = np.array([units.draw(random_stream(3, number)) for number in range(4000)])
    deviation = drawn - weight
    covariance = np.diag(weight) - np.outer(weight, weight) / weight.sum()
    products = (deviation[:, :, None] * deviation[:, None, :] - covariance).reshape(len(drawn), 9)
    for values in (deviation, products):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (np.abs(values.mean(axis=0)) < 5 * error).all()


@given(st.integers(0, 1000))
def test_drawn_units_keep_their_weights_and_rows(seed):
    """The same random numbers draw rows, rows with their weights, and clusters with all their rows."""
    rows, clusters = (
        SamplingUnits(rows=N).draw(random_stream(seed)),
        SamplingUnits(rows=CLUSTER.max() + 1).draw(random_stream(seed)),
    )
    np.testing.assert_array_equal(
        SamplingUnits(rows=N, weight=FRACTIONAL).draw(random_stream(seed)), rows * FRACTIONAL
    )
    for weight in (ONE, WHOLE, FRACTIONAL):
        drawn = SamplingUnits(rows=N, weight=weight, cluster=CLUSTER).draw(random_stream(seed))
        np.testing.assert_array_equal(drawn, clusters[CLUSTER] * weight)
    assert len(set(rows)) > 1


def test_few_repeats_are_drawn_one_by_one_up_to_eight_per_row():
    """At the limit, the draw is still that of repeated rows, to the last bit."""
    weight = np.array([8.0, 8.0, 8.0])
    repeated = SamplingUnits(rows=24).draw(random_stream(1)).reshape(3, 8).sum(axis=1)
    np.testing.assert_array_equal(
        SamplingUnits(rows=3, weight=weight, weight_kind="frequency").draw(random_stream(1)), repeated
    )


def test_streams_depend_on_their_key_only():
    keys = [(1,), (1, 0), (1, 1), (2, 0), (1, 0, 0)]
    drawn = [random_stream(*key).random(4).tobytes() for key in keys]
    assert len(set(drawn)) == len(keys)
    assert drawn == [random_stream(*key).random(4).tobytes() for key in keys]
    assert SEED == 2021


# Repeated work


@pytest.fixture
def threads(monkeypatch, request):
    """Set the number of threads, also for few rows, and assert that none is left over."""
    before = set(threading.enumerate())
    monkeypatch.setenv("SCOREREPORT_THREADS", str(request.param))
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 0)
    yield request.param
    assert set(threading.enumerate()) <= before


every_number = pytest.mark.parametrize("threads", [1, 2, 5], indirect=True)


@every_number
def test_results_come_in_order(threads):
    """Later calls are faster, so that they would overtake."""

    def function(number):
        time.sleep(0.002 * (7 - number % 8))
        return number, threading.get_ident()

    results = list(repeat(function, 24, rows=1, what="waiting"))
    assert [number for number, _ in results] == list(range(24))
    places = {place for _, place in results}
    assert (places == {threading.get_ident()}) == (threads == 1)
    assert 1 <= len(places) <= threads


@pytest.mark.parametrize("threads", [2, 5], indirect=True)
def test_as_many_calls_run_at_once_as_there_are_threads(threads):
    """The calls wait for each other, so that none could finish alone."""
    together = threading.Barrier(threads, timeout=10)
    results = repeat(lambda _: together.wait() >= 0, 4 * threads, rows=1, what="meeting")
    assert list(results) == [True] * (4 * threads)


@every_number
def test_no_work_gives_no_result(threads):
    assert list(repeat(str, 0, rows=1, what="nothing")) == []
    assert threads > 0


def test_small_work_stays_on_one_thread(monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "3")
    here = {threading.get_ident()}

    def places(rows):
        return set(repeat(lambda _: threading.get_ident(), 6, rows=rows, what="asking"))

    assert places(99_999) == here
    assert not places(100_000) & here


@every_number
def test_work_is_never_far_ahead_of_its_reader(threads):
    started = []
    results = repeat(lambda number: started.append(number) or number, 200, rows=1, what="counting")
    furthest = 0
    for read, number in enumerate(results):
        time.sleep(0.001)
        assert number == read
        furthest = max(furthest, len(started) - read)
    assert furthest <= (1 if threads == 1 else 2 * threads)
    assert len(started) == 200


@every_number
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_reader_that_stops_ends_the_work(threads, error):
    started = []

    def read():
        for number in repeat(lambda n: started.append(n) or n, 10_000, rows=1, what="reading"):
            if number == 3:
                raise error

    with pytest.raises(error):
        read()
    assert 4 <= len(started) <= 4 + 2 * threads
    after = len(started)
    time.sleep(0.02)
    assert len(started) == after


@every_number
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_inside_ends_the_work(threads, error):
    started, seen = [], []

    def function(number):
        started.append(number)
        if number == 3:
            raise error(f"in {number}")
        return number

    def read():
        seen.extend(repeat(function, 10_000, rows=1, what="failing"))

    with pytest.raises(error, match="in 3"):
        read()
    assert len(started) <= 4 + 2 * threads
    assert seen == [0, 1, 2]


@every_number
def test_a_watcher_that_stops_ends_the_work(threads):
    """Like an interrupt during the display of progress."""
    started = []

    def watch(_what, done, _total):
        if done == 4:
            raise KeyboardInterrupt

    def read():
        return list(repeat(lambda n: started.append(n) or n, 10_000, rows=1, what="showing"))

    with watched_by(watch), pytest.raises(KeyboardInterrupt):
        read()
    assert 4 <= len(started) <= 4 + 2 * threads


@pytest.mark.parametrize("threads", [2, 5], indirect=True)
def test_calls_that_wait_are_cancelled(threads):
    """Running calls are waited for; queued calls never start."""
    started, free = [], threading.Event()

    def function(number):
        started.append(number)
        if number == 0:
            raise KeyboardInterrupt
        free.wait(5)
        return number

    timer = threading.Timer(0.05, free.set)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(repeat(function, 1000, rows=1, what="blocking"))
    timer.join()
    assert len(started) <= threads + 1


@every_number
def test_an_interrupt_from_the_keyboard_ends_the_work(threads):
    """A real signal during the wait of the reader, long before the 100 s that the work takes."""
    started, reader = [], threading.get_ident()
    timer = threading.Timer(0.1, signal.pthread_kill, (reader, signal.SIGINT))
    timer.start()

    def function(number):
        started.append(number)
        time.sleep(0.01 * threads)
        return number

    with pytest.raises(KeyboardInterrupt):
        list(repeat(function, 10_000, rows=1, what="sleeping"))
    timer.join()
    assert 0 < len(started) < 5000


@pytest.mark.parametrize(("value", "expected"), [("3", 3), ("1", 1), ("", None), (None, None)])
def test_there_are_as_many_threads_as_requested_or_as_processors(value, expected, monkeypatch):
    monkeypatch.delenv("SCOREREPORT_THREADS", raising=False)
    if value is not None:
        monkeypatch.setenv("SCOREREPORT_THREADS", value)
    assert count_threads() == (os.cpu_count() if expected is None else expected)


@pytest.mark.parametrize("value", ["0", "-2", "two", "1.5"])
def test_no_threads_are_refused(value, monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", value)
    with pytest.raises(UsageError) as refusal:
        count_threads()
    assert str(refusal.value) == f"`SCOREREPORT_THREADS` must be a whole number of at least 1; got {value!r}."


@every_number
def test_a_step_is_reported_after_it_was_processed(threads):
    reported, log = [], []
    with watched_by(lambda *step: reported.append(step)):
        for number in repeat(lambda n: n, 3, rows=1, what="stepping"):
            log.append((number, len(reported)))
    assert log == [(0, 0), (1, 1), (2, 2)]
    assert reported == [("stepping", 1, 3), ("stepping", 2, 3), ("stepping", 3, 3)]
    assert threads in {1, 2, 5}


def test_steps_outside_the_block_are_not_reported():
    reported = []

    def fail():
        with watched_by(lambda *step: reported.append(step)):
            list(steps([1], 1, "inside"))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert list(steps([1, 2], 2, "outside")) == [1, 2]
    assert reported == [("inside", 1, 1)]


def test_the_inner_watcher_replaces_the_outer():
    outer, inner = [], []
    with watched_by(lambda *step: outer.append(step)):
        with watched_by(lambda *step: inner.append(step)):
            list(steps("a", 1, "first"))
        list(steps("b", 1, "second"))
    assert (outer, inner) == ([("second", 1, 1)], [("first", 1, 1)])


@pytest.mark.parametrize("kind", [None, "frequency", "sampling"])
@pytest.mark.parametrize("n", [CACHED_ROWS + 1, 3 * CACHED_ROWS + 5])
def test_errors_of_many_rows_are_those_of_all_rows_at_once(kind, n):
    """Up to rounding, which sums of halves keep as small as numpy's summation does."""
    rng = np.random.default_rng(n)
    values, weight = rng.random(n), rng.integers(1, 4, n).astype(float)
    units = SamplingUnits(rows=n, weight=None if kind is None else weight, weight_kind=kind or "sampling")
    w = np.ones(n) if kind is None else weight
    mean = (w * values).sum() / w.sum()
    assert units.mean(values) == pytest.approx(mean, rel=1e-14)
    squares = (w * (values - mean)) ** 2 if kind == "sampling" else w * (values - mean) ** 2
    draws = w.sum() if kind == "frequency" else n
    expected = np.sqrt(squares.sum() * draws / (draws - 1)) / w.sum()
    assert units.standard_error(values) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("value", [-3.0, 3.0])
def test_an_error_that_comes_from_rounding_is_none(value):
    values = np.full(4, value)
    assert without_rounding(1e-14, values) == 0
    assert without_rounding(1e-13, values) == 1e-13
    assert without_rounding(1e-300, 0 * values) == 0
