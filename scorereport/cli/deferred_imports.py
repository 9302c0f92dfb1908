"""Modules that commands may never use, which are loaded when something is taken from them.

SciPy copies all names of NumPy when it is imported, among them the compiler of Fortran and the tools for
tests. Its packages `optimize` and `special` load each other and most of SciPy, but evaluations take a few
compiled functions from them. To load all this would be a tenth of the time of a report on few rows.

Matplotlib describes the properties of each class when it is defined, in documentation that commands do not
show; this is half of the time that it takes to load.
"""

from __future__ import annotations

import operator
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec

    from numpy.typing import ArrayLike, NDArray


def defer_imports() -> None:
    """Load these modules when something is taken from them, from now on."""
    if not any(isinstance(finder, _Deferring) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Deferring())


class _Deferring(MetaPathFinder):
    """Finds the deferred modules as Python does, and loads them later."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _DEFERRED and fullname != _DOCUMENTED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            is_deferred = fullname in _DEFERRED
            spec.loader = (
                _DeferredLoader(spec.loader, _DEFERRED[fullname])
                if is_deferred
                else _UndocumentedLoader(spec.loader)
            )
        return spec


class _UndocumentedLoader(Loader):
    """Loads the base class of what Matplotlib draws, whose subclasses then do not list their properties."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        namespace: Any = module  # neither name is public: in another version they may do nothing
        namespace.Artist._update_set_signature_and_docstring = classmethod(lambda _: None)
        namespace.kwdoc = lambda _: ""


class _DeferredLoader(Loader):
    """Makes a module whose code does not run yet."""

    def __init__(self, loader: Loader, take: Callable[[str], Any]) -> None:
        self._loader = loader
        self._take = take

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["_deferred"] = _Deferred(self._loader, self._take)


class _Deferred:
    """What runs the code of a module, and a function that returns what can be taken before."""

    def __init__(self, loader: Loader, take: Callable[[str], Any]) -> None:
        self.run = loader.exec_module
        self.take = take
        self.is_begun = False
        self.lock = RLock()


class _DeferredModule(ModuleType):
    """A module whose code runs as soon as anything is taken from it that cannot be taken before."""

    def __getattr__(self, name: str) -> Any:
        deferred: _Deferred | None = self.__dict__.get("_deferred")
        if deferred is None or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        with deferred.lock:  # of several threads, one runs the code
            if not deferred.is_begun:
                try:
                    return deferred.take(name)
                except (ImportError, AttributeError):
                    self._run_code(deferred)
            return ModuleType.__getattribute__(self, name)  # its class may have changed by now

    def _run_code(self, deferred: _Deferred) -> None:
        deferred.is_begun = True
        try:
            deferred.run(self)
        except BaseException:
            deferred.is_begun = False
            raise
        self.__class__ = ModuleType  # type: ignore[assignment]  # it is a module like any other now


def _take_nothing(name: str) -> Any:
    raise AttributeError(name)


def _take_special(name: str) -> Any:
    """Return a function of `scipy.special` that needs compiled code only; the package gives the same one."""
    import numpy as np

    if name == "lambertw":
        return import_module("scipy.special._lambertw").lambertw
    found = getattr(import_module("scipy.special._ufuncs"), name)
    if not isinstance(found, np.ufunc):
        raise AttributeError(name)
    return found


def _take_optimize(name: str) -> Any:
    """Return a function of `scipy.optimize` that calls the same compiled code in the same way."""
    if name not in _OPTIMIZE:
        raise AttributeError(name)
    module, compiled, wrap, is_right = _OPTIMIZE[name]
    function = wrap(getattr(import_module(module), compiled))
    try:
        works = is_right(function)
    except Exception as error:  # another version of SciPy may take other arguments, or return another answer
        raise AttributeError(name) from error
    if not works:
        raise AttributeError(name)
    return function


#: The module that documents the classes of Matplotlib.
_DOCUMENTED = "matplotlib.artist"
#: The modules, and functions that return what can be taken from them before their own code runs.
_DEFERRED = {
    "numpy.f2py": _take_nothing,
    "numpy.testing": _take_nothing,
    "scipy.optimize": _take_optimize,
    "scipy.sparse": _take_nothing,
    "scipy.special": _take_special,
}


def _wrap_brentq(compiled: Callable[..., float]) -> Callable[..., float]:
    def brentq(
        f: Callable[[float], float],
        a: float,
        b: float,
        *,
        xtol: float = 2e-12,
        rtol: float = 4 * sys.float_info.epsilon,
        maxiter: int = 100,
    ) -> float:
        """Find a root between a and b by Brent's method."""

        def checked(x: float) -> float:
            value = f(x)
            if value != value:  # noqa: PLR0124  # NaN
                raise ValueError(f"The function value at x={x} is NaN; solver cannot continue.")
            return value

        return compiled(checked, a, b, xtol, rtol, operator.index(maxiter), (), False, True)

    return brentq


class _Isotonic(NamedTuple):
    """An isotonic regression: fitted values, and the edges of its blocks."""

    x: NDArray[Any]
    blocks: NDArray[Any]


def _wrap_isotonic(compiled: Callable[..., Any]) -> Callable[..., _Isotonic]:
    import numpy as np

    def isotonic_regression(y: ArrayLike, *, weights: ArrayLike | None = None) -> _Isotonic:
        """Fit values that do not fall to y, by pooling adjacent violators."""
        x = np.array(y, dtype=np.float64, ndmin=1)
        w = np.ones_like(x) if weights is None else np.array(weights, dtype=np.float64, ndmin=1)
        if not x.shape == w.shape or (w <= 0).any():
            raise ValueError("Weights must be positive, and as many as the values.")
        edges = np.full(len(x) + 1, -1, dtype=np.intp)
        x, _, edges, blocks = compiled(x, w, edges)
        return _Isotonic(x, edges[: blocks + 1])

    return isotonic_regression


def _finds_root(brentq: Callable[..., float]) -> bool:
    return abs(brentq(lambda x: x**3 - 2, 0.0, 2.0) - 2 ** (1 / 3)) < 1e-9


def _pools(isotonic_regression: Callable[..., _Isotonic]) -> bool:
    fit = isotonic_regression([4.0, 1.0, 3.0, 3.5], weights=[1.0, 2.0, 1.0, 1.0])
    return fit.x.tolist() == [2.0, 2.0, 3.0, 3.5] and fit.blocks.tolist() == [0, 2, 3, 4]


#: Functions of `scipy.optimize`: module and name of their compiled code, what calls it, and whether it gives
#: a known answer. Compiled code is not public: if it gives another answer, the whole package is loaded.
_OPTIMIZE: dict[str, tuple[str, str, Callable[..., Any], Callable[..., bool]]] = {
    "brentq": ("scipy.optimize._zeros", "_brentq", _wrap_brentq, _finds_root),
    "isotonic_regression": ("scipy.optimize._pava_pybind", "pava", _wrap_isotonic, _pools),
}
