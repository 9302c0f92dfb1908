"""The main numbers of an evaluation: a table with a row for each model, and the overview for displays."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.formatting import (
    common_decimals,
    format_count,
    format_counted,
    format_fixed,
    format_level,
)
from scorereport._utils.overviews import Overview, show_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from scorereport.inference.estimates import Estimate
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.model_records import (
        DataSummary,
        GroupResult,
        ModelCalibration,
        ModelResult,
        ModelScores,
        ScoreValue,
    )
    from scorereport.results.settings import EvaluationSettings

#: The measure of ranking, or of predicted classes, that a summary has beside the main score.
SECOND_MEASURES = {"binary": "roc_auc", "multiclass": "accuracy", "ordinal": "accuracy"}
_HINT = "More: .summary(), .findings, .verdicts(limits), .scores, .decompositions"


class Evaluated(Protocol):
    """The part of an evaluation that a summary needs."""

    @property
    def data(self) -> DataSummary:
        """The source of the data and a summary of them."""

    @property
    def settings(self) -> EvaluationSettings:
        """The settings of the evaluation."""

    @property
    def results(self) -> tuple[ModelResult, ...] | tuple[ClassModelResult, ...]:
        """All models."""

    @property
    def groups(self) -> tuple[GroupResult, ...]:
        """Scores by subgroup."""

    @property
    def windows(self) -> tuple[GroupResult, ...]:
        """Scores by period."""

    @property
    def kind(self) -> str:
        """The kind of outcome."""

    @property
    def main_score(self) -> str:
        """The score by which models are compared first."""


def summary_frame(evaluation: Evaluated) -> pd.DataFrame:
    """The main numbers: a row for each model, in the order of the evaluation."""
    import pandas as pd

    rows = [{"model": result.model, **_summarize(evaluation, result)} for result in evaluation.results]
    return pd.DataFrame(rows).set_index("model")


def _summarize(evaluation: Evaluated, result: ModelResult | ClassModelResult) -> dict[str, float]:
    sample, scores = evaluation.data.sample, result.scores
    main = scores.score(evaluation.main_score)
    parts, test = scores.decomposition(main.name), scores.miscalibration_test(main.name)
    cases = {"classes": len(sample.classes)} if sample.classes else {"events": sample.events}
    line = {} if sample.classes else _summarize_line(getattr(result, "calibration", None))
    return {
        "n": sample.rows,
        **cases,
        **_bounded(main.name, main.value, main.interval),
        **_bounded("skill", main.skill, main.skill_interval),
        "miscalibration": parts.miscalibration,
        "discrimination": parts.discrimination,
        "uncertainty": parts.uncertainty,
        "miscalibration_p_value": nan if test is None else test.p_value,
        **_summarize_second(evaluation, scores),
        **line,
    }


def _summarize_second(evaluation: Evaluated, scores: ModelScores) -> dict[str, float]:
    second = _find_second(evaluation, scores)
    return {} if second is None else _bounded(second.name, second.value, second.interval)


def _find_second(evaluation: Evaluated, scores: ModelScores) -> ScoreValue | None:
    name = SECOND_MEASURES[evaluation.kind]
    return next((score for score in scores.scores if score.name == name), None)


def _summarize_line(calibration: ModelCalibration | None) -> dict[str, float]:
    """Slope and intercept of the calibration line; NaN if none was fitted."""
    if calibration is None:
        return {"calibration_slope": nan, "calibration_intercept": nan}
    line = calibration.line
    return {"calibration_slope": line.slope.value, "calibration_intercept": line.intercept.value}


def _bounded(name: str, value: float, interval: Estimate | None) -> dict[str, float]:
    """A number and the bounds of its interval, which are NaN without one."""
    lower, upper = (nan, nan) if interval is None else (interval.lower, interval.upper)
    return {name: value, f"{name}_lower": lower, f"{name}_upper": upper}


# ---- Overviews ----


def describe_evaluation(evaluation: Evaluated) -> Overview:
    """Describe an evaluation: the kind and number of models, the data, and the main numbers of each model."""
    models = format_counted(len(evaluation.results), f"{evaluation.kind} model")
    rows = format_counted(evaluation.data.sample.rows, "row")
    shown = {result.model: _show_model(evaluation, result.scores) for result in evaluation.results}
    columns = next(([name for name, _ in cells] for cells in shown.values()), [])
    return Overview(
        title=f"Evaluation of {models} on {rows}",
        facts=tuple(_list_facts(evaluation)),
        columns=("model", *columns),
        rows=tuple((model, *(text for _, text in cells)) for model, cells in shown.items()),
        notes=(_HINT,),
    )


def _list_facts(evaluation: Evaluated) -> Iterator[tuple[str, str]]:
    data, settings = evaluation.data, evaluation.settings
    if data.source:
        yield "source", data.source
    yield "outcome", f"{data.outcome}, {_describe_outcome(data)}"
    columns = dict.fromkeys(group.column for group in evaluation.groups)
    if columns:
        sizes = [f"{c} ({sum(group.column == c for group in evaluation.groups)})" for c in columns]
        yield "groups", ", ".join(sizes)
    if evaluation.windows:
        yield "periods", format_count(len(evaluation.windows))
    yield "intervals", format_level(settings.level) if settings.infers else "none were requested"


def _describe_outcome(data: DataSummary) -> str:
    if data.classes is not None:
        return f"{len(data.classes.labels)} classes: {', '.join(data.classes.labels)}"
    events = format_counted(data.sample.events, "event")
    return f"{events} ({format_fixed(100 * data.sample.prevalence, 1)} %)"


def _show_model(evaluation: Evaluated, scores: ModelScores) -> list[tuple[str, str]]:
    """The main numbers of a model with the names of their columns."""
    main = scores.score(evaluation.main_score)
    parts, second = scores.decomposition(main.name), _find_second(evaluation, scores)
    decimals = common_decimals([main.value])
    cells = [
        (main.name, format_fixed(main.value, decimals)),
        ("interval", show_bounds(main.interval, decimals)),
        ("skill", f"{format_fixed(100 * main.skill, 1)} %"),
    ]
    cells += [] if second is None else [(second.name, format_fixed(second.value, 3))]
    gains = (("miscalibration", parts.miscalibration), ("discrimination", parts.discrimination))
    return [*cells, *((name, format_fixed(value, decimals)) for name, value in gains)]
