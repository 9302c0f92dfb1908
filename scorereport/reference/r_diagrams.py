"""`to_r()`: fits as an object of the R package reliabilitydiag, which R makes in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.rules import check_result
from scorereport.data.r_files import R_DATA
from scorereport.errors import ScoreReportError, UsageError
from scorereport.reference.live_references import PACKAGE, are_rows, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reliability.bands import Band
from scorereport.reliability.fit import Corp

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.exchange import SentVector

#: What the package calls the kinds and methods of bands.
POSITIONS = {"consistency": "diagonal", "confidence": "estimate"}
ASYMPTOTICS = {"discrete": "discrete_asymptotics", "continuous": "continuous_asymptotics"}
POINTWISE = "pointwise"
#: The name of a single fit, as the package names a forecast that has none.
_NAME = "X1"
_ENDING = R_DATA.endings[0]
#: The most cases of the package, whose numbers of cases are integers of R.
_MOST_CASES = 2**31 - 1


def to_r(
    fit: Corp | Mapping[str, Corp],
    path: str | Path | None = None,
    *,
    band: str | Band | Mapping[str, Band] | None = "consistency",
    level: float = 0.9,
    time_limit: float = 600,
) -> Any:
    """Make an object of class `reliabilitydiag` of one fit, or of several fits of the same outcomes.

    With a `path`, the object is saved there, for `readRDS()` in R. R runs in a process of its own and needs
    rpy2 and the R package reliabilitydiag. `summary()`, `autoplot()` and `plot()` of the package then work on
    the object, whose bins, recalibrated probabilities and bands are those of the fit, to the last bit.

    Parameters
    ----------
    fit : a fit, or fits by the names of their forecasts; whole weights become repeated cases
    path : where to save the object, a name that ends in .rds; without one, the object is returned, which
        needs an R that runs in this process already: `import rpy2.robjects` first
    band : "consistency" or "confidence" for the band that `fit.band()` draws, a band, bands by name, or None
    level : the level of a band that is drawn
    time_limit : seconds that R may take

    Returns
    -------
    The path, or the object of rpy2.

    >>> to_r({}, "fits.rds")
    Traceback (most recent call last):
    ...
    scorereport.errors.UsageError: `fit` must hold at least one fit.
    """
    fits = dict(fit) if isinstance(fit, Mapping) else {_NAME: fit}
    if not fits:
        raise UsageError("`fit` must hold at least one fit.")
    for one in fits.values():
        check_result(one, "fit", Corp, "sr.corp")
    target = None if path is None else _check_path(path)
    vectors = _describe_fits(fits, {name: _choose_band(name, one, band, level) for name, one in fits.items()})
    robjects = _find_robjects() if target is None else None
    with TemporaryFolder("r-") as folder:
        file = folder / f"fit{_ENDING}"
        _assemble(file, vectors, time_limit)
        if robjects is not None:
            return robjects.r["readRDS"](str(file))
        if target is not None:
            target.write_bytes(file.read_bytes())
    return target


def _check_path(path: str | Path) -> Path:
    found = Path(path)
    if found.suffix.lower() != _ENDING:
        raise UsageError(f"`path` must end in {_ENDING}, as R names saved objects; got {found.name!r}.")
    if not found.absolute().parent.is_dir():
        raise UsageError(f"{found.absolute().parent} is not a folder.")
    return found


def _find_robjects() -> Any:
    """The module of rpy2 by which R runs in this process, which the caller must have imported."""
    robjects = sys.modules.get("rpy2.robjects")
    if robjects is None:
        raise UsageError(
            "R does not run in this process. Pass a `path` such as 'fit.rds' to save the object for R, or "
            "import rpy2.robjects first."
        )
    return robjects


def _assemble(file: Path, vectors: Mapping[str, SentVector], time_limit: float) -> None:
    try:
        with open_reference(PACKAGE, time_limit) as reference:
            reference.fetch("assemble", file=[str(file)], **vectors)
    except Unavailable as error:
        raise ScoreReportError(f"{error} To fix: {error.remedy}") from error
    except ReferenceFailure as failure:
        raise ScoreReportError(str(failure)) from failure


def _choose_band(
    name: str, fit: Corp, band: str | Band | Mapping[str, Band] | None, level: float
) -> Band | None:
    fit.require_events("An object of reliabilitydiag")
    found = band.get(name) if isinstance(band, Mapping) else band
    if isinstance(found, str):
        found = fit.band(found, level)
    if found is None:
        return None
    check_result(found, "band", Band, "fit.band")
    if found.shape != "line":
        raise UsageError(
            f"The {found.label} has steps, and reliabilitydiag draws lines between its forecasts: pass "
            "another band, or band=None."
        )
    return found


def _describe_fits(fits: Mapping[str, Corp], bands: Mapping[str, Band | None]) -> dict[str, SentVector]:
    """The vectors from which R assembles the object."""
    outcomes = {name: _expand(fit) for name, fit in fits.items()}
    (first, (y, _)), *others = outcomes.items()
    for name, (other, _) in others:
        if not np.array_equal(other, y):
            raise UsageError(
                f"Fits must be of the same outcomes in the same order; {first} and {name} are not."
            )
    found: dict[str, SentVector] = {"names": list(fits), "y": y}
    for place, (name, fit) in enumerate(fits.items(), 1):
        vectors = {"x": outcomes[name][1], **_describe_bins(fit), **_describe_band(fit, bands[name])}
        found |= {f"{key}_{place}": vector for key, vector in vectors.items()}
    return found


def _expand(fit: Corp) -> tuple[FloatArray, FloatArray]:
    """Outcomes and forecasts of a fit, in the order of the input; those with weights are repeated."""
    if fit.cases.weight is None and fit.outcome is not None:
        return fit.outcome.astype(np.float64), fit.y_prob
    weight = fit.cases.weight
    if weight is None or not are_rows(weight) or fit.n > _MOST_CASES:
        raise UsageError("reliabilitydiag has no weights: they must be whole numbers, which repeat cases.")
    counts = weight.astype(np.intp)
    return np.repeat(fit.cases.y_true, counts), np.repeat(fit.cases.y_prob, counts)


def _describe_bins(fit: Corp) -> dict[str, SentVector]:
    blocks = fit.blocks
    ends = {"bin_x_min": blocks.x_min, "bin_x_max": blocks.x_max}
    return {**ends, "bin_n": np.asarray(blocks.n, dtype=np.float64), "bin_cep": blocks.mean}


def _describe_band(fit: Corp, band: Band | None) -> dict[str, SentVector]:
    if band is None:
        none = np.empty(0)
        numbers = {"region_x": none, "region_lower": none, "region_upper": none, "region_n": none}
        return {**numbers, "level": [0.0], "method": [""], "position": [""]}
    return {
        "region_x": band.x,
        "region_lower": band.lower,
        "region_upper": band.upper,
        "region_n": _count_at(fit, band),
        "level": [band.level],
        "method": [name_method(band)],
        "position": [POSITIONS[band.kind]],
    }


def name_method(band: Band) -> str:
    """The method of a band as the package names it; a simultaneous one, which it lacks, says so."""
    coverage = "" if band.coverage == POINTWISE else f"{band.coverage} "
    draws = "" if band.resamples is None else f"_{band.resamples}"
    return f"{coverage}{ASYMPTOTICS.get(band.method, band.method)}{draws}"


def _count_at(fit: Corp, band: Band) -> FloatArray:
    """The number of cases with each forecast of a band; NaN, NA in R, for those of a grid."""
    distinct = fit.distinct
    places = np.minimum(np.searchsorted(distinct.x_min, band.x), len(distinct) - 1)
    return np.where(distinct.x_min[places] == band.x, distinct.n[places], np.nan)
