"""`evaluate()`: checks the settings, chooses an engine, and returns all numbers as one `Evaluation`."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from platform import python_version
from typing import TYPE_CHECKING, Any, Unpack

from scorereport._utils.choices import SEED
from scorereport._utils.declarations import document_arguments
from scorereport._utils.progress import report_stage, report_work
from scorereport._utils.work_plan import Stage
from scorereport.data.array_tables import take_arrays
from scorereport.data.csv_format import CsvFormat
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.data.reader import read_checked
from scorereport.data.roles import COLUMNS, count_classes
from scorereport.errors import UsageError
from scorereport.evaluation.arguments import (
    ARGUMENTS,
    check_evaluation_arguments,
    columns_in,
    refuse_conflicts,
    settings_in,
)
from scorereport.evaluation.binary_evaluation import evaluate_binary
from scorereport.evaluation.class_evaluation import evaluate_classes
from scorereport.evaluation.engines.engine_choice import choose_engine, open_engine
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.evaluation.engines.scans import tally_forecasts
from scorereport.evaluation.evaluated_parts import assemble_evaluation
from scorereport.evaluation.prediction_panels import share_rows
from scorereport.evaluation.reference_comparison import compare_in_memory, compare_with_engine
from scorereport.evaluation.reference_sample import (
    ReferenceColumns,
    compare_engine_with_reference,
    compare_with_reference,
    name_reference_columns,
    read_reference,
)
from scorereport.evaluation.setting_checks import check_engine_support, check_temporary_folder
from scorereport.evaluation.subgroups import check_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from scorereport.data.array_values import ArrayForecasts, ArrayGroups
    from scorereport.data.column_rules import Forecasts
    from scorereport.data.roles import Columns
    from scorereport.evaluation.arguments import Arguments, OtherArguments
    from scorereport.evaluation.engines.protocol import Engine
    from scorereport.evaluation.reference_sample import ReferenceSample
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.settings import EvaluationSettings

    ReadCallback = Callable[[Predictions | ClassPredictions, EvaluationSettings], None]

_SOFTWARE = ("scorereport", "numpy", "scipy")
_on_read: ContextVar[ReadCallback | None] = ContextVar("on_read", default=None)
_ENGINE_SOFTWARE = {"duckdb": ("duckdb",), "spark": ("pyspark",)}


def evaluate(  # noqa: PLR0913  # the most used arguments are in the signature, so that editors complete them
    data: Any,
    forecasts: Forecasts | ArrayForecasts | None = None,
    *,
    outcome: str | None = None,
    classes: Sequence[object] | None = None,
    ordered: bool = False,
    weight: str | ArrayLike | None = None,
    groups: str | Sequence[str] | ArrayGroups | None = None,
    cluster: str | ArrayLike | None = None,
    time: str | ArrayLike | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = SEED,
    engine: str = "auto",
    **others: Unpack[OtherArguments],
) -> Evaluation:
    """Evaluate one or more models on the same rows, with the uncertainty of every number.

    Models are binary or, if `classes` are given, of K classes, ordered or not. Counts, blocks, scores and
    curves are the same with every engine. Samples are drawn in memory only: with the other engines, intervals
    come from a grouped jackknife and bands from asymptotic theory.

    Parameters
    ----------
    data
        `Predictions`; a table that `read_predictions` takes together with its columns, which for binary
        models may be larger than memory, or be a Spark DataFrame; or an array of outcomes. With an array,
        `forecasts` are arrays as well: a mapping from models to arrays, one array, or a frame with a column
        for each model; with `classes`, each model has an array of shape (rows, classes). So are `weight`,
        `cluster`, `time`, `grade` and `groups` (an array, or a mapping from names to arrays). Outcomes that
        are a Categorical of pandas or an Enum of polars supply `classes` and `ordered` if `classes` are not
        given and there are more than two categories.
    {parameters}

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "logit": [0.1, 0.6, 0.4, 0.8]})
    >>> evaluate(frame, outcome="y", forecasts=["logit"]).scores[["brier", "log_loss", "roc_auc"]].round(4)
            brier  log_loss  roc_auc
    model
    logit  0.0925    0.3375      1.0

    >>> evaluate([0, 1, 0, 1], {"logit": [0.1, 0.6, 0.4, 0.8]}).scores[["brier", "log_loss"]].round(4)
            brier  log_loss
    model
    logit  0.0925    0.3375
    """
    shown = {
        "outcome": outcome,
        "forecasts": forecasts,
        "classes": classes,
        "ordered": ordered,
        "weight": weight,
        "groups": groups,
        "cluster": cluster,
        "time": time,
        "level": level,
        "resamples": resamples,
        "seed": seed,
        "engine": engine,
    }
    table, named = take_arrays(data, {**shown, **others})
    return _evaluate(table, check_evaluation_arguments(named))


document_arguments(evaluate, ARGUMENTS)


@contextmanager
def called_when_read(on_read: ReadCallback) -> Iterator[None]:
    """Call a function with the predictions and settings of evaluations in the block, before they begin.

    It serves work that needs no results and can be done meanwhile. Rows that are not in memory are not given.
    """
    token = _on_read.set(on_read)
    try:
        yield
    finally:
        _on_read.reset(token)


def _evaluate(data: Any, arguments: Arguments) -> Evaluation:
    """Evaluate data with checked arguments."""
    columns = _find_columns(data, arguments)
    has_columns = not isinstance(data, (Predictions, ClassPredictions))
    refuse_conflicts(arguments, _count_classes(data, columns), are_complete=has_columns)
    check_temporary_folder(arguments.get("temporary_folder"))
    chosen = _choose_engine(data, columns, arguments)
    settings = settings_in(arguments, chosen)
    _report_workload(data, columns, settings)
    if chosen == "memory":
        predictions = _read(data, columns)
        report_work(rows=len(predictions))
        sample = _read_reference(arguments, predictions)
        if (on_read := _on_read.get()) is not None:
            on_read(predictions, settings)
        return _evaluate_in_memory(predictions, settings, sample)
    check_engine_support(data, columns, chosen)
    sample = _read_reference(arguments)
    memory_limit, folder = arguments.get("memory_limit"), arguments.get("temporary_folder")
    with open_engine(
        data, settings, memory_limit=memory_limit, temporary_folder=folder, columns=columns
    ) as opened:
        return _evaluate_with_engine(opened, settings, sample)


def _report_workload(data: Any, columns: Columns, settings: EvaluationSettings) -> None:
    """Report what is known of the work before the data are read, and the beginning of the reading."""
    forecasts = columns.get("forecasts", getattr(data, "forecasts", ()))
    groups = columns.get("groups", getattr(data, "groups", ())) or ()
    times = [columns.get("time", getattr(data, "time", None))]
    report_work(
        evaluates=True,
        models=len(forecasts),
        classes=_count_classes(data, columns) or 2,
        infers=settings.infers,
        resamples=settings.fixed_resamples,
        groups=len(groups) + sum(time is not None for time in times),
        is_streamed=settings.engine != "memory",
    )
    report_stage(Stage.READING)


def _read_reference(
    arguments: Arguments, predictions: Predictions | ClassPredictions | None = None
) -> ReferenceSample | None:
    """The reference sample, read before the evaluation so that an error in it is found at once."""
    columns = ReferenceColumns(
        models=tuple(arguments.get("forecasts", ())),
        weight=arguments.get("weight"),
        weight_kind=arguments.get("weight_kind", "sampling"),
        drop=arguments.get("missing") == "drop",
        csv_format=CsvFormat.of(arguments),
        outcome=arguments.get("outcome"),
        positive=arguments.get("positive"),
        groups=tuple(arguments.get("groups") or ()),
        cluster=arguments.get("cluster"),
    )
    if isinstance(predictions, Predictions):
        columns = name_reference_columns(predictions, columns)
    return read_reference(arguments.get("reference"), columns)


def _find_columns(data: Any, arguments: Arguments) -> Columns:
    """The columns that the arguments name, without those that are as by default."""
    columns = columns_in(arguments)
    for name, declared in COLUMNS.items():
        if name in columns and columns[name] == declared.default:  # type: ignore[literal-required]
            del columns[name]  # type: ignore[misc]
    if isinstance(data, (Predictions, ClassPredictions)):
        if columns:
            raise UsageError(f"Predictions have their columns already; got {', '.join(columns)} as well.")
        return columns
    for name in ("outcome", "forecasts"):
        if name not in columns:
            raise UsageError(f"`{name}` is missing: name {COLUMNS[name].short_help}.")
    return columns


def _count_classes(data: Any, columns: Columns) -> int | None:
    """The number of classes of the models; None for binary models."""
    if isinstance(data, ClassPredictions):
        return len(data.classes)
    return count_classes(columns)


def _choose_engine(data: Any, columns: Columns, arguments: Arguments) -> str:
    """The given engine, or for "auto" the one that suits the data; K classes are evaluated in memory."""
    engine = arguments.get("engine", "auto")
    if "classes" in columns and engine == "auto":
        return "memory"
    used = len(columns.get("forecasts", ())) + len(columns)
    return choose_engine(
        data,
        engine,
        columns=used,
        memory_limit=arguments.get("memory_limit"),
        table=columns.get("table"),
        csv_format=CsvFormat.of(columns),
    )


def _read(data: Any, columns: Columns) -> Predictions | ClassPredictions:
    if isinstance(data, (Predictions, ClassPredictions)):
        return data
    predictions = read_checked(data, columns)
    return share_rows(predictions) if isinstance(predictions, Predictions) else predictions


def _evaluate_in_memory(
    predictions: Predictions | ClassPredictions,
    settings: EvaluationSettings,
    sample: ReferenceSample | None,
) -> Evaluation:
    check_window(settings.window, predictions)
    parts = (
        evaluate_binary(predictions, settings)
        if isinstance(predictions, Predictions)
        else evaluate_classes(predictions, settings)
    )
    stability = compare_with_reference(predictions, sample, level=settings.level) if sample else None
    reference = None
    if sample and stability is not None and isinstance(predictions, Predictions):
        reference = compare_in_memory(parts, predictions, sample, stability, settings)
    return assemble_evaluation(
        parts,
        settings,
        software=_name_software(),
        stability=stability,
        reference=reference,
        predictions=predictions,
    )


def _evaluate_with_engine(
    engine: Engine, settings: EvaluationSettings, sample: ReferenceSample | None
) -> Evaluation:
    stability = compare_engine_with_reference(engine, sample, level=settings.level) if sample else None
    parts = evaluate_with_engine(engine, settings)
    reference = None
    if sample and stability is not None:
        reference = compare_with_engine(parts, engine, sample, stability, settings)
    return assemble_evaluation(
        parts,
        settings,
        software=_name_software(engine.name),
        stability=stability,
        reference=reference,
        tallies=tally_forecasts(engine),
    )


def _name_software(engine: str = "memory") -> dict[str, str]:
    packages = (*_SOFTWARE, *_ENGINE_SOFTWARE.get(engine, ()))
    return {"python": python_version(), **{name: version(name) for name in packages}}
