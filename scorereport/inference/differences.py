"""Paired differences between models: each with its interval, its test and its notes.

The models forecast the same cases, so the differences case by case are averaged and tested.

References
----------
Diebold, Mariano (1995), J. Bus. Econ. Stat. 13, doi:10.1080/07350015.1995.10524599
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_counted, format_plain
from scorereport.errors import UsageError
from scorereport.inference.components import FEW_EVENTS
from scorereport.inference.delong import (
    auc_influence,
    cases_by_class,
    describe_method,
    mean_placement,
    placement_spread,
)
from scorereport.inference.estimates import Difference, adjust_by_holm
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_errors import (
    ErrorDistribution,
    choose_errors,
    describe_errors,
    describe_few,
    distribution_of_mean,
    error_distribution,
    mean_error,
    time_error,
    wald_test,
    without_rounding,
)
from scorereport.inference.panel import make_panel
from scorereport.inference.placements import placements
from scorereport.inference.time_errors import LAZARUS_2018, describe_slow
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON
from scorereport.scores.registry import get_score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.panel import ForecastPanel, PanelRows

    #: A score's name, a function of (y_true, y_prob), or either of them with its options.
    Choice = str | Callable[..., FloatArray] | tuple[str | Callable[..., FloatArray], Mapping[str, Any]]

#: Up to this many scores of all models together are kept, so that each is computed once.
_MOST_REMEMBERED = 6_000_000
AUC = "roc_auc"
DIEBOLD_MARIANO = "Diebold, Mariano (1995), J. Bus. Econ. Stat. 13, doi:10.1080/07350015.1995.10524599"
DELONG = "DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595"
OBUCHOWSKI = "Obuchowski (1997), Biometrics 53, doi:10.2307/2533958"
NEWEY_WEST = "Newey, West (1987), Econometrica 55, doi:10.2307/1913610"


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
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
    **options: Any,
) -> Difference:
    """Test whether two models have the same expected score (Diebold and Mariano).

    The difference is the mean of S(first) - S(second), with the normal quantile. A score keeps its
    sign: for losses a negative difference favours the first model, for net benefit a positive one.

    Where one model has an infinite score the difference is infinite and there is no test. Where
    both score the same in every case the difference is 0 for certain: the interval is [0, 0], and
    statistic and p-value are NaN, as there is nothing to test. The note states the reason.

    Parameters
    ----------
    y_true, first, second : outcomes 0 or 1 and the forecasts of two models for them
    score : the name of a binary score, or a function of (y_true, y_prob) with one value per case
    level : confidence level of the interval
    errors : "iid" for independent rows; "cluster" for rows that depend within clusters; "hac" for rows
        ordered in time that depend on those shortly before; "auto" is "cluster" if clusters are given,
        else "hac" if times are, else "iid". Clusters or times that the choice does not need are ignored.
    lags : how many time points back dependence reaches, for Newey and West's errors of "hac"; by default
        the errors come from the ¾ T^(1/3) slowest cosines over T times (Lazarus and others), which also
        capture long-range dependence, and the distribution is t with as many degrees of freedom
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster, time : one label and one date or number per row
    options : passed on to the score, such as `threshold=` of "net_benefit"

    Notes
    -----
    HAC errors are Newey and West's, with Bartlett weights 1 - l/(L + 1) and the factor T/(T - 1), so that
    no lags give the iid error: statsmodels' `cov_type="HAC"` with `use_correction=True`. Rows of the same
    time are summed first and the lags run over the times, so that rows of one date may depend on each other
    in any way (Driscoll and Kraay).

    >>> d = score_difference([0, 1, 1, 0, 1], [0.1, 0.8, 0.7, 0.3, 0.9], [0.3, 0.6, 0.7, 0.6, 0.4])
    >>> round(d.value, 4), round(d.lower, 4), round(d.upper, 4), round(d.p_value, 4)
    (-0.164, -0.3415, 0.0135, 0.0623)
    """
    panel = make_panel(
        y_true,
        {"first": first, "second": second},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
        time=time,
    )
    settings = choose_errors(panel, level, errors, lags)
    measure = resolve_measure(score, options)
    scores = partial(_score_model, panel, measure)
    return _compare_by_score(panel, ("first", "second"), measure, scores, settings)


def delong_test(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Difference:
    """Test whether two models have the same AUC on the same cases; positive favours the first model.

    The quantile is of t with the degrees of freedom of the two class means (Welch). With clusters the
    errors are bias-reduced over them, with Satterthwaite's degrees of freedom. Bounds stay in [-1, 1].

    >>> d = delong_test([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.8], [0.4, 0.1, 0.3, 0.7, 0.5, 0.6])
    >>> round(d.value, 4), round(d.standard_error, 4), round(d.p_value, 4)
    (0.3333, 0.1925, 0.2254)
    """
    panel = make_panel(
        y_true,
        {"first": first, "second": second},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
    )
    placed = partial(_place_model, panel)
    return _compare_by_auc(panel, ("first", "second"), placed, choose_errors(panel, level))


def compare_models(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    scores: Sequence[Choice] = ("brier", "log_loss", AUC),
    *,
    level: float = 0.95,
    errors: str = "auto",
    lags: int | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> tuple[Difference, ...]:
    """Compare every pair of models by every measure, with p-values adjusted over the pairs (Holm).

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
    a b -0.1175 0.1296 0.2592
    a c -0.17 0.0196 0.0589
    b c -0.0525 0.4285 0.4285
    """
    panel = make_panel(
        y_true, forecasts, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster, time=time
    )
    if len(panel.forecasts) < 2:
        raise UsageError(f"`forecasts` must name at least two models; got {len(panel.forecasts)}.")
    if isinstance(scores, str) or not scores:
        raise UsageError(f"`scores` must be a list of at least one score; got {scores!r}.")
    settings = choose_errors(panel, level, errors, lags)
    return compare_panel(panel, [_resolve(choice) for choice in scores], settings)


def compare_panel(
    panel: ForecastPanel, measures: Sequence[Measure | str], settings: ErrorChoice
) -> tuple[Difference, ...]:
    """Compare every pair of a panel's forecasts by every measure; "roc_auc" stands for the AUC."""
    pairs = list(combinations(panel.forecasts, 2))
    differences: list[Difference] = []
    for measure in measures:
        if isinstance(measure, str):
            of_model = _remember(panel, partial(_place_model, panel))
            found = [_compare_by_auc(panel, pair, of_model, settings) for pair in pairs]
        else:
            scores = _remember(panel, partial(_score_model, panel, measure))
            found = [_compare_by_score(panel, pair, measure, scores, settings) for pair in pairs]
        differences += adjust_by_holm(found)
    return tuple(differences)


def _resolve(choice: Choice) -> Measure | str:
    score, options = choice if isinstance(choice, tuple) else (choice, {})
    if score != AUC:
        return resolve_measure(score, options)
    get_score(AUC).check_options(options)
    return AUC


def _remember(panel: ForecastPanel, compute: Callable[[str], FloatArray]) -> Callable[[str], FloatArray]:
    """The function of a model, computed once for each if all fit into memory."""
    return cache(compute) if len(panel.forecasts) * len(panel.outcome) <= _MOST_REMEMBERED else compute


def _score_model(panel: ForecastPanel, measure: Measure, name: str) -> FloatArray:
    return measure.score(panel.outcome, panel.forecasts[name])


def _place_model(panel: ForecastPanel, name: str) -> FloatArray:
    return placements(panel.outcome, panel.forecasts[name], panel.weight, panel.orders.known(name))


def _compare_by_score(
    panel: ForecastPanel,
    pair: tuple[str, str],
    measure: Measure,
    scores: Callable[[str], FloatArray],
    settings: ErrorChoice,
) -> Difference:
    """Diebold and Mariano's test of one pair."""
    first, second = (scores(name) for name in pair)
    return compare_cases(
        panel, pair, (first, second), settings, measure=measure.label, higher_is_better=measure.sign < 0
    )


@np.errstate(invalid="ignore")  # two infinite scores have no difference
def compare_cases(
    panel: PanelRows,
    pair: tuple[str, str],
    scores: tuple[FloatArray, FloatArray],
    settings: ErrorChoice,
    *,
    measure: str,
    higher_is_better: bool,
) -> Difference:
    """Diebold and Mariano's test of two models from their scores of the same cases."""
    means, difference = [panel.units.mean(of_model) for of_model in scores], np.subtract(*scores)
    value, error = means[0] - means[1], np.nan
    are_finite = bool(np.isfinite(means).all())  # the mean of an infinite score is not finite
    if are_finite:
        value, error = panel.units.mean(difference), mean_error(panel, difference, settings)
    test = wald_test(value, error, settings.level, distribution_of_mean(panel, settings))
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=measure,
        first_value=means[0],
        second_value=means[1],
        value=value,
        standard_error=test.standard_error,
        lower=test.lower,
        upper=test.upper,
        statistic=test.statistic,
        p_value=test.p_value,
        level=settings.level,
        higher_is_better=higher_is_better,
        null_hypothesis=f"Both models have the same expected {measure}.",
        method=f"Diebold-Mariano, {describe_errors(panel, settings)}",
        reference="; ".join((DIEBOLD_MARIANO, *_time_references(settings))),
        n=panel.units.total,
        note=("" if are_finite else _describe_infinite(panel, pair, scores, measure))
        or describe_spread(panel, pair, value, error, settings)
        or (describe_slow(panel, difference) if settings.errors == "hac" else ""),
    )


def _compare_by_auc(
    panel: ForecastPanel, pair: tuple[str, str], placed: Callable[[str], FloatArray], settings: ErrorChoice
) -> Difference:
    """DeLong's test of one pair."""
    panel = panel if settings.errors == "cluster" else replace(panel, cluster=None)
    first, second = (placed(name) for name in pair)
    values, difference = [mean_placement(panel, shares) for shares in (first, second)], first - second
    value = mean_placement(panel, difference)
    in_time = settings.errors == "hac"
    if in_time:
        error, distribution = _influence_error(panel, pair, settings), error_distribution(panel, settings)
    else:
        error, freedom = placement_spread(panel, difference)
        distribution = ErrorDistribution(freedom)
    error = without_rounding(error, difference)
    test = wald_test(value, error, settings.level, distribution)
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=AUC,
        first_value=values[0],
        second_value=values[1],
        value=value,
        standard_error=test.standard_error,
        lower=_cut(test.lower),
        upper=_cut(test.upper),
        statistic=test.statistic,
        p_value=test.p_value,
        level=settings.level,
        higher_is_better=True,
        null_hypothesis="Both models have the same AUC.",
        method=f"AUC influence, {describe_errors(panel, settings)}"
        if in_time
        else f"{describe_method(panel)}, paired, quantile of t",
        reference="; ".join(_auc_references(settings)),
        n=panel.units.total,
        note=f"The AUC needs both outcomes; all are {format_plain(panel.outcome[0])}."
        if np.isnan(value)
        else describe_spread(panel, pair, value, error, settings) or _describe_few_cases(panel),
    )


def _auc_references(settings: ErrorChoice) -> tuple[str, ...]:
    of_clusters = (OBUCHOWSKI, PUSTEJOVSKY_TIPTON) if settings.errors == "cluster" else ()
    return (DELONG, *of_clusters, *_time_references(settings))


def _time_references(settings: ErrorChoice) -> tuple[str, ...]:
    if settings.errors != "hac":
        return ()
    return (LAZARUS_2018 if settings.lags is None else NEWEY_WEST,)


def _describe_few_cases(panel: ForecastPanel) -> str:
    """A warning where events or non-events are few; empty otherwise."""
    events, others = cases_by_class(panel)
    fewest, what = (events, "event") if events <= others else (others, "non-event")
    if fewest >= FEW_EVENTS:
        return ""
    few = f"Only {format_counted(round(fewest), what)}: with fewer than {FEW_EVENTS}"
    return f"{few} the test detects large differences only."


def _influence_error(panel: ForecastPanel, pair: tuple[str, str], settings: ErrorChoice) -> float:
    first, second = (auc_influence(panel.outcome, panel.forecasts[name], panel.weight) for name in pair)
    return time_error(panel, first - second, settings.lags)


def _cut(bound: float) -> float:
    """A bound of a difference of AUCs; NaN stays NaN."""
    return float(np.clip(bound, -1, 1))


def _describe_infinite(
    panel: PanelRows, pair: tuple[str, str], values: tuple[FloatArray, FloatArray], measure: str
) -> str:
    """Describe which scores are not finite, and in how many cases; empty if all are finite."""
    parts = []
    for name, scores in zip(pair, values, strict=True):
        cases = float(panel.units.row_weight[~np.isfinite(scores)].sum())
        if cases:
            parts.append(f"of {name} in {format_plain(cases)} {'case' if cases == 1 else 'cases'}")
    return f"The {measure} is not finite: {' and '.join(parts)}, so there is no test." if parts else ""


def describe_spread(
    panel: PanelRows, pair: tuple[str, str], value: float, error: float, settings: ErrorChoice
) -> str:
    """Describe why there is no test, or that its errors are approximate; empty otherwise."""
    if error > 0:
        return describe_few(panel, settings)
    if np.isnan(error):
        unit = {"hac": "time", "cluster": "cluster"}.get(settings.errors, "row")
        return f"One {unit}, or one {unit} of a class, does not show how much the difference varies."
    if np.array_equal(panel.forecasts[pair[0]], panel.forecasts[pair[1]]):
        return "The forecasts are the same in every case: there is nothing to test."
    if value == 0:
        return "The forecasts do equally well in every case: there is nothing to test."
    return "The difference does not vary, so there is no test."
