"""Rows of a run: those of its period, compared with the forecasts that were sealed for it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport.audit.rows.loaded_rows import find_roles, load_rows
from scorereport.audit.rows.mature_rows import find_maturity
from scorereport.audit.rows.row_hash_collector import HashedColumns
from scorereport.configuration.changed_keys import describe_changed_keys
from scorereport.errors import DataError, UsageError
from scorereport.history.forecast_seals import check_rows, list_sealed, read_sealed_rows, trace_seals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History
    from scorereport.history.trend.seal_records import ForecastSeal


def load_audit_rows(
    plan: Plan, history: History, period: Period, final_by: datetime
) -> LoadedRows | SourceReference:
    """Load the rows of a period; if forecasts of it were sealed, compare all of its rows with them.

    Outcomes must be final by a moment, if they need time.
    """
    found = trace_seals(history.records(plan.name, period=period.label), plan.name, period)
    seals = found.records
    hashed = name_hashed_columns(plan, period, list_sealed(seals)) if seals else None
    try:
        rows = _load(plan, period, final_by, hashed)
    except DataError as error:
        if hashed is None or not any(f"has no column `{name}`" in str(error) for name in hashed.names):
            raise
        raise DataError(
            f"{error} Record {seals[0].id} seals forecasts of {period.label} by {join_words(hashed.names)}."
            f" To fix: restore the column, or annul the seal with `scorereport audit annul {seals[0].id}`."
        ) from error
    if rows.hashes is None:
        return rows
    try:
        check = check_rows(
            found,
            read_sealed_rows(history, seals),
            rows.hashes,
            evaluated=find_roles(plan.configuration.evaluation.columns).forecasts,
            changes=list(_describe_changes(plan, history, seals[0])),
        )
    except BaseException:
        rows.close()
        raise
    return replace(rows, seal_check=check, hashes=None)


def _load(
    plan: Plan, period: Period, final_by: datetime, hashed: HashedColumns | None
) -> LoadedRows | SourceReference:
    return load_rows(
        plan.audit.source,
        plan.audit.window,
        period,
        plan.configuration.evaluation.columns,
        folder=plan.path.parent,
        zone=plan.zone,
        expand=plan.expand,
        work=plan.configuration.work,
        maturity=find_maturity(plan.audit.outcomes.mature_after, final_by),
        hashed=hashed,
    )


def name_hashed_columns(plan: Plan, period: Period, sealed: Sequence[ForecastSeal] = ()) -> HashedColumns:
    """Return the columns by which rows are hashed: those of the first seal, or those of the configuration."""
    if sealed:
        keys, forecasts = sealed[0].keys, sealed[0].forecasts
    else:
        keys = _check_key(plan)
        forecasts = find_roles(plan.configuration.evaluation.columns).forecasts
    return HashedColumns(audit=plan.name, period=period.label, keys=keys, forecasts=forecasts, zone=plan.zone)


def _check_key(plan: Plan) -> tuple[str, ...]:
    """Return the key columns; refuse none, and columns whose values may change or are not known yet."""
    keys, roles = plan.audit.seal.key, find_roles(plan.configuration.evaluation.columns)
    if not keys:
        raise UsageError(
            f"`audit.seal.key` is missing in {plan.path.name}: forecasts are sealed by row, and nothing names"
            ' the columns that identify a row. To fix: add a table [audit.seal] with key = ["..."].'
        )
    if taken := [name for name in keys if name in (roles.outcome, *roles.numbers)]:
        raise UsageError(
            f"`audit.seal.key` must not name a column of outcomes, forecasts or weights; got {taken[0]!r}. "
            "To fix: name the columns that identify a row."
        )
    return keys


def hash_plan_file(plan: Plan) -> str:
    """Return the SHA-256 of the file with the analysis plan; "" if the configuration names none."""
    name = plan.audit.seal.plan
    if not name:
        return ""
    try:
        return hashlib.sha256((plan.path.parent / name).read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(
            f"The analysis plan {name!r}, which `audit.seal.plan` names, cannot be read: {error.strerror}."
        ) from error


def _describe_changes(plan: Plan, history: History, first: Record) -> Iterator[str]:
    """Describe what has changed since the first seal: keys of the configuration, and the analysis plan."""
    if first.configuration_sha256 != plan.configuration.sha256:
        before = history.document(first.configuration_sha256).decode(errors="replace")
        yield from describe_changed_keys(before, plan.configuration.text)
    (sealed,) = list_sealed([first])
    if not sealed.plan_sha256:
        return
    name = plan.audit.seal.plan
    try:
        now = hash_plan_file(plan)
    except UsageError:
        yield f"The analysis plan {name} can no longer be read."
        return
    if now != sealed.plan_sha256:
        what = (
            f"has changed: its SHA-256 began with {sealed.plan_sha256[:12]}, and now begins with {now[:12]}"
        )
        yield f"The analysis plan {sealed.plan} {what if now else 'is no longer named'}."
