"""What the tests share: repeatable hypothesis runs, and the recorded and the shared data."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parents[1]

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=80)
settings.load_profile("repeatable")


@cache
def recorded(name: str) -> dict[str, Any]:
    """Read one file of validation/recorded; also usable where tests are parametrised."""
    return json.loads((REPOSITORY / "validation" / "recorded" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Find the reference data that are not ours to copy, beside the repository."""
    folder = Path(os.environ.get("SCOREREPORT_SHARED", REPOSITORY.parent / "shared" / "reference"))
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder}; set SCOREREPORT_SHARED to their folder")
    return folder
