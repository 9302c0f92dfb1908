"""Marks of the probability scale in resamples and under drawn outcomes, from counts in segments.

A mark depends on rows only by sums: of powers of probabilities, and of counts in bins and blocks. A segment
is a range of probabilities of one class in which all pairs of case and class are in the same bins, blocks and
groups. So a resample only counts pairs in segments, and one sparse matrix gives the sums of many resamples
from their counts. scipy computes the product in one thread, in the same order for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from scorereport._utils.machine import repeat
from scorereport.inference.scale_draws import ScaleMarks
from scorereport.inference.scale_fits import fit_source, mean_marks, source_marks
from scorereport.reliability.sampling import SamplingUnits, random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.scale_draws import ScaleForecast, ScaleTarget

#: Numbers in the counts of one product, and the most resamples in it.
_CHUNK, _MOST = 1 << 19, 64
#: Resamples that have at most this many numbers in all are kept, to be used again.
_KEPT = 1 << 22
#: The places of the three sums of powers.
_POWERS = range(3)


class _Segments(NamedTuple):
    """The segment of each pair, with a row for each class, and the number of all segments."""

    of_pair: NDArray[np.intp]
    n: int

    def of_target(self, target: ScaleTarget) -> NDArray[np.intp]:
        """The segment of each pair of a target, in the order of its pairs."""
        return self.of_pair[target.classes].T.ravel()


class _Sums(NamedTuple):
    """A matrix whose products with counts are sums of a target, and the number of sums of each part."""

    matrix: sparse.csr_array
    sizes: tuple[int, ...]


class ResampledRows:
    """Weights of rows in resamples, by chunk; if they are not too many, each chunk is drawn once only.

    It does not hold the units, so that it is forgotten with them.
    """

    def __init__(self, resamples: int, seed: int) -> None:
        self.resamples, self.seed = resamples, seed
        self._kept: dict[int, FloatArray] = {}

    def draw(self, units: SamplingUnits, chunk: int) -> FloatArray:
        """The weights of each row, with a column for each resample of a chunk."""
        if chunk in self._kept:
            return self._kept[chunk]
        size = choose_size(units.rows)
        numbers = range(chunk * size, min((chunk + 1) * size, self.resamples))
        drawn = [units.draw(random_stream(self.seed, number)) for number in numbers]
        weights = np.ascontiguousarray(np.array(drawn).T)
        if units.rows * self.resamples <= _KEPT:
            self._kept[chunk] = weights
        return weights


#: Resamples of rows that models share, until their units are no longer used.
_SHARED: WeakKeyDictionary[SamplingUnits, ResampledRows] = WeakKeyDictionary()


def choose_size(rows: int) -> int:
    """The number of resamples that are computed together."""
    return int(np.clip(_CHUNK // rows, 1, _MOST))


def _share_resamples(units: SamplingUnits, resamples: int, seed: int) -> ResampledRows:
    known = _SHARED.get(units)
    if known is None or (known.resamples, known.seed) != (resamples, seed):
        known = _SHARED[units] = ResampledRows(resamples, seed)
    return known


def resample_marks(
    forecast: ScaleForecast, targets: Sequence[ScaleTarget], *, resamples: int, seed: int
) -> list[list[ScaleMarks]]:
    """The marks of each target, in both kinds of bins of the sample, in resamples of its units.

    Bins are kept: the interval is for the values with these bins, and isotonic regression of a
    resample would add its overfit to that of the sample.
    """
    if not resamples:
        return [[_join([]), _join([])] for _ in targets]
    segments = _cut_segments(forecast, targets, fine=False)
    of_rows, drawn = _sum_rows(forecast, segments), _share_resamples(forecast.units, resamples, seed)

    def count(chunk: int) -> FloatArray:
        return of_rows @ drawn.draw(forecast.units, chunk)

    def read(place: int, parts: Sequence[FloatArray]) -> list[ScaleMarks]:
        sums, zeros, *counts = parts
        model = _model_marks(sums, zeros[0], counts[0].sum(axis=0))
        return [
            ScaleMarks(model, source_marks(bins.of_cells(events.T), bins.of_cells(n.T)))
            for bins, events, n in zip(targets[place].bins, counts[:2], counts[2:], strict=True)
        ]

    sums = [_sum_resampled(target, segments) for target in targets]
    what = "bootstrapping the probability scale"
    return _collect(sums, count, read, times=resamples, rows=len(forecast.rows), what=what)


def draw_marks(
    forecast: ScaleForecast, targets: Sequence[ScaleTarget], *, draws: int, seed: int
) -> list[list[ScaleMarks]]:
    """The marks of each target under outcomes drawn from the forecasts.

    They are in the equal-count bins of the sample, and in CORP blocks fitted anew.
    """
    if not draws:
        return [[_join([]), _join([])] for _ in targets]
    segments = _cut_segments(forecast, targets, fine=True)
    flat, rows = segments.of_pair.ravel(), len(forecast.rows)
    size = choose_size(rows)

    def count(chunk: int) -> FloatArray:
        rng = random_stream(seed, chunk, 1)
        drawn = (forecast.draw(rng) for _ in range(chunk * size, min((chunk + 1) * size, draws)))
        counts = [np.bincount(flat[one.label * rows + one.row], one.weight, segments.n) for one in drawn]
        return np.ascontiguousarray(np.array(counts).T)

    def read(place: int, parts: Sequence[FloatArray]) -> list[ScaleMarks]:
        target, (powers, zeros, in_bins, in_groups) = targets[place], parts
        model = _model_marks(powers, zeros[0], in_bins.sum(axis=0))
        by_count = source_marks(target.bins[0].of_cells(in_bins.T), target.bins[0].sums(target.weight))
        _, n = target.groups
        fitted = fit_source(np.ascontiguousarray(in_groups.T), n)
        return [ScaleMarks(model, by_count), ScaleMarks(model, fitted)]

    sums = [_sum_drawn(target, segments) for target in targets]
    what = "drawing outcomes for the probability scale"
    return _collect(sums, count, read, times=draws, rows=len(forecast.rows), what=what)


def _collect(
    sums: Sequence[_Sums],
    count: Callable[[int], FloatArray],
    read: Callable[[int, Sequence[FloatArray]], list[ScaleMarks]],
    *,
    times: int,
    rows: int,
    what: str,
) -> list[list[ScaleMarks]]:
    """Count, multiply the counts by the matrices, and read the marks of each target, chunk by chunk."""

    def compute(chunk: int) -> list[list[ScaleMarks]]:
        counts = count(chunk)
        return [
            read(place, np.split(matrix @ counts, np.cumsum(sizes)[:-1]))
            for place, (matrix, sizes) in enumerate(sums)
        ]

    calls = -(-times // choose_size(rows))
    chunks = list(repeat(compute, calls, rows=rows, what=what, resamples=times))
    return [
        [_join([chunk[place][kind] for chunk in chunks]) for kind in range(2)] for place in range(len(sums))
    ]


def _join(marks: Sequence[ScaleMarks]) -> ScaleMarks:
    if not marks:
        return ScaleMarks(np.empty((0, 3)), np.empty((0, 3)))
    return ScaleMarks(*(np.concatenate(part) for part in zip(*marks, strict=True)))


def _cut_segments(forecast: ScaleForecast, targets: Sequence[ScaleTarget], *, fine: bool) -> _Segments:
    """Cut the probabilities of each class at the edges of all targets that contain it.

    These are edges of bins and blocks or, if `fine`, of bins and groups.
    """
    of_pair, n = np.empty(forecast.table.shape[::-1], dtype=np.intp), 0
    for place, p in enumerate(forecast.table.T):
        found = [t.find_edges(fine=fine) for t in targets if t.label in (None, place)]
        edges = np.unique(np.concatenate([[0.0], *found]))
        of_pair[place] = np.searchsorted(edges, p, side="right") - 1 + n
        n += len(edges)
    return _Segments(of_pair, n)


def _sum_rows(forecast: ScaleForecast, segments: _Segments) -> sparse.csc_array:
    """Counts of observed pairs and of all pairs in segments, then three sums of powers of each class.

    Its columns are compressed, because the weights of all resamples of a row are neighbours in memory.
    """
    rows, outcome, classes = forecast.rows, forecast.outcome, len(segments.of_pair)
    powers = [power[rows, outcome] for power in _in_order(forecast.powers)]
    sums = [segments.of_pair[outcome, rows], *(segments.of_pair + segments.n)]
    sums += [2 * segments.n + place * classes + outcome for place in range(len(powers))]
    values = np.concatenate([np.ones((1 + classes) * len(rows)), *powers])
    shape = (2 * segments.n + len(powers) * classes, len(rows))
    return sparse.csc_array((values, (np.concatenate(sums), np.tile(rows, len(sums)))), shape=shape)


def _sum_resampled(target: ScaleTarget, segments: _Segments) -> _Sums:
    """Sums of powers, weights of zeros, and counts of observed and of all pairs in both kinds of bins."""
    of_pair, n, classes = segments.of_target(target), segments.n, len(segments.of_pair)
    chosen = np.arange(classes)[target.classes]
    columns = 2 * n + len(_POWERS) * classes
    power = np.repeat(_POWERS, len(chosen))
    cells = [_match_cells(bins.cell, of_pair) for bins in target.bins]
    return _stack(
        [
            _sum_matched(power, 2 * n + power * classes + np.tile(chosen, len(_POWERS)), columns),
            _sum_zeros(target, of_pair, columns),
            *(_sum_matched(cell, segment, columns) for cell, segment in cells),
            *(_sum_matched(cell, segment + n, columns) for cell, segment in cells),
        ]
    )


def _sum_drawn(target: ScaleTarget, segments: _Segments) -> _Sums:
    """Sums of powers, weights of zeros, and counts in equal-count bins and in groups, of drawn pairs."""
    of_pair, n = segments.of_target(target), segments.n
    total = np.bincount(of_pair, target.weight, n)
    powers = _in_order(target.powers)
    sums = np.array([np.bincount(of_pair, target.weight * power, n) for power in powers])
    return _stack(
        [
            sparse.csr_array(sums / np.where(total > 0, total, 1.0)),
            _sum_zeros(target, of_pair, n),
            _sum_matched(*_match_cells(target.bins[0].cell, of_pair), n),
            _sum_matched(*_match_cells(target.groups[0], of_pair), n),
        ]
    )


def _in_order(powers: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """p, log p and p^(-2/3), in the order of the three means."""
    p, inverse, logs = powers
    return p, logs, inverse


def _stack(parts: Sequence[sparse.csr_array]) -> _Sums:
    return _Sums(sparse.vstack(parts, format="csr"), tuple(part.shape[0] for part in parts))


def _match_cells(
    cell: NDArray[np.intp], segment: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The cell of each segment that has pairs, and these segments, from those of each pair."""
    of_segment = np.full(int(segment.max()) + 1, -1, dtype=np.intp)
    of_segment[segment] = cell
    found = np.flatnonzero(of_segment >= 0)
    return of_segment[found], found


def _sum_matched(place: NDArray[np.intp], column: NDArray[np.intp], columns: int) -> sparse.csr_array:
    """A row for each place, with ones at its columns."""
    shape = (int(place.max(initial=0)) + 1, columns)
    return sparse.csr_array((np.ones(len(place)), (place, column)), shape=shape)


def _sum_zeros(target: ScaleTarget, segment: NDArray[np.intp], columns: int) -> sparse.csr_array:
    """A row with ones at the segments of probabilities 0."""
    found = np.unique(segment[target.powers[0] == 0])
    return _sum_matched(np.zeros_like(found), found, columns)


def _model_marks(powers: FloatArray, zeros: FloatArray, total: FloatArray) -> FloatArray:
    """The marks of the model from the sums of powers; those after the first are 0 if a probability is 0."""
    marks = mean_marks(powers, total)
    marks[zeros > 0, 1:] = 0.0
    return marks
