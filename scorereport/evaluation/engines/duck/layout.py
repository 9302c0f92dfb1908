"""How SQL writes what engines hand out of the rows that count: outcomes, weights, buckets and codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scorereport._utils.arrays import IntArray
from scorereport.data.roles import Roles
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.duck_tables import ScannableRows
from scorereport.evaluation.engines.protocol import LabelCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """The labels of a column in ascending order, and SQL for the place of each row's label among them.

    As in memory, a label has all of its complete rows, those without weight too; `counts` leaves out labels
    that have no others.
    """

    labels: tuple[str, ...]
    code: str
    counts: tuple[LabelCount, ...] = ()
    weightless: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SqlLayout:
    """Columns and conditions in SQL; `kept` rows are complete, and those that count have a weight as well."""

    rows: ScannableRows
    roles: Roles
    outcome: str
    kept: tuple[str, ...] = ()
    has_zeros: bool = False
    counted: bool = True
    codings: Mapping[str, Coding] = field(default_factory=dict)
    bins: Mapping[str, IntArray] = field(default_factory=dict)

    @property
    def counts(self) -> str:
        """A clause that leaves the rows that count."""
        return sql.where([*self.kept, *([f"{self.weight} > 0"] if self.has_zeros else [])])

    @property
    def weight(self) -> str:
        """The weight as float64; 1 if there is none."""
        return "1.0::DOUBLE" if self.roles.weight is None else sql.number(self.rows, self.roles.weight)

    @property
    def whole_weight(self) -> str:
        """The weight as a whole number, if it is one."""
        return "1" if self.roles.weight is None else f"CAST({self.weight} AS BIGINT)"

    @property
    def bucket(self) -> str:
        """The bucket of the row, or of its cluster."""
        if self.roles.cluster is None:
            return sql.bucket_of_row(self.rows.number)
        return sql.bucket_of_cluster(self.rows, self.roles.cluster)

    def forecast(self, model: str) -> str:
        """The forecast of a model."""
        return sql.number(self.rows, model)
