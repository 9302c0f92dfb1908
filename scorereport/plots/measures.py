"""A measure of all models in groups or periods: its values, intervals and name, read from the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import join_words
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.results.model_records import GroupResult, ModelScores

#: What a figure of groups can show, and how its axis is called.
PLOTTED_MEASURES = {
    "brier": "Brier score",
    "roc_auc": "Area under the ROC curve (AUC)",
    "brier_miscalibration": "Miscalibration (MCB) of the Brier score",
    "multiclass_brier": "Brier score (K classes)",
    "rps": "Ranked probability score",
}
_MISCALIBRATION = "brier_miscalibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureValue:
    """A measure of one model in one group; NaN for what is not known."""

    model: str
    value: float
    lower: float = np.nan
    upper: float = np.nan


def measure_label(measure: str, groups: Sequence[GroupResult]) -> str:
    """The name of a measure, or an error that lists the measures there are."""
    if measure not in PLOTTED_MEASURES:
        names = join_words([f"{name!r}" for name in PLOTTED_MEASURES])
        raise UsageError(f"`measure` must be one of {names}; got {measure!r}.")
    is_corrected = any(scores.components for group in groups for scores in group.models)
    return PLOTTED_MEASURES[measure] + (
        ", less overfit" if is_corrected and measure == _MISCALIBRATION else ""
    )


def model_names(groups: Sequence[GroupResult]) -> list[str]:
    """All models of the groups, in their order."""
    return list(dict.fromkeys(scores.model for group in groups for scores in group.models))


def read_values(group: GroupResult, measure: str) -> dict[str, MeasureValue]:
    """The measure of every model in a group; empty if the group was not scored."""
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
    """MCB less the overfit of the fit, which is what its interval is about; raw if nothing was drawn."""
    part = next(part for part in scores.decompositions if part.name == "brier")
    for estimate in scores.components:
        if (estimate.measure, estimate.component) == ("brier", "miscalibration"):
            return MeasureValue(
                model=scores.model, value=estimate.corrected, lower=estimate.lower, upper=estimate.upper
            )
    return MeasureValue(model=scores.model, value=part.miscalibration)


def value_limits(rows: Sequence[dict[str, MeasureValue]], measure: str) -> tuple[float, float]:
    """Ends of an axis for the values and, unless they are out of all proportion, their intervals."""
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
    """One end of an axis: the outermost bound, or that of nine in ten if it is much farther out."""
    outermost = float((side * points).max())
    if len(bounds) == 0:
        return side * outermost
    most, all_of_them = (float(np.quantile(side * bounds, share)) for share in (0.9, 1.0))
    middle = float(np.median(side * points))
    is_far = all_of_them - middle > 2 * (max(most, outermost) - middle)
    return side * max(outermost, most if is_far else all_of_them)
