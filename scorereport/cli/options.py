"""Options shared by the commands that evaluate predictions, and the evaluation that they request.

An option that is not given is None: its value comes from the configuration or from the default of `evaluate`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from scorereport._utils.declarations import option_help
from scorereport._utils.rules import Shape, read_number
from scorereport.data.roles import count_classes
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.arguments import (
    ARGUMENTS,
    Arguments,
    check_evaluation_arguments,
    columns_in,
    name_key,
    refuse_conflicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from scorereport._utils.declarations import Declared
    from scorereport.configuration import Configuration
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation

#: Options without which nothing can be evaluated, as messages name them.
_REQUIRED = {"file": "argument 'FILE'", "outcome": "option '--outcome'", "forecasts": "option '--forecast'"}
File = Annotated[
    str | None,
    typer.Argument(
        help="Predictions: a .csv, .csv.gz, .tsv, .parquet, .xlsx, .rds or .RData file, a folder or pattern "
        "of .parquet files, or, with --table, a .duckdb file or the address of a database, in which ${NAME} "
        "is the value of an environment variable."
    ),
]
Certify = Annotated[
    bool, typer.Option("--certify", help="Compare the numbers with those of R on the same data.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
#: The type of an option by how it takes its value; texts are read by the rule of the argument.
_TYPES: dict[Shape, Any] = {
    Shape.ONE: str | None,
    Shape.LIST: str | None,
    Shape.PAIR: tuple[str, str] | None,
    Shape.REPEATED: list[str] | None,
    Shape.FLAG: bool | None,
    Shape.FILE: Path | None,
}
#: A name in a list and the comma after it: in double quotes, which are doubled inside, or as it is.
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*,')
#: The arguments of `evaluate` that are options.
OPTIONS = {name: declared for name, declared in ARGUMENTS.items() if not declared.alias_of}


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """The evaluation that a command line requests, with the given options by their names in `evaluate`."""

    file: str | None
    options: Mapping[str, Any]
    certify: bool = False
    quiet: bool = False

    @property
    def given(self) -> Collection[str]:
        """The names of the arguments that are given."""
        return self.options.keys()

    def evaluate(self, configuration: Configuration | None = None) -> tuple[Evaluation, Certificate | None]:
        """Return the evaluation, and its certificate if requested; options override the configuration."""
        from scorereport.data.sources import open_command_source

        chosen = self.choose(configuration)
        with open_command_source(self.file or "") as source:
            if not self.certify:
                return self._evaluate(source, chosen), None
            _check_certifiable(source, chosen)
            from scorereport.evaluation.dispatch import called_when_read
            from scorereport.reference.certification import PendingCertificate

            with PendingCertificate() as pending:
                with called_when_read(pending.start):
                    evaluation = self._evaluate(source, chosen)
                return evaluation, pending.complete(evaluation)

    def _evaluate(self, source: str, chosen: Arguments) -> Evaluation:
        from scorereport.evaluation.dispatch import evaluate

        try:
            return evaluate(source, **chosen)
        except DataError as error:
            forecasts = self.options.get("forecasts", ())
            if "classes" in chosen or not _is_about_columns(error, forecasts):
                raise
            raise DataError(f"{error} For columns of several classes, give --classes as well.") from error

    def choose(self, configuration: Configuration | None) -> Arguments:
        """Return the checked arguments of `evaluate`; options override the configuration."""
        from scorereport.configuration import check_arguments

        configured = Arguments() if configuration is None else configuration.arguments
        for name, option in _REQUIRED.items():
            if not (self.file if name == "file" else name in self.options or name in configured):
                raise UsageError(f"Missing {option}.")
        chosen: Arguments = {**configured, **self._check_options(configured)}
        name_argument = partial(self._name_argument, configured)
        refuse_conflicts(chosen, count_classes(columns_in(chosen)), name_argument)
        if configuration is not None:
            check_arguments(configuration, chosen)
        return chosen

    def _check_options(self, configured: Arguments) -> Arguments:
        """Read the texts of the options, and check them by the rules of the arguments."""
        values = {name: _read_option(OPTIONS[name], value) for name, value in self.options.items()}
        classes = values.get("classes", configured.get("classes"))
        if "forecasts" in values and classes:
            values["forecasts"] = find_columns(values["forecasts"], classes)
        return check_evaluation_arguments(values, partial(self._name_argument, configured))

    def _name_argument(self, configured: Arguments, name: str) -> str:
        """The name of an argument in errors: that of its option, or of its key if it comes from there."""
        is_key = name in configured and name not in self.options
        return name_key(name) if is_key else OPTIONS[name].option_name


def _read_option(declared: Declared, value: Any) -> Any:
    """Return the value of an option as Python has it."""
    rule = declared.rule
    match rule.shape:
        case Shape.LIST:
            return split_list(value, declared.name)
        case Shape.PAIR | Shape.REPEATED:
            return [rule.read(text) for text in value]
        case Shape.FILE:
            return read_cost_file(value)
        case Shape.FLAG:
            return value
    return rule.read(value)


def _is_about_columns(error: DataError, forecasts: Sequence[str]) -> bool:
    """Whether a missing column may be a model of several classes, with a column for each class."""
    message = str(error)
    absent = [forecast for forecast in forecasts if f"no column `{forecast}`" in message]
    return any("=" in forecast or f"`{forecast}_" in message for forecast in absent)


def split_list(text: str, option: str) -> list[str]:
    """Split the value of an option at its commas, except at those of names in double quotes.

    >>> split_list("low, mid,high", "classes")
    ['low', 'mid', 'high']
    >>> split_list('"(0,1]", "a ""b"" c",d', "classes")
    ['(0,1]', 'a "b" c', 'd']
    """
    parts = [quoted.replace('""', '"') or plain for quoted, plain in _NAME.findall(f"{text},")]
    if "" in parts:
        raise UsageError(
            f"`--{option}` must be names separated by commas; got an empty one in {text!r}. "
            "Names that contain commas need double quotes."
        )
    return parts


def find_columns(forecasts: Sequence[str], classes: Sequence[object]) -> list[str] | dict[str, list[str]]:
    """Return the models or, if any is given as MODEL=COLUMN,COLUMN,..., the columns of each.

    >>> find_columns(["a", "b=x,y"], ["no", "yes"])
    {'a': ['a_no', 'a_yes'], 'b': ['x', 'y']}
    """
    from scorereport.data.column_rules import label_text

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
        cells = [read_number(cell.strip()) for cell in line.split(",")] if line.strip() else []
        if any(isinstance(cell, str) for cell in cells):
            raise UsageError(
                "`--cost-matrix` must be numbers separated by commas, without a header; "
                f"got {line!r} in line {number} of {path.name}."
            )
        costs += [cells] if cells else []
    return costs


def _check_certifiable(source: str, chosen: Arguments) -> None:
    """Refuse, before the evaluation, a certificate of rows that are not in memory."""
    from scorereport.evaluation.engines.engine_choice import choose_engine

    engine = chosen.get("engine", "auto")
    if engine == "auto" and "classes" not in chosen:
        used = len(chosen["forecasts"]) + len(columns_in(chosen))
        limit, table = chosen.get("memory_limit"), chosen.get("table")
        engine = choose_engine(source, columns=used, memory_limit=limit, table=table)
    if engine in ("duckdb", "spark"):
        raise UsageError(
            f"`--certify` needs all rows in memory, because R does, but the engine is {engine}. To fix: "
            "leave out --certify, or give --engine memory if the machine has enough memory."
        )


def with_prediction_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an evaluation to a command, which receives them as an `EvaluationRequest`."""
    own = _list_options(command)

    @wraps(command)
    def run(**given: Any) -> None:
        options = {name: value for name in OPTIONS if (value := given.pop(name)) not in (None, [])}
        request = EvaluationRequest(
            file=given.pop("file"), options=options, certify=given.pop("certify"), quiet=given.pop("quiet")
        )
        command(request, **given)

    shared = {"file": _make_parameter("file", File, None)}
    shared |= {name: _make_parameter(name, _annotate(one), None) for name, one in OPTIONS.items()}
    shared |= {"certify": _make_parameter("certify", Certify, default=False)}
    shared |= {"quiet": _make_parameter("quiet", Quiet, default=False)}
    options = {**shared, **own}
    run.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _annotate(declared: Declared) -> Any:
    """The type of an option with its help, as typer reads it."""
    names = declared.option_name
    if declared.opposite:
        names = f"{names}/--{declared.opposite.replace('_', '-')}"
    metavar = " ".join([declared.rule.metavar] * (2 if declared.rule.shape is Shape.PAIR else 1)) or None
    described = typer.Option(names, metavar=metavar, help=option_help(declared, OPTIONS))
    return Annotated[_TYPES[declared.rule.shape], described]


def _make_parameter(name: str, annotation: Any, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _list_options(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters that become options: those with a typer annotation."""
    kinds = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(annotation=kinds[name], kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature(function).parameters.items()
        if hasattr(kinds[name], "__metadata__")
    }
