"""Decompositions as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_p_value
from scorereport.report.tables.table import Table, score_label, section_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.components import ComponentEstimate
    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results.model_records import ModelScores


def decomposition_table(models: Sequence[ModelScores], level: str) -> Table:
    """All scores of all models, split into their components; with intervals where there are any."""
    parts = [
        (m, place, part)
        for of_score in zip(*(enumerate(m.decompositions) for m in models), strict=True)
        for m, (place, part) in zip(models, of_score, strict=True)
    ]
    numbers = [[d.score, d.miscalibration, d.discrimination, d.uncertainty] for _, _, d in parts]
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    has_intervals, has_tests = bool(models[0].components), bool(models[0].miscalibration_tests)
    rows = []
    for (m, place, part), values in zip(parts, numbers, strict=True):
        text = [format_number(value, d) for value, d in zip(values, decimals, strict=True)]
        shown = _with_intervals(text, m, place, decimals) if has_intervals else text
        rows.append((score_label(part.name), m.model, *shown))
    tested = ("p",) if has_tests else ()
    intervals = ("mean", "MCB", "less overfit", "interval", *tested, "DSC", "less overfit", "interval", "UNC")
    return Table(
        caption=_decomposition_caption(
            [part for _, _, part in parts], level if has_intervals else "", has_tests=has_tests
        ),
        heads=("score", "model", *(intervals if has_intervals else ("mean", "MCB", "DSC", "UNC"))),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(models),
    )


def _decomposition_caption(parts: Sequence[Decomposition], level: str, *, has_tests: bool) -> str:
    has_gain = any(part.higher_is_better for part in parts)
    gain = " (net benefit: UNC + DSC − MCB)" if has_gain else ""
    intervals = f"; {level} intervals of the true MCB and DSC" if level else ""
    tested = ", and p of the test that MCB is 0, for each model alone" if level and has_tests else ""
    return f"CORP decomposition: mean = MCB − DSC + UNC{gain}{intervals}{tested}"


def _with_intervals(
    text: Sequence[str], scores: ModelScores, place: int, decimals: Sequence[int]
) -> tuple[str, ...]:
    mean, mcb, dsc, unc = text
    components = scores.components[2 * place : 2 * place + 2]
    of_mcb, of_dsc = (_corrected(part, d) for part, d in zip(components, decimals[1:3], strict=True))
    p_value = [format_p_value(test.p_value) for test in scores.miscalibration_tests[place : place + 1]]
    return mean, mcb, *of_mcb, *p_value, dsc, *of_dsc, unc


def _corrected(part: ComponentEstimate, decimals: int) -> tuple[str, str]:
    return format_number(part.corrected, decimals), format_interval(part.lower, part.upper, decimals)
