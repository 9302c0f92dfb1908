"""Roles of PostgreSQL that could remove the protection of a history: owners, superusers, and rights granted.

The script docs/postgresql-history.sql separates the roles: those that write and read a history cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport._utils.formatting import join_words
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.database import HistoryDatabase

#: How messages name the script that separates the roles.
ROLE_SCRIPT = f"the script postgresql-history.sql ({cite_page(DocumentationPage.AUDITS)})"
_SUPERUSER = text("SELECT current_user::text, rolsuper FROM pg_roles WHERE rolname = current_user")
#: Owners of the tables, of their schema, and of the functions of the triggers.
_OWNERS = """
    WITH tables AS (
        SELECT oid, relowner, relnamespace FROM pg_class
        WHERE oid IN (to_regclass('audits'), to_regclass('documents'), to_regclass('schema_versions'))),
    owners (owner) AS (
        SELECT relowner FROM tables
        UNION SELECT nspowner FROM pg_namespace JOIN tables ON pg_namespace.oid = relnamespace
        UNION SELECT proowner FROM pg_proc JOIN pg_trigger ON pg_proc.oid = tgfoid
            JOIN tables ON tables.oid = tgrelid WHERE NOT tgisinternal)
"""
#: Roles that can log in and have the rights of an owner; superusers have all rights and are not listed.
_OWNING_ROLES = text(
    f"""{_OWNERS} SELECT DISTINCT rolname::text FROM pg_roles JOIN owners ON pg_has_role(oid, owner, 'MEMBER')
    WHERE rolcanlogin AND NOT rolsuper ORDER BY 1"""
)
#: Rights to change or remove rows, or to add triggers, that roles other than the owner have.
_EXCESS_RIGHTS = text(
    """SELECT coalesce(rolname::text, 'PUBLIC') AS role, string_agg(DISTINCT privilege_type, ', ') AS rights
    FROM (
        SELECT relowner, rights.* FROM pg_class, aclexplode(relacl) AS rights
        WHERE pg_class.oid IN (to_regclass('audits'), to_regclass('documents'))
        UNION ALL SELECT relowner, rights.* FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid,
            aclexplode(attacl) AS rights
        WHERE pg_class.oid IN (to_regclass('audits'), to_regclass('documents'))) AS granted
    LEFT JOIN pg_roles ON pg_roles.oid = grantee
    WHERE privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER') AND grantee <> relowner
    GROUP BY 1 ORDER BY 1"""
)
#: Whether the role may add records; NULL if there is no such table.
_MAY_INSERT = text(
    """SELECT current_user::text, coalesce(has_table_privilege(to_regclass('audits'), 'INSERT')
        AND has_table_privilege(to_regclass('documents'), 'INSERT'), true)"""
)


def check_writer(history: HistoryDatabase) -> None:
    """Refuse a role that may read a history on a server but not add records to it."""
    if history.file is not None:
        return
    with history.reading() as connection:
        name, may_insert = connection.execute(_MAY_INSERT).one()
    if not may_insert:
        raise UsageError(
            f"The role `{name}` may not add records to the history {history.name}. Nothing was recorded. To "
            f"fix: connect as the role that writes it, which {ROLE_SCRIPT} creates."
        )


def describe_roles(history: HistoryDatabase) -> Iterator[str]:
    """Describe which roles could remove the triggers of a history on a server, or change its rows."""
    if history.file is not None:
        return
    with history.reading() as connection:
        name, is_superuser = connection.execute(_SUPERUSER).one()
        owning = list(connection.execute(_OWNING_ROLES).scalars())
        excess = list(connection.execute(_EXCESS_RIGHTS))
    if is_superuser:
        yield (
            f"The role `{name}`, as which this history is read, is a superuser: it could remove the triggers "
            f"that protect the records. To fix: use the roles of {ROLE_SCRIPT}."
        )
    if owning:
        roles = join_words([f"`{role}`" for role in owning])
        subject = f"The role {roles} owns" if len(owning) == 1 else f"The roles {roles} own"
        yield (
            f"{subject} the tables of this history, their schema or the function of their triggers, can log "
            "in, and could remove the triggers that protect the records. To fix: use the roles of "
            f"{ROLE_SCRIPT}."
        )
    for row in excess:
        yield (
            f"The role `{row.role}` has rights on the tables that no audit needs: {row.rights}. To fix: run "
            f"{ROLE_SCRIPT}, which takes them away."
        )
