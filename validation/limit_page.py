"""Page docs/limits.md, written from the declarations of limits by `make docs`."""

from __future__ import annotations

from math import inf, isinf
from typing import TYPE_CHECKING

from scorereport.configuration.limit_names import SHORTHANDS
from scorereport.configuration.limit_records import ExactBound, ModelKind, Requirement
from scorereport.configuration.measure_limits import MEASURES

if TYPE_CHECKING:
    from scorereport.configuration.limit_records import LimitMeasure

_HEAD = """# The limits

This page is written from the declarations of `scorereport.configuration.measure_limits` by `make docs`. It
lists every number that may have a limit in `[limits]`; [configuration](configuration.md#limits) explains how
limits are judged. "Key" is a key that a limit on the measure needs, because the measure has a number for each
threshold or class. "Groups" marks measures that are judged in each group too, if `limits.groups` is true.
"Few cases" names the [exact bound](glossary.md#exact-bound) that may decide where cases are few.

"""
_TABLE = """| name | number | better | range | key | needs | groups | few cases |
|---|---|---|---|---|---|---|---|
"""
_KINDS = {
    "Binary models": (ModelKind.BINARY,),
    "Models of several classes": (ModelKind.MULTICLASS, ModelKind.ORDINAL),
    "Models of ordered classes only": (ModelKind.ORDINAL,),
    "Models of unordered classes only": (ModelKind.MULTICLASS,),
    "Models of all kinds": tuple(ModelKind),
}
_NEEDS = {
    Requirement.COSTS: "`cost_interval`",
    Requirement.RESAMPLES: "`resamples` above 0",
    Requirement.GRADES: "`grade`",
    Requirement.REFERENCE: "`reference`",
    Requirement.MEMORY: "rows in memory",
    Requirement.SCALE: "`scale`, which the limit sets",
}
_BOUNDS = {
    ExactBound.RATE: "Clopper-Pearson",
    ExactBound.RATE_AMONG: "Clopper-Pearson",
    ExactBound.MEAN: "Hoeffding",
    ExactBound.NONE: "",
}


def render_limit_page() -> str:
    """Render the page as text."""
    parts = [_HEAD]
    for heading, kinds in _KINDS.items():
        rows = [_render_row(measure) for measure in MEASURES.values() if measure.kinds == kinds]
        parts.append(f"## {heading}\n\n{_TABLE}{''.join(rows)}\n")
    short = "".join(f"| `{name}` | `{measure}` |\n" for name, measure in SHORTHANDS.items())
    return "".join(parts) + f"## Short names\n\n| name | short for |\n|---|---|\n{short}"


def _render_row(measure: LimitMeasure) -> str:
    better = "between" if measure.direction is None else measure.direction.removesuffix(" is better")
    cells = [
        f"`{measure.name}`",
        measure.meaning or measure.label,
        better,
        _show_range(measure),
        f"`{measure.argument}`" if measure.argument else "",
        ", ".join(_NEEDS[need] for need in measure.requires),
        "yes" if measure.has_groups else "",
        _BOUNDS[measure.exact],
    ]
    return f"| {' | '.join(cells)} |\n"


def _show_range(measure: LimitMeasure) -> str:
    low = "(-∞" if measure.lower == -inf else f"[{measure.lower:g}"
    return f"{low}, {'∞)' if isinf(measure.upper) else f'{measure.upper:g}]'}"


if __name__ == "__main__":
    print(render_limit_page(), end="")
