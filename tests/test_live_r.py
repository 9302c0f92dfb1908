"""R itself, in its own process: bands by many draws, bands around the estimate, and the test of calibration.

The comparisons of a certificate are tested in test_certificate.py.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from band_tools import SAMPLES, drawn_curves, sample
from reference_tools import give_up
from scipy.stats import hypergeom
from test_simultaneous_bands import widen

import scorereport as sr
from scorereport.inference import miscalibration_test
from scorereport.reference.band_distributions import is_likely_quantile, likely_sizes
from scorereport.reference.live_references import PACKAGE, open_reference
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure

pytestmark = pytest.mark.r

#: Draws of a band in R, at 5 ms each; ours are many more, so that R's alone limit what can be seen.
DRAWS, OURS = 400, 5000
LEVELS = (0.8, 0.9, 0.95)
KINDS = ("consistency", "confidence")


# Resampled bands


@cache
def resampled_bands(name):
    """R's bands of `DRAWS` draws; where R is missing, skip with the reason, or fail if R is required."""
    y, x = sample(name)
    question = Question(y_true=y, y_prob=x, level=0.9, draws=DRAWS, seed=1)
    try:
        with open_reference(PACKAGE, time_limit=300) as reference:
            return read_answer(reference.ask(question), question).bands
    except (Unavailable, ReferenceFailure) as reason:
        return give_up(str(reason))


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAMPLES)
def test_resampled_bands_agree_in_distribution(name):
    """R's bounds are type-7 quantiles of 400 curves. Among 5000 of ours they lie where order statistics
    of independent draws may (see `likely_ranks`), with errors in at most one of 10^4 versions of the random
    numbers for all forecasts, both bounds and all six bands together.

    Where the estimate is 0 or 1, no draw can differ from it: R joins its neighbours by a straight line, and
    leaves no width at the very ends. Only there do our bands differ, on purpose.
    """
    fit, bands = sr.corp(*sample(name)), resampled_bands(name)
    for kind in KINDS:
        assert_distribution_agrees(fit, kind, bands[kind])


def assert_distribution_agrees(fit, kind, theirs):
    ours = drawn_curves(fit, kind, OURS)
    np.testing.assert_allclose(theirs.x, fit.distinct.x_min, rtol=0, atol=1e-14)
    assert theirs.level == 0.9
    cep = fit.recalibrate(fit.distinct.x_min)
    is_certain = ((cep == 0) | (cep == 1)) & (kind == "confidence")
    error = 1e-4 / (len(SAMPLES) * len(KINDS) * 4 * len(cep))
    sizes = likely_sizes(fit.distinct.x_min, fit.y_prob, DRAWS)
    for k in np.flatnonzero(~is_certain):
        values = ours[:, k][~np.isnan(ours[:, k])]
        for bound, level in ((theirs.lower[k], 0.05), (theirs.upper[k], 0.95)):
            assert is_likely_quantile(values, bound, level, sizes[k], error), (kind, k, level)
    for end in (0, -1):
        if is_certain[end]:
            assert theirs.lower[end] == theirs.upper[end] == cep[end]
    assert (~is_certain).sum() >= 5


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAMPLES)
def test_only_r_is_certain_where_the_estimate_is(name):
    """R draws straight lines from an end without width to the first uncertain forecast."""
    fit = sr.corp(*sample(name))
    theirs = resampled_bands(name)["confidence"]
    band = fit.band("confidence", 0.9, resamples=400)
    cep = fit.recalibrate(band.x)
    knots = (cep > 0) & (cep < 1)
    knots[[0, -1]] = True
    for bound in (theirs.lower, theirs.upper):
        bridged = np.interp(band.x, band.x[knots], bound[knots])
        np.testing.assert_allclose(bound, bridged, rtol=0, atol=1e-12)
    ends = [end for end in (0, -1) if cep[end] in {0, 1}]
    assert (theirs.upper[ends] == theirs.lower[ends]).all()
    assert (band.upper > band.lower).all()


def test_a_sample_with_certain_ends_is_among_them():
    ends = np.array([sr.corp(*sample(name)).blocks.mean[[0, -1]] for name in SAMPLES])
    assert (ends == 0).any()
    assert (ends == 1).any()


# What a certificate does not compare

SCRIPT = """
suppressPackageStartupMessages(library(reliabilitydiag))
options(warn = -1, lifecycle_verbosity = "quiet")
given <- jsonlite::fromJSON(file("stdin"))
set.seed(given$seed)
diagram <- function(...) suppressMessages(reliabilitydiag(x = given$x, y = given$y, ...))
band <- function(level) as.list(as.data.frame(diagram(region.method = given$method, region.level = level,
  region.position = "estimate")[[1]]$regions))
answer <- suppressMessages(if (given$what == "bands") Map(band, given$level) else
  as.list(miscalibration_test(diagram(region.level = NA))))
cat(jsonlite::toJSON(unname(answer), digits = NA, na = "null"))
"""


def ask_reliabilitydiag(y, x, **options):
    """One answer of the R package; where it is missing, skip with the reason, or fail if R is required."""
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
def confidence_bands(name, method):
    """R's bands around the estimate for all levels: bounds at x, NA as NaN, and the level that R reports."""
    answers = ask_reliabilitydiag(*sample(name), what="bands", method=method, level=LEVELS)
    columns = ("x", "lower", "upper", "level")
    tables = ({name: np.array(answer[name], dtype=float) for name in columns} for answer in answers)
    return dict(zip(LEVELS, tables, strict=True))


def assert_bounds_agree(band, fit, theirs):
    """To 1e-10, after R's band was widened as ours is next to estimates of 0 and 1; where they are 0 or 1,
    and where R has no answer, there is nothing to compare.
    """
    np.testing.assert_allclose(band.x, theirs["x"], rtol=0, atol=1e-14)
    cep = fit.recalibrate(band.x)
    known = ~np.isnan(theirs["lower"]) & (cep > 0) & (cep < 1)
    plain = (np.where(known, theirs[side], cep) for side in ("lower", "upper"))
    lower, upper = widen(fit, band.x, *plain, (1 - band.level) / 2)
    np.testing.assert_allclose(band.lower[known], lower[known], rtol=0, atol=1e-10)
    np.testing.assert_allclose(band.upper[known], upper[known], rtol=0, atol=1e-10)
    assert known.sum() >= 5


@pytest.mark.sweep
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["5 values, n = 200", "continuous, n = 60"])
def test_discrete_confidence_bands_agree(name, level):
    theirs = confidence_bands(name, "discrete_asymptotics")[level]
    fit = sr.corp(*sample(name))
    band = fit.band("confidence", level, method="discrete")
    assert set(theirs["level"]) == {band.level} == {level}
    assert_bounds_agree(band, fit, theirs)


@pytest.mark.sweep
@pytest.mark.parametrize("level", LEVELS)
def test_continuous_confidence_bands_agree_and_report_their_level(level):
    """R reports 0.9 for every continuous band; its bounds have the requested level, which we report."""
    name = "continuous, n = 60"
    theirs = confidence_bands(name, "continuous_asymptotics")[level]
    fit = sr.corp(*sample(name))
    band = fit.band("confidence", level, method="continuous", quantiles="r")
    assert set(theirs["level"]) == {0.9}
    assert band.level == level
    assert_bounds_agree(band, fit, theirs)


@pytest.mark.sweep
def test_the_p_value_of_miscalibration_agrees_in_distribution():
    """Count the draws as large as the observed value, among 100 of R and 2000 of ours; given their total,
    R's share is hypergeometric if the probabilities are equal. Two tails of 5e-5.
    """
    y, x = sample("continuous, n = 60")
    y = (y.astype(bool) | (x > 0.6)).astype(float)  # so that p is neither near 0 nor near 1
    theirs = ask_reliabilitydiag(y, x, what="test")
    test = miscalibration_test(sr.corp(y, x), rule="r", resamples=2000)
    assert test.statistic == pytest.approx(theirs[1][0], abs=1e-12)
    r, ours = round(100 * theirs[2][0]), round(2000 * test.p_value)
    distribution = hypergeom(2100, r + ours, 100)
    assert distribution.cdf(r) > 5e-5
    assert distribution.sf(r - 1) > 5e-5
    assert 0.02 < test.p_value < 0.98
