"""The version of this package, as it was installed."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version


@cache
def package_version() -> str:
    """The version in the metadata of the installed package."""
    return version("scorereport")
