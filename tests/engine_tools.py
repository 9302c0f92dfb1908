"""An engine that sorts arrays in memory, in pieces as small as a test asks for: the plainest of them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.chunks import cut_at_ties
from scorereport.evaluation.engines.protocol import (
    BUCKETS,
    Batch,
    Chunk,
    CountsBelow,
    DigestPlan,
    LabelCount,
    Sums,
    Survey,
)
from scorereport.evaluation.subgroups import label_windows, rows_by_label
from scorereport.reliability.sampling import are_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scorereport.data.predictions import Predictions
    from scorereport.evaluation.engines.digest import Digest


class ArrayEngine:
    """Predictions in memory, read as an engine reads rows from elsewhere."""

    name = "duckdb"

    def __init__(self, predictions: Predictions, *, rows: int = 1000, seed: int = 1) -> None:
        kept = np.ones(len(predictions), bool) if predictions.weight is None else predictions.weight > 0
        self.rows, self.kept, self.predictions = rows, np.flatnonzero(kept), predictions
        rng = np.random.default_rng(seed)
        if predictions.cluster is None:
            self.bucket = rng.integers(0, BUCKETS, len(self.kept)).astype(np.uint16)
        else:
            codes = np.unique(predictions.cluster[self.kept], return_inverse=True)[1]
            self.bucket = rng.integers(0, BUCKETS, codes.max() + 1).astype(np.uint16)[codes]
        self.y = predictions.outcome[self.kept]
        whole = are_whole(predictions.weight)
        weight = None if predictions.weight is None else predictions.weight[self.kept]
        self.weight = weight if weight is None or not whole else weight.astype(np.int64)
        self.all_labels = dict(predictions.groups)
        if predictions.time is not None:
            self.all_labels[predictions.time_name] = label_windows(predictions.time, None)
        self.labels = {name: labels[self.kept] for name, labels in self.all_labels.items()}
        self.codes = {n: np.unique(labels, return_inverse=True)[1] for n, labels in self.labels.items()}
        self.survey = self._survey()

    def _survey(self) -> Survey:
        p = self.predictions
        weight = np.ones(len(self.y), np.int64) if self.weight is None else self.weight
        counts = {name: self._count(name, weight) for name in self.labels}
        forecasts = {name: x[self.kept] for name, x in p.forecasts.items()}
        return Survey(
            source=p.source,
            outcome_name=p.outcome_name,
            positive=p.positive,
            models=tuple(forecasts),
            rows=len(p),
            total=weight.sum().item(),
            events=(weight * (self.y == 1)).sum().item(),
            event_squares=(weight**2 * (self.y == 1)).sum().item(),
            other_squares=(weight**2 * (self.y == 0)).sum().item(),
            row_flow=p.row_flow,
            weighted=p.weight is not None,
            weight_kind=p.weight_kind,
            counted=are_whole(p.weight),
            clusters=None if p.cluster is None else len(np.unique(p.cluster[self.kept])),
            groups={name: counts[name] for name in p.groups},
            windows=counts[p.time_name] if p.time is not None else (),
            time_name=p.time_name,
            refuted={n: self._refuted(x) for n, x in forecasts.items()},
            halves={n: int((x == 0.5).sum()) for n, x in forecasts.items()},
            certain={n: int(((x == 0) | (x == 1)).sum()) for n, x in forecasts.items()},
            sha256=p.sha256,
        )

    def _refuted(self, x):
        rows = self.kept[np.abs(x - self.y) == 1]
        return len(rows), tuple(rows[:5].tolist())

    def _count(self, name, weight):
        return tuple(
            LabelCount(
                label=label,
                code=int(self.codes[name][rows[0]]),
                rows=int((self.all_labels[name] == label).sum()),
                total=weight[rows].sum().item(),
                events=(weight * (self.y == 1))[rows].sum().item(),
                event_squares=(weight**2 * (self.y == 1))[rows].sum().item(),
                other_squares=(weight**2 * (self.y == 0))[rows].sum().item(),
            )
            for label, rows in rows_by_label(self.labels[name])
        )

    def _fold(self, model: str, rows: np.ndarray, plan: DigestPlan) -> Digest:
        x = self.predictions.forecasts[model][self.kept][rows] + 0.0
        order = np.argsort(x, kind="stable")
        chunk = Chunk(
            x=x[order],
            y=self.y[rows][order] == 1,
            bucket=self.bucket[rows][order],
            weight=None if self.weight is None else self.weight[rows][order],
        )
        pieces = (chunk.select(slice(at, at + self.rows)) for at in range(0, len(chunk), self.rows))
        digest, before = None, CountsBelow()
        for piece in cut_at_ties(pieces, self.rows):
            found = digest_chunk(piece, plan, before)
            digest = found if digest is None else digest + found
            n, events = found.blocks.n.sum().item(), found.blocks.events.sum().item()
            before = CountsBelow(n=before.n + n, events=before.events + events)
        return digest

    def digest(self, model: str, plan: DigestPlan) -> Digest:
        """The digest of all rows of a model."""
        return self._fold(model, np.arange(len(self.y)), plan)

    def digest_groups(self, model: str, column: str, plans: Mapping[int, DigestPlan]) -> dict[int, Digest]:
        """A digest for each label asked for."""
        return {
            code: self._fold(model, np.flatnonzero(self.codes[column] == code), plan)
            for code, plan in plans.items()
        }

    def reduce(self, function: Callable[[Batch], Sums], what: str) -> Sums:  # noqa: ARG002
        """Sums over batches."""
        total = None
        for start in range(0, len(self.y), self.rows):
            part = slice(start, start + self.rows)
            batch = Batch(
                y=self.y[part],
                forecasts={n: x[self.kept][part] for n, x in self.predictions.forecasts.items()},
                bucket=self.bucket[part],
                weight=None if self.weight is None else self.weight[part].astype(float),
                groups={n: codes[part].astype(np.int32) for n, codes in self.codes.items()},
            )
            found = function(batch)
            total = found if total is None else tuple(a + b for a, b in zip(total, found, strict=True))
        return total

    def close(self) -> None:
        """There is nothing to remove."""
