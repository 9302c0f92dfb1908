"""Modules that commands load late: what is taken from them is what the modules themselves give."""

from __future__ import annotations

import subprocess
import sys

import pytest

_START = """
import sys, threading
import numpy as np
from scorereport.cli.deferred_imports import defer_imports
defer_imports()
def loaded(*names):
    return [name for name in names if name in sys.modules]
"""


def run_apart(code):
    """Run code in a new process in which imports are deferred; return the lines that it prints."""
    done = subprocess.run([sys.executable, "-c", _START + code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_an_evaluation_takes_compiled_functions_without_the_packages_around_them():
    found = run_apart("""
import scorereport as sr
sr.evaluate([0, 1, 0, 1] * 10, {"model": [0.2, 0.7, 0.4, 0.8] * 10})
print(loaded("scipy.optimize._zeros", "scipy.optimize._pava_pybind", "scipy.special._ufuncs"))
print(loaded("scipy.optimize._optimize", "scipy.special._basic", "scipy.linalg", "scipy.sparse._csr"))
""")
    assert found == [
        "['scipy.optimize._zeros', 'scipy.optimize._pava_pybind', 'scipy.special._ufuncs']",
        "[]",
    ]


def test_functions_of_special_are_those_of_the_whole_package():
    found = run_apart("""
from scipy.special import betaincinv, expit, lambertw, logit, ndtri
taken = {"betaincinv": betaincinv, "expit": expit, "lambertw": lambertw, "logit": logit, "ndtri": ndtri}
print(loaded("scipy.special._basic"))
from scipy.special import factorial
import scipy.special
print(loaded("scipy.special._basic"), factorial(3))
print(all(getattr(scipy.special, name) is function for name, function in taken.items()))
""")
    assert found == ["[]", "['scipy.special._basic'] 6.0", "True"]


def test_functions_of_optimize_give_the_same_bits_as_the_whole_package():
    found = run_apart("""
import scipy.optimize
from scipy.optimize import brentq, isotonic_regression
alone = brentq, isotonic_regression
print(loaded("scipy.optimize._optimize"))
scipy.optimize.linprog
whole = scipy.optimize.brentq, scipy.optimize.isotonic_regression
print([a is b for a, b in zip(alone, whole)])
def f(x):
    return np.exp(x) - 2 - x
rng = np.random.default_rng(1)
y, w = rng.random(500), rng.random(500) + 0.1
for root, fit in (alone, whole):
    roots = [root(f, 0.5, end, xtol=1e-14, rtol=1e-14, maxiter=50) for end in (2, 3.0, 4.5)]
    fits = [fit(y), fit(y, weights=w), fit([2, 1])]
    print(roots, [(each.x.tobytes().hex(), each.blocks.tolist()) for each in fits])
""")
    assert found[:2] == ["[]", "[False, False]"]
    assert found[2] == found[3]


def test_wrong_arguments_are_refused():
    found = run_apart("""
from scipy.optimize import brentq, isotonic_regression
for call in (
    lambda: brentq(lambda x: float("nan"), 0, 1),
    lambda: brentq(lambda x: 1.0, 0, 1),
    lambda: isotonic_regression([1, 2], weights=[1]),
    lambda: isotonic_regression([1, 2], weights=[1, 0]),
):
    try:
        call()
    except ValueError as error:
        print(error)
print(loaded("scipy.optimize._optimize"))
""")
    assert found == [
        "The function value at x=0.0 is NaN; solver cannot continue.",
        "f(a) and f(b) must have different signs",
        "Weights must be positive, and as many as the values.",
        "Weights must be positive, and as many as the values.",
        "[]",
    ]


@pytest.mark.parametrize(
    "change",
    ["zeros._brentq = lambda: 0.0", "zeros._brentq = lambda *arguments: 0.0", "del zeros._brentq"],
)
def test_another_version_of_scipy_is_loaded_as_a_whole(change):
    found = run_apart(f"""
import scipy.optimize
import scipy.optimize._zeros as zeros
original = zeros._brentq
{change}
from scipy.optimize import brentq
print("scipy.optimize._optimize" in sys.modules)
zeros._brentq = original
print(brentq(lambda x: x - 1.0, 0.0, 3.0))
""")
    assert found == ["True", "1.0"]


def test_another_answer_of_compiled_code_is_not_taken():
    found = run_apart("""
import scipy.optimize
import scipy.optimize._pava_pybind as compiled
original = compiled.pava
compiled.pava = lambda x, w, edges: original(x, w, edges)[::-1]
from scipy.optimize import isotonic_regression
print("scipy.optimize._optimize" in sys.modules, isotonic_regression.__module__)
""")
    assert found == ["True scipy.optimize._isotonic"]


def test_threads_that_load_a_package_together_find_all_of_it():
    found = run_apart("""
import scipy.optimize
taken = []
def take(name):
    taken.append(getattr(scipy.optimize, name))
names = ["linprog", "minimize", "brentq", "shgo", "root"] * 4
threads = [threading.Thread(target=take, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(taken), all(map(callable, taken)))
""")
    assert found == ["20 True"]


def test_a_deferred_module_has_no_other_names_and_all_public_ones():
    found = run_apart("""
import scipy.sparse
print(loaded("scipy.sparse._csr"))
try:
    scipy.sparse.nothing
except AttributeError as error:
    print(str(error).lower())
names = {}
exec("from scipy.sparse import *", names)
print("csr_array" in names, loaded("scipy.sparse._csr"), type(scipy.sparse).__name__)
""")
    assert found == [
        "[]",
        "module 'scipy.sparse' has no attribute 'nothing'",
        "True ['scipy.sparse._csr'] module",
    ]


def test_a_package_whose_code_fails_can_be_loaded_later():
    found = run_apart("""
import scipy.sparse
sys.modules["scipy.sparse._csr"] = None
try:
    scipy.sparse.csr_array
except ImportError as error:
    print("failed")
del sys.modules["scipy.sparse._csr"]
print(scipy.sparse.csr_array.__name__)
""")
    assert found == ["failed", "csr_array"]


def test_commands_do_not_list_the_properties_of_what_matplotlib_draws():
    code = """
import matplotlib
matplotlib.use("svg")
from matplotlib.lines import Line2D
print("set_color" in (Line2D.set.__doc__ or ""), "Supported properties" in (Line2D.set.__doc__ or ""))
line = Line2D([0, 1], [0, 1])
line.set(color="red", lw=3)
print(line.get_color(), line.get_linewidth())
"""
    assert run_apart(code) == ["False False", "red 3.0"]


@pytest.mark.sweep
def test_figures_of_commands_are_those_of_the_whole_matplotlib():
    code = """
from scorereport.plots import roc
from scorereport.plots.canvas import render_svg
import hashlib, scorereport as sr
rng = np.random.default_rng(1)
p = rng.random(200)
evaluation = sr.evaluate((rng.random(200) < p).astype(int), {"model": p}, resamples=0)
axes = evaluation.plot("roc")
print(hashlib.sha256(render_svg(axes.figure).encode()).hexdigest())
"""
    whole = code.replace("import hashlib", "import hashlib, matplotlib.artist")
    plain = subprocess.run(
        [sys.executable, "-c", "import numpy as np\n" + whole], capture_output=True, text=True, check=True
    )
    assert run_apart(code) == plain.stdout.splitlines()
