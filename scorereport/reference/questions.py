"""The question to R about one model, and its answer, which is checked to be complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.choices import SEED
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.reference.deviations import draws_lone_forecasts
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reliability.asymptotic_bands import chernoff_quantile
from scorereport.results.settings import EvaluationSettings
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from scorereport.reference.exchange import SentVector, Vector

#: The most cases with which bands are resampled by default, here and in R.
MOST_REDRAWN = 1000
RESAMPLED = ("consistency", "confidence")
#: Bands that an answer may have; base R adds its own where those of the package are spoilt.
BANDS = ("discrete", "continuous", *RESAMPLED, *(f"base_{kind}" for kind in RESAMPLED))
#: Seeds of R are below this.
_R_SEEDS = 2**31 - 1
_BIN_COLUMNS = ("n", "x_min", "x_max", "cep")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """Outcomes and forecasts, and the settings of what R computes from them.

    `weight` is None if all rows have the same weight; `draws` is the number of resamples of a band in R, 0
    for no resampled bands. `band_rows` is the number of rows of the continuous band, None for all.
    """

    y_true: FloatArray
    y_prob: FloatArray
    weight: FloatArray | None = None
    level: float = 0.9
    costs: tuple[float, float] | None = None
    draws: int = 200
    seed: int = SEED
    band_rows: int | None = None

    @property
    def redrawn(self) -> tuple[FloatArray, FloatArray]:
        """The cases whose bands are resampled: all, or `MOST_REDRAWN` cases spread evenly among them."""
        return self._spread(MOST_REDRAWN)

    @property
    def banded(self) -> tuple[FloatArray, FloatArray]:
        """The cases of the continuous band: all, or `band_rows` cases spread evenly among them."""
        return self._spread(self.band_rows)

    @property
    def is_banded_whole(self) -> bool:
        """Whether the continuous band has all cases."""
        return self.band_rows is None or self.band_rows >= len(self.y_prob)

    def _spread(self, most: int | None) -> tuple[FloatArray, FloatArray]:
        """All cases, or this many of them, spread evenly in the order of their forecasts."""
        n = len(self.y_prob)
        if most is None or n <= most:
            return self.y_true, self.y_prob
        order = np.argsort(self.y_prob, kind="stable")
        kept = order[np.linspace(0, n - 1, most).round().astype(np.intp)]
        return self.y_true[kept], self.y_prob[kept]

    @property
    def formulas(self) -> dict[str, str]:
        """The formula in R of each score of an evaluation that has one."""
        measures = choose_measures(EvaluationSettings(cost_interval=self.costs))
        formulas = {measure.name: REGISTRY[measure.name].r_formula for measure in measures}
        return {name: formula for name, formula in formulas.items() if formula}

    def vectors(self) -> dict[str, SentVector]:
        """The arguments of the R function `certify`."""
        redrawn_outcomes, redrawn_forecasts = self.redrawn
        nothing = np.empty(0)  # the continuous band then has all rows, which are not sent twice
        banded_outcomes, banded_forecasts = (nothing, nothing) if self.is_banded_whole else self.banded
        return {
            "x": self.y_prob,
            "y": self.y_true,
            "level": [self.level],
            "scores": list(self.formulas),
            "formulas": list(self.formulas.values()),
            "costs": [] if self.costs is None else list(self.costs),
            "banded_x": banded_forecasts,
            "banded_y": banded_outcomes,
            "drawn_x": redrawn_forecasts,
            "drawn_y": redrawn_outcomes,
            "draws": [self.draws],
            "lone": [float(draws_lone_forecasts(redrawn_forecasts, self.draws))],
            "seed": [self.seed % _R_SEEDS],
        }

    def base_vectors(self) -> dict[str, SentVector]:
        """The arguments for base R, which has weights but no quantile of Chernoff's distribution."""
        extra = {"chernoff": [chernoff_quantile((1 + self.level) / 2)]}
        return {
            **self.vectors(),
            **extra,
            **({} if self.weight is None else {"weight": self.weight}),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BandAnswer:
    """The bounds of a band and the level that R reports for it; or the reason why there is none."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The answer of R about one model.

    For each score the mean, MCB, DSC, UNC and the mean of a perfect forecast; the bins; recalibrated
    probabilities; the numbers of cases and of events; AUC; Murphy's components; bands.
    """

    scores: dict[str, FloatArray]
    bins: dict[str, FloatArray]
    cep: FloatArray
    totals: FloatArray
    auc: float
    murphy: FloatArray
    bands: dict[str, BandAnswer]
    seconds: float


def read_answer(vectors: dict[str, Vector], question: Question) -> Answer:
    """Read an answer from named vectors; raises a `ReferenceFailure` if they are not a valid answer."""
    bins = {name: _numbers(vectors, f"bins.{name}") for name in _BIN_COLUMNS}
    for name, column in bins.items():
        _check_length(f"bins.{name}", column, len(bins["n"]))
    cep = _numbers(vectors, "cep")
    _check_length("cep", cep, len(question.y_prob))
    murphy, totals = _numbers(vectors, "murphy"), _numbers(vectors, "totals")
    _check_length("murphy", murphy, 3)
    _check_length("totals", totals, 2)
    bands = {name: band for name in BANDS if (band := _read_band(vectors, name)) is not None}
    _check_complete(vectors, bands, question)
    return Answer(
        scores=_read_scores(vectors),
        bins=bins,
        cep=cep,
        totals=totals,
        auc=float(_numbers(vectors, "auc")[0]),
        murphy=murphy,
        bands=bands,
        seconds=float(_numbers(vectors, "seconds")[0]),
    )


def _check_complete(vectors: dict[str, Vector], bands: dict[str, BandAnswer], question: Question) -> None:
    """Refuse an answer that lacks a requested score or band."""
    for name in question.formulas:
        _numbers(vectors, f"score.{name}")
    wanted = () if question.weight is not None else ("discrete", "continuous")
    resampled = () if question.weight is not None or question.draws == 0 else RESAMPLED
    for name in (*wanted, *resampled):
        if name not in bands:
            raise ReferenceFailure(f"R answered without the band `{name}`.")


def _read_band(vectors: dict[str, Vector], name: str) -> BandAnswer | None:
    """A band of an answer; None if there is none, as with weights."""
    nothing = np.empty(0)
    if f"{name}.error" in vectors:
        text = " ".join(map(str, vectors[f"{name}.error"]))
        return BandAnswer(x=nothing, lower=nothing, upper=nothing, level=np.nan, error=text)
    if f"{name}.x" not in vectors:
        return None
    x, lower, upper, level = (
        _numbers(vectors, f"{name}.{part}") for part in ("x", "lower", "upper", "level")
    )
    for part, column in (("lower", lower), ("upper", upper)):
        _check_length(f"{name}.{part}", column, len(x))
    _check_length(f"{name}.level", level, 1)
    return BandAnswer(x=x, lower=lower, upper=upper, level=float(level[0]))


def _read_scores(vectors: dict[str, Vector]) -> dict[str, FloatArray]:
    scores = {
        name.removeprefix("score."): _numbers(vectors, name) for name in vectors if name.startswith("score.")
    }
    for name, components in scores.items():
        _check_length(f"score.{name}", components, 5)
    return scores


def read_vector(vectors: dict[str, Vector], name: str, length: int) -> FloatArray:
    """The numbers of an answer with this name; raises a `ReferenceFailure` if there are not `length`."""
    vector = _numbers(vectors, name)
    _check_length(name, vector, length)
    return vector


def _numbers(vectors: dict[str, Vector], name: str) -> FloatArray:
    vector = vectors.get(name)
    if not isinstance(vector, np.ndarray) or len(vector) == 0:
        raise ReferenceFailure(f"R answered without the numbers `{name}`.")
    return vector


def _check_length(name: str, vector: FloatArray, length: int) -> None:
    if len(vector) != length:
        raise ReferenceFailure(f"R answered with {len(vector)} numbers `{name}` instead of {length}.")
