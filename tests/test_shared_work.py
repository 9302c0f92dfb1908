"""Work shared with copies of a process: the same results in order, whatever happens to the copies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from process_tools import is_running, record_copies

from scorereport._utils import shared_work
from scorereport._utils.shared_work import sharing_work

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")


@pytest.fixture(autouse=True)
def _three_threads(monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "3")
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of the test runner hold no lock


@pytest.fixture
def copies(monkeypatch):
    return record_copies(monkeypatch, shared_work)


HERE = os.getpid()


def name_process(number):
    time.sleep(0.2 if os.getpid() == HERE else 0)  # so that copies do most of it
    return number, os.getpid()


def test_results_are_in_order_and_of_several_processes(copies):
    with sharing_work(name_process, 60, worth=10) as work:
        found = work.collect()
    assert [number for number, _ in found] == list(range(60))
    processes = {process for _, process in found}
    assert processes <= {HERE, *copies}
    assert processes.intersection(copies)
    assert len(copies) == 2
    assert not any(map(is_running, copies))


@pytest.mark.parametrize(
    ("threads", "active", "worth", "times", "expected"),
    [
        ("3", 1, 10, 9, 2),
        ("3", 1, 2.9, 9, 1),
        ("3", 1, 1.9, 9, 0),
        ("3", 1, 0, 9, 0),
        ("3", 1, 10, 2, 1),
        ("3", 1, 10, 0, 0),
        ("1", 1, 10, 9, 0),
        ("3", 2, 10, 9, 0),
    ],
)
def test_copies_are_started_only_if_they_can_help(
    threads, active, worth, times, expected, copies, monkeypatch
):
    monkeypatch.setenv("SCOREREPORT_THREADS", threads)
    monkeypatch.setattr(threading, "active_count", lambda: active)
    with sharing_work(lambda number: number, times, worth=worth) as work:
        assert work.collect() == list(range(times))
    assert len(copies) == expected


def test_more_calls_than_the_queue_holds_are_taken_in_chunks(copies, monkeypatch):
    monkeypatch.setattr(shared_work, "_LONGEST", 4)
    with sharing_work(lambda number: -number, 1003, worth=10) as work:
        assert work.collect() == [-number for number in range(1003)]
    assert len(copies) == 2


def test_calls_of_a_copy_that_ends_are_made_here():
    def end_elsewhere(number):
        if os.getpid() != HERE:
            os._exit(1)
        time.sleep(0.001)
        return number

    with sharing_work(end_elsewhere, 50, worth=10) as work:
        assert work.collect() == list(range(50))


def test_calls_of_a_copy_that_is_killed_are_made_here(copies):
    def wait_elsewhere(number):
        if os.getpid() != HERE:
            time.sleep(60)
        return number

    with sharing_work(wait_elsewhere, 5, worth=10) as work:
        time.sleep(0.1)  # the copies have taken calls
        for number in copies:
            os.kill(number, signal.SIGKILL)
        assert work.collect() == list(range(5))


def test_errors_are_those_of_this_process(copies):
    def fail(number):
        if number == 3:
            raise ValueError("no such document")
        return name_process(number)

    with pytest.raises(ValueError, match=r"^no such document$"), sharing_work(fail, 9, worth=10) as work:
        work.collect()
    assert not any(map(is_running, copies))


def test_results_that_cannot_be_sent_are_computed_here():
    with sharing_work(lambda number: lambda: number, 8, worth=10) as work:
        assert [result() for result in work.collect()] == list(range(8))


def test_a_system_that_refuses_processes_works_here(monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(shared_work, "copy_process", refuse)
    with sharing_work(abs, 3, worth=10) as work:
        assert work.collect() == [0, 1, 2]


def test_no_file_stays_open(copies):
    before = os.listdir("/proc/self/fd")
    with sharing_work(name_process, 9, worth=10) as work:
        work.collect()
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert len(copies) == 2


ORPHAN = """
import os, time
from scorereport._utils import shared_work
copy = shared_work.copy_process
def record():
    number = copy()
    if number:
        print(number, flush=True)
    return number
shared_work.copy_process = record
here = os.getpid()
def wait(number):
    time.sleep(60 if os.getpid() == here else 0.05)
with shared_work.sharing_work(wait, 8000, worth=2) as work:
    work.collect()
"""


@pytest.mark.sweep
def test_a_copy_ends_when_this_process_is_killed():
    environment = {**os.environ, "SCOREREPORT_THREADS": "2"}
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment) as process:
        number = int(process.stdout.readline())
        process.kill()
    end = time.monotonic() + 20
    while is_running(number) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(number)
