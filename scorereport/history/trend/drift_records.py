"""Records of the trend: snapshots of audits, and the drift between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from scorereport.configuration.periods import Period
from scorereport.history.trend.evidence_records import GroupShares, TrendEvidence
from scorereport.history.trend.seal_records import SealCheck

#: Word for a difference that hardly matters.
SMALL_DRIFT = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of a model with its interval; for a number of the sample, the model is "".

    `measure` is a name as in limits, such as `brier_miscalibration`. For components, `value` is the raw one
    and `corrected` the overfit-corrected one; for other numbers both are the same. `overfit` and
    `overfit_closed` are the two estimates of the overfit, resampled and in closed form. Without an interval,
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
    """Distribution of a model's forecasts: the weight in each of the fixed bins that is not empty.

    With several classes there is one distribution for each class; otherwise `label` is "". `mean` is the mean
    forecast, `size` the effective number of independent rows.
    """

    model: str
    label: str
    bins: tuple[int, ...]
    weights: tuple[float, ...]
    mean: float = 0.0
    size: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Summary of an audit for comparison with later ones: period, size, main numbers and forecasts.

    `size` is the effective number of independent rows; `classes` are the weights of the classes, if any, and
    `labels` their names. `clusters` is the number of clusters of dependent rows, if any. `configuration` is
    the SHA-256 of the configuration of the audit, if it is known. `groups` are the cases by value of each
    column of groups, if there are any. `immature` is the number of rows that were too young for a final
    outcome; None if every age is accepted.
    """

    OPTIONAL: ClassVar = ("groups", "immature")

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
    groups: tuple[GroupShares, ...] = ()
    immature: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A number of this audit compared with that of earlier audits, with a test of the difference.

    `measure` is that of a `Number`, or `forecasts` for the distribution of forecasts and `groups` for the
    shares of the values of a column, whose difference is the population stability index. A `kind` of
    "population" states that a difference is a population shift, not a fault of the model. `against` is
    "baseline" if the reference is the sealed baseline, and `group` the value of a column whose share differs
    most. `p_value_adjusted` allows for all tests of this audit and for all audits
    over which false alarms are to be rare. `size` is the word for the difference: small, moderate or large.
    If nothing can be tested, `note` gives the reason. `caution` states what a reader must know about the
    test.
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
    kind: Literal["population"] | None = None
    against: Literal["baseline"] | None = None
    group: str | None = None

    OPTIONAL: ClassVar = ("kind", "against", "group")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """An audit with the audits before it: snapshots, oldest first and the present one last, and the drift.

    `reference` are the period labels of the reference audits, `alpha` is the probability of any false alarm
    in `looks` audits in a row. `audit` is the name of the audit, and `as_of` the moment that its period was
    counted from, with days of `time_zone`. `evidence` is that of all audits so far; documents of version 0.1
    have none. `seal_check` compares the rows with sealed forecasts, if there are any. When the audit was
    made, the history ended with the record `last_id`, whose hash is `last_sha256`: a filed report that states
    this hash fixes all records before it.
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
    evidence: TrendEvidence | None = None
    seal_check: SealCheck | None = None
    last_id: int = 0
    last_sha256: str = ""

    OPTIONAL: ClassVar = ("evidence", "seal_check")

    @property
    def period(self) -> Period:
        """The period of the present audit."""
        return self.snapshots[-1].period

    @property
    def has_drifted(self) -> bool:
        """Whether anything differs from earlier audits by more than chance explains."""
        return any(drift.has_drifted for drift in self.drifts)

    @property
    def is_alarming(self) -> bool:
        """Whether evidence has reached its alarm line, or any drift is more than small.

        With many rows, tests find differences that hardly matter.
        """
        has_alarm = self.evidence is not None and self.evidence.is_alarming
        return has_alarm or any(drift.has_drifted and drift.size != SMALL_DRIFT for drift in self.drifts)
