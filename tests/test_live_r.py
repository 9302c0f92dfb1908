"""R itself, in its own process: `stats::isoreg` through rpy2, and reliabilitydiag with bands and test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, hypergeom
from test_bands import SAMPLES, agree_in_law, drawn_curves, sample, widen

import scorereport as sr
from scorereport.inference import miscalibration_test

pytestmark = pytest.mark.r

PROBE = """
import json, sys
import rpy2.robjects as r
import rpy2.robjects.vectors as v
x, y = json.load(sys.stdin)
r.globalenv["x"], r.globalenv["y"] = v.FloatVector(x), v.FloatVector(y)
fit = r.r("{o <- order(x, -y); z <- numeric(length(x)); z[o] <- isoreg(y[o])$yf; z}")
print(json.dumps(list(fit)))
"""


def give_up(reason):
    """Skip with the reason, or fail if R is demanded."""
    if os.environ.get("SCOREREPORT_REQUIRE_R") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def ask_r(x, y):
    """Fit in R; where R or rpy2 is absent skip with the reason, or fail if R is demanded."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        input=json.dumps([x.tolist(), y.tolist()]),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode == 0:
        return np.array(json.loads(done.stdout.splitlines()[-1]))
    return give_up(f"R through rpy2 is not there: {done.stderr.strip().splitlines()[-1]}")


@pytest.mark.parametrize("digits", [1, 2, 17])
def test_base_r_agrees(digits):
    rng = np.random.default_rng(digits)
    x = rng.random(3000).round(digits)
    y = (rng.random(3000) < x**2).astype(float)
    np.testing.assert_allclose(sr.corp(y, x).cep, ask_r(x, y), rtol=0, atol=1e-12)


# reliabilitydiag

#: Draws of a band in R, at 5 ms each; ours are many more, so that R's alone limit what can be seen.
DRAWS, OURS = 1000, 5000
LEVELS = (0.8, 0.9, 0.95)
KINDS = {"consistency": "diagonal", "confidence": "estimate"}

SCRIPT = """
suppressPackageStartupMessages(library(reliabilitydiag))
options(warn = -1, lifecycle_verbosity = "quiet")
given <- jsonlite::fromJSON(file("stdin"))
set.seed(given$seed)
diagram <- function(...) suppressMessages(reliabilitydiag(x = given$x, y = given$y, ...))
band <- function(level, position) as.list(as.data.frame(diagram(region.method = given$method,
  region.level = level, region.position = position, n.boot = given$draws)[[1]]$regions))
answer <- suppressMessages(if (given$what == "bands") Map(band, given$level, given$position) else
  as.list(miscalibration_test(diagram(region.level = NA))))
cat(jsonlite::toJSON(unname(answer), digits = NA, na = "null"))
"""


def ask_reliabilitydiag(y, x, **options):
    """One answer of the R package; where it is absent skip with the reason, or fail if R is demanded."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return give_up("R is not there: no Rscript on the path")
    done = subprocess.run(
        [rscript, "-e", SCRIPT],
        input=json.dumps({"x": x.tolist(), "y": y.tolist(), "seed": 1, **options}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    absent = [line for line in done.stderr.splitlines() if "there is no package called" in line]
    if absent:
        return give_up(f"R says: {absent[0].strip()}")
    return pytest.fail(f"R failed: {done.stderr}")


@cache
def bands_of_r(name, method, levels, kinds, draws=1):
    """R's bands of all levels and kinds: bounds at x, with NA as NaN, and the level that R reports."""
    asked = [(level, kind) for level in levels for kind in kinds]
    answers = ask_reliabilitydiag(
        *sample(name),
        what="bands",
        method=method,
        level=[level for level, _ in asked],
        position=[KINDS[kind] for _, kind in asked],
        draws=draws,
    )
    columns = ("x", "lower", "upper", "level")
    tables = ({name: np.array(answer[name], dtype=float) for name in columns} for answer in answers)
    return dict(zip(asked, tables, strict=True))


def likely_sizes(x):
    """Between how many of R's curves reach each forecast: all forecasts drawn may lie on one side of it."""
    ordered = np.sort(x)
    forecasts = np.unique(x)
    below = np.searchsorted(ordered, forecasts, side="left") / len(x)
    above = 1 - np.searchsorted(ordered, forecasts, side="right") / len(x)
    reached = 1 - below ** len(x) - above ** len(x)
    fewest, most = (binom.ppf(q, DRAWS, reached).astype(int).tolist() for q in (1e-9, 1 - 1e-9))
    return list(zip(fewest, most, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAMPLES)
def test_resampled_bands_agree_in_law(name, kind):
    """R's bounds are type-7 quantiles of 1000 curves. Among 5000 of ours they lie where order statistics
    of independent draws may (see `ranks`), with errors in at most one of 10^4 versions of the random
    numbers for all forecasts, both bounds and all six bands together.

    Where the estimate is 0 or 1 no draw can differ from it: R joins its neighbours by a straight line, and
    leaves no width at the very ends. There we differ on purpose, and there only.
    """
    y, x = sample(name)
    fit = sr.corp(y, x)
    theirs = bands_of_r(name, "resampling", (0.9,), (kind,), DRAWS)[0.9, kind]
    ours = drawn_curves(fit, kind, OURS)
    np.testing.assert_allclose(theirs["x"], fit.distinct.x_min, rtol=0, atol=1e-14)
    assert set(theirs["level"]) == {0.9}
    cep = fit.recalibrate(fit.distinct.x_min)
    is_certain = ((cep == 0) | (cep == 1)) & (kind == "confidence")
    error = 1e-4 / (len(SAMPLES) * len(KINDS) * 4 * len(cep))
    sizes = likely_sizes(x)
    for k in np.flatnonzero(~is_certain):
        values = ours[:, k][~np.isnan(ours[:, k])]
        for side, level in (("lower", 0.05), ("upper", 0.95)):
            assert agree_in_law(values, theirs[side][k], level, sizes[k], error), (k, side)
    for end in (0, -1):
        if is_certain[end]:
            assert theirs["lower"][end] == theirs["upper"][end] == cep[end]
    assert (~is_certain).sum() >= 5


@pytest.mark.parametrize("name", SAMPLES)
def test_only_r_is_certain_where_the_estimate_is(name):
    """R draws straight lines from an end without width to the first uncertain forecast."""
    fit = sr.corp(*sample(name))
    theirs = bands_of_r(name, "resampling", (0.9,), ("confidence",), 20)[0.9, "confidence"]
    band = fit.band("confidence", 0.9, resamples=400)
    cep = fit.recalibrate(band.x)
    knots = (cep > 0) & (cep < 1)
    knots[[0, -1]] = True
    for bound in (theirs["lower"], theirs["upper"]):
        bridged = np.interp(band.x, band.x[knots], bound[knots])
        np.testing.assert_allclose(bound, bridged, rtol=0, atol=1e-12)
    ends = [end for end in (0, -1) if cep[end] in {0, 1}]
    assert (theirs["upper"][ends] == theirs["lower"][ends]).all()
    assert (band.upper > band.lower).all()


def test_a_sample_with_certain_ends_is_among_them():
    ends = np.array([sr.corp(*sample(name)).blocks.mean[[0, -1]] for name in SAMPLES])
    assert (ends == 0).any()
    assert (ends == 1).any()


def assert_bounds_agree(band, fit, theirs):
    """To 1e-10, after R's confidence band was widened as ours is next to estimates of 0 and 1; where they
    are 0 or 1, and where R has no answer, there is nothing to compare.
    """
    np.testing.assert_allclose(band.x, theirs["x"], rtol=0, atol=1e-14)
    lower, upper = theirs["lower"], theirs["upper"]
    known = ~np.isnan(lower)
    if band.kind == "confidence":
        cep = fit.recalibrate(band.x)
        known &= (cep > 0) & (cep < 1)
        plain = (np.where(known, bound, cep) for bound in (lower, upper))
        lower, upper = widen(fit, band.x, *plain, (1 - band.level) / 2)
    np.testing.assert_allclose(band.lower[known], lower[known], rtol=0, atol=1e-10)
    np.testing.assert_allclose(band.upper[known], upper[known], rtol=0, atol=1e-10)
    assert known.sum() >= 5


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["5 values, n = 200", "continuous, n = 60"])
def test_discrete_bands_agree(name, kind, level):
    theirs = bands_of_r(name, "discrete_asymptotics", LEVELS, tuple(KINDS))[level, kind]
    fit = sr.corp(*sample(name))
    band = fit.band(kind, level, method="discrete")
    assert set(theirs["level"]) == {band.level} == {level}
    assert_bounds_agree(band, fit, theirs)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KINDS)
def test_continuous_bands_agree_and_report_the_level_asked(kind, level):
    """R writes 0.9 beside every continuous band; its bounds are of the level asked, and so is our report."""
    name = "continuous, n = 60"
    theirs = bands_of_r(name, "continuous_asymptotics", LEVELS, tuple(KINDS))[level, kind]
    fit = sr.corp(*sample(name))
    band = fit.band(kind, level, method="continuous", quantiles="r")
    assert set(theirs["level"]) == {0.9}
    assert band.level == level
    assert_bounds_agree(band, fit, theirs)


def test_the_p_value_of_miscalibration_agrees_in_law():
    """Of 100 draws of R and 2000 of ours so many are as large as what was observed; given their total, R's
    share of it is hypergeometric if the probabilities are equal. Two tails of 5e-5.
    """
    y, x = sample("continuous, n = 60")
    y = (y.astype(bool) | (x > 0.6)).astype(float)  # so that p is neither near 0 nor near 1
    theirs = ask_reliabilitydiag(y, x, what="test")
    test = miscalibration_test(sr.corp(y, x), rule="r", resamples=2000)
    assert test.statistic == pytest.approx(theirs[1][0], abs=1e-12)
    r, ours = round(100 * theirs[2][0]), round(2000 * test.p_value)
    law = hypergeom(2100, r + ours, 100)
    assert law.cdf(r) > 5e-5
    assert law.sf(r - 1) > 5e-5
    assert 0.02 < test.p_value < 0.98
