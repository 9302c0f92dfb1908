"""Configurations in the folder of a server: which exist, which have changed, and which cannot be used."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scorereport._utils.exits import describe_error
from scorereport.audit.plan import Plan, read_plan
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Digests = Mapping[Path, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigurationChange:
    """A change of a configuration; the plan is the one in force from now on, or the one that is dropped."""

    kind: Literal["added", "changed", "removed", "refused", "passed_over"]
    path: Path
    plan: Plan | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownConfiguration:
    """A file as it was last read; if it was refused, the plan is that of the previous version."""

    digest: str
    plan: Plan | None = None
    reason: str = ""


class ConfigurationFolder:
    """All configurations of a folder, and their changes since the last update."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries: dict[Path, KnownConfiguration] = {}
        self._before: Digests | None = None

    @property
    def refused(self) -> dict[Path, str]:
        """The reasons why configurations cannot be used as they are."""
        return {path: entry.reason for path, entry in self._entries.items() if entry.reason}

    def update(self) -> list[ConfigurationChange]:
        """Read the folder again, and return the changes; raise an OSError if it cannot be read.

        A changed file is read once it is the same in two updates, so that a file that is just being saved is
        left alone. A refused file is tried in every update: the reason may lie outside of it.
        """
        digests = hash_configurations(self._folder)
        before = digests if self._before is None else self._before
        self._before = digests
        known = {path: entry.digest for path, entry in self._entries.items()}
        again = [path for path in self.refused if known[path] == digests.get(path)]
        paths = {*find_stable_changes(known, before, digests), *again}
        gone_first = sorted(paths, key=lambda path: (path in digests, path))
        return [change for path in gone_first for change in self._review(path, digests.get(path))]

    def _review(self, path: Path, digest: str | None) -> Iterator[ConfigurationChange]:
        old = self._entries.get(path)
        if digest is None:
            yield from self._drop(path, "The file is gone.")
            return
        try:
            plan = read_scheduled_plan(path)
            self._check_name(plan, path)
        except Exception as error:  # a configuration, however broken, must not stop the audits of others
            yield from self._refuse(path, digest, describe_error(error))
            return
        if plan is None:
            yield from self._drop(path, "It has no `audit.schedule.cron` any more.")
            self._entries[path] = KnownConfiguration(digest=digest)
            yield ConfigurationChange(
                kind="passed_over", path=path, reason="It has no `audit.schedule.cron`."
            )
            return
        yield from self._accept(path, digest, plan, None if old is None else old.plan)

    def _accept(self, path: Path, digest: str, plan: Plan, old: Plan | None) -> Iterator[ConfigurationChange]:
        if old is not None and old.name != plan.name:
            yield from self._drop(path, f"Its name is {plan.name} now.")
            old = None
        self._entries[path] = KnownConfiguration(digest=digest, plan=plan)
        yield ConfigurationChange(kind="added" if old is None else "changed", path=path, plan=plan)

    def _refuse(self, path: Path, digest: str, reason: str) -> Iterator[ConfigurationChange]:
        old = self._entries.get(path)
        plan = None if old is None else old.plan
        self._entries[path] = KnownConfiguration(digest=digest, plan=plan, reason=reason)
        if old is None or (old.digest, old.reason) != (digest, reason):
            yield ConfigurationChange(kind="refused", path=path, plan=plan, reason=reason)

    def _drop(self, path: Path, reason: str) -> Iterator[ConfigurationChange]:
        old = self._entries.pop(path, None)
        if old is not None and old.plan is not None:
            yield ConfigurationChange(kind="removed", path=path, plan=old.plan, reason=reason)

    def _check_name(self, plan: Plan | None, path: Path) -> None:
        """Refuse a second configuration with the same name: their records could not be distinguished."""
        for other, entry in self._entries.items():
            if plan and other != path and entry.plan and entry.plan.name == plan.name:
                raise UsageError(
                    f"`audit.name` must differ between the configurations of a folder; got {plan.name!r}, "
                    f"which is that of {other.name}. Without `audit.name`, the name of the file is used."
                )


def hash_configurations(folder: Path) -> dict[Path, str]:
    """Return the configurations of a folder with the SHA-256 of their contents; hidden files are ignored."""
    paths = [path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith(".")]
    return {path: _hash_configuration(path) for path in sorted(paths) if path.is_file()}


def list_audit_configurations(folder: Path) -> list[Path]:
    """List the configurations of a folder with a table `[audit]`, and those that cannot be read."""
    return [path for path in hash_configurations(folder) if _may_be_audit(path)]


def _may_be_audit(path: Path) -> bool:
    try:
        return "audit" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return True


def find_stable_changes(known: Digests, before: Digests, digests: Digests) -> list[Path]:
    """Find files that differ from what was last read, but not from the previous update."""
    paths = {*known, *digests}
    return [path for path in paths if known.get(path) != digests.get(path) == before.get(path)]


def read_scheduled_plan(path: Path) -> Plan | None:
    """Read the plan of a configuration; None if it has no schedule, valid otherwise or not."""
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError, too
        raise UsageError(f"{path.name} is not a TOML file: {error}.") from error
    for key in ("audit", "schedule", "cron"):
        table = table.get(key) if isinstance(table, dict) else None
    return read_plan(path) if table else None


def _hash_configuration(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
