"""Samples that the tests of calibration share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy.special import expit, logit

RNG = np.random.default_rng(7)


N = 400


P = RNG.beta(1, 3, N)


Y = (RNG.random(N) < expit(0.3 + 0.7 * logit(P))).astype(float)


X = logit(P)


WHOLE = RNG.integers(0, 4, N).astype(float)


FRACTIONAL = RNG.random(N) + 0.1


CLUSTER = RNG.integers(0, 25, N)


def refused(error, call):
    with pytest.raises(error) as refusal:
        call()
    return str(refusal.value)


def repeat(*arrays):
    return [array.repeat(WHOLE.astype(int)) for array in arrays]


def bits(result):
    """All that a result holds, so that equal means equal to the last bit."""
    if isinstance(result, tuple):
        return [bits(item) for item in result]
    if is_dataclass(result):
        return [bits(getattr(result, field.name)) for field in fields(result)]
    return np.asarray(result).tobytes() if isinstance(result, np.ndarray | float) else result


def assert_agree(left, right, tolerance=1e-10):
    np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)
