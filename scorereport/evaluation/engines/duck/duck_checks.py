"""Checks of all columns in SQL, by the rules of `read_predictions`."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NoReturn

from scorereport._utils.checks import WEIGHT_RANGE, extreme_weight_rule, fraction_rule, refuse_places
from scorereport._utils.mistakes import NumberRange, hint_at_outcome, hint_at_scale
from scorereport._utils.row_places import ROWS_TO_FIND
from scorereport.data.column_rules import label_text
from scorereport.data.columns import BINARY_TEXT, DATE_RULE, find_third_labels
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.data.predictions import DroppedRows, MissingValues, RowFlow
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.column_conversion import InvalidValues, columns_in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorereport.data.roles import Roles
    from scorereport.evaluation.engines.duck.duck_tables import ScannableRows
    from scorereport.evaluation.engines.duck.workspace import Workspace


#: With more distinct outcomes than this, only the first are read: enough for a message.
_MOST_LABELS = 10_000


def refuse_invalid_rows(rows: ScannableRows, bad: InvalidValues, rule: str, way_out: str = "") -> NoReturn:
    """Raise an error that names a rule and the first rows that break it."""
    refuse_places(bad.first, bad.rows, bad.count, rows.count, rule, way_out)


def find_invalid_rows(workspace: Workspace, rows: ScannableRows, condition: str, value: str) -> InvalidValues:
    """The first rows that fulfil a condition, how many do, and the value of the first."""
    count = workspace.row(f"SELECT count(*) AS n FROM {rows.relation} WHERE {condition}")["n"]
    found = workspace.table(
        f"SELECT {rows.number} AS number, {value} AS value FROM {rows.relation} WHERE {condition} "
        f"ORDER BY number LIMIT {ROWS_TO_FIND}"
    )
    first = found.column("value").slice(0, 1).to_pandas().iloc[0]
    return InvalidValues(first=first, rows=found.column("number").to_pylist(), count=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """SQL for the outcome, SQL conditions for complete rows (none if all are complete), and the row flow."""

    outcome: str
    conditions: tuple[str, ...]
    row_flow: RowFlow


def check_rows(
    workspace: Workspace, rows: ScannableRows, roles: Roles, *, positive: object, drop: bool
) -> KeptRows:
    """Refuse what `read_predictions` refuses, in the same order, and return which rows are kept."""
    values = _distinct_outcomes(workspace, rows, roles.outcome)
    outcome = _check_outcome(workspace, rows, roles.outcome, values, positive)
    is_missing = {
        roles.outcome: _is_missing_outcome(rows, roles.outcome, values),
        **{name: sql.is_missing_number(rows, name) for name in roles.numbers},
        **{name: sql.is_missing_label(rows, name) for name in roles.texts},
        **({} if roles.time is None else {roles.time: f"{rows.columns[roles.time]} IS NULL"}),
    }
    found = _scan(workspace, rows, roles, is_missing)
    for place, name in enumerate(roles.numbers):
        _check_number(workspace, rows, name, found, place, is_weight=name == roles.weight)
    if roles.weight is not None:
        _check_weight(workspace, rows, roles)
    if roles.time is not None and roles.time in rows.bad:
        bad = rows.bad[roles.time]
        refuse_invalid_rows(rows, bad, f"`{roles.time}` {DATE_RULE}", bad.hint)
    missing = {name: int(found[f"missing{at}"]) for at, name in enumerate(columns_in_order(roles))}
    conditions = tuple(f"NOT ({is_missing[name]})" for name, count in missing.items() if count)
    flow = _flow(workspace, rows, is_missing, missing, drop=drop)
    return KeptRows(outcome=outcome, conditions=conditions, row_flow=flow)


def _distinct_outcomes(workspace: Workspace, rows: ScannableRows, name: str) -> list[tuple[Any, int]]:
    """The values of the outcome with their numbers of rows, in the order of their first rows."""
    found = workspace.table(
        f"SELECT {rows.columns[name]} AS raw, count(*) AS n FROM {rows.relation} GROUP BY raw LIMIT 4"
    )
    if len(found) > 2:  # the order matters only for the message of a refusal
        found = workspace.table(
            f"SELECT {rows.columns[name]} AS raw, count(*) AS n, min({rows.number}) AS first "
            f"FROM {rows.relation} GROUP BY raw ORDER BY first LIMIT {_MOST_LABELS}"
        )
    raw = found.column("raw").to_pandas()
    return [
        (value, n)
        for value, n, is_there in zip(raw, found.column("n").to_pylist(), raw.notna(), strict=True)
        if is_there
    ]


def _is_missing_outcome(rows: ScannableRows, name: str, values: list[tuple[Any, int]]) -> str:
    missing = [value for value, _ in values if label_text(value) in MISSING_WORDS]
    return f"({sql.is_missing_number(rows, name)} OR {sql.is_one_of(rows, name, missing)})"


def _check_outcome(
    workspace: Workspace, rows: ScannableRows, name: str, values: list[tuple[Any, int]], positive: object
) -> str:
    """SQL for the outcome: 1 for events, else 0. Refuses labels beyond the two that are expected."""
    texts = [(value, label_text(value)) for value, _ in values]
    there = [(value, text) for value, text in texts if text not in MISSING_WORDS]
    if positive is None:
        is_event = {text: BINARY_TEXT.get(text.lower()) for _, text in there}
        rule = f"`{name}` must hold 0 and 1, or True and False"
        way_out = hint_at_outcome(is_event.keys())
    else:
        counts: dict[str, int] = {}
        for (_, text), (_, n) in zip(texts, values, strict=True):
            if text not in MISSING_WORDS:
                counts[text] = counts.get(text, 0) + n
        third, rule = find_third_labels(counts, name, label_text(positive))
        is_event = {text: None if text in third else float(text == label_text(positive)) for text in counts}
        way_out = ""
    if None in is_event.values():
        fine = [value for value, text in texts if is_event.get(text, 0) is not None]
        _refuse_outcomes(workspace, rows, name, fine, rule, way_out)
    events = [value for value, text in there if is_event[text] == 1]
    if rows.types[name] == "BOOLEAN" and events == [True]:
        return f"CAST({rows.columns[name]} AS UTINYINT)"
    return f"CAST({sql.is_one_of(rows, name, events)} AS UTINYINT)"


def _refuse_outcomes(
    workspace: Workspace, rows: ScannableRows, name: str, fine: list[Any], rule: str, way_out: str
) -> None:
    missing = sql.is_missing_number(rows, name)
    condition = f"NOT ({missing}) AND NOT ({sql.is_one_of(rows, name, fine)})"
    bad = find_invalid_rows(workspace, rows, condition, rows.columns[name])
    bad.first = rows.shown.get(str(bad.first), bad.first)
    refuse_invalid_rows(rows, bad, rule, way_out)


def _scan(
    workspace: Workspace, rows: ScannableRows, roles: Roles, is_missing: Mapping[str, str]
) -> dict[str, Any]:
    """The smallest and largest number, and the number of missing values, of each column."""
    sums = [
        f"count(*) FILTER ({condition}) AS missing{at}" for at, condition in enumerate(is_missing.values())
    ]
    for place, name in enumerate(roles.numbers):
        value = sql.number(rows, name)
        sums += [f"min({value}) AS min{place}", f"max({value}) AS max{place}"]
    return workspace.row(f"SELECT {', '.join(sums)} FROM {rows.relation}")


def _check_number(
    workspace: Workspace,
    rows: ScannableRows,
    name: str,
    found: Mapping[str, Any],
    place: int,
    *,
    is_weight: bool,
) -> None:
    """Refuse numbers that are not finite or out of bounds; the extremes show whether any are.

    DuckDB orders NaN above all numbers.
    """
    if name in rows.bad:
        bad = rows.bad[name]
        refuse_invalid_rows(rows, bad, f"`{name}` must be numeric", bad.hint)
    lowest, highest = found[f"min{place}"], found[f"max{place}"]
    if lowest is None or (lowest >= 0 and highest <= 1) or (is_weight and lowest >= 0 and isfinite(highest)):
        return
    value = sql.number(rows, name)
    if isnan(highest) or not isfinite(highest) or not isfinite(lowest):
        _refuse_any(workspace, rows, f"isinf({value})", value, f"`{name}` must be finite")
    is_outside = f"{value} < 0" if is_weight else f"({value} < 0 OR {value} > 1) AND NOT isnan({value})"
    rule = "must not be negative" if is_weight else "must lie in [0, 1]"
    hint = "" if is_weight else hint_at_scale(_find_range(workspace, rows, value, is_outside))
    _refuse_any(workspace, rows, is_outside, value, f"`{name}` {rule}", hint)


def _find_range(workspace: Workspace, rows: ScannableRows, value: str, is_outside: str) -> NumberRange:
    """The range of a column of which some numbers are outside [0, 1], for a hint."""
    found = workspace.row(
        f"SELECT min({value}) AS lowest, max({value}) AS highest, count(*) AS n, "
        f"count(*) FILTER ({is_outside}) AS n_outside, "
        f"min({value}) FILTER ({is_outside}) AS first, max({value}) FILTER ({is_outside}) AS last "
        f"FROM {rows.relation} WHERE {value} IS NOT NULL AND NOT isnan({value})"
    )
    return NumberRange(
        lowest=found["lowest"],
        highest=found["highest"],
        share_outside=found["n_outside"] / found["n"],
        only_outside=found["first"] if found["first"] == found["last"] else None,
    )


def _check_weight(workspace: Workspace, rows: ScannableRows, roles: Roles) -> None:
    """Refuse weights whose squares cannot be summed, and fractions if weights are frequencies."""
    name, value = str(roles.weight), sql.number(rows, str(roles.weight))
    smallest, largest = WEIGHT_RANGE
    is_extreme = f"({value} > {largest} OR ({value} > 0 AND {value} < {smallest})) AND NOT isnan({value})"
    _refuse_any(workspace, rows, is_extreme, value, *extreme_weight_rule(name))
    if roles.weight_kind == "frequency":
        is_fraction = f"{value} <> floor({value}) AND NOT isnan({value})"
        _refuse_any(workspace, rows, is_fraction, value, *fraction_rule(name))


def _refuse_any(
    workspace: Workspace, rows: ScannableRows, condition: str, value: str, rule: str, way_out: str = ""
) -> None:
    if workspace.row(f"SELECT count(*) AS n FROM {rows.relation} WHERE {condition}")["n"]:
        refuse_invalid_rows(rows, find_invalid_rows(workspace, rows, condition, value), rule, way_out)


def _flow(
    workspace: Workspace,
    rows: ScannableRows,
    is_missing: Mapping[str, str],
    missing: Mapping[str, int],
    *,
    drop: bool,
) -> RowFlow:
    """The numbers of rows read, kept and dropped; a row is dropped for the first column it lacks."""
    lacking = [name for name, count in missing.items() if count]
    if not lacking:
        return RowFlow(read=rows.count, kept=rows.count)
    if not drop:
        bad = find_invalid_rows(workspace, rows, is_missing[lacking[0]], "'nan'::DOUBLE")
        way_out = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
        refuse_invalid_rows(rows, bad, f"`{lacking[0]}` must not be missing", way_out)
    choices = " ".join(f"WHEN {is_missing[name]} THEN {at}" for at, name in enumerate(lacking))
    found = workspace.table(
        f"SELECT CASE {choices} END AS place, count(*) AS n FROM {rows.relation} GROUP BY place"
    ).to_pylist()
    counts = {row["place"]: row["n"] for row in found}
    if None not in counts:
        raise DataError(
            f"No row is complete: all {rows.count} rows lack a value in one of {', '.join(missing)}."
        )
    return RowFlow(
        read=rows.count,
        kept=counts[None],
        dropped=tuple(
            DroppedRows(reason=f"missing `{name}`", rows=counts[at])
            for at, name in enumerate(lacking)
            if at in counts
        ),
        missing=tuple(MissingValues(column=name, rows=count) for name, count in missing.items()),
    )
