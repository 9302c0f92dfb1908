"""Reports rendered by a process beside this one: the same bytes, whatever happens to that process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest
from process_tools import is_running, record_copies

import scorereport as sr
from scorereport._utils.files import TemporaryFolder
from scorereport._utils.process_copies import copy_process
from scorereport._utils.processes import Stopped, stopped_by_signals
from scorereport.errors import UsageError
from scorereport.report import page_process, renderer
from scorereport.report.page_process import order_pages, preparing_pages, rendering_ahead
from scorereport.report.renderer import Renderer
from scorereport.report.report_output import prepare_report, write_pages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems render in one process")
HERE = os.getpid()
FORMS = (".html", ".json", ".pdf")


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "2")
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of the test runner hold no lock


@pytest.fixture
def processes(monkeypatch):
    return record_copies(monkeypatch, page_process)


@pytest.fixture(scope="module")
def report():
    evaluation = sr.evaluate([0, 1, 1, 0] * 5, {"model": [0.2, 0.7, 0.8, 0.4] * 5}, resamples=0)
    return prepare_report(evaluation, None, None)


@pytest.fixture
def tell_process(monkeypatch):
    """Contents that tell whether they were rendered in this process."""

    def render(_self, ending):
        return f"{ending} {'here' if os.getpid() == HERE else 'there'}".encode()

    monkeypatch.setattr(Renderer, "render", render)
    monkeypatch.setattr(renderer, "load_renderer", lambda: None)


def read(paths):
    return [path.read_text(encoding="utf-8") for path in paths]


def name_files(folder):
    return [folder / f"r{ending}" for ending in (".pdf", *FORMS[:2])]


@pytest.mark.usefixtures("tell_process")
def test_all_files_of_a_report_are_rendered_by_one_process(processes, report, tmp_path):
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        announced = []
        write_pages(report, paths, announce=announced.append)
    assert read(paths) == [".pdf there", ".html there", ".json there"]
    assert [path.suffix for path in announced] == [".html", ".json", ".pdf"]
    assert len(processes) == 1
    assert not is_running(processes[0])


def test_the_page_of_the_process_is_the_same_bytes(processes, report, tmp_path):
    here, there = tmp_path / "here.html", tmp_path / "there.html"
    write_pages(report, [here])
    with preparing_pages([there]):
        write_pages(report, [there])
    assert len(processes) == 1
    assert there.read_bytes() == here.read_bytes()


@pytest.mark.usefixtures("tell_process")
def test_no_process_is_started_for_files_without_figures(processes, report, tmp_path):
    with preparing_pages([tmp_path / "r.json"]):
        write_pages(report, [tmp_path / "r.json"])
    assert read([tmp_path / "r.json"]) == [".json here"]
    assert processes == []


@pytest.mark.usefixtures("tell_process")
def test_something_else_is_done_while_the_process_renders(report, tmp_path):
    path, seen = tmp_path / "r.html", []
    with preparing_pages([path]):
        write_pages(report, [path], meanwhile=lambda: seen.append(path.exists()))
    assert seen == [False]
    assert read([path]) == [".html there"]


@pytest.mark.usefixtures("tell_process")
def test_a_format_is_rendered_and_signed_once_for_two_files(report, tmp_path):
    paths, signed = [tmp_path / "a.pdf", tmp_path / "b.pdf"], []
    with preparing_pages(paths):
        write_pages(report, paths, sign=lambda content: signed.append(content) or b"signed " + content)
    assert read(paths) == ["signed .pdf there"] * 2
    assert signed == [b".pdf there"]


@pytest.mark.usefixtures("tell_process")
def test_a_second_report_is_rendered_here(report, tmp_path):
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        write_pages(report, paths)
        write_pages(report, paths)
    assert read(paths) == [".pdf here", ".html here", ".json here"]


@pytest.mark.usefixtures("tell_process")
def test_what_cannot_be_sent_is_rendered_here(report, tmp_path):
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        write_pages(report, paths, templates=_NotSent("x"))
    assert read(paths) == [".pdf here", ".html here", ".json here"]


class _NotSent(str):
    __slots__ = ()

    def __reduce__(self):
        raise TypeError("cannot be sent")


@pytest.mark.usefixtures("tell_process")
def test_what_a_process_does_not_render_is_rendered_here(report, tmp_path, monkeypatch):
    render = Renderer.render

    def end_at_pdf(self, ending):
        if os.getpid() != HERE and ending == ".pdf":
            os._exit(1)
        return render(self, ending)

    monkeypatch.setattr(Renderer, "render", end_at_pdf)
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        write_pages(report, paths)
    assert read(paths) == [".pdf here", ".html there", ".json there"]


@pytest.mark.usefixtures("tell_process")
def test_a_process_that_is_killed_is_replaced_by_this_one(processes, report, tmp_path):
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        os.kill(processes[0], signal.SIGKILL)
        write_pages(report, paths)
    assert read(paths) == [".pdf here", ".html here", ".json here"]
    assert not is_running(processes[0])


def test_errors_are_raised_here(report, tmp_path, monkeypatch):
    def fail(_self, _ending):
        raise UsageError("no Pango")

    monkeypatch.setattr(Renderer, "render", fail)
    paths = name_files(tmp_path)
    with preparing_pages(paths), pytest.raises(UsageError, match=r"^no Pango$"):
        write_pages(report, paths)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("tell_process")
def test_a_system_that_refuses_processes_renders_here(report, tmp_path, monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(page_process, "copy_process", refuse)
    paths = name_files(tmp_path)
    with preparing_pages(paths):
        write_pages(report, paths)
    assert read(paths) == [".pdf here", ".html here", ".json here"]


@pytest.mark.parametrize(
    ("threads", "active", "expected"), [("2", 1, True), ("1", 1, False), ("2", 2, False)]
)
def test_no_process_is_started_beside_other_threads_or_for_one_thread(
    threads, active, expected, monkeypatch, processes
):
    monkeypatch.setenv("SCOREREPORT_THREADS", threads)
    monkeypatch.setattr(threading, "active_count", lambda: active)
    with rendering_ahead():
        assert bool(processes) is expected


def test_without_a_process_nothing_is_rendered_ahead(report):
    assert list(order_pages(report, None, [".json"])) == []


def test_an_error_in_the_block_ends_the_process(processes):
    with pytest.raises(KeyError), rendering_ahead():
        raise KeyError
    assert not is_running(processes[0])


@pytest.mark.parametrize("make", [TemporaryFolder, tempfile.mkdtemp, tempfile.mkstemp])
def test_temporary_files_of_a_process_are_removed_with_it(report, tmp_path, monkeypatch, make):
    """Also files of libraries, and folders without the marker of their process."""

    def work_with_files(_self, _ending):
        made = make()
        (tmp_path / "begun").touch()
        time.sleep(60)
        return made

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Renderer, "render", work_with_files)
    monkeypatch.setattr(renderer, "load_renderer", lambda: None)
    with rendering_ahead():
        answers = order_pages(report, None, [".pdf"])
        waited = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < waited:
            time.sleep(0.01)
        (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
        assert len(list(folder.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]
    assert list(answers) == []


def test_a_copy_does_not_search_for_the_temporary_folder(monkeypatch, tmp_path):
    """It may be killed at any time, and the search leaves a file for a moment."""
    monkeypatch.setattr("tempfile.tempdir", None)
    number = copy_process()
    if not number:
        (tmp_path / "found").write_text(str(tempfile.tempdir))
        os._exit(0)
    os.waitpid(number, 0)
    assert (tmp_path / "found").read_text() == tempfile.gettempdir()


def test_a_system_without_a_temporary_folder_renders_here(tmp_path, monkeypatch, processes):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with rendering_ahead():
        assert processes == []


def test_a_block_without_a_process_of_its_own_uses_that_of_the_outer_block(processes, monkeypatch):
    with rendering_ahead():
        monkeypatch.setenv("SCOREREPORT_THREADS", "1")
        outer = page_process._started.get()
        with rendering_ahead():
            assert page_process._started.get() is outer
        assert outer is not None
    assert page_process._started.get() is None
    assert len(processes) == 1


def test_a_signal_while_the_process_is_started_ends_it(processes, monkeypatch):
    start = page_process._PageProcess.start

    def start_slowly():
        started = start()
        signal.raise_signal(signal.SIGTERM)
        return started

    monkeypatch.setattr(page_process._PageProcess, "start", start_slowly)
    with pytest.raises(Stopped, match="143"), stopped_by_signals(), rendering_ahead():
        raise AssertionError("the signal was lost")
    assert not is_running(processes[0])


ORPHAN = """
import os, sys, time
from scorereport.report import page_process
fork = page_process.copy_process
def record():
    number = fork()
    if number:
        print(number, flush=True)
    return number
page_process.copy_process = record
with page_process.rendering_ahead():
    time.sleep(60)
"""


@pytest.mark.sweep
def test_the_process_ends_when_this_one_is_killed():
    environment = {**os.environ, "SCOREREPORT_THREADS": "2"}
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment) as process:
        number = int(process.stdout.readline())
        process.kill()
    waited = time.monotonic() + 120  # it loads Matplotlib first
    while is_running(number) and time.monotonic() < waited:
        time.sleep(0.02)
    assert not is_running(number)


REPORT = """
import os, sys
from scorereport.cli import main
from scorereport.report import renderer
load, before = renderer.Renderer.render, os.getpid()
def render(self, ending):
    with open("where.txt", "a") as file:
        file.write("here\\n" if os.getpid() == before else "there\\n")
    return load(self, ending)
renderer.Renderer.render = render
options = ["--outcome", "y", "--forecast", "p", "--date", "2026-11-01"]
sys.argv[1:] = ["report", "rows.csv", *options, *sys.argv[1:]]
main()
"""


@pytest.mark.sweep
def test_the_command_writes_the_same_page_with_and_without_processes(tmp_path):
    rows = "".join(f"{k % 3 % 2},{(k * 7 % 19 + 1) / 20}\n" for k in range(60))
    (tmp_path / "rows.csv").write_text(f"y,p\n{rows}", encoding="utf-8")
    pages = []
    place = os.pathsep.join(filter(None, sys.path))
    runs = (("1", "here", []), ("2", "there", ["--quiet"]), ("2", "there", []))  # shown progress has a thread
    for threads, where, options in runs:
        environment = {**os.environ, "SCOREREPORT_THREADS": threads, "PYTHONPATH": place}
        command = [sys.executable, "-c", REPORT, "-o", "r.html", *options]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        pages.append((tmp_path / "r.html").read_bytes())
        assert (tmp_path / "where.txt").read_text(encoding="utf-8").split() == [where]
        (tmp_path / "where.txt").unlink()
    assert pages[0] == pages[1] == pages[2]
