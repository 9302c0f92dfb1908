"""Costly things that several workers need are made once in a run."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder of this name that all workers of a run share."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def make_once(folder: Path, build: Callable[[], Any]) -> Any:
    """What `build` returns: the first worker that asks calls it, the others wait and read its result."""
    result = folder / "result.pickle"
    with FileLock(folder / "result.lock"):
        if not result.exists():
            result.write_bytes(pickle.dumps(build()))
    return pickle.loads(result.read_bytes())
