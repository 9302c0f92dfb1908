"""Keys of a history: a new key is recorded with a reason, a key of others is trusted, all are listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.audit.after_run import notify_by_plan
from scorereport.audit.begun_record import check_reason
from scorereport.audit.event_recording import begin_event, open_for_event
from scorereport.audit.plan import Plan, read_plan
from scorereport.audit.run import DEFAULT_WAIT_SECONDS
from scorereport.audit.signed_history import list_trusted, open_signing_key
from scorereport.configuration.periods import find_period
from scorereport.errors import UsageError
from scorereport.history.audit_record import KeyChange, Record
from scorereport.history.signature_check import KeyUse, find_key_uses, list_key_changes
from scorereport.history.store import open_history
from scorereport.history.trusted_keys import add_trusted_key, read_trusted_keys

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from scorereport.history.store import History

#: The fewest characters by which a fingerprint can be named.
_SHORTEST = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyResult:
    """The record of a new key, and sentences about problems."""

    record: Record
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKey:
    """A key of a history: the records that it signed, whether it is trusted, and by which it was replaced.

    `is_own` marks the key that would sign the next record here. `records` is 0 if it signed none.
    """

    fingerprint: str
    records: int
    first: int
    last: int
    is_trusted: bool
    is_own: bool
    replaced_by: str = ""
    note: str = ""


def add_key(
    path: str | Path,
    *,
    reason: str,
    replaces: str = "",
    wait: float = DEFAULT_WAIT_SECONDS,
    command: str = "",
) -> KeyResult:
    """Record that the key of this machine or person signs from now on, and trust it here.

    Parameters
    ----------
    path : the configuration of the audit, a TOML file; the key is made if there is none
    reason : why a key is added, such as a second machine or a lost key
    replaces : the fingerprint of a lost or stolen key; records that it signs later are findings
    wait : seconds to wait for a run of the same audit
    command : the command line, for the record
    """
    plan = read_plan(path)
    text = check_reason(plan.redactor.redact(reason), "the key is added")
    started = read_clock()
    with open_for_event(plan, wait=wait, create=False, is_new_key=True) as history:
        fingerprint = "" if history.key is None else history.key.fingerprint
        replaced = _choose_replaced(replaces, fingerprint, find_key_uses(history.bodies()))
        change = KeyChange(fingerprint=fingerprint, replaces=replaced)
        _check_new(plan, history, change)
        if read_trusted_keys(plan.trusted_keys) and not plan.audit.signing.trusted:
            add_trusted_key(plan.trusted_keys, fingerprint, text)  # the first key is trusted after its record
        period = find_period(plan.audit.window.period, plan.now)
        begun = begin_event(plan, "key", period, plan.now, started=started, command=command, reason=text)
        record = history.append(replace(begun, key=change), plan.documents)
        problems = [*history.problems, *notify_by_plan(plan, record, [_describe_added(record, change)])]
    return KeyResult(record=record, problems=tuple(map(plan.redactor.redact, problems)))


def _describe_added(record: Record, change: KeyChange) -> str:
    """Describe a new key to people who are notified: the one who added it may not be entitled to."""
    reason = record.reason.removesuffix(".")
    return (
        f"Record {record.id} adds {change.describe()}: {reason}. Its holder can sign records and approve "
        "limits. If you do not know whose key this is, find out."
    )


def _check_new(plan: Plan, history: History, change: KeyChange) -> None:
    """Refuse a key that was added or replaced already."""
    for record, earlier in list_key_changes(history.records(kind="key"), list_trusted(plan)):
        if earlier == change:
            raise UsageError(f"The key {change.fingerprint} was added already, by record {record.id}.")


def _choose_replaced(replaces: str, own: str, uses: Collection[KeyUse]) -> str:
    """Return the whole fingerprint of the key to replace, which must have signed a record; "" for none."""
    if not replaces:
        return ""
    found = find_fingerprint_of(replaces, [use.fingerprint for use in uses])
    if found == own:
        raise UsageError(
            f"The key {own} cannot replace itself: it is the one in use here. To fix: name another file in "
            "`audit.signing.key`, or move the file of the lost key to another place."
        )
    return found


def find_fingerprint_of(text: str, known: Collection[str]) -> str:
    """Return the fingerprint that begins with a text, of those that are known."""
    beginning = text.strip().lower()
    found = sorted({one for one in known if one.startswith(beginning)})
    if len(beginning) < _SHORTEST or len(found) != 1:
        listed = ", ".join(sorted(set(known))) or "none"
        raise UsageError(
            f"The fingerprint must be that of one key of the history, or its first {_SHORTEST} characters or "
            f"more; got {text!a:.80}. Its keys are: {listed}."
        )
    return found[0]


def trust_key(plan: Plan, fingerprint: str, *, note: str = "") -> str:
    """Trust a key that has signed records of the history; return its whole fingerprint."""
    if plan.audit.signing.trusted:
        raise UsageError(
            "The configuration lists the trusted keys in `audit.signing.trusted`. To fix: add the "
            "fingerprint there."
        )
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        found = find_fingerprint_of(fingerprint, [use.fingerprint for use in find_key_uses(history.bodies())])
    add_trusted_key(plan.trusted_keys, found, note)
    return found


def list_keys(plan: Plan) -> list[ListedKey]:
    """List the keys that have signed records, those that are trusted, and the key of this machine."""
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        uses = {use.fingerprint: use for use in find_key_uses(history.bodies())}
        trusted = list_trusted(plan)
        changes = [change for _, change in list_key_changes(history.records(kind="key"), trusted)]
    own = open_signing_key(plan, create=False).fingerprint if plan.signing_key.exists() else ""
    replaced = {change.replaces: change.fingerprint for change in changes if change.replaces}
    notes = {} if plan.audit.signing.trusted else read_trusted_keys(plan.trusted_keys)
    return [
        ListedKey(
            fingerprint=one,
            records=use.records,
            first=use.first,
            last=use.last,
            is_trusted=one in trusted,
            is_own=one == own,
            replaced_by=replaced.get(one, ""),
            note=notes.get(one, ""),
        )
        for one in dict.fromkeys([*uses, *trusted, *filter(None, [own])])
        for use in [uses.get(one, KeyUse(fingerprint=one))]
    ]
