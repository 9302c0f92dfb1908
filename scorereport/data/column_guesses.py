"""Guesses of which column of a table has which role, each with the reason, for a first configuration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, format_plain, join_some, join_words
from scorereport.data.roles import check_columns
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.data.column_samples import ColumnSummary, SourceSample

#: Words in the names of columns that tell their role, the most telling first.
_OUTCOME_WORDS = (
    *("outcome", "target", "y", "ytrue", "true", "truth", "observed", "actual", "label", "event", "response"),
    *("default", "defaulted", "class", "died", "death", "churn", "fraud", "readmitted", "bad", "result"),
)
_WEIGHT_WORDS = ("weight", "weights", "wt", "wgt", "w", "freq", "frequency", "exposure")
_FREQUENCY_WORDS = ("freq", "frequency")
_CLUSTER_WORDS = (
    *("cluster", "patient", "subject", "person", "customer", "client", "household", "account", "borrower"),
    *("hospital", "id"),
)
_GRADE_WORDS = ("grade", "rating")
_TIME_WORDS = ("time", "date", "day", "month", "period", "timestamp", "on", "at")
#: Labels of an event, in lower case.
_EVENT_LABELS = ("yes", "true", "event", "positive", "default", "bad", "case", "died", "dead", "y", "1")
#: Most values of a group or grade, and fewest values of a forecast whose name could be that of a flag.
_MOST_GROUPS, _MOST_GRADES, _FEWEST_FORECASTS = 20, 30, 3
#: Most columns of groups that are proposed.
_MOST_GROUP_COLUMNS = 5
_PERCENT = 100
_SUM_TOLERANCE = 1e-6
_FEWEST_CLASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A key of `[evaluation]` with its value, the reason, and other values that it may have."""

    key: str
    value: str | bool | tuple[str, ...]
    reason: str
    others: tuple[str, ...] = ()


def guess_columns(
    sample: SourceSample, *, outcome: str | None = None, forecasts: Sequence[str] = ()
) -> tuple[Guess, ...]:
    """Guess the role of each column of a sample; `outcome` and `forecasts` are those that a person names.

    A forecast may be a column, or a model with a column for each class, named MODEL_CLASS.
    """
    if outcome is not None:
        check_columns([outcome], [column.name for column in sample.columns], sample.name)
    found = _guess_classes(sample, outcome, forecasts) or _guess_event(sample, outcome, forecasts)
    used = _list_named(found)
    rest = [column for column in sample.columns if column.name not in used and column.distinct > 1]
    is_binary = not any(guess.key == "classes" for guess in found)
    guesses = (*found, *_guess_others(rest, is_binary=is_binary))
    return (*guesses, *_guess_reading(sample, _list_named(guesses)))


def _list_named(guesses: Sequence[Guess]) -> set[str]:
    """The columns that guesses use."""
    classes = next((guess.value for guess in guesses if guess.key == "classes"), ())
    named = {value for guess in guesses if guess.key in _COLUMN_KEYS for value in _as_texts(guess.value)}
    models = {value for guess in guesses if guess.key == "forecasts" for value in _as_texts(guess.value)}
    return named | {f"{model}_{label}" for model in models for label in _as_texts(classes)}


def _as_texts(value: str | bool | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()


def _rank(column: ColumnSummary, words: Sequence[str]) -> int:
    """The place of the first word that the name of a column has; their number if it has none.

    >>> from types import SimpleNamespace
    >>> [_rank(SimpleNamespace(name=name), ("outcome", "y")) for name in ("Y", "isOutcome", "day", "y_hat")]
    [1, 0, 2, 1]
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.name)
    parts = {part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced)}
    parts.add(re.sub(r"[^a-z0-9]", "", column.name.lower()))
    return next((place for place, word in enumerate(words) if word in parts), len(words))


def _has_word(column: ColumnSummary, words: Sequence[str]) -> bool:
    return _rank(column, words) < len(words)


# ---- Several classes ----


def _guess_classes(
    sample: SourceSample, outcome: str | None, forecasts: Sequence[str]
) -> tuple[Guess, ...] | None:
    """The outcome, classes and models if columns are named MODEL_CLASS by the labels of another column."""
    candidates = [c for c in sample.columns if outcome in (None, c.name) and len(c.labels) > 1]
    models = {c.name: _find_class_models(sample, c) for c in candidates}
    chosen = max(candidates, key=lambda c: len(models[c.name]), default=None)
    if chosen is None or not models[chosen.name]:
        return None
    found = {
        model: labels for model, labels in models[chosen.name].items() if model in (forecasts or (model,))
    }
    if len(found) < len(forecasts) or not found:
        return None
    classes = next(iter(found.values()))
    if len(classes) < _FEWEST_CLASSES:
        return None
    same = tuple(model for model, labels in found.items() if set(labels) == set(classes))
    reason = f"the columns of {join_words(f'`{model}`' for model in same)} are named after its values"
    guesses = [
        Guess(key="outcome", value=chosen.name, reason=reason),
        Guess(key="classes", value=classes, reason="in the order of the columns; check it"),
        Guess(key="forecasts", value=same, reason="each has a column of probabilities for each class"),
    ]
    if any(_is_off(sample, model, classes) for model in same):
        reason = "the probabilities of some rows do not sum to 1"
        guesses.append(Guess(key="normalize", value=True, reason=reason))
    return tuple(guesses)


def _find_class_models(sample: SourceSample, outcome: ColumnSummary) -> dict[str, tuple[str, ...]]:
    """The models that have a column of probabilities for each label of an outcome, with all their labels."""
    shares = [c.name for c in sample.columns if c.lies_within(0, 1) and c is not outcome]
    ends = [(name, f"_{label}") for name in shares for label in outcome.labels if name.endswith(f"_{label}")]
    models = dict.fromkeys(name.removesuffix(end) for name, end in ends)
    found = {}
    for model in filter(None, models):
        labels = tuple(name.removeprefix(f"{model}_") for name in shares if name.startswith(f"{model}_"))
        if set(outcome.labels) <= set(labels):
            found[model] = labels
    return found


def _is_off(sample: SourceSample, model: str, classes: Sequence[str]) -> bool:
    columns = [sample.numbers[f"{model}_{label}"].tolist() for label in classes]
    return any(abs(sum(row) - 1) > _SUM_TOLERANCE for row in zip(*columns, strict=True))


# ---- An event ----


def _guess_event(sample: SourceSample, outcome: str | None, forecasts: Sequence[str]) -> tuple[Guess, ...]:
    chosen = _guess_outcome(sample, outcome, forecasts)
    event = sample.find(str(chosen.value))
    guesses = [chosen]
    if event is not None and not _is_flag(event):
        guesses.append(_guess_positive(event, sample.name))
    return (*guesses, _guess_forecasts(sample, str(chosen.value), forecasts))


def _is_flag(column: ColumnSummary) -> bool:
    """Whether all values are 0 and 1, or true and false."""
    values = {label.lower() for label in column.labels}
    return bool(values) and (values <= {"0", "1"} or values <= {"true", "false"})


def _guess_outcome(sample: SourceSample, outcome: str | None, forecasts: Sequence[str]) -> Guess:
    if outcome is not None:
        return Guess(key="outcome", value=outcome, reason="as given")
    columns = [c for c in sample.columns if c.name not in forecasts]
    flags = [c for c in columns if _is_flag(c)]
    pairs = [c for c in columns if len(c.labels) == 2 and not c.is_number and _has_word(c, _OUTCOME_WORDS)]
    candidates = sorted(flags or pairs, key=lambda c: _rank(c, _OUTCOME_WORDS))
    if not candidates:
        raise DataError(
            f"{sample.name} has no column of outcomes: none holds only 0 and 1, or true and false, and no "
            "columns of probabilities are named MODEL_CLASS after the labels of another. To fix: name the "
            f"column with --outcome; there are {_name_columns(sample.columns)}."
        )
    first, others = candidates[0], tuple(c.name for c in candidates[1:])
    if others and _rank(first, _OUTCOME_WORDS) == _rank(candidates[1], _OUTCOME_WORDS):
        raise DataError(
            f"{sample.name} has several columns that may be the outcome: "
            f"{_name_columns(candidates)}. To fix: name one with --outcome."
        )
    held = "only 0 and 1" if first.is_number else "two labels"
    reason = f"by its name; it holds {held}" if others else f"the only column that holds {held}"
    return Guess(key="outcome", value=first.name, reason=reason, others=others)


def _name_columns(columns: Sequence[ColumnSummary], most: int = 12) -> str:
    return join_some([f"`{column.name}`" for column in columns], most)


def _guess_positive(event: ColumnSummary, where: str) -> Guess:
    """The label of the event of an outcome with two labels."""
    if len(event.labels) != 2:
        raise DataError(
            f"`{event.name}` of {where} cannot be the outcome: it has "
            f"{format_counted(event.distinct, 'value')}, where an event has two, and no columns of "
            "probabilities are named MODEL_CLASS after them. To fix: name another column with --outcome, or "
            "write a configuration with `classes`."
        )
    known = [label for label in event.labels if label.lower() in _EVENT_LABELS]
    label = known[0] if known else sorted(event.labels)[-1]
    other = next(each for each in event.labels if each != label)
    return Guess(key="positive", value=label, reason="the label of the event; check it", others=(other,))


def _guess_forecasts(sample: SourceSample, outcome: str, forecasts: Sequence[str]) -> Guess:
    if forecasts:
        check_columns(list(forecasts), [c.name for c in sample.columns], sample.name)
        _refuse_other_numbers(sample, forecasts)
        return Guess(key="forecasts", value=tuple(forecasts), reason="as given")
    columns = [c for c in sample.columns if c.name != outcome and not _has_word(c, _WEIGHT_WORDS)]
    shares = [c for c in columns if c.lies_within(0, 1) and c.distinct >= _FEWEST_FORECASTS]
    names = {c.name for c in shares}
    # of the probabilities of both outcomes, such as `p_0` and `p_1`, that of the event is the forecast
    kept = tuple(c.name for c in shares if not (c.name.endswith("0") and f"{c.name[:-1]}1" in names))
    if not kept:
        raise DataError(_explain_absent_forecasts(sample, columns))
    return Guess(key="forecasts", value=kept, reason="all values lie in [0, 1]")


def _refuse_other_numbers(sample: SourceSample, forecasts: Sequence[str]) -> None:
    for column in (c for c in sample.columns if c.name in forecasts and not c.lies_within(0, 1)):
        held = (
            f"{format_plain(column.lower)} to {format_plain(column.upper)}" if column.is_number else "texts"
        )
        raise DataError(
            f"`{column.name}` of {sample.name} must hold probabilities in [0, 1]; it holds {held}."
            f"{_advise_percent([column])}"
        )


def _explain_absent_forecasts(sample: SourceSample, columns: Sequence[ColumnSummary]) -> str:
    percent = [c for c in columns if c.lies_within(0, _PERCENT) and c.upper > 1 and not c.is_whole]
    return (
        f"{sample.name} has no column of forecasts: in none do all values lie in [0, 1]."
        f"{_advise_percent(percent) or ' To fix: name the column of probabilities with --forecast.'}"
    )


def _advise_percent(columns: Sequence[ColumnSummary]) -> str:
    found = next((c for c in columns if c.lies_within(0, _PERCENT) and c.upper > 1), None)
    if found is None:
        return ""
    return f" To fix: if `{found.name}` is in percent, divide it by 100."


# ---- Other columns ----


def _guess_others(columns: Sequence[ColumnSummary], *, is_binary: bool) -> Iterator[Guess]:
    """Weight, time, grade, cluster and groups among the columns that have no role yet; each has one."""
    left = sorted(columns, key=lambda c: not _has_word(c, _TIME_WORDS) if c.is_date else False)
    for key, (fits, reason) in _ROLES.items():
        found = [c for c in left if fits(c) and (is_binary or key != "grade")]
        if found:
            left.remove(found[0])
            others = tuple(c.name for c in found[1:])
            yield Guess(key=key, value=found[0].name, reason=reason, others=others)
            if key == "weight" and found[0].is_whole and _has_word(found[0], _FREQUENCY_WORDS):
                yield Guess(key="weight_kind", value="frequency", reason="by the name of the column")
    groups = [c.name for c in left if _is_group(c)]
    if groups:
        reason = f"columns with 2 to {_MOST_GROUPS} values"
        more = tuple(groups[_MOST_GROUP_COLUMNS:])
        yield Guess(key="groups", value=tuple(groups[:_MOST_GROUP_COLUMNS]), reason=reason, others=more)


def _is_weight(column: ColumnSummary) -> bool:
    return column.is_number and column.lower >= 0 and _has_word(column, _WEIGHT_WORDS)


def _is_grade(column: ColumnSummary) -> bool:
    return _has_word(column, _GRADE_WORDS) and 1 < column.distinct <= _MOST_GRADES


def _is_cluster(column: ColumnSummary) -> bool:
    return not column.is_unique and column.distinct > _MOST_GROUPS and _has_word(column, _CLUSTER_WORDS)


def _is_group(column: ColumnSummary) -> bool:
    is_fraction = column.is_number and not column.is_whole
    return (
        1 < column.distinct <= _MOST_GROUPS
        and not is_fraction
        and not column.is_date
        and not column.is_unique
    )


#: Roles of single columns, in the order in which they are given: what fits, and why.
_ROLES: dict[str, tuple[Callable[[ColumnSummary], bool], str]] = {
    "weight": (_is_weight, "by its name"),
    "time": (lambda column: column.is_date, "it holds dates"),
    "grade": (_is_grade, "by its name"),
    "cluster": (_is_cluster, "by its name; its values repeat"),
}
#: Keys whose values are columns.
_COLUMN_KEYS = ("outcome", "forecasts", "groups", *_ROLES)


def _guess_reading(sample: SourceSample, used: set[str]) -> Iterator[Guess]:
    """How values are read: missing ones, and decimals of a CSV file."""
    lacking = [f"`{column.name}`" for column in sample.columns if column.name in used and column.missing]
    if lacking:
        reason = f"values are missing in {join_words(lacking)}; such rows are counted in the report"
        yield Guess(key="missing", value="drop", reason=reason)
    if sample.decimal != ".":
        yield Guess(key="decimal", value=sample.decimal, reason="numbers have decimal commas")
