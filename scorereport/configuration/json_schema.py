"""The JSON Schema of configurations, for editors that check TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.channels import CHANNELS
from scorereport.channels.notification import FORMATS
from scorereport.configuration.audit_tables import CATCH_UP, CERTIFY, NEWEST, OUTCOMES
from scorereport.configuration.configuration_tables import Profile, Tables
from scorereport.configuration.evaluation_keys import describe_keys
from scorereport.configuration.limit_names import SHORTHANDS
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.messages import LIMIT_HOMES, known_keys
from scorereport.results.registered_functions import list_section_names

if TYPE_CHECKING:
    from scorereport.configuration.limit_records import LimitMeasure

VERSION = 1
#: Keys whose values are from a list of options.
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "ReportTable": {"profile": tuple(Profile)},
    "AuditTable": {"certify": CERTIFY},
    "SourceTable": {"newest": NEWEST},
    "OutputTable": {"formats": FORMATS},
    "ScheduleTable": {"catch_up": CATCH_UP},
    "NotifyTable": {"on": OUTCOMES},
    **{channel.table.__name__: dict(channel.options) for channel in CHANNELS.values()},
}
_NUMBER = {"type": "number"}


def configuration_schema() -> dict[str, Any]:
    """The JSON Schema of a configuration as it is written in TOML."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    described = TypeAdapter(Tables).json_schema()
    kinds = described["$defs"]
    _write_limits_flat(kinds)
    for role in kinds["PeopleTable"]["properties"].values():
        role["anyOf"] = [{"$ref": "#/$defs/Person"}, {"type": "string"}]
        role.pop("default", None)
    kinds["ReportTable"]["properties"]["omit"]["items"] = {"enum": list(list_section_names())}
    names = {"type": "array", "items": {"type": "string"}}
    kinds["ChecklistTable"]["properties"]["lists"] = kinds["ReportTable"]["properties"]["checklists"] = names
    kinds["EvaluationTable"] = describe_keys()
    described["properties"]["evaluation"] = {"$ref": "#/$defs/EvaluationTable"}
    for table, keys in _OPTIONS.items():
        for key, options in keys.items():
            _list_options(kinds[table]["properties"][key], options)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **described,
        "title": f"scorereport configuration, version {VERSION}",
    }


def _list_options(key: dict[str, Any], options: tuple[str, ...]) -> None:
    """Write the options of a key, or of the items of its list."""
    place = key["items"] if key["type"] == "array" else key
    place["enum"] = list(options)


def _write_limits_flat(kinds: dict[str, Any]) -> None:
    """Write the limits of measures as keys of `[limits]`, as in the file."""
    limits, listed = kinds["LimitsTable"], kinds.pop("ListedLimit")
    for home in LIMIT_HOMES:
        del limits["properties"][home]
    limits["properties"]["set_on"] = {"title": "Set On", "type": "string"}
    for name, measure in MEASURES.items():
        two_sided: dict[str, Any] = {"$ref": "#/$defs/TwoSidedLimit"}
        one_sided = {"anyOf": [_NUMBER, {"$ref": "#/$defs/OneSidedLimit"}]}
        kind = two_sided if measure.direction is None else one_sided
        if measure.argument is not None:
            kind, table = _describe_listed(measure, listed)
            kinds.setdefault(table["title"], table)
        better = "" if measure.direction is None else f"; {measure.direction}"
        limits["properties"][name] = {**kind, "description": f"{measure.label}{better}"}
    for short, name in SHORTHANDS.items():
        limits["properties"][short] = {**limits["properties"][name], "description": f"short for {name}"}


def _describe_listed(measure: LimitMeasure, listed: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table, or a list of tables, that name the threshold or the class; and the schema of such a table."""
    keys = known_keys(("limits", measure.name))
    table = {
        "title": f"{'One' if measure.direction else 'Two'}SidedLimit{keys[0].title().replace('_', '')}",
        "type": "object",
        "properties": {key: listed["properties"][key] for key in keys},
        "required": keys[:1],
        "additionalProperties": False,
    }
    of_table = {"$ref": f"#/$defs/{table['title']}"}
    return {"anyOf": [of_table, {"type": "array", "items": of_table, "minItems": 1}]}, table
