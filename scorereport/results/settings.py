"""The settings of `evaluate`, each declared once, and their record; nothing slow is imported here."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  # annotations are read at run time
from dataclasses import dataclass, fields, replace
from pathlib import Path  # noqa: TC003  # likewise
from typing import Annotated, Any, TypedDict

from scorereport._utils.choices import (
    ENGINES,
    INTERVAL_METHODS,
    RETENTION_FRACTIONS,
    SCALE_BINS,
    SEED,
    USUAL_RESAMPLES,
    WINDOWS,
)
from scorereport._utils.declarations import Declared, read_declarations
from scorereport._utils.list_rules import COST_INTERVAL, FRACTIONS, THRESHOLDS, CostMatrix
from scorereport._utils.representation import short_repr
from scorereport._utils.rules import (
    Flag,
    Folder,
    NumberIn,
    OneOf,
    Size,
    TableOrPath,
    Whole,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """The settings of an evaluation.

    `level` is the confidence level of intervals, `band_level` that of bands. With `resamples` 0 nothing is
    drawn, and there are no intervals, bands or tests; with None, the asked precision decides how many samples
    are drawn, and each interval, band and test states their number. Groups smaller than `smallest_group` are
    counted, not scored. `window` is the length of a period of time: day, week, month, quarter or year.
    `thresholds` are those of the decision table; None if the evaluation chooses them.
    `cost_matrix` has a row for each observed class and a column for each decision; None stands for the
    squared distance of the classes over its largest value, or for 0 and 1 if they are not ordered.
    Retention curves remove `retention_fractions` of the cases. With `scale` there is the probability scale,
    which clips forecasts to [`scale_limit`, 1 - `scale_limit`], then groups them into `scale_bins` bins.
    `engine` sorted the rows: in memory, on disk ("duckdb") or on a cluster ("spark"). With engines other than
    memory no rows are resampled: there are intervals unless `resamples` is 0.
    """

    cost_interval: tuple[float, float] | None = None
    curve_points: int = 400
    level: float = 0.95
    band_level: float = 0.9
    interval_method: str = "bca"
    resamples: int | None = None
    seed: int = SEED
    smallest_group: int = 10
    window: str | None = None
    thresholds: tuple[float, ...] | None = None
    cost_matrix: tuple[tuple[float, ...], ...] | None = None
    retention_fractions: tuple[float, ...] = RETENTION_FRACTIONS
    scale: bool = False
    scale_bins: int = SCALE_BINS
    scale_limit: float = 0.0
    engine: str = "memory"

    __repr__ = short_repr

    @property
    def infers(self) -> bool:
        """Whether there are intervals, bands and tests."""
        return self.resamples != 0

    @property
    def fixed_resamples(self) -> int:
        """The number of resamples where no precision decides."""
        return USUAL_RESAMPLES if self.resamples is None else self.resamples


class MainSettings(TypedDict, total=False):
    """The settings that are changed most often."""

    level: Annotated[
        float,
        Declared(
            help="The [confidence level](glossary.md#confidence-level) of intervals, inside (0, 1).",
            rule=NumberIn(lower=0, upper=1),
        ),
    ]
    resamples: Annotated[
        int | None,
        Declared(
            help="The number of [resamples](glossary.md#resample) for each bootstrap, band and test; 0 for "
            "no intervals, bands and tests.",
            rule=Whole(smallest=0),
            unless_given="as many as keep Monte-Carlo errors below 2 % of the width of an interval (several "
            "classes: 1,000)",
        ),
    ]
    seed: Annotated[int, Declared(help="The seed of the random numbers.", rule=Whole(smallest=0))]
    engine: Annotated[
        str,
        Declared(
            help='The [engine](glossary.md#engine) that sorts the rows: "memory"; "duckdb", on disk; '
            '"spark", on a cluster; or "auto", by size and kind of the data.',
            rule=OneOf(ENGINES),
            default="auto",
        ),
    ]


class OtherSettings(TypedDict, total=False):
    """The other settings."""

    band_level: Annotated[
        float,
        Declared(
            help="The level of consistency and confidence bands, inside (0, 1).",
            rule=NumberIn(lower=0, upper=1),
        ),
    ]
    interval_method: Annotated[
        str,
        Declared(
            help='The bootstrap interval of mean scores and skills: "bca" or "percentile".',
            rule=OneOf(INTERVAL_METHODS),
        ),
    ]
    cost_interval: Annotated[
        Sequence[float] | None,
        Declared(
            help="Binary models: the smallest and the largest [cost ratio](glossary.md#cost-ratio) that "
            "matter, inside (0, 1); adds the bounded scores.",
            rule=COST_INTERVAL,
        ),
    ]
    thresholds: Annotated[
        Sequence[float] | None,
        Declared(
            help="Binary models: the probabilities inside (0, 1) at which decisions are tabulated.",
            rule=THRESHOLDS,
            unless_given="five over the cost interval, or the tenths",
            option="threshold",
            option_help="Repeat it for more thresholds.",
        ),
    ]
    cost_matrix: Annotated[
        Sequence[Sequence[float]] | None,
        Declared(
            help="Several classes: a row for each observed class, with the cost of predicting each class.",
            rule=CostMatrix(),
            unless_given="the squared distance of ordered classes over its largest value, or 1 for every "
            "wrong class",
            option_help="The file is a .csv file without a header.",
        ),
    ]
    retention_fractions: Annotated[
        Sequence[float],
        Declared(
            help="Several classes: the increasing shares of the rows that "
            "[retention curves](glossary.md#retention-curve) set aside, from 0.",
            rule=FRACTIONS,
            unless_given="0 to 0.5 by 0.05",
            option="retention_fraction",
            option_help="Repeat it for each share.",
        ),
    ]
    window: Annotated[
        str | None,
        Declared(
            help='The length of the periods of `time`: "year", "quarter", "month", "week" or "day".',
            rule=OneOf(tuple(WINDOWS)),
            unless_given="the shortest with up to 24 periods",
        ),
    ]
    smallest_group: Annotated[
        int,
        Declared(help="Groups with fewer rows are counted, not scored.", rule=Whole(smallest=1)),
    ]
    scale: Annotated[
        bool,
        Declared(
            help="Whether the [probability scale](glossary.md#probability-scale) is computed; unless this is "
            "false, `scale_bins`, `scale_limit` or a limit on one of its numbers asks for it too.",
            rule=Flag(),
            opposite="no_scale",
        ),
    ]
    scale_bins: Annotated[
        int,
        Declared(
            help="The number of bins of equal count on the probability scale.",
            rule=Whole(smallest=1),
        ),
    ]
    scale_limit: Annotated[
        float,
        Declared(
            help="The smallest distance of probabilities from 0 and 1 on that scale, below 0.5.",
            rule=NumberIn(lower=0, upper=0.5, closed="left"),
        ),
    ]
    reference: Annotated[
        object,
        Declared(
            help="Binary models: a table, or the path of a file, of a "
            "[reference sample](glossary.md#reference-sample) such as that of the development, with the same "
            "columns of forecasts and weights; adds the population stability index of the forecasts and, if "
            "it has the column of outcomes, compares scores and calibration. In a configuration, "
            "`data.reference` is the same.",
            rule=TableOrPath(),
        ),
    ]
    memory_limit: Annotated[
        str | None,
        Declared(
            help='The memory that DuckDB may use, such as "1GB"; beyond it, the disk is used.',
            rule=Size(),
            unless_given="a quarter of the machine's memory",
        ),
    ]
    temporary_folder: Annotated[
        str | Path | None,
        Declared(
            help="The folder for data that do not fit into memory; in a configuration, relative to its file.",
            rule=Folder(),
            unless_given="the temporary folder of the system",
        ),
    ]


def _find_default(name: str) -> Any:
    """The default of a setting in the record; None for settings that it does not have."""
    return next((field.default for field in fields(EvaluationSettings) if field.name == name), None)


#: All settings by name; where none is declared, the default is that of the record.
SETTINGS = {
    name: declared if declared.default is not None else replace(declared, default=_find_default(name))
    for name, declared in read_declarations(MainSettings, OtherSettings).items()
}
#: Settings on how the computation is done, on which results do not depend; documents keep the engine only.
WORK_SETTINGS = ("engine", "memory_limit", "temporary_folder")
