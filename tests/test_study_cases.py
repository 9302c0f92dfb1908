"""Seeded cases that several R processes answer: the same results however they are run, ended or continued."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import REPOSITORY

from scorereport._utils import json_documents
from scorereport.errors import UsageError
from scorereport.reference.comparison_records import Comparison, Verdict, compare_numbers
from scorereport.reference.live_references import BASE, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.reference_documents import Study, StudySection
from scorereport.study import case_records, case_summary, case_workers, r_comparison
from scorereport.study.case_records import CaseRecords, describe_run, remove_case_records
from scorereport.study.case_summary import CaseSummary, merge_summaries, summarise_case
from scorereport.study.case_workers import StudyWorkers
from scorereport.study.r_comparison import LiveCases, LiveComparison
from scorereport.study.seeded_cases import MILLION, MIXTURE, draw_case, draw_cases, number_cases
from validation.study_page import render_study_page

SEED = 5


# ---- Cases ----


def test_a_case_depends_on_its_number_and_the_seed_only():
    cases = list(draw_cases(40, SEED))
    for number in (39, 0, 17):
        case = draw_case(number, SEED)
        assert (case.name, case.shape) == (cases[number].name, cases[number].shape)
        np.testing.assert_array_equal(case.y_prob, cases[number].y_prob)
        np.testing.assert_array_equal(case.y_true, cases[number].y_true)
    assert not np.array_equal(draw_case(3, SEED).y_prob, draw_case(3, SEED + 1).y_prob)


def test_more_cases_begin_with_the_same_ones():
    assert number_cases(120)[:-1] == number_cases(10_000)[:119]
    assert number_cases(120)[-1] == number_cases(10_000)[-1] == MILLION


def test_shapes_and_sizes_of_later_cases_are_drawn():
    cases = [draw_case(number, SEED) for number in range(300, 420)]
    assert {case.shape for case in cases} >= {MIXTURE, "continuous", "two rows", "float32"}
    assert len({case.name for case in cases}) == len(cases)
    assert len({len(case.y_true) for case in cases}) > 60
    for case in cases:
        assert len(case.y_true) == len(case.y_prob)
        assert ((case.y_prob >= 0) & (case.y_prob <= 1)).all()
        assert set(np.unique(case.y_true)) <= {0.0, 1.0}


# ---- Summaries ----


def make_lines(number):
    """Lines of a case: numbers with many ties, an expected deviation in some, an infinite score in one."""
    gap = (0, 1e-14, 3e-14)[number % 3]
    lines = [compare_numbers(f"case {number}", "mean", 0.5, 0.5 + gap), compare_numbers("", "AUC", 1.0, 1.0)]
    if number % 4 == 0:
        expected = Comparison(subject="", quantity="level", verdict=Verdict.EXPECTED, reason="It says 0.9.")
        lines.append(expected)
    if number == 7:
        lines.append(compare_numbers("case 7", "log score", math.inf, math.inf))
    return lines


def summarise(number):
    return summarise_case(draw_case(number, SEED), number, make_lines(number))


def test_merging_does_not_depend_on_the_order():
    summaries = [summarise(number) for number in (0, 7, 11, 12, 3)]
    found = {json_documents.dump(merge_summaries(order)) for order in permutations(summaries)}
    assert len(found) == 1
    nested = merge_summaries([merge_summaries(summaries[:2]), merge_summaries(summaries[2:])])
    assert json_documents.dump(nested) in found


def test_a_summary_holds_the_worst_and_the_counts():
    summary = merge_summaries(summarise(number) for number in range(24))
    lines = {line.quantity: line for line in summary.describe() if line.subject == "All shapes"}
    assert lines["mean"].difference == 0.5 + 3e-14 - 0.5
    assert lines["mean"].reason == "24 cases"
    assert lines["level"].reason == "6 cases. It says 0.9."
    assert lines["log score"].reason == "1 case"
    shapes = {line.quantity: line for line in summary.describe() if line.subject == "Shapes"}
    sizes = [len(draw_case(number, SEED).y_true) for number in (0, 11, 22)]
    assert shapes["continuous"].reason == (
        f"6 lines of 3 cases, {min(sizes):,} to {max(sizes):,} rows. The worst: mean"
    )
    assert summary.cases == 24


def test_a_summary_reads_back_equal():
    summary = merge_summaries(summarise(number) for number in range(9))
    assert json_documents.load(CaseSummary, json_documents.dump(summary), "summary") == summary


def test_unexpected_lines_are_kept_up_to_a_number(monkeypatch):
    monkeypatch.setattr(case_summary, "MOST_UNEXPECTED", 3)
    broken = [
        summarise_case(draw_case(n, SEED), n, [compare_numbers(f"case {n}", "mean", 0.0, 1.0)])
        for n in range(5)
    ]
    for order in (broken, broken[::-1]):
        *first, rest = [line for line in merge_summaries(order).describe() if line.is_unexpected]
        assert [line.subject for line in first] == ["case 0", "case 1", "case 2"]
        assert rest.reason == "There are 2 more unexpected lines, which are not listed."


# ---- Records of finished cases ----


@pytest.fixture
def written(tmp_path):
    summary = merge_summaries(summarise(number) for number in range(4))
    with CaseRecords(tmp_path, "base", {"seed": 1}) as records:
        records.add("0-3", summary)
        records.add("4-7", summary)
    return SimpleNamespace(folder=tmp_path, path=tmp_path / "validation-cases.base.partial", summary=summary)


def read(folder, settings):
    with CaseRecords(folder, "base", settings) as records:
        return list(records.read())


def test_finished_batches_are_read_back(written):
    assert read(written.folder, {"seed": 1}) == [("0-3", written.summary), ("4-7", written.summary)]


@pytest.mark.parametrize("removed", [1, 40, 400])
def test_a_line_that_was_not_written_to_its_end_is_dropped(written, removed):
    content = written.path.read_bytes()
    written.path.write_bytes(content[:-removed])
    assert [name for name, _ in read(written.folder, {"seed": 1})] == ["0-3"]
    with CaseRecords(written.folder, "base", {"seed": 1}) as records:
        records.add("4-7", written.summary)
    assert written.path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n0-3 {}\n", b"\xff\xfe"])
def test_a_file_of_other_settings_is_replaced(written, content):
    written.path.write_bytes(content)
    assert read(written.folder, {"seed": 1}) == []
    assert read(written.folder, {"seed": 2}) == []
    assert written.path.read_text(encoding="utf-8") == '{"seed": 2}\n'


def test_settings_name_all_that_results_depend_on(monkeypatch):
    settings = describe_run("base", 1, {"R": "4.2.2"})
    assert settings == describe_run("base", 1, {"R": "4.2.2"})
    others = [
        describe_run("reliabilitydiag", 1, {"R": "4.2.2"}),
        describe_run("base", 2, {"R": "4.2.2"}),
        describe_run("base", 1, {"R": "4.5.0"}),
    ]
    monkeypatch.setattr(case_records, "package_version", lambda: "99")
    others.append(describe_run("base", 1, {"R": "4.2.2"}))
    assert settings not in others


def test_changed_code_is_compared_again(monkeypatch, tmp_path):
    (tmp_path / "engine.py").write_text("mean = 1\n", encoding="utf-8")
    monkeypatch.setattr(case_records, "_PACKAGE", tmp_path)
    before = describe_run("base", 1, {})
    (tmp_path / "engine.py").write_text("mean = 2\n", encoding="utf-8")
    assert describe_run("base", 1, {}) != before


def test_two_runs_do_not_write_to_one_file(written):
    with (
        CaseRecords(written.folder, "base", {"seed": 1}),
        pytest.raises(
            UsageError,
            match=r"^Another validation study writes to .* at present; choose another folder\.$",
        ),
    ):
        read(written.folder, {"seed": 1})


def test_records_of_a_complete_study_are_removed(written):
    (written.folder / "validation-report.json").touch()
    remove_case_records(written.folder)
    assert [path.name for path in written.folder.iterdir()] == ["validation-report.json"]


# ---- Workers ----


class FakeR:
    """R processes that answer with made-up lines; some cases end the process, or are refused."""

    def __init__(self, *, deadly=(), deaths=1, refused=(), slow=(), seed=SEED):
        self.started, self.ended, self.asked = 0, 0, []
        self.left = dict.fromkeys(deadly, deaths)
        self.refused, self.slow, self.seed = refused, slow, seed

    @contextmanager
    def open(self, hold):
        self.started += 1
        hold(SimpleNamespace(end=self.end))
        yield self

    def end(self):
        self.ended += 1

    def compare(self, case, number, reference, seed):
        assert reference is self
        assert seed == self.seed
        assert case.name == draw_case(number, seed).name
        self.asked.append(number)
        if self.left.get(number, 0) > 0:
            self.left[number] -= 1
            raise ReferenceFailure("R was ended by signal 9 (SIGKILL).")
        if number in self.refused:
            raise ReferenceFailure("R refused: no", {"error": ["no"]})
        if number in self.slow:
            raise ReferenceFailure("R gave no answer within 9 seconds and was ended.", is_late=True)
        return make_lines(number)


@pytest.fixture
def run(monkeypatch):
    def run(fake, batches, workers=2):
        monkeypatch.setattr(case_workers, "compare_case_live", fake.compare)
        found = []
        with StudyWorkers(
            fake.open, batches, SEED, workers, lambda batch, summary: found.append((tuple(batch), summary))
        ) as working:
            counted = len(list(working.wait(sum(map(len, batches)))))
        assert counted == sum(map(len, batches))
        return found

    return run


def batches_of(count, size=3):
    return [list(range(start, min(start + size, count))) for start in range(0, count, size)]


def dump(found):
    return json_documents.dump(merge_summaries(summary for _, summary in found))


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_results_do_not_depend_on_the_number_of_workers(run, workers):
    expected = json_documents.dump(merge_summaries(map(summarise, range(22))))
    found = run(FakeR(), batches_of(22), workers)
    assert dump(found) == expected
    assert sorted(number for batch, _ in found for number in batch) == list(range(22))


def test_a_worker_that_died_is_replaced_and_its_case_asked_again(run):
    fake = FakeR(deadly=(4, 9))
    found = run(fake, batches_of(12), workers=1)
    assert dump(found) == json_documents.dump(merge_summaries(map(summarise, range(12))))
    assert fake.started == 3
    assert fake.asked == [0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 9, 10, 11]


def test_a_case_over_which_two_workers_died_is_a_failure(run):
    fake = FakeR(deadly=(4,), deaths=2)
    lines = list(merge_summaries(summary for _, summary in run(fake, batches_of(9), 1)).describe())
    (failed,) = (line for line in lines if line.is_unexpected)
    assert (failed.verdict, failed.subject) == (Verdict.FAILED, draw_case(4, SEED).name)
    assert failed.reason == "Asked twice: R was ended by signal 9 (SIGKILL)."
    assert fake.asked.count(4) == 2


def test_a_case_that_r_refuses_is_a_failure_and_not_asked_again(run):
    fake = FakeR(refused=(5,))
    lines = list(merge_summaries(summary for _, summary in run(fake, batches_of(9), 1)).describe())
    assert [line.reason for line in lines if line.is_unexpected] == ["R refused: no"]
    assert fake.started == 1
    assert fake.asked.count(5) == 1


def test_a_case_that_takes_too_long_is_a_failure_and_not_asked_again(run):
    fake = FakeR(slow=(5,))
    lines = list(merge_summaries(summary for _, summary in run(fake, batches_of(9), 1)).describe())
    (failed,) = (line for line in lines if line.is_unexpected)
    assert failed.reason == "R gave no answer within 9 seconds and was ended."
    assert (fake.started, fake.asked.count(5)) == (2, 1)


def test_r_that_never_answers_stops_the_run(run):
    fake = FakeR(deadly=range(30), deaths=99)
    with pytest.raises(ReferenceFailure, match=r"^R was ended by signal 9 \(SIGKILL\)\.$"):
        run(fake, batches_of(30), 1)
    assert len(fake.asked) == 6  # three cases, each twice


def test_r_that_is_not_there_any_more_stops_the_run(run):
    fake = FakeR()
    fake.open = lambda _: (_ for _ in ()).throw(Unavailable("R is not installed.", ""))
    with pytest.raises(Unavailable, match=r"^R is not installed\.$"):
        run(fake, batches_of(9))


def test_workers_are_replaced_after_some_cases(run, monkeypatch):
    monkeypatch.setattr(case_workers, "_CASES_OF_A_PROCESS", 5)
    fake = FakeR()
    run(fake, batches_of(12), workers=1)
    assert fake.started == 3


def test_workers_are_replaced_after_a_large_case(run, monkeypatch):
    monkeypatch.setattr(case_workers, "_MANY_ROWS", len(draw_case(1, SEED).y_true))
    larger = sum(len(draw_case(n, SEED).y_true) >= len(draw_case(1, SEED).y_true) for n in range(5))
    fake = FakeR()
    run(fake, batches_of(6), workers=1)
    assert fake.started >= larger


def interrupt_when(holds):
    while not holds():
        time.sleep(0.01)
    raise KeyboardInterrupt


def test_an_interrupt_ends_all_workers(monkeypatch):
    fake = FakeR()

    def wait_long(*_):
        while not fake.ended:
            time.sleep(0.01)
        raise ReferenceFailure("R was ended by signal 9 (SIGKILL).")

    monkeypatch.setattr(case_workers, "compare_case_live", wait_long)
    working = StudyWorkers(fake.open, batches_of(9), SEED, 2, lambda *_: pytest.fail("nothing is finished"))
    with pytest.raises(KeyboardInterrupt), working:
        interrupt_when(lambda: fake.started == 2)
    assert fake.ended >= 2
    assert not any(thread.is_alive() for thread in working._threads)


# ---- Runs that continue ----


REFERENCE = SimpleNamespace(kind="base", name="base R", software={"R": "4.2.2"})


def compare(fake, cases, folder, monkeypatch, seed=SEED):
    monkeypatch.setattr(case_workers, "compare_case_live", fake.compare)
    asked = LiveCases(cases=cases, seed=seed, time_limit=60, folder=folder)
    with LiveComparison(REFERENCE, asked, fake.open) as live:
        return live.resumed, live.wait()


def test_an_ended_run_continues_with_the_same_results(monkeypatch, tmp_path):
    _, expected = compare(FakeR(), 57, None, monkeypatch)
    broken = FakeR(deadly=range(34, 57), deaths=99)
    with pytest.raises(ReferenceFailure):
        compare(broken, 57, tmp_path, monkeypatch)
    fake = FakeR()
    resumed, found = compare(fake, 57, tmp_path, monkeypatch)
    assert resumed >= 20
    assert len(fake.asked) == 57 - resumed
    assert json_documents.dump(found) == json_documents.dump(expected)


def test_a_finished_run_asks_nothing_again(monkeypatch, tmp_path):
    _, expected = compare(FakeR(), 25, tmp_path, monkeypatch)
    fake = FakeR()
    assert compare(fake, 25, tmp_path, monkeypatch) == (25, expected)
    assert fake.asked == []


def test_a_run_with_more_cases_continues_one_with_fewer(monkeypatch, tmp_path):
    compare(FakeR(), 40, tmp_path, monkeypatch)
    _, expected = compare(FakeR(), 60, None, monkeypatch)
    resumed, found = compare(FakeR(), 60, tmp_path, monkeypatch)
    assert resumed == 40
    assert found == expected


def test_another_seed_does_not_continue(monkeypatch, tmp_path):
    compare(FakeR(), 20, tmp_path, monkeypatch)
    resumed, found = compare(FakeR(seed=6), 20, tmp_path, monkeypatch, seed=6)
    assert (resumed, found.cases) == (0, 20)


def test_the_million_is_asked_first_and_alone():
    batches = list(r_comparison._make_batches(125))
    assert batches[0] == [MILLION]
    assert [number for batch in batches[1:] for number in batch] == list(range(124))
    assert {len(batch) for batch in batches[1:-1]} == {10}


# ---- With R ----


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("base_r")
def test_killed_processes_of_r_are_replaced(monkeypatch):
    """Each process is killed when it is asked its third case, while it answers or before."""
    sessions = []

    @contextmanager
    def open_deadly(hold):
        with open_reference(BASE, 120, hold) as reference:
            sessions.append(reference.session)
            yield reference

    compare_live, asked = case_workers.compare_case_live, []

    def kill_first(case, number, reference, seed):
        asked.append(number)
        if number in (2, 5) and asked.count(number) == 1:
            os.kill(reference.session.process_id, signal.SIGKILL)
        return compare_live(case, number, reference, seed)

    monkeypatch.setattr(case_workers, "compare_case_live", kill_first)
    with open_reference(BASE, 120) as reference:
        asked_cases = LiveCases(cases=11, seed=3, time_limit=120)
        with LiveComparison(reference, asked_cases, open_deadly) as live:
            summary = live.wait()
    assert (summary.cases, summary.unexpected_count) == (11, 0)
    assert asked.count(2) == asked.count(5) == 2
    assert len(sessions) >= 3


#: A comparison with base R in the folder that is given; it prints the summary.
RUN = """
import sys
from pathlib import Path
from scorereport._utils import json_documents
from scorereport._utils.processes import stopped_by_signals
from scorereport.reference.live_references import open_reference
from scorereport.study.r_comparison import LiveCases, LiveComparison

with stopped_by_signals(), open_reference("base", 120) as reference:
    asked = LiveCases(cases=44, seed=3, time_limit=120, folder=Path(sys.argv[1]))
    with LiveComparison(reference, asked) as live:
        print(json_documents.dump(live.wait()), end="")
        print(live.resumed, file=sys.stderr)
"""


def start(folder):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_batches(folder, count):
    path, limit = folder / "validation-cases.base.partial", time.monotonic() + 120
    while time.monotonic() < limit:
        if path.exists() and path.read_bytes().count(b"\n") > count:
            return
        time.sleep(0.02)
    pytest.fail("no batch was finished")


def list_r_processes(folder):
    """The processes of R whose temporary files are in a folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    found += [entry] * (str(folder).encode() in file.read())
            except OSError:
                continue
    return found


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("base_r")
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are listed in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_run_that_is_killed_or_interrupted_continues(tmp_path, monkeypatch, number, code):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    whole = start(tmp_path / "whole").communicate()[0]
    ended = start(tmp_path)
    wait_for_batches(tmp_path, 2)
    ended.send_signal(number)
    _, errors = ended.communicate(timeout=60)
    assert ended.returncode == code, errors
    if number == signal.SIGINT:
        assert list_r_processes(scratch) == []
        assert list(scratch.iterdir()) == []
    again, resumed = start(tmp_path).communicate()
    assert int(resumed) >= 20
    assert json.loads(again) == json.loads(whole)
    assert again == whole


# ---- The page on a large study ----


def make_study(summary):
    section = StudySection(
        key="base-r", title="base R, live", text="Cases.", comparisons=tuple(summary.describe())
    )
    return Study(
        time="2026-11-19T05:00:00+00:00",
        seed=SEED,
        cases=24,
        software={"scorereport": "1", "R": "4.2.2", "platform": "Linux-x86_64"},
        sections=(section,),
    )


def test_the_page_on_a_study_counts_cases_quantities_and_deviations():
    page = render_study_page(make_study(merge_summaries(summarise(number) for number in range(24))))
    assert "one quantity of one case: 49 agrees; 6 expected deviation. Unexpected: 0." in page
    assert "It ran on 2026-11-19 on Linux-x86_64." in page
    assert "Software: scorereport 1, R 4.2.2." in page
    assert "| mean | 24 | 3.0e-14 | 1.0e-12 |" in page
    assert "| level | 6 | It says 0.9. |" in page
    assert re.search(r"^\| continuous \| 3 \| [\d,]+ to [\d,]+ \| 6 \| 3.0e-14 \| mean \|$", page, re.M)
    assert "| two rows | 2 | 2 | 5 | " in page


def test_the_page_in_the_docs_is_such_a_page():
    page = (REPOSITORY / "docs" / "guide" / "validation-run.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| Brier score: MCB \| ([\d,]+) \|", page, re.M)
    counts = [int(count.replace(",", "")) for count in found]
    described = re.search(r"--cases (\d+)` with seed", page)
    assert counts == [int(described[1]), int(described[1]) // 5]
    assert page.count("Unexpected: 0.") == 2
