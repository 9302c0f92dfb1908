"""Differences of miscalibration and discrimination between two models on the same cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_inside, check_whole
from scorereport.inference.components import (
    COMPONENTS,
    Losses,
    case_losses,
    component_difference,
    describe_bracket,
)
from scorereport.inference.estimates import Difference
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
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.panel import PanelRows


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredModel:
    """A model's losses under one score, case by case, and how much its isotonic fit overfits."""

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
    draws: int = 100,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    **options: Any,
) -> tuple[Difference, Difference]:
    """Bracket intervals of the differences in miscalibration and in discrimination, first minus second.

    >>> y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.6, 0.4, 0.7, 0.9, 0.1]
    >>> mcb, dsc = component_differences(y, [x**2 for x in p], p)
    >>> dsc.value  # the same order of cases
    0.0
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    draws, seed = check_whole(draws, "draws", 1), check_whole(seed, "seed", 0)
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
    """Differences in miscalibration and in discrimination of two models scored on the same cases."""
    mcb, dsc = (contrast_component(first, second, component, panel, choice) for component in COMPONENTS)
    return mcb, dsc


def contrast_component(
    first: ScoredModel, second: ScoredModel, component: str, panel: PanelRows, choice: ErrorChoice
) -> Difference:
    """The difference of two models in one component."""
    law, units, measure = error_distribution(panel, choice), panel.units, first.losses.measure
    bracket = component_difference(
        first.losses,
        second.losses,
        component,
        (first.overfit, second.overfit),
        units,
        lambda gain: (mean_error(panel, gain, choice), law),
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
        reference="Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118",
        n=units.total,
        note=bracket.note or describe_few(panel, choice),
    )
