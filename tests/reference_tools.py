"""What tests of the R references share: fakes of R, processes, data and the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport import reference
from scorereport.reference.live_references import BASE, PACKAGE, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure

R_CODE = Path(reference.__file__).parent / "r"
#: Seconds that anything real may take, also on a busy machine.
PATIENCE = 120


# Whether R is there


def give_up(reason):
    """Skip with the reason, or fail if R is required."""
    if os.environ.get("SCOREREPORT_REQUIRE_R") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def version_of_r(rscript):
    code = 'cat(R.version$major, R.version$minor, sep = ".")'
    return subprocess.run([rscript, "-e", code], capture_output=True, check=True, text=True).stdout


# References that run


@contextmanager
def opened(kind):
    """A running reference; where it is absent skip with the reason, or fail if R is demanded."""
    with ExitStack() as stack:
        try:
            reference = stack.enter_context(open_reference(kind, time_limit=300))
        except (Unavailable, ReferenceFailure) as reason:
            give_up(str(reason))
        yield reference


def package_fixture():
    with opened(PACKAGE) as reference:
        yield reference


def base_fixture():
    with opened(BASE) as reference:
        yield reference


# Fakes of R


def write_program(path, text):
    """Write a program that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_r_home(folder, behaviour, version="4.2.2"):
    """Make an R that prints its version and otherwise runs only the shell lines in `behaviour`."""
    lines = f'if [ "$1" = --version ]; then echo "Rscript (R) version {version}"; exit; fi\n{behaviour}\n'
    write_program(folder / "bin" / "Rscript", f"#!/bin/sh\n{lines}")
    return folder


def fake_rpy2(folder, code, version=None):
    """Make a fake package rpy2 and, with a version, the metadata of its distribution."""
    package = folder / "rpy2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code, encoding="utf-8")
    if version is not None:
        metadata = folder / f"rpy2_rinterface-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        text = f"Metadata-Version: 2.1\nName: rpy2-rinterface\nVersion: {version}\n"
        metadata.write_text(text, encoding="utf-8")
    return folder


# Processes and folders


def marked_processes(marker):
    """All processes with this marker in their environment, which descendants inherit."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _is_marked(entry, marker.encode())]


def _is_marked(entry, marker):
    try:
        return int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0")
    except OSError:  # it ended meanwhile, or is not ours
        return False


def left_running(marker, seconds=20):
    """The processes with the marker that still run; a killed process may take a moment to end."""
    end = time.monotonic() + seconds
    while (left := marked_processes(marker)) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def wait_for(found, seconds=PATIENCE):
    """Wait until the function finds something, and return that."""
    end = time.monotonic() + seconds
    while not (what := found()):
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds} seconds in vain")
        time.sleep(0.01)
    return what


# Data and the command line


@cache
def small_evaluation():
    """Score twenty forecasts, without drawing."""
    rng = np.random.default_rng(20)
    x = rng.random(20).round(2)
    y = (rng.random(20) < x).astype(float)
    return sr.evaluate(pd.DataFrame({"y": y, "p": x}), outcome="y", forecasts=["p"], resamples=0)


def run_cli(*arguments, **environment):
    """Run the command line in a process of its own; None removes a variable."""
    changed = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "scorereport", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        env={name: str(value) for name, value in changed.items() if value is not None},
    )
