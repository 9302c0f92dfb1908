"""What a difference of Murphy curves tells, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray


def describe_dominance(
    names: tuple[str, str], dominant: str, theta: FloatArray, told: NDArray[np.int_], level: float
) -> str:
    """One sentence: what was measured, and what the simultaneous band can tell of it."""
    first, second = names
    measured = {
        "first": f"{first} is at least as good as {second} at every cost",
        "second": f"{second} is at least as good as {first} at every cost",
        "neither": f"neither {first} nor {second} is best at every cost",
        "both": f"{first} and {second} are equally good at every cost.",
    }[dominant]
    if dominant == "both":
        return f"In these data {measured}"
    better = [_range(theta, told == sign) for sign in (-1, 1)]
    return f"In these data {measured}, {_describe_band(names, better, format_level(level))}."


def _describe_band(names: tuple[str, str], better: list[str], level: str) -> str:
    if not any(better):
        return f"but the {level} simultaneous band cannot tell them apart at any cost"
    told = [f"{name} is better at {where}" for name, where in zip(names, better, strict=True) if where]
    return f"and the {level} simultaneous band tells that {' and that '.join(told)}; elsewhere it cannot tell"


def _range(theta: FloatArray, chosen: NDArray[np.bool_]) -> str:
    """The costs chosen, in words; empty if none."""
    where = np.flatnonzero(chosen)
    if len(where) == 0:
        return ""
    if len(where) == 1:
        return f"cost {theta[where[0]]:.3g}"
    some = "" if len(where) == where[-1] - where[0] + 1 else "some "
    return f"{some}costs between {theta[where[0]]:.3g} and {theta[where[-1]]:.3g}"
