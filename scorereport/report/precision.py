"""Whether the sample was large enough: how precise the numbers came out, and what was too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.formatting import (
    common_decimals,
    counted,
    format_count,
    format_level,
    format_number,
    join_words,
)
from scorereport.report.formulas import SNELL_2021, VERGOUWE_2005, cite
from scorereport.tables.table import Table

if TYPE_CHECKING:
    from scorereport.evaluation import Evaluation
    from scorereport.inference.outcomes import Estimate
    from scorereport.results import ModelResult

#: A rule of thumb asks for so many events and so many non-events.
_ENOUGH = 100
#: Intervals that are narrower have no width but for rounding.
_NO_WIDTH = 1e-12


def precision_table(evaluation: Evaluation) -> Table | None:
    """Half the width of the intervals of Brier score, AUC and calibration slope; None without intervals."""
    if evaluation.models[0].scores.scores[0].interval is None:
        return None
    widths = [_half_widths(model) for model in evaluation.models]
    decimals = [common_decimals(column) for column in zip(*widths, strict=True)]
    return Table(
        caption=f"Precision reached: half the width of the {format_level(evaluation.settings.level)} "
        "intervals; smaller is more precise",
        heads=("model", "Brier score ±", "AUC ±", "calibration slope ±"),
        rows=tuple(
            (model.model, *(format_number(v, d) for v, d in zip(row, decimals, strict=True)))
            for model, row in zip(evaluation.models, widths, strict=True)
        ),
    )


def _half_widths(model: ModelResult) -> list[float]:
    intervals = {score.name: score.interval for score in model.scores.scores}
    slope = None if model.calibration is None else model.calibration.line.slope
    return [_half_width(estimate) for estimate in (intervals["brier"], intervals["roc_auc"], slope)]


def _half_width(estimate: Estimate | None) -> float:
    """Half the width of an interval; NaN where nothing varies, which is no sign of precision."""
    width = float("nan") if estimate is None else estimate.upper - estimate.lower
    return width / 2 if width > _NO_WIDTH else float("nan")


def describe_size(evaluation: Evaluation) -> list[str]:
    """Events and non-events, what was too little, and how well the prevalence is known."""
    data, sample = evaluation.data, evaluation.data.sample
    others = sample.total - sample.events
    weighed = " (sums of weights)" if data.weighted else ""
    sentences = [
        f"The sample has {counted(sample.events, 'event')} and {counted(others, 'non-event')}{weighed}.",
        _judge_size({"events": sample.events, "non-events": others}),
    ]
    interval = sample.prevalence_interval
    if interval is not None:
        points = format_number(100 * _half_width(interval), 1)
        sentences.append(f"The prevalence is known to about ± {points} percentage points.")
    small = _count_small(evaluation)
    return [*sentences, small] if small else sentences


def _judge_size(counts: dict[str, float]) -> str:
    few = [what for what, n in counts.items() if n < _ENOUGH]
    rule = f"A rule of thumb asks for at least {_ENOUGH} of each [{cite(VERGOUWE_2005)}]"
    if few:
        return (
            f"{rule}: there are too few {join_words(few)}. Intervals are wide, and a lack of evidence "
            "against calibration says little."
        )
    return f"{rule}. The sample has them, which alone does not make intervals narrow [{cite(SNELL_2021)}]."


def _count_small(evaluation: Evaluation) -> str:
    scored = [group.sample for group in (*evaluation.groups, *evaluation.windows) if group.models]
    small = sum(min(sample.events, sample.total - sample.events) < _ENOUGH for sample in scored)
    if not small:
        return ""
    return (
        f"Among the groups and periods scored, {format_count(small)} of {format_count(len(scored))} "
        f"have fewer than {_ENOUGH} events or non-events: read them with care."
    )
