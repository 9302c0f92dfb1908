"""`open_spark()`: Spark surveys, sorts and scans rows on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from scorereport._utils.progress import report_start
from scorereport.data.roles import Roles, check_column_arguments
from scorereport.errors import DataError
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.spark.spark_columns import ColumnLayout
from scorereport.evaluation.engines.spark.spark_jobs import (
    SortPlan,
    digest_packets,
    find_before,
    make_packets,
    sum_batches,
    weigh_parts,
)
from scorereport.evaluation.engines.spark.spark_partitions import (
    ALL,
    FEWEST_SAMPLED,
    ROWS_PER_PART,
    SAMPLED_PER_PART,
    plan_parts,
)
from scorereport.evaluation.engines.spark.spark_session import connect_spark, open_table, quiet
from scorereport.evaluation.engines.spark.spark_survey import survey_table
from scorereport.evaluation.subgroups import check_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

    from scorereport.data.roles import Columns
    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.protocol import Batch, DigestPlan, Sums
    from scorereport.evaluation.engines.spark.spark_jobs import ChunkDigester
    from scorereport.evaluation.engines.spark.spark_labels import Labels
    from scorereport.evaluation.engines.spark.spark_partitions import Parts
    from scorereport.evaluation.engines.spark.spark_session import SparkConnection
    from scorereport.evaluation.engines.spark.spark_survey import SurveyedRows

#: If sums of fractional weights differ by more than this, relatively, the rows have changed.
_SAME_ROWS = 1e-9


def open_spark(
    source: Any,
    *,
    window: str | None = None,
    temporary_folder: str | Path | None = None,
    **columns: Unpack[Columns],
) -> SparkEngine:
    """Open a Spark DataFrame, files at a path or an address, or a table, and survey its rows.

    If no session is active, one is started on this machine; it writes to `temporary_folder` and ends when
    the engine is closed. `window` is as in `evaluate`, all other parameters are as in `read_predictions`.
    """
    named = check_column_arguments(columns, "evaluate")
    roles, drop = Roles.of(named), named.get("missing") == "drop"
    check_window(window, roles)
    layout = ColumnLayout(roles=roles)
    link = connect_spark(source, temporary_folder)
    try:
        with link.working():
            report_start("surveying")
            table = open_table(link.session, source, layout.columns)
            surveyed = survey_table(table, layout, positive=named.get("positive"), drop=drop, window=window)
    except BaseException:
        link.close()
        raise
    return SparkEngine(link, layout, surveyed)


class SparkEngine:
    """An engine that sorts and scans rows on the workers of Spark; only digests and sums reach the driver."""

    name = "spark"

    def __init__(
        self,
        link: SparkConnection,
        layout: ColumnLayout,
        surveyed: SurveyedRows,
        *,
        rows_per_part: int = ROWS_PER_PART,
        digest_rows: ChunkDigester = digest_chunk,
    ) -> None:
        self.survey = surveyed.survey
        self.rows_per_part = rows_per_part
        self._link, self._layout, self._surveyed = link, layout, surveyed
        self._digest_rows = digest_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def digest(self, model: str, plan: DigestPlan) -> Digest:
        """The digest of all rows of a model."""
        report_start(f"sorting by {model}")
        return self._digest(model, None, {ALL: plan}, {ALL: self.survey.rows})[ALL]

    def digest_groups(self, model: str, column: str, plans: Mapping[int, DigestPlan]) -> dict[int, Digest]:
        """The digests of some labels of a group column, or of the time column, by the codes of the labels."""
        if not plans:
            return {}
        report_start(f"sorting by {model} within {column}")
        labels = self._surveyed.labels[column]
        rows_of = {count.code: count.rows for count in labels.counts if count.code in plans}
        return self._digest(model, labels, plans, rows_of)

    def reduce(self, function: Callable[[Batch], Sums], what: str) -> Sums:
        """Apply a function to each batch of rows, and add up its results in the order of the partitions."""
        report_start(what)
        with self._link.working():
            return sum_batches(self._rows, self._layout.models, self._surveyed.labels, function)

    def close(self) -> None:
        """Release stored rows; if we started the session, stop it and remove its folder."""
        try:
            if self._surveyed.is_stored:
                self._surveyed.kept.unpersist()
        finally:
            self._link.close()

    @property
    def _rows(self) -> DataFrame:
        return self._surveyed.kept.where(self._layout.counts)

    def _digest(
        self,
        model: str,
        labels: Labels | None,
        plans: Mapping[int, DigestPlan],
        rows_of: Mapping[int, int],
    ) -> dict[int, Digest]:
        with self._link.working():
            rows = self._select(model, labels)
            sorting = SortPlan(
                parts=self._plan(rows.drop("key", "w"), labels, rows_of),
                plans=plans,
                labels=labels,
                counted=self.survey.counted,
                digest_chunk=self._digest_rows,
            )
            digests = _sort(rows, sorting)
        for label, digest in digests.items():
            self._check_same_rows(digest, plans[label])
        return digests

    def _select(self, model: str, labels: Labels | None) -> DataFrame:
        """The columns of a model that are sorted."""
        from pyspark.sql import functions as F  # noqa: N812

        others = [F.col("w")] if self._layout.weighted else []
        others += [] if labels is None else [F.col(labels.short).alias("label")]
        return self._rows.select(F.col(self._layout.models[model]).alias("x"), F.col("key"), *others)

    def _plan(self, rows: DataFrame, labels: Labels | None, rows_of: Mapping[int, int]) -> Parts:
        """Parts of about equal size; labels with many rows are split by a sample of their forecasts."""
        long = {label: of for label, of in rows_of.items() if of > self.rows_per_part}
        if not long:
            return plan_parts(rows_of, np.empty(0, dtype=np.int32), np.empty(0), self.rows_per_part)
        wanted = max(SAMPLED_PER_PART * (sum(long.values()) // self.rows_per_part), FEWEST_SAMPLED)
        share = wanted / sum(long.values())
        chosen = rows if labels is None else rows.where(rows["label"].isin(labels.keys_of(long)))
        with quiet():
            table = (chosen if share >= 1 else chosen.sample(fraction=share, seed=0)).toArrow()
        x = table["x"].to_numpy()
        codes = np.full(len(x), ALL, dtype=np.int32) if labels is None else labels.find(table["label"])
        return plan_parts(rows_of, codes, x, self.rows_per_part)

    def _check_same_rows(self, digest: Digest, plan: DigestPlan) -> None:
        """Refuse a source that returns different rows each time it is read."""
        total, events = digest.blocks.n.sum(), digest.blocks.events.sum()
        if not np.allclose([total, events], [plan.total, plan.events], rtol=_SAME_ROWS, atol=0):
            raise DataError(
                f"{self.survey.source} returned different rows when it was read again: {total} cases instead "
                f"of {plan.total}. Write the frame to a file first, or persist it."
            )


def _sort(rows: DataFrame, sorting: SortPlan) -> dict[int, Digest]:
    """Sort the rows and compute digests; if a label has several parts, the parts are weighed first."""
    from pyspark import StorageLevel

    packets = make_packets(rows, sorting)
    if len(sorting.parts) == len(sorting.plans):
        return digest_packets(packets, sorting, {})
    packets = packets.persist(StorageLevel.DISK_ONLY)
    try:
        before = find_before(sorting.parts, weigh_parts(packets, counted=sorting.counted))
        return digest_packets(packets, sorting, before)
    finally:
        packets.unpersist()
