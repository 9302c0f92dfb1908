"""Scores, discrimination and decisions: the methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.report.methods.class_formulas import CLASS_SCORE_FORMULAS
from scorereport.report.methods.method_entries import MethodEntry, capitalize, distinct, method_entry
from scorereport.report.methods.scores import SCORE_FORMULAS
from scorereport.scores.registry import get_score

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scorereport.results.evaluation import Evaluation


def list_score_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Each score with its traits, and the skill."""
    for score in evaluation.results[0].scores.scores:
        yield _describe_score(score.name, evaluation.settings.cost_interval)
    if evaluation.kind == "binary":
        yield method_entry("skill")
        return
    of_kappa = "Kappa is a skill already." if evaluation.kind == "ordinal" else ""
    yield method_entry("class skill", of_kappa, _state_costs(evaluation))


def _state_costs(evaluation: Evaluation) -> str:
    """Which costs the expected cost has."""
    if evaluation.settings.cost_matrix is not None:
        return "Costs are those of the cost matrix asked for."
    if evaluation.kind == "ordinal":
        return "Costs are ((i − j) / (K − 1))², unless others are asked for."
    return "Costs are 1 for every wrong decision, unless others are asked for."


def _describe_score(name: str, costs: tuple[float, float] | None) -> MethodEntry:
    formula, convention = (SCORE_FORMULAS | CLASS_SCORE_FORMULAS)[name]
    score = get_score(name)
    bounds = "" if costs is None else f" Here a = {costs[0]:g} and b = {costs[1]:g}."
    traits = f"{score.direction}; {score.propriety}; range {_with_minus_signs(score.range)}."
    return {
        "name": score.label,
        "formula": formula,
        "convention": f"{convention}{bounds if name.startswith('bounded') else ''} {capitalize(traits)}",
        "reference": "; ".join(score.references),
    }


def _with_minus_signs(text: str) -> str:
    return text.replace("-", "−")


def list_decision_methods(evaluation: Evaluation, omitted: Collection[str] = ()) -> Iterator[MethodEntry]:
    """Curves and measures of discrimination and of decisions, of those sections that are not omitted."""
    if evaluation.kind != "binary":
        if "retention" not in omitted and any(m.retention for m in evaluation.class_models):
            yield method_entry("retention")
        return
    if evaluation.data.sample.prevalence not in (0.0, 1.0) and "discrimination" not in omitted:
        yield method_entry("roc")
    if "decomposition" not in omitted:
        yield method_entry("murphy")
    if "decision" not in omitted:
        yield method_entry("regret")
        yield method_entry("net benefit")
        if evaluation.models[0].thresholds:
            yield method_entry("thresholds")
        if any(m.curves.decision.band is not None for m in evaluation.models):
            yield method_entry("decision intervals", *_describe_limits(evaluation))


def _describe_limits(evaluation: Evaluation) -> Iterator[str]:
    """How limits of shares were made here, and why there are none."""
    bands = [m.curves.decision.band for m in evaluation.models if m.curves.decision.band is not None]
    yield from distinct(f"Here: {band.note or band.method.partition(': ')[2]}." for band in bands)
