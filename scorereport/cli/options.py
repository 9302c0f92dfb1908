"""Options shared by the commands on predictions, and the evaluation that they request.

Options that were not given are None: the configuration fills them, or else `evaluate` does.
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

#: Without these there is nothing to evaluate.
_REQUIRED = {"file": "argument 'FILE'", "outcome": "option '--outcome'", "forecast": "option '--forecast'"}
#: Options that `evaluate` takes by another name, or not at all.
_RENAMED = {"forecast": "forecasts", "threshold": "thresholds"}
_COMMAND_ONLY = ("file", "certify", "quiet")
#: Columns beside those of the forecasts.
_ROLES = ("outcome", "weight", "group", "cluster", "grade", "time")
Engine = Literal["auto", "memory", "duckdb", "spark"]


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What a command line asks of an evaluation."""

    file: Annotated[
        str | None,
        typer.Argument(
            help="Predictions: a .csv, .csv.gz or .parquet file, a folder or pattern of .parquet files, or, "
            "with --table, a .duckdb file or the address of a database; ${NAME} in it is a variable."
        ),
    ] = None
    table: Annotated[str | None, typer.Option(help="Table or view of the database that FILE is.")] = None
    outcome: Annotated[
        str | None, typer.Option(help="Column of outcomes: 0/1, True/False, two labels or classes.")
    ] = None
    forecast: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of probabilities; repeat for more models. Of classes: a model with columns "
            "MODEL_CLASS, or MODEL=COLUMN,COLUMN,... in the order of the classes."
        ),
    ] = None
    classes: Annotated[
        str | None, typer.Option(help="Labels of the classes, with commas between them, e.g. low,mid,high.")
    ] = None
    ordered: Annotated[
        bool | None, typer.Option("--ordered/--unordered", help="Whether the classes are ordered.")
    ] = None
    normalize: Annotated[
        bool | None,
        typer.Option(
            "--normalize/--no-normalize", help="Divide the probabilities of classes by their sum, row by row."
        ),
    ] = None
    cost_matrix: Annotated[
        Path | None,
        typer.Option(help="Costs: .csv without a header; rows are classes, columns decisions."),
    ] = None
    weight: Annotated[str | None, typer.Option(help="Column of case weights.")] = None
    weight_kind: Annotated[
        str | None,
        typer.Option(help='What weights are: "sampling" (default) or "frequency", how often a row occurred.'),
    ] = None
    group: Annotated[list[str] | None, typer.Option(help="Column of subgroups; repeat for more.")] = None
    cluster: Annotated[str | None, typer.Option(help="Column of clusters of dependent rows.")] = None
    grade: Annotated[str | None, typer.Option(help="Column of rating grades.")] = None
    time: Annotated[str | None, typer.Option(help="Column of dates.")] = None
    window: Annotated[
        str | None, typer.Option(help='Periods of time: "year", "quarter", "month", "week" or "day".')
    ] = None
    positive: Annotated[str | None, typer.Option(help="The label that counts as the event.")] = None
    missing: Annotated[
        str | None, typer.Option(help='Rows with missing values: "refuse" (default) or "drop".')
    ] = None
    cost_interval: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Cost ratios that matter, e.g. 0.05 0.2: adds bounded scores."),
    ] = None
    threshold: Annotated[
        list[float] | None, typer.Option(help="Threshold of decisions to be tabled; repeat for more.")
    ] = None
    level: Annotated[
        float | None, typer.Option(help="Probability with which intervals cover (default 0.95).")
    ] = None
    band_level: Annotated[
        float | None, typer.Option(help="Probability with which bands cover (default 0.9).")
    ] = None
    interval_method: Annotated[
        str | None, typer.Option(help='Bootstrap of scores: "bca" (default) or "percentile".')
    ] = None
    resamples: Annotated[
        int | None, typer.Option(help="Samples to draw (default 1000); 0 for no intervals and tests.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Where random numbers start.")] = None
    smallest_group: Annotated[
        int | None, typer.Option(help="Smaller groups are counted, not scored (default 10).")
    ] = None
    scale_bins: Annotated[int | None, typer.Option(help="Bins of the probability scale (default 10).")] = None
    scale_limit: Annotated[
        float | None,
        typer.Option(help="How near to 0 and 1 its probabilities may come (default 0)."),
    ] = None
    engine: Annotated[
        Engine | None,
        typer.Option(help="What does the work: by size (auto, default), in memory, on disk, on a cluster."),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Memory that the work may take, e.g. 1GB; beyond it the disk is used."),
    ] = None
    temporary_folder: Annotated[
        Path | None, typer.Option(help="Folder for what does not fit into memory; emptied at the end.")
    ] = None
    certify: Annotated[bool, typer.Option("--certify", help="Hold the numbers against R on these data.")] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names that `evaluate` has for them."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _COMMAND_ONLY}
        return {_RENAMED.get(name, name): value for name, value in values.items() if value not in (None, [])}

    def evaluate(self, configuration: Configuration | None = None) -> tuple[Evaluation, Certificate | None]:
        """The evaluation asked for, options before configuration, and its certificate if asked for."""
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
                raise DataError(f"{error} For columns of several classes give --classes as well.") from error
            return evaluation, _certify(evaluation) if self.certify else None

    def choose(self, configuration: Configuration | None) -> dict[str, Any]:
        """What `evaluate` is asked for, options before configuration, checked before the work begins."""
        from scorereport.configuration import check_arguments

        asked = {} if configuration is None else configuration.arguments
        chosen = asked | self.given
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
    """Whether a forecast was taken for one column that may have been meant to be several."""
    told = str(error)
    absent = [forecast for forecast in forecasts if f"no column `{forecast}`" in told]
    return any("=" in forecast or f"`{forecast}_" in told for forecast in absent)


def split_list(text: str, option: str) -> list[str]:
    """The parts between the commas of an option.

    >>> split_list("low, mid,high", "classes")
    ['low', 'mid', 'high']
    """
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise UsageError(
            f"`--{option}` must be words with a comma between them; got an empty one in {text!r}. "
            "What holds commas itself can be named in a configuration."
        )
    return parts


def find_columns(forecasts: Sequence[str], classes: Sequence[object]) -> list[str] | dict[str, list[str]]:
    """The models or, if any is given as MODEL=COLUMN,COLUMN,..., the columns of each.

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
    """The numbers of a .csv file without a header."""
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
                "`--cost-matrix` must be numbers with commas between them, without a header; "
                f"got {line!r} in line {number} of {path.name}."
            ) from error
    return costs


def _check_certifiable(source: str, chosen: dict[str, Any]) -> None:
    """Refuse, before the work, a certificate of more rows than R can hold."""
    from scorereport.evaluation.engines.engine_choice import choose_engine

    engine = chosen.get("engine", "auto")
    if engine == "auto" and chosen.get("classes") is None:
        used = len(chosen["forecasts"]) + sum(chosen.get(part) is not None for part in _ROLES)
        limit, table = chosen.get("memory_limit"), chosen.get("table")
        engine = choose_engine(source, columns=used, memory_limit=limit, table=table)
    if engine in ("duckdb", "spark"):
        raise UsageError(
            f"`--certify` needs all rows in memory, for R has no other way, and they are left to {engine}: "
            "leave it out, or give --engine memory if the machine has room for them."
        )


def _certify(evaluation: Evaluation) -> Certificate:
    from scorereport.reference.certification import certify

    return certify(evaluation)


def with_prediction_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an evaluation, as a `Request`, beside its own."""
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
    """The parameters that typer is to make options of: those with an annotation for it."""
    kinds = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(annotation=kinds[name], kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature(function).parameters.items()
        if hasattr(kinds[name], "__metadata__")
    }
