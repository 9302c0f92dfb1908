"""`from_r()` and `band_from_r()`: fits and bands from objects of the R package reliabilitydiag, without R."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.formatting import format_difference, join_some
from scorereport._utils.suggestions import suggest_name
from scorereport.data.r_columns import find_table
from scorereport.data.r_files import describe_object, open_r_file
from scorereport.data.r_objects import RList, RObject
from scorereport.errors import DataError, UsageError
from scorereport.reference.r_diagrams import ASYMPTOTICS, POINTWISE, POSITIONS
from scorereport.reliability.bands import COVERAGES, Band
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.r_files import OpenRFile  # noqa: TC004  # the type of a field
    from scorereport.reliability.fit import Corp

_CLASS = "reliabilitydiag"
_CASES, _REGIONS = ("case_id", "x", "y", "CEP_pav"), ("x", "lower", "upper", "method", "level", "position")
_SHOWN = 10
#: How far recalibrated probabilities of the object may be from those of the fit of its cases.
_TOLERANCE = 1e-9


def from_r(source: Any, forecast: str | None = None) -> Corp:
    """Make a fit of an object of class `reliabilitydiag` of the R package of that name.

    The cases of the object are fitted again, and the fit is compared with that of the object. R is not
    needed to read a file. The band of the object is read by `band_from_r`.

    Parameters
    ----------
    source : the path of an .rds file that `saveRDS()` wrote, or an object of rpy2
    forecast : which forecast, if the object has several
    """
    with _open_diagram(source, forecast) as diagram:
        cases = diagram.read("cases", _CASES)
    x, y = cases["x"], cases["y"]
    places = cases["case_id"]
    if not np.array_equal(np.sort(places), np.arange(1, len(places) + 1)):
        raise DataError(f"{diagram.name} holds cases that are not numbered from 1 on.")
    in_order = np.argsort(places)
    fit = corp(y[in_order], x[in_order])
    distance = np.abs(fit.cep - cases["CEP_pav"][in_order]).max()
    if not distance <= _TOLERANCE:
        raise DataError(
            f"{diagram.name} holds recalibrated probabilities that are not those of its cases: one differs "
            f"by {format_difference(distance)}."
        )
    return fit


def band_from_r(source: Any, forecast: str | None = None) -> Band | None:
    """Read the band of an object of class `reliabilitydiag`; None if it has none.

    Parameters
    ----------
    source : the path of an .rds file that `saveRDS()` wrote, or an object of rpy2
    forecast : which forecast, if the object has several
    """
    with _open_diagram(source, forecast) as diagram:
        regions = diagram.read("regions", _REGIONS)
        rows = diagram.count("cases")
    if not len(regions["x"]):
        return None
    kinds = {position: kind for kind, position in POSITIONS.items()}
    kind = kinds.get(regions["position"][0])
    if kind is None:
        raise DataError(f"{diagram.name} has a region of the unknown position {regions['position'][0]!r}.")
    coverage, method, resamples = _read_method(str(regions["method"][0]))
    return Band(
        x=regions["x"],
        lower=regions["lower"],
        upper=regions["upper"],
        kind=kind,
        coverage=coverage,
        method=method,
        level=float(regions["level"][0]),
        n=float(rows),
        resamples=resamples,
    )


def _read_method(text: str) -> tuple[str, str, int | None]:
    """The coverage, the method and the number of resamples of a region."""
    first, _, others = text.partition(" ")
    coverage, rest = (first, others) if first in COVERAGES and others else (POINTWISE, text)
    method, _, count = rest.rpartition("_")
    if not (method and count.isdecimal()):
        method, count = rest, ""
    names = {of_package: name for name, of_package in ASYMPTOTICS.items()}
    return coverage, names.get(method, method), int(count) if count else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Diagram:
    """One forecast of an object, in an open file."""

    name: str
    file: OpenRFile
    entry: RList

    def count(self, part: str) -> int:
        """The rows of a table."""
        table = find_table(self._find(part))
        return 0 if table is None else table.rows

    def read(self, part: str, columns: Sequence[str]) -> dict[str, Any]:
        """Columns of a table, as arrays."""
        table = find_table(self._find(part))
        missing = [name for name in columns if table is None or name not in table.names]
        if table is None or missing:
            lacks = f"{part}${missing[0]}" if table is not None else part
            raise DataError(f"{self.name} is not an object as {_CLASS} makes it: it lacks {lacks}.")
        found = self.file.read(table, columns)
        return {name: _as_array(found[name]) for name in columns}

    def _find(self, part: str) -> RObject:
        return dict(zip(self.entry.names, self.entry.items, strict=True)).get(part, RObject(what="NULL"))


def _as_array(column: pa.ChunkedArray) -> FloatArray | list[Any]:
    import pyarrow as pa

    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return column.cast(pa.float64()).to_numpy()
    return column.to_pylist()


@contextmanager
def _open_diagram(source: Any, forecast: str | None) -> Iterator[_Diagram]:
    with _as_file(source) as (path, name), open_r_file(path) as file:
        if not isinstance(file.content, RList) or _CLASS not in file.content.classes:
            raise DataError(f"{name} holds {describe_object(file.content)}, not one of class {_CLASS}.")
        entries = dict(zip(file.content.names, file.content.items, strict=True))
        chosen = _choose(forecast, list(entries), name)
        entry = entries[chosen]
        if not isinstance(entry, RList):
            raise DataError(f"{name} is not an object as {_CLASS} makes it.")
        yield _Diagram(name=name, file=file, entry=entry)


def _choose(forecast: str | None, names: Sequence[str], where: str) -> str:
    if not names:
        raise DataError(f"{where} holds no forecast.")
    known = join_some([repr(name) for name in names], _SHOWN)
    if forecast is None:
        if len(names) > 1:
            raise UsageError(f"{where} has {len(names)} forecasts, {known}: name one of them in `forecast`.")
        return names[0]
    if forecast not in names:
        meant = suggest_name(forecast, names)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise DataError(f"{where} has no forecast {forecast!r}; it has {known}.{hint}")
    return forecast


@contextmanager
def _as_file(source: Any) -> Iterator[tuple[Path, str]]:
    """The file of an object; an object of rpy2 is saved by the R in which it is."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        if not path.is_file():
            raise UsageError(f"{path} is not a file.")
        yield path, path.name
        return
    interface = sys.modules.get("rpy2.rinterface")
    if interface is None or not isinstance(source, interface.Sexp):
        raise UsageError(
            f"`source` must be the path of an .rds file or an object of rpy2; got {type(source).__name__}."
        )
    with TemporaryFolder("r-") as folder:
        path = folder / "object.rds"
        interface.baseenv["saveRDS"](source, str(path), compress=False)
        yield path, "The object"
