"""Reports and their methods that two test files share."""

from __future__ import annotations

import numpy as np

import scorereport as sr

COSTS = (0.2, 0.6)


RNG = np.random.default_rng(7)


P = np.append(RNG.random(45).round(1).clip(0.05, 0.95), [0.5, 0.2, 0.6, 0.05, 0.95])


Y = (RNG.random(50) < 0.2 + 0.6 * P).astype(float)


def band(kind, **options):
    found = sr.corp(Y, P).band(kind, 0.9, **options)
    return found.lower, found.upper
