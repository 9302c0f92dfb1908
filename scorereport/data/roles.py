"""The columns of a table that an evaluation uses, each declared once, their roles, and checks of them.

Nothing slow is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, TypedDict, cast

from scorereport._utils.choices import MISSING_ROWS, WEIGHT_KINDS
from scorereport._utils.declarations import Declared, check_arguments, read_declarations
from scorereport._utils.rules import Flag, OneOf
from scorereport._utils.suggestions import suggest_name
from scorereport.data.column_rules import (
    ClassLabels,
    Column,
    ColumnList,
    Encoding,
    Forecasts,
    Label,
    Models,
    Separator,
)
from scorereport.errors import DataError, UsageError

#: Columns that a message lists.
_COLUMNS_SHOWN = 12


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
            rule=ClassLabels(),
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
    separator: Annotated[
        str | None,
        Declared(
            help='The character between the columns of a CSV file, such as ";" or "tab".',
            rule=Separator(),
            unless_given="the most frequent of comma, semicolon and tab in the header",
        ),
    ]
    decimal: Annotated[
        str,
        Declared(
            help='The decimal sign of the numbers of a CSV file: "." or ",".',
            rule=OneOf((".", ",")),
            default=".",
        ),
    ]
    encoding: Annotated[
        str,
        Declared(
            help='The encoding of a CSV file, such as "latin-1", "cp1252" or "utf-16".',
            rule=Encoding(),
            default="utf-8",
        ),
    ]
    table: Annotated[
        str | None,
        # an audit names the table with its source, and a report with its file
        Declared(
            help="The table or view, if the data are in a database; the sheet, if a workbook has several.",
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


class Roles(NamedTuple):
    """The column of each role; `forecasts` are the columns of all models."""

    outcome: str
    forecasts: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    cluster: str | None
    grade: str | None
    time: str | None
    weight_kind: str = "sampling"

    @classmethod
    def of(cls, columns: Columns, columns_of: Mapping[str, Sequence[str]] | None = None) -> Roles:
        """Make roles from checked columns; `columns_of` has those of each model, by default its name."""
        models = columns_of or {model: (model,) for model in columns["forecasts"]}
        return cls(
            outcome=columns["outcome"],
            forecasts=tuple(column for of_model in models.values() for column in of_model),
            weight=columns.get("weight"),
            groups=tuple(columns.get("groups") or ()),
            cluster=columns.get("cluster"),
            grade=columns.get("grade"),
            time=columns.get("time"),
            weight_kind=columns.get("weight_kind", "sampling"),
        )

    @property
    def numbers(self) -> list[str]:
        """Columns that must hold numbers."""
        return [*self.forecasts, *([self.weight] if self.weight is not None else [])]

    @property
    def labels(self) -> list[str]:
        """Columns whose text must be kept as it is."""
        return [self.outcome, *self.texts, *([self.time] if self.time is not None else [])]

    @property
    def texts(self) -> list[str]:
        """Columns of labels: groups, clusters and grades."""
        return [*self.groups, *(name for name in (self.cluster, self.grade) if name is not None)]


def columns_of_models(forecasts: Forecasts, classes: tuple[str, ...] | None) -> dict[str, tuple[str, ...]]:
    """Return the columns of each model: one for an event, or one for each class."""
    if classes is None:
        return {str(name): (str(name),) for name in forecasts}
    if not isinstance(forecasts, Mapping):
        return {str(model): tuple(f"{model}_{label}" for label in classes) for model in forecasts}
    named = {}
    for model, columns in forecasts.items():
        if isinstance(columns, str) or len(columns) != len(classes):
            got = repr(columns) if isinstance(columns, str) else len(columns)
            raise UsageError(
                f"`forecasts` must name a column for each of the {len(classes)} classes; "
                f"got {got} for {model}."
            )
        named[str(model)] = tuple(map(str, columns))
    return named


def check_columns(columns: Sequence[str], present: Sequence[str], where: str) -> None:
    """Check that a table has each column once, and that each is named once."""
    named, there = Counter(columns), Counter(present)
    for name in columns:
        if named[name] > 1:
            raise UsageError(f"`{name}` is named {named[name]} times; a column has one role.")
        if there[name] == 0:
            raise DataError(
                f"{where} has no column `{name}`; it has {_name_some(present)}.{_hint(name, present)}"
            )
        if there[name] > 1:
            raise DataError(f"{where} has {there[name]} columns named `{name}`; names must differ.")


def _name_some(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{column}`" for column in columns[:_COLUMNS_SHOWN])
    more = len(columns) - _COLUMNS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _hint(name: str, columns: Sequence[str]) -> str:
    labels = [
        str(column).removeprefix(f"{name}_") for column in columns if str(column).startswith(f"{name}_")
    ]
    if len(labels) > 1:
        shown = ", ".join(f'"{label}"' for label in labels)
        return (
            f" Columns `{name}_{labels[0]}`, `{name}_{labels[1]}`{', ...' if len(labels) > 2 else ''} look "
            f"like those of a model of {len(labels)} classes: pass classes=[{shown}] (--classes "
            f"{','.join(labels)}), in their order."
        )
    meant = suggest_name(name, [str(column) for column in columns])
    return f" Did you mean `{meant}`?" if meant else ""
