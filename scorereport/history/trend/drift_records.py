"""Records of the trend: snapshots of audits, and the drift between them."""

from __future__ import annotations

from dataclasses import dataclass

from scorereport.configuration.periods import Period

#: What a difference is called that hardly matters.
SMALL_DRIFT = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of a model with its interval; of the sample, the model is "".

    `measure` is a name that limits have, such as `brier_miscalibration`. Of components `value` is the raw
    one and `corrected` what is left without the overfit; of other numbers both are the same. `overfit` and
    `overfit_closed` are the two estimates of it, resampled and in closed form. Where there is no interval,
    its ends and the standard error are NaN.
    """

    model: str
    measure: str
    label: str
    value: float
    corrected: float
    lower: float
    upper: float
    standard_error: float
    overfit: float = 0.0
    overfit_closed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How much weight a model's forecasts have in each of those fixed bins that hold any.

    Of several classes there is one for each class; else the class is "". `mean` is the mean forecast, `size`
    the number of independent rows that these weights are worth.
    """

    model: str
    label: str
    bins: tuple[int, ...]
    weights: tuple[float, ...]
    mean: float = 0.0
    size: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is remembered of an audit: its period, its size, its main numbers and what was forecast.

    `size` is the effective number of independent rows; `classes` are the weights of the classes, if any, and
    `labels` their names. Rows of `clusters`, if any, depend on each other. `configuration` is the SHA-256 of
    the configuration that the audit was made by, if it is known.
    """

    period: Period
    time: str
    rows: int
    size: float
    level: float
    main_score: str
    numbers: tuple[Number, ...]
    distributions: tuple[Distribution, ...] = ()
    classes: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    clusters: int | None = None
    configuration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A number of now against that of earlier audits, and whether the difference is more than chance.

    `measure` is that of a `Number`, or `forecasts` for the distribution of forecasts, whose difference is
    the population stability index. `p_value_adjusted` allows for all tests of this audit and for all audits
    over which false alarms are to be rare. `size` is the word for the difference: small, moderate or large.
    Where nothing can be tested the note says why. `caution` says what a reader must know of the test.
    """

    model: str
    measure: str
    label: str
    value: float
    reference: float
    difference: float
    lower: float
    upper: float
    statistic: float
    p_value: float
    p_value_adjusted: float
    has_drifted: bool
    method: str
    sentence: str
    size: str = ""
    note: str = ""
    caution: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """An audit among those before it: their numbers, oldest first, the present ones last, and the drift.

    `reference` are the labels of the earlier periods that the present one is tested against, `alpha` the
    probability of any false alarm in `looks` audits in a row. `audit` is its name, and `as_of` the moment
    that its period was counted from, whose days are those of `time_zone`. The history ended with the record
    `last_id`, whose hash is `last_sha256`, when the audit was made: filed with a report, it binds all
    records before.
    """

    snapshots: tuple[Snapshot, ...]
    drifts: tuple[Drift, ...] = ()
    reference: tuple[str, ...] = ()
    alpha: float = 0.05
    looks: int = 12
    notes: tuple[str, ...] = ()
    audit: str = ""
    as_of: str = ""
    time_zone: str = ""
    last_id: int = 0
    last_sha256: str = ""

    @property
    def period(self) -> Period:
        """The period of the present audit."""
        return self.snapshots[-1].period

    @property
    def has_drifted(self) -> bool:
        """Whether anything differs from before by more than chance."""
        return any(drift.has_drifted for drift in self.drifts)

    @property
    def is_alarming(self) -> bool:
        """Whether anything does so by more than a little: with many rows no two months are quite the same."""
        return any(drift.has_drifted and drift.size != SMALL_DRIFT for drift in self.drifts)
