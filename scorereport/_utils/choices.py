"""Choices and defaults that several rooms share; light, so that the program starts fast."""

from __future__ import annotations

from typing import Literal, get_args

#: The default seed of all resampling.
SEED = 2021
#: Resamples where no precision decides their number; the smallest p-value of a drawn test is then 1/1001.
USUAL_RESAMPLES = 1000
#: Engines of an evaluation: chosen by size, in memory, on disk, on a cluster.
EngineName = Literal["auto", "memory", "duckdb", "spark"]
ENGINES: tuple[str, ...] = get_args(EngineName)
#: Kinds of weights: of rows that were drawn once, or how often each row was observed.
WEIGHT_KINDS = ("sampling", "frequency")
#: Bootstrap intervals of mean scores.
INTERVAL_METHODS = ("bca", "percentile")
#: Periods from the longest to the shortest, with their format; `strftime` has none for quarters.
WINDOWS = {"year": "%Y", "quarter": "", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}
#: What happens to rows with missing values.
MISSING_ROWS = ("refuse", "drop")
#: Fractions of the cases that retention curves remove.
RETENTION_FRACTIONS = tuple(step / 100 for step in range(0, 51, 5))
#: Bins of equal count on the probability scale.
SCALE_BINS = 10
