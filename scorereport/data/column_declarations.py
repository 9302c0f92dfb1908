"""The columns of a table that an evaluation uses, each declared once; nothing slow is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, cast

from scorereport._utils.choices import MISSING_ROWS, WEIGHT_KINDS
from scorereport._utils.declarations import Declared, check_arguments, read_declarations
from scorereport._utils.rules import Flag, OneOf, Shape, is_number, list_items, show_value
from scorereport.errors import UsageError

#: A column for each model or, with K classes, the columns of each model.
Forecasts = Sequence[str] | Mapping[str, Sequence[str]]


def _is_name(value: object) -> bool:
    """Whether this can name a column: a text that is not empty, or a number."""
    return bool(value) if isinstance(value, str) else is_number(value)


def _is_label(value: object) -> bool:
    return isinstance(value, (str, bool)) or is_number(value)


@dataclass(frozen=True, slots=True)
class Column:
    """The name of a column; a number becomes text."""

    shape: Shape = Shape.ONE
    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> str:
        """Return the name as text."""
        if not _is_name(value):
            raise UsageError(f"`{name}` must be the name of a column; got {show_value(value)}.")
        return str(value)

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Text, or a number."""
        return {"type": ["string", "number"], "minLength": 1}


@dataclass(frozen=True, slots=True)
class ColumnList:
    """The names of one or several columns."""

    shape: Shape = Shape.REPEATED
    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> tuple[str, ...]:
        """Return the names as text."""
        names = [value] if _is_name(value) else list_items(value)
        if names is None or not all(map(_is_name, names)):
            raise UsageError(f"`{name}` must be the names of columns; got {show_value(value)}.")
        return tuple(map(str, names))

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """A text, or a list of texts."""
        column = Column().schema()
        return {"anyOf": [column, {"type": "array", "items": column}]}


@dataclass(frozen=True, slots=True)
class Models:
    """A list of models, or a mapping from each model to its columns."""

    shape: Shape = Shape.REPEATED
    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> Forecasts:
        """Return a list of texts, or a dictionary of lists of texts."""
        if isinstance(value, Mapping):
            return self._check_mapping(value, name)
        models = list_items(value)
        if models is None or not all(map(_is_name, models)):
            raise UsageError(
                f"`{name}` must be a list of models, or a table of the columns of each model; "
                f"got {show_value(value)}."
            )
        self._check_each_once([str(model) for model in models], name)
        return [str(model) for model in models]

    def _check_mapping(self, value: Mapping[Any, Any], name: str) -> dict[str, list[str]]:
        self._check_each_once([str(model) for model in value], name)
        named = {}
        for model, columns in value.items():
            items = list_items(columns)
            if not items or not all(map(_is_name, items)):
                raise UsageError(
                    f"`{name}` must name a column for each class; got {show_value(columns)} for {model}."
                )
            named[str(model)] = [str(column) for column in items]
        return named

    def _check_each_once(self, models: list[str], name: str) -> None:
        if not models:
            raise UsageError(f"`{name}` must be a list of at least one column; got an empty one.")
        for model in models:
            if models.count(model) > 1:
                raise UsageError(f"`{name}` must differ; got {model!r} {models.count(model)} times.")

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """A list of texts, or an object of lists of texts."""
        columns = {"type": "array", "items": Column().schema(), "minItems": 1}
        by_model = {"type": "object", "additionalProperties": {**columns, "minItems": 2}}
        return {"anyOf": [columns, by_model]}


@dataclass(frozen=True, slots=True)
class Label:
    """A label of an outcome: text, a number, or true or false."""

    shape: Shape = Shape.ONE
    metavar: str = "LABEL"

    def check(self, value: Any, name: str) -> str:
        """Return the label as text."""
        from scorereport.data.columns import label_text

        if not (_is_label(value) or type(value).__name__ == "bool_") or label_text(value) == "":
            raise UsageError(f"`{name}` must be a label, a text or a number; got {show_value(value)}.")
        return label_text(value)

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Text, a number, or true or false."""
        return {"type": ["string", "number", "boolean"], "minLength": 1}


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of two or more classes."""

    shape: Shape = Shape.LIST
    metavar: str = "LABEL,LABEL,..."

    def check(self, value: Any, name: str) -> tuple[str, ...]:
        """Return the labels as text."""
        from scorereport.data.predictions import check_class_names

        return check_class_names(value, name)

    def read(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """A list of labels."""
        return {"type": "array", "items": Label().schema(), "minItems": 2}


class MainColumns(TypedDict, total=False):
    """The columns that most evaluations name."""

    outcome: Annotated[
        str,
        Declared(
            help="The column of outcomes: 0/1, True/False, or two labels of which `positive` names one; with "
            "`classes`, their labels.",
            rule=Column(),
        ),
    ]
    forecasts: Annotated[
        Forecasts,
        Declared(
            help="A column of probabilities for each model; with `classes`, the models, whose columns are "
            "named MODEL_CLASS, or a table of the columns of each model.",
            rule=Models(),
            option="forecast",
            option_help="Repeat it for more models; MODEL=COLUMN,COLUMN,... names the columns of a model in "
            "the order of the classes.",
        ),
    ]
    classes: Annotated[
        Sequence[object] | None,
        Declared(
            help="The labels of the classes in their order, for models of several classes; a class that is "
            "never observed is kept.",
            rule=Labels(),
        ),
    ]
    ordered: Annotated[
        bool,
        Declared(
            help="Whether the order of the classes has a meaning, from the first to the last.",
            rule=Flag(),
            default=False,
            opposite="unordered",
        ),
    ]
    weight: Annotated[str | None, Declared(help="The column of weights.", rule=Column())]
    groups: Annotated[
        str | Sequence[str] | None,
        Declared(
            help="The columns of groups, each of which is evaluated as well.",
            rule=ColumnList(),
            option="group",
            option_help="Repeat it for more columns.",
        ),
    ]
    cluster: Annotated[
        str | None,
        Declared(
            help="The column of [clusters](glossary.md#cluster); rows of one cluster are dependent.",
            rule=Column(),
        ),
    ]
    time: Annotated[str | None, Declared(help="The column of dates.", rule=Column())]


class OtherColumns(TypedDict, total=False):
    """The other columns, and how they are read."""

    normalize: Annotated[
        bool,
        Declared(
            help="Whether the class probabilities of each row are divided by their sum, which is recorded; "
            "otherwise a row that does not sum to 1 within 0.000001 is refused.",
            rule=Flag(),
            default=False,
            opposite="no_normalize",
        ),
    ]
    weight_kind: Annotated[
        str,
        Declared(
            help='What weights are: "sampling" for rows that were drawn once and represent others, or '
            '"frequency" for how often each row was observed, in whole numbers.',
            rule=OneOf(WEIGHT_KINDS),
            default="sampling",
        ),
    ]
    grade: Annotated[str | None, Declared(help="The column of rating grades.", rule=Column())]
    positive: Annotated[object, Declared(help="The label that counts as the event.", rule=Label())]
    missing: Annotated[
        str,
        Declared(
            help='What happens to rows with missing values: "refuse" them, or "drop" and count them.',
            rule=OneOf(MISSING_ROWS),
            default="refuse",
        ),
    ]
    table: Annotated[
        str | None,
        # an audit names the table with its source, and a report with its file
        Declared(
            help="The table or view, if the data are in a database.",
            rule=Column(metavar="TABLE"),
            in_files=False,
        ),
    ]
    group: Annotated[
        str | Sequence[str] | None,
        Declared(help="Deprecated: `groups`.", rule=ColumnList(), alias_of="groups", in_files=False),
    ]


class Columns(MainColumns, OtherColumns, total=False):
    """All columns, and how they are read."""


#: All columns by name.
COLUMNS = read_declarations(MainColumns, OtherColumns)
#: Columns, and ways to read them, of models of several classes only, and of binary models only.
_OF_CLASSES = ("ordered", "normalize")
_OF_EVENTS = ("positive", "grade")


def check_column_arguments(given: Mapping[str, object], what: str) -> Columns:
    """Check the columns that a caller names, alone and together; those that are None are left out."""
    columns = cast("Columns", check_arguments(given, COLUMNS, what=what))
    for name in ("outcome", "forecasts"):
        if name not in columns:
            raise UsageError(f"`{name}` is missing: name {COLUMNS[name].short_help}.")
    for sentence in find_column_conflicts(columns, count_classes(columns)):
        raise UsageError(sentence)
    return columns


def count_classes(columns: Columns) -> int | None:
    """The number of classes of the models; None for binary models."""
    classes = columns.get("classes")
    return None if classes is None else len(classes)


def find_column_conflicts(
    columns: Columns,
    n_classes: int | None,
    name_of: Callable[[str], str] = str,
    *,
    are_complete: bool = True,
) -> Iterator[str]:
    """A sentence for each column that does not fit the others, or the number of classes (None for binary)."""
    kind, others = ("classes", _OF_EVENTS) if n_classes is not None else ("binary", _OF_CLASSES)
    for name in others:
        if name in columns and columns.get(name) is not False:
            yield describe_other_kind(name, kind, name_of)
    yield from _find_wrong_models(columns.get("forecasts", ()), n_classes, name_of)
    if are_complete and columns.get("weight_kind") == "frequency" and "weight" not in columns:
        yield (
            f"`{name_of('weight_kind')}` is given, but there is no column of weights; name one with "
            f"`{name_of('weight')}`."
        )


def describe_other_kind(name: str, kind: str, name_of: Callable[[str], str]) -> str:
    """The sentence on an argument for the other kind of models, where models are "binary" or of "classes"."""
    if kind == "classes":
        instead = f", or use `{name_of('cost_matrix')}`" if name == "cost_interval" else ""
        return f"`{name_of(name)}` is for binary models, not for several classes: leave it out{instead}."
    return (
        f"`{name_of(name)}` is for models of several classes: name these in `{name_of('classes')}`, or leave "
        "it out."
    )


def _find_wrong_models(
    forecasts: Forecasts, n_classes: int | None, name_of: Callable[[str], str]
) -> Iterator[str]:
    if not isinstance(forecasts, Mapping):
        return
    if n_classes is None:
        yield (
            f"`{name_of('forecasts')}` names the columns of classes: name these in "
            f"`{name_of('classes')}`, or "
            'list one column for each model, such as ["logit", "boost"].'
        )
        return
    for model, columns in forecasts.items():
        if len(columns) != n_classes:
            yield (
                f"`{name_of('forecasts')}` must name a column for each of the {n_classes} classes; "
                f"got {len(columns)} for {model}."
            )
