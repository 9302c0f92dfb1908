"""Fits as objects of the R package reliabilitydiag and back: to the last bit where R is, and without R."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from r_data_tools import R, data_frame, write_rds
from source_tools import exactly

import scorereport as sr
from scorereport.reference import r_diagrams
from scorereport.reference.r_installation import find_r
from scorereport.reference.r_library import find_library, isolate

pytestmark = pytest.mark.sweep

#: What R says of an object in a file, all numbers in hexadecimal so that none is rounded.
PROBE = """
suppressMessages(library(reliabilitydiag))
r <- readRDS(commandArgs(TRUE)[1])
hex <- function(x) sprintf("%a", as.numeric(x))
lines <- function(...) cat(..., sep = "\\n")
lines(class(r), names(r))
for (part in r) {
  lines(paste(names(part), collapse = " "), paste(names(part$bins), collapse = " "))
  lines(paste(hex(part$bins$CEP_pav), collapse = " "), paste(hex(part$cases$CEP_pav), collapse = " "))
  lines(paste(part$cases$case_id, collapse = " "), paste(part$bins$n, collapse = " "))
  lines(paste(hex(part$regions$lower), collapse = " "), paste(hex(part$regions$upper), collapse = " "))
  lines(paste(unique(c(part$regions$method, part$regions$position)), collapse = " "))
}
pdf(NULL)
invisible(print(autoplot(r)))
for (name in names(r)) invisible(print(autoplot(r[name])))
invisible(print(autoplot(r[1], type = "discrimination")))
s <- summary(r)
lines(paste(hex(unlist(s[-1])), collapse = " "))
"""


def draw(n=200, digits=2, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.random(n).round(digits)
    return (rng.random(n) < x).astype(int), x, rng.random(n)


def read_hex(line):
    return np.array([float.fromhex(text) for text in line.split()])


def run_r(code, *arguments, **options):
    """What code of R prints, with the libraries in which certificates find the package."""
    r = find_r()
    program = [r.rscript, "--no-init-file", "--no-save", "-e", code, *arguments]
    environment = os.environ | isolate(find_library(r))
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_the_package_works_on_our_fits_with_our_numbers(tmp_path):
    y, x, z = draw()
    fits = {"a": sr.corp(y, x), "the second": sr.corp(y, z)}
    bands = {"a": fits["a"].band("confidence", 0.8, resamples=50)}
    path = sr.to_r(fits, tmp_path / "fits.rds", band=bands)
    assert path == tmp_path / "fits.rds"
    lines = run_r(PROBE, str(path)).split("\n")
    assert lines[:3] == ["reliabilitydiag", "a", "the second"]
    for start, (name, fit), forecast in zip((3, 12), fits.items(), (x, z), strict=True):
        assert lines[start : start + 2] == ["cases bins regions xinfo", "bin_id n x_min x_max CEP_pav"]
        assert read_hex(lines[start + 2]).tolist() == fit.blocks.mean.tolist()
        places = np.array(lines[start + 4].split(), dtype=int) - 1
        assert forecast[places].tolist() == sorted(forecast)
        counts = [int(text) for text in lines[start + 5].split()]
        assert counts == fit.blocks.n.tolist()
        assert read_hex(lines[start + 3]).tolist() == np.repeat(fit.blocks.mean, counts).tolist()
        band = bands.get(name)
        assert read_hex(lines[start + 6]).tolist() == ([] if band is None else band.lower.tolist())
        assert read_hex(lines[start + 7]).tolist() == ([] if band is None else band.upper.tolist())
    assert lines[11] == "resampling_50 estimate"
    parts = [fit.decompose("brier") for fit in fits.values()]
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    expected = [[getattr(part, name) for part in parts] for name in names]
    np.testing.assert_allclose(read_hex(lines[21]), np.ravel(expected), rtol=1e-13, atol=1e-15)


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
@pytest.mark.sweep(after=2)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("consistency", {"coverage": "simultaneous", "resamples": 50}),
        ("consistency", {"method": "continuous"}),
        ("consistency", {"method": "discrete"}),
        ("consistency", {"method": "resampling", "resamples": 20}),
        ("confidence", {"method": "resampling", "resamples": 20}),
    ],
    ids=str,
)
def test_fits_and_bands_survive_the_way_to_r_and_back(tmp_path, kind, options):
    y, x, _ = draw()
    fit = sr.corp(y, x)
    band = fit.band(kind, 0.8, **options)
    path = sr.to_r({"m": fit}, tmp_path / "fit.rds", band=band)
    back, found = sr.from_r(path), sr.band_from_r(path)
    for name in ("x_min", "x_max", "n", "events"):
        assert getattr(back.blocks, name).tolist() == getattr(fit.blocks, name).tolist()
    assert back.y_prob.tolist() == fit.y_prob.tolist()
    assert back.outcome.tolist() == fit.outcome.tolist()
    for name in ("x", "lower", "upper"):
        assert getattr(found, name).tolist() == getattr(band, name).tolist()
    for name in ("kind", "coverage", "method", "level", "n", "resamples", "shape"):
        assert getattr(found, name) == getattr(band, name)


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_objects_of_the_package_become_fits_with_its_numbers(tmp_path):
    y, x, z = draw()
    data = {"y": y.tolist(), "x": x.tolist(), "z": z.tolist()}
    write_rds(tmp_path / "data.rds", data_frame(data))
    code = (
        'd <- readRDS("data.rds"); set.seed(1);'
        "r <- reliabilitydiag::reliabilitydiag(x = d$x, z = d$z, y = d$y, region.level = 0.7, n.boot = 10);"
        'saveRDS(r, "r.rds");'
        'cat(sprintf("%a", c(r$x$bins$CEP_pav, r$x$regions$lower)))'
    )
    numbers = read_hex(run_r(code, cwd=tmp_path))
    fit, band = sr.from_r(tmp_path / "r.rds", "x"), sr.band_from_r(tmp_path / "r.rds", "x")
    expected = sr.corp(y, x)
    assert fit.blocks.x_min.tolist() == expected.blocks.x_min.tolist()
    np.testing.assert_array_max_ulp(fit.blocks.mean, numbers[: len(fit.blocks)], 1)
    assert band.lower.tolist() == numbers[len(fit.blocks) :].tolist()
    assert (band.kind, band.method, band.resamples, band.level) == ("consistency", "resampling", 10, 0.7)
    assert sr.from_r(tmp_path / "r.rds", "z").y_prob.tolist() == z.tolist()
    sentence = "r.rds has 2 forecasts, 'x' and 'z': name one of them in `forecast`."
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        sr.from_r(tmp_path / "r.rds")
    with pytest.raises(sr.DataError, match=exactly("r.rds has no forecast 'y'; it has 'x' and 'z'.")):
        sr.from_r(tmp_path / "r.rds", "y")


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_whole_weights_become_repeated_cases(tmp_path):
    y, x, _ = draw(60)
    weight = np.arange(60) % 4
    fit = sr.corp(y, x, weight, weight_kind="frequency")
    back = sr.from_r(sr.to_r(fit, tmp_path / "fit.rds", band=None))
    assert back.n == fit.n == weight.sum()
    assert back.blocks.mean.tolist() == fit.blocks.mean.tolist()
    assert sr.band_from_r(tmp_path / "fit.rds") is None


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_an_object_of_rpy2_is_made_and_read_where_r_runs_in_the_process():
    """In a process of its own, because R in this one would outlive the test."""
    code = (
        "import rpy2.robjects, scorereport as sr\n"
        "fit = sr.corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.5])\n"
        "made = sr.to_r(fit, band='consistency')\n"
        "back, band = sr.from_r(made), sr.band_from_r(made)\n"
        "print(list(made.rclass), back.blocks.mean.tolist() == fit.blocks.mean.tolist(),\n"
        "      band.upper.tolist() == fit.band().upper.tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[-2] == "['reliabilitydiag'] True True", done.stderr


# Without R

OTHER, ODD = "not one of class reliabilitydiag", "is not an object as reliabilitydiag makes it"


def make_object(*, cep=(0.0, 0.5, 0.5, 1.0), ids=(1, 3, 2, 4), classes=("reliabilitydiag",), **columns):
    cases = {
        "case_id": list(ids),
        "x": [0.1, 0.3, 0.3, 0.6],
        "y": [0, 1, 0, 1],
        "bin_id": [1, 2, 2, 3],
        "CEP_pav": list(cep),
    } | columns
    regions = {
        "x": [0.1, 0.6],
        "lower": [0.0, 0.25],
        "upper": [0.5, 1.0],
        "n": [1, 1],
        "method": ["continuous_asymptotics"] * 2,
        "level": [0.9, 0.9],
        "position": ["diagonal"] * 2,
    }
    parts = {"cases": data_frame(cases), "bins": data_frame({"n": [1]}), "regions": data_frame(regions)}
    return R({"m": R(parts)}, {"class": list(classes), "y": [0, 0, 1, 1]})


def test_an_object_is_read_without_r(tmp_path):
    path = write_rds(tmp_path / "m.rds", make_object())
    fit, band = sr.from_r(str(path)), sr.band_from_r(path, "m")
    assert fit.y_prob.tolist() == [0.1, 0.3, 0.3, 0.6]
    assert fit.outcome.tolist() == [False, False, True, True]
    assert fit.blocks.mean.tolist() == [0.0, 0.5, 1.0]
    assert (band.method, band.kind, band.lower.tolist()) == ("continuous", "consistency", [0.0, 0.25])


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            make_object(cep=(0.0, 0.5, 0.5, 0.75)),
            "m.rds holds recalibrated probabilities that are not those of its cases: one differs by 0.25.",
        ),
        (make_object(ids=(1, 3, 3, 4)), "m.rds holds cases that are not numbered from 1 on."),
        (
            make_object(classes=("lm",)),
            f"m.rds holds an object of class lm, {OTHER}.",
        ),
        (
            data_frame({"y": [1]}),
            f"m.rds holds an object of class data.frame, {OTHER}.",
        ),
        (
            R({"m": R({"cases": data_frame({"x": [0.5]})})}, {"class": ["reliabilitydiag"]}),
            f"m.rds {ODD}: it lacks cases$case_id.",
        ),
        (
            R({"m": [1]}, {"class": ["reliabilitydiag"]}),
            f"m.rds {ODD}.",
        ),
        (R((), {"class": ["reliabilitydiag"]}), "m.rds holds no forecast."),
    ],
    ids=["numbers", "cases", "class", "frame", "columns", "parts", "empty"],
)
def test_objects_that_are_not_what_the_package_makes_are_refused(tmp_path, value, sentence):
    path = write_rds(tmp_path / "m.rds", value)
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        sr.from_r(path)


def test_what_cannot_go_to_r_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "rpy2.robjects", raising=False)
    y, x, z = draw(40)
    fit = sr.corp(y, x)
    weighted, real = sr.corp(y, x, z + 0.5), sr.corp(y, x, functional="mean")
    other = {"a": fit, "b": sr.corp(1 - y, z)}
    steps = fit.band("confidence", coverage="simultaneous")
    for arguments, options, sentence in (
        (
            (fit,),
            {},
            "R does not run in this process. Pass a `path` such as 'fit.rds' to save the object for R, or "
            "import rpy2.robjects first.",
        ),
        ((fit, "fit.csv"), {}, "`path` must end in .rds, as R names saved objects; got 'fit.csv'."),
        ((fit, tmp_path / "no" / "fit.rds"), {}, f"{tmp_path / 'no'} is not a folder."),
        (({}, "fit.rds"), {}, "`fit` must hold at least one fit."),
        ((3, "fit.rds"), {}, "`fit` must be the result of `sr.corp`; got 3."),
        (
            (weighted, "fit.rds"),
            {},
            "reliabilitydiag has no weights: they must be whole numbers, which repeat cases.",
        ),
        (
            (real, "fit.rds"),
            {},
            "An object of reliabilitydiag needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            (other, "fit.rds"),
            {"band": None},
            "Fits must be of the same outcomes in the same order; a and b are not.",
        ),
        (
            (fit, "fit.rds"),
            {"band": steps},
            f"The {steps.label} has steps, and reliabilitydiag draws lines between its forecasts: pass "
            "another band, or band=None.",
        ),
    ):
        with pytest.raises(sr.UsageError, match=exactly(sentence)):
            sr.to_r(*arguments, **options)
    got = "`source` must be the path of an .rds file or an object of rpy2; got int."
    with pytest.raises(sr.UsageError, match=exactly(got)):
        sr.from_r(3)
    with pytest.raises(sr.UsageError, match=exactly("absent.rds is not a file.")):
        sr.from_r("absent.rds")


def test_without_r_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("R_HOME", str(tmp_path))
    sentence = f"R_HOME is {tmp_path}, where there is no R. To fix: unset R_HOME"
    with pytest.raises(sr.ScoreReportError, match=exactly(sentence)):
        sr.to_r(sr.corp([0, 1], [0.2, 0.6]), tmp_path / "fit.rds", band=None)
    assert not (tmp_path / "fit.rds").exists()


def test_a_method_that_the_package_lacks_keeps_its_name():
    band = sr.corp([0, 1] * 30, [0.2, 0.6] * 30).band(coverage="simultaneous", resamples=50)
    assert r_diagrams.name_method(band) == "simultaneous split resampling_50"
