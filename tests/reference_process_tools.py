"""Stand-ins of R and its processes that several test files share."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from reference_tools import (
    PATIENCE,
    left_running,
    small_evaluation,
    wait_for,
)

from scorereport.reference.r_installation import find_r

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches processes through /proc")


MARK = f"SCOREREPORT_TEST_MARK=of {os.getpid()}"


def tools_fixture(tmp_path_factory):
    """Make a folder with the programs that the fakes call, and no R: they must run where R is hidden."""
    folder = tmp_path_factory.mktemp("tools")
    for name in ("cat", "head", "mktemp", "sh", "sleep", "yes"):
        (folder / name).symlink_to(shutil.which(name, path=os.defpath))
    return folder


def temporary_fixture(tmp_path, tools, monkeypatch, capfd):
    """Give each test a place for temporary files; afterwards no folder of ours is there, no process runs, and
    nothing was printed.
    """
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv(*MARK.split("="))
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ.get("PATH", ""), str(tools)]))
    monkeypatch.delenv("R_HOME", raising=False)
    yield folder
    left = left_running(MARK)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []
    assert list(folder.glob("scorereport-r-*")) == []
    assert capfd.readouterr() == ("", "")


def rscript_fixture(base_r):  # noqa: ARG001  # there is one
    return str(find_r().rscript)


NO_FILE = r"^R announced an answer that is not there\.$|No such file or directory"


LATE = r"^R gave no answer within 1 seconds and was ended\.$"


def interrupt(program, ready, stop=signal.SIGINT):
    """Start a program as leader of its group; when it is ready the group gets the signal, as by Ctrl-C."""
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_for(ready)
        time.sleep(0.1)
        os.killpg(process.pid, stop)
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def file_fixture(tmp_path):
    path = tmp_path / "p.csv"
    p = small_evaluation().predictions
    rows = (f"{y:g},{x}" for y, x in zip(p.outcome, p.forecasts["p"], strict=True))
    path.write_text("\n".join(["y,p", *rows, ""]))
    return path
