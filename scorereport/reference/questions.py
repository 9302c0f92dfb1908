"""What R is asked about one model, and its answer, checked to be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.arrays import FloatArray
from scorereport.reference.session import ReferenceFailure
from scorereport.reliability.chernoff import chernoff_quantile
from scorereport.sampling import SEED

if TYPE_CHECKING:
    from scorereport.reference.exchange import Vector

#: Bands of more cases are not resampled by default, neither here nor in R.
MOST_REDRAWN = 5000
BANDS = ("discrete", "continuous", "consistency", "confidence")
#: Seeds that R takes.
_R_SEEDS = 2**31 - 1
_BIN_COLUMNS = ("n", "x_min", "x_max", "cep")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """Outcomes and forecasts, with what to compute of them.

    `weight` is None if rows count alike; `draws` is how often R resamples a band.
    """

    y_true: FloatArray
    y_prob: FloatArray
    weight: FloatArray | None = None
    level: float = 0.9
    costs: tuple[float, float] | None = None
    draws: int = 100
    seed: int = SEED

    @property
    def redrawn(self) -> tuple[FloatArray, FloatArray]:
        """The cases whose bands are resampled: all, or so many that lie evenly among them."""
        n = len(self.y_prob)
        if n <= MOST_REDRAWN:
            return self.y_true, self.y_prob
        order = np.argsort(self.y_prob, kind="stable")
        kept = order[np.linspace(0, n - 1, MOST_REDRAWN).round().astype(np.intp)]
        return self.y_true[kept], self.y_prob[kept]

    def vectors(self) -> dict[str, Any]:
        """The arguments of the R function `certify`."""
        redrawn_outcomes, redrawn_forecasts = self.redrawn
        return {
            "x": self.y_prob,
            "y": self.y_true,
            "level": [self.level],
            "costs": [] if self.costs is None else list(self.costs),
            "drawn_x": redrawn_forecasts,
            "drawn_y": redrawn_outcomes,
            "draws": [self.draws],
            "seed": [self.seed % _R_SEEDS],
        }

    def base_vectors(self) -> dict[str, Any]:
        """The same for base R, which knows weights but not Chernoff's law."""
        extra = {"chernoff": [chernoff_quantile((1 + self.level) / 2)]}
        return {
            **self.vectors(),
            **extra,
            **({} if self.weight is None else {"weight": self.weight}),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BandAnswer:
    """The bounds of a band and the level that R writes beside it; or the reason why there is none."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """Score by score mean, MCB, DSC and UNC; bins; recalibrated probabilities; AUC, Murphy's parts; bands."""

    scores: dict[str, FloatArray]
    bins: dict[str, FloatArray]
    cep: FloatArray
    auc: float
    murphy: FloatArray
    bands: dict[str, BandAnswer]
    seconds: float


def read_answer(vectors: dict[str, Vector], question: Question) -> Answer:
    """The answer in named vectors; a `ReferenceFailure` if they are none."""
    bins = {name: _numbers(vectors, f"bins.{name}") for name in _BIN_COLUMNS}
    for name, column in bins.items():
        _check_length(f"bins.{name}", column, len(bins["n"]))
    cep = _numbers(vectors, "cep")
    _check_length("cep", cep, len(question.y_prob))
    murphy = _numbers(vectors, "murphy")
    _check_length("murphy", murphy, 3)
    bands = {name: band for name in BANDS if (band := _read_band(vectors, name)) is not None}
    return Answer(
        scores={name: _numbers(vectors, name) for name, found in vectors.items() if _is_score(name, found)},
        bins=bins,
        cep=cep,
        auc=float(_numbers(vectors, "auc")[0]),
        murphy=murphy,
        bands=bands,
        seconds=float(_numbers(vectors, "seconds")[0]),
    )


def _read_band(vectors: dict[str, Vector], name: str) -> BandAnswer | None:
    """A band, if the answer has one: there are none with weights."""
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


def _is_score(name: str, vector: Vector) -> bool:
    return "." not in name and len(vector) == 4 and name not in {"cep", "seconds"}


def _numbers(vectors: dict[str, Vector], name: str) -> FloatArray:
    vector = vectors.get(name)
    if not isinstance(vector, np.ndarray) or len(vector) == 0:
        raise ReferenceFailure(f"R answered without the numbers `{name}`.")
    return vector


def _check_length(name: str, vector: FloatArray, length: int) -> None:
    if len(vector) != length:
        raise ReferenceFailure(f"R answered with {len(vector)} numbers `{name}` instead of {length}.")
