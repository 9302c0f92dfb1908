r"""The configuration of a report: what data cannot tell, in a TOML file that is checked key by key.

>>> configuration = parse_configuration("[limits]\nbrier = {warn = 0.19, fail = 0.21}")
>>> configuration.limits.bounds[0][1].fail_upper
0.21
"""

from scorereport.configuration.configuration_tables import (
    CHECKLISTS,
    SECTION_NAMES,
    Bounds,
    Configuration,
    Limits,
    OneSidedLimit,
    Person,
    TwoSidedLimit,
)
from scorereport.configuration.consistency import Asked, check_arguments, check_configuration, check_request
from scorereport.configuration.json_schema import configuration_schema
from scorereport.configuration.measure_limits import MEASURES, LimitMeasure, ModelKind, Part
from scorereport.configuration.toml_reader import parse_configuration, read_configuration

__all__ = [
    "CHECKLISTS",
    "MEASURES",
    "SECTION_NAMES",
    "Asked",
    "Bounds",
    "Configuration",
    "LimitMeasure",
    "Limits",
    "ModelKind",
    "OneSidedLimit",
    "Part",
    "Person",
    "TwoSidedLimit",
    "check_arguments",
    "check_configuration",
    "check_request",
    "configuration_schema",
    "parse_configuration",
    "read_configuration",
]
