"""Findings on recalibration: the models that it would improve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.judgement import find_alpha
from scorereport.inference.recalibration_gains import bound_shown_gain
from scorereport.report.finding_records import MODELS, Consequence, Finding
from scorereport.report.miscalibration_patterns import adjusted_p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.results.evaluation import Evaluation

RECALIBRATE = f"Recalibrate {MODELS}, and evaluate again on new cases."


def find_recalibration(evaluation: Evaluation, inverted: set[str]) -> Iterator[Finding]:
    """State the models that recalibration would improve, with the best map."""
    alpha = find_alpha(evaluation)
    for model in (model for model in evaluation.models if model.model not in inverted):
        better = [
            trial
            for trial in model.recalibration
            if trial.brier.value < 0 and adjusted_p_value(trial.brier) <= alpha
        ]
        if better:
            best = better[first_lowest([trial.brier.value for trial in better])]
            decimals = common_decimals([best.brier.value])
            interval = format_interval(*bound_shown_gain(best.brier, alpha), decimals)
            yield Finding(
                text=f"Recalibration would lower the Brier score of {model.model} on new cases by "
                f"{format_number(-best.brier.value, decimals)} {interval} ({best.method}, the best of "
                f"{len(model.recalibration)} maps; the interval allows for this choice, and for being stated "
                "only where a gain is shown).",
                see="recalibration",
                consequence=Consequence.POSSIBLE_GAIN,
                tone="open",
                model=model.model,
                size=-best.brier.value,
                action=RECALIBRATE,
            )
