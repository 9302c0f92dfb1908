"""Tables of decompositions: of binary scores, and of class scores over their binary views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_p_value
from scorereport.report.tables.table import Table, interval_text, score_label, section_size
from scorereport.report.view_calibration import adjust_views
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results.model_records import ModelScores


if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.results.class_records import ClassModelResult, ViewFamily
    from scorereport.results.model_records import ModelScores, ScoreValue

    #: Score, miscalibration, discrimination, uncertainty.
    Numbers = tuple[float, float, float, float]


def view_decomposition_table(model: ClassModelResult, family: ViewFamily, level: str) -> Table:
    """Table of Brier score, components and AUC of each view, with their sum in the last row."""
    numbers = [_numbers(view.scores, "brier") for view in family.views]
    total = sum_views(family)
    decimals = [common_decimals(column) for column in zip(*numbers, total, strict=True)]
    has_intervals = bool(family.views[0].scores.components)
    adjusted = adjust_views(family)
    p_values = [np.nan] * len(numbers) if adjusted is None else adjusted.p_values
    rows = [
        (
            view.label,
            *_cells(values, decimals, view.scores, "brier", p_value if has_intervals else None),
            *_area(view.scores.score("roc_auc"), has_intervals=has_intervals),
        )
        for view, values, p_value in zip(family.views, numbers, p_values, strict=True)
    ]
    test = model.scores.miscalibration_test(family.score)
    alone = np.nan if test is None else test.p_value
    last = _cells(total, decimals, model.scores, family.score, alone if has_intervals else None)
    blank = ("", "") if has_intervals else ("",)
    return Table(
        caption=_caption(model.model, family, level if has_intervals else ""),
        heads=("up to" if family.kind == THRESHOLD else "class", *_heads(has_intervals=has_intervals)),
        rows=(*rows, (_name_total(family), *last, *blank)),
    )


def sum_views(family: ViewFamily) -> Numbers:
    """Return score, MCB, DSC and UNC of all views, summed and divided as in their score."""
    score, mcb, dsc, unc = (
        sum(column) / family.divisor
        for column in zip(*(_numbers(view.scores, "brier") for view in family.views), strict=True)
    )
    return score, mcb, dsc, unc


def _numbers(scores: ModelScores, name: str) -> Numbers:
    part = scores.decomposition(name)
    return part.score, part.miscalibration, part.discrimination, part.uncertainty


def _heads(*, has_intervals: bool) -> tuple[str, ...]:
    if not has_intervals:
        return ("S", "MCB", "DSC", "UNC", "AUC ↑")
    mcb, dsc = ((name, f"corrected {name}", "interval") for name in ("MCB", "DSC"))
    return ("S", *mcb, "p", *dsc, "UNC", "AUC ↑", "interval")


def _cells(
    values: Numbers, decimals: Sequence[int], scores: ModelScores, name: str, p_value: float | None
) -> tuple[str, ...]:
    """Format the numbers of a row, with intervals and the p-value between them if there is one."""
    score, mcb, dsc, unc = (format_number(v, d) for v, d in zip(values, decimals, strict=True))
    if p_value is None:
        return score, mcb, dsc, unc
    of_mcb, of_dsc = (
        _corrected_or_empty(scores.component(name, component), places)
        for component, places in (("miscalibration", decimals[1]), ("discrimination", decimals[2]))
    )
    return score, mcb, *of_mcb, format_p_value(p_value), dsc, *of_dsc, unc


def _corrected_or_empty(part: ComponentEstimate | None, decimals: int) -> tuple[str, str]:
    if part is None:
        return "", ""
    return format_number(part.corrected, decimals), format_interval(part.lower, part.upper, decimals)


def _area(area: ScoreValue, *, has_intervals: bool) -> tuple[str, ...]:
    text = format_number(area.value, 4)
    return (text, interval_text(area.interval, 4)) if has_intervals else (text,)


def _name_total(family: ViewFamily) -> str:
    return "sum / (K − 1) = RPS" if family.kind == THRESHOLD else "sum = Brier score"


def _caption(model: str, family: ViewFamily, level: str) -> str:
    what, rows, how, score = (
        (
            "threshold between classes",
            "thresholds",
            "divided by the number of thresholds, ",
            "RPS, ranked probability score",
        )
        if family.kind == THRESHOLD
        else ("class against the rest", "classes", "", "Brier score of K classes")
    )
    tested = (
        f" {level} intervals of corrected MCB, corrected DSC and AUC; p of the test that MCB is 0, "
        f"adjusted for the number of {rows} (Holm), in the last row for this model alone."
        if level
        else ""
    )
    return (
        f"{model}: the Brier score of each {what}, S = MCB − DSC + UNC. The last row is the sum of each "
        f"column, {how}which is the decomposition of the {score}.{tested}"
    ).rstrip(".")


def decomposition_table(models: Sequence[ModelScores], level: str) -> Table:
    """Table of all scores of all models with their components, with intervals where there are any."""
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
    mcb, dsc = ((name, f"corrected {name}", "interval") for name in ("MCB", "DSC"))
    intervals = ("mean", *mcb, *tested, *dsc, "UNC")
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
    intervals = (
        f"; corrected MCB and corrected DSC are overfit-corrected, with {level} intervals" if level else ""
    )
    tested = "; p of the test that MCB is 0, for each model separately" if level and has_tests else ""
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
