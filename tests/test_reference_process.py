"""R in a process of its own: files of vectors, time limits, crashes."""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from threading import Timer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_process_tools import (
    LATE,
    MARK,
    NO_FILE,
    file_fixture,
    interrupt,
    rscript_fixture,
    temporary_fixture,
    tools_fixture,
)
from reference_tools import (
    PATIENCE,
    R_CODE,
    left_running,
    wait_for,
)

from scorereport._utils.files import MARKER
from scorereport.reference.exchange import ExchangeError, read_vectors, write_vectors
from scorereport.reference.r_session import ReferenceFailure, Session

tools = pytest.fixture(scope="session")(tools_fixture)


temporary = pytest.fixture(autouse=True)(temporary_fixture)


rscript = pytest.fixture(scope="session")(rscript_fixture)


file = pytest.fixture(file_fixture)


# ---- files of vectors ----

SPECIAL = np.array(
    [0.0, -0.0, 1 / 3, math.nan, math.inf, -math.inf, 5e-324, -2.2e-308, 1.8e308 / 1.1, 2**53 + 1]
)


#: A quiet NaN with a payload, like R's NA, and a negative NaN.
PAYLOADS = np.array([0x7FF00000000007A2 | 1 << 51, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)


def write_and_read(path, vectors):
    write_vectors(path, vectors)
    return read_vectors(path)


def assert_same_bits(found, expected):
    """Assert equal names, numbers as float64 of equal bytes, and texts as equal lists."""
    assert list(found) == list(expected)
    for name, values in expected.items():
        if isinstance(values, list):
            assert found[name] == values
        else:
            assert found[name].dtype == np.float64
            assert found[name].tobytes() == np.asarray(values).astype(np.float64).tobytes(), name


@pytest.mark.parametrize(
    "values",
    [
        np.array([]),
        SPECIAL,
        PAYLOADS,
        np.arange(10)[::3],
        np.array([True, False]),
        SPECIAL.astype(">f8"),
        np.random.default_rng(1).standard_normal(1_000_000),
    ],
    ids=["empty", "special", "payloads", "strided integers", "booleans", "big-endian", "a million"],
)
def test_numbers_are_read_back_to_the_bit(tmp_path, values):
    vectors = {"before": np.array([1.0]), "x": values, "after": ["text"]}
    assert_same_bits(write_and_read(tmp_path / "f", vectors), vectors)


def test_texts_are_read_back(tmp_path):
    texts = ["", "plain", "Größe ≥ ½ 日本 🎲", "two\nlines\ttab", "\x01\x7f", "a" * 100_000]
    vectors = {"what": ["hello"], "ünï": texts, "only empty": ["", ""]}
    assert_same_bits(write_and_read(tmp_path / "f", vectors), vectors)


def test_no_vectors_are_an_empty_file(tmp_path):
    assert write_and_read(tmp_path / "f", {}) == {}
    assert (tmp_path / "f").read_bytes() == b""


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


vector = st.one_of(st.lists(st.floats()).map(np.array), st.lists(text, min_size=1))


@given(st.dictionaries(text, vector))
def test_whatever_is_written_is_read(tmp_path_factory, vectors):
    vectors = {name: np.asarray(v, dtype=float) if len(v) == 0 else v for name, v in vectors.items()}
    assert_same_bits(write_and_read(tmp_path_factory.getbasetemp() / "written", vectors), vectors)


def test_a_failed_write_leaves_the_file_unchanged(tmp_path):
    path = tmp_path / "f"
    write_vectors(path, {"x": [1.0]})
    with pytest.raises(TypeError):
        write_vectors(path, {"x": [2.0], "y": [object()]})
    assert read_vectors(path)["x"].tolist() == [1.0]


def assert_refused_or_read(folder, data):
    """Read what may not be a file of vectors: it is refused with an `ExchangeError`, or vectors are read."""
    path = folder / "bytes"
    path.write_bytes(data)
    try:
        vectors = read_vectors(path)
    except ExchangeError:
        return None
    for values in vectors.values():
        assert isinstance(values, np.ndarray) or all(isinstance(value, str) for value in values)
    return vectors


def test_a_truncated_file_is_refused_or_ends_between_vectors(tmp_path):
    path = tmp_path / "whole"
    write_vectors(path, {"x": SPECIAL, "t": ["ä", ""], "e": []})
    data = path.read_bytes()
    whole = [
        found
        for end in range(len(data))
        if (found := assert_refused_or_read(tmp_path, data[:end])) is not None
    ]
    assert [list(found) for found in whole] == [[], ["x"], ["x", "t"]]


def head(kind, size):
    return b"x\0" + kind + b"\0" + struct.pack("<d", size)


@pytest.mark.parametrize(
    "size", [-1.0, -1e300, math.nan, math.inf, 2.0, 2.0**31, 2.0**60, 2.0**61, 2.0**64, 1e300]
)
@pytest.mark.parametrize("kind", [b"numbers", b"texts"])
def test_an_invalid_size_is_refused_without_allocating_it(tmp_path, kind, size):
    path = tmp_path / "f"
    path.write_bytes(head(kind, size) + b"12345678")
    tracemalloc.start()
    try:
        with pytest.raises(ExchangeError, match=r"^not a file of vectors, from byte \d+ on: "):
            read_vectors(path)
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [head(b"numerals", 1) + b"12345678", head(b"", 0), head(b"numbers", 0.5)],
    ids=["unknown kind", "no kind", "half a number"],
)
def test_anything_else_is_refused(tmp_path, data):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(ExchangeError, match="not a file of vectors"):
        read_vectors(tmp_path / "f")


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_read(tmp_path_factory, data):
    assert_refused_or_read(tmp_path_factory.getbasetemp(), data)


@given(st.sampled_from([b"numbers", b"texts", b"what"]), st.integers(0, 2**64 - 1), st.binary(max_size=60))
def test_random_sizes_are_refused_or_read(tmp_path_factory, kind, size, data):
    random_bytes = b"x\0" + kind + b"\0" + size.to_bytes(8, "little") + data
    assert_refused_or_read(tmp_path_factory.getbasetemp(), random_bytes)


@given(st.data())
def test_a_changed_byte_is_refused_or_read(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    write_vectors(folder / "sound", {"x": SPECIAL, "t": ["ä", ""], "e": []})
    changed = bytearray((folder / "sound").read_bytes())
    changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    assert_refused_or_read(folder, bytes(changed))


ECHO = "answer <- function(what, ...) list(...)\n"


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.parametrize("way", ["Rscript", "rpy2"])
def test_r_returns_every_bit(tmp_path, request, way):
    """Through a script of base R, and through rpy2; also a million rows."""
    program = [sys.executable, "-m", "scorereport.reference.worker"]
    if way == "Rscript":
        program = [request.getfixturevalue("rscript"), str(R_CODE / "serve.R")]
    else:
        request.getfixturevalue("r_package")
    source = tmp_path / "echo.R"
    source.write_text(ECHO)
    rng = np.random.default_rng(2)
    few = {"x": SPECIAL, "na": PAYLOADS, "none": np.array([]), "t": ["plain", "", "Größe ≥ ½ 日本 🎲"]}
    many = {"x": rng.standard_normal(1_000_000), "bits": rng.integers(2**52, size=1_000_000).view(np.float64)}
    with Session(program, [source], time_limit=PATIENCE) as session:
        for vectors in (few, many, {"x": np.array([1.5])}):
            answer = session.ask("echo", **vectors)
            assert_same_bits({name: answer[name] for name in vectors}, vectors)


# ---- a process of its own ----

PRELUDE = r"""
import os, pathlib, signal, struct, subprocess, sys, time
folder, token = pathlib.Path(sys.argv[1]), sys.argv[2]
ANSWER = b"x\0numbers\0" + struct.pack("<dd", 1, 1.5)
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
def announce(number):
    say(f"\n{token} {number}\n")
def leave(number, data=ANSWER):
    (folder / f"{number}.answer").write_bytes(data)
def chatter():
    for stream in (sys.stdout, sys.stderr):
        stream.write("nonsense " * 1000 + "\n" + "short lines\n" * 80_000)
        stream.flush()
def serve():
    for line in sys.stdin:
        leave(line.strip())
        announce(line.strip())
"""


#: Seconds that a process is given to end by itself.
GRACE = "scorereport.reference.r_session._GRACE"


def start(body, time_limit=PATIENCE):
    """Start a small program in place of R."""
    return Session([sys.executable, "-I", "-S", "-c", PRELUDE + body], [], time_limit=time_limit)


def assert_fails(body, sentence, time_limit=PATIENCE, within=30.0):
    """Assert that a question fails soon with the sentence, and leaves no process."""
    began = time.monotonic()
    with pytest.raises(ReferenceFailure, match=sentence), start(body, time_limit) as session:
        session.ask("hello", x=[1.0])
    assert time.monotonic() - began < within
    assert left_running(MARK) == []


def assert_answers(session, times=1):
    for _ in range(times):
        assert session.ask("hello", x=np.arange(5.0))["x"].tolist() == [1.5]


def test_a_session_answers_and_leaves_nothing(temporary):
    with start("serve()") as session:
        assert_answers(session, 50)
        (folder,) = temporary.iterdir()
        assert [path.name for path in folder.iterdir()] == [MARKER]
    assert list(temporary.iterdir()) == []


def test_output_before_an_answer_is_ignored():
    with start(
        "chatter()\nfor line in sys.stdin:\n chatter(); leave(line.strip()); announce(line.strip())"
    ) as session:
        assert_answers(session, 3)


def test_output_after_an_answer_is_ignored_and_costs_no_time(monkeypatch):
    """Neither the next question nor closing waits for output that is not read."""
    monkeypatch.setattr(GRACE, 60.0)
    began = time.monotonic()
    with start("for line in sys.stdin:\n leave(line.strip()); announce(line.strip()); chatter()") as session:
        assert_answers(session, 3)
    assert time.monotonic() - began < 30


def test_a_killed_process_is_a_sentence():
    with start("time.sleep(1000)") as session:
        killer = Timer(0.3, os.kill, (session.process_id, signal.SIGKILL))
        killer.start()
        with pytest.raises(ReferenceFailure, match=r"^R was ended by signal 9 \(SIGKILL\)\.$"):
            session.ask("hello")
        with pytest.raises(ReferenceFailure, match=r"^R was ended by signal 9 \(SIGKILL\)\.$"):
            session.ask("hello again")
        killer.join()


@pytest.mark.parametrize(
    ("death", "sentence"),
    [
        ("signal.SIGSEGV", r"^R was ended by signal 11 \(SIGSEGV\)\. Its last output: alas$"),
        ("signal.SIGABRT", r"^R was ended by signal 6 \(SIGABRT\)\. Its last output: alas$"),
        ("40", r"^R was ended by signal 40\b.* Its last output: alas$"),
    ],
)
def test_a_crash_is_a_sentence(death, sentence):
    assert_fails(f"say('alas\\n'); os.kill(os.getpid(), {death})", sentence)


@pytest.mark.parametrize("question", ["sys.stdin.readline(); ", ""])
def test_an_early_exit_is_a_sentence_with_the_last_output(question):
    body = (
        f"{question}say('ignored\\n' * 50); print('not', file=sys.stderr); say('found: libR.so'); os._exit(3)"
    )
    assert_fails(
        body,
        r"^R ended with exit code 3 before it answered\. Its last output: (ignored )+not found: libR\.so$",
    )


def test_the_last_output_is_reported_after_an_exit_before_the_question():
    """As if a library of R is missing: the question is not read any more."""
    with start("say('alas\\n'); os._exit(3)") as session:
        stat = Path(f"/proc/{session.process_id}/stat")
        wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z")
        with pytest.raises(ReferenceFailure, match=r"^R ended with exit code 3 .*\. Its last output: alas$"):
            session.ask("hello")


def test_the_last_output_is_short_and_safe_for_a_terminal():
    """No escape sequences, no bells, no carriage returns, no bytes that are not text."""
    output = r"b'\x1b[2J\x1b]0;title\x07 over\rwritten \xff\xfe\x00 ' + b'x' * 5000 + b' end\x1b[31m\n'"
    with pytest.raises(ReferenceFailure) as failure, start(f"os.write(1, {output}); os._exit(1)") as session:
        session.ask("hello")
    sentence = str(failure.value)
    assert sentence.startswith("R ended with exit code 1 before it answered. Its last output: ")
    assert len(sentence) < 500
    assert sentence.isprintable(), sentence


def test_a_refusal_is_safe_for_a_terminal():
    output = r"b'error\0texts\0' + struct.pack('<d', 1) + b'\x1b[31mno\x07 such\nthing\0'"
    with (
        pytest.raises(ReferenceFailure, match=r"^R refused: ") as failure,
        start(f"sys.stdin.readline(); leave(1, {output}); announce(1); time.sleep(9)") as session,
    ):
        session.ask("hello")
    assert str(failure.value).isprintable(), str(failure.value)


def test_names_and_texts_of_an_answer_are_safe_for_a_terminal():
    """They may become the reason why a band or a number could not be compared."""
    output = r"b'\x1b[31mx\0texts\0' + struct.pack('<d', 2) + b'\x1b[31mno\x07\0a\xe2\x80\xae\nb\0'"
    with start(f"sys.stdin.readline(); leave(1, {output}); announce(1); serve()") as session:
        assert session.ask("hello") == {"[31mx": ["[31mno", "a b"]}


def test_a_refusal_does_not_end_the_session():
    refusal = r"b'error\0texts\0' + struct.pack('<d', 1) + b'no\0'"
    with start(f"sys.stdin.readline(); leave(1, {refusal}); announce(1); serve()") as session:
        with pytest.raises(ReferenceFailure, match=r"^R refused: no$") as failure:
            session.ask("hello")
        assert failure.value.answer == {"error": ["no"]}
        assert_answers(session)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    "body",
    [
        "sys.stdin.readline(); time.sleep(1000)",
        "time.sleep(1000)",
        "subprocess.Popen(['sleep', '1000']); subprocess.run(['sleep', '1000'])",
        "subprocess.Popen(['sleep', '1000']); os._exit(0)",
        "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(1000)",
        "while True: say('y\\n' * 1000)",
        "say('half a line'); time.sleep(1000)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["silent", "never reads", "children", "outlived", "stubborn", "chatters", "half a line", "stopped"],
)
def test_a_hang_ends_at_the_time_limit_with_all_children(body):
    assert_fails(body, LATE, time_limit=1.0)


CLOSED = r"^R closed its output without an answer\.$"


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("time_limit", "grace", "sentence"), [(1, 2.0, f"{CLOSED}|{LATE}"), (PATIENCE, 0.2, CLOSED)]
)
def test_a_closed_output_is_a_sentence(monkeypatch, time_limit, grace, sentence):
    """The time limit may be reached during the wait for the process to end; it did not crash."""
    monkeypatch.setattr(GRACE, grace)
    assert_fails("os.close(1); os.close(2); time.sleep(1000)", sentence, time_limit)


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            "leave(1, os.urandom(1000))",
            r"^R answered with something other than numbers \(not a file of vectors",
        ),
        ("leave(1, ANSWER[:-1])", r"^R answered with something other than numbers \(not a file of vectors"),
        ("pass", NO_FILE),
        ("(folder / '1.answer').mkdir()", "Is a directory"),
    ],
    ids=["garbage", "truncated", "no file", "a folder"],
)
def test_an_invalid_answer_is_a_sentence(what, sentence):
    """The problem is reported at once; the message does not claim that R died or closed anything."""
    with start(f"sys.stdin.readline(); {what}; announce(1); serve()") as session:
        began = time.monotonic()
        with pytest.raises(ReferenceFailure, match=sentence) as failure:
            session.ask("hello")
        assert time.monotonic() - began < 30
    assert not re.search("died|closed|ended", str(failure.value))


def test_an_empty_answer_has_no_vectors():
    with start("sys.stdin.readline(); leave(1, b''); announce(1); serve()") as session:
        assert session.ask("hello") == {}
        assert_answers(session)


def test_a_request_that_cannot_be_written_is_a_sentence(temporary):
    """As on a full disk, or after the temporary files were removed."""
    with start("serve()") as session:
        assert_answers(session)
        shutil.rmtree(next(temporary.iterdir()))
        began = time.monotonic()
        with pytest.raises(ReferenceFailure, match="No such file or directory"):
            session.ask("hello")
        assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "line",
    [
        r"\n{token} 2\n\n{token} 1\n",
        r"\n{token} 0\n\n{token}\n\n0 1\n\n{token} 1\n",
        r"glued{token} 1\n\n{token} 1 glued\n\n{token} 1\n",
        r"glued to it without end\n{token} 1\n",
        r"\n{token} 1\r\n",
        r"\n{token} 1\nglued after it",
        r"\0\n{token} 1\n",
    ],
)
def test_only_its_own_line_announces_an_answer(line):
    with start(f"sys.stdin.readline(); leave(1); say(f'{line}'); serve()") as session:
        assert_answers(session, 3)


def test_an_answer_that_is_not_announced_by_a_line_is_ignored():
    assert_fails("leave(1); say(f'glued{token} 1\\n'); time.sleep(1000)", LATE, time_limit=1.0)


@pytest.mark.parametrize("kind", ["missing", "not executable", "no program", "a folder"])
def test_a_program_that_cannot_be_started_is_a_sentence(tmp_path, temporary, kind):
    program = tmp_path / "Rscript"
    if kind == "a folder":
        program.mkdir()
    elif kind != "missing":
        program.write_bytes(b"\x7fELF, or not")
        program.chmod(0o755 if kind == "no program" else 0o644)
    with pytest.raises(ReferenceFailure, match=r"^R could not be started: \[Errno \d+\] .*Rscript'\.$"):
        Session([str(program)], [], time_limit=5)
    assert list(temporary.iterdir()) == []


def test_a_session_can_be_closed_twice_and_after_death():
    session = start("serve()")
    assert_answers(session)
    session.close()
    session.close()
    never_asked = start("serve()")
    never_asked.close()
    dead = start("os._exit(1)")
    with pytest.raises(ReferenceFailure, match=r"^R ended with exit code 1 before it answered\."):
        dead.ask("hello")
    dead.close()
    dead.close()


def test_closing_ends_a_process_that_does_not_read(temporary, monkeypatch):
    monkeypatch.setattr(GRACE, 0.2)
    session = start("subprocess.Popen(['sleep', '1000']); time.sleep(1000)")
    session.close()
    assert list(temporary.iterdir()) == []
    assert left_running(MARK) == []


def test_an_interrupt_while_closing_leaves_no_process_and_no_folder(temporary, monkeypatch):
    monkeypatch.setattr(GRACE, 1000.0)
    session = start("subprocess.Popen(['sleep', '1000']); time.sleep(1000)")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            session.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert list(temporary.iterdir()) == []
    assert left_running(MARK) == []


def test_closing_ends_what_a_process_left_running():
    with start("subprocess.Popen(['sleep', '1000']); serve()") as session:
        assert_answers(session)
    assert left_running(MARK) == []


@pytest.mark.parametrize("time_limit", [1e7, 1e10, 1e300])
def test_a_limit_beyond_all_clocks_means_no_limit(time_limit):
    with start("serve()", time_limit) as session:
        assert_answers(session, 2)


def test_r_is_in_a_folder_of_its_own_and_out_of_reach_of_ctrl_c(temporary):
    with start("serve()") as session:
        assert_answers(session)
        where = Path(os.readlink(f"/proc/{session.process_id}/cwd"))
        assert where.parent == temporary
        assert os.getsid(session.process_id) == session.process_id != os.getsid(0)


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from scorereport.reference.r_session import Session
program = ["sh", "-c", "sleep 1000 & read it; echo > ../ready; sleep 1000"]
with Session(program, [], time_limit=100) as session:
    session.ask("hello")
"""


def test_ctrl_c_leaves_no_process_and_no_folder(temporary):
    code, out, err = interrupt([sys.executable, "-c", INTERRUPTED], (temporary / "ready").exists)
    assert code == -signal.SIGINT
    assert out == ""
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    assert left_running(MARK) == []
    assert [file.name for file in temporary.iterdir()] == ["ready"]


INTERRUPTED_OFTEN = """
import os, signal, threading
from scorereport.reference.r_session import ReferenceFailure, Session
signal.signal(signal.SIGALRM, signal.default_int_handler)
for moment in range(40, 0, -1):
    try:
        with Session(["sh", "-c", "cat > /dev/null"], [], time_limit=2) as session:
            signal.setitimer(signal.ITIMER_REAL, moment * 1e-5)
            session.ask("hello")
    except (KeyboardInterrupt, ReferenceFailure):  # Python may overlook an interrupt right before it waits
        pass
    except RuntimeError as error:  # inside Python's own threading an interrupt may release a lock twice
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
waiting = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
print(sum(not thread.daemon and not thread.finished.is_set() for thread in waiting), flush=True)
os._exit(0)
"""


def test_an_interrupt_at_any_moment_of_a_question_leaves_no_watchdog():
    """A watchdog that is left would keep the program from ending until the time limit."""
    program = [sys.executable, "-c", INTERRUPTED_OFTEN]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("0\n", "")


ABANDONED = """
import sys
from scorereport.reference.r_session import Session
session = Session(sys.argv[1:4], sys.argv[4:], time_limit=100)
session.ask("hello")
open("ready", "w").close()
session.ask("wait")
"""


@pytest.mark.sweep
@pytest.mark.r
def test_r_ends_after_its_parent(tmp_path, monkeypatch, rscript, temporary):
    """Even if its parent is killed, R runs no longer than its answer takes."""
    source = tmp_path / "slow.R"
    source.write_text('answer <- function(what, ...) { if (what == "wait") Sys.sleep(1); list(x = 1) }')
    monkeypatch.chdir(tmp_path)
    program = [
        sys.executable,
        "-c",
        ABANDONED,
        rscript,
        "--no-init-file",
        str(R_CODE / "serve.R"),
        str(source),
    ]
    code, _, _ = interrupt(program, (tmp_path / "ready").exists, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert left_running(MARK) == []
    shutil.rmtree(next(temporary.glob("scorereport-r-*")))  # its owner was killed


@pytest.mark.r
def test_a_killed_r_leaves_no_files_of_its_own(tmp_path, rscript, temporary):
    """R has a folder for temporary files, which it removes only if it ends by itself."""
    source = tmp_path / "hang.R"
    source.write_text(
        'answer <- function(what, ...) { if (what == "hang") Sys.sleep(1000); list(where = tempdir()) }'
    )
    with Session([rscript, str(R_CODE / "serve.R")], [source], time_limit=PATIENCE) as session:
        assert Path(session.ask("hello")["where"][0]).is_relative_to(temporary)
        killer = Timer(0.2, os.kill, (session.process_id, signal.SIGKILL))
        killer.start()
        with pytest.raises(ReferenceFailure, match=r"^R was ended by signal 9 \(SIGKILL\)\.$"):
            session.ask("hang")
        killer.join()
    assert list(temporary.iterdir()) == []
