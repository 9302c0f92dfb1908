"""Settings and fixtures of all tests: repeatable hypothesis runs, recorded data, shared data, R."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from postgres_tools import make_database, share_server

from scorereport.reference.live_references import BASE, PACKAGE, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).resolve().parents[1]

#: Examples of each property: some in `make test`, more with the sweeps.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=80)
settings.load_profile("quick")
#: veraPDF and Spark load many classes and do little work in these tests: a virtual machine that neither
#: optimises nor verifies the classes takes less than half of the time.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions"
os.environ.setdefault("JAVA_TOOL_OPTIONS", f"{QUICK_JAVA} -XX:-BytecodeVerificationRemote")
#: By default Python collects garbage after every 700 new objects. This takes a tenth of the time of the
#: tests, because each collection visits everything that they import.
gc.set_threshold(50_000)
#: Audits make the key that signs their records in the folder of the user: tests have one of their own.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="scorereport-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)
#: Workers of pytest-xdist set it, and commands would wrap their lines.
os.environ.pop("COLUMNS", None)
#: A shell starts commands in the background with interrupts ignored; tests of interrupts would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Exclude what was imported and collected from garbage collection: it stays to the end."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let everything be destroyed at the end: DuckDB prints what was not."""
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the Makefile choose which tests run."""
    parser.addoption(
        "--tier",
        choices=("quick", "rest", "all"),
        default="quick",
        help="quick: what `make test` runs; rest: what `make test-all` adds to it; all: both",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Test properties on more examples in the tiers with sweeps."""
    if config.getoption("--tier") != "quick":
        settings.load_profile("thorough")


def _is_sweep(item: pytest.Item, places: dict[str, int]) -> bool:
    """Whether a test is left to `make test-all`: as a whole, or because enough cases of it ran before."""
    mark = item.get_closest_marker("sweep")
    name = item.nodeid.partition("[")[0]
    places[name] = places.get(name, 0) + 1
    return mark is not None and places[name] > mark.kwargs.get("after", 0)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier, and start the longest first so that the run does not end with them."""
    tier, places = config.getoption("--tier"), {}
    sweeps = {item for item in items if _is_sweep(item, places)}
    properties = {item for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)}
    kept = {"quick": set(items) - sweeps, "rest": sweeps | properties, "all": set(items)}[tier]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = sorted((item for item in items if item in kept), key=_starts_later)


def _starts_later(item: pytest.Item) -> bool:
    return item.path.name != "test_study.py"


postgres_server = pytest.fixture(scope="session")(share_server)
postgres_url = pytest.fixture(make_database)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Call the command line in this process: exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        from scorereport.cli import main

        monkeypatch.setattr(sys, "argv", ["scorereport", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return call


@cache
def recorded(name: str) -> dict[str, Any]:
    """Read one file of validation/recorded; also usable where tests are parametrised."""
    return json.loads((REPOSITORY / "validation" / "recorded" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data that may not be copied into the repository."""
    folder = Path(os.environ.get("SCOREREPORT_SHARED", REPOSITORY.parent / "shared" / "reference"))
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder}; set SCOREREPORT_SHARED to their folder")
    return folder


def require_reference(kind: str) -> None:
    """Skip with the reason where R or its package is absent; fail if SCOREREPORT_REQUIRE_R is 1."""
    try:
        with open_reference(kind, time_limit=300):
            return
    except Unavailable as error:
        reason = f"{kind} is not there: {error}"
    except ReferenceFailure as failure:  # R is installed but does not answer
        pytest.fail(str(failure))
    if os.environ.get("SCOREREPORT_REQUIRE_R") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def r_package() -> None:
    """Require the R package reliabilitydiag through rpy2."""
    require_reference(PACKAGE)


@pytest.fixture(scope="session")
def base_r() -> None:
    """Require R, with or without packages."""
    require_reference(BASE)
