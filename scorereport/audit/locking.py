"""One audit at a time for each model, whoever starts it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport._utils.scorereport_files import make_folder
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

    from scorereport.audit.plan import Plan

#: How long a run waits for another of the same audit, in seconds.
DEFAULT_WAIT_SECONDS = 3600.0


@contextmanager
def hold_audit_lock(plan: Plan, *, wait: float = DEFAULT_WAIT_SECONDS) -> Iterator[None]:
    """Keep all others from running this audit inside the block; wait for them first.

    The system lets go of the lock of a process that dies, so none is ever left behind.
    """
    lock = _acquire_lock(plan, wait)
    try:
        yield
    finally:
        lock.release()


def _acquire_lock(plan: Plan, wait: float) -> BaseFileLock:
    from filelock import FileLock, Timeout

    path = plan.locks / f"{plan.name}.lock"
    lock = FileLock(path, mode=0o600)
    try:
        make_folder(path.parent)
        lock.acquire(timeout=wait)
    except Timeout as error:
        raise UsageError(
            f"Another run of the audit {plan.name} did not end within {wait:g} seconds; its lock is {path}."
        ) from error
    except OSError as error:
        raise UsageError(f"The folder {plan.folder} cannot be written: {error.strerror}.") from error
    return lock
