"""The plan of a digest: the forecasts at which its counts must be exact, chosen before rows are sorted.

A digest keeps exact counts at chosen forecasts only. Those of curves, tables and bins are chosen by value,
those of quantiles, groups and cells of equal count by rank.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves.thinning import even_heights, even_knots, jumps_kept
from scorereport.evaluation.decision_thresholds import choose_thresholds
from scorereport.evaluation.engines.protocol import BUCKETS, DigestPlan
from scorereport.evaluation.forecast_summary import QUANTILES
from scorereport.inference.binned_errors import OTHER_BINS
from scorereport.inference.few_values import MOST_VALUES
from scorereport.reliability.cells import cell_starts as start_drawn_cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.protocol import LabelCount, Survey
    from scorereport.inference.losses import Measure
    from scorereport.results.settings import EvaluationSettings

#: Number of cells of equal count for functions that are smooth in the forecast, such as its density.
SMOOTH_CELLS = 16_384
#: Buckets of a group: few, because there may be many groups, each with counts by block and bucket.
GROUP_BUCKETS = 100
#: A sum of fractions this near the total counts as the total.
_ROUNDING = 1e-12
#: Groups of the Hosmer-Lemeshow test.
TENTHS = 10
#: The forecasts, and the number of ranks, at which counts of a group are exact, for means over forecasts.
_GROUP_EDGES: FloatArray = np.arange(65) / 64
_GROUP_CELLS = 256
#: Buckets of clusters if only the number of clusters is needed: of all rows, and of each of many groups.
_COUNT_BUCKETS = 100
_GROUP_COUNT_BUCKETS = 25


def plan_model_digest(
    survey: Survey, settings: EvaluationSettings, measures: Iterable[Measure]
) -> DigestPlan:
    """The plan for the digest of all rows of a model."""
    points = settings.curve_points
    return DigestPlan(
        total=survey.total,
        events=survey.events,
        measures=list_measures(measures),
        edges=_choose_values(settings),
        ranks=_choose_ranks(survey, points),
        heights=even_heights(_largest_height(survey), points),
        jumps=jumps_kept(points),
        buckets=_count_buckets(survey, BUCKETS, _COUNT_BUCKETS, infers=settings.infers),
        independent=survey.are_independent,
    )


def plan_group_digest(
    survey: Survey, label: LabelCount, measures: Iterable[Measure], *, infers: bool
) -> DigestPlan:
    """The plan for the digest of a group, which has scores but no curves."""
    plan = DigestPlan(
        total=label.total,
        events=label.events,
        measures=list_measures(measures),
        buckets=_count_buckets(survey, GROUP_BUCKETS, _GROUP_COUNT_BUCKETS, infers=infers),
        most_distinct=MOST_VALUES,
        independent=survey.are_independent,
    )
    if not infers:
        return plan
    ranks = cell_starts(float(label.total), _GROUP_CELLS, case_weight(label))
    return replace(plan, edges=_GROUP_EDGES, ranks=ranks)


def _count_buckets(survey: Survey, most: int, clusters: int, *, infers: bool) -> int:
    """The number of buckets: `most` for intervals; without intervals, enough to count any clusters."""
    if infers:
        return most
    return 1 if survey.clusters is None else clusters


def list_measures(measures: Iterable[Measure]) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Names and options of measures, which can be sent to another process and resolved there."""
    return tuple((measure.name, tuple(measure.options.items())) for measure in measures)


def _choose_values(settings: EvaluationSettings) -> FloatArray:
    """The even knots of curves, thresholds, 1/2, and the edges of the bins of the calibration error."""
    thresholds = settings.thresholds or choose_thresholds(settings.cost_interval)
    bins = [np.arange(number + 1) / number for number in OTHER_BINS]
    return np.unique(np.concatenate([even_knots(settings.curve_points), thresholds, [0.5], *bins]))


def _choose_ranks(survey: Survey, points: int) -> FloatArray:
    """Ranks of the cases next to quantiles, and at the ends of tenths and of cells of equal count.

    With independent cases, the points of bands and the cells in which samples are drawn are added.
    """
    total, case = survey.total, case_weight(survey)
    at = np.array([level * (total / case - 1) for level in QUANTILES])
    quantiles = np.concatenate([np.floor(at), np.ceil(at)]) * case
    starts = [cell_starts(total, cells, case) for cells in (TENTHS, count_cells(total / case), SMOOTH_CELLS)]
    if survey.are_independent:
        starts += [point_ranks(int(total), points), start_drawn_cells(int(total)).astype(np.float64)]
    ranks = np.concatenate([quantiles, *(np.append(start, start - case) for start in starts)])
    return np.unique(np.clip(ranks, 0, total - case if survey.counted else total * (1 - _ROUNDING)))


def point_ranks(total: int, points: int) -> FloatArray:
    """The ranks of the cases whose forecasts are points of a simultaneous band, evenly spread.

    >>> point_ranks(10, 4)
    array([0., 3., 6., 9.])
    """
    return np.linspace(0, total - 1, min(points, total)).round()


def count_cells(cases: float) -> int:
    """The number of cells of the honest band, 6 n^(1/3)."""
    return ceil(6 * int(cases) ** (1 / 3))


def cell_starts(total: float, cells: int, case: float = 1) -> FloatArray:
    """The rank of the first case of each cell of equal count, except the first cell.

    It is exact if the total is a whole number; otherwise cases of the effective weight are counted.
    """
    if isinstance(total, int):
        return np.array([-(-k * total // cells) for k in range(1, cells)], dtype=np.float64)
    return np.ceil(np.arange(1, cells) * (total / case / cells)) * case


def case_weight(counts: Survey | LabelCount) -> float:
    """The effective weight of a case, Σw²/Σw: 1 if weights are counts."""
    is_whole = isinstance(counts.total, int)
    return 1.0 if is_whole or not counts.squares else counts.squares / counts.total


def _largest_height(survey: Survey) -> float:
    """The largest sum of true and false positive rate: 2, or 1 if a class is absent."""
    return float((survey.events > 0) + (survey.events < survey.total))
