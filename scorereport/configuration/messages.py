"""Messages on problems of a configuration; each names the key."""

from __future__ import annotations

import re
from dataclasses import fields
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from scorereport._utils.rules import show_value
from scorereport._utils.suggestions import suggest_name
from scorereport.configuration.configuration_tables import Tables
from scorereport.configuration.limit_names import SHORTHANDS, explain_related, find_limit_measure
from scorereport.configuration.limit_records import LimitArgument, LimitMeasure, MeasurePart, ModelKind
from scorereport.configuration.limits_table import LimitsTable, OneSidedLimit, TwoSidedLimit
from scorereport.configuration.measure_limits import MEASURES
from scorereport.errors import UsageError
from scorereport.evaluation.arguments import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    Path = tuple[str | int, ...]

#: The fields of `LimitsTable` that hold the limits of measures; in the file these are keys of `[limits]`.
LIMIT_HOMES = ("one_sided", "two_sided", "listed", "written")
#: An example of a value for each key that names what a limit applies to.
ARGUMENT_EXAMPLES = {
    LimitArgument.AT: "at = 0.1",
    LimitArgument.OF_CLASS: 'of_class = "high"',
    LimitArgument.UP_TO: 'up_to = "low"',
}
#: The tables in which a key is searched that stands outside of its table.
_SEARCHED = ("limits", "evaluation", "report", "model", "data", "checkpoints")
#: The rule for each type of error that pydantic reports.
_RULES = {
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "dataclass_type": "must be a table",
}


def raise_problems(name: str, problems: Sequence[str]) -> None:
    """Raise the first problem, with the number of the others; do nothing if there are none.

    The error of the library that found them is left out of the traceback: the sentence replaces it.
    """
    if problems:
        others = len(problems) - 1
        more = f" ({others} more {'problem' if others == 1 else 'problems'}.)" if others else ""
        raise UsageError(f"{name}: {problems[0]}{more}") from None


def find_failure(check: Callable[[Any, str], object], value: Any, name: str) -> Iterator[str]:
    """The message of a check that a value fails; nothing if it passes."""
    try:
        check(value, name)
    except UsageError as error:
        yield str(error)


def describe_errors(errors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each error of pydantic; a misspelt key comes before the key that is missing for it."""
    for error in sorted(errors, key=lambda error: error["type"] == "missing"):
        path = _as_written(error["loc"])
        if error["type"] == "unexpected_keyword_argument":
            yield describe_unknown(path)
        elif error["type"] == "missing":
            yield f"`{join_key(path)}` is missing."
        elif isinstance(path[-1], int):
            noun, item = "texts" if error["type"] == "string_type" else "numbers", show_value(error["input"])
            yield f"`{join_key(path[:-1])}` must be a list of {noun}; got {item} in it."
        else:
            yield _describe_kind(path, error)


def _describe_kind(path: Path, error: Mapping[str, Any]) -> str:
    rule = _rule_of_table(path) if error["type"] in ("dataclass_type", "dict_type") else ""
    rule = rule or _RULES.get(error["type"], f"is refused ({error['msg']})")
    is_plain = isinstance(error["input"], (int, float)) and not isinstance(error["input"], bool)
    way_out = " Put it in quotes." if error["type"] == "string_type" and is_plain else ""
    return f"`{join_key(path)}` {rule}; got {show_value(error['input'])}.{way_out}"


def _rule_of_table(path: Path) -> str:
    """The rule for a key that may have a table or another value; empty for other keys."""
    if path[0] == "people" and len(path) == 2:
        return "must be text or a table of `name`, `role`, `organisation`"
    if path[0] == "limits" and len(path) == 2:
        measure, known = MEASURES[str(path[1])], ", ".join(f"`{key}`" for key in known_keys(path))
        if measure.argument is not None:
            return f"must be a table, or a list of tables, of {known}, such as {show_example(measure)}"
        return f"must be {'' if measure.direction is None else 'a number or '}a table of {known}"
    return ""


def show_example(measure: LimitMeasure) -> str:
    """A limit on a measure that needs a threshold or a class, as it is written in TOML."""
    number = "min" if measure.direction is None else "fail"
    needed = ARGUMENT_EXAMPLES[measure.argument or LimitArgument.AT]
    return f"{{ {needed}, {number} = 0.5 }}"


def describe_unknown(path: Path) -> str:
    """The message on an unknown key, with the most similar known key, or all known keys."""
    known, key = known_keys(path[:-1]), str(path[-1])
    is_limit = path[0] == "limits" and len(path) == 2
    meant = find_limit_measure(key, known) if is_limit else suggest_name(key, known)
    related = explain_related(key) if is_limit else ""
    meant = meant or (_find_in_tables(key) if len(path) == 1 else "")
    way_out = related or (f"did you mean `{meant}`?" if meant else _list_known(path, known))
    return f"`{join_key(path)}` is not known; {way_out}"


def _find_in_tables(key: str) -> str:
    """The key of a table that stands outside of its table; empty if there is none, or several."""
    found = [f"{table}.{key}" for table in _SEARCHED if key in known_keys((table,))]
    return found[0] if len(found) == 1 else ""


def _list_known(path: Path, known: Collection[str]) -> str:
    if path[0] == "limits" and len(path) == 2:
        return _list_measures()
    return f"{'its keys' if len(path) > 1 else 'tables'} are {', '.join(f'`{key}`' for key in known)}."


def _list_measures() -> str:
    """All measures by kind of model: scores with their suffixes, then the others."""
    binary, classes = (
        [m for m in MEASURES.values() if kind in m.kinds and m.part is not MeasurePart.SCALE]
        for kind in (ModelKind.BINARY, ModelKind.ORDINAL)
    )
    scores, of_classes = ([m for m in found if m.part is MeasurePart.MEAN] for found in (binary, classes))
    plain = [m for m in of_classes if m.argument is None]
    suffixed = "`_skill`, `_miscalibration`, `_discrimination` or `_uncertainty`"
    others = [m for m in binary if not m.score]
    return (
        f"limits can be set for {_join_names(scores)}, and for these with the suffix {suffixed} where the "
        f"evaluation has such a number; and for {_join_names(others)}. For several classes, limits can be "
        f"set for {_join_names(plain)}, also with these suffixes, and for single classes. The documentation "
        "lists all measures."
    )


def _join_names(measures: Iterable[LimitMeasure]) -> str:
    return ", ".join(f"`{measure.name}`" for measure in measures)


def suggest(name: str, known: Collection[str]) -> str:
    """The question "did you mean ...?" with the most similar known name; empty if there is none."""
    meant = suggest_name(name, known)
    return f"did you mean `{meant}`?" if meant else ""


def known_keys(path: Path) -> list[str]:
    """The keys of the table at a place in the file."""
    if not path:
        return [field.name for field in fields(Tables)]
    if path == ("evaluation",):
        return [name for name, declared in ARGUMENTS.items() if declared.in_files]
    if path == ("limits",):
        own = [field.name for field in fields(LimitsTable) if field.name not in LIMIT_HOMES]
        return [*own, *MEASURES, *SHORTHANDS]
    if path[0] == "limits":
        measure = MEASURES[str(path[1])]
        sides = fields(OneSidedLimit if measure.direction else TwoSidedLimit)
        return [*([measure.argument.value] if measure.argument else []), *(field.name for field in sides)]
    kind: Any = Tables
    for part in path:
        kind = _plain_kind(get_type_hints(kind)[str(part)])
    return [field.name for field in fields(kind)]


def _plain_kind(kind: Any) -> Any:
    """The type of a key, without None if it is optional."""
    return next((kind for kind in get_args(kind) if kind is not NoneType), kind)


def join_key(path: Path) -> str:
    """A key as it is written in TOML.

    >>> join_key(("limits", "brier", "fail")), join_key(("model", "descriptions", "my model"))
    ('limits.brier.fail', 'model.descriptions."my model"')
    """
    return ".".join(_quote(str(part)) for part in path)


def _quote(part: str) -> str:
    is_bare = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
    return part if is_bare else '"' + ascii(part)[1:-1] + '"' if not part.isprintable() else f'"{part}"'


def name_as_written(problem: str, limits: object) -> str:
    """A sentence on a limit with its key as written in the file, where it may have a short name."""
    if isinstance(limits, dict):
        for short, name in SHORTHANDS.items():
            if short in limits and name not in limits:
                problem = re.sub(rf"`limits\.{name}(?=[.`])", f"`limits.{short}", problem)
    return problem


def _as_written(path: Path) -> Path:
    """The path of a key in the file, from its path in the records."""
    if len(path) > 1 and path[0] == "limits" and path[1] in LIMIT_HOMES:
        is_listed = path[1] == "listed"
        return (path[0], *(part for part in path[2:] if not (is_listed and isinstance(part, int))))
    return path
