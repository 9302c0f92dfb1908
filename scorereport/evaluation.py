"""`evaluate()`: several models on the same rows, as one object that tables, figures and reports read."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

from scorereport import document
from scorereport.checks import check_interval, name_some
from scorereport.curves import (
    decision_curve,
    forecast_histogram,
    murphy_curves,
    regret_curve,
    reliability_curve,
    roc_curve,
    roc_hull,
)
from scorereport.curves.thinning import thin_murphy, thin_regret, thin_roc
from scorereport.errors import UsageError
from scorereport.files import write_text
from scorereport.predictions import Predictions, read_predictions
from scorereport.reliability.fit import corp
from scorereport.results import (
    DataSummary,
    ForecastSummary,
    GroupResult,
    ModelCurves,
    ModelResult,
    ModelScores,
    SampleSummary,
    ScoreValue,
    Settings,
)
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from scorereport.arrays import IntArray
    from scorereport.reliability.fit import Corp

VERSION: Literal[1] = 1
_SCORES = ("brier", "log_loss", "misclassification", "spherical")
_BOUNDED_SCORES = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")
_SOFTWARE = ("scorereport", "numpy", "scipy")


class Columns(TypedDict, total=False):
    """The columns of a table, as `read_predictions` takes them."""

    outcome: str
    forecasts: Sequence[str]
    weight: str | None
    group: str | Sequence[str] | None
    cluster: str | None
    time: str | None
    positive: object
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Scores, skills, decompositions and curves of all models, overall and by subgroup."""

    version: Literal[1] = VERSION
    data: DataSummary
    settings: Settings
    models: tuple[ModelResult, ...]
    groups: tuple[GroupResult, ...] = ()
    notes: tuple[str, ...] = ()
    software: dict[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores: a row for each model, a column for each score."""
        return _frame([{"model": m.model, **_values(m.scores)} for m in self.models], "model")

    @property
    def skills(self) -> pd.DataFrame:
        """Skills: 0 for the prevalence forecast, 1 for the perfect one."""
        return _frame([{"model": m.model, **_skills(m.scores)} for m in self.models], "model")

    @property
    def decompositions(self) -> pd.DataFrame:
        """Mean score, miscalibration, discrimination and uncertainty: a row for each model and score."""
        return _frame([row for m in self.models for row in _components(m.scores)])

    @property
    def murphy(self) -> pd.DataFrame:
        """Murphy's reliability, resolution and uncertainty of the Brier score, over distinct forecasts."""
        return _frame([{"model": m.model, **document.encode(m.murphy)} for m in self.models], "model")

    @property
    def group_scores(self) -> pd.DataFrame:
        """Mean scores by subgroup: a row for each group and model."""
        return _frame(
            [{**_group_columns(g), "model": m.model, **_values(m)} for g in self.groups for m in g.models]
        )

    @property
    def group_decompositions(self) -> pd.DataFrame:
        """Decompositions by subgroup: a row for each group, model and score."""
        return _frame(
            [{**_group_columns(g), **row} for g in self.groups for m in g.models for row in _components(m)]
        )

    def to_json(self, path: str | Path | None = None) -> str:
        """The results document as text, written to a file as well if a path is given."""
        text = document.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Evaluation:
        """Read a results document back; it equals the evaluation that wrote it."""
        text = Path(path).read_bytes()
        document.check_version(text, VERSION, str(path))
        return document.load(cls, text, str(path))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of results documents; `scorereport/schemas` holds it as a file."""
        return document.json_schema(cls, f"scorereport evaluation, version {VERSION}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and document.encode(self) == document.encode(other)

    __hash__ = None  # type: ignore[assignment]


def evaluate(
    data: Any, *, cost_interval: tuple[float, float] | None = None, **columns: Unpack[Columns]
) -> Evaluation:
    """Evaluate one or more binary models on the same rows.

    Parameters
    ----------
    data : `Predictions`, or a table that `read_predictions` takes together with its columns
    cost_interval : bounds of the cost ratios that matter, inside (0, 1); adds the bounded scores
    columns : `outcome`, `forecasts`, `weight`, `group`, `cluster`, `time`, `positive`, `missing`, as in
        `read_predictions`

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "logit": [0.1, 0.6, 0.4, 0.8]})
    >>> evaluate(frame, outcome="y", forecasts=["logit"]).scores.round(4)
            brier  log_loss  misclassification  spherical  roc_auc
    model
    logit  0.0925    0.3375                0.0      0.093      1.0
    """
    predictions = _predictions(data, columns)
    settings = Settings(cost_interval=None if cost_interval is None else _check_costs(cost_interval))
    fits = {name: _fit(predictions, p) for name, p in predictions.forecasts.items()}
    groups = tuple(_evaluate_groups(predictions, settings))
    return Evaluation(
        data=_describe_data(predictions, next(iter(fits.values()))),
        settings=settings,
        models=tuple(_evaluate_model(name, fit, settings) for name, fit in fits.items()),
        groups=groups,
        notes=(*_notes(predictions), *_group_notes(groups)),
        software={"python": python_version(), **{name: version(name) for name in _SOFTWARE}},
    )


def _check_costs(interval: tuple[float, float]) -> tuple[float, float]:
    if np.shape(interval) != (2,):
        raise UsageError(f"`cost_interval` must be a pair of numbers; got {interval!r}.")
    return check_interval(*interval, closed="neither")


def _predictions(data: Any, columns: Columns) -> Predictions:
    if not isinstance(data, Predictions):
        return read_predictions(data, **columns)
    if columns:
        raise UsageError(f"Predictions have their columns already; got {', '.join(columns)} as well.")
    return data


def _fit(predictions: Predictions, forecast: Any, rows: Any = slice(None)) -> Corp:
    weight = None if predictions.weight is None else predictions.weight[rows]
    return corp(predictions.outcome[rows], forecast[rows], weight)


def _evaluate_model(name: str, fit: Corp, settings: Settings) -> ModelResult:
    return ModelResult(
        model=name,
        forecasts=_describe_forecasts(fit),
        scores=_score_model(name, fit, settings),
        murphy=fit.murphy(),
        curves=_collect_curves(fit, settings.curve_points),
    )


def _score_model(name: str, fit: Corp, settings: Settings) -> ModelScores:
    parts = [fit.decompose(score) for score in _SCORES]
    if settings.cost_interval is not None:
        lower, upper = settings.cost_interval
        parts += [fit.decompose(score, lower=lower, upper=upper) for score in _BOUNDED_SCORES]
    events = fit.distinct.events.astype(np.float64)
    auc = area_under_roc(events, fit.distinct.n - events)
    values = [ScoreValue(name=part.name, value=part.score, skill=part.skill) for part in parts]
    return ModelScores(
        model=name,
        scores=(*values, ScoreValue(name="roc_auc", value=auc, skill=2 * auc - 1)),
        decompositions=tuple(parts),
    )


def _collect_curves(fit: Corp, points: int) -> ModelCurves:
    regret = thin_regret(regret_curve(fit), points)
    return ModelCurves(
        reliability=reliability_curve(fit),
        histogram=forecast_histogram(fit),
        roc=thin_roc(roc_curve(fit), points),
        roc_hull=roc_hull(fit),
        murphy=thin_murphy(murphy_curves(fit), points, np.append(fit.blocks.mean, fit.prevalence)),
        regret=regret,
        decision=decision_curve(fit, thresholds=regret.theta[regret.theta < 1]),
    )


def _evaluate_groups(predictions: Predictions, settings: Settings) -> Iterator[GroupResult]:
    for column, labels in predictions.groups.items():
        for label, rows in _rows_by_label(labels):
            if not _has_weight(predictions, rows):
                continue  # a note says so
            fits = {name: _fit(predictions, p, rows) for name, p in predictions.forecasts.items()}
            yield GroupResult(
                column=column,
                label=label,
                sample=_describe_sample(len(rows), next(iter(fits.values()))),
                models=tuple(_score_model(name, fit, settings) for name, fit in fits.items()),
            )


def _has_weight(predictions: Predictions, rows: IntArray) -> bool:
    return predictions.weight is None or bool(predictions.weight[rows].any())


def _rows_by_label(labels: NDArray[Any]) -> Iterator[tuple[str, IntArray]]:
    """Each label, in order, with its rows; one pass however many labels there are."""
    import pandas as pd

    codes, names = pd.factorize(labels, sort=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return zip(names, rows, strict=True)


def _describe_data(predictions: Predictions, fit: Corp) -> DataSummary:
    return DataSummary(
        source=predictions.source,
        outcome=predictions.outcome_name,
        positive=predictions.positive,
        weighted=predictions.weight is not None,
        row_flow=predictions.row_flow,
        sample=_describe_sample(len(predictions), fit),
    )


def _describe_sample(rows: int, fit: Corp) -> SampleSummary:
    """Totals of the fit, which sums in canonical order: the order of rows leaves no trace."""
    return SampleSummary(rows=rows, total=float(fit.n), events=float(fit.events))


def _describe_forecasts(fit: Corp) -> ForecastSummary:
    distinct = fit.distinct
    return ForecastSummary(
        forecast_type=fit.forecast_type,
        n_distinct=len(distinct),
        minimum=float(distinct.x_min[0]),
        mean=float((distinct.x_min * distinct.n).sum() / fit.n),
        maximum=float(distinct.x_max[-1]),
    )


def _notes(predictions: Predictions) -> Iterator[str]:
    counts = slice(None) if predictions.weight is None else np.flatnonzero(predictions.weight)
    outcome = predictions.outcome[counts]
    rows = np.arange(len(predictions))[counts] if predictions.rows is None else predictions.rows[counts]
    if outcome.min() == outcome.max():
        yield "All outcomes are the same: AUC and skill are not defined."
    for name, forecast in predictions.forecasts.items():
        is_refuted = np.abs(forecast[counts] - outcome) == 1
        if is_refuted.any():
            yield _infinite_note(name, rows[is_refuted])
    for column, labels in predictions.groups.items():
        for label, members in _rows_by_label(labels):
            if not _has_weight(predictions, members):
                yield f"{column} = {label} is left out: its {len(members)} rows have no weight."


def _group_notes(groups: tuple[GroupResult, ...]) -> Iterator[str]:
    for column in dict.fromkeys(group.column for group in groups):
        one_class = [g.label for g in groups if g.column == column and g.sample.events in (0, g.sample.total)]
        if one_class:
            shown = name_some(one_class)
            yield f"{column}: AUC and skill are not defined where all outcomes are the same ({shown})."


def _infinite_note(model: str, rows: IntArray) -> str:
    cases = "1 case was" if len(rows) == 1 else f"{len(rows)} cases were"
    return (
        f"{model}: the log score is infinite, because {cases} called impossible and happened, "
        f"or certain and did not (row {name_some(rows)})."
    )


def _frame(rows: list[dict[str, Any]], index: str | None = None) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows)
    return frame.set_index(index) if index else frame


def _values(scores: ModelScores) -> dict[str, float]:
    return {score.name: score.value for score in scores.scores}


def _skills(scores: ModelScores) -> dict[str, float]:
    return {score.name: score.skill for score in scores.scores}


def _components(scores: ModelScores) -> list[dict[str, Any]]:
    return [
        {
            "model": scores.model,
            "measure": part.name,
            "score": part.score,
            "miscalibration": part.miscalibration,
            "discrimination": part.discrimination,
            "uncertainty": part.uncertainty,
        }
        for part in scores.decompositions
    ]


def _group_columns(group: GroupResult) -> dict[str, Any]:
    sample = group.sample
    return {
        "group": group.column,
        "label": group.label,
        "n": sample.rows,
        "events": sample.events,
        "prevalence": sample.prevalence,
    }
