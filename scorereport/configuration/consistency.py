"""Checks that a configuration is consistent with an evaluation, requested or done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.limit_records import LimitArgument, MeasurePart, ModelKind, Requirement
from scorereport.configuration.measure_limits import MEASURES, find_counterpart
from scorereport.configuration.messages import name_as_written, raise_problems, suggest
from scorereport.data.column_rules import label_text
from scorereport.evaluation.arguments import asks_for_scale
from scorereport.evaluation.decision_thresholds import choose_thresholds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scorereport.configuration.configuration_tables import Configuration, EvaluationTable
    from scorereport.configuration.limit_numbers import Argument
    from scorereport.configuration.limit_records import LimitMeasure
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
    has_grades: bool = False
    has_reference: bool = False
    has_rows: bool = True
    has_scale: bool = True
    thresholds: tuple[float, ...] = ()
    classes: tuple[str, ...] = ()


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
        has_grades="grade" in arguments and _counts_rows(arguments),
        has_reference="reference" in arguments,
        has_rows=arguments.get("engine", "auto") in ("auto", "memory"),
        has_scale=asks_for_scale(arguments),
        thresholds=tuple(arguments.get("thresholds") or choose_thresholds(arguments.get("cost_interval"))),
        classes=tuple(map(label_text, arguments.get("classes") or ())),
    )
    check_request(configuration, requested)


def _counts_rows(arguments: Arguments) -> bool:
    """Whether weights, if there are any, say how often each row was observed."""
    return "weight" not in arguments or arguments.get("weight_kind") == "frequency"


def check_configuration(
    configuration: Configuration, evaluation: Evaluation, *, overridden: Collection[str] = ()
) -> None:
    """Refuse names and limits that the evaluation lacks, and settings that differ from its own.

    Settings that the user has `overridden` may differ.
    """
    classes, has_rows = evaluation.data.classes, evaluation.settings.engine == "memory"
    requested = RequestedEvaluation(
        models=[result.model for result in evaluation.results],
        kind=ModelKind.of(has_classes=classes is not None, ordered=classes is not None and classes.ordered),
        has_costs=evaluation.settings.cost_interval is not None,
        has_line=all(result.calibration is not None for result in evaluation.models),
        has_groups=bool(evaluation.groups),
        has_grades=not has_rows or all(m.calibration and m.calibration.grades for m in evaluation.models),
        has_reference=evaluation.stability is not None,
        has_scale=not has_rows or _has_scale(evaluation),
        thresholds=tuple(row.threshold for model in evaluation.models[:1] for row in model.thresholds),
        classes=() if classes is None else classes.labels,
    )
    others = _find_other_settings(configuration, evaluation, overridden)
    raise_problems(configuration.name, [*_find_mismatches(configuration, requested), *others])


def _has_scale(evaluation: Evaluation) -> bool:
    """Whether there is the probability scale; documents did not always state that it was asked for."""
    return evaluation.settings.scale or any(result.scale for result in evaluation.results)


def _find_mismatches(configuration: Configuration, requested: RequestedEvaluation) -> Iterator[str]:
    yield from _find_unknown_names("limits.models", configuration.limits.models, requested.models)
    yield from _find_unknown_names("model.descriptions", configuration.model.descriptions, requested.models)
    written = dict.fromkeys(configuration.limits.written.values())
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
        key = f"limits.{_strip_argument(measure)}"
        if requested.kind not in measure.kinds:
            yield f"`{key}` {_describe_other_kind(measure, requested.kind)}"
            continue
        missing = next((need for need in measure.requires if not _is_met(need, requested)), None)
        if missing is not None:
            yield f"`{key}` {_describe_requirement(missing, measure)}"
        elif measure.argument is LimitArgument.AT and not _is_among(measure.at, requested.thresholds):
            yield (
                f"`{key}` applies at {measure.at}, and the evaluation has no decisions at this threshold: "
                "add it to `evaluation.thresholds`, or give --threshold, and evaluate again."
            )
        elif measure.argument in (LimitArgument.OF_CLASS, LimitArgument.UP_TO):
            yield from _find_unknown_class(measure, key, requested.classes)


def _strip_argument(measure: LimitMeasure) -> str:
    """The key of a measure in the file, without the threshold or the class."""
    if measure.argument is None:
        return measure.name
    return next(name for name, known in MEASURES.items() if known.place is measure.place)


def _is_among(at: Argument, thresholds: Sequence[float]) -> bool:
    return any(isinstance(at, float) and math.isclose(at, t, abs_tol=1e-12) for t in thresholds)


def _find_unknown_class(measure: LimitMeasure, key: str, classes: Sequence[str]) -> Iterator[str]:
    """A sentence on a class that does not exist, or that is the last, which has no threshold above it."""
    allowed = classes[:-1] if measure.argument is LimitArgument.UP_TO else classes
    if measure.at not in allowed:
        what = "a class below a threshold" if len(allowed) < len(classes) else "a class"
        known = suggest(str(measure.at), allowed) or f"classes are {', '.join(allowed)}."
        yield f"`{key}.{measure.argument}` must be {what}; got {measure.at!r}; {known}"


_MET = {
    Requirement.COSTS: "has_costs",
    Requirement.RESAMPLES: "has_line",
    Requirement.GRADES: "has_grades",
    Requirement.REFERENCE: "has_reference",
    Requirement.MEMORY: "has_rows",
    Requirement.SCALE: "has_scale",
}
_WITHOUT = {
    Requirement.COSTS: (
        "needs an interval of costs, and the evaluation has none: set `evaluation.cost_interval`, or remove "
        "the limit."
    ),
    Requirement.GRADES: (
        "needs tests by grade, and the evaluation has none: name the column in `evaluation.grade` (weights "
        "must be frequencies), or remove the limit."
    ),
    Requirement.REFERENCE: (
        "needs a reference sample, and the evaluation has none: name it in `data.reference`, or remove "
        "the limit."
    ),
    Requirement.MEMORY: (
        'needs the rows in memory: set `evaluation.engine` to "memory" or "auto", or remove the limit.'
    ),
    Requirement.SCALE: (
        "needs the probability scale, and the evaluation has none: set `evaluation.scale` to true, or give "
        "--scale, and evaluate again, or remove the limit."
    ),
}
#: What is not computed without resamples.
_DRAWN = {
    MeasurePart.LINE: "the calibration line, which is not fitted",
    MeasurePart.ERROR: "the calibration errors, which are not computed",
    MeasurePart.GRADES: "the tests by grade, which are not computed",
}


def _is_met(requirement: Requirement, requested: RequestedEvaluation) -> bool:
    return bool(getattr(requested, _MET[requirement]))


def _describe_requirement(requirement: Requirement, measure: LimitMeasure) -> str:
    """Explain what the evaluation lacks for a measure, and what to do."""
    if requirement is not Requirement.RESAMPLES:
        return _WITHOUT[requirement]
    absent = f"needs {_DRAWN[measure.part]} where `evaluation.resamples` is 0"
    return f"{absent}: set it to 1000, or remove the limit."


def _name_counterpart(measure: LimitMeasure) -> str:
    """The measure to use instead; if its direction is opposite, the limit must be another number."""
    other = find_counterpart(measure)
    if other is None:
        return "remove the limit."
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
    if "reference" in table.given and evaluation.stability is None and "reference" not in overridden:
        where = "data" if configuration.data.reference else "evaluation"
        made = "without a reference sample"
        yield _describe_other("reference", table.given["reference"], made, table=where)
    for name, value in configuration.settings.items():
        if name in ("thresholds", "scale") and name not in table.settings:  # of limits; checked one by one
            continue
        made_with = _find_setting(evaluation, name, value)
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


def _find_setting(evaluation: Evaluation, name: str, unknown: object) -> object:
    """The setting with which an evaluation was made; not all of them are recorded."""
    return _has_scale(evaluation) if name == "scale" else getattr(evaluation.settings, name, unknown)


def _describe_other(key: str, value: object, made: str, *, table: str = "evaluation") -> str:
    return (
        f"`{table}.{key}` is {value!r}, and the evaluation was made {made}: "
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
