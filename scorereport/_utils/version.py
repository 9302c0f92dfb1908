"""The version of the installed package."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version


@cache
def package_version() -> str:
    """Return the version from the metadata of the installed package."""
    return version("scorereport")
