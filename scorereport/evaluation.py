"""`evaluate()`: several models on the same rows, as one object that tables, figures and reports read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

from scorereport import document, frames
from scorereport.binary_evaluation import evaluate_binary
from scorereport.checks import (
    check_inside,
    check_interval,
    check_option,
    check_whole,
    shortest,
)
from scorereport.class_results import ClassModelResult
from scorereport.classes.evaluating import evaluate_classes
from scorereport.curves.retention import DEFAULT_FRACTIONS
from scorereport.engines.choosing import choose_engine
from scorereport.engines.evaluating import evaluate_rows
from scorereport.engines.limits import check_temporary_folder
from scorereport.engines.opening import open_engine
from scorereport.engines.tallies import tally_forecasts
from scorereport.errors import UsageError
from scorereport.files import write_text
from scorereport.groups import check_window
from scorereport.inference.bootstrapping import METHODS
from scorereport.predictions import ClassPredictions, Predictions
from scorereport.reading import read_predictions
from scorereport.reliability.resampled import fewest_resamples
from scorereport.results import (
    SCALE_BINS,
    Comparisons,
    DataSummary,
    GroupResult,
    Heterogeneity,
    ModelResult,
    Settings,
)
from scorereport.sampling import SEED
from scorereport.scores.labels import check_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from scorereport.engines.records import Engine
    from scorereport.engines.tallies import Tallies

VERSION: Literal[1] = 1
_SOFTWARE = ("scorereport", "numpy", "scipy")
_ENGINE_SOFTWARE = {"duckdb": ("duckdb",), "spark": ("pyspark",)}


class Columns(TypedDict, total=False):
    """A table and its columns, as `read_predictions` takes them."""

    table: str | None
    outcome: str
    forecasts: Sequence[str] | Mapping[str, Sequence[str]]
    classes: Sequence[object] | None
    ordered: bool
    normalize: bool
    weight: str | None
    group: str | Sequence[str] | None
    cluster: str | None
    grade: str | None
    time: str | None
    positive: object
    missing: str


class _OnData:
    """Evaluations remember the predictions they were made of, or counts of them; their documents do not."""

    __slots__ = ("_predictions", "_tallies")

    @property
    def predictions(self) -> Predictions | ClassPredictions | None:
        """The predictions that were evaluated; None if they were never in memory, or are so no more."""
        return getattr(self, "_predictions", None)

    @property
    def tallies(self) -> Tallies | None:
        """How forecasts are distributed, where they were never in memory; audits compare by it."""
        return getattr(self, "_tallies", None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation(_OnData):
    """All numbers of all models with their uncertainty, overall, against each other, by group and period.

    Binary models are in `models`, models of K classes in `class_models`; `results` are either.
    """

    version: Literal[1] = VERSION
    data: DataSummary
    settings: Settings
    models: tuple[ModelResult, ...] = ()
    class_models: tuple[ClassModelResult, ...] = ()
    comparisons: Comparisons = field(default_factory=Comparisons)
    groups: tuple[GroupResult, ...] = ()
    windows: tuple[GroupResult, ...] = ()
    heterogeneity: tuple[Heterogeneity, ...] = ()
    notes: tuple[str, ...] = ()
    software: dict[str, str] = field(default_factory=dict)

    @property
    def results(self) -> tuple[ModelResult, ...] | tuple[ClassModelResult, ...]:
        """All models, of whichever kind they are."""
        return self.models or self.class_models

    @property
    def kind(self) -> Literal["binary", "multiclass", "ordinal"]:
        """What the models forecast: an event, one of several classes, or one of ordered classes."""
        if self.data.classes is None:
            return "binary"
        return "ordinal" if self.data.classes.ordered else "multiclass"

    @property
    def main_score(self) -> str:
        """The score by which models of this kind are told apart first, and which is decomposed."""
        return {"binary": "brier", "multiclass": "multiclass_brier", "ordinal": "rps"}[self.kind]

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores: a row for each model, a column for each score."""
        return frames.score_frame(m.scores for m in self.results)

    @property
    def skills(self) -> pd.DataFrame:
        """Skills: 0 for forecasting the prevalence, or the class frequencies; 1 for the perfect forecast."""
        return frames.skill_frame(m.scores for m in self.results)

    @property
    def intervals(self) -> pd.DataFrame:
        """Every number that has an interval: a row for each; of the sample, the model is ""."""
        return frames.interval_frame(self.data, self.results)

    @property
    def decompositions(self) -> pd.DataFrame:
        """Mean score, miscalibration, discrimination and uncertainty: a row for each model and score."""
        return frames.decomposition_frame(m.scores for m in self.results)

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
    def views(self) -> pd.DataFrame:
        """Decompositions of models of K classes by class and threshold: a row for each model and view."""
        return frames.view_frame(self.class_models)

    @property
    def confusion(self) -> pd.DataFrame:
        """How often each class came and was called likeliest: a row for each model and pair of classes."""
        return frames.confusion_frame(self.data.classes, self.class_models)

    @property
    def retention(self) -> pd.DataFrame:
        """Retention curves: a row for each model, score, metric and fraction of the cases set aside."""
        return frames.retention_frame(self.class_models)

    @property
    def probability_scale(self) -> pd.DataFrame:
        """Decisiveness, accuracy and robustness: a row for each model, class, kind of bins and mark."""
        return frames.scale_frame(self.results)

    @property
    def calibration_tests(self) -> pd.DataFrame:
        """Tests of calibration: a row for each model and test."""
        return frames.calibration_test_frame(self.results)

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


def evaluate(  # noqa: PLR0913  # every setting has its name
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
    cost_matrix: ArrayLike | None = None,
    retention_fractions: Sequence[float] = DEFAULT_FRACTIONS,
    scale_bins: int = SCALE_BINS,
    scale_limit: float = 0.0,
    engine: str = "auto",
    memory_limit: str | None = None,
    temporary_folder: str | Path | None = None,
    **columns: Unpack[Columns],
) -> Evaluation:
    """Evaluate one or more models on the same rows, with the uncertainty of every number.

    Models are binary or, where `classes` are named, of K classes, ordered or not.

    Parameters
    ----------
    data : `Predictions`, or a table that `read_predictions` takes together with its columns; binary ones
        may be larger than memory, or be a Spark DataFrame
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
    cost_matrix : of K classes, what each decision (column) costs where each class (row) came; unless given
        the squared distance of ordered classes over its largest value, or 1 for every wrong decision
    retention_fractions : of the cases that retention curves of K classes set aside; the first is 0
    scale_bins, scale_limit : bins of equal count on the probability scale, and how near to 0 and 1 its
        probabilities may come
    engine : what sorts the rows: "memory"; "duckdb", on disk; "spark", on a cluster; or "auto", by size and
        kind of the data. Counts, blocks, scores and curves are the same whichever it is; but only in memory
        samples are drawn, and otherwise intervals come from a grouped jackknife, bands from asymptotic theory
    memory_limit, temporary_folder : how much memory DuckDB may take, such as "1GB", a quarter of the
        machine's unless given; and where files are kept meanwhile, that of the system unless given
    columns : `outcome`, `forecasts`, `classes`, `ordered`, `normalize`, `weight`, `group`, `cluster`,
        `grade`, `time`, `positive`, `missing`, `table`, as in `read_predictions`

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "logit": [0.1, 0.6, 0.4, 0.8]})
    >>> evaluate(frame, outcome="y", forecasts=["logit"]).scores.round(4)
            brier  log_loss  misclassification  spherical  roc_auc
    model
    logit  0.0925    0.3375                0.0      0.093      1.0
    """
    chosen = _choose(data, engine, columns, memory_limit)
    check_temporary_folder(temporary_folder)
    settings = Settings(
        engine=chosen,
        cost_interval=None if cost_interval is None else _check_costs(cost_interval),
        level=check_inside(level, "level", 0, 1, closed="neither"),
        band_level=check_inside(band_level, "band_level", 0, 1, closed="neither"),
        interval_method=check_option(interval_method, "interval_method", METHODS),
        resamples=check_resamples(resamples, band_level),
        seed=check_whole(seed, "seed", 0),
        smallest_group=check_whole(smallest_group, "smallest_group", 1),
        window=window,
        thresholds=None if thresholds is None else _check_thresholds(thresholds),
        retention_fractions=_check_fractions(retention_fractions),
        scale_bins=check_whole(scale_bins, "scale_bins", 1),
        scale_limit=check_inside(scale_limit, "scale_limit", 0, 0.5, closed="left"),
    )
    if chosen == "memory":
        return _evaluate_in_memory(_predictions(data, columns), settings, cost_matrix)
    _check_elsewhere(data, columns, cost_matrix, chosen)
    with open_engine(
        data, settings, memory_limit=memory_limit, temporary_folder=temporary_folder, **columns
    ) as opened:
        return _evaluate_elsewhere(opened, settings)


def _evaluate_elsewhere(engine: Engine, settings: Settings) -> Evaluation:
    parts = evaluate_rows(engine, settings)
    evaluation = Evaluation(settings=settings, software=_name_software(engine.name), **parts)
    object.__setattr__(evaluation, "_tallies", tally_forecasts(engine))
    return evaluation


def _evaluate_in_memory(
    predictions: Predictions | ClassPredictions, settings: Settings, cost_matrix: ArrayLike | None
) -> Evaluation:
    check_window(settings.window, predictions)
    settings = replace(settings, cost_matrix=_check_cost_matrix(cost_matrix, predictions))
    _check_kind(predictions, settings)
    parts = (
        evaluate_binary(predictions, settings)
        if isinstance(predictions, Predictions)
        else evaluate_classes(predictions, settings)
    )
    evaluation = Evaluation(settings=settings, software=_name_software(), **parts)
    object.__setattr__(evaluation, "_predictions", predictions)
    return evaluation


def _choose(data: Any, engine: str, columns: Columns, memory_limit: str | None) -> str:
    """The engine asked for, or the one that suits the data; several classes have to be in memory."""
    if columns.get("classes") is not None and engine == "auto":
        return "memory"
    used = len(columns.get("forecasts", ())) + len(columns)
    return choose_engine(data, engine, columns=used, memory_limit=memory_limit, table=columns.get("table"))


def _name_software(engine: str = "memory") -> dict[str, str]:
    packages = (*_SOFTWARE, *_ENGINE_SOFTWARE.get(engine, ()))
    return {"python": python_version(), **{name: version(name) for name in packages}}


def _check_elsewhere(data: Any, columns: Columns, cost_matrix: ArrayLike | None, engine: str) -> None:
    """Predictions are in memory already, and models of several classes have to be."""
    if isinstance(data, (Predictions, ClassPredictions)):
        raise UsageError(f'Predictions are in memory: `engine` must be "memory" or "auto"; got {engine!r}.')
    if columns.get("classes") is not None:
        raise UsageError(f'`engine` must be "memory" for several classes; got {engine!r}.')
    if cost_matrix is not None:
        raise UsageError("`cost_matrix` is for models of several classes; for an event use `cost_interval`.")


def check_resamples(resamples: int, band_level: float) -> int:
    """None at all, or enough for every band and interval."""
    needed = max(fewest_resamples(band_level), 2)
    if check_whole(resamples, "resamples", 0) not in range(1, needed):
        return resamples
    raise UsageError(
        f"`resamples` must be 0, or at least {needed} for bands of level {shortest(band_level)}."
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


def _check_cost_matrix(
    cost_matrix: ArrayLike | None, predictions: Predictions | ClassPredictions
) -> tuple[tuple[float, ...], ...] | None:
    if cost_matrix is None:
        return None
    if isinstance(predictions, Predictions):
        raise UsageError("`cost_matrix` is for models of several classes; for an event use `cost_interval`.")
    costs = check_cost(cost_matrix, len(predictions.classes), "cost_matrix")
    return tuple(map(tuple, costs.tolist()))


def _check_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Fractions in [0, 1) that rise from 0."""
    if np.ndim(fractions) != 1 or np.size(fractions) < 2:
        raise UsageError(f"`retention_fractions` must be a list of at least two numbers; got {fractions!r}.")
    rising = tuple(check_inside(f, "retention_fractions", 0, 1, closed="left") for f in fractions)
    if rising[0] != 0 or any(a >= b for a, b in pairwise(rising)):
        raise UsageError(f"`retention_fractions` must rise from 0; got {list(fractions)!r}.")
    return rising


def _check_kind(predictions: Predictions | ClassPredictions, settings: Settings) -> None:
    """Refuse what only binary models have, where there are several classes."""
    if isinstance(predictions, Predictions):
        return
    for name in ("cost_interval", "thresholds"):
        if getattr(settings, name) is not None:
            raise UsageError(f"`{name}` is for binary models; for several classes use `cost_matrix`.")


def _predictions(data: Any, columns: Columns) -> Predictions | ClassPredictions:
    if not isinstance(data, (Predictions, ClassPredictions)):
        return read_predictions(data, **columns)
    if columns:
        raise UsageError(f"Predictions have their columns already; got {', '.join(columns)} as well.")
    return data
