"""The keys of `[evaluation]`: the arguments of `evaluate`, checked by the rules that Python applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scorereport.configuration.configuration_tables import EvaluationTable
from scorereport.configuration.messages import describe_unknown
from scorereport.data.roles import count_classes
from scorereport.errors import UsageError
from scorereport.evaluation.arguments import ARGUMENTS, columns_in, find_conflicts, name_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorereport.evaluation.arguments import Arguments

#: The arguments that are keys of a configuration, by name.
EVALUATION_KEYS = {name: declared for name, declared in ARGUMENTS.items() if declared.in_files}


def read_evaluation(raw: Mapping[str, Any]) -> tuple[EvaluationTable, list[str]]:
    """The table `[evaluation]`, and a sentence for each problem; with any, the table may lack values."""
    given: dict[str, Any] = {}
    problems = [describe_unknown(("evaluation", key)) for key in raw if key not in EVALUATION_KEYS]
    for name in (key for key in raw if key in EVALUATION_KEYS):
        try:
            given[name] = EVALUATION_KEYS[name].rule.check(raw[name], name_key(name))
        except UsageError as error:
            problems.append(str(error))
    arguments = cast("Arguments", given)
    if not problems:
        n_classes = count_classes(columns_in(arguments))
        problems += find_conflicts(arguments, n_classes, name_key, are_complete=False)
    return EvaluationTable(given=arguments), problems


def describe_keys() -> dict[str, Any]:
    """The table `[evaluation]` as JSON Schema."""
    keys = {
        name: {"title": name.replace("_", " ").capitalize(), **declared.rule.schema()}
        for name, declared in EVALUATION_KEYS.items()
    }
    return {
        "type": "object",
        "title": "EvaluationTable",
        "description": EvaluationTable.__doc__,
        "properties": keys,
        "additionalProperties": False,
    }
