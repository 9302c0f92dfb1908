"""Whether the history of an audit is intact, and the files that are kept beside its configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.formatting import join_words
from scorereport.history.verifying import verify_history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.audit.planning import Plan
    from scorereport.history.records import Record
    from scorereport.history.store import History
    from scorereport.history.verifying import Verification


def verify_plan(plan: Plan, history: History, *, heads: Sequence[str] = ()) -> Verification:
    """Verify the whole history, all files of this audit, and those of others that are kept here as well.

    A history may be shared by people who keep their files elsewhere; a note names their audits.
    """
    elsewhere: set[str] = set()

    def is_here(record: Record) -> bool:
        here = record.audit == plan.name or (plan.resolve(record.folder) / record.audit).is_dir()
        if record.files and not here:
            elsewhere.add(record.audit)
        return here

    found = verify_history(
        history, find_folder=lambda record: plan.resolve(record.folder), heads=heads, is_here=is_here
    )
    if not elsewhere:
        return found
    named = join_words(sorted(elsewhere))
    note = f"The files of {named} are not kept here: verify them with the configurations of these audits."
    return replace(found, notes=(*found.notes, note))
