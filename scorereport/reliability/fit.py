"""`corp()`: the isotonic fit of outcomes to forecasts, with its decompositions, bands and curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray, as_immutable, set_read_only
from scorereport._utils.checks import (
    CheckedCases,
    check_binary,
    check_clusters,
    check_finite,
    check_inside,
    check_option,
    check_real,
    check_whole,
)
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import format_count, format_counted, format_percent, format_plain
from scorereport._utils.overviews import Overview, overview_html, overview_repr
from scorereport._utils.registration import call_registered
from scorereport.errors import UsageError
from scorereport.reliability.asymptotic_bands import QUANTILES, R_TABLE_ENDS
from scorereport.reliability.bands import (
    COVERAGES,
    KINDS,
    METHODS,
    Band,
    BandRequest,
    draw_calibrated_curves,
    honest_confidence_band,
    pointwise_band,
    simultaneous_consistency_band,
)
from scorereport.reliability.blocks import Blocks, distinct_forecasts, pool_cases
from scorereport.reliability.decomposition import (
    decompose_by_value,
    decompose_cases,
    decompose_real,
    show_parts,
)
from scorereport.reliability.fitted_sample import FittedSample, order_cases, order_clustered

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray  # noqa: TC004  # the type of a field

    from scorereport.reliability.decomposition import Decomposition, MurphyDecomposition

#: Levels closer to 1 have quantiles that floating point cannot distinguish.
_HIGHEST_LEVEL_GAP = 1e-12
#: Forecasts whose distinct values are all at least this far apart are "discrete".
DISCRETE_GAP = 0.01
#: Fits of more cases are displayed without their score, which takes a pass over all cases.
_QUICK_CASES = 10_000_000


def corp(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    functional: str = "probability",
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Corp:
    """Fit the outcomes by isotonic regression on the forecasts (CORP); ties are pooled first.

    Parameters
    ----------
    y_true : outcomes 0 or 1; any real numbers if `functional="mean"`
    y_prob : probabilities; any real numbers if `functional="mean"`
    sample_weight : not negative; in the fit, whole weights of any kind equal repeated rows
    functional : "probability" of an event, or "mean" of a real outcome
    weight_kind : the meaning of weights in bands and tests: "sampling" weights of rows that were drawn once,
        or "frequency", how often each row was observed
    cluster : labels of clusters of dependent cases, which bands and tests draw as a whole

    References
    ----------
    Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118

    >>> fit = corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.5])
    >>> fit.bins
       x_min  x_max  n  events  cep
    0    0.1    0.1  1       0  0.0
    1    0.3    0.3  2       1  0.5
    2    0.5    0.6  2       2  1.0
    >>> round(fit.decompose("brier").miscalibration, 6)
    0.1
    """
    binary = check_option(functional, "functional", ("probability", "mean")) == "probability"
    checked = (check_binary if binary else check_real)(y_true, y_prob, sample_weight, weight_kind)
    codes = check_clusters(cluster, len(checked.y_true))
    if codes is None:
        cases = order_cases(checked, binary=binary)
    else:
        cases, codes = order_clustered(checked, codes)
    blocks = pool_cases(cases, binary=binary)
    forecasts = as_immutable(checked.y_prob)  # several fits share the array of a panel
    return Corp(
        y_prob=forecasts,
        cases=cases,
        blocks=blocks,
        functional=functional,
        weight_kind=weight_kind,
        cluster=codes,
        outcome=set_read_only(checked.y_true.astype(np.bool_)) if binary else None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Corp:
    """An isotonic fit: its blocks, and the cases in canonical order.

    `y_prob` and, of a fit of events, `outcome` are in the order of the input.
    """

    y_prob: FloatArray
    cases: CheckedCases
    blocks: Blocks
    functional: str
    weight_kind: str = "sampling"
    cluster: IntArray | None = None
    outcome: NDArray[np.bool_] | None = None

    __repr__ = overview_repr
    _repr_html_ = overview_html

    @cached_property
    def distinct(self) -> Blocks:
        """One block for each distinct forecast, with its number of cases and events."""
        return distinct_forecasts(self.cases, binary=self.functional == "probability")

    @cached_property
    def sample(self) -> FittedSample:
        """The cases as a sample, for bands and tests."""
        return FittedSample(
            cases=self.cases,
            distinct=self.distinct,
            blocks=self.blocks,
            cluster=self.cluster,
            weight_kind=self.weight_kind,
        )

    @property
    def n(self) -> float:
        """Number of cases; with weights, their sum."""
        return self.blocks.n.sum().item()

    @property
    def events(self) -> float:
        """Number of events; with weights, the sum of their weights."""
        return self.blocks.events.sum().item()

    @property
    def prevalence(self) -> float:
        """Share of events; for real outcomes their mean."""
        return self.events / self.n

    @property
    def bins(self) -> pd.DataFrame:
        """The blocks as a table: x_min, x_max, n, events and cep, the recalibrated probability.

        For real outcomes the last two are named sum and mean.
        """
        import pandas as pd

        b = self.blocks
        total, mean = ("events", "cep") if self.functional == "probability" else ("sum", "mean")
        return pd.DataFrame({"x_min": b.x_min, "x_max": b.x_max, "n": b.n, total: b.events, mean: b.mean})

    def to_frame(self) -> pd.DataFrame:
        """The blocks as a table, the same as `bins`."""
        return self.bins

    @property
    def cep(self) -> FloatArray:
        """Recalibrated probability of each case, in the order of the input."""
        return self.recalibrate(self.y_prob)

    @property
    def forecast_type(self) -> str:
        """Either "discrete", if distinct forecasts are all at least 0.01 apart, or "continuous"."""
        gaps = np.diff(self.distinct.x_min)
        return "discrete" if len(gaps) == 0 or gaps.min() >= DISCRETE_GAP else "continuous"

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """The reliability curve: forecast and recalibrated probability at both ends of each block."""
        return self.blocks.corners

    def recalibrate(self, p: ArrayLike) -> FloatArray:
        """Recalibrate forecasts: interpolated between blocks, constant beyond the ends of the curve.

        >>> corp([0, 1], [0.2, 0.6]).recalibrate([0.1, 0.4, 0.9])
        array([0. , 0.5, 1. ])
        """
        return np.interp(check_finite(p, "p"), *self.corners)

    def decompose(self, score: str | Callable[..., FloatArray] = "brier", **options: Any) -> Decomposition:
        """Split the mean score into miscalibration, discrimination and uncertainty.

        Parameters
        ----------
        score : the name of a proper binary score ("brier", "log", "misclassification", "spherical", ...)
            or a function of (y_true, y_prob) that returns one score per case, lower is better; the mean of
            real outcomes is always scored by its squared error
        options : passed on to the score, such as `theta=` of "elementary"
        """
        if self.functional == "mean":
            if score != "brier" or options:
                raise UsageError(f"Real outcomes are decomposed by their squared error; got score {score!r}.")
            return decompose_real(self.cases, self.blocks)
        return decompose_cases(self.cases, self.blocks, score, options)

    def murphy(self) -> MurphyDecomposition:
        """Compute Murphy's reliability, resolution and uncertainty of the Brier score, by forecast value."""
        self.require_events("Murphy's decomposition")
        return decompose_by_value(self.distinct)

    def band(
        self,
        kind: str = "consistency",
        level: float = 0.9,
        *,
        method: str = "auto",
        coverage: str = "pointwise",
        resamples: int | None = None,
        seed: int = SEED,
        points: int = 500,
        quantiles: str = "exact",
    ) -> Band:
        """Compute a band for the reliability curve.

        Parameters
        ----------
        kind : "consistency", around the diagonal, or "confidence", around the estimate
        level : confidence level of the band
        method : for a pointwise band: "resampling"; "discrete", normal theory at each distinct forecast;
            "continuous", Chernoff's distribution on a grid of 0.01; or "auto", the paper's choice among them
        coverage : "pointwise", at each forecast separately, or "simultaneous", of the whole curve: by split
            resampling around the diagonal, and the honest band of Dimitriadis et al. (2023) otherwise
        resamples, seed : number of draws, None for as many as a Monte-Carlo error of 2 % of the width takes
            (1,000 for a simultaneous band); and their seed
        points : the band is drawn at up to this many forecasts, evenly spread, and at every edge of a block
        quantiles : quantiles of Chernoff's distribution: "exact", or "r" as the R package interpolates them

        >>> band = corp([0, 1, 1, 0] * 50, [0.2, 0.8, 0.8, 0.2] * 50).band(method="discrete")
        >>> band.lower.round(3), band.upper.round(3)
        (array([0.134, 0.734]), array([0.266, 0.866]))
        """
        self.require_events("A band")
        request = BandRequest(
            kind=check_option(kind, "kind", KINDS),
            level=check_inside(level, "level", 0, 1, closed="neither"),
            method=check_option(method, "method", METHODS),
            resamples=None if resamples is None else check_whole(resamples, "resamples", 2),
            seed=check_whole(seed, "seed", 0),
            points=check_whole(points, "points", 2),
            quantiles=check_option(quantiles, "quantiles", QUANTILES),
        )
        if request.level > 1 - _HIGHEST_LEVEL_GAP:
            raise UsageError(
                f"`level` must not be within {format_plain(_HIGHEST_LEVEL_GAP)} of 1; got {level!r}."
            )
        if quantiles == "r":
            check_inside(level, "level", 0, R_TABLE_ENDS, closed="both")
        if check_option(coverage, "coverage", COVERAGES) == "pointwise":
            return pointwise_band(self.sample, request)
        if method != "auto":
            raise UsageError(
                f'A simultaneous band has only one method; leave `method` "auto", not {method!r}.'
            )
        if request.around_diagonal:
            curves = draw_calibrated_curves(self.sample, request)
            return simultaneous_consistency_band(self.sample, curves, request.level)
        return honest_confidence_band(self.sample, request.level)

    def plot(self, kind: str = "reliability", **keywords: Any) -> Any:
        """Draw the fit by a plot of `scorereport.plots`, such as "reliability", "murphy" or "roc".

        Keywords such as `ax` and `color` are those of the plot; it returns the Axes.
        """
        return call_registered("plot", self, kind, **keywords)

    def require_events(self, what: str) -> None:
        """Raise an error if outcomes are real numbers, for results that need events."""
        if self.functional != "probability":
            raise UsageError(f"{what} needs outcomes 0 and 1; this fit is of the mean of real outcomes.")

    def _describe(self) -> Overview:
        blocks = self.blocks
        mean = ("mean outcome", format_plain(self.prevalence))
        events = ("events", f"{format_count(self.events)} ({format_percent(self.prevalence)})")
        facts = [
            events if self.functional == "probability" else mean,
            ("forecasts", f"{format_plain(blocks.x_min[0], 4)} to {format_plain(blocks.x_max[-1], 4)}"),
            ("blocks", format_count(len(blocks))),
        ]
        if self.cases.weight is not None:
            facts.append(("weights", f"{self.weight_kind}, with the sum {format_count(self.n)}"))
        if self.cluster is not None:
            facts.append(("clusters", format_count(self.cluster.max() + 1)))
        title = f"Corp: isotonic fit of {format_counted(len(self.cases.y_true), 'row')}"
        return Overview(title=title, facts=(*facts, *self._describe_score()))

    def _describe_score(self) -> tuple[tuple[str, str], ...]:
        """The decomposed Brier score, or squared error; nothing if it would take long to compute."""
        if len(self.cases.y_true) > _QUICK_CASES:
            return ()
        label = "Brier score" if self.functional == "probability" else "squared error"
        (_, score), *parts = show_parts(self.decompose())
        return ((label, score), *parts)
