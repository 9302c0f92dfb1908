"""Who may read what is written: only its owner, unless it is to be published."""

from __future__ import annotations

import os
import stat

import pandas as pd
import pytest
from audit_tools import make_scored, write_audit
from site_tools import make_records, write_reports
from test_schedule_state import HEALTH

import scorereport as sr
from scorereport._utils import files
from scorereport._utils.files import make_folder, only_owner, write_bytes, write_text, write_together
from scorereport.audit.run import run_audit
from scorereport.audit.server.health import write_health
from scorereport.audit.site.publication import write_site
from scorereport.history.store import open_history

OCTOBER = "2026-11-03"
TIME = "2026-11-15T16:00:00+00:00"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")


@pytest.fixture(autouse=True)
def careless():
    """A process that would let everybody read and write all it makes."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def modes_below(folder):
    return {path.relative_to(folder).as_posix(): mode_of(path) for path in folder.rglob("*")}


# ---- Single files ----


def test_a_new_file_is_for_its_owner_before_it_has_any_content(tmp_path, monkeypatch):
    seen = []
    fill = files._fill
    monkeypatch.setattr(
        files,
        "_fill",
        lambda file, content: (seen.extend(modes_below(tmp_path).values()), fill(file, content)),
    )
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert seen == [0o600] * 3  # the first alone, then both
    assert modes_below(tmp_path) == {"a": 0o600, "b": 0o600}


@pytest.mark.parametrize("mode", [0o640, 0o644, 0o600, 0o400, 0o666])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    path = write_bytes(tmp_path / "a", b"old")
    path.chmod(mode)
    write_text(path, "new")
    assert mode_of(path) == mode
    assert path.read_text() == "new"


def test_special_permissions_are_not_kept(tmp_path):
    path = write_bytes(tmp_path / "a", b"old")
    path.chmod(0o4755)
    assert mode_of(write_bytes(path, b"new")) == 0o755


def test_a_link_that_is_replaced_says_nothing_of_permissions(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "a").symlink_to(tmp_path / "target")
    assert mode_of(write_bytes(tmp_path / "a", b"new")) == 0o600
    assert (tmp_path / "target").read_bytes() == b"old"


def test_a_group_that_cannot_be_kept_gets_nothing(tmp_path, monkeypatch):
    """The permissions of one group would become those of another."""
    path = write_bytes(tmp_path / "a", b"old")
    path.chmod(0o664)
    group = path.stat().st_gid
    kept = files._keep_permissions

    def of_another_group(new, old):
        values = list(old)
        values[stat.ST_GID] = group + 1
        return kept(new, os.stat_result(values))

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(files, "_keep_permissions", of_another_group)
    monkeypatch.setattr(os, "fchown", refuse)
    assert mode_of(write_bytes(path, b"new")) == 0o604


def test_folders_are_made_for_their_owner(tmp_path):
    (tmp_path / "there").mkdir(mode=0o755)
    make_folder(tmp_path / "there" / "a" / "b")
    make_folder(tmp_path / "there" / "a" / "b")
    assert modes_below(tmp_path) == {"there": 0o755, "there/a": 0o700, "there/a/b": 0o700}
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_a_log_is_appended_to_as_it_is(tmp_path):
    for _ in range(2):
        with open(tmp_path / "log", "a", opener=only_owner) as log:
            log.write("line\n")
        assert mode_of(tmp_path / "log") == 0o600
    (tmp_path / "log").chmod(0o640)
    with open(tmp_path / "log", "a", opener=only_owner):
        assert mode_of(tmp_path / "log") == 0o640


# ---- All that is written ----


def test_reports_and_results_are_for_their_owner(tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.7, 0.6, 0.4, 0.9, 0.1]})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=0)
    evaluation.to_json(tmp_path / "results.json")
    sr.write_report(evaluation, tmp_path / "report.json")  # all forms are written by the same function
    assert modes_below(tmp_path) == dict.fromkeys(("results.json", "report.json"), 0o600)


def test_all_that_an_audit_writes_is_for_its_owner(tmp_path, call):
    make_scored("2026-08-01", 92).to_csv(tmp_path / "scores.csv", index=False)
    config = write_audit(tmp_path)
    given = set(modes_below(tmp_path))
    run_audit(config, as_of=OCTOBER)
    for name in ("history.jsonl", "numbers.csv", "history.zip"):
        assert call("audit", "export", config, "-o", tmp_path / name)[0] == 0
    made = {name: mode for name, mode in modes_below(tmp_path).items() if name not in given}
    assert {name: mode for name, mode in made.items() if (tmp_path / name).is_file() and mode != 0o600} == {}
    assert {name: mode for name, mode in made.items() if (tmp_path / name).is_dir() and mode != 0o700} == {}
    assert {"history.jsonl", "numbers.csv", "history.zip", "audits/history.db"} <= made.keys()
    assert sum(name.endswith(".json") for name in made) == 1


def test_the_logs_of_a_history_are_for_its_owner(tmp_path):
    with open_history(f"sqlite:///{tmp_path}/deep/history.db", create=True):
        found = modes_below(tmp_path)
    assert found.pop("deep") == 0o700
    assert set(found.values()) == {0o600}
    assert {"deep/history.db", "deep/history.db-wal", "deep/history.db-shm"} <= found.keys()


def test_what_a_server_writes_is_for_its_owner(tmp_path):
    write_health(tmp_path, HEALTH)
    assert set(modes_below(tmp_path).values()) == {0o600}


@pytest.mark.sweep
def test_a_site_is_for_everybody(tmp_path):
    """As far as the umask allows; here it allows all."""
    records = make_records(2, 1)
    write_reports(records, tmp_path / "reports")
    for path in (tmp_path / "reports").rglob("*.html"):
        path.chmod(0o600)
    os.umask(0o022)
    write_site(
        records, tmp_path / "site", find_folder=lambda _: tmp_path / "reports", title="Audits", time=TIME
    )
    found = modes_below(tmp_path / "site")
    assert {mode for name, mode in found.items() if (tmp_path / "site" / name).is_file()} == {0o644}
    assert {mode for name, mode in found.items() if (tmp_path / "site" / name).is_dir()} == {0o755}
