"""Records of sealed forecasts: what was sealed before outcomes were known, and what an audit found of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSeal:
    """The forecasts of a period, sealed: each row by a hash, all rows by the root of a Merkle tree.

    `keys` are the columns that identify a row, `forecasts` the columns that are sealed. `hashes_sha256` names
    the document with the hashes of the rows. `outcomes` is the number of rows whose outcome was in the source
    already; it is None if the source had no column of outcomes. `plan` is the name of the file with the
    analysis plan, if there is one.
    """

    rows: int
    keys: tuple[str, ...]
    forecasts: tuple[str, ...]
    merkle_root: str
    hashes_sha256: str
    outcomes: int | None = None
    plan: str = ""
    plan_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnulledSeal:
    """A seal that was taken out: its record, when it was made and annulled, how many rows it had, and why."""

    record: int
    rows: int
    time: str
    annulled: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealCheck:
    """The rows of an audit compared with the sealed forecasts of its period.

    `seals` are the hashes of the records that seal forecasts of the period, in their order; the first seal of
    a row counts. `sealed` rows are `unchanged`, `changed` or `missing`; `late` rows were not sealed. `first`
    and `last` are the times of the seals. `outcomes` is the number of sealed rows whose outcome was known,
    `after_audit` that of rows that were sealed after an audit had evaluated the period, also if that one was
    annulled. `annulled` are seals of the period that do not count any more.
    `changes` are sentences on what else has changed since the first seal: configuration and analysis plan.
    `unsealed` are columns of forecasts that were evaluated, but not sealed.
    """

    seals: tuple[str, ...]
    sealed: int
    unchanged: int
    changed: int
    missing: int
    late: int
    first: str
    last: str
    outcomes: int = 0
    after_audit: int = 0
    annulled: tuple[AnnulledSeal, ...] = ()
    changes: tuple[str, ...] = ()
    unsealed: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether the evaluated forecasts are not those that were sealed; late rows alone do not count."""
        return bool(self.changed or self.missing or self.unsealed)
