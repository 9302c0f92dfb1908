"""History opened to append signed records: the key of the run, made on first use, and the trusted keys."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from scorereport.audit.anchors import anchor_record, check_anchored
from scorereport.errors import UsageError
from scorereport.history.database_roles import check_writer
from scorereport.history.signature_check import find_key_uses, list_key_changes
from scorereport.history.signing_keys import PKCS12_ENDINGS, create_signing_key, read_signing_key
from scorereport.history.store import open_history
from scorereport.history.trusted_keys import add_trusted_key, read_trusted_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record
    from scorereport.history.signing_keys import SigningKey
    from scorereport.history.store import History

_FIRST_USE = "made or first used here"


@contextmanager
def open_signed_history(plan: Plan, *, create: bool = True, is_new_key: bool = False) -> Iterator[History]:
    """Open the history of an audit; records that are appended to it are signed by the key of the plan.

    They are anchored as well. A history that its anchors prove to be an older copy is refused. With
    `is_new_key`, the key may be one that the history does not know.
    """
    with open_history(plan.database_url, head=plan.chain_head, create=create) as history:
        check_writer(history)
        history.key = key = (
            open_signing_key(plan, create=True) if is_new_key else ensure_signing_key(plan, history)
        )
        _check_not_replaced(plan, history, key)
        _check_still_signed(plan, history)
        check_anchored(plan, history, list_trusted(plan))
        history.after_append = partial(_follow_record, plan, key=key)
        yield history


def _follow_record(plan: Plan, record: Record, key: SigningKey) -> list[str]:
    """Trust the key of the first record that is signed here, and anchor a record; return problems."""
    problems = []
    if not _list_named(plan):
        try:
            add_trusted_key(plan.trusted_keys, key.fingerprint, _FIRST_USE)
        except UsageError as error:  # the record is stored: no error may say otherwise
            problems.append(str(error))
    return [*problems, *anchor_record(plan, record, key)]


def list_trusted(plan: Plan) -> Collection[str]:
    """List the fingerprints of the keys whose records are accepted.

    These are the configured ones, or those of the file. In a folder without such a file, where nothing was
    recorded yet, it is the key of this machine or person, if there is one.
    """
    return _list_named(plan) or _find_own(plan)


def _list_named(plan: Plan) -> Collection[str]:
    return plan.audit.signing.trusted or tuple(read_trusted_keys(plan.trusted_keys))


def _find_own(plan: Plan) -> tuple[str, ...]:
    """Return the fingerprint of the own key; none if it does not exist or cannot be opened."""
    try:
        return (read_signing_key(plan.signing_key).fingerprint,)
    except UsageError:
        return ()


def ensure_signing_key(plan: Plan, history: History) -> SigningKey:
    """Return the key of the plan; make it on first use. It is trusted as soon as it has signed a record.

    A further key needs `audit keys add`, so that no key joins a history without a record of it.
    """
    trusted = _list_named(plan)
    known = trusted or [use.fingerprint for use in find_key_uses(history.bodies())]
    key = open_signing_key(plan, create=not known)
    if known and key.fingerprint not in known:
        raise UsageError(_describe_unknown_key(plan, key))
    if known and not trusted:
        add_trusted_key(plan.trusted_keys, key.fingerprint, _FIRST_USE)
    return key


def _describe_unknown_key(plan: Plan, key: SigningKey) -> str:
    fix = (
        f"add its fingerprint {key.fingerprint} to `audit.signing.trusted`"
        if plan.audit.signing.trusted
        else f'run `scorereport audit keys add {plan.path} --reason "..."`, which records this'
    )
    return (
        f"The key {plan.signing_key} is not one that signs records of this history, which has others. "
        f"Nothing was recorded. To fix: {fix}."
    )


def open_signing_key(plan: Plan, *, create: bool) -> SigningKey:
    """Open the key of the plan, or make it; without `create` it must exist."""
    path = plan.signing_key
    if path.exists():
        return read_signing_key(path)
    if path.suffix.lower() in PKCS12_ENDINGS:
        raise UsageError(f"The file {path}, which `audit.signing.key` names, does not exist.")
    if create:
        return create_signing_key(path)
    raise UsageError(
        f"The key {path}, which signs records, is missing, though this history is signed. "
        "Nothing was recorded. To fix: restore the file from a copy. If the key is lost, or this is another "
        f'machine or person, run `scorereport audit keys add {plan.path} --reason "..."`, which makes a new '
        "key and records this; `--replaces FINGERPRINT` names a lost key."
    )


def _check_not_replaced(plan: Plan, history: History, key: SigningKey) -> None:
    """Refuse a key that another one has replaced."""
    for record, change in list_key_changes(history.records(kind="key"), list_trusted(plan)):
        if change.replaces == key.fingerprint:
            raise UsageError(
                f"The key {key.fingerprint} must not sign any more: record {record.id} has replaced it "
                f"({record.reason}). To fix: use the new key, or move the file of the replaced one to "
                "another place and add a new key by `scorereport audit keys add`."
            )


def _check_still_signed(plan: Plan, history: History) -> None:
    """Refuse a history that has lost its signatures: a signed record would make it look like an older one."""
    if not plan.trusted_keys.exists() or not (last := history.last()):
        return
    if history.get(last.id).signature is None and not find_key_uses(history.bodies()):
        raise UsageError(
            f"No record of the history {history.name} is signed, though the file {plan.trusted_keys} names "
            "keys, which it does only after one has signed a record: signatures were removed. Nothing was "
            "recorded. To fix: restore the database from a copy."
        )
