"""The commit in the provenance: how it is found, and that no program of the repository runs for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import scorereport as sr
from scorereport.report import provenance
from scorereport.report.provenance import Provenance, Revision, read_revision
from scorereport.report.report_record import build_report
from scorereport.report.sections.closing_sections import describe_provenance_section

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

#: Repositories of these tests do not depend on a user's configuration, nor their commits on the clock.
NEUTRAL = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file:ext",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@x.example",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@x.example",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder, *arguments):
    return subprocess.run(
        ["git", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **NEUTRAL},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def make_repository(folder, *options):
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", *options)
    (folder / "data.csv").write_text("y,p\n1,0.5\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "repository")


@pytest.fixture
def trap(tmp_path):
    """A program that leaves a file behind when it runs."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'caught'}'\nexec cat\n")
    program.chmod(0o755)
    return program


def age(folder):
    """Give a file another time, so that git has to read it again."""
    os.utime(folder / "data.csv", (1, 1))


# ---- What the commit is ----


def test_a_clean_and_a_changed_folder(folder):
    head = git(folder, "rev-parse", "HEAD")
    assert read_revision(folder) == Revision(commit=head, is_changed=False)
    (folder / "new.csv").write_text("unknown to git, and so no change\n")
    age(folder)
    assert read_revision(folder) == Revision(commit=head, is_changed=False)
    (folder / "data.csv").write_text("y,p\n0,0.5\n")
    assert read_revision(folder) == Revision(commit=head, is_changed=True)


def test_a_staged_and_a_removed_file_are_changes(folder):
    git(folder, "rm", "-q", "--cached", "data.csv")
    assert read_revision(folder).is_changed is True
    git(folder, "reset", "-q")
    assert read_revision(folder).is_changed is False
    (folder / "data.csv").unlink()
    assert read_revision(folder).is_changed is True


def test_below_the_top_and_outside(folder, tmp_path):
    (folder / "a" / "b").mkdir(parents=True)
    assert read_revision(folder / "a" / "b") == read_revision(folder)
    assert read_revision(tmp_path) is None


def use_packed_references(folder):
    git(folder, "pack-refs", "--all")
    assert not (folder / ".git" / "refs" / "heads" / "main").exists()
    return folder


def use_detached_head(folder):
    git(folder, "checkout", "-q", "--detach")
    return folder


def use_packed_tag(folder):
    git(folder, "tag", "-a", "-m", "release", "v1")
    git(folder, "pack-refs", "--all")
    return folder


def use_symbolic_reference(folder):
    git(folder, "symbolic-ref", "refs/heads/other", "refs/heads/main")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/other")
    return folder


def use_working_tree(folder):
    git(folder, "worktree", "add", "-q", "-b", "side", folder.parent / "tree")
    return folder.parent / "tree"


def use_packs(folder):
    git(folder, "gc", "-q")
    return folder


def use_alternates(folder):
    git(folder.parent, "clone", "-q", "--shared", folder, "borrower")
    return folder.parent / "borrower"


def use_sparse_checkout(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "more.csv").write_text("y\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "more")
    git(folder, "sparse-checkout", "set", "--cone")
    assert not (folder / "deep").exists()
    return folder


def use_line_ends(folder):
    """Files with the line ends of Windows, as `core.autocrlf` of the repository sets them."""
    git(folder, "config", "core.autocrlf", "true")
    (folder / "data.csv").unlink()
    git(folder, "checkout", "-q", "data.csv")
    assert b"\r\n" in (folder / "data.csv").read_bytes()
    age(folder)
    return folder


def use_odd_name(folder):
    target = folder.parent / 'odd "name"\n; ünï'
    folder.rename(target)
    return target


LAYOUTS = [
    use_packed_references,
    use_detached_head,
    use_packed_tag,
    use_symbolic_reference,
    use_working_tree,
    use_packs,
    use_alternates,
    use_sparse_checkout,
    use_line_ends,
    use_odd_name,
]


@pytest.mark.parametrize("lay_out", LAYOUTS, ids=lambda lay_out: lay_out.__name__)
def test_every_layout_of_a_repository_is_read(folder, lay_out):
    place = lay_out(folder)
    head = git(place, "rev-parse", "HEAD")
    assert read_revision(place) == Revision(commit=head, is_changed=False)
    (place / "data.csv").write_text("changed\n")
    assert read_revision(place) == Revision(commit=head, is_changed=True)


def test_commits_of_sha_256(tmp_path):
    folder = make_repository(tmp_path / "long", "--object-format=sha256")
    head = git(folder, "rev-parse", "HEAD")
    assert len(head) == 64
    assert read_revision(folder) == Revision(commit=head, is_changed=False)


def test_a_repository_without_commits_has_no_revision(tmp_path):
    git(tmp_path, "init", "-q", "empty")
    assert read_revision(tmp_path / "empty") is None


@pytest.mark.parametrize(
    "head",
    [
        "ref: refs/heads/.invalid",  # references in a reftable, which only git reads
        "ref: refs/../../../secret",
        "ref: /etc/passwd",
        "ref: refs/heads/loop",
        "ref: refs/heads/\0",
        "no commit",
        "",
    ],
)
def test_a_head_that_leads_to_no_commit(folder, head):
    (folder / ".git" / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop\n")
    (folder.parent / "secret").write_text("c0ffee" * 6 + "abcd")
    (folder / ".git" / "HEAD").write_text(head)
    assert read_revision(folder) is None


def test_a_head_that_never_ends_is_not_waited_for(folder):
    (folder / ".git" / "HEAD").unlink()
    os.mkfifo(folder / ".git" / "HEAD")
    assert read_revision(folder) is None


def test_the_repository_of_another_user_needs_trust(folder, tmp_path, monkeypatch):
    commit = git(folder, "rev-parse", "HEAD")
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert read_revision(folder) is None
    (tmp_path / ".gitconfig").write_text(f'[safe]\n\tdirectory = "{folder.resolve()}"\n')
    assert read_revision(folder).commit == commit


# ---- No program of it runs ----


def configure(*settings):
    def make(folder, trap):
        for name, value in settings:
            git(folder, "config", name, value.format(trap=trap))

    return make


def filter_files(*settings, elsewhere=False):
    def make(folder, trap):
        configure(*settings)(folder, trap)
        place = folder / (".git/info/attributes" if elsewhere else ".gitattributes")
        place.parent.mkdir(exist_ok=True)
        place.write_text("*.csv filter=evil diff=evil\n")

    return make


def hook(name):
    def make(folder, trap):
        target = folder / ".git" / "hooks" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(trap, target)

    return make


def include(folder, trap):
    (folder.parent / "more.config").write_text(f"[core]\n\tfsmonitor = {trap}\n")
    git(folder, "config", "include.path", folder.parent / "more.config")


def configure_working_tree(folder, trap):
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "config", "--worktree", "core.fsmonitor", trap)


def configure_submodule(folder, trap):
    inner = make_repository(folder.parent / "inner")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
    git(folder, "commit", "-q", "-m", "sub")
    git(folder / "sub", "config", "core.fsmonitor", trap)


def lead_elsewhere(folder, trap):
    """A file `.git` that leads to a repository with a configuration of its own."""
    configure(("core.fsmonitor", "{trap}"))(folder, trap)
    (folder / ".git").rename(folder.parent / "elsewhere")
    (folder / ".git").write_text(f"gitdir: {folder.parent / 'elsewhere'}\n")


def miss_objects(folder, trap):
    """A partial clone, for which git fetches what is missing by a program that the clone names."""
    fetcher = folder.parent / "fetcher"
    fetcher.write_text(f"#!/bin/sh\nexec {trap} < /dev/null\n")
    fetcher.chmod(0o755)
    git(folder, "config", "core.repositoryFormatVersion", "1")
    configure(
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::{fetcher}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
    )(folder, trap)
    tree = git(folder, "rev-parse", "HEAD^{tree}")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()


#: Each with whether `git status` in the folder runs the program, as git 2.39 does.
HOSTILE = {
    "a monitor": (configure(("core.fsmonitor", "{trap}")), True),
    "a monitor with version": (
        configure(("core.fsmonitor", "{trap}"), ("core.fsmonitorHookVersion", "1")),
        True,
    ),
    "a clean filter": (filter_files(("filter.evil.clean", "{trap}")), True),
    "a filter process": (filter_files(("filter.evil.process", "{trap}")), True),
    "a required filter": (
        filter_files(("filter.evil.clean", "{trap}"), ("filter.evil.required", "true")),
        True,
    ),
    "a filter in info": (filter_files(("filter.evil.clean", "{trap}"), elsewhere=True), True),
    "a hook": (hook("post-index-change"), True),
    "a hook elsewhere": (
        lambda folder, trap: (
            shutil.copy(trap, folder.parent / "post-index-change"),
            configure(("core.hooksPath", str(folder.parent)))(folder, trap),
        ),
        True,
    ),
    "an included monitor": (include, True),
    "a monitor of the working tree": (configure_working_tree, True),
    "a monitor of a submodule": (configure_submodule, True),
    "a repository elsewhere": (lead_elsewhere, True),
    "missing objects": (miss_objects, True),
    "an external diff": (configure(("diff.external", "{trap}")), False),
    "a textconv": (filter_files(("diff.evil.textconv", "{trap}")), False),
    "a pager": (configure(("core.pager", "{trap}"), ("pager.status", "{trap}")), False),
    "an alias": (configure(("alias.status", "!{trap}"), ("alias.rev-parse", "!{trap}")), False),
    "a credential helper": (configure(("credential.helper", "!{trap}")), False),
    "an ssh command": (configure(("core.sshCommand", "{trap}"), ("core.gitProxy", "{trap}")), False),
    "an editor": (configure(("core.editor", "{trap}"), ("sequence.editor", "{trap}")), False),
    "a signer": (configure(("gpg.program", "{trap}"), ("log.showSignature", "true")), False),
}


@pytest.fixture(params=HOSTILE)
def hostile(request, folder, trap):
    HOSTILE[request.param][0](folder, trap)
    age(folder)
    (trap.parent / "caught").unlink(missing_ok=True)
    return folder


def test_no_program_of_a_repository_runs(hostile, trap):
    index = hostile.parent / "elsewhere" if (hostile / ".git").is_file() else hostile / ".git"
    before = (index / "index").read_bytes()
    revision = read_revision(hostile)
    assert not (trap.parent / "caught").exists()
    assert (index / "index").read_bytes() == before
    assert revision is not None
    assert len(revision.commit) == 40


@pytest.mark.parametrize("name", [name for name, (_, ran) in HOSTILE.items() if ran])
def test_the_traps_work(folder, trap, name):
    """Git itself runs each of these programs: the test above would see it."""
    HOSTILE[name][0](folder, trap)
    age(folder)
    (trap.parent / "caught").unlink(missing_ok=True)
    subprocess.run(
        ["git", "status", "--porcelain", "-uno"],
        cwd=folder,
        env={**os.environ, **NEUTRAL},
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (trap.parent / "caught").exists()


def test_settings_of_git_in_the_environment_are_ignored(folder, trap, tmp_path, monkeypatch):
    other = make_repository(tmp_path / "other")
    (other / "data.csv").write_text("changed\n")
    head = git(folder, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap))
    assert read_revision(folder) == Revision(commit=head, is_changed=False)
    assert not (tmp_path / "caught").exists()


def test_a_working_tree_elsewhere_is_not_looked_at(folder, tmp_path):
    (tmp_path / "away").mkdir()
    git(folder, "config", "core.worktree", tmp_path / "away")
    assert read_revision(folder).is_changed is False


def test_a_git_in_the_working_folder_is_not_run(folder, trap, monkeypatch):
    shutil.copy(trap, folder / "git")
    head = git(folder, "rev-parse", "HEAD")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    assert read_revision(Path.cwd()) == Revision(commit=head, is_changed=None)
    assert not (trap.parent / "caught").exists()


# ---- What cannot be known ----


def test_without_git_the_commit_is_known_and_changes_are_not(folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    commit = (folder / ".git" / "refs" / "heads" / "main").read_text().strip()
    assert read_revision(folder) == Revision(commit=commit, is_changed=None)


def test_files_behind_a_filter_that_was_not_run_are_not_reported_as_changed(folder):
    """As with Git LFS: the files in the index and in the folder differ; only the filter can compare them."""
    git(folder, "config", "filter.shout.clean", "tr a-z A-Z")
    (folder / ".gitattributes").write_text("*.csv filter=shout\n")
    git(folder, "add", "--renormalize", ".")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-q", "-m", "filtered")
    age(folder)
    assert read_revision(folder).is_changed is None
    (folder / ".gitattributes").write_text("*.csv filter=shout\n*.txt text\n")
    assert read_revision(folder).is_changed is True


def test_changes_in_a_submodule_are_found(folder, trap):
    configure_submodule(folder, trap)
    assert read_revision(folder).is_changed is False
    (folder / "sub" / "data.csv").write_text("changed\n")
    assert read_revision(folder).is_changed is True
    assert not (trap.parent / "caught").exists()


def test_changes_are_unknown_if_git_takes_too_long(folder, monkeypatch):
    (folder / ".git" / "index").unlink()
    os.mkfifo(folder / ".git" / "index")
    monkeypatch.setattr(provenance, "_SECONDS_FOR_GIT", 0.3)
    assert read_revision(folder).is_changed is None


@pytest.mark.parametrize(
    ("is_changed", "state"),
    [
        (True, "with uncommitted changes"),
        (False, "without changes"),
        (None, "and it could not be determined whether files differ from it"),
    ],
)
def test_the_report_states_what_is_known(is_changed, state):
    frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": [0.2, 0.7, 0.6, 0.4]})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=0)
    revision = Revision(commit="c0ffee", is_changed=is_changed)
    report = build_report(evaluation, Provenance(time="2026-11-15T00:00:00+00:00", revision=revision))
    facts = describe_provenance_section(report).content["facts"]
    assert {"label": "Commit", "text": f"c0ffee, {state}"} in facts
