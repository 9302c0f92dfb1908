"""Samples and fits that the tests of bands share."""

from __future__ import annotations

from functools import cache

import numpy as np

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.reliability.sampling import random_stream

FIT = sr.corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.5, 0.7, 0.9])


SAMPLES = {
    "continuous, n = 60": 60,
    "5 values, n = 200": 200,
    "rare, n = 150": 150,
}


@cache
def sample(name):
    """Outcomes and forecasts of a calibrated, a discrete and a rare-event sample."""
    rng = np.random.default_rng(SAMPLES[name])
    n = SAMPLES[name]
    x = {60: rng.random(n), 200: rng.integers(1, 6, n) / 6, 150: rng.beta(1, 18, n)}[n]
    return (rng.random(n) < x).astype(float), x


def drawn_curves(fit, kind, resamples, seed=SEED):
    """The curves that a resampled band is made of, at all distinct forecasts."""
    x = fit.distinct.x_min
    simulation = fit.sample.simulation(x if kind == "consistency" else fit.recalibrate(x))
    return redraw_curves(simulation, x, resamples, seed)


def draw_samples(simulation, draws, seed, *, redraw_cases=False):
    """Samples one by one, as they are drawn in chunks, each with random numbers of its own."""
    size, draw = (
        simulation.samples_of_a_chunk,
        simulation.redraw_cases if redraw_cases else simulation.redraw_outcomes,
    )
    return [
        draw(random_stream(seed, number // size), size).select(slice(number % size, number % size + 1))
        for number in range(draws)
    ]
