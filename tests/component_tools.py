"""Samples and fits that the tests of components share."""

from __future__ import annotations

from itertools import product

import numpy as np

import scorereport as sr
from scorereport.inference.overfit_draws import ExcessScorer
from scorereport.reliability.simulation import draw_chunks
from scorereport.scores.registry import REGISTRY, Kind, Propriety

X = np.arange(1, 9) / 10


Y = np.array([0, 0, 1, 0, 1, 0, 1, 1.0])


FIT = sr.corp(Y, X)


#: Five standard errors: one of a million normal draws lies beyond.
FAR = 5.0


def is_plain(entry):
    """Whether a score is a proper binary one without options."""
    return entry.kind is Kind.BINARY and entry.propriety is not Propriety.IMPROPER and not entry.options


#: Every registered proper score, under the options that change its curvature.
BOUNDS = {"lower": 0.2, "upper": 0.7}


SCORES = {
    **{name: (name, {}) for name, entry in REGISTRY.items() if is_plain(entry)},
    "log": ("log_loss", {}),
    "log, limited": ("log_loss", {"limit": 0.05}),
    "bounded Brier": ("bounded_brier", BOUNDS),
    "bounded Brier, paper": ("bounded_brier", {**BOUNDS, "scale": "paper"}),
    "bounded Brier, difference": ("bounded_brier", {**BOUNDS, "scale": "difference"}),
    "bounded log": ("bounded_log_loss", BOUNDS),
    "bounded log, paper": ("bounded_log_loss", {**BOUNDS, "scale": "paper"}),
    "bounded log, difference": ("bounded_log_loss", {**BOUNDS, "scale": "difference"}),
    "bounded net benefit": ("bounded_net_benefit", BOUNDS),
    "bounded net benefit, paper": ("bounded_net_benefit", {**BOUNDS, "scale": "paper"}),
    "bounded net benefit, difference": ("bounded_net_benefit", {**BOUNDS, "scale": "difference"}),
    "elementary": ("elementary", {"theta": 0.3}),
    "regret": ("regret", {"cost": 0.3}),
    "net benefit": ("net_benefit", {"threshold": 0.3}),
    "mode-shifted": ("mode_shifted", {"mu": 0.3}),
    "beta": ("beta_regret", {"a": 2, "b": 3}),
}


def simulate(n=300, seed=1, power=0.8, digits=None):
    rng = np.random.default_rng(seed)
    x = rng.random(n) if digits is None else rng.random(n).round(digits)
    return (rng.random(n) < x**power).astype(float), x


def slow_pav(mean, weight):
    """Pool adjacent violators one by one; the fit of each entry."""
    blocks = []
    for m, w in zip(mean, weight, strict=True):
        blocks.append([m * w, w, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    return np.concatenate([[total / w] * k for total, w, k in blocks])


def slow_loss(measure, y, p):
    return measure.sign * measure.score(np.asarray(y, float), np.asarray(p, float))


def slow_excess(measure, simulation, drawn):
    """What the fit gains over the hypothesis on one drawn sample, outcome by outcome."""
    q, events = simulation.probability, np.asarray(drawn.events[0], float)
    n = np.ones(len(q)) if drawn.n is None else np.asarray(np.atleast_2d(drawn.n)[0], float)
    kept = n > 0
    n, events, q = n[kept], events[kept], q[kept]
    fit = slow_pav(events / n, n)
    total = 0.0
    for p, sign in ((q, 1), (fit, -1)):
        for outcome, cases in ((1.0, events), (0.0, n - events)):
            some = cases > 1e-12
            loss = slow_loss(measure, np.full(some.sum(), outcome), p[some])
            total += sign * (cases[some] * loss).sum()
    return total / n.sum()


def enumerate_outcomes(q):
    """Every outcome vector with its probability."""
    for outcomes in product([0.0, 1.0], repeat=len(q)):
        y = np.array(outcomes)
        yield y, float(np.prod(np.where(y == 1, q, 1 - q)))


def draw_excess(simulation, measures, *, draws, seed, redraw_cases=False):
    """The score of the hypothesis minus that of the fit: a row for each sample, a column for each measure."""
    scorer = ExcessScorer(simulation, measures, with_counts=redraw_cases or not simulation.keeps_counts)
    chunks = draw_chunks(
        simulation,
        lambda drawn: scorer.sum_up(drawn, drawn.fit()),
        range(draws),
        seed=seed,
        what="drawing outcomes",
        redraw_cases=redraw_cases,
    )
    return scorer.excess(list(chunks))
