"""`evaluate()`: several models on the same rows, as one object that tables, figures and reports read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

from scorereport import document, frames
from scorereport.checks import (
    check_inside,
    check_interval,
    check_option,
    check_whole,
    shortest,
)
from scorereport.errors import UsageError
from scorereport.files import write_text
from scorereport.groups import (
    check_window,
    evaluate_groups,
    examine_heterogeneity,
    fit_panel,
    label_windows,
    panel_of,
)
from scorereport.inference.bootstrapping import METHODS
from scorereport.inference.grades import grade_tests
from scorereport.notes import describe_groups, describe_rows_and_models
from scorereport.predictions import Predictions, read_predictions
from scorereport.reliability.resampled import fewest_resamples
from scorereport.results import (
    Comparisons,
    DataSummary,
    GroupResult,
    Heterogeneity,
    ModelCalibration,
    ModelResult,
    ModelScores,
    SampleSummary,
    Settings,
)
from scorereport.sampling import SEED
from scorereport.summaries import collect_curves, decide, describe_forecasts, describe_sample, score_fit
from scorereport.uncertainty import compare, draw_bands, examine_calibration, infer, recalibrate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from scorereport.inference.panel import Panel
    from scorereport.reliability.fit import Corp

VERSION: Literal[1] = 1
_SOFTWARE = ("scorereport", "numpy", "scipy")


class Columns(TypedDict, total=False):
    """The columns of a table, as `read_predictions` takes them."""

    outcome: str
    forecasts: Sequence[str]
    weight: str | None
    group: str | Sequence[str] | None
    cluster: str | None
    grade: str | None
    time: str | None
    positive: object
    missing: str


class _OnData:
    """Evaluations remember the predictions they were made of; their documents do not."""

    __slots__ = ("_predictions",)

    @property
    def predictions(self) -> Predictions | None:
        """The predictions that were evaluated; None if the evaluation was read from a document."""
        return getattr(self, "_predictions", None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation(_OnData):
    """All numbers of all models with their uncertainty, overall, against each other, by group and period."""

    version: Literal[1] = VERSION
    data: DataSummary
    settings: Settings
    models: tuple[ModelResult, ...]
    comparisons: Comparisons = field(default_factory=Comparisons)
    groups: tuple[GroupResult, ...] = ()
    windows: tuple[GroupResult, ...] = ()
    heterogeneity: tuple[Heterogeneity, ...] = ()
    notes: tuple[str, ...] = ()
    software: dict[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores: a row for each model, a column for each score."""
        return frames.score_frame(m.scores for m in self.models)

    @property
    def skills(self) -> pd.DataFrame:
        """Skills: 0 for the prevalence forecast, 1 for the perfect one."""
        return frames.skill_frame(m.scores for m in self.models)

    @property
    def intervals(self) -> pd.DataFrame:
        """Every number that has an interval: a row for each; of the sample, the model is ""."""
        return frames.interval_frame(self.data.sample, self.models)

    @property
    def decompositions(self) -> pd.DataFrame:
        """Mean score, miscalibration, discrimination and uncertainty: a row for each model and score."""
        return frames.decomposition_frame(m.scores for m in self.models)

    @property
    def murphy(self) -> pd.DataFrame:
        """Murphy's reliability, resolution and uncertainty of the Brier score, over distinct forecasts."""
        return frames.murphy_frame(self.models)

    @property
    def thresholds(self) -> pd.DataFrame:
        """Decisions at a few thresholds, with their rates and worth: a row for each model and threshold."""
        return frames.threshold_frame(self.models)

    @property
    def recalibration(self) -> pd.DataFrame:
        """What cross-fitted recalibration changes: a row for each model, method and score."""
        return frames.recalibration_frame(self.models)

    @property
    def calibration_tests(self) -> pd.DataFrame:
        """Tests of calibration: a row for each model and test."""
        return frames.calibration_test_frame(self.models)

    @property
    def differences(self) -> pd.DataFrame:
        """Paired differences of every two models by every measure, with interval and test."""
        return frames.record_frame(self.comparisons.differences)

    @property
    def ranks(self) -> pd.DataFrame:
        """Models ranked by each measure, with ties where the data cannot tell."""
        return frames.record_frame(self.comparisons.ranks)

    @property
    def group_scores(self) -> pd.DataFrame:
        """Mean scores by subgroup: a row for each group and model."""
        return frames.group_score_frame(self.groups)

    @property
    def group_decompositions(self) -> pd.DataFrame:
        """Decompositions by subgroup: a row for each group, model and score."""
        return frames.group_decomposition_frame(self.groups)

    @property
    def group_intervals(self) -> pd.DataFrame:
        """Intervals by subgroup: a row for each group, model and number."""
        return frames.group_interval_frame(self.groups)

    @property
    def window_intervals(self) -> pd.DataFrame:
        """Intervals by period of time: a row for each period, model and number."""
        return frames.group_interval_frame(self.windows)

    @property
    def heterogeneity_tests(self) -> pd.DataFrame:
        """Tests whether groups differ: a row for each column, model and test."""
        return frames.record_frame(
            [h.test for h in self.heterogeneity],
            column=[h.column for h in self.heterogeneity],
            model=[h.model for h in self.heterogeneity],
        )

    def to_json(self, path: str | Path | None = None) -> str:
        """The results document as text, written to a file as well if a path is given."""
        text = document.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @property
    def sha256(self) -> str:
        """SHA-256 of the results document."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

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

    def _repr_html_(self) -> str:
        """What a notebook shows: the main tables and the reliability diagram."""
        return import_module("scorereport.report.notebook").render_notebook(self)  # the one call upwards

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and document.encode(self) == document.encode(other)

    __hash__ = None  # type: ignore[assignment]


def evaluate(
    data: Any,
    *,
    cost_interval: tuple[float, float] | None = None,
    level: float = 0.95,
    band_level: float = 0.9,
    interval_method: str = "bca",
    resamples: int = 1000,
    seed: int = SEED,
    smallest_group: int = 10,
    window: str | None = None,
    thresholds: Sequence[float] | None = None,
    **columns: Unpack[Columns],
) -> Evaluation:
    """Evaluate one or more binary models on the same rows, with the uncertainty of every number.

    Parameters
    ----------
    data : `Predictions`, or a table that `read_predictions` takes together with its columns
    cost_interval : bounds of the cost ratios that matter, inside (0, 1); adds the bounded scores
    level, band_level : the probability with which intervals and bands cover
    interval_method : of mean scores and skills: "bca" or "percentile" bootstrap
    resamples, seed : how many samples are drawn for each bootstrap, band and test, and where they start;
        with 0 there are neither intervals nor bands nor tests
    smallest_group : groups of fewer rows are counted, not scored
    window : "year", "quarter", "month", "week" or "day", the periods of the time column; the shortest that
        makes no more than 24 of them unless given
    thresholds : where decisions are tabled, inside (0, 1); five over the cost interval, or the tenths, unless
        given
    columns : `outcome`, `forecasts`, `weight`, `group`, `cluster`, `grade`, `time`, `positive`, `missing`, as
        in `read_predictions`

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "logit": [0.1, 0.6, 0.4, 0.8]})
    >>> evaluate(frame, outcome="y", forecasts=["logit"]).scores.round(4)
            brier  log_loss  misclassification  spherical  roc_auc
    model
    logit  0.0925    0.3375                0.0      0.093      1.0
    """
    predictions = _predictions(data, columns)
    check_window(window, predictions)
    settings = Settings(
        cost_interval=None if cost_interval is None else _check_costs(cost_interval),
        level=check_inside(level, "level", 0, 1, closed="neither"),
        band_level=check_inside(band_level, "band_level", 0, 1, closed="neither"),
        interval_method=check_option(interval_method, "interval_method", METHODS),
        resamples=check_resamples(resamples, band_level),
        seed=check_whole(seed, "seed", 0),
        smallest_group=check_whole(smallest_group, "smallest_group", 1),
        window=window,
        thresholds=None if thresholds is None else _check_thresholds(thresholds),
    )
    evaluation = _evaluate(predictions, settings)
    object.__setattr__(evaluation, "_predictions", predictions)
    return evaluation


def check_resamples(resamples: int, band_level: float) -> int:
    """None at all, or enough for every band and interval."""
    needed = max(fewest_resamples(band_level), 2)
    if check_whole(resamples, "resamples", 0) not in range(1, needed):
        return resamples
    raise UsageError(
        f"`resamples` must be 0, or at least {needed} for bands of level {shortest(band_level)}."
    )


def _evaluate(predictions: Predictions, settings: Settings) -> Evaluation:
    panel = panel_of(predictions)
    fits = fit_panel(panel)
    sample = describe_sample(len(predictions), next(iter(fits.values())))
    scores = {name: score_fit(name, fit, settings) for name, fit in fits.items()}
    comparisons = Comparisons()
    if settings.resamples > 0:
        inferred = infer(panel, fits, sample, scores, settings)
        sample, scores = inferred.sample, inferred.models
        comparisons = compare(panel, fits, inferred.overfits, settings)
    by_column = {
        column: tuple(evaluate_groups(predictions, column, labels, settings))
        for column, labels in predictions.groups.items()
    }
    groups = tuple(group for found in by_column.values() for group in found)
    windows = tuple(_evaluate_windows(predictions, settings))
    return Evaluation(
        data=_describe_data(predictions, panel, sample),
        settings=settings,
        models=tuple(
            _describe_model(predictions, panel, fits[name], scores[name], settings) for name in fits
        ),
        comparisons=comparisons,
        groups=groups,
        windows=windows,
        heterogeneity=tuple(_compare_groups(predictions, by_column, settings)),
        notes=(
            *describe_rows_and_models(predictions, settings),
            *describe_groups([*by_column.items(), (predictions.time_name, windows)], settings),
        ),
        software={"python": python_version(), **{name: version(name) for name in _SOFTWARE}},
    )


def _check_costs(interval: tuple[float, float]) -> tuple[float, float]:
    if np.shape(interval) != (2,):
        raise UsageError(f"`cost_interval` must be a pair of numbers; got {interval!r}.")
    return check_interval(*interval, closed="neither")


def _check_thresholds(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Thresholds in ascending order, each once."""
    if np.ndim(thresholds) != 1 or np.size(thresholds) == 0:
        raise UsageError(f"`thresholds` must be a list of at least one number; got {thresholds!r}.")
    return tuple(sorted({check_inside(t, "thresholds", 0, 1, closed="neither") for t in thresholds}))


def _predictions(data: Any, columns: Columns) -> Predictions:
    if not isinstance(data, Predictions):
        return read_predictions(data, **columns)
    if columns:
        raise UsageError(f"Predictions have their columns already; got {', '.join(columns)} as well.")
    return data


def _describe_model(
    predictions: Predictions, panel: Panel, fit: Corp, scores: ModelScores, settings: Settings
) -> ModelResult:
    infers = settings.resamples > 0
    return ModelResult(
        model=scores.model,
        forecasts=describe_forecasts(fit),
        scores=scores,
        murphy=fit.murphy(),
        curves=collect_curves(fit, settings.curve_points),
        bands=draw_bands(fit, settings) if infers else (),
        calibration=_calibrate(predictions, panel, scores.model, settings) if infers else None,
        thresholds=decide(fit, settings),
        recalibration=recalibrate(panel, scores.model, settings) if infers else (),
    )


def _calibrate(predictions: Predictions, panel: Panel, model: str, settings: Settings) -> ModelCalibration:
    found = examine_calibration(panel, model, settings)
    if predictions.grade is None or not panel.units.are_repeated_rows:
        return found
    tests = grade_tests(
        predictions.outcome,
        predictions.forecasts[model],
        predictions.grade,
        sample_weight=predictions.weight,
    )
    return replace(found, grades=tests)


def _evaluate_windows(predictions: Predictions, settings: Settings) -> Iterator[GroupResult]:
    if predictions.time is not None:
        labels = label_windows(predictions.time, settings.window)
        yield from evaluate_groups(predictions, predictions.time_name, labels, settings)


def _compare_groups(
    predictions: Predictions, by_column: dict[str, tuple[GroupResult, ...]], settings: Settings
) -> Iterator[Heterogeneity]:
    if settings.resamples > 0:
        for column, groups in by_column.items():
            yield from examine_heterogeneity(predictions, column, predictions.groups[column], groups)


def _describe_data(predictions: Predictions, panel: Panel, sample: SampleSummary) -> DataSummary:
    return DataSummary(
        source=predictions.source,
        outcome=predictions.outcome_name,
        positive=predictions.positive,
        weighted=predictions.weight is not None,
        clusters=None if panel.cluster is None else int(panel.cluster.max()) + 1,
        row_flow=predictions.row_flow,
        sample=sample,
        sha256=predictions.sha256,
        file_sha256=predictions.file_sha256,
    )
