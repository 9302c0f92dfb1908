"""Few events and few clusters: the AUC, calibration, scores, and tests over groups.

Clustered forecasts are calibrated: the log-odds are normal with mean -1 and variance 1, half of it between
clusters, and an event happens where a uniform number lies below the forecast. That number is the normal
probability of a variable whose correlation within clusters is 0.13, as under a random intercept of variance
0.5 in log-odds. Slope 1 and intercept 0 are therefore exact, and Brier score and AUC are integrals over the
forecasts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from scorereport.evaluation.sample_summary import describe_sample
from scorereport.evaluation.subgroups import compare_group_scores
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.component_tests import component_intervals
from scorereport.inference.delong import auc_interval
from scorereport.inference.differences import delong_test, score_difference
from scorereport.inference.heterogeneity import group_calibration_test
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.regression import calibration_line
from scorereport.reliability.fit import corp
from scorereport.results.model_records import GroupResult, ModelScores, ScoreValue
from validation.coverage.rejections import closed_form_p_values
from validation.coverage.settings import Sample, draw_correlated
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.bootstrap_results import Bootstrap
    from scorereport.inference.estimates import Estimate
    from validation.coverage.record import Row

LEVEL = 0.95
_RESAMPLES = 300
#: AUC, events, non-events, standard deviation of the scores of events, cuts that make forecasts discrete.
_AUCS = (
    (0.97, 10, 300, 1.0, ()),
    (0.99, 20, 200, 1.0, ()),
    (0.99, 50, 500, 1.0, ()),
    (0.8, 15, 15, 1.0, ()),
    (0.5, 10, 10, 1.0, ()),
    (0.9, 10, 10, 1.0, ()),
    (0.7, 30, 30, 1.0, ()),
    (0.9, 100, 1000, 1.0, ()),
    (0.8, 20, 400, 2.0, ()),
    (0.8, 1000, 2000, 2.0, ()),
    (0.8, 1000, 2000, 0.5, ()),
    (0.8, 1000, 2000, 1.0, (0.3, 1.2)),
)
#: AUC of both models, events, non-events.
_PAIRS = ((0.75, 10, 300), (0.9, 10, 300), (0.75, 15, 15), (0.9, 15, 15), (0.75, 8, 100), (0.9, 8, 100))
_SIZE = 25
_SEEDS = 8
_FEW = (6, 10, 20, 40, 200)
_BETWEEN, _TOGETHER = 0.5, 0.13


def study_few(plan: Plan) -> Iterator[Row]:
    """Simulate AUCs, paired AUCs, few or unequal clusters, groups with few clusters or few events."""
    for case in plan.cells(_AUCS[:4], _AUCS):
        cell = Cell(study="AUC intervals", setting=_name_auc(*case), n=case[1] + case[2], nominal=LEVEL)
        yield from simulate(plan, cell, _auc_trial(*case), plan.runs(500, 4000))
    for auc, events, others in plan.cells(_PAIRS[:2], _PAIRS):
        setting = f"both {auc:g}, {events} + {others}"
        cell = Cell(study="paired AUCs", setting=setting, n=events + others, nominal=ALPHA)
        yield from simulate(plan, cell, _paired_trial(auc, events, others), plan.runs(500, 4000))
    for clusters in plan.cells(_FEW[:3], _FEW):
        yield from _study_clusters(plan, "equal clusters", [_SIZE] * clusters)
    yield from _study_clusters(plan, "one with half of the rows", [19 * _SIZE] + [_SIZE] * 19)
    yield from _study_clusters(plan, "5 to 80 rows", [5] * 10 + [20] * 6 + [80] * 4)
    for clusters, groups in plan.cells(((40, 4),), ((40, 4), (80, 8))):
        setting = f"{groups} groups of {clusters // groups} clusters"
        cell = Cell(study="few in groups", setting=setting, n=_SIZE * clusters, nominal=ALPHA)
        yield from simulate(plan, cell, _nested_trial(clusters, groups), plan.runs(100, 1000))
    cell = Cell(study="few in groups", setting="10 groups with 12 events each", n=3000, nominal=ALPHA)
    yield from simulate(plan, cell, _rare_trial(10, 300), plan.runs(100, 1000))
    cell = Cell(study="weighted groups", setting="10 groups with 5 events", n=3050, nominal=ALPHA)
    yield from simulate(plan, cell, _weighted_trial(10), plan.runs(100, 1000))
    for clusters in plan.cells((20,), (10, 20, 40, 200)):
        cell = Cell(study="equivalence over clusters", setting="log-odds + .6", n=clusters, nominal=ALPHA / 2)
        yield from simulate(plan, cell, _equivalence_trial([_SIZE] * clusters), plan.runs(100, 1000))


# AUCs


def _name_auc(auc: float, events: int, others: int, deviation: float, cuts: tuple[float, ...]) -> str:
    more = "" if deviation == 1 else f", events {deviation:g} times as spread"
    return f"binormal {auc:g}, {events} + {others}{more}{', 3 values' if cuts else ''}"


def _auc_trial(auc: float, events: int, others: int, deviation: float, cuts: tuple[float, ...]) -> Trial:
    shift = float(ndtri(auc)) * np.hypot(1, deviation)
    truth = _discrete_auc(shift, deviation, cuts) if cuts else auc
    y = np.repeat([1, 0], [events, others])

    def trial(rng: np.random.Generator) -> dict[str, float]:
        of_events = shift + deviation * rng.standard_normal(events)
        x = np.concatenate([of_events, rng.standard_normal(others)])
        p = (np.searchsorted(cuts, x) + 1) / (len(cuts) + 2) if cuts else ndtr(x)
        return {"score": _covers(auc_interval(y, p, level=LEVEL), truth)}

    return trial


def _discrete_auc(shift: float, deviation: float, cuts: tuple[float, ...]) -> float:
    """The AUC of forecasts that depend only on the cuts between which a score lies."""
    edges = np.array([-np.inf, *cuts, np.inf])
    of_events, of_others = np.diff(ndtr((edges - shift) / deviation)), np.diff(ndtr(edges))
    return float((of_events * (np.cumsum(of_others) - of_others / 2)).sum())


def _paired_trial(auc: float, events: int, others: int) -> Trial:
    """Two models whose scores have correlation 1/2 in each class."""
    y = np.repeat([1, 0], [events, others])
    shift = np.sqrt(2) * float(ndtri(auc))

    def trial(rng: np.random.Generator) -> dict[str, float]:
        case = np.arange(len(y)).repeat(2)
        first, second = ndtr(draw_correlated(rng, case, 0.5).reshape(-1, 2).T + shift * y)
        return rejects({"DeLong": delong_test(y, first, second).p_value})

    return trial


def _covers(interval: Estimate, truth: float) -> float:
    return float(interval.lower <= truth <= interval.upper)


# Clusters


def _study_clusters(plan: Plan, setting: str, sizes: list[int]) -> Iterator[Row]:
    runs = plan.runs(100, 1000)
    cell = Cell(study="few clusters", setting=setting, n=len(sizes), nominal=LEVEL)
    yield from simulate(plan, cell, _cluster_trial(sizes), runs)
    cell = Cell(study="tests with few clusters", setting=setting, n=len(sizes), nominal=ALPHA)
    yield from simulate(plan, cell, _test_trial(sizes), runs)


def draw_clusters(rng: np.random.Generator, sizes: list[int]) -> Sample:
    """Calibrated forecasts in clusters of these sizes."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    x = _quantile(draw_correlated(rng, cluster, _BETWEEN))
    return Sample(y=ndtr(draw_correlated(rng, cluster, _TOGETHER)) < x, x=x, cluster=cluster)


def _quantile(normal: FloatArray) -> FloatArray:
    return np.asarray(expit(normal - 1))


@cache
def _truth() -> dict[str, float]:
    """Brier score and AUC of the calibrated forecasts."""
    p = _quantile(ndtri((np.arange(1_000_000) + 0.5) / 1_000_000))
    below = np.cumsum(1 - p) - (1 - p) / 2
    auc = (p * below).sum() / (p.sum() * (1 - p).sum())
    return {"Brier": float((p * (1 - p)).mean()), "AUC": float(auc)}


def _cluster_trial(sizes: list[int]) -> Trial:
    truth = _truth()

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = draw_clusters(rng, sizes), _some_seed(rng)
        line = calibration_line(sample.y, sample.x, level=LEVEL, cluster=sample.cluster)
        auc = auc_interval(sample.y, sample.x, level=LEVEL, cluster=sample.cluster)
        boot = _bootstrap(sample, ["brier"], seed)
        return {
            "slope": _covers(line.slope, 1),
            "intercept": _covers(line.intercept, 0),
            "intercept at slope 1": _covers(line.intercept_at_slope_one, 0),
            "AUC": _covers(auc, truth["AUC"]),
            "Brier score": _covers(boot.interval("", "brier", level=LEVEL), truth["Brier"]),
        }

    return trial


def _some_seed(rng: np.random.Generator) -> int:
    """One of a few seeds, for which the starts of the random streams are cached."""
    return draw_seed(rng) % _SEEDS


def _bootstrap(sample: Sample, scores: list[str], seed: int) -> Bootstrap:
    panel = make_panel(sample.y, {"": sample.x}, sample_weight=sample.weight, cluster=sample.cluster)
    measures = [resolve_measure(score, {}) for score in scores]
    return bootstrap_panel(panel, measures, resamples=_RESAMPLES, seed=seed, whole=False)


def _test_trial(sizes: list[int]) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw_clusters(rng, sizes)
        noise = draw_correlated(rng, np.arange(len(sample.x)).repeat(2), 0.5).reshape(-1, 2)
        first, second = (expit(np.log(sample.x / (1 - sample.x)) + 0.5 * e) for e in noise.T)
        paired = {
            "paired Brier scores": score_difference(sample.y, first, second, cluster=sample.cluster),
            "paired AUCs": delong_test(sample.y, first, second, cluster=sample.cluster),
        }
        p_values = closed_form_p_values(sample)
        return rejects(p_values | {name: test.p_value for name, test in paired.items()})

    return trial


# Groups


def _nested_trial(clusters: int, groups: int) -> Trial:
    """Clusters, each in one of several groups that do not differ."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw_clusters(rng, [_SIZE] * clusters)
        group = np.asarray(sample.cluster) % groups
        intercept, both = group_calibration_test(sample.y, sample.x, group, cluster=sample.cluster)
        p_values = {"intercept": intercept.p_value, "intercept and slope": both.p_value}
        p_values |= _compare_groups(sample, group, _some_seed(rng))
        # the finding on groups adjusts all tests for their number
        smallest = len(p_values) * min(p_values.values())
        return rejects(p_values | {"any, adjusted": smallest})

    return trial


def _rare_trial(groups: int, size: int) -> Trial:
    """Independent rows with 4 % of events."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        x = expit(1.2 * rng.standard_normal(groups * size) - 4)
        sample, group = Sample(y=rng.random(len(x)) < x, x=x), np.arange(len(x)) % groups
        return rejects(_compare_groups(sample, group, _some_seed(rng)))

    return trial


def _weighted_trial(groups: int) -> Trial:
    """Five events of weight 100 and 300 non-events of weight 1 in each group."""
    y, group = np.tile(np.repeat([1.0, 0.0], [5, 300]), groups), np.repeat(np.arange(groups), 305)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        x = expit(1.5 * (rng.standard_normal(len(y)) + 1.5 * y) - 1)
        sample = Sample(y=y == 1, x=x, weight=np.where(y == 1, 100.0, 1.0))
        return rejects(_compare_groups(sample, group, _some_seed(rng)))

    return trial


def _equivalence_trial(sizes: list[int]) -> Trial:
    """Whether a model is shown to be calibrated within exactly its own miscalibration, which must be rare."""
    p = _quantile(ndtri((np.arange(100_000) + 0.5) / 100_000))
    delta = float(((_shift(p) - p) ** 2).mean())

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw_clusters(rng, sizes)
        fit = corp(sample.y, _shift(sample.x), cluster=sample.cluster)
        mcb, _ = component_intervals(fit, level=LEVEL, draws=20, resamples=99, seed=draw_seed(rng))
        return {"shown within its own MCB": float(mcb.upper <= delta)}

    return trial


def _shift(p: FloatArray) -> FloatArray:
    return np.asarray(expit(logit(p) + 0.6))


def _compare_groups(sample: Sample, group: NDArray[np.int64], seed: int) -> dict[str, float]:
    """P-values of Cochran's Q of scores and AUCs, as in an evaluation."""
    found = [_score_group(sample, group == label, seed) for label in np.unique(group)]
    tests = compare_group_scores(found, 0, [], clustered=sample.cluster is not None)
    return {test.name: test.p_value for test in tests}


def _score_group(sample: Sample, chosen: NDArray[np.bool_], seed: int) -> GroupResult:
    y, x = sample.y[chosen], sample.x[chosen]
    cluster = None if sample.cluster is None else sample.cluster[chosen]
    weight = None if sample.weight is None else sample.weight[chosen]
    boot = _bootstrap(Sample(y=y, x=x, cluster=cluster, weight=weight), ["brier", "log_loss"], seed)
    intervals = {name: boot.interval("", name) for name in ("brier", "log_loss")}
    intervals["roc_auc"] = auc_interval(y, x, cluster=cluster, sample_weight=weight)
    scores = tuple(
        ScoreValue(name=name, value=interval.value, skill=np.nan, interval=interval)
        for name, interval in intervals.items()
    )
    return GroupResult(
        column="",
        label="",
        sample=describe_sample(len(y), corp(y, x, weight, cluster=cluster)),
        models=(ModelScores(model="", scores=scores, decompositions=()),),
    )
