"""The values of the outcome that count as events, and the errors that refuse rows of Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from scorereport._utils.mistakes import hint_at_outcome
from scorereport._utils.row_places import name_some
from scorereport.data.column_rules import label_text
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.errors import DataError
from scorereport.evaluation.engines.spark.spark_session import collect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame


#: A column with more distinct values than this is not a column of outcomes.
_MOST_VALUES = 1_000
_BINARY_TEXT = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def refuse_values(
    rule: str,
    examples: Sequence[tuple[object, int]],
    rows: int,
    way_out: str = "",
    odd_rows: int | None = None,
) -> NoReturn:
    """Raise an error for invalid values, each with its number of rows, out of `rows` rows."""
    first = examples[0][0]
    odd = sum(n for _, n in examples) if odd_rows is None else odd_rows
    others = f": {name_some([repr(value) for value, _ in examples])}" if len(examples) > 1 else ""
    raise DataError(f"{rule}; got {first!r} ({odd} of {rows} rows{others}).{way_out}")


def refuse_missing(name: str, odd: int, rows: int) -> NoReturn:
    """Raise an error for rows that lack a value."""
    raise DataError(
        f"`{name}` must not be missing; got no value in {odd} of {rows} rows. "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeKeys:
    """The values of events and of non-events; all others are missing."""

    events: tuple[Any, ...]
    non_events: tuple[Any, ...]

    def value(self, raw: DataFrame) -> Column:
        """The outcome as true, false or null."""
        from pyspark.sql import functions as F  # noqa: N812

        value = raw["y"]
        return F.when(value.isin(*self.events), True).when(value.isin(*self.non_events), False)


def find_outcomes(raw: DataFrame, name: str, positive: object) -> OutcomeKeys:
    """Classify the values of the outcome as events and non-events, or refuse them."""
    from pyspark.sql import functions as F  # noqa: N812

    counted = raw.groupBy("y").agg(F.count("*").alias("rows"))
    found = collect(counted.limit(_MOST_VALUES + 1))
    if len(found) > _MOST_VALUES:
        raise DataError(f"`{name}` must hold two labels; it has more than {_MOST_VALUES:,} different values.")
    rows = sum(row["rows"] for row in found)
    known = sorted((label_text(r["y"]), r["y"], r["rows"]) for r in found if not _is_missing(r["y"]))
    is_event = _classify_labels(known, name, None if positive is None else label_text(positive), rows)
    return OutcomeKeys(
        events=tuple(value for text, value, _ in known if is_event[text]),
        non_events=tuple(value for text, value, _ in known if not is_event[text]),
    )


def _is_missing(value: object) -> bool:
    return value is None or label_text(value) in MISSING_WORDS


def _classify_labels(
    known: list[tuple[str, Any, int]], name: str, positive: str | None, rows: int
) -> dict[str, bool]:
    """Whether each label is the event."""
    labels = {text for text, _, _ in known}
    if positive is None:
        odd = [(text, n) for text, _, n in known if text.lower() not in _BINARY_TEXT]
        if odd:
            rule = f"`{name}` must hold 0 and 1, or True and False"
            refuse_values(rule, odd, rows, hint_at_outcome(labels))
        return {text: _BINARY_TEXT[text.lower()] for text in labels}
    if labels:
        _check_two_labels(known, sorted(labels), name, positive, rows)
    return {text: text == positive for text in labels}


def _check_two_labels(
    known: list[tuple[str, Any, int]], labels: list[str], name: str, positive: str, rows: int
) -> None:
    shown = ", ".join(repr(text) for text in labels[:10])
    if positive not in labels:
        raise DataError(f"`{name}` has no label {positive!r} to count as positive; its labels are {shown}.")
    if len(labels) > 2:
        n = {label: sum(rows for text, _, rows in known if text == label) for label in labels}
        other = max((label for label in labels if label != positive), key=lambda label: n[label])
        odd = [(label, n[label]) for label in labels if label not in {positive, other}]
        refuse_values(f"`{name}` must hold two labels, not {len(labels)} ({shown})", odd, rows)
