"""Calls on threads: where they run, and that results do not depend on it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import scorereport as sr
from scorereport._utils import machine
from scorereport._utils.machine import call_in_order, call_together
from scorereport.reliability import simulation
from scorereport.reliability.simulation import draw_chunks

MANY = 200_000


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "2")


def where(_=0):
    return threading.get_ident()


def nested(_):
    return where(), set(call_in_order(where, 5, rows=MANY))


@pytest.mark.parametrize(
    ("times", "rows", "here"),
    [(2, MANY, False), (5, MANY, False), (1, MANY, True), (5, 100, True), (5, 3_000_000, True)],
    ids=["two", "five", "one", "short", "large"],
)
def test_long_calls_are_made_together_unless_they_are_short_or_large(times, rows, here):
    threads = list(call_together(where, times, rows=rows))
    assert len(threads) == times
    assert ({*threads} == {where()}) is here
    assert here or where() not in threads


def test_a_call_on_a_thread_makes_its_own_calls_there():
    for thread, inside in call_together(nested, 3, rows=MANY):
        assert inside == {thread} != {where()}


@pytest.mark.parametrize(("available", "each"), [(4, 2), (5, 2), (6, 3), (3, 1)])
def test_long_calls_share_the_threads(monkeypatch, available, each):
    monkeypatch.setenv("SCOREREPORT_THREADS", str(available))
    both = Barrier(2, timeout=20)

    def call(_):
        both.wait()  # neither call begins before the other
        waiting = Barrier(each, timeout=20)  # is passed only if as many threads call together
        return where(), set(call_in_order(lambda _: (waiting.wait(), where())[1], each, rows=MANY))

    (first, of_first), (second, of_second) = call_together(call, 2, rows=MANY)
    assert len({first, second, where()}) == 3
    assert len(of_first) == len(of_second) == each
    assert (of_first == {first}) is (each == 1)


def test_a_single_call_uses_all_threads_itself():
    ((thread, inside),) = call_together(nested, 1, rows=MANY)
    assert thread == where()
    assert where() not in inside


def test_errors_and_results_keep_their_order():
    def fail_at_two(number):
        if number == 2:
            raise ValueError("two")
        return number

    calls = call_together(fail_at_two, 4, rows=MANY)
    assert [next(calls), next(calls)] == [0, 1]
    with pytest.raises(ValueError, match=r"^two$"):
        next(calls)


def test_large_chunks_of_samples_are_drawn_one_after_the_other(monkeypatch):
    rng = np.random.default_rng(3)
    p = rng.random(60_000)
    drawn = sr.corp((rng.random(60_000) < p).astype(float), p).sample.simulation(p)

    def places():
        draws = draw_chunks(drawn, lambda samples: (where(), samples.events.sum()), range(4), seed=1, what="")
        return list(zip(*draws, strict=True))

    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    threads, events = places()
    assert where() not in threads
    monkeypatch.setattr(simulation, "MOST_ROWS_TOGETHER", 50_000)
    assert places() == [(where(),) * 4, events]


@pytest.mark.sweep
def test_an_evaluation_does_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(4)
    z = rng.normal(size=600)
    frame = pd.DataFrame({f"m{k}": expit((0.6 + 0.3 * k) * z + rng.normal(size=600) / 3) for k in range(3)})
    frame["y"] = (rng.random(600) < expit(z)).astype(int)
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        found.append(sr.evaluate(frame, outcome="y", forecasts=["m0", "m1", "m2"], seed=3))
    assert found[0].sha256 == found[1].sha256 == found[2].sha256


_EVALUATED = """
import sys
from contextlib import nullcontext

import numpy as np

import scorereport as sr
from scorereport._utils import shared_work
from scorereport._utils.processes import stopped_by_signals

copies = []
copy_process = shared_work.copy_process
shared_work.copy_process = lambda: copies.append(1) or copy_process()
rng = np.random.default_rng(5)
p = rng.random(300)
y = (rng.random(300) < p).astype(float)
with stopped_by_signals() if sys.argv[1] == "command" else nullcontext():
    found = sr.evaluate(y, {"p": p, "q": p**2, "r": 1 - p}, groups={"half": p < 0.5})
    forecasts = {name: rng.dirichlet([1, 1, 1], 300) for name in "ab"}
    of_classes = sr.evaluate(rng.integers(0, 3, 300), forecasts, classes=[0, 1, 2], resamples=20)
arrays = [curves.decision.net_benefit for curves in (model.curves for model in found.models)]
arrays += [band.lower for model in of_classes.class_models for band in model.retention]
hashes = found.sha256 + of_classes.sha256
print(hashes, len(copies), any(array.flags.writeable for array in arrays))
"""


@pytest.mark.sweep
def test_a_command_shares_models_and_groups_with_copies_of_its_process_and_others_do_not():
    """The results are the same to the last bit, and arrays of a copy cannot be changed either.

    Of binary models, copies describe models and score groups; of classes, they test and describe models.
    """
    seen = {}
    for kind, threads in (("command", "2"), ("command", "1"), ("library", "2")):
        done = subprocess.run(
            [sys.executable, "-c", _EVALUATED, kind],
            env={**os.environ, "SCOREREPORT_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        seen[kind, threads] = done.stdout.split()
    assert len({hashes for hashes, *_ in seen.values()}) == 1
    assert [(copies, writeable) for _, copies, writeable in seen.values()] == [
        ("4" if sys.platform == "linux" else "0", "False"),
        ("0", "False"),
        ("0", "False"),
    ]
