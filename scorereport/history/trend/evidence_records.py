"""Records of sequential evidence: what an audit adds to the evidence against a hypothesis, and the baseline.

Evidence is an e-value: a number that is at most 1 on average if the hypothesis is true. The e-values of
audits that share no rows are multiplied. All evidence is stored as natural logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

#: What evidence speaks against: calibration within a tolerance, the calibration curve of the baseline, a
#: limit on the mean of a bounded score, and that another model is not better.
Hypothesis = Literal["calibration", "baseline", "limit", "difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeDigest:
    """Outcomes of an audit in fixed bins of a model's forecasts, to which later audits fit their bets.

    `bins` are the numbers of the bins that are not empty (see `results.tallies.EDGES`), `weights` the numbers
    of cases in them, and `events` those with the event, or with the class `label`.
    """

    model: str
    label: str = ""
    bins: tuple[int, ...]
    weights: tuple[float, ...]
    events: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMoments:
    """Sums of a bounded score of a model over the cases of an audit, or of its difference from `other`.

    Scores are divided by `upper`, the largest value, and so are between 0 and 1, or -1 and 1 for differences
    (`model` minus `other`). `count` is the sum of the weights, each at most 1, `count_squares` that of their
    squares; `total`, `squares` and the rest are sums over cases of weight times score, squared weight times
    score, and squared weight times squared score.
    """

    model: str
    other: str = ""
    measure: str
    upper: float
    count: float
    count_squares: float
    total: float
    total_squares: float
    squares: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BetResult:
    """A bet that was fixed before the outcomes were read, its weight, and the log evidence of its rows.

    `label` is the class that it refers to, if there are several. The numbers of the bet are its `parameters`.
    """

    name: str
    label: str = ""
    parameters: tuple[float, ...] = ()
    weight: float
    log_evidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFactor:
    """Evidence of one audit against one hypothesis about a model.

    `measure` is that of the limit, or the score of a difference; `bound` the limit, or the tolerance in
    log-odds. `log_factor` is the logarithm of the weighted mean of the bets.
    """

    model: str
    other: str = ""
    hypothesis: Hypothesis
    measure: str = ""
    bound: float = 0.0
    is_upper: bool = True
    bets: tuple[BetResult, ...]
    log_factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(EvidenceFactor):
    """Evidence of an audit, and of all counted audits up to its period, against one hypothesis.

    `log_product` is the evidence of all these audits together, `log_detector` that for a change at one of
    them, R = e (1 + R), which raises an alarm at `alarm_at`. `audits` is the number of factors.
    """

    log_product: float
    log_detector: float
    alarm_at: float
    audits: int
    is_alarm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """All evidence of an audit, and what later audits need from it.

    Only the rows from `start` up to, but not including, `end` are counted: rows of audits before are not
    counted again. False alarms occur at most `alpha` times in `looks` audits on average; `level` is that of
    confidence sequences. Audits whose counted days begin before `since` do not count. `fitted_on` are the
    hashes of the records that bets were fitted on, `baseline` is the hash of the record that seals the
    baseline, if there is one.
    """

    start: str | None
    end: str
    alpha: float
    looks: int
    level: float
    since: str = ""
    fitted_on: tuple[str, ...] = ()
    baseline: str = ""
    digests: tuple[OutcomeDigest, ...] = ()
    moments: tuple[ScoreMoments, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShares:
    """Numbers of independent cases of a sample by value of a column of groups."""

    column: str
    values: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBaseline:
    """The fixed sample that later audits are compared with, sealed by a record of its own.

    `source` is its definition in the configuration: a file, or audits, whose records have the hashes
    `records`. `size` is the effective number of independent cases, `level` that of the band of the
    calibration curve. `shares` are those of the event and the rest, or of the classes `labels`. For each of
    the `digests`, `means` has the mean forecast, and `sizes` the number of independent forecasts.
    """

    OPTIONAL: ClassVar = ("groups", "means", "sizes", "clusters")

    source: str
    start: str | None
    end: str
    rows: int
    size: float
    data_sha256: str = ""
    records: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    level: float
    digests: tuple[OutcomeDigest, ...]
    groups: tuple[GroupShares, ...] = ()
    means: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()
    clusters: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePoint:
    """Evidence against one hypothesis after the audit of a period."""

    period: str
    log_product: float
    log_detector: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSeries:
    """Evidence against one hypothesis after each counted audit, oldest first, and a sentence on the last."""

    model: str
    other: str = ""
    hypothesis: Hypothesis
    measure: str = ""
    bound: float = 0.0
    is_upper: bool = True
    alarm_at: float
    points: tuple[EvidencePoint, ...]
    is_alarm: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencePoint:
    """Mean of a score over all counted audits up to a period; the intervals hold at all audits at once."""

    period: str
    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceSequence:
    """Confidence sequence of the mean of a score of a model: the interval after each audit, oldest first."""

    model: str
    measure: str
    level: float
    points: tuple[SequencePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStanding:
    """Whether a model may still be the best, by the evidence that another one is better.

    `log_evidence` is adjusted for the number of models. `left` is the period in which it reached the
    threshold for the first time; a model that left does not return, and keeps the evidence of that period.
    """

    model: str
    log_evidence: float
    left: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendEvidence:
    """Evidence of all counted audits up to this one, as the report and the site show it.

    Models are compared by `measure`. `audits` is the number of counted audits; documents of many audits have
    the points of the last ones only. `notes` state what was not counted.
    """

    series: tuple[EvidenceSeries, ...] = ()
    sequences: tuple[ConfidenceSequence, ...] = ()
    standings: tuple[ModelStanding, ...] = ()
    measure: str = ""
    tolerance: float = 0.0
    alpha: float = 0.05
    looks: int = 12
    baseline: str = ""
    audits: int = 0
    notes: tuple[str, ...] = ()

    @property
    def counted_audits(self) -> int:
        """The number of counted audits, at least that of the points of a series."""
        return max([self.audits, *(len(series.points) for series in self.series)])

    @property
    def is_alarming(self) -> bool:
        """Whether the evidence against any hypothesis has reached its alarm line."""
        return any(series.is_alarm for series in self.series)
