"""Temporary folders of killed processes are removed by the next process; those of running processes stay."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from audit_tools import make_scored, write_audit

import scorereport
from scorereport._utils import files
from scorereport._utils.files import FOLDER_PREFIX, MARKER, TemporaryFolder, remove_abandoned
from scorereport.audit.run import run_audit
from scorereport.evaluation.engines.duck.workspace import Workspace
from scorereport.reference.r_session import Session

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no locks that die with a process")

WORKSPACE = """
from scorereport.evaluation.engines.duck.workspace import Workspace
workspace = Workspace(None, {place!r})
workspace.execute("CREATE TABLE rows AS SELECT range AS patient FROM range(100000)")
workspace.execute("CHECKPOINT")
folder = workspace.folder
"""
SPOOLED = """
from scorereport._utils.files import TemporaryFolder
temporary = TemporaryFolder(below={place!r})
folder = temporary.path
(folder / "rows.parquet").write_bytes(bytes(1000))
"""
#: A reference that keeps working after its parent was killed, until a file signals it to end.
SESSION = """
import sys
from scorereport.reference.r_session import Session
code = "import os, time\\nwhile not os.path.exists({place!r} + '/end'): time.sleep(0.01)"
session = Session([sys.executable, "-S", "-c", code], [], time_limit=60)
folder = session._folder.path
(folder / "1.request").write_bytes(bytes(1000))
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """A folder for temporary folders, which this process has not swept yet."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    monkeypatch.setattr(files, "_swept", set())
    return made


@contextmanager
def owner(code, place):
    """A process that has a temporary folder, and the folder."""
    program = f"{code.format(place=str(place))}\nprint(folder, flush=True)\nimport time; time.sleep(600)"
    environ = os.environ | {"TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        try:
            assert process.stdout is not None
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "This took too long."
        time.sleep(0.01)


@pytest.mark.sweep
@pytest.mark.parametrize("code", [WORKSPACE, SPOOLED], ids=["workspace", "rows"])
def test_rows_of_a_process_that_was_killed_are_removed_by_the_next(place, code):
    with owner(code, place) as (process, folder):
        assert sum(file.stat().st_size for file in folder.iterdir()) >= 1000
        with TemporaryFolder():
            assert folder.is_dir()  # the process is running
        assert remove_abandoned(place) == []
        process.kill()
        process.wait()
    assert folder.is_dir()
    files._swept.clear()  # as in a process that has just started
    workspace = Workspace(None, None)
    try:
        assert list(place.iterdir()) == [workspace.folder]
    finally:
        workspace.close()
    assert list(place.iterdir()) == []


def test_the_folder_of_r_stays_while_r_still_works_in_it(place):
    with owner(SESSION, place) as (process, folder):
        process.kill()
        process.wait()
        assert remove_abandoned(place) == []
        assert folder.is_dir()
        (place / "end").touch()
        wait_for(lambda: remove_abandoned(place) == [folder])
    assert not folder.exists()


def make_stale(place: Path, name: str = f"{FOLDER_PREFIX}abc") -> Path:
    """A folder as a killed process leaves it."""
    folder = place / name
    (folder / "spilled").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / MARKER).touch()
    (folder / "spilled" / "rows").write_text("patient")
    return folder


def spoil_marker(folder: Path) -> None:
    (folder / MARKER).rename(folder / f"{MARKER}.new")


def link_marker(folder: Path) -> None:
    (folder / MARKER).rename(folder.parent / "elsewhere")
    (folder / MARKER).symlink_to(folder.parent / "elsewhere")


def link_folder(folder: Path) -> None:
    shutil.move(folder, folder.parent / "precious")
    folder.symlink_to(folder.parent / "precious")


@pytest.mark.parametrize(
    "change",
    [
        spoil_marker,
        link_marker,
        link_folder,
        lambda folder: folder.chmod(0o770),
        lambda folder: folder.rename(folder.with_name("other-abc")),
    ],
    ids=["no marker", "a link as marker", "a link", "others may write", "another name"],
)
def test_folders_that_may_belong_to_others_are_kept(place, change):
    change(make_stale(place))
    before = sorted(place.rglob("*"))
    assert remove_abandoned(place) == []
    assert sorted(place.rglob("*")) == before


def test_folders_of_another_user_are_kept(place, monkeypatch):
    folder = make_stale(place)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert remove_abandoned(place) == []
    monkeypatch.undo()
    assert remove_abandoned(place) == [folder]


def test_links_in_a_stale_folder_are_removed_and_not_followed(place, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "report.pdf").touch()
    folder = make_stale(place)
    (folder / "folder").symlink_to(precious)
    (folder / "spilled" / "file").symlink_to(precious / "report.pdf")
    assert remove_abandoned(place) == [folder]
    assert not folder.exists()
    assert [path.name for path in precious.iterdir()] == ["report.pdf"]


def test_what_cannot_be_removed_is_tried_again_by_the_next(place, monkeypatch):
    folder = make_stale(place)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        assert remove_abandoned(place) == []
    assert (folder / "spilled" / "rows").exists()
    assert remove_abandoned(place) == [folder]


def test_a_missing_folder_holds_nothing_to_sweep(place):
    assert remove_abandoned(place / "nowhere") == []


def test_a_process_that_is_forked_off_does_not_remove_the_folder_of_its_parent():
    program = (
        "import os, sys\n"
        "from scorereport._utils.files import TemporaryFolder\n"
        "kept = TemporaryFolder()\n"
        "pid = os.fork()\n"
        "if pid == 0: sys.exit()\n"
        "os.waitpid(pid, 0)\n"
        "print(kept.path.is_dir(), flush=True)\n"
        "os.write(1, str(kept.path).encode())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    is_there, path = done.stdout.splitlines()
    assert is_there == "True"
    assert not Path(path).exists()  # removed at the end of the process that made it


def test_a_folder_without_a_reference_is_removed():
    path = TemporaryFolder("x-").path
    assert path.name.startswith(f"{FOLDER_PREFIX}x-")
    assert not path.exists()


def test_an_audit_sweeps_before_it_begins(tmp_path, place):
    make_scored("2026-09-01", 30, rows=3).to_csv(tmp_path / "scores.csv", index=False)
    other = tmp_path / "other"
    other.mkdir()
    config = write_audit(tmp_path, evaluation={"temporary_folder": "other", "resamples": 0})
    stale = [make_stale(place), make_stale(other)]
    run_audit(config, as_of="2026-10-02")
    assert [folder for folder in stale if folder.exists()] == []


def test_r_works_in_a_folder_with_a_marker(place):
    code = "import os; print(os.environ['TMPDIR'])"
    with Session([sys.executable, "-S", "-c", code], [], time_limit=60):
        (folder,) = place.iterdir()
        assert folder.name.startswith(f"{FOLDER_PREFIX}r-")
        assert (folder / MARKER).is_file()
    assert list(place.iterdir()) == []


def test_no_other_module_makes_temporary_folders():
    package = Path(scorereport.__file__).parent
    makers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\b(mkdtemp|TemporaryDirectory)\b", path.read_text(encoding="utf-8"))
    }
    assert makers == {"_utils/files.py"}
