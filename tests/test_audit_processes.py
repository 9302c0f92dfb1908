"""An audit run is one process; only R is another one, at most once."""

from __future__ import annotations

import ctypes.util
import json
import subprocess
import sys

import pytest
from audit_tools import make_scored, write_audit

from scorereport.audit.run import run_audit
from scorereport.history.audit_record import AuditStatus
from scorereport.report import system_libraries
from scorereport.report.system_libraries import libraries_not_searched

#: Runs an audit and prints its status, its certificate and the programs that it started.
RUN = """
import json, sys
started = []
sys.addaudithook(lambda event, values: started.append(values[1]) if event == "subprocess.Popen" else None)
from scorereport.audit.run import run_audit
record = run_audit(sys.argv[1], as_of="2026-11-02").record
print(json.dumps([record.status, record.certificate, started]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder outside of any repository, so that git is not asked."""
    make_scored("2026-10-01", 31, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_without_a_certificate_starts_no_process(folder, monkeypatch):
    started = []
    start = subprocess.Popen.__init__

    def note(self, program, *arguments, **options):
        started.append(program)
        start(self, program, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    config = write_audit(folder, evaluation={"resamples": 20})
    assert run_audit(config, as_of="2026-11-02").record.status is AuditStatus.DONE
    assert started == []


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_a_certified_run_with_a_pdf_starts_one_process_for_r(folder):
    config = write_audit(
        folder, certify="required", output={"formats": ["pdf"]}, evaluation={"resamples": 20}
    )
    done = subprocess.run([sys.executable, "-c", RUN, config], capture_output=True, text=True, check=True)
    status, certificate, started = json.loads(done.stdout)
    assert (status, certificate) == (AuditStatus.DONE, "certified")
    # Python itself asks uname; Rscript knows its version without starting R. Each takes milliseconds.
    programs = [program for program in started if program[0] != "uname" and program[1:2] != ["--version"]]
    assert [program[1:3] for program in programs] == [["-m", "scorereport.reference.worker"]]


def test_libraries_are_searched_only_if_one_of_them_has_another_name(monkeypatch):
    search = ctypes.util.find_library
    for names, is_searched in ((["libc.so.6"], False), (["libc.so.6", "libnone.so.0"], True)):
        monkeypatch.setattr(system_libraries, "_NAMES", names)
        monkeypatch.setattr(system_libraries, "_is_loadable", lambda name: name == "libc.so.6")
        with libraries_not_searched():
            assert (ctypes.util.find_library is search) is is_searched
        assert ctypes.util.find_library is search


def test_only_libraries_that_exist_are_loadable():
    assert not system_libraries._is_loadable("libof-nobody.so.7")
