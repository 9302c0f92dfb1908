"""Work in the background: items computed ahead, R asked while an evaluation runs, and how both end."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from threading import Event, Thread, current_thread
from threading import enumerate as list_threads

import numpy as np
import pandas as pd
import pytest
from class_certificate_tools import LABELS, StandIn, draw_cases, frame_of, use_fixture

import scorereport as sr
from scorereport._utils.background import Ahead
from scorereport._utils.processes import Stopped, stopped_by_signals
from scorereport.errors import DataError
from scorereport.evaluation import dispatch
from scorereport.evaluation.dispatch import called_when_read
from scorereport.reference import certification
from scorereport.reference.certification import PendingCertificate
from scorereport.reference.live_references import PACKAGE
from scorereport.reference.r_session import ReferenceFailure, Session
from scorereport.results.settings import EvaluationSettings

use = pytest.fixture(use_fixture)
PATIENCE = 30


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert [thread.name for thread in list_threads() if thread.name == "ahead"] == []


# ---- Items computed ahead ----


def count_up(stop, produced=None):
    for number in range(stop):
        if produced is not None:
            produced.append(number)
        yield number


def test_items_keep_their_order_and_come_from_another_thread():
    threads = set()

    def name_threads():
        for number in range(30):
            threads.add(current_thread().name)
            yield number

    with Ahead(name_threads()) as items:
        assert list(items) == list(range(30))
        assert list(items) == []
    assert threads == {"ahead"}


def test_an_error_takes_the_place_of_its_item():
    def fail():
        yield 1
        raise DataError("no more")

    with Ahead(fail()) as items:
        assert next(items) == 1
        with pytest.raises(DataError, match="no more"):
            next(items)
        assert list(items) == []


def test_few_items_wait_for_their_consumer():
    produced = []
    with Ahead(count_up(100, produced), most=3) as items:
        end = time.monotonic() + PATIENCE
        while len(produced) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)
        assert produced == [0, 1, 2, 3]
        assert next(items) == 0
    assert len(produced) < 20


def test_closing_ends_a_generator_that_waits_and_cleans_up_in_it():
    released, events = Event(), []

    def wait():
        try:
            yield 1
            assert released.wait(PATIENCE)
            yield 2
            yield 3  # never: the consumer has gone
        finally:
            events.append("cleaned up")

    items = Ahead(wait(), stop=released.set)
    assert next(items) == 1
    items.close()
    items.close()
    assert events == ["cleaned up"]
    assert list(items) == []


def test_what_has_ended_by_itself_is_not_stopped():
    """A process of R may be asked again by someone else."""
    stopped = []
    with Ahead(count_up(3), stop=lambda: stopped.append(True)) as items:
        assert list(items) == [0, 1, 2]
    assert stopped == []


# ---- R while the evaluation runs ----


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    x = rng.random(60)
    y = (rng.random(60) < x).astype(float)
    return pd.DataFrame({"y": y, "sharp": x, "flat": (x + 0.5) / 2})


def evaluate(data):
    return sr.evaluate(data, outcome="y", forecasts=["sharp", "flat"], resamples=0)


@pytest.fixture(scope="module")
def evaluation(frame):
    return evaluate(frame)


@pytest.fixture
def _fixed_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def certify_meanwhile(data, draws=0):
    """The certificate of an evaluation during which the reference was asked."""
    with PendingCertificate(draws=draws) as pending:
        with called_when_read(pending.start):
            found = evaluate(data)
        return pending.complete(found)


@pytest.mark.usefixtures("_fixed_time")
def test_a_certificate_asked_for_meanwhile_has_the_same_bytes(frame, evaluation, use):
    use(StandIn())
    meanwhile = certify_meanwhile(frame)
    assert meanwhile.verdict == "confirmed"
    assert meanwhile.to_json() == sr.certify(evaluation, draws=0).to_json()


@pytest.mark.usefixtures("_fixed_time")
def test_that_of_classes_as_well(use):
    use(StandIn())
    y, p = draw_cases(n=40)
    data = frame_of(np.array(LABELS)[y], sharp=p)
    arguments = {"outcome": "y", "forecasts": {"sharp": [f"sharp_{k}" for k in range(4)]}}
    arguments |= {"classes": list(LABELS), "ordered": True, "resamples": 0}
    with PendingCertificate(draws=0) as pending, called_when_read(pending.start):
        meanwhile = pending.complete(sr.evaluate(data, **arguments))
    assert meanwhile.verdict == "confirmed"
    assert meanwhile.to_json() == sr.certify(sr.evaluate(data, **arguments), draws=0).to_json()


def test_the_reference_answers_before_the_evaluation_ends(frame, use, monkeypatch):
    reference, answered = use(StandIn()), Event()
    reference.spoil = lambda _question, vectors: answered.set() or vectors
    evaluate_binary = dispatch.evaluate_binary

    def wait_for_answer(*arguments):
        assert answered.wait(PATIENCE)
        return evaluate_binary(*arguments)

    monkeypatch.setattr(dispatch, "evaluate_binary", wait_for_answer)
    assert certify_meanwhile(frame).verdict == "confirmed"


def test_questions_are_asked_once_and_in_order(frame, use):
    reference = use(StandIn())
    certify_meanwhile(frame)
    asked = [question.y_prob for question in reference.questions]
    np.testing.assert_array_equal(asked, [frame["sharp"], frame["flat"]])


@pytest.mark.parametrize("answers_before", [0, 1])
def test_a_reference_that_fails_is_followed_by_the_next(frame, use, answers_before):
    package = use(StandIn(PACKAGE), StandIn())

    def refuse(_question, vectors):
        if len(package.questions) > answers_before:
            raise ReferenceFailure("R refused: no.")
        return vectors

    package.spoil = refuse
    c = certify_meanwhile(frame)
    assert (c.verdict, c.reference) == ("confirmed", "a stand-in of base")
    assert [(attempt.reference, attempt.reason) for attempt in c.attempts] == [
        ("reliabilitydiag through rpy2", "R refused: no.")
    ]


def test_an_answer_found_incomplete_in_the_comparison_is_followed_by_the_next(use):
    package = use(StandIn(PACKAGE), StandIn())
    package.spoil_classes = lambda vectors: {**vectors, "joint": np.zeros(3)}
    y, p = draw_cases(n=40)
    data = frame_of(np.array(LABELS)[y], sharp=p)
    forecasts = {"sharp": [f"sharp_{k}" for k in range(4)]}
    found = sr.evaluate(data, outcome="y", forecasts=forecasts, classes=list(LABELS), resamples=0)
    c = sr.certify(found, draws=0)
    assert (c.verdict, c.reference) == ("confirmed", "a stand-in of base")
    assert [attempt.reason for attempt in c.attempts] == ["R answered with 3 numbers `joint` instead of 16."]


def test_an_unexpected_error_in_the_thread_is_raised(frame, use):
    reference = use(StandIn())

    def break_down(*_):
        raise ZeroDivisionError("in the thread")

    reference.spoil = break_down
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        certify_meanwhile(frame)


def test_questions_with_other_settings_are_asked_again(frame, evaluation, use):
    reference = use(StandIn())
    with PendingCertificate(draws=0) as pending:
        pending.start(evaluation.predictions, EvaluationSettings(seed=1))
        c = pending.complete(evaluation)
    assert c.verdict == "confirmed"
    assert {question.seed for question in reference.questions[-2:]} == {evaluation.settings.seed}
    other = evaluate(frame.rename(columns={"sharp": "flat", "flat": "sharp"}))
    with PendingCertificate(draws=0) as pending:
        pending.start(other.predictions, evaluation.settings)
        c = pending.complete(evaluation)
    assert (c.verdict, c.sha256) == ("failed", other.predictions.sha256)


# ---- How both end ----


@pytest.fixture
def hanging(tmp_path, monkeypatch):
    """References that start a process and never answer; the numbers of these processes."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    started, has_started = [], Event()

    @contextmanager
    def hang(_kind, time_limit, on_start):
        program = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
        with Session(program, [], time_limit=time_limit) as session:
            started.append(session.process_id)
            has_started.set()
            on_start(session)
            session.ask("hello")
            yield StandIn()

    monkeypatch.setattr(certification, "open_reference", hang)
    yield has_started
    assert len(started) == 1  # the next reference is not started any more
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_an_error_in_the_evaluation_ends_r(frame, hanging, monkeypatch):
    def fail(*_):
        assert hanging.wait(PATIENCE)
        raise DataError("not these rows")

    monkeypatch.setattr(dispatch, "evaluate_binary", fail)
    with pytest.raises(DataError, match="not these rows"):
        certify_meanwhile(frame, draws=100)


def test_an_interrupt_of_the_evaluation_ends_r(frame, hanging, monkeypatch):
    def wait(*_):
        assert hanging.wait(PATIENCE)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)

    monkeypatch.setattr(dispatch, "evaluate_binary", wait)
    began = time.monotonic()
    with pytest.raises(Stopped, match="143"), stopped_by_signals():
        certify_meanwhile(frame, draws=100)
    assert time.monotonic() - began < PATIENCE


def test_an_interrupt_while_waiting_for_r_ends_it(evaluation, hanging):
    def interrupt():
        assert hanging.wait(PATIENCE)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt).start()
    began = time.monotonic()
    with pytest.raises(Stopped, match="130"), stopped_by_signals():
        sr.certify(evaluation, draws=100)
    assert time.monotonic() - began < PATIENCE
