"""`evaluate()`: checks the settings, chooses an engine, and returns all numbers as one `Evaluation`."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from platform import python_version
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport.curves.retention import DEFAULT_FRACTIONS
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.data.reader import read_predictions
from scorereport.errors import UsageError
from scorereport.evaluation.binary_evaluation import evaluate_binary
from scorereport.evaluation.class_evaluation import evaluate_classes
from scorereport.evaluation.engines.engine_choice import choose_engine, open_engine
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.evaluation.engines.scans import tally_forecasts
from scorereport.evaluation.setting_checks import (
    check_cost_matrix,
    check_costs,
    check_engine_support,
    check_fractions,
    check_model_kind,
    check_resamples,
    check_temporary_folder,
    check_thresholds,
)
from scorereport.evaluation.subgroups import check_window
from scorereport.inference.bootstrap_results import METHODS
from scorereport.reliability.sampling import SEED
from scorereport.results.evaluation import Evaluation
from scorereport.results.model_records import SCALE_BINS, EvaluationSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from scorereport.evaluation.engines.protocol import Engine

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
    weight_kind: str
    group: str | Sequence[str] | None
    cluster: str | None
    grade: str | None
    time: str | None
    positive: object
    missing: str


def evaluate(  # noqa: PLR0913  # a parameter for each setting
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

    Models are binary or, if `classes` are given, of K classes, ordered or not.

    Parameters
    ----------
    data : `Predictions`, or a table that `read_predictions` takes together with its columns; a table of
        binary models may be larger than memory, or be a Spark DataFrame
    cost_interval : bounds of the cost ratios that matter, inside (0, 1); adds the bounded scores
    level, band_level : confidence levels of intervals and of bands
    interval_method : the bootstrap intervals of mean scores and skills: "bca" or "percentile"
    resamples, seed : the number of resamples for each bootstrap, band and test, and the seed of the random
        numbers; with 0 resamples there are no intervals, bands or tests
    smallest_group : groups of fewer rows are counted, not scored
    window : the length of the periods of the time column: "year", "quarter", "month", "week" or "day"; by
        default the shortest with up to 24 periods
    thresholds : the thresholds of the decision table, inside (0, 1); by default five over the cost interval,
        or the tenths
    cost_matrix : for K classes, the cost of each decision (column) for each observed class (row); by default
        the squared distance of ordered classes over its largest value, or 1 for every wrong decision
    retention_fractions : the fractions of cases that retention curves of K classes remove; the first is 0
    scale_bins, scale_limit : the number of bins of equal count on the probability scale, and the smallest
        distance of its probabilities from 0 and 1
    engine : what sorts the rows: "memory"; "duckdb", on disk; "spark", on a cluster; or "auto", by size and
        kind of the data. Counts, blocks, scores and curves are the same with every engine. Samples are drawn
        in memory only: with the other engines, intervals come from a grouped jackknife and bands from
        asymptotic theory
    memory_limit, temporary_folder : how much memory DuckDB may use, such as "1GB", by default a quarter of
        the machine's; and the folder for temporary files, by default that of the system
    columns : `outcome`, `forecasts`, `classes`, `ordered`, `normalize`, `weight`, `weight_kind`, `group`,
        `cluster`, `grade`, `time`, `positive`, `missing`, `table`, as in `read_predictions`

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "logit": [0.1, 0.6, 0.4, 0.8]})
    >>> evaluate(frame, outcome="y", forecasts=["logit"]).scores[["brier", "log_loss", "roc_auc"]].round(4)
            brier  log_loss  roc_auc
    model
    logit  0.0925    0.3375      1.0
    """
    chosen = _choose(data, engine, columns, memory_limit)
    check_temporary_folder(temporary_folder)
    settings = EvaluationSettings(
        engine=chosen,
        cost_interval=None if cost_interval is None else check_costs(cost_interval),
        level=check_inside(level, "level", 0, 1, closed="neither"),
        band_level=check_inside(band_level, "band_level", 0, 1, closed="neither"),
        interval_method=check_option(interval_method, "interval_method", METHODS),
        resamples=check_resamples(resamples, band_level),
        seed=check_whole(seed, "seed", 0),
        smallest_group=check_whole(smallest_group, "smallest_group", 1),
        window=window,
        thresholds=None if thresholds is None else check_thresholds(thresholds),
        retention_fractions=check_fractions(retention_fractions),
        scale_bins=check_whole(scale_bins, "scale_bins", 1),
        scale_limit=check_inside(scale_limit, "scale_limit", 0, 0.5, closed="left"),
    )
    if chosen == "memory":
        return _evaluate_in_memory(_predictions(data, columns), settings, cost_matrix)
    check_engine_support(data, columns, cost_matrix, chosen)
    with open_engine(
        data, settings, memory_limit=memory_limit, temporary_folder=temporary_folder, **columns
    ) as opened:
        return _evaluate_with_engine(opened, settings)


def _choose(data: Any, engine: str, columns: Columns, memory_limit: str | None) -> str:
    """The given engine, or for "auto" the one that suits the data; K classes are evaluated in memory."""
    if columns.get("classes") is not None and engine == "auto":
        return "memory"
    used = len(columns.get("forecasts", ())) + len(columns)
    return choose_engine(data, engine, columns=used, memory_limit=memory_limit, table=columns.get("table"))


def _predictions(data: Any, columns: Columns) -> Predictions | ClassPredictions:
    if not isinstance(data, (Predictions, ClassPredictions)):
        return read_predictions(data, **columns)
    if columns:
        raise UsageError(f"Predictions have their columns already; got {', '.join(columns)} as well.")
    return data


def _evaluate_in_memory(
    predictions: Predictions | ClassPredictions, settings: EvaluationSettings, cost_matrix: ArrayLike | None
) -> Evaluation:
    check_window(settings.window, predictions)
    settings = replace(settings, cost_matrix=check_cost_matrix(cost_matrix, predictions))
    check_model_kind(predictions, settings)
    parts = (
        evaluate_binary(predictions, settings)
        if isinstance(predictions, Predictions)
        else evaluate_classes(predictions, settings)
    )
    evaluation = Evaluation(settings=settings, software=_name_software(), **parts)
    object.__setattr__(evaluation, "_predictions", predictions)
    return evaluation


def _evaluate_with_engine(engine: Engine, settings: EvaluationSettings) -> Evaluation:
    parts = evaluate_with_engine(engine, settings)
    evaluation = Evaluation(settings=settings, software=_name_software(engine.name), **parts)
    object.__setattr__(evaluation, "_tallies", tally_forecasts(engine))
    return evaluation


def _name_software(engine: str = "memory") -> dict[str, str]:
    packages = (*_SOFTWARE, *_ENGINE_SOFTWARE.get(engine, ()))
    return {"python": python_version(), **{name: version(name) for name in packages}}
