"""What surrounds the benchmarks: processes with limits, samples, the record and the page; no times."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import scorereport as sr
from scorereport.evaluation.engines.engine_evaluation import LEFT_OUT
from validation.benchmarks import __main__ as command
from validation.benchmarks import (
    diagram_work,
    large_work,
    memory,
    page,
    peer_work,
    peers,
    samples,
    spark,
    whole,
    whole_work,
)
from validation.benchmarks.apart import Failure, Run, require_success, run_apart, run_work
from validation.benchmarks.large import compare_large, fit_exponent
from validation.benchmarks.measure import Comparison, Measured, Skipped, most_held
from validation.benchmarks.page import (
    find_deviation,
    keep_sections,
    render_diagrams,
    render_page,
    render_peers,
)
from validation.benchmarks.page_texts import TEXTS
from validation.benchmarks.record import merge_results, read_results
from validation.benchmarks.watched import Watched

MET = Comparison(name="fast", ours=2.0, other=4.0, ratio=0.5, limit=1, rows=1_000_000_000)
BROKEN = Comparison(name="slow", ours=9.0, other=3.0, ratio=3.0, limit=1.25)
CELL = peers.Cell(work="decompose", package="scorereport", version="1", rows=10_000)
OURS = replace(CELL, seconds=0.5, held=120_000_000, parts=(0.01, 0.08, 0.25))
THEIRS = replace(CELL, package="scores", seconds=2.5, held=900_000_000, parts=(0.01, 0.08, 0.2503))
FAILED = replace(CELL, package="scikit-learn", failure="memory", reason="MemoryError: no room")


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class TestApart:
    def test_the_last_line_of_a_process_is_returned(self):
        run = run_apart(_python('print(\'noise\'); print(\'{"seconds": 2, "held": 3, "n": 4}\')'), seconds=60)
        assert run == Run(seconds=2, held=3, output={"n": 4})

    def test_a_process_that_takes_too_long_is_ended(self):
        run = run_apart(_python("import time; time.sleep(60)"), seconds=0.2)
        assert run == Failure(kind="time", reason="It was not ready after 0.2 s.")

    def test_memory_is_limited(self):
        run = run_apart(_python("bytearray(2_000_000_000)"), seconds=60, memory=1_000_000_000)
        assert run == Failure(kind="memory", reason="MemoryError")

    def test_an_error_is_quoted_whatever_follows_it(self):
        late = "import atexit, sys; atexit.register(lambda: print('leaked a type', file=sys.stderr))"
        run = run_apart(_python(f"{late}; raise ValueError('no such thing')"), seconds=60)
        assert run == Failure(kind="error", reason="ValueError: no such thing")
        with pytest.raises(RuntimeError, match="no such thing"):
            require_success(run)

    def test_the_most_a_process_held_is_at_least_its_arrays(self):
        before = most_held()
        held = np.ones(20_000_000)
        assert most_held() >= max(before, held.nbytes)


class TestSamples:
    def test_small_samples_begin_large_ones(self, tmp_path, monkeypatch):
        monkeypatch.setattr(samples, "CHUNK", 1000)
        small, large = (pq.read_table(samples.write_rows(tmp_path, n)) for n in (700, 2500))
        assert large.num_rows == 2500
        assert large.slice(0, 700).equals(small)

    def test_files_for_packages_hold_the_same_rows(self, tmp_path, monkeypatch):
        monkeypatch.setattr(samples, "CHUNK", 1000)
        table = pq.read_table(samples.write_rows(tmp_path, 2500))
        y, x = (np.fromfile(path) for path in samples.write_arrays(tmp_path, 2500))
        np.testing.assert_array_equal(x, table["forecast"].to_numpy())
        np.testing.assert_array_equal(y, table["outcome"].to_numpy())

    def test_a_sample_that_is_there_is_kept(self, tmp_path):
        path = tmp_path / "rows-10.parquet"
        path.write_text("there")
        assert samples.write_rows(tmp_path, 10).read_text() == "there"

    def test_without_disk_all_is_skipped_with_a_reason(self, tmp_path, monkeypatch):
        monkeypatch.setattr(samples, "DISK", 1e18)
        (result,) = compare_large(tmp_path)
        assert isinstance(result, Skipped)
        assert "GB of disk are free" in result.reason
        assert [type(result) for result in peers.compare_peers(tmp_path)] == [Skipped]

    def test_the_number_of_rows_can_be_set(self, monkeypatch):
        monkeypatch.delenv(samples.VARIABLE, raising=False)
        assert samples.largest_size() == 100_000_000
        assert not samples.is_rehearsal()
        monkeypatch.setenv(samples.VARIABLE, "1e5")
        assert samples.largest_size() == 100_000
        assert samples.is_rehearsal()


class TestWork:
    @pytest.fixture
    def rows(self, tmp_path):
        return samples.write_rows(tmp_path, 3000)

    @pytest.fixture
    def parts(self):
        ((y, x),) = samples.draw_chunks(3000)
        found = sr.corp(y, x).decompose("brier")
        return found.miscalibration, found.discrimination, found.uncertainty

    def test_the_engine_decomposes_exactly(self, rows, parts):
        np.testing.assert_allclose(large_work.decompose(str(rows))["parts"], parts, rtol=1e-12)
        assert large_work.check(str(rows))["blocks"] == large_work.decompose(str(rows))["blocks"]

    def test_a_difference_of_blocks_stops_the_benchmark(self, rows, monkeypatch):
        fit = sr.corp([0, 1], [0.2, 0.8])
        monkeypatch.setattr(large_work.sr, "corp", lambda *_: fit)
        with pytest.raises(AssertionError, match="`x_min` of the blocks differs between DuckDB and memory"):
            large_work.check(str(rows))

    def test_all_rows_are_sorted(self, rows):
        assert large_work.sort(str(rows)) == {"rows": 3000}

    @pytest.mark.parametrize("package", sorted(peer_work.PACKAGES))
    def test_packages_find_the_same_parts(self, package, parts):
        pytest.importorskip({"scikit-learn": "sklearn"}.get(package, package.replace("-", "_")))
        ((y, x),) = samples.draw_chunks(3000)
        for work in peer_work.PACKAGES[package]().values():
            np.testing.assert_allclose(work(y, x), parts, atol=1e-12)

    @pytest.mark.sweep
    def test_work_in_its_own_process_reports_time_and_memory(self, tmp_path, parts):
        paths = samples.write_arrays(tmp_path, 3000)
        run = require_success(run_work("peer_work", "scorereport", "decompose", 3000, *paths, seconds=120))
        assert run.seconds > 0
        assert run.held > 20_000_000
        assert run.output["parts"] == list(parts)


class TestPeers:
    def test_after_a_failure_larger_sizes_are_not_tried(self, tmp_path, monkeypatch):
        tried = []

        def run(*task):
            tried.append(task[-1])
            if task[-1] > 10:
                return Failure(kind="time", reason="It was not ready after 1 s.")
            return Run(seconds=1.0, held=1, output={"parts": [0.1, 0.2, 0.3]})

        monkeypatch.setattr(peers, "_run", run)
        cells = list(peers.climb("decompose", "scikit-learn", tmp_path, (10, 100, 1000, 10_000)))
        assert tried == [10, 100]
        assert [cell.failure for cell in cells] == ["", "time", "larger", "larger"]
        assert cells[0].parts == (0.1, 0.2, 0.3)
        assert cells[2].reason == "Not tried: it failed at fewer rows (time)."

    def test_an_absent_package_is_never_run(self, tmp_path, monkeypatch):
        monkeypatch.setattr(peers, "_run", None)
        cells = list(peers.climb("decompose", "no-such-package", tmp_path, (10, 100)))
        assert [cell.failure for cell in cells] == ["absent", "absent"]

    def test_packages_are_compared_with_ours(self, tmp_path, monkeypatch):
        monkeypatch.setattr(peers, "measure_peers", lambda _: [OURS, THEIRS, FAILED])
        monkeypatch.delenv(samples.VARIABLE, raising=False)
        monkeypatch.setattr(peers, "RESULTS", tmp_path / "results" / "peers.json")
        theirs, failed = peers.compare_peers(tmp_path)
        assert theirs.ratio == 5
        assert theirs.is_met
        assert failed.reason == "MemoryError: no room"
        assert peers.read_cells() == [OURS, THEIRS, FAILED]

    def test_the_table_states_which_package_fails_where(self):
        text = render_peers([OURS, THEIRS, FAILED])
        assert "| scorereport 1 | 0.500 s, 120 MB |" in text
        assert "| scikit-learn 1 | out of memory |" in text
        assert "- scikit-learn fails at 10,000 rows, out of memory: “MemoryError: no room”." in text

    def test_the_table_states_how_far_packages_are_from_ours(self):
        assert find_deviation(THEIRS, [OURS, THEIRS]) == pytest.approx(0.0003)
        assert "the largest difference is 0.0003." in render_peers([OURS, THEIRS])


class TestDiagrams:
    @pytest.mark.parametrize("package", ["scores", pytest.param("scikit-learn", marks=pytest.mark.sweep)])
    def test_packages_find_the_parts_of_every_model(self, package, tmp_path):
        pytest.importorskip({"scikit-learn": "sklearn"}.get(package, package.replace("-", "_")))
        y, x = (np.fromfile(path) for path in samples.write_model_arrays(tmp_path, 400))
        forecasts = x.reshape(3, 400)
        found = diagram_work.PACKAGES[package]()(y, forecasts, tmp_path / "diagram.pdf")
        parts = [sr.corp(y, row).decompose("brier") for row in forecasts]
        expected = [(d.miscalibration, d.discrimination, d.uncertainty) for d in parts]
        np.testing.assert_allclose(found, np.ravel(expected), atol=1e-12)
        assert (tmp_path / "diagram.pdf").exists() == (package != "scores")  # which draws nothing

    @pytest.mark.sweep
    @pytest.mark.parametrize("package", ["scorereport", "model-diagnostics"])
    def test_a_diagram_in_its_own_process_reports_time_and_memory(self, package, tmp_path):
        pytest.importorskip(package.replace("-", "_"))
        paths = samples.write_model_arrays(tmp_path, 400)
        run = require_success(run_work("diagram_work", package, 400, *paths, seconds=300))
        assert run.seconds > 0
        assert len(run.output["parts"]) == 9

    def test_the_table_has_all_packages_and_only_the_same_work_is_compared(self, tmp_path, monkeypatch):
        monkeypatch.delenv(samples.VARIABLE, raising=False)
        monkeypatch.setattr(peers, "RESULTS", tmp_path / "results" / "peers.json")
        monkeypatch.setattr(peers, "find_version", lambda _: "1")
        seconds = {"scorereport": 2.0, "reliabilitydiag": 9.0, "scikit-learn": 0.5}

        def run(_work, package, _folder, n):
            return Run(seconds=seconds.get(package, 3.0) * n / 1e5, held=1, output={"parts": [0.1] * 9})

        monkeypatch.setattr(peers, "_run", run)
        peers.write_cells([OURS])
        (found,) = peers.compare_diagrams(tmp_path)
        assert (
            found.name == "reliabilitydiag / scorereport, reliability diagrams of three models, 100,000 rows"
        )
        assert found.ratio == 4.5
        cells = peers.read_cells()
        assert cells[0] == OURS  # of another kind of work
        text = render_diagrams(cells)
        assert "| scikit-learn 1 | 0.050 s, 0 MB | 0.500 s, 0 MB |" in text
        assert "scorereport 1 | 0.200 s, 0 MB | 2.00 s, 0 MB |" in text
        assert "scikit-learn 1" not in render_peers(cells)


class TestWhole:
    """Whole evaluations, reports and audits."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        monkeypatch.setenv(samples.VARIABLE, "1e6")

    def test_goals_become_limits_on_ratios_with_an_allowance(self):
        for n, goal in whole.GOALS.items():
            allowed = whole.find_limit(n, goal) * whole.SORTS[n]
            assert goal < allowed < 1.4 * goal

    def test_every_size_is_compared_with_its_sort(self, tmp_path, monkeypatch):
        monkeypatch.setattr(samples, "CHUNK", 10_000)
        monkeypatch.setattr(whole, "SIZES", (10_000, 100_000))
        monkeypatch.setattr(whole, "time_sort", lambda _: 1e-4)

        def run(_module, engine, source, _few, *roles, **_limits):
            n = int(source.stem.split("-")[1])
            times = {"weight": 3, "classes": 5}.get(*roles, 1) if roles else 1
            seconds = n / 1e5 * (2 if engine == "duckdb" else 1) * times
            return Run(
                seconds=seconds, held=3_000_000_000, output={"sort": n / 1e9, "in_memory_only": seconds / 4}
            )

        spent = whole.Spent(processor=9.0, clock=4.0)
        monkeypatch.setattr(whole, "run_work", run)
        monkeypatch.setattr(whole, "spend", lambda *_, **__: spent)
        found = {result.name: result for result in whole.compare_whole(tmp_path)}
        first = found["evaluate, 3 models, 10,000 rows, processor time / np.sort (goal: 1.5 s)"]
        assert (first.ours, first.limit, first.is_met) == (0.1, whole.find_limit(10_000, 1.5), False)
        assert first.ratio == pytest.approx(10_000)
        engines = found["evaluate, 3 models, 100,000 rows, processor time in memory / with DuckDB"]
        assert engines.ratio == 0.5
        shared = found["evaluate, 3 models, 100,000 rows, time of what both give in memory / with DuckDB"]
        assert shared.ratio == 0.375
        design = "evaluate, 3 models, 100,000 rows, processor time {} / of independent rows"
        assert found[design.format("with sampling weights")].ratio == 3
        assert found[design.format("in clusters of 20")].ratio == 1
        classes = "evaluate, 2 models of 5 ordered classes, {} rows, processor time / of 3 binary models"
        assert [found[classes.format(n)].ratio for n in ("10,000", "100,000")] == [5, 5]
        growth = found["fitted exponent of rows of evaluate, 10,000 to 100,000"]
        assert (growth.ratio, growth.is_met) == (1.0, True)
        assert found["memory of evaluate, 3 models, 100,000 rows / 1.5 GB"].ratio == 2
        assert found["report of 3 models, 1,000 rows, as HTML, by the clock / 3 s"].ours == 4.0
        assert (
            found[
                "audit run of one model, 10,000 rows, as PDF, with the certificate of R, processor time"
            ].ours
            == 9
        )

    def test_what_engines_leave_out_is_timed_apart(self):
        assert set(whole_work.IN_MEMORY_ONLY) == set(LEFT_OUT)
        assert all(callable(getattr(module, name)) for module, name in whole_work.IN_MEMORY_ONLY.values())

    def test_seconds_of_a_call_include_its_threads_only_on_the_main_thread(self):
        def work():
            until = time.thread_time() + 0.05
            while time.thread_time() < until:
                pass

        def work_on_two_threads():
            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        seconds = []
        whole_work.count_seconds(work_on_two_threads, seconds)()
        assert seconds.pop() >= 0.1
        counted = whole_work.count_seconds(work, seconds)
        threads = [threading.Thread(target=counted) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seconds) == 2
        assert all(0.05 <= each < 0.1 for each in seconds)

    @pytest.mark.sweep
    def test_processor_time_of_a_command_includes_its_imports(self, tmp_path):
        spent = whole.spend(["--version"], folder=tmp_path, turns=1)
        assert 0.01 < spent.processor < 60
        assert 0.01 < spent.clock < 60

    @pytest.mark.sweep
    def test_an_evaluation_in_its_own_process_reports_time_memory_and_sort(self, tmp_path):
        source, few = (samples.write_models(tmp_path, n) for n in (2000, 200))
        run = require_success(run_work("whole_work", "memory", source, few, seconds=300))
        source, few = (samples.write_designs(tmp_path, n) for n in (2000, 200))
        assert set(pq.read_schema(source).names) == {"outcome", *samples.MODELS, "weight", "cluster"}
        assert (
            require_success(run_work("whole_work", "memory", source, few, "cluster", seconds=300)).seconds > 0
        )
        assert run.seconds > 0
        assert 1e8 < run.held < 1e9
        assert 0 < run.output["sort"] < run.seconds
        assert 0 < run.output["in_memory_only"] < run.seconds


class TestModels:
    """Benchmarks that read the file of three models."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        monkeypatch.setenv(samples.VARIABLE, "3000")

    @pytest.mark.sweep
    def test_a_report_in_its_own_process_reports_its_memory(self, tmp_path):
        source, target = samples.write_models(tmp_path, 300), tmp_path / "report.json"
        run = require_success(run_work("memory_work", source, target, 0, seconds=120))
        assert 1e8 < run.held < 1e9
        assert target.exists()
        table = pq.read_table(source)
        assert table.column_names == ["outcome", *samples.MODELS]
        np.testing.assert_array_equal(table["calibrated"], next(samples.draw_chunks(300))[1])

    def test_the_memory_of_a_report_has_a_limit(self, tmp_path, monkeypatch):
        monkeypatch.setattr(
            memory, "run_work", lambda *_, **__: Run(seconds=1.0, held=2_100_000_000, output={})
        )
        (found,) = memory.compare_memory(tmp_path)
        assert found.name == "memory of a report of 3 models at 300 rows, 20 resamples / 2 GB"
        assert (found.ratio, found.is_met) == (1.05, False)

    def test_every_stage_of_spark_has_its_costs(self, tmp_path, monkeypatch):
        output = {"stages": {"survey": {"by the clock": 3.0}, "scan": {"processor time of Java": 1.5}}}
        run = Run(seconds=9.0, held=1, output=output | {"most": {"Java": 7}})
        monkeypatch.setattr(spark, "run_work", lambda *_, **__: run)
        monkeypatch.setattr(spark, "_why_no_spark", lambda: "")
        assert [(result.name, result.ours, result.unit) for result in spark.measure_spark(tmp_path)] == [
            ("survey of three models, 300 rows, by the clock", 3.0, "s"),
            ("one scan of three models for a sum, 300 rows, processor time of Java", 1.5, "s"),
            ("memory of Java", 7, "bytes"),
        ]

    def test_without_spark_nothing_is_measured(self, tmp_path, monkeypatch):
        monkeypatch.setattr(spark, "find_spec", lambda _: None)
        (found,) = spark.measure_spark(tmp_path)
        assert found == Skipped(name="Spark, 300 rows", reason="pyspark is not installed")

    @pytest.mark.sweep
    def test_processes_are_watched_with_all_that_they_start(self):
        work = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); input()"
        with subprocess.Popen(_python(starter), stdin=subprocess.PIPE) as process:
            watched = Watched(process.pid)
            with watched.watching():
                end = time.monotonic() + 60
                while watched.spent()["processor time of Python"] < 0.3 and time.monotonic() < end:
                    time.sleep(0.05)
            assert watched.spent()["processor time of Python"] >= 0.3
            process.communicate(b"\n")
        assert all(held > 1e6 for held in watched.most_held.values())


class TestRecord:
    def test_results_of_other_benchmarks_are_kept(self, tmp_path):
        path = tmp_path / "results" / "latest.json"
        merge_results("large", [BROKEN], path)
        merge_results("bands", [MET], path)
        merge_results(
            "large", [MET, Measured(name="told", ours=1.0), Skipped(name="no", reason="none")], path
        )
        found = read_results(path)
        assert [(r["benchmark"], r["name"]) for r in found] == [
            ("bands", "fast"),
            ("large", "fast"),
            ("large", "told"),
            ("large", "no"),
        ]
        assert found[0]["is_met"] is True
        assert found[0]["nanoseconds"] == 2
        assert json.loads(path.read_text())["machine"]["processors"] >= 1

    def test_a_page_without_results_says_so(self):
        text = render_page({}, [], [])
        assert "There are no results yet." in text
        assert text.count("Not measured yet.") == len(TEXTS) + 3  # peers, their diagrams and everything else

    def test_sections_without_results_stay_and_say_so(self, tmp_path):
        path = tmp_path / "latest.json"
        merge_results("large", [MET], path)
        old = render_page({}, read_results(path), [OURS, THEIRS])
        merge_results("bands", [BROKEN], tmp_path / "other.json")
        new = render_page({}, read_results(tmp_path / "other.json"), [])
        kept = keep_sections(old, new)
        assert "| fast | 0.50 | ≤ 1 | 2.00 s | 2.0 ns |" in kept
        assert "| slow | **3.00** | ≤ 1.25 | 9.00 s |  |" in kept
        assert "| scorereport 1 | 0.500 s, 120 MB |" in kept
        assert kept.count(page._EARLIER) == 2
        assert keep_sections(kept, new) == kept
        assert re.findall("(?m)^## .*", kept) == re.findall("(?m)^## .*", new)

    def test_a_broken_limit_is_bold(self, tmp_path):
        path = tmp_path / "results" / "latest.json"
        merge_results("large", [MET, BROKEN], path)
        text = render_page({}, read_results(path), [])
        assert "| fast | 0.50 | ≤ 1 | 2.00 s | 2.0 ns |" in text
        assert "| slow | **3.00** | ≤ 1.25 | 9.00 s |  |" in text


class TestCommand:
    def test_some_benchmarks_run_by_name(self, tmp_path, monkeypatch, capsys):
        merged = []
        monkeypatch.setenv(samples.VARIABLE, "1000")
        monkeypatch.setattr(command, "_benchmarks", lambda _: {"large": lambda: iter([MET, BROKEN])})
        monkeypatch.setattr(command, "merge_results", lambda *given: merged.append(given))
        assert command.main(["large", "--data", str(tmp_path)]) == 1
        assert merged == [("large", [MET, BROKEN])]
        first, second = capsys.readouterr().out.splitlines()
        assert " ".join(first.split()) == "fast 0.50 limit ≤ 1 met (2 s, 2 ns a row)"
        assert "BROKEN" in second

    def test_an_unknown_name_is_refused(self, capsys):
        with pytest.raises(SystemExit):
            command.main(["everything"])
        assert "there is no benchmark 'everything'; there are engine, " in capsys.readouterr().err

    def test_every_name_has_a_benchmark(self, tmp_path):
        assert tuple(command._benchmarks(tmp_path)) == command.NAMES


def test_the_exponent_of_n_log_n_is_a_little_more_than_one():
    sizes = [10**6, 10**7, 10**8]
    assert fit_exponent(sizes, [n * np.log(n) for n in sizes]) == pytest.approx(1.0625, abs=0.001)
    assert fit_exponent(sizes, [3 * n**2 for n in sizes]) == 2
