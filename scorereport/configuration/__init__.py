r"""The configuration of a report: a TOML file that is checked key by key.

>>> configuration = parse_configuration("[limits]\nbrier = {warn = 0.19, fail = 0.21}")
>>> configuration.limits.bounds[0][1].fail_upper
0.21
"""

from typing import Any

from scorereport.configuration.checklist_names import list_checklist_names
from scorereport.configuration.configuration_tables import Configuration, Person
from scorereport.configuration.consistency import (
    RequestedEvaluation,
    check_arguments,
    check_configuration,
    check_request,
)
from scorereport.configuration.json_schema import configuration_schema
from scorereport.configuration.limit_records import LimitMeasure, MeasurePart, ModelKind
from scorereport.configuration.limits_table import Bounds, LimitsTable, OneSidedLimit, TwoSidedLimit
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.toml_reader import parse_configuration, read_configuration
from scorereport.results.registered_functions import list_section_names

__all__ = [
    "CHECKLISTS",
    "MEASURES",
    "SECTION_NAMES",
    "Bounds",
    "Configuration",
    "LimitMeasure",
    "LimitsTable",
    "MeasurePart",
    "ModelKind",
    "OneSidedLimit",
    "Person",
    "RequestedEvaluation",
    "TwoSidedLimit",
    "check_arguments",
    "check_configuration",
    "check_request",
    "configuration_schema",
    "parse_configuration",
    "read_configuration",
]

#: The checklists of the package, in alphabetical order.
CHECKLISTS = list_checklist_names()
#: The sections of a report that can be left out, in reading order; found when they are first used, because
#: the modules of the report declare them.
SECTION_NAMES: tuple[str, ...]


def __getattr__(name: str) -> Any:
    if name == "SECTION_NAMES":
        return list_section_names()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
