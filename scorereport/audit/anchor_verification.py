"""Verification of the anchors of an audit: what they confirm, what they contradict, and what is missing."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scorereport._utils.formatting import conjugate, format_counted
from scorereport.audit.anchors import list_anchors, open_plan_check
from scorereport.audit.record_rules import CLOCK_SKEW
from scorereport.audit.signed_history import list_trusted
from scorereport.errors import ScoreReportError, UsageError
from scorereport.history.anchor_check import ANCHOR_ENDINGS, AnchorCheck, AnchoredHistory
from scorereport.history.signature_check import find_replaced
from scorereport.history.time_stamps import STAMP_ENDING, StampError
from scorereport.history.verification_findings import Verification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record
    from scorereport.history.time_stamps import StampCheck


def verify_anchors(
    plan: Plan,
    records: Sequence[Record],
    find_hash: Callable[[int], str | None],
    kept: Sequence[Path] = (),
) -> Verification | None:
    """Check the anchors of the folder, and those `kept` elsewhere, against the intact records of a history.

    Return None if there are no anchors, and none are configured.
    """
    found, unread = _list_readable(plan)
    files = [*found, *map(_check_kept, kept)]
    if plan.anchors is None and not files:
        return None
    trusted = list_trusted(plan)
    stamps, unchecked = _open_stamps(plan, files)
    check = AnchorCheck(
        AnchoredHistory(
            records=records,
            find_hash=lambda number: _find_hash(find_hash, number),
            trusted=trusted,
            replaced=find_replaced(records, trusted),
            stamps=stamps,
            skew=CLOCK_SKEW,
            now=datetime.now(UTC),
        )
    )
    check.check(files)
    lag = list(_describe_lag(plan, records, check))
    is_running = bool(lag) and _is_running(plan)
    return Verification(
        records=len(check.attested),
        files=len(files),
        head="",
        findings=tuple(check.findings),
        warnings=(*unread, *unchecked, *([] if is_running else lag)),
        notes=(*check.notes, *_describe_anchors(plan, check), *(lag if is_running else [])),
    )


def _list_readable(plan: Plan) -> tuple[list[Path], list[str]]:
    """List the anchors of the folder, or say why they cannot be listed."""
    try:
        return list_anchors(plan), []
    except UsageError as error:
        return [], [str(error)]


def has_anchors(plan: Plan) -> bool:
    """Whether the folder of anchors has any."""
    return bool(_list_readable(plan)[0])


def _check_kept(path: Path) -> Path:
    if not path.name.endswith(ANCHOR_ENDINGS):
        raise UsageError(f"An anchor must be a file that ends in {' or '.join(ANCHOR_ENDINGS)}; got {path}.")
    if not path.is_file():
        raise UsageError(f"The anchor {path} does not exist, or is not a file.")
    return path


def _find_hash(find_hash: Callable[[int], str | None], number: int) -> str | None:
    with suppress(ScoreReportError):  # a damaged database, which other findings report
        return find_hash(number)
    return None


def _open_stamps(plan: Plan, files: Sequence[Path]) -> tuple[StampCheck | None, list[str]]:
    """Return the check of stamps if there are any; a sentence says why it cannot be made."""
    count = sum(path.name.endswith(STAMP_ENDING) for path in files)
    if not count:
        return None, []
    try:
        return open_plan_check(plan), []
    except StampError as error:
        were = "was" if count == 1 else "were"
        return None, [f"{format_counted(count, 'time stamp')} {were} not checked: {error}."]


def _describe_lag(plan: Plan, records: Sequence[Record], check: AnchorCheck) -> Iterator[str]:
    """Describe records of this audit after the last one that is attested, or stamped."""
    if plan.anchors is None:
        return
    own = [record.id for record in records if _is_own(plan, record)]
    if not own:
        return
    states = [("attested", max(check.attested, default=0), plan.audit.anchors.folder)]
    if check.history.stamps is not None or not check.unchecked:
        states.append(("time-stamped", max(check.stamped, default=0), plan.audit.anchors.time_stamp))
    for what, last, is_configured in states:
        if is_configured and last < own[-1]:
            until = f"the last one that is {what} is record {last}" if last else f"no record is {what}"
            yield (
                f"Record {own[-1]} is not {what}; {until}. A run was killed before that or could not do it, "
                "or anchors were removed. The next run anchors the history."
            )


def _is_own(plan: Plan, record: Record) -> bool:
    is_here = record.home in ("", plan.marker)
    return is_here and record.audit == plan.name and record.signature is not None


def _is_running(plan: Plan) -> bool:
    """Whether a run of this audit is in progress."""
    from filelock import FileLock, Timeout

    path = plan.locks / f"{plan.name}.lock"
    if not path.exists():
        return False
    try:
        with FileLock(path, mode=0o600, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def _describe_anchors(plan: Plan, check: AnchorCheck) -> Iterator[str]:
    """Say what the anchors confirm, and that a folder inside that of the audit confirms little."""
    if check.attested:
        last = max(check.attested)
        stamp = check.stamped.get(last)
        stamped = f", time-stamped {stamp.describe()}" if stamp is not None else ""
        confirmed = format_counted(len(check.attested), "attestation")
        stamps = f" and {format_counted(len(check.stamped), 'time stamp')}" if check.stamped else ""
        agree = conjugate(len(check.attested) + len(check.stamped), "agree")
        yield f"{confirmed}{stamps} {agree} with the records; the last is of record {last}{stamped}."
    if plan.anchors is not None and plan.anchors.is_relative_to(plan.base.resolve()):
        yield (
            f"The folder of anchors {plan.anchors} is inside the folder of the audit: a copy of this folder "
            "that is restored restores old anchors as well. To fix: choose a folder elsewhere."
        )
