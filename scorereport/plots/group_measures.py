"""Measures of models by group or by period: values with intervals, the ends of an axis, and descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import common_decimals, format_count, format_number, join_words
from scorereport.errors import UsageError
from scorereport.plots.text import join_sentences
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.results.model_records import GroupResult, ModelScores


#: Measures that a figure of groups can show, with the label of its axis.
PLOTTED_MEASURES = {
    "brier": REGISTRY["brier"].label,
    "roc_auc": "Area under the ROC curve (AUC)",
    "brier_miscalibration": "Miscalibration (MCB) of the Brier score",
    "multiclass_brier": REGISTRY["multiclass_brier"].label,
    "rps": REGISTRY["rps"].label,
}
_MISCALIBRATION = "brier_miscalibration"
#: Label of the overfit-corrected miscalibration, short enough for a vertical axis.
_CORRECTED = "Corrected MCB of the Brier score"
#: Most groups not scored that a description names; further ones are counted.
_MOST_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureValue:
    """A measure of one model in one group; NaN for unknown bounds."""

    model: str
    value: float
    lower: float = np.nan
    upper: float = np.nan


def measure_label(measure: str, groups: Sequence[GroupResult]) -> str:
    """Return the label of a measure; refuse an unknown one with a list of the known ones."""
    if measure not in PLOTTED_MEASURES:
        names = join_words([f"{name!r}" for name in PLOTTED_MEASURES])
        raise UsageError(f"`measure` must be one of {names}; got {measure!r}.")
    is_corrected = any(scores.components for group in groups for scores in group.models)
    return _CORRECTED if is_corrected and measure == _MISCALIBRATION else PLOTTED_MEASURES[measure]


def model_names(groups: Sequence[GroupResult]) -> list[str]:
    """Return the names of all models of the groups, in their order."""
    return list(dict.fromkeys(scores.model for group in groups for scores in group.models))


def read_values(group: GroupResult, measure: str) -> dict[str, MeasureValue]:
    """Return the measure of every model in a group; empty if the group was not scored."""
    read = _miscalibration if measure == _MISCALIBRATION else _score
    return {scores.model: read(scores, measure) for scores in group.models}


def _score(scores: ModelScores, measure: str) -> MeasureValue:
    score = next(score for score in scores.scores if score.name == measure)
    if score.interval is None:
        return MeasureValue(model=scores.model, value=score.value)
    return MeasureValue(
        model=scores.model, value=score.value, lower=score.interval.lower, upper=score.interval.upper
    )


def _miscalibration(scores: ModelScores, _measure: str) -> MeasureValue:
    """Return the overfit-corrected MCB with its interval; the raw one if there is no correction."""
    part = next(part for part in scores.decompositions if part.name == "brier")
    for estimate in scores.components:
        if (estimate.measure, estimate.component) == ("brier", "miscalibration"):
            return MeasureValue(
                model=scores.model, value=estimate.corrected, lower=estimate.lower, upper=estimate.upper
            )
    return MeasureValue(model=scores.model, value=part.miscalibration)


def value_limits(rows: Sequence[dict[str, MeasureValue]], measure: str) -> tuple[float, float]:
    """Return the ends of an axis for the values and their intervals, except extremely wide ones."""
    values = [value for row in rows for value in row.values()]
    points = np.array([v.value for v in values if np.isfinite(v.value)])
    if len(points) == 0:
        return 0.0, 1.0
    lower, upper = (
        np.array([bound for bound in bounds if np.isfinite(bound)])
        for bounds in ([v.lower for v in values], [v.upper for v in values])
    )
    low, high = (_end(points, bounds, side) for bounds, side in ((lower, -1), (upper, 1)))
    margin = 0.06 * (high - low) or 0.05
    ends = max(float(low - margin), 0.0), float(high + margin)
    return (ends[0], min(ends[1], 1.0)) if measure == "roc_auc" else ends


def _end(points: FloatArray, bounds: FloatArray, side: int) -> float:
    """Return one end of an axis: the outermost bound or, if that is far out, the 90 % quantile of bounds."""
    outermost = float((side * points).max())
    if len(bounds) == 0:
        return side * outermost
    most, outermost_bound = (float(np.quantile(side * bounds, share)) for share in (0.9, 1.0))
    middle = float(np.median(side * points))
    is_far = outermost_bound - middle > 2 * (max(most, outermost) - middle)
    return side * max(outermost, most if is_far else outermost_bound)


def main_measure(found: Sequence[GroupResult]) -> str:
    """Return the first measure that the models of some groups have."""
    known = {score.name for group in found for scores in group.models for score in scores.scores}
    return next((name for name in ("rps", "multiclass_brier", "brier") if name in known), "brier")


def summarize_values(groups: Sequence[GroupResult], measure: str, opening: str, noun: str) -> str:
    """Describe the lowest and the highest value of each model, and the groups that were not scored."""
    rows = [(group.label, read_values(group, measure)) for group in groups]
    texts = []
    for name in model_names(groups):
        found = [(row[name].value, label) for label, row in rows if name in row]
        known = sorted(pair for pair in found if np.isfinite(pair[0]))
        if known:
            (low, where_low), (high, where_high) = known[0], known[-1]
            decimals = 3 if measure == "roc_auc" else common_decimals([low, high])
            texts.append(
                f"{name} from {format_number(low, decimals)} ({where_low}) to "
                f"{format_number(high, decimals)} ({where_high})"
            )
    unscored = [label for label, row in rows if not row]
    return join_sentences(
        [
            f"{opening}.",
            f"{'; '.join(texts)}." if texts else "",
            _not_scored(unscored, noun),
        ]
    )


def _not_scored(labels: Sequence[str], noun: str) -> str:
    if not labels:
        return ""
    more = len(labels) - _MOST_LISTED
    named = [*labels[:_MOST_LISTED], *([f"{format_count(more)} more"] if more > 0 else [])]
    return f"{noun} not scored: {join_words(named)}."
