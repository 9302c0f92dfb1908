"""Modules that libraries import without a use for commands: they are loaded if something is taken from them.

SciPy copies all names of NumPy when it is imported, among them the compiler of Fortran and the tools for
tests. To load these takes a fifth of the time of `import scipy.optimize`.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from importlib.util import LazyLoader
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_DEFERRED = frozenset({"numpy.f2py", "numpy.testing"})


def defer_imports() -> None:
    """Load these modules when something is taken from them, from now on."""
    if not any(isinstance(finder, _Deferring) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Deferring())


class _Deferring(MetaPathFinder):
    """Finds the deferred modules as Python does, and loads them later."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _DEFERRED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
