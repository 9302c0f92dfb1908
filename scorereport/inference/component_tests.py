"""Miscalibration and discrimination from CORP fits: tests, intervals and differences between two models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.choices import SEED
from scorereport.errors import UsageError
from scorereport.inference.calibration_null import RULES, draw_null, judge_miscalibration
from scorereport.inference.components import (
    COMPONENTS,
    Losses,
    case_losses,
    component_difference,
    component_interval,
    describe_bracket,
    join_notes,
    warn_of_few_events,
)
from scorereport.inference.estimates import Difference, HypothesisTest
from scorereport.inference.few_values import allow_for_few_values, find_few_values
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_errors import (
    choose_errors,
    describe_errors,
    describe_few,
    error_distribution,
    mean_error,
)
from scorereport.inference.overfit import Overfit, estimate_overfit
from scorereport.inference.panel import make_panel
from scorereport.reliability.fit import Corp, corp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.panel import PanelRows


_CORP_REFERENCE = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"


def miscalibration_test(
    fit: Corp,
    score: str | Callable[..., FloatArray] = "brier",
    *,
    resamples: int = 999,
    seed: int = SEED,
    rule: str = "exact",
    **options: Any,
) -> HypothesisTest:
    """Test that the forecast is calibrated, by its miscalibration under any proper score.

    Forecasts are kept, outcomes are drawn from them, and p = (1 + #{MCB* >= MCB})/(B + 1), which is
    exact for independent cases. The test detects any departure from calibration but is weak against a mere
    slope: read it together with Spiegelhalter's.

    Parameters
    ----------
    rule : "exact", or "r" for that of the R package: forecasts are drawn anew and p = #/B, which rejects
        too often
    options : passed on to the score

    >>> from scorereport import corp
    >>> fit = corp([0, 0, 1, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    >>> miscalibration_test(fit, resamples=99).p_value > 0.05
    True
    """
    _check_fit(fit, "miscalibration_test", "The miscalibration test")
    check_option(rule, "rule", RULES)
    resamples, seed = check_whole(resamples, "resamples", 1), check_whole(seed, "seed", 0)
    measures = [resolve_measure(score, options)]
    return judge_miscalibration(fit, draw_null(fit, measures, resamples=resamples, seed=seed, rule=rule))[0]


def component_intervals(
    fit: Corp,
    score: str | Callable[..., FloatArray] = "brier",
    *,
    level: float = 0.95,
    draws: int | None = None,
    resamples: int = 999,
    seed: int = SEED,
    **options: Any,
) -> tuple[ComponentEstimate, ComponentEstimate]:
    """Bracket intervals of miscalibration and discrimination, corrected for the overfit of the fit.

    Intervals of forecasts with few distinct values are wider, and exact if there is only one value. A score
    may be a function of outcomes and forecasts: the curvature that its overfit needs is found numerically. If
    it has none, because the score jumps or is not proper, the note of the interval says so.

    Parameters
    ----------
    draws : number of draws of outcomes from a smoothed curve, to estimate the overfit; None for as many as
        a Monte-Carlo error of 2 % of the interval's width takes
    resamples : number of draws of the miscalibration test, which decides whether the interval starts at 0

    >>> from scorereport import corp
    >>> fit = corp([0, 0, 1, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    >>> mcb, dsc = component_intervals(fit)
    >>> round(mcb.value, 3), mcb.lower, mcb.note
    (0.055, 0.0, 'Only 4 events: with fewer than 20 this interval says little.')
    """
    _check_fit(fit, "component_intervals", "An interval of a component")
    level = check_inside(level, "level", 0, 1, closed="neither")
    measure = resolve_measure(score, options)
    draws, resamples = _check_draws(draws), check_whole(resamples, "resamples", 1)
    null = draw_null(fit, [measure], resamples=resamples, seed=check_whole(seed, "seed", 0))
    test = judge_miscalibration(fit, null)[0]
    overfit = estimate_overfit(fit.sample, [measure], draws=draws, seed=seed)[0]
    y, x, _ = fit.cases
    losses = case_losses(measure, y, x, fit.sample.cep(x), fit.prevalence)
    note = warn_of_few_events(*fit.sample.counts, are_effective=not fit.sample.units.are_repeated_rows)
    few = find_few_values(fit.sample, level)
    mcb, dsc = (
        component_interval(
            losses,
            name,
            overfit,
            fit.sample.units,
            level=level,
            is_shown=is_miscalibrated(test, level),
            note=note,
        )
        for name in COMPONENTS
    )
    return allow_for_few_values(mcb, few, measure), allow_for_few_values(dsc, few, measure)


def _check_fit(fit: object, function: str, what: str) -> None:
    """Refuse what is not a fit of events; outcomes and forecasts are easily given in its place."""
    if not isinstance(fit, Corp):
        raise UsageError(
            f"`fit` must be a fit of `corp`; got {type(fit).__name__}. To fix: "
            f"{function}(sr.corp(y_true, y_prob))."
        )
    fit.require_events(what)


def _check_draws(draws: int | None) -> int | None:
    return None if draws is None else check_whole(draws, "draws", 1)


def is_miscalibrated(test: HypothesisTest, level: float) -> bool:
    """Whether the test rejects at the level of the interval's lower limit, or has the smallest p possible."""
    return test.p_value <= max((1 - level) / 2, test.smallest_p_value)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredModel:
    """A model's losses under one score, case by case, and the overfit of its isotonic fit."""

    name: str
    losses: Losses
    overfit: Overfit


def component_differences(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    score: str | Callable[..., FloatArray] = "brier",
    *,
    level: float = 0.95,
    draws: int | None = None,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    **options: Any,
) -> tuple[Difference, Difference]:
    """Bracket intervals of the differences in miscalibration and in discrimination, first minus second.

    >>> y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.6, 0.4, 0.7, 0.9, 0.1]
    >>> mcb, dsc = component_differences(y, [x**2 for x in p], p)
    >>> dsc.value  # both models order the cases in the same way
    0.0
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    draws, seed = _check_draws(draws), check_whole(seed, "seed", 0)
    panel = make_panel(
        y_true,
        {"first": first, "second": second},
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        cluster=cluster,
    )
    measure = resolve_measure(score, options)
    scored = []
    for name, forecast in panel.forecasts.items():
        fit = corp(
            panel.outcome, forecast, panel.weight, weight_kind=panel.weight_kind, cluster=panel.cluster
        )
        losses = case_losses(measure, panel.outcome, forecast, fit.recalibrate(forecast), fit.prevalence)
        overfit = estimate_overfit(fit.sample, [measure], draws=draws, seed=seed)[0]
        scored.append(ScoredModel(name=name, losses=losses, overfit=overfit))
    return contrast_components(scored[0], scored[1], panel, choose_errors(panel, level))


def contrast_components(
    first: ScoredModel, second: ScoredModel, panel: PanelRows, choice: ErrorChoice
) -> tuple[Difference, Difference]:
    """Return the differences of two models in miscalibration and in discrimination on the same cases."""
    mcb, dsc = (contrast_component(first, second, component, panel, choice) for component in COMPONENTS)
    return mcb, dsc


def contrast_component(
    first: ScoredModel, second: ScoredModel, component: str, panel: PanelRows, choice: ErrorChoice
) -> Difference:
    """Return the difference of two models in one component."""
    distribution, units, measure = error_distribution(panel, choice), panel.units, first.losses.measure
    bracket = component_difference(
        first.losses,
        second.losses,
        component,
        (first.overfit, second.overfit),
        units,
        lambda gain: (mean_error(panel, gain, choice), distribution),
        choice.level,
    )
    return Difference(
        first=first.name,
        second=second.name,
        measure=f"{measure} {component}",
        first_value=units.mean(first.losses.gain(component)),
        second_value=units.mean(second.losses.gain(component)),
        value=bracket.value,
        standard_error=bracket.standard_error,
        lower=bracket.lower,
        upper=bracket.upper,
        level=choice.level,
        statistic=bracket.statistic,
        p_value=bracket.p_value,
        higher_is_better=component == "discrimination",
        null_hypothesis=f"Both models have the same {component} ({measure}).",
        method=f"{describe_bracket(first.overfit)}; {describe_errors(panel, choice)}",
        reference=_CORP_REFERENCE,
        n=units.total,
        note=bracket.note or join_notes(describe_few(panel, choice), first.overfit.left_out),
    )
