"""Checks that a configuration is consistent with an evaluation, requested or done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.measure_limits import MEASURES, MeasurePart, ModelKind
from scorereport.configuration.messages import name_as_written, raise_problems, suggest
from scorereport.configuration.toml_reader import parse_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scorereport.configuration.configuration_tables import Configuration, EvaluationTable
    from scorereport.configuration.measure_limits import LimitMeasure
    from scorereport.evaluation.arguments import Arguments
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedEvaluation:
    """The models of an evaluation, their kind, and which parts the evaluation has or will have."""

    models: Sequence[str]
    kind: ModelKind
    has_costs: bool
    has_line: bool
    has_groups: bool


def check_request(configuration: Configuration, requested: RequestedEvaluation) -> None:
    """Refuse, before the evaluation, names of models and limits on numbers that it will not have."""
    raise_problems(configuration.name, list(_find_mismatches(configuration, requested)))


def check_arguments(configuration: Configuration, arguments: Arguments) -> None:
    """Refuse, before the evaluation, what one with these arguments of `evaluate` will not have."""
    requested = RequestedEvaluation(
        models=list(arguments["forecasts"]),
        kind=ModelKind.of(has_classes="classes" in arguments, ordered=arguments.get("ordered", False)),
        has_costs="cost_interval" in arguments,
        has_line=arguments.get("resamples") != 0,
        has_groups="groups" in arguments,
    )
    check_request(configuration, requested)


def check_configuration(
    configuration: Configuration, evaluation: Evaluation, *, overridden: Collection[str] = ()
) -> None:
    """Refuse names and limits that the evaluation lacks, and settings that differ from its own.

    Settings that the user has `overridden` may differ.
    """
    classes = evaluation.data.classes
    requested = RequestedEvaluation(
        models=[result.model for result in evaluation.results],
        kind=ModelKind.of(has_classes=classes is not None, ordered=classes is not None and classes.ordered),
        has_costs=evaluation.settings.cost_interval is not None,
        has_line=all(result.calibration is not None for result in evaluation.models),
        has_groups=bool(evaluation.groups),
    )
    others = _find_other_settings(configuration, evaluation, overridden)
    raise_problems(configuration.name, [*_find_mismatches(configuration, requested), *others])


def _find_mismatches(configuration: Configuration, requested: RequestedEvaluation) -> Iterator[str]:
    yield from _find_unknown_names("limits.models", configuration.limits.models, requested.models)
    yield from _find_unknown_names("model.descriptions", configuration.model.descriptions, requested.models)
    written = parse_toml(configuration.text, configuration.name).get("limits")
    for problem in _find_absent_measures(configuration, requested):
        yield name_as_written(problem, written)
    if configuration.limits.groups and not requested.has_groups:
        yield (
            "`limits.groups` is true, but the evaluation has no groups: "
            "name columns in `evaluation.groups`, or set `limits.groups` to false."
        )


def _find_unknown_names(key: str, names: Iterable[str], models: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name not in models:
            known = suggest(name, models) or f"models are {', '.join(models)}."
            yield f"`{key}` names a model that is not evaluated: {name!r}; {known}"


def _find_absent_measures(configuration: Configuration, requested: RequestedEvaluation) -> Iterator[str]:
    for measure, _ in configuration.limits.bounds:
        key = f"limits.{measure.name}"
        if requested.kind not in measure.kinds:
            yield f"`{key}` {_describe_other_kind(measure, requested.kind)}"
        elif measure.needs_costs and not requested.has_costs:
            yield (
                f"`{key}` needs an interval of costs, and the evaluation has none: "
                "set `evaluation.cost_interval`, or remove the limit."
            )
        elif measure.part is MeasurePart.LINE and not requested.has_line:
            yield (
                f"`{key}` needs the calibration line, which is not fitted where `evaluation.resamples` is 0: "
                "set it to 1000, or remove the limit."
            )


def _name_counterpart(measure: LimitMeasure) -> str:
    """The measure to use instead; if its direction is opposite, the limit must be another number."""
    if not measure.counterpart:
        return "remove the limit."
    other = MEASURES[measure.counterpart]
    if other.direction is not measure.direction:
        return f"set `limits.{other.name}`, which is 1 minus this, or remove the limit."
    return f"did you mean `limits.{other.name}`?"


def _describe_other_kind(measure: LimitMeasure, kind: ModelKind) -> str:
    """Explain why models of a kind do not have a measure, and what to do."""
    instead = _name_counterpart(measure)
    if ModelKind.BINARY in measure.kinds:
        return f"is for binary models, and these have several classes: {instead}"
    if kind is ModelKind.BINARY:
        return f"is for models of several classes, and `evaluation.classes` names none: {instead}"
    return (
        "needs ordered classes: if they are, set `evaluation.ordered` to true, or give --ordered; "
        "otherwise remove the limit."
    )


def _find_other_settings(
    configuration: Configuration, evaluation: Evaluation, overridden: Collection[str]
) -> Iterator[str]:
    table = configuration.evaluation
    for name, value in table.settings.items():
        made_with = getattr(evaluation.settings, name)
        if made_with != value and name not in overridden:
            yield _describe_other(name, value, f"with {made_with!r}")
    columns = list(dict.fromkeys(group.column for group in evaluation.groups))
    groups = list(table.given.get("groups") or ())
    if groups and set(groups) != set(columns) and "groups" not in overridden:
        made = f"with {', '.join(columns)}" if columns else "without groups"
        yield _describe_other("groups", groups, made)
    for name, (value, made_with) in _pair_columns(table, evaluation).items():
        if value != made_with and name not in overridden:
            made = "without classes" if made_with is None else f"with {made_with!r}"
            yield _describe_other(name, value, made)


def _describe_other(key: str, value: object, made: str) -> str:
    return (
        f"`evaluation.{key}` is {value!r}, and the evaluation was made {made}: "
        "evaluate again with this configuration, or change the key."
    )


def _pair_columns(table: EvaluationTable, evaluation: Evaluation) -> dict[str, tuple[object, object]]:
    """Outcome, models and classes of the configuration, each with those of the evaluation."""
    classes = evaluation.data.classes
    made_with: dict[str, object] = {
        "outcome": evaluation.data.outcome,
        "forecasts": sorted(result.model for result in evaluation.results),
        "classes": None if classes is None else list(classes.labels),
        "ordered": classes is not None and classes.ordered,
        "normalize": classes is not None and bool(classes.rescaled),
    }
    columns = table.columns
    configured: dict[str, object] = {
        **columns,
        "forecasts": sorted(columns.get("forecasts", ())),
        "classes": list(columns.get("classes") or ()),
    }
    return {name: (configured[name], made) for name, made in made_with.items() if name in columns}
