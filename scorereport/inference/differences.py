"""Paired differences between models: each with its interval, its test and what a reader must know.

The models forecast the same cases, so it is the difference case by case that is averaged and tested.

References
----------
Diebold, Mariano (1995), J. Bus. Econ. Stat. 13, doi:10.1080/07350015.1995.10524599
Newey, West (1987), Econometrica 55, doi:10.2307/1913610
Driscoll, Kraay (1998), Rev. Econ. Stat. 80, doi:10.1162/003465398557825
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
Holm (1979), Scand. J. Stat. 6, 65-70
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from scorereport.checks import check_inside, check_option, check_whole
from scorereport.errors import UsageError
from scorereport.inference.delong import (
    auc_influence,
    describe_method,
    mean_placement,
    placement_error,
    placements,
)
from scorereport.inference.measures import resolve_measure
from scorereport.inference.outcomes import holm
from scorereport.inference.panel import make_panel
from scorereport.scores.registry import get_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from scorereport.arrays import FloatArray
    from scorereport.inference.measures import Measure
    from scorereport.inference.panel import Panel

    #: A score's name, a function of (y_true, y_prob), or either of them with its options.
    Choice = str | Callable[..., FloatArray] | tuple[str | Callable[..., FloatArray], Mapping[str, Any]]

ERRORS = ("auto", "iid", "hac", "cluster")
AUC = "roc_auc"
DIEBOLD_MARIANO = "Diebold, Mariano (1995), J. Bus. Econ. Stat. 13, doi:10.1080/07350015.1995.10524599"
DELONG = "DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595"
OBUCHOWSKI = "Obuchowski (1997), Biometrics 53, doi:10.2307/2533958"
NEWEY_WEST = "Newey, West (1987), Econometrica 55, doi:10.2307/1913610"
#: A standard error this small against the largest difference is rounding of equal differences.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A measure of the first model minus that of the second; NaN where not defined, see the note.

    Negative favours the first model, unless `higher_is_better`. `p_value_holm` is adjusted over all
    pairs that were compared by the same measure, and None if the pair stands alone.
    """

    first: str
    second: str
    measure: str
    first_value: float
    second_value: float
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    statistic: float
    p_value: float
    p_value_holm: float | None = None
    higher_is_better: bool = False
    null_hypothesis: str
    method: str
    reference: str
    n: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The place of a model by one measure, and the models that the data cannot tell it from."""

    model: str
    measure: str
    value: float
    rank: int
    tied_with: tuple[str, ...]


class WaldTest(NamedTuple):
    """A normal interval and test of a number that is 0 under the null hypothesis."""

    standard_error: float
    lower: float
    upper: float
    statistic: float
    p_value: float


class Settings(NamedTuple):
    """How differences are tested: the level, and which rows may depend on each other."""

    level: float
    errors: str
    lags: int


def score_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    score: str | Callable[..., FloatArray] = "brier",
    *,
    level: float = 0.95,
    errors: str = "auto",
    lags: int | None = None,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
    **options: Any,
) -> Difference:
    """Test whether two models have the same expected score (Diebold and Mariano).

    The difference is the mean of S(first) - S(second), with the normal quantile. A score keeps its
    sign: of losses negative favours the first model, of net benefit positive does.

    Where one model has an infinite score the difference is infinite and there is no test. Where
    both score the same in every case the difference is 0 for certain: the interval is [0, 0], and
    statistic and p-value are NaN, as there is nothing to test. The note tells.

    Parameters
    ----------
    y_true, first, second : outcomes 0 or 1 and the forecasts of two models for them
    score : the name of a binary score, or a function of (y_true, y_prob) with one value per case
    level : the probability with which the interval covers
    errors : "iid" for independent rows; "cluster" for rows that depend within clusters; "hac" for rows
        ordered in time that depend on those shortly before; "auto" is "cluster" if clusters are given,
        else "hac" if times are, else "iid". What is given beyond is not used.
    lags : how many time points back dependence reaches, for "hac"; by default 4 (T/100)^(2/9) for T
        of them, rounded down (Newey and West's rule)
    sample_weight : not negative; whole weights equal repeated rows
    cluster, time : one label and one date or number per row
    options : passed on to the score, such as `threshold=` of "net_benefit"

    Notes
    -----
    HAC errors are Newey and West's, with Bartlett weights 1 - l/(L + 1) and the factor T/(T - 1), so that
    no lags give the iid error: statsmodels' `cov_type="HAC"` with `use_correction=True`. Rows of the same
    time are added up first and the lags run over the times, so that rows of one date may depend in any
    way (Driscoll and Kraay).

    >>> d = score_difference([0, 1, 1, 0, 1], [0.1, 0.8, 0.7, 0.3, 0.9], [0.3, 0.6, 0.7, 0.6, 0.4])
    >>> round(d.value, 4), round(d.lower, 4), round(d.upper, 4), round(d.p_value, 4)
    (-0.164, -0.2893, -0.0387, 0.0103)
    """
    panel = make_panel(
        y_true, {"first": first, "second": second}, sample_weight=sample_weight, cluster=cluster, time=time
    )
    settings = check_settings(panel, level, errors, lags)
    return _compare_by_score(panel, ("first", "second"), resolve_measure(score, options), settings)


def delong_test(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Difference:
    """Test whether two models have the same AUC on the same cases; positive favours the first model.

    With clusters the errors are Obuchowski's. Bounds stay in [-1, 1].

    >>> d = delong_test([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.8], [0.4, 0.1, 0.3, 0.7, 0.5, 0.6])
    >>> round(d.value, 4), round(d.standard_error, 4), round(d.p_value, 4)
    (0.3333, 0.1925, 0.0833)
    """
    panel = make_panel(
        y_true, {"first": first, "second": second}, sample_weight=sample_weight, cluster=cluster
    )
    return _compare_by_auc(panel, ("first", "second"), check_settings(panel, level))


def compare_models(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    scores: Sequence[Choice] = ("brier", "log_loss", AUC),
    *,
    level: float = 0.95,
    errors: str = "auto",
    lags: int | None = None,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> tuple[Difference, ...]:
    """Compare every pair of models by every measure, with p-values that Holm adjusts over the pairs.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    forecasts : the forecasts of each model, by its name
    scores : scores as `score_difference` takes them, "roc_auc", or pairs of a score and its options such
        as ("net_benefit", {"threshold": 0.2})
    level, errors, lags, sample_weight, cluster, time : as of `score_difference`; in time, the errors of
        AUCs are those of the mean influence of each case

    >>> models = {"a": [0.1, 0.8, 0.7, 0.3], "b": [0.3, 0.6, 0.7, 0.6], "c": [0.5, 0.5, 0.6, 0.5]}
    >>> for d in compare_models([0, 1, 1, 0], models, ["brier"]):
    ...     print(d.first, d.second, round(d.value, 4), round(d.p_value, 4), round(d.p_value_holm, 4))
    a b -0.1175 0.038 0.076
    a c -0.17 0.0 0.0
    b c -0.0525 0.3612 0.3612
    """
    panel = make_panel(y_true, forecasts, sample_weight=sample_weight, cluster=cluster, time=time)
    if len(panel.forecasts) < 2:
        raise UsageError(f"`forecasts` must name at least two models; got {len(panel.forecasts)}.")
    if isinstance(scores, str) or not scores:
        raise UsageError(f"`scores` must be a list of at least one score; got {scores!r}.")
    settings = check_settings(panel, level, errors, lags)
    return compare_panel(panel, [_resolve(choice) for choice in scores], settings)


def compare_panel(
    panel: Panel, measures: Sequence[Measure | str], settings: Settings
) -> tuple[Difference, ...]:
    """Compare every pair of a panel's forecasts by every measure; "roc_auc" stands for the AUC."""
    pairs = list(combinations(panel.forecasts, 2))
    differences: list[Difference] = []
    for measure in measures:
        if isinstance(measure, str):
            found = [_compare_by_auc(panel, pair, settings) for pair in pairs]
        else:
            found = [_compare_by_score(panel, pair, measure, settings) for pair in pairs]
        differences += adjust_by_holm(found)
    return tuple(differences)


def _resolve(choice: Choice) -> Measure | str:
    score, options = choice if isinstance(choice, tuple) else (choice, {})
    if score != AUC:
        return resolve_measure(score, options)
    get_score(AUC).check_options(options)
    return AUC


def adjust_by_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust the p-values of pairs for their number; pairs without a test do not count."""
    adjusted = holm([d.p_value for d in differences])
    return [replace(d, p_value_holm=float(p)) for d, p in zip(differences, adjusted, strict=True)]


def rank_models(differences: Iterable[Difference], *, alpha: float = 0.05) -> tuple[Rank, ...]:
    """Rank models by each measure, with ties where the data cannot tell.

    The rank of a model is 1 plus the number of models that are told to be better: by the sign of the
    difference, if its p-value (Holm's, where there is one) is at most `alpha`, or if the difference is
    infinite, as one refuted certainty is enough for an infinite expectation. Any two models that are not
    told apart are tied, though one may still rank behind a third from which the other cannot be told.
    Models of the same rank stand in the order of their values, then of their names.

    >>> models = {"a": [0.1, 0.8, 0.7, 0.3], "b": [0.3, 0.6, 0.7, 0.6], "c": [0.5, 0.5, 0.6, 0.5]}
    >>> for r in rank_models(compare_models([0, 1, 1, 0], models, ["brier"])):
    ...     print(r.rank, r.model, round(r.value, 4), r.tied_with)
    1 a 0.0575 ('b',)
    1 b 0.175 ('a', 'c')
    2 c 0.2275 ('b',)
    """
    pairs = tuple(differences)
    alpha = check_inside(alpha, "alpha", 0, 1, closed="neither")
    if not pairs:
        raise UsageError("`differences` must hold at least one difference.")
    by_measure = {measure: [d for d in pairs if d.measure == measure] for measure in _names(pairs)}
    return tuple(rank for found in by_measure.values() for rank in _rank_by_one_measure(found, alpha))


def wald_test(value: float, standard_error: float, level: float) -> WaldTest:
    """Normal interval and test; without a spread there is no test, and no interval but around 0."""
    if not standard_error > 0:
        bound = 0.0 if value == 0 and standard_error == 0 else np.nan
        return WaldTest(standard_error, bound, bound, np.nan, np.nan)
    half_width = float(ndtri((1 + level) / 2)) * standard_error
    statistic = value / standard_error
    p_value = 2 * float(ndtr(-abs(statistic)))
    return WaldTest(standard_error, value - half_width, value + half_width, statistic, p_value)


def hac_error(panel: Panel, values: FloatArray, lags: int) -> float:
    """Newey and West's standard error of the weighted mean, over the times of the panel; NaN for one time.

    Sums are numpy's own: those of statsmodels change in the last bits with the number of threads.
    """
    sums = _sums_by_time(panel, values)
    n = len(sums)
    if n <= 1:
        return np.nan
    spread = float((sums**2).sum())
    for lag in range(1, lags + 1):
        spread += 2 * (1 - lag / (lags + 1)) * float((sums[lag:] * sums[:-lag]).sum())
    return float(np.sqrt(max(spread, 0.0) * n / (n - 1)) / panel.units.total)


def check_settings(panel: Panel, level: float, errors: str = "auto", lags: int | None = None) -> Settings:
    """Check how a panel is to be compared, and settle what was left open."""
    level = check_inside(level, "level", 0, 1, closed="neither")
    check_option(errors, "errors", ERRORS)
    if errors == "auto":
        errors = "iid" if panel.time is None else "hac"
        errors = errors if panel.cluster is None else "cluster"
    if errors == "hac" and panel.time is None:
        raise UsageError('`errors="hac"` needs `time`, which orders the rows.')
    if errors == "cluster" and panel.cluster is None:
        raise UsageError('`errors="cluster"` needs `cluster`.')
    if errors != "hac" and lags is not None:
        raise UsageError(f'`lags` are for `errors="hac"`; the errors are "{errors}".')
    return Settings(level, errors, _check_lags(panel, lags) if errors == "hac" else 0)


def _check_lags(panel: Panel, lags: int | None) -> int:
    times = _number_of_times(panel)
    if lags is None:
        return min(int(4 * (times / 100) ** (2 / 9)), times - 1)
    if check_whole(lags, "lags", 0) >= times:
        raise UsageError(f"`lags` must be fewer than the times; got {lags} for {times}.")
    return int(lags)


def _compare_by_score(
    panel: Panel, pair: tuple[str, str], measure: Measure, settings: Settings
) -> Difference:
    """Diebold and Mariano's test of one pair."""
    first, second = (measure.score(panel.outcome, panel.forecasts[name]) for name in pair)
    means = panel.units.mean(first), panel.units.mean(second)
    if np.isfinite(first).all() and np.isfinite(second).all():
        value, error = panel.units.mean(first - second), _mean_error(panel, first - second, settings)
    else:
        value, error = means[0] - means[1], np.nan
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=measure.label,
        first_value=means[0],
        second_value=means[1],
        value=value,
        **wald_test(value, error, settings.level)._asdict(),
        level=settings.level,
        higher_is_better=measure.sign < 0,
        null_hypothesis=f"Both models have the same expected {measure.label}.",
        method=f"Diebold-Mariano, {_describe_errors(panel, settings)}",
        reference=f"{DIEBOLD_MARIANO}; {NEWEY_WEST}" if settings.errors == "hac" else DIEBOLD_MARIANO,
        n=panel.units.total,
        note=_describe_infinite(panel, pair, (first, second), measure.label)
        or _describe_spread(panel, pair, value, error, settings),
    )


def _compare_by_auc(panel: Panel, pair: tuple[str, str], settings: Settings) -> Difference:
    """DeLong's test of one pair."""
    panel = panel if settings.errors == "cluster" else replace(panel, cluster=None)
    first, second = (placements(panel.outcome, panel.forecasts[name], panel.weight) for name in pair)
    value = mean_placement(panel, first - second)
    in_time = settings.errors == "hac"
    error = _influence_error(panel, pair, settings) if in_time else placement_error(panel, first - second)
    error = _without_rounding(error, first - second)
    test = wald_test(value, error, settings.level)
    errors = describe_method(panel)
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=AUC,
        first_value=mean_placement(panel, first),
        second_value=mean_placement(panel, second),
        value=value,
        **test._replace(lower=_cut(test.lower), upper=_cut(test.upper))._asdict(),
        level=settings.level,
        higher_is_better=True,
        null_hypothesis="Both models have the same AUC.",
        method=f"AUC influence, {_describe_errors(panel, settings)}" if in_time else f"{errors}, paired",
        reference="; ".join(_auc_references(settings.errors)),
        n=panel.units.total,
        note=f"The AUC needs both outcomes; all are {panel.outcome[0]:g}."
        if np.isnan(value)
        else _describe_spread(panel, pair, value, error, settings),
    )


def _auc_references(errors: str) -> tuple[str, ...]:
    return (DELONG, *{"cluster": [OBUCHOWSKI], "hac": [NEWEY_WEST]}.get(errors, []))


def _influence_error(panel: Panel, pair: tuple[str, str], settings: Settings) -> float:
    first, second = (auc_influence(panel.outcome, panel.forecasts[name], panel.weight) for name in pair)
    return hac_error(panel, first - second, settings.lags)


def _mean_error(panel: Panel, values: FloatArray, settings: Settings) -> float:
    """Standard error of a mean as the settings say."""
    if settings.errors == "hac":
        error = hac_error(panel, values, settings.lags)
    else:
        units = panel.units if settings.errors == "cluster" else replace(panel.units, cluster=None)
        error = units.standard_error(values)
    return _without_rounding(error, values)


def _without_rounding(error: float, values: FloatArray) -> float:
    """0 for differences that are equal but for rounding; even a single one that is 0 is so for certain."""
    is_flat = not values.any() or error <= _ROUNDING * np.abs(values).max()
    return 0.0 if is_flat else error


def _cut(bound: float) -> float:
    """A bound of a difference of AUCs; NaN stays NaN."""
    return float(np.clip(bound, -1, 1))


def _sums_by_time(panel: Panel, values: FloatArray) -> FloatArray:
    """Weighted sum of the deviations from the mean at each time."""
    _, position = np.unique(np.asarray(panel.time), return_inverse=True)
    deviation: FloatArray = (values - panel.units.mean(values)) * panel.units.row_weight
    return np.bincount(position, weights=deviation).astype(np.float64)


def _number_of_times(panel: Panel) -> int:
    return len(np.unique(np.asarray(panel.time)))


def _describe_errors(panel: Panel, settings: Settings) -> str:
    if settings.errors == "cluster":
        return f"cluster errors ({panel.units.size:g} clusters)"
    if settings.errors == "iid":
        return "iid errors"
    return f"HAC errors (Bartlett, {settings.lags} lags, {_number_of_times(panel)} times)"


def _describe_infinite(
    panel: Panel, pair: tuple[str, str], values: tuple[FloatArray, FloatArray], measure: str
) -> str:
    """Which scores are not finite, and in how many cases; empty if all are."""
    parts = []
    for name, scores in zip(pair, values, strict=True):
        cases = float(panel.units.row_weight[~np.isfinite(scores)].sum())
        if cases:
            parts.append(f"of {name} in {cases:g} {'case' if cases == 1 else 'cases'}")
    return f"The {measure} is not finite: {' and '.join(parts)}, so that there is no test." if parts else ""


def _describe_spread(
    panel: Panel, pair: tuple[str, str], value: float, error: float, settings: Settings
) -> str:
    """Why there is no test; empty if there is one."""
    if error > 0:
        return ""
    if np.isnan(error):
        unit = {"hac": "time", "cluster": "cluster"}.get(settings.errors, "row")
        return f"One {unit}, or one {unit} of a class, cannot tell how much the difference varies."
    if np.array_equal(panel.forecasts[pair[0]], panel.forecasts[pair[1]]):
        return "The forecasts are the same in every case: there is nothing to test."
    if value == 0:
        return "The forecasts do equally well in every case: there is nothing to test."
    return "The difference does not vary, so that there is no test."


def _names(differences: Sequence[Difference]) -> dict[str, None]:
    """All measures, in the order of their first appearance."""
    return dict.fromkeys(d.measure for d in differences)


def _rank_by_one_measure(differences: Sequence[Difference], alpha: float) -> list[Rank]:
    values: dict[str, float] = {}
    better: dict[str, int] = {}
    ties: dict[str, list[str]] = {}
    for d in differences:
        values |= {d.first: d.first_value, d.second: d.second_value}
        if not _is_told(d, alpha):
            ties.setdefault(d.first, []).append(d.second)
            ties.setdefault(d.second, []).append(d.first)
        else:
            worse = d.second if (d.value > 0) == d.higher_is_better else d.first
            better[worse] = better.get(worse, 0) + 1
    sign = -1 if differences[0].higher_is_better else 1
    ranks = [
        Rank(
            model=model,
            measure=differences[0].measure,
            value=value,
            rank=1 + better.get(model, 0),
            tied_with=tuple(sorted(ties.get(model, []))),
        )
        for model, value in values.items()
    ]
    return sorted(ranks, key=lambda r: (r.rank, np.isnan(r.value), sign * np.nan_to_num(r.value), r.model))


def _is_told(difference: Difference, alpha: float) -> bool:
    """Whether the data tell which of the two is better."""
    p = difference.p_value if difference.p_value_holm is None else difference.p_value_holm
    return bool(p <= alpha) or bool(np.isinf(difference.value))
