"""Where the counts of a model must be exact, chosen before its rows are sorted.

A digest keeps exact counts at chosen forecasts only. Those of curves, tables and bins are known by value,
those of quantiles, groups and cells of equal count by rank.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves.thinning import even_heights, even_knots, jumps_kept
from scorereport.evaluation.engines.protocol import BUCKETS, DigestPlan
from scorereport.evaluation.summaries import QUANTILES, choose_thresholds
from scorereport.inference.binned_errors import OTHER_BINS
from scorereport.inference.few_values import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.protocol import LabelCount, Survey
    from scorereport.inference.losses import Measure
    from scorereport.results.model_records import EvaluationSettings

#: Cells of equal count for what is smooth in the forecast, such as their density.
SMOOTH_CELLS = 16_384
#: Fewer buckets do for a group; there may be many groups, and each holds counts by block and bucket.
GROUP_BUCKETS = 100
#: A sum of fractions that is this near to the total reaches it.
_ROUNDING = 1e-12
#: Groups of Hosmer and Lemeshow.
TENTHS = 10
#: Of groups, counts are known at these forecasts and at this many ranks, for means over forecasts.
_GROUP_EDGES: FloatArray = np.arange(65) / 64
_GROUP_CELLS = 256
#: Buckets of clusters where nothing but their number is asked for: of all rows, and of each of many groups.
_COUNT_BUCKETS = 100
_GROUP_COUNT_BUCKETS = 25


def plan_model_digest(
    survey: Survey, settings: EvaluationSettings, measures: Iterable[Measure]
) -> DigestPlan:
    """What an evaluation asks of all rows of a model."""
    points = settings.curve_points
    return DigestPlan(
        total=survey.total,
        events=survey.events,
        measures=list_measures(measures),
        edges=_choose_values(settings),
        ranks=_choose_ranks(survey),
        heights=even_heights(_largest_height(survey), points),
        jumps=jumps_kept(points),
        buckets=_count_buckets(survey, BUCKETS, _COUNT_BUCKETS, infers=settings.resamples > 0),
        independent=survey.are_independent,
    )


def plan_group_digest(
    survey: Survey, label: LabelCount, measures: Iterable[Measure], *, infers: bool
) -> DigestPlan:
    """What is asked of the rows of a group: its scores, no curves."""
    some = DigestPlan(
        total=label.total,
        events=label.events,
        measures=list_measures(measures),
        buckets=_count_buckets(survey, GROUP_BUCKETS, _GROUP_COUNT_BUCKETS, infers=infers),
        most_distinct=MOST_VALUES,
        independent=survey.are_independent,
    )
    if not infers:
        return some
    ranks = cell_starts(float(label.total), _GROUP_CELLS, case_weight(label))
    return replace(some, edges=_GROUP_EDGES, ranks=ranks)


def _count_buckets(survey: Survey, most: int, clusters: int, *, infers: bool) -> int:
    """Buckets for intervals; without them, those that show how many clusters there are, if any."""
    if infers:
        return most
    return 1 if survey.clusters is None else clusters


def list_measures(measures: Iterable[Measure]) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Names and options of measures, which a process elsewhere resolves again."""
    return tuple((measure.name, tuple(measure.options.items())) for measure in measures)


def _choose_values(settings: EvaluationSettings) -> FloatArray:
    """The even knots of curves, thresholds, 1/2, and the edges of the bins of the calibration error."""
    thresholds = settings.thresholds or choose_thresholds(settings.cost_interval)
    bins = [np.arange(number + 1) / number for number in OTHER_BINS]
    return np.unique(np.concatenate([even_knots(settings.curve_points), thresholds, [0.5], *bins]))


def _choose_ranks(survey: Survey) -> FloatArray:
    """Cases next to quantiles, and at the ends of tenths and of cells of equal count."""
    total, case = survey.total, case_weight(survey)
    at = np.array([level * (total / case - 1) for level in QUANTILES])
    quantiles = np.concatenate([np.floor(at), np.ceil(at)]) * case
    starts = [cell_starts(total, cells, case) for cells in (TENTHS, count_cells(total / case), SMOOTH_CELLS)]
    ranks = np.concatenate([quantiles, *(np.append(start, start - case) for start in starts)])
    return np.unique(np.clip(ranks, 0, total - case if survey.counted else total * (1 - _ROUNDING)))


def count_cells(cases: float) -> int:
    """Cells of the honest band, 6 n^(1/3)."""
    return ceil(6 * int(cases) ** (1 / 3))


def cell_starts(total: float, cells: int, case: float = 1) -> FloatArray:
    """The first case that may start each cell of equal count, but the first cell.

    For whole numbers it is exact; cases of another weight are counted first.
    """
    if isinstance(total, int):
        return np.array([-(-k * total // cells) for k in range(1, cells)], dtype=np.float64)
    return np.ceil(np.arange(1, cells) * (total / case / cells)) * case


def case_weight(counts: Survey | LabelCount) -> float:
    """What a case weighs, Σw²/Σw: 1 if weights are counts."""
    is_whole = isinstance(counts.total, int)
    return 1.0 if is_whole or not counts.squares else counts.squares / counts.total


def _largest_height(survey: Survey) -> float:
    """The largest sum of both rates: 1 where a class is absent."""
    return float((survey.events > 0) + (survey.events < survey.total))
