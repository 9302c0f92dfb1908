"""Tables and figures of Dimitriadis, Gneiting and Jordan (2021), the CORP paper, computed again."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reliability.fit import Corp, corp
from scorereport.study.papers.dimitriadis_theorems import compare_dimitriadis_theorems, compare_simulations
from scorereport.study.papers.paper_numerics import r_bernoulli, r_bits, r_sample, r_uniform
from scorereport.study.papers.printed_numbers import DIMITRIADIS as PAPER
from scorereport.study.papers.printed_numbers import (
    attainable_events,
    compare_printed,
    compare_word,
    smallest_sample,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

_COMPONENTS = {
    "mean score": "score",
    "MCB": "miscalibration",
    "DSC": "discrimination",
    "UNC": "uncertainty",
}
#: Table 2, and the panels whose printed MCB, DSC and UNC are the same.
_TABLE_2 = {
    "ENS": ("Fig. 1(b)", (".266", ".066", ".044", ".244")),
    "EPC": ("Fig. 1(d)", (".234", ".022", ".032", ".244")),
    "EMOS": ("Fig. 2(d)", (".232", ".018", ".030", ".244")),
    "Logistic": ("Fig. 1(f)", (".206", ".017", ".056", ".244")),
}
#: Bins that section 3 quotes: first and last forecast, and their recalibrated probability.
_BINS = (("9/52", "20/52", ".125"), ("21/52", "42/52", ".481"))
#: Panels of Fig. 3, what they print as MCB, DSC and UNC, and the methods of their bands, as section 4 states.
_FIGURE_3 = {
    "discrete": ("ab", (".042", ".055", ".218"), ("discrete", "resampling")),
    "continuous": ("cd", (".039", ".061", ".224"), ("resampling", "resampling")),
}


def reproduce_dimitriadis(niamey: pd.DataFrame | None) -> Iterator[Comparison]:
    """Compare all numbers of the paper; those of Niamey need the columns obs, ENS, EPC, EMOS, Logistic."""
    yield from (item.compare(niamey) for item in _niamey_items())
    yield from _compare_figure_3()
    yield from compare_dimitriadis_theorems()
    yield from compare_simulations()


class _Item(NamedTuple):
    """A printed number about the forecasts at Niamey, and its computation."""

    place: str
    quantity: str
    printed: str
    measure: Callable[[pd.DataFrame], float | str]
    reason: str = ""
    corrected: float | None = None

    def compare(self, niamey: pd.DataFrame | None) -> Comparison:
        """Compare the printed number, unless the forecasts are not available."""
        place = f"{PAPER}, {self.place}"
        if niamey is None:
            return Comparison(
                subject=place,
                quantity=self.quantity,
                engine=None,
                reference=self.printed,
                verdict=Verdict.NOT_COMPARED,
                reason="Needs the forecasts at Niamey of the R package reliabilitydiag, which is not "
                "installed.",
            )
        engine = self.measure(niamey)
        if isinstance(engine, str):
            return compare_word(place, self.quantity, self.printed, engine)
        return compare_printed(
            place, self.quantity, self.printed, engine, corrected=self.corrected, reason=self.reason
        )


def _niamey_items() -> Iterator[_Item]:
    yield _Item("section 2", "ENS, members of the ensemble", "52", _members)
    yield from _items_of_table_2()
    yield _item_of_sample_size()
    for bin_ in _BINS:
        yield from _items_of_bin(*bin_)
    for label, sign in (("mean score", 1), ("MCB", 1), ("DSC", -1)):
        yield _Item("section 5", f"forecast with the best {label}", "Logistic", _best(label, sign))
    quantity = "ENS, MCB of the logarithmic score (not printed, but rain was certain on a dry day)"
    yield _Item("Table 1", quantity, "inf", lambda niamey: str(_component("ENS", "MCB", "log")(niamey)))


def _items_of_table_2() -> Iterator[_Item]:
    for name, (figure, printed) in _TABLE_2.items():
        for label, value in zip(_COMPONENTS, printed, strict=True):
            yield _Item("Table 2", f"{name}, {label}", value, _component(name, label))
            if label != "mean score":
                yield _Item(figure, f"{name}, {label}", value, _component(name, label))


def _item_of_sample_size() -> _Item:
    """The n of a caption, which contradicts the calendar and the printed UNC."""
    days = (date(2016, 10, 1) - date(2016, 7, 1)).days
    reason = f"E1: July to September has {days} days; with 86 cases no number of events has UNC .244."
    corrected = None if attainable_events(86, ".244") else float(days)
    return _Item("Fig. 1", "forecasts n", "86", lambda niamey: _fit(niamey, "ENS").n, reason, corrected)


def _items_of_bin(first: str, last: str, cep: str) -> Iterator[_Item]:
    middle = float(Fraction(first) + Fraction(last)) / 2
    fewest = smallest_sample(cep)
    rows = (
        ("first forecast", "x_min", first),
        ("last forecast", "x_max", last),
        ("recalibrated probability", "cep", cep),
        (f"cases (not printed, the fewest with {cep})", "n", str(fewest)),
    )
    for label, column, value in rows:
        quantity = f"ENS, bin from {first} to {last}: {label}"
        yield _Item("section 3", quantity, value, _of_bin(middle, column))


def _fit(niamey: pd.DataFrame, forecast: str) -> Corp:
    return corp(niamey["obs"].to_numpy(), niamey[forecast].to_numpy())


def _members(niamey: pd.DataFrame) -> float:
    """The smallest n up to 100 with all forecasts of ENS multiples of 1/n; NaN if there is none."""
    x = niamey["ENS"].to_numpy()
    return next((m for m in range(1, 101) if np.abs(m * x - np.round(m * x)).max() < 1e-9), math.nan)


def _component(forecast: str, label: str, score: str = "brier") -> Callable[[pd.DataFrame], float]:
    return lambda niamey: getattr(_fit(niamey, forecast).decompose(score), _COMPONENTS[label])


def _best(label: str, sign: int) -> Callable[[pd.DataFrame], str]:
    """The forecast with the smallest component, or with the largest if the sign is -1."""
    return lambda niamey: min(_TABLE_2, key=lambda name: sign * _component(name, label)(niamey))


def _of_bin(inside: float, column: str) -> Callable[[pd.DataFrame], float]:
    """One column of the bin of ENS that contains a forecast; NaN if there is none."""

    def measure(niamey: pd.DataFrame) -> float:
        bins = _fit(niamey, "ENS").bins
        found = bins.loc[(bins["x_min"] <= inside) & (bins["x_max"] >= inside), column]
        return float(found.iloc[0]) if len(found) else math.nan

    return measure


def _compare_figure_3() -> Iterator[Comparison]:
    for kind, (panels, printed, methods) in _FIGURE_3.items():
        fit = figure_3(kind)
        decomposition = fit.decompose("brier")
        place = f"{PAPER}, Fig. 3({','.join(panels)})"
        for label, value in zip(("MCB", "DSC", "UNC"), printed, strict=True):
            engine = getattr(decomposition, _COMPONENTS[label])
            yield compare_printed(place, f"{label} of the draws that R makes from seed 42", value, engine)
        yield compare_word(place, "type of forecast", kind, fit.forecast_type)
        for panel, band, method in zip(panels, ("consistency", "confidence"), methods, strict=True):
            place, quantity = f"{PAPER}, Fig. 3({panel})", f"method of the {band} band"
            yield compare_word(place, quantity, method, fit.band(band, resamples=2).method)


def figure_3(kind: str) -> Corp:
    """The sample of Fig. 3: 1024 uniform forecasts x, "discrete" ones with 10 values, and events at rate √x.

    R drew it after `set.seed(42)`, by a Mersenne Twister, `sample()` and `rbinom()`; the same bits give
    the same draws.

    >>> figure_3("discrete").events
    696
    """
    bits = r_bits(42)
    x = (r_sample(bits, 10, 1024) + 0.5) / 10 if kind == "discrete" else r_uniform(bits, 1024)
    return corp(r_bernoulli(bits, np.sqrt(x)), x)
