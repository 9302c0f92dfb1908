"""R's random numbers: the very draws that R makes from a seed, by the Mersenne Twister and inversion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray


def r_bits(seed: int) -> np.random.MT19937:
    """R's `set.seed`: a congruential generator warmed up by 50 steps fills the key of the Twister."""
    values = [seed]
    for _ in range(50 + 625):
        values.append((69069 * values[-1] + 1) % 2**32)
    key = np.array(values[-624:], dtype=np.uint32)  # the one before them is where R keeps the position
    bits = np.random.MT19937()
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
    return bits


def r_uniform(bits: np.random.MT19937, n: int) -> FloatArray:
    """R's `runif`: 32 bits as a fraction.

    >>> r_uniform(r_bits(42), 2).round(7).tolist()
    [0.914806, 0.9370754]
    """
    return np.ldexp(bits.random_raw(n).astype(np.float64), -32)


def r_sample(bits: np.random.MT19937, k: int, n: int) -> FloatArray:
    """R's `sample` of 0, ..., k - 1 with replacement: the last of 16 bits, drawn again where too large."""
    drawn: list[int] = []
    while len(drawn) < n:
        value = int(2**16 * r_uniform(bits, 1)[0]) % 2 ** math.ceil(math.log2(k))
        drawn += [value] if value < k else []
    return np.array(drawn, dtype=np.float64)


def r_bernoulli(bits: np.random.MT19937, p: FloatArray) -> FloatArray:
    """R's `rbinom` of one trial: by inversion, for the rarer of the two outcomes."""
    chance, likely = r_uniform(bits, len(p)), np.maximum(p, 1 - p)
    return np.where(p > 0.5, chance < likely, chance >= likely).astype(np.float64)
