"""Provenance of a report: time, command, software, and the commit of the user's git repository.

The configuration in `.git` can name programs for nearly every step of git: monitors, filters, hooks,
transports. Therefore the commit is read from the files, and git compares files with it in a separate, empty
repository with its own configuration, which uses the objects and the index of the user's repository.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.clock import timestamp
from scorereport._utils.files import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Git = Callable[..., str]

_SECONDS_FOR_GIT = 10
#: Most bytes read from files of git: a line with a reference, and the list of all references.
_LINE, _LIST = 4096, 64 << 20
#: Most steps from a reference to a reference.
_DEEPEST_REFERENCE = 5
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA1_LENGTH = 40
#: Settings of a repository that determine how its files are stored and do not name a program.
_STORAGE_SETTINGS = (
    r"^core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|checkstat|trustctime)$"
)
#: Mode of entries of an index that are submodules.
_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit of a git repository, and whether files differed from it."""

    commit: str
    is_changed: bool | None  # None if that could not be determined


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repository:
    """The folders of a repository: its files, its references and its objects."""

    files: Path
    folder: Path  # of this working tree: HEAD and the index
    common: Path  # of all working trees: references, objects and the configuration


def read_revision(folder: Path) -> Revision | None:
    """Return the current commit of a folder; None outside a repository, or in one of another user."""
    try:
        repository = _find_repository(folder.resolve())
        commit = None if repository is None else _read_commit(repository)
        if repository is None or commit is None or not _is_trusted(repository):
            return None
    except (OSError, ValueError):  # paths that cannot be read, or contain invalid characters
        return None
    return Revision(commit=commit, is_changed=_has_changes(repository, commit))


# ---- The commit, from the files ----


def _find_repository(folder: Path) -> _Repository | None:
    for place in (folder, *folder.parents):
        found = place / ".git"
        if found.is_file():  # of a linked working tree, or of a submodule
            address = _read_line(found).removeprefix("gitdir: ")
            found = place / address
        if (found / "HEAD").is_file():
            common = found / _read_line(found / "commondir") if (found / "commondir").is_file() else found
            return _Repository(files=place, folder=found.resolve(), common=common.resolve())
    return None


def _read_commit(repository: _Repository) -> str | None:
    """Follow HEAD to a commit; None without commits, or if references are stored in another way."""
    value = _read_line(repository.folder / "HEAD")
    for _ in range(_DEEPEST_REFERENCE):
        if _COMMIT.fullmatch(value):
            return value
        name = value.removeprefix("ref: ").strip()
        if not name.startswith("refs/") or ".." in name:
            return None
        value = _read_reference(repository, name)
    return None


def _read_reference(repository: _Repository, name: str) -> str:
    for folder in (repository.folder, repository.common):
        if (folder / name).is_file():
            return _read_line(folder / name)
    packed = repository.common / "packed-refs"
    lines = _read_start(packed, _LIST).splitlines() if packed.is_file() else []
    return next((line.partition(" ")[0] for line in lines if line.partition(" ")[2] == name), "")


def _read_line(path: Path) -> str:
    return _read_start(path, _LINE).partition("\n")[0].rstrip()


def _read_start(path: Path, size: int) -> str:
    with path.open("rb") as file:
        return os.fsdecode(file.read(size))


# ---- Whether files differ from it ----


def _has_changes(repository: _Repository, commit: str) -> bool | None:
    """Whether files, including those of submodules, differ from the commit; None if not known."""
    try:
        with _isolated_git(repository, commit) as git:
            status = git("status", "--porcelain", "-z", "-uno", "--no-renames", "--ignore-submodules=dirty")
            if status:
                return _judge_changes(git, [entry[3:] for entry in status.split("\0") if entry])
            staged = [entry.split("\t", 1) for entry in git("ls-files", "-z", "--stage").split("\0") if entry]
            inner = [name for facts, name in staged if facts.startswith(_SUBMODULE)]
            return _compare_submodules(repository.files, inner)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _judge_changes(git: Git, names: list[str]) -> bool | None:
    """Whether files that seem to differ do; None if all of them would have to pass a filter first."""
    answer = git("check-attr", "-z", "--stdin", "filter", given="\0".join(names)).split("\0")
    has_filter = [value not in ("unspecified", "unset") for value in answer[2::3]]
    return None if has_filter and all(has_filter) else True


def _compare_submodules(files: Path, names: list[str]) -> bool | None:
    answers: set[bool | None] = {False}
    for name in names:
        place = (files / name).resolve()
        if place != files.resolve() and place.is_relative_to(files.resolve()) and (place / ".git").exists():
            revision = read_revision(place)
            answers.add(None if revision is None else revision.is_changed)
    return True if True in answers else None if None in answers else False


def _is_trusted(repository: _Repository) -> bool:
    """Whether a repository belongs to this user, or git is configured to trust it, as git requires."""
    if not hasattr(os, "geteuid"):
        return True
    owners = {path.stat().st_uid for path in (repository.files, repository.folder, repository.common)}
    if owners <= {os.geteuid(), _real_user()}:
        return True
    with suppress(OSError, subprocess.SubprocessError):
        with TemporaryFolder("git-") as empty:
            trusted = _run_git(_environment(empty), "config", "--get-all", "safe.directory")
        return bool({"*", str(repository.files)} & set(trusted.splitlines()))
    return False


def _real_user() -> int:
    """Return the id of the user who ran sudo, else of the current user."""
    named = os.environ.get("SUDO_UID", "")
    return int(named) if os.geteuid() == 0 and named.isdecimal() else os.geteuid()


# ---- Git in a separate repository ----


@contextmanager
def _isolated_git(repository: _Repository, commit: str) -> Iterator[Git]:
    """Run git in an empty repository that uses the objects and the index of another, at its commit."""
    with TemporaryFolder("git-") as own:
        for folder in ("objects", "refs"):
            (own / folder).mkdir()
        (own / "HEAD").write_text(f"{commit}\n", encoding="ascii")
        settings = _read_settings(repository, _environment(own))
        (own / "config").write_text(_write_configuration(commit, settings), encoding="ascii")
        environment = _environment(own) | {
            "HOME": str(own),
            "XDG_CONFIG_HOME": str(own),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_WORK_TREE": str(repository.files),
            "GIT_INDEX_FILE": str(repository.folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(repository.common / "objects"),
        }

        def git(*arguments: str, given: str = "") -> str:
            return _run_git(environment, *arguments, given=given)

        yield git


def _read_settings(repository: _Repository, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of user and repository on how files are stored, and no other settings."""
    local = ("--no-includes", "--file", str(repository.common / "config"))
    for place in ((), local):
        with suppress(subprocess.CalledProcessError):  # there are no such settings
            found = _run_git(environment, "config", "-z", *place, "--get-regexp", _STORAGE_SETTINGS)
            for entry in filter(None, found.split("\0")):
                key, _, value = entry.partition("\n")
                yield key.removeprefix("core."), re.sub(r"\W", "", value, flags=re.ASCII) or "true"


def _write_configuration(commit: str, settings: Iterable[tuple[str, str]]) -> str:
    lines = ["[core]", "bare = false", *(f"{key} = {value}" for key, value in settings)]
    if len(commit) > _SHA1_LENGTH:
        lines += ["repositoryformatversion = 1", "[extensions]", "objectformat = sha256"]
    return "\n".join([*lines, ""])


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment with this folder as the repository, without side effects of git."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_DIR": str(folder),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _run_git(environment: dict[str, str], *arguments: str, given: str = "") -> str:
    """Run git in the folder of the repository that the environment names, and return its output."""
    program = shutil.which("git")
    if (
        program is None or not Path(program).is_absolute()
    ):  # a relative path would depend on the working folder
        raise FileNotFoundError("git")
    completed = subprocess.run(
        [program, *arguments],
        cwd=environment["GIT_DIR"],
        env=environment,
        input=os.fsencode(given),
        capture_output=True,
        timeout=_SECONDS_FOR_GIT,
        check=True,
    )
    return os.fsdecode(completed.stdout)


_SOFTWARE = (
    "scorereport",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "matplotlib",
    "jinja2",
    "weasyprint",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Time, command, software and machine of a report."""

    time: str
    command: str = ""
    templates_sha256: str = ""
    revision: Revision | None = None
    machine: str = ""
    software: dict[str, str] = field(default_factory=dict)


def trace_provenance(*, command: str = "", templates_sha256: str = "", time: str | None = None) -> Provenance:
    """Return the provenance of this run."""
    return Provenance(
        time=timestamp() if time is None else time,
        command=command,
        templates_sha256=templates_sha256,
        revision=read_revision(Path.cwd()),
        machine=name_machine(),
        software=list_software(),
    )


def name_machine() -> str:
    """Return the operating system and the kind of processor."""
    return f"{platform.system()} {platform.machine()}"


def list_software() -> dict[str, str]:
    """Return the versions of Python and of the packages that determine a report."""
    found = {"python": platform.python_version()}
    for name in _SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder, not installed
            continue
    return found
