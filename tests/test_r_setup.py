"""r-setup: repositories that work and that fail, its own library, and what counts as working."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from r_repository_tools import (
    BANDED,
    STAND_IN,
    WORKING,
    build_repository,
    closed_port,
    hang,
    hide_libraries,
    install_source,
    own_library,
    run_r,
    serve,
    write_package,
)
from reference_process_tools import MARK, rscript_fixture, temporary_fixture, tools_fixture
from reference_tools import (
    PATIENCE,
    R_CODE,
    fake_r_home,
    give_up,
    left_running,
    run_cli,
    wait_for,
    write_program,
)

from scorereport._utils.progress import progress_callback
from scorereport.reference import distribution_packages, r_library, r_repository
from scorereport.reference.distribution_packages import NotInstalled, gain_rights, install_ready_built
from scorereport.reference.live_references import PACKAGE, open_reference
from scorereport.reference.r_build_output import BuildOutput
from scorereport.reference.r_installation import RInstallation, Unavailable, find_r
from scorereport.reference.r_library import find_library, isolate, locate_library
from scorereport.reference.r_setup import SetupError, SetupRequest, install_package

tools = pytest.fixture(scope="session")(tools_fixture)


temporary = pytest.fixture(autouse=True)(temporary_fixture)


rscript = pytest.fixture(scope="session")(rscript_fixture)


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """Hide the libraries of this machine; the data folder, which is empty."""
    for name, value in hide_libraries(tmp_path).items():
        monkeypatch.setenv(name, str(value))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def working(tmp_path_factory, rscript):
    """The address of a repository that works."""
    with serve(build_repository(tmp_path_factory.mktemp("works"), rscript, WORKING)) as address:
        yield address


def assert_refused(done, sentence):
    """Assert exit code 2, no output, and one line of scorereport as the last on standard error."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("progress: ")]
    assert len(lines) == 1, lines
    assert re.search(sentence, lines[0]), lines[0]


def set_up(address, **options):
    """Install in this process; the sentence, and the progress that was reported."""
    steps = []
    with progress_callback(steps.append):
        return install_package(SetupRequest(repository=address, **options)), steps


USES_BASE = r"; certificates use base R\.$"


# ---- a repository that works ----


@pytest.mark.sweep
@pytest.mark.r
def test_the_package_is_installed_into_a_library_of_its_own(tmp_path, hidden, working):
    sentence, steps = set_up(f"{working}/")
    library = own_library(hidden)
    installed = f"installed reliabilitydiag 99.1 in {library}, built with 3 packages from {working}"
    assert re.match(rf"R \d\S+: {re.escape(installed)}\.", sentence)
    assert {path.name for path in library.iterdir()} == set(WORKING)
    assert not (tmp_path / "of the user").exists()
    built = [step for step in steps if step.total == 3]
    assert [re.sub(": .*", "", step.what) for step in built] == ["1 of 3", "2 of 3", "3 of 3"]
    assert built[-1].what == "3 of 3: reliabilitydiag"
    assert {f"downloading 3 of 3: {name}" for name in WORKING} & {step.what for step in steps}
    assert "* DONE (reliabilitydiag)\n" in library.with_name(f"{library.name}.log").read_text()
    assert not list(library.parent.glob("*.new*"))
    done = run_cli("r-setup", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    found = re.escape(f"nothing to do: reliabilitydiag 99.1 in {library} gives the right numbers.")
    assert re.match(rf"R \d\S+: {found}", done.stdout)


@pytest.mark.sweep
@pytest.mark.r
def test_a_failed_installation_keeps_the_library_that_works(hidden, working):
    set_up(working)
    address = closed_port()
    assert_refused(
        run_cli("r-setup", "--again", "--repository", address),
        rf"^scorereport: R set-up failed: the repository {address} cannot be used: .+; reliabilitydiag in "
        rf"{own_library(hidden)} stays in use\.$",
    )
    sentence, _ = set_up(working, again=True)
    assert ": installed reliabilitydiag 99.1 in " in sentence


@pytest.mark.sweep
@pytest.mark.r
def test_what_an_earlier_call_built_is_kept_and_what_it_left_half_done_is_not(hidden, working, rscript):
    library = locate_library(find_r())
    new = library.with_name(f"{library.name}.new")
    new.mkdir(parents=True)
    install_source(rscript, new, write_package(hidden, "pooled", *WORKING["pooled"]))
    install_source(rscript, new, write_package(hidden, "banded", "1.9", "", BANDED))
    (new / "00LOCK-reliabilitydiag" / "00new").mkdir(parents=True)
    (new / "reliabilitydiag" / "R").mkdir(parents=True)
    kept = (new / "pooled" / "DESCRIPTION").read_bytes()
    sentence, steps = set_up(working)
    assert ", built with 3 packages from " in sentence
    assert {step.what.partition(": ")[2] for step in steps if step.total == 2} == {
        "banded",
        "reliabilitydiag",
    }
    assert {path.name for path in library.iterdir()} == set(WORKING)
    assert (library / "pooled" / "DESCRIPTION").read_bytes() == kept
    assert "Version: 2.0\n" in (library / "banded" / "DESCRIPTION").read_text()


@pytest.mark.sweep
@pytest.mark.r
def test_of_two_calls_at_once_one_installs(hidden, working):
    program = [sys.executable, "-m", "scorereport", "r-setup", "--quiet", "--repository", working]
    calls = [subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outputs = [call.communicate(timeout=4 * PATIENCE) for call in calls]
    assert [(call.returncode, err) for call, (_, err) in zip(calls, outputs, strict=True)] == [(0, b"")] * 2
    assert sorted(b"nothing to do" in out for out, _ in outputs) == [False, True]
    assert own_library(hidden) is not None


@pytest.mark.sweep
@pytest.mark.r
def test_many_builds_can_be_declined(hidden, working):
    with pytest.raises(
        SetupError, match=r"^R set-up failed: 3 packages would have to be built, which takes minutes \("
    ):
        set_up(working, most_builds=2)
    assert own_library(hidden) is None


@pytest.mark.sweep
@pytest.mark.r
def test_ctrl_c_leaves_nothing_that_counts_as_installed(tmp_path, hidden, rscript):
    """R sleeps while it builds the package."""
    code = f'file.create("{tmp_path}/ready"); Sys.sleep(1000)\n'
    packages = {**WORKING, "banded": ("2.0", "", BANDED + code)}
    with serve(build_repository(tmp_path / "sleeps", rscript, packages)) as address:
        program = [sys.executable, "-m", "scorereport", "r-setup", "--repository", address]
        with subprocess.Popen(
            program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            wait_for((tmp_path / "ready").exists)
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:  # where the parent of the tests ignores interrupts
                os.killpg(process.pid, signal.SIGKILL)
                raise
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "scorereport: interrupted."
    assert left_running(MARK) == []
    assert own_library(hidden) is None
    assert find_library(find_r()) is None


# ---- repositories that fail ----


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.usefixtures("base_r")
@pytest.mark.parametrize("address", ["closed", "file:///tmp/nowhere", "nonsense"])
def test_a_repository_that_is_not_there_is_given_up(hidden, address):
    address = closed_port() if address == "closed" else address
    reason = rf"R set-up failed: the repository {address} cannot be used: [^\n]+"
    assert_refused(run_cli("r-setup", "--repository", address), f"^scorereport: {reason}{USES_BASE}")
    assert own_library(hidden) is None


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("base_r", "hidden")
def test_a_repository_that_hangs_is_given_up_after_15_seconds(monkeypatch):
    with hang() as address:
        began = time.monotonic()
        done = run_cli("r-setup", "--quiet", "--system", "--repository", address, PATH=os.environ["PATH"])
        seconds = time.monotonic() - began
    reason = rf"the repository {address} did not answer within 15 seconds"
    assert_refused(done, f"^scorereport: R set-up failed: {reason}{USES_BASE}")
    assert 15 <= seconds < 60
    monkeypatch.setattr(r_repository, "_TO_ANSWER", 1e-3)
    with pytest.raises(SetupError, match=r"^R set-up failed: R gave no answer within 0\.001 seconds"):
        set_up(closed_port())


@pytest.mark.sweep
@pytest.mark.r
def test_a_repository_without_the_package_is_reported(tmp_path, hidden, rscript):
    folder = build_repository(tmp_path / "lacks", rscript, {"pooled": WORKING["pooled"]})
    with pytest.raises(
        SetupError, match=rf"cannot be used: it has no package reliabilitydiag for R .*{USES_BASE}"
    ):
        set_up(f"file://{folder}")
    facts = ("1.0", "pooled (>= 1.0), nowhere", "")
    folder = build_repository(tmp_path / "part", rscript, {**WORKING, "reliabilitydiag": facts})
    with pytest.raises(SetupError, match=r"it does not have nowhere for R \S+, which reliabilitydiag needs;"):
        set_up(f"file://{folder}")
    assert own_library(hidden) is None


@pytest.mark.sweep
@pytest.mark.r
def test_a_package_that_does_not_compile_is_named_with_the_error(tmp_path, hidden, rscript):
    broken = write_package(
        tmp_path / "sources", "banded", "2.0", "", BANDED, broken='#include "not_there.h"\n'
    )
    packages = {name: facts for name, facts in WORKING.items() if name != "banded"}
    folder = build_repository(tmp_path / "fails", rscript, packages, [broken])
    with serve(folder) as address:
        done = run_cli("r-setup", "--repository", address)
    reason = r"the R package banded could not be built: broken\.c:1:\d+: fatal error: [^;]*not_there\.h"
    log = f"{locate_library(find_r())}.log"
    assert_refused(done, rf"^scorereport: R set-up failed: {reason}.* \(all output is in {log}\){USES_BASE}")
    assert "compilation failed for package" in Path(log).read_text(encoding="utf-8")
    assert own_library(hidden) is None


@pytest.mark.sweep(after=0)
@pytest.mark.r
@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (
            BANDED.replace("x - half", "x - 2 * half").replace("x + half", "x + 2 * half"),
            "gives wrong numbers: the discrete band of an example",
        ),
        (
            BANDED.replace("data.frame(", 'if (TRUE) stop("no bands today") else data.frame('),
            "do not fit together: no bands today",
        ),
    ],
    ids=["wrong", "fails"],
)
def test_a_package_that_loads_and_then_fails_is_not_installed(tmp_path, hidden, rscript, code, problem):
    folder = build_repository(tmp_path / "fails", rscript, {**WORKING, "banded": ("2.0", "", code)})
    with serve(folder) as address:
        done = run_cli("r-setup", "--repository", address)
    assert_refused(
        done, rf"R set-up failed: The R packages? reliabilitydiag 99\.1 \(in .+{problem} \(all output"
    )
    assert own_library(hidden) is None
    assert not list(hidden.rglob("*.new*"))


# ---- a mixed library ----

#: Packages that fit together until the second is replaced.
DPLYR = (
    "1.0.10",
    "vctrs (>= 0.4.1)",
    "clip <- function(x, half) { vctrs::vec_is_vector(x); " + BANDED.partition(") ")[2] + "}\n",
)
VCTRS = ("0.5.2", "", "vec_is_vector <- function(x) TRUE\n")
NEW_VCTRS = (
    "0.7.3",
    "",
    'vec_is_vector <- function(x) stop("`vec_is_vector()` is defunct.\\nSecond line.")\n',
)
MIXED = {
    **{name: facts for name, facts in WORKING.items() if name != "banded"},
    "reliabilitydiag": ("0.2.1", "pooled, dplyr", STAND_IN.replace("banded::", "dplyr::")),
    "dplyr": DPLYR,
}


@pytest.fixture
def mixed(tmp_path, hidden, rscript, monkeypatch):
    """Libraries with packages that do not fit together; the address of a repository where they do."""
    old, new = hidden.parent / "old", hidden.parent / "new"
    order = ("pooled", "vctrs", "dplyr", "reliabilitydiag")
    install_source(
        rscript,
        old,
        *(write_package(tmp_path / "a", name, *{**MIXED, "vctrs": VCTRS}[name]) for name in order),
    )
    install_source(rscript, new, write_package(tmp_path / "b", "vctrs", *NEW_VCTRS))
    monkeypatch.setenv("R_LIBS", f"{new}:{old}")
    fits = {**MIXED, "vctrs": VCTRS}
    with serve(build_repository(tmp_path / "fits", rscript, fits)) as address:
        yield address


@pytest.mark.sweep
@pytest.mark.r
def test_a_mixed_library_is_named_and_fixed(tmp_path, hidden, mixed, monkeypatch):
    """The command that is named fixes it, although the libraries stay as they are."""
    problem = (
        f"The R packages dplyr 1.0.10 (in {tmp_path}/old) and vctrs 0.7.3 (in {tmp_path}/new) do not fit "
        "together: `vec_is_vector()` is defunct."
    )
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert describe_reference() == (problem, "scorereport r-setup")
    sentence, _ = set_up(mixed)
    assert sentence.endswith(f" It replaces what did not work: {problem}")
    # A profile that loads packages of the user does not reach the library either.
    (tmp_path / "home" / ".Rprofile").write_text("loadNamespace('vctrs')\n")
    assert describe_reference() == "0.2.1"
    library = own_library(hidden)
    assert "gives the right numbers" in run_cli("r-setup").stdout
    run_r(find_r().rscript, f'unlink("{library}", recursive = TRUE)')
    assert describe_reference() == (problem, "scorereport r-setup")


def describe_reference():
    """The version of the package that certificates use, or why they cannot, and the command that fixes it."""
    try:
        with open_reference(PACKAGE, PATIENCE) as reference:
            return reference.software["reliabilitydiag"]
    except Unavailable as error:
        if "rpy2" in str(error):
            give_up(str(error))
        return str(error), error.remedy


PLANNED = """
code <- new.env(parent = baseenv())
for (name in c("shared.R", "installation.R", "setup.R")) sys.source(file.path("{code}", name), envir = code)
table <- function(...) {{
  rows <- do.call(rbind, lapply(list(...), function(row) {{
    c(Package = row[1], Version = row[2], Depends = NA, Imports = row[3], LinkingTo = NA, Priority = row[4])
  }}))
  rownames(rows) <- rows[, "Package"]
  rows
}}
index <- table(
  c("reliabilitydiag", "1.0", "dplyr, ggExtra", NA), c("ggExtra", "1.0", "{needed}", NA),
  c("dplyr", "1.2", "vctrs (>= 0.7)", NA), c("vctrs", "0.7", "rlang", NA), c("rlang", "1.2", "stats", NA)
)
given <- table(
  c("dplyr", "1.0", "vctrs", NA), c("vctrs", "0.5", "rlang", NA), c("rlang", "1.0", "stats", NA),
  c("stats", "4.2", NA, "base")
)
resolved <- code$resolve("reliabilitydiag", index, given)
cat(sort(resolved$wanted), "/", sort(resolved$taken))
"""


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.parametrize(
    ("needed", "plan"),
    [
        # A newer vctrs takes dplyr with it, which was built with the older one; rlang stays.
        ("vctrs (>= 0.6)", "dplyr ggExtra reliabilitydiag vctrs / rlang stats"),
        ("vctrs (>= 0.5)", "ggExtra reliabilitydiag / dplyr rlang stats vctrs"),
        ("rlang (>= 1.1), R (>= 3.5)", "dplyr ggExtra reliabilitydiag rlang vctrs / stats"),
    ],
)
def test_a_package_of_the_distribution_gets_no_dependency_from_elsewhere(rscript, needed, plan):
    assert run_r(rscript, PLANNED.format(code=R_CODE, needed=needed)) == plan


NAMED = """
code <- new.env(parent = baseenv())
for (name in c("shared.R", "installation.R")) sys.source(file.path("{code}", name), envir = code)
found <- code$installed(.Library)
found[, "Priority"] <- NA
found["utils", "Imports"] <- "tools, stats"
cat(code$find_pair("utils", "`{name}()` is defunct", found))
"""


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.parametrize(
    ("name", "pair"), [("bw_den", "utils stats"), ("lowess", "utils stats"), ("vec_is_vector", "")]
)
def test_a_function_of_an_error_is_found_in_r_and_in_compiled_code(rscript, name, pair):
    assert run_r(rscript, NAMED.format(code=R_CODE, name=name)) == pair


# ---- R that fails, folders that are not there ----


@pytest.mark.sweep
@pytest.mark.parametrize("home", [None, "/tmp/nowhere"])
def test_setting_up_without_r_is_refused(tmp_path, home):
    sentence = "R is not installed: there is no Rscript on the path. To fix: install R from CRAN"
    if home is not None:
        sentence = f"R_HOME is {home}, where there is no R. To fix: unset R_HOME"
    assert_refused(run_cli("r-setup", PATH=tmp_path, R_HOME=home), f"^scorereport: {re.escape(sentence)}$")


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("echo chatter; exit 1", "R ended with exit code 1 before it answered. Its last output: chatter"),
        ("kill -SEGV $$", r"R was ended by signal 11 \(SIGSEGV\)"),
        ("head -c 300 /dev/urandom", "R ended with exit code 0 before it answered"),
    ],
    ids=["ends", "crashes", "garbage"],
)
def test_an_r_that_fails_is_reported(tmp_path, behaviour, sentence):
    done = run_cli("r-setup", R_HOME=fake_r_home(tmp_path / "home", behaviour))
    assert_refused(done, f"^scorereport: R set-up failed: {sentence}")


@pytest.mark.usefixtures("hidden")
def test_an_r_of_unknown_version_is_refused(tmp_path):
    write_program(tmp_path / "bin" / "Rscript", "\x7fELF, or not")
    assert_refused(
        run_cli("r-setup", R_HOME=tmp_path), r"R does not report its version\. To fix: install R anew$"
    )


def test_a_library_that_cannot_be_written_to_is_reported(tmp_path):
    (tmp_path / "a file").touch()
    place = {"R_HOME": fake_r_home(tmp_path / "home", "exit 1"), "SCOREREPORT_R_LIBRARY": tmp_path / "a file"}
    assert_refused(
        run_cli("r-setup", **place),
        rf"^scorereport: R set-up failed: {tmp_path}/a file/\S+ cannot be written to: Not a directory\. "
        r"To fix: name a folder for R packages in SCOREREPORT_R_LIBRARY$",
    )


class R(RInstallation):
    """An R of known version."""

    version = (4, 2, 2)


#: Where the library belongs on each system, with its variable and without.
@pytest.mark.parametrize(
    ("system", "variable", "below"),
    [
        ("linux", "XDG_DATA_HOME", ".local/share"),
        ("win32", "LOCALAPPDATA", "AppData/Local"),
        ("darwin", "", "Library/Application Support"),
    ],
)
def test_the_library_is_in_the_data_folder_of_the_user(tmp_path, monkeypatch, system, variable, below):
    monkeypatch.delenv("SCOREREPORT_R_LIBRARY", raising=False)
    monkeypatch.setattr(r_library.sys, "platform", system)
    monkeypatch.setattr(r_library.platform, "machine", lambda: "ARM64")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    ours = Path("scorereport", "R", f"{system}-arm64", "4.2")
    r = R(rscript=Path("Rscript"))
    for value in ("", "relative"):
        monkeypatch.setenv(variable or "XDG_DATA_HOME", value)
        assert locate_library(r) == tmp_path / below / ours
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "data"))
        assert locate_library(r) == tmp_path / "data" / ours
    monkeypatch.setenv("SCOREREPORT_R_LIBRARY", str(tmp_path / "mine"))
    assert locate_library(r) == tmp_path / "mine" / f"{system}-arm64" / "4.2"
    assert find_library(r) is None
    assert isolate(None) == {}


def test_without_a_home_folder_there_is_no_library(monkeypatch):
    monkeypatch.delenv("SCOREREPORT_R_LIBRARY", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)

    def refuse():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", refuse)
    assert locate_library(R(rscript=Path("Rscript"))) is None
    monkeypatch.setattr("scorereport.reference.r_setup.find_r", lambda: R(rscript=Path("Rscript")))
    with pytest.raises(SetupError, match=r"^R set-up failed: your home folder is not known\. To fix: name "):
        install_package(SetupRequest())


# ---- packages of the distribution ----


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """Programs of apt that record their arguments; the folder with them, which is the path."""
    folder = tmp_path / "apt"
    write_program(folder / "apt-get", f'#!/bin/sh\necho "apt-get $*" >> {folder}/calls\necho chatter\n')
    write_program(folder / "apt-cache", "#!/bin/sh\nprintf 'r-cran-dplyr\\nr-cran-r6\\nr-cran-other\\n'\n")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_apt_installs_what_it_has(tmp_path, apt):
    with (tmp_path / "log").open("w") as log:
        assert install_ready_built(["dplyr", "R6", "bde"], [], log) == ["r-cran-dplyr", "r-cran-r6"]
    update, install = (apt / "calls").read_text().splitlines()
    assert update == "apt-get -q -o DPkg::Lock::Timeout=300 update"
    assert install.endswith(" install -y --no-install-recommends --no-remove r-cran-dplyr r-cran-r6")
    assert (tmp_path / "log").read_text() == "chatter\n" * 2


def test_a_failure_of_apt_is_a_reason(tmp_path, apt):
    write_program(apt / "apt-get", "#!/bin/sh\nexit 100\n")
    with (tmp_path / "log").open("w") as log, pytest.raises(NotInstalled, match=r"^apt-get failed$"):
        install_ready_built(["dplyr"], [], log)


def test_root_or_sudo_is_needed(apt, monkeypatch):
    monkeypatch.setattr(distribution_packages.os, "geteuid", lambda: 0)
    assert gain_rights() == []
    monkeypatch.setattr(distribution_packages.os, "geteuid", lambda: 1000)
    with pytest.raises(NotInstalled, match=r"^apt-get needs root, and there is no sudo$"):
        gain_rights()
    write_program(apt / "sudo", "#!/bin/sh\nexit 1\n")
    with pytest.raises(NotInstalled, match=r"^apt-get needs root, and sudo refused$"):
        gain_rights()
    write_program(apt / "sudo", '#!/bin/sh\n[ "$*" = -v ]\n')
    assert gain_rights() == ["sudo", "-n"]
    (apt / "apt-get").unlink()
    with pytest.raises(NotInstalled, match=r"^this system has no apt-get$"):
        gain_rights()


# ---- what R prints ----


def test_packages_are_counted_once_and_the_first_error_is_quoted():
    lines = """\
trying URL 'http://x/src/contrib/data.table_1.0-2.tar.gz'
trying URL 'http://x/src/contrib/bde_1.0.tar.gz'
begin installing package ‘data.table’
begin installing package ‘bde’
* installing *source* package ‘data.table’ ...
* DONE (data.table)
* installing *source* package ‘bde’ ...
a.c:1:1: error: the first
a.c:2:1: error: the second
ERROR: compilation failed for package ‘bde’
""".splitlines()
    steps = []
    output = BuildOutput(["data.table", "bde", "ggExtra"])
    with progress_callback(steps.append):
        for line in lines:
            output.take(line)
    assert [step.what for step in steps] == [
        "downloading 1 of 3: data.table",
        "downloading 2 of 3: bde",
        "1 of 3: data.table",
        "2 of 3: bde",
    ]
    assert output.explain(["ggExtra", "bde"]) == (
        "the R package bde could not be built: a.c:1:1: error: the first"
    )
    for line in (
        "Error in library(gone) :",
        "there is no package called ‘gone’",
        "ERROR: it for package ‘ggExtra’",
    ):
        output.take(line)
    assert output.explain(["ggExtra"]) == (
        "the R package ggExtra could not be built: Error in library(gone) : there is no package called ‘gone’"
    )
    output = BuildOutput(["ggExtra", "data.table"])
    output.take(lines[0])
    assert output.explain(["ggExtra"]) == "the R package ggExtra could not be downloaded"
    assert output.explain(["data.table"]) == "the R package data.table could not be installed"
