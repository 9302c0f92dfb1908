"""Options shared by the commands that evaluate predictions, and the evaluation that they request.

An option that is not given is None: its value comes from the configuration or from the default of `evaluate`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport.configuration import Configuration
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation

#: Options without which nothing can be evaluated, as messages name them.
_REQUIRED = {"file": "argument 'FILE'", "outcome": "option '--outcome'", "forecast": "option '--forecast'"}
#: Options with another name in `evaluate`.
_RENAMED = {"forecast": "forecasts", "threshold": "thresholds"}
#: Options that are not passed to `evaluate`.
_COMMAND_ONLY = ("file", "certify", "quiet")
#: Columns other than those of the forecasts.
_ROLES = ("outcome", "weight", "group", "cluster", "grade", "time")
Engine = Literal["auto", "memory", "duckdb", "spark"]


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """The evaluation that a command line requests."""

    file: Annotated[
        str | None,
        typer.Argument(
            help="Predictions: a .csv, .csv.gz or .parquet file, a folder or pattern of .parquet files, or, "
            "with --table, a .duckdb file or the address of a database, in which ${NAME} is the value of an "
            "environment variable."
        ),
    ] = None
    table: Annotated[str | None, typer.Option(help="Table or view, if FILE is a database.")] = None
    outcome: Annotated[
        str | None, typer.Option(help="Column of outcomes: 0/1, True/False, two labels, or classes.")
    ] = None
    forecast: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of probabilities; repeat for more models. With --classes: a model with columns "
            "MODEL_CLASS, or MODEL=COLUMN,COLUMN,... in the order of the classes."
        ),
    ] = None
    classes: Annotated[
        str | None, typer.Option(help="Labels of the classes, separated by commas, e.g. low,mid,high.")
    ] = None
    ordered: Annotated[
        bool | None, typer.Option("--ordered/--unordered", help="Whether the classes are ordered.")
    ] = None
    normalize: Annotated[
        bool | None,
        typer.Option(
            "--normalize/--no-normalize", help="Divide the class probabilities of each row by their sum."
        ),
    ] = None
    cost_matrix: Annotated[
        Path | None,
        typer.Option(help="Costs: a .csv file without a header; rows are classes, columns are decisions."),
    ] = None
    weight: Annotated[str | None, typer.Option(help="Column of weights.")] = None
    weight_kind: Annotated[
        str | None,
        typer.Option(
            help='Kind of weights: "sampling" (default) or "frequency", the number of times a row occurred.'
        ),
    ] = None
    group: Annotated[list[str] | None, typer.Option(help="Column of groups; repeat for more.")] = None
    cluster: Annotated[
        str | None, typer.Option(help="Column of clusters; rows of one cluster are dependent.")
    ] = None
    grade: Annotated[str | None, typer.Option(help="Column of rating grades.")] = None
    time: Annotated[str | None, typer.Option(help="Column of dates.")] = None
    window: Annotated[
        str | None,
        typer.Option(help='Length of the periods of --time: "year", "quarter", "month", "week" or "day".'),
    ] = None
    positive: Annotated[str | None, typer.Option(help="The label that counts as the event.")] = None
    missing: Annotated[
        str | None,
        typer.Option(help='What to do with missing values: "refuse" (default) or "drop" the rows.'),
    ] = None
    cost_interval: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Relevant range of cost ratios, e.g. 0.05 0.2: adds bounded scores."),
    ] = None
    threshold: Annotated[
        list[float] | None, typer.Option(help="Decision threshold to show in tables; repeat for more.")
    ] = None
    level: Annotated[float | None, typer.Option(help="Confidence level of intervals (default 0.95).")] = None
    band_level: Annotated[
        float | None, typer.Option(help="Level of consistency and confidence bands (default 0.9).")
    ] = None
    interval_method: Annotated[
        str | None, typer.Option(help='Bootstrap interval of scores: "bca" (default) or "percentile".')
    ] = None
    resamples: Annotated[
        int | None, typer.Option(help="Number of resamples (default 1000); 0 for no intervals and tests.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None
    smallest_group: Annotated[
        int | None, typer.Option(help="Groups with fewer rows are counted but not scored (default 10).")
    ] = None
    scale_bins: Annotated[int | None, typer.Option(help="Bins of the probability scale (default 10).")] = None
    scale_limit: Annotated[
        float | None,
        typer.Option(
            help="Smallest distance of probabilities from 0 and 1 on the probability scale (default 0)."
        ),
    ] = None
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Engine: in memory (memory), on disk (duckdb), on a cluster (spark), or chosen by the size "
            "of the data (auto, default)."
        ),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Memory that the engine may use, e.g. 1GB; beyond it, the disk is used."),
    ] = None
    temporary_folder: Annotated[
        Path | None,
        typer.Option(help="Folder for data that do not fit into memory; they are removed at the end."),
    ] = None
    certify: Annotated[
        bool, typer.Option("--certify", help="Compare the numbers with those of R on the same data.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by their names in `evaluate`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _COMMAND_ONLY}
        return {_RENAMED.get(name, name): value for name, value in values.items() if value not in (None, [])}

    def evaluate(self, configuration: Configuration | None = None) -> tuple[Evaluation, Certificate | None]:
        """Return the evaluation, and its certificate if requested; options override the configuration."""
        from scorereport.cli.progress_display import show_progress
        from scorereport.data.sources import open_command_source
        from scorereport.evaluation.dispatch import evaluate

        chosen = self.choose(configuration)
        with open_command_source(self.file or "") as source, show_progress(quiet=self.quiet):
            if self.certify:
                _check_certifiable(source, chosen)
            try:
                evaluation = evaluate(source, **chosen)
            except DataError as error:
                if "classes" in chosen or not _is_about_columns(error, self.forecast or ()):
                    raise
                raise DataError(f"{error} For columns of several classes, give --classes as well.") from error
            return evaluation, _certify(evaluation) if self.certify else None

    def choose(self, configuration: Configuration | None) -> dict[str, Any]:
        """Return the checked arguments of `evaluate`; options override the configuration."""
        from scorereport.configuration import check_arguments

        configured = {} if configuration is None else configuration.arguments
        chosen = configured | self.given
        for name, option in _REQUIRED.items():
            if not (self.file if name == "file" else chosen.get(_RENAMED.get(name, name))):
                raise UsageError(f"Missing {option}.")
        if self.classes is not None:
            chosen["classes"] = split_list(self.classes, "classes")
        if self.forecast and chosen.get("classes"):
            chosen["forecasts"] = find_columns(self.forecast, chosen["classes"])
        if self.cost_matrix is not None:
            chosen["cost_matrix"] = read_cost_file(self.cost_matrix)
        if configuration is not None:
            check_arguments(configuration, chosen)
        return chosen


def _is_about_columns(error: DataError, forecasts: Sequence[str]) -> bool:
    """Whether a missing column may be a model of several classes, with a column for each class."""
    message = str(error)
    absent = [forecast for forecast in forecasts if f"no column `{forecast}`" in message]
    return any("=" in forecast or f"`{forecast}_" in message for forecast in absent)


def split_list(text: str, option: str) -> list[str]:
    """Split the value of an option at its commas.

    >>> split_list("low, mid,high", "classes")
    ['low', 'mid', 'high']
    """
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise UsageError(
            f"`--{option}` must be names separated by commas; got an empty one in {text!r}. "
            "Names that contain commas can be given in a configuration."
        )
    return parts


def find_columns(forecasts: Sequence[str], classes: Sequence[object]) -> list[str] | dict[str, list[str]]:
    """Return the models or, if any is given as MODEL=COLUMN,COLUMN,..., the columns of each.

    >>> find_columns(["a", "b=x,y"], ["no", "yes"])
    {'a': ['a_no', 'a_yes'], 'b': ['x', 'y']}
    """
    from scorereport.data.columns import label_text

    if not any("=" in forecast for forecast in forecasts):
        return list(forecasts)
    named = [label_text(label) for label in classes]
    columns: dict[str, list[str]] = {}
    for forecast in forecasts:
        model, equals, names = forecast.partition("=")
        if model in columns:
            raise UsageError(f"`--forecast` must name each model once; got {model!r} again.")
        if not model:
            raise UsageError(f"`--forecast` must name a model before its columns; got {forecast!r}.")
        columns[model] = split_list(names, "forecast") if equals else [f"{model}_{label}" for label in named]
    return columns


def read_cost_file(path: Path) -> list[list[float]]:
    """Read the numbers of a .csv file without a header."""
    from scorereport.configuration.toml_reader import decode_text

    if not path.is_file():
        raise UsageError(f"`--cost-matrix` must be a file of numbers; {path} is not a file.")
    costs = []
    lines = decode_text(path.read_bytes(), path.name).removeprefix("\ufeff").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            costs += [[float(cell) for cell in line.split(",")]] if line.strip() else []
        except ValueError as error:
            raise UsageError(
                "`--cost-matrix` must be numbers separated by commas, without a header; "
                f"got {line!r} in line {number} of {path.name}."
            ) from error
    return costs


def _check_certifiable(source: str, chosen: dict[str, Any]) -> None:
    """Refuse, before the evaluation, a certificate of rows that are not in memory."""
    from scorereport.evaluation.engines.engine_choice import choose_engine

    engine = chosen.get("engine", "auto")
    if engine == "auto" and chosen.get("classes") is None:
        used = len(chosen["forecasts"]) + sum(chosen.get(part) is not None for part in _ROLES)
        limit, table = chosen.get("memory_limit"), chosen.get("table")
        engine = choose_engine(source, columns=used, memory_limit=limit, table=table)
    if engine in ("duckdb", "spark"):
        raise UsageError(
            f"`--certify` needs all rows in memory, because R does, but the engine is {engine}. To fix: "
            "leave out --certify, or give --engine memory if the machine has enough memory."
        )


def _certify(evaluation: Evaluation) -> Certificate:
    from scorereport.reference.certification import certify

    return certify(evaluation)


def with_prediction_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an evaluation to a command, which receives them as an `EvaluationRequest`."""
    shared = _list_options(EvaluationRequest)
    own = _list_options(command)

    @wraps(command)
    def run(**given: Any) -> None:
        command(EvaluationRequest(**{name: given.pop(name) for name in shared}), **given)

    options = {**shared, **own}
    run.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _list_options(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters that become options: those with a typer annotation."""
    kinds = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(annotation=kinds[name], kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature(function).parameters.items()
        if hasattr(kinds[name], "__metadata__")
    }
