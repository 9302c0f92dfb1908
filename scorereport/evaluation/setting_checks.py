"""Checks of the settings of `evaluate()`: ranges, kinds of models, memory and folders."""

from __future__ import annotations

import re
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_inside, check_interval, check_whole, shortest
from scorereport._utils.machine import physical_memory
from scorereport._utils.processes import signals_deferred
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.errors import UsageError
from scorereport.reliability.band_bounds import fewest_resamples
from scorereport.scores.hard_labels import check_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from scorereport.results.model_records import EvaluationSettings

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.IGNORECASE)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: The smallest memory limit in bytes: DuckDB cannot sort with less.
_LEAST = 100_000_000


def check_resamples(resamples: int, band_level: float) -> int:
    """Check the number of resamples: 0, or enough for every band and interval."""
    needed = max(fewest_resamples(band_level), 2)
    if check_whole(resamples, "resamples", 0) not in range(1, needed):
        return resamples
    raise UsageError(
        f"`resamples` must be 0, or at least {needed} for bands of level {shortest(band_level)}."
    )


def check_costs(interval: tuple[float, float]) -> tuple[float, float]:
    """Check the cost interval: two cost ratios inside (0, 1), the lower one first."""
    if np.shape(interval) != (2,):
        raise UsageError(f"`cost_interval` must be a pair of numbers; got {interval!r}.")
    return check_interval(*interval, closed="neither")


def check_thresholds(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Check thresholds, and return them in ascending order, each once."""
    if np.ndim(thresholds) != 1 or np.size(thresholds) == 0:
        raise UsageError(f"`thresholds` must be a list of at least one number; got {thresholds!r}.")
    return tuple(sorted({check_inside(t, "thresholds", 0, 1, closed="neither") for t in thresholds}))


def check_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Check the fractions of retention curves: numbers in [0, 1) that rise from 0."""
    if np.ndim(fractions) != 1 or np.size(fractions) < 2:
        raise UsageError(f"`retention_fractions` must be a list of at least two numbers; got {fractions!r}.")
    rising = tuple(check_inside(f, "retention_fractions", 0, 1, closed="left") for f in fractions)
    if rising[0] != 0 or any(a >= b for a, b in pairwise(rising)):
        raise UsageError(f"`retention_fractions` must rise from 0; got {list(fractions)!r}.")
    return rising


def check_cost_matrix(
    cost_matrix: ArrayLike | None, predictions: Predictions | ClassPredictions
) -> tuple[tuple[float, ...], ...] | None:
    """Check the cost matrix, which has a row for each observed class and a column for each decision."""
    if cost_matrix is None:
        return None
    if isinstance(predictions, Predictions):
        raise UsageError("`cost_matrix` is for models of several classes; for an event use `cost_interval`.")
    costs = check_cost(cost_matrix, len(predictions.classes), "cost_matrix")
    return tuple(map(tuple, costs.tolist()))


def check_model_kind(predictions: Predictions | ClassPredictions, settings: EvaluationSettings) -> None:
    """Refuse settings of binary models if there are several classes."""
    if isinstance(predictions, Predictions):
        return
    for name in ("cost_interval", "thresholds"):
        if getattr(settings, name) is not None:
            raise UsageError(f"`{name}` is for binary models; for several classes use `cost_matrix`.")


def check_engine_support(
    data: Any, columns: Mapping[str, Any], cost_matrix: ArrayLike | None, engine: str
) -> None:
    """Refuse data that must be evaluated in memory: predictions, and models of several classes."""
    if isinstance(data, (Predictions, ClassPredictions)):
        raise UsageError(f'Predictions are in memory: `engine` must be "memory" or "auto"; got {engine!r}.')
    if columns.get("classes") is not None:
        raise UsageError(f'`engine` must be "memory" for several classes; got {engine!r}.')
    if cost_matrix is not None:
        raise UsageError("`cost_matrix` is for models of several classes; for an event use `cost_interval`.")


def check_memory_limit(limit: str | None) -> int:
    """The memory limit in bytes; by default a quarter of the machine's memory.

    >>> check_memory_limit("1GB"), check_memory_limit("512 MiB")
    (1000000000, 536870912)
    """
    if limit is None:
        return max(physical_memory() // 4, _LEAST)
    found = _SIZE.fullmatch(limit) if isinstance(limit, str) else None
    if found is None:
        raise UsageError(f'`memory_limit` must be a size such as "1GB" or "512MB"; got {limit!r}.')
    unit = found[2].lower()
    size = int(float(found[1]) * (1024 if unit.endswith("ib") else 1000) ** _POWERS[unit[0]])
    if size < _LEAST:
        raise UsageError(f'`memory_limit` must be at least "100MB"; got {limit!r}.')
    return size


def check_temporary_folder(folder: str | Path | None) -> Path:
    """Check that the temporary folder exists; by default it is that of the system."""
    # Python tests the folder of the system by writing a file; a signal would leave the file there
    with signals_deferred():
        place = Path(tempfile.gettempdir() if folder is None else folder)
    if not place.is_dir():
        raise UsageError(f"`temporary_folder` must be a folder that exists; got {str(folder)!r}.")
    return place
