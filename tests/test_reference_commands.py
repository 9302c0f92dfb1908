"""Certificates by the command line and with failing R."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from reference_process_tools import (
    LATE,
    MARK,
    NO_FILE,
    file_fixture,
    interrupt,
    rscript_fixture,
    temporary_fixture,
    tools_fixture,
)
from reference_tools import (
    PATIENCE,
    R_CODE,
    fake_r_home,
    fake_rpy2,
    left_running,
    marked_processes,
    run_cli,
    small_evaluation,
    version_of_r,
    wait_for,
    write_program,
)

import scorereport as sr
from scorereport.cli import main
from scorereport.reference import recorded_answers
from scorereport.reference.live_references import list_sources, open_reference
from scorereport.reference.questions import Question, read_answer
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure, Session

tools = pytest.fixture(scope="session")(tools_fixture)


temporary = pytest.fixture(autouse=True)(temporary_fixture)


rscript = pytest.fixture(scope="session")(rscript_fixture)


file = pytest.fixture(file_fixture)


# ---- certificates ----


def certify(**options):
    return sr.certify(small_evaluation(), **{"draws": 100, "time_limit": PATIENCE, **options})


@pytest.fixture
def short_record(monkeypatch):
    """Keep a few of the recorded answers, which are compared if no R answers: all would take long."""
    record = recorded_answers.read_recorded_answers()
    monkeypatch.setattr(
        recorded_answers, "read_recorded_answers", lambda: {**record, "cases": record["cases"][3:9]}
    )


def assert_not_checked(certificate, *attempts):
    """Assert the verdict, its sentence, and the reason and remedy of each reference that was tried."""
    assert certificate.verdict == "not checked"
    assert certificate.sentence.startswith(f"Not checked on these data. {attempts[-1][1]}")
    assert certificate.sentence.endswith(" of other data.")
    assert " agrees with 6 recorded answers of reliabilitydiag " in certificate.sentence
    assert certificate.left_out == ("every number of this evaluation",)
    assert certificate.unexpected == ()
    assert [(a.reference, a.reason, a.remedy) for a in certificate.attempts] == list(attempts)


PACKAGE, BASE = "reliabilitydiag through rpy2", "base R (stats::isoreg)"


MISSING = "R is not installed: there is no Rscript on the path."


def assert_unavailable(kind, reason, remedy, time_limit=PATIENCE):
    """Assert that the reference is not available, with reason and remedy."""
    with pytest.raises(Unavailable) as stop, open_reference(kind, time_limit):
        pass
    assert (str(stop.value), stop.value.remedy) == (reason, remedy)


def assert_reference_fails(sentence, time_limit=PATIENCE, kind="base"):
    """Assert that the reference is available but gives no usable answer."""
    question = Question(y_true=np.array([0.0, 1.0]), y_prob=np.array([0.5, 0.5]))
    with pytest.raises(ReferenceFailure, match=sentence), open_reference(kind, time_limit) as reference:
        read_answer(reference.ask(question), question)
    assert left_running(MARK) == []


@pytest.mark.usefixtures("short_record")
def test_without_r_nothing_is_checked(tmp_path, monkeypatch):
    write_program(tmp_path / "bin" / "apt-get", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    remedy = "sudo apt-get install r-base-core r-base-dev"
    assert_not_checked(certify(), (PACKAGE, MISSING, remedy), (BASE, MISSING, remedy))


@pytest.mark.parametrize("kind", ["base", "reliabilitydiag"])
def test_without_r_and_without_apt_cran_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_unavailable(kind, MISSING, "install R from CRAN")


@pytest.mark.parametrize("kind", ["base", "reliabilitydiag"])
def test_a_wrong_r_home_is_reported(monkeypatch, kind):
    monkeypatch.setenv("R_HOME", "/tmp/nowhere")
    assert_unavailable(kind, "R_HOME is /tmp/nowhere, where there is no R.", "unset R_HOME")


@pytest.mark.parametrize("kind", ["empty", "not executable", "a folder"])
def test_an_r_home_without_a_program_is_wrong(tmp_path, monkeypatch, kind):
    (tmp_path / "bin").mkdir()
    if kind == "not executable":
        (tmp_path / "bin" / "Rscript").write_text("#!/bin/sh\n")
    if kind == "a folder":
        (tmp_path / "bin" / "Rscript").mkdir()
    monkeypatch.setenv("R_HOME", str(tmp_path))
    assert_unavailable("base", f"R_HOME is {tmp_path}, where there is no R.", "unset R_HOME")


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("base_r")
def test_an_empty_r_home_is_ignored(monkeypatch):
    monkeypatch.setenv("R_HOME", "")
    with open_reference("base", PATIENCE) as reference:
        assert reference.title.startswith("base R ")


@pytest.mark.r
def test_r_home_is_enough(monkeypatch, rscript):
    home = subprocess.run([rscript, "-e", "cat(R.home())"], capture_output=True, text=True, check=True).stdout
    monkeypatch.setenv("R_HOME", home)
    monkeypatch.setenv("PATH", "/bin:/nowhere")
    with open_reference("base", PATIENCE) as reference:
        assert reference.software["R"] == version_of_r(rscript)


@pytest.mark.r
@pytest.mark.usefixtures("base_r")
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_temporary_files_may_lie_in_a_folder_of_any_name(tmp_path, monkeypatch, locale):
    """R itself does not remove its files if the name of the folder has a space."""
    folder = tmp_path / "my Büro"
    folder.mkdir()
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with open_reference("base", PATIENCE) as reference:
        assert len(list(folder.glob("scorereport-r-*"))) == 1
        assert reference.title.startswith("base R ")
    assert list(folder.iterdir()) == []


@pytest.fixture
def put_rpy2(tmp_path, monkeypatch):
    """Put a fake rpy2 before the real one, in this process and in later ones."""

    def put(code, version=None):
        folder = str(fake_rpy2(tmp_path / "python", code, version))
        monkeypatch.setenv("PYTHONPATH", folder)
        monkeypatch.syspath_prepend(folder)

    return put


NOT_FOUND = "raise ModuleNotFoundError(\"No module named 'rpy2'\", name='rpy2')"


UNDEFINED = 'raise ImportError("_rinterface_cffi_api.abi3.so: undefined symbol: R_getVar")'


FITTING = "pip install rpy2==3.6.5 rpy2-rinterface==3.6.5 rpy2-robjects==3.6.5"


REBUILT = "--force-reinstall --no-cache-dir --no-binary rpy2-rinterface"


def fits_only_older(rscript):
    return tuple(map(int, version_of_r(rscript).split("."))) < (4, 5)


@pytest.mark.r
def test_without_rpy2_the_fitting_version_is_named(put_rpy2, rscript):
    put_rpy2(NOT_FOUND)
    remedy = FITTING if fits_only_older(rscript) else 'pip install "scorereport[r]"'
    assert_unavailable("reliabilitydiag", "The Python package rpy2 is not installed.", remedy)


def test_an_rpy2_that_needs_a_newer_r_is_reported(tmp_path, monkeypatch, put_rpy2):
    put_rpy2(UNDEFINED, "3.6.6")
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "exit 4", "4.2.2")))
    sentence = "rpy2-rinterface 3.6.6 needs R 4.5 or newer; this is R 4.2.2."
    assert_unavailable("reliabilitydiag", sentence, FITTING)


@pytest.mark.parametrize(
    ("version", "r", "remedy"),
    [
        ("3.6.5", "4.2.2", f"{FITTING} {REBUILT}"),
        ("3.6.6", "4.5.0", f'pip install "scorereport[r]" {REBUILT}'),
        ("3.6.6", "", f'pip install "scorereport[r]" {REBUILT}'),
    ],
)
def test_an_rpy2_that_should_fit_but_does_not_load_is_reported(
    tmp_path, monkeypatch, put_rpy2, version, r, remedy
):
    put_rpy2("raise ImportError('libR.so: cannot open shared object file')", version)
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "exit 4", r)))
    reason = (
        f"rpy2-rinterface {version} does not load with R {r or 'of unknown version'}: "
        "ImportError: libR.so: cannot open shared object file"
    )
    assert_unavailable("reliabilitydiag", reason, remedy)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import os; print('alas', flush=True); os._exit(7)", r"^R ended with exit code 7 .* output: alas$"),
        ("import os; os.kill(os.getpid(), 11)", r"^R was ended by signal 11 \(SIGSEGV\)\."),
    ],
    ids=["ends", "crashes"],
)
def test_an_rpy2_that_ends_its_process_is_reported(tmp_path, monkeypatch, put_rpy2, code, sentence):
    put_rpy2(code)
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "exit 4")))
    assert_reference_fails(sentence, kind="reliabilitydiag")


def test_an_rpy2_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch, put_rpy2):
    put_rpy2("import subprocess; subprocess.run(['sleep', '1000'])")
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "exit 4")))
    assert_reference_fails(LATE, 1, "reliabilitydiag")


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_an_rpy2_of_one_distribution_is_not_reported_as_missing(tmp_path, monkeypatch):
    """As rpy2 before 3.6: there is no distribution rpy2-rinterface that has a version."""
    installed = Path(np.__file__).parents[1]
    for pattern in ("numpy*", "rpy2", "_rinterface_cffi*", "cffi", "_cffi_backend*", "packaging", "tzlocal"):
        for found in installed.glob(pattern):
            (tmp_path / found.name).symlink_to(found)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(R_CODE.parents[2])]))
    program = [sys.executable, "-S", "-m", "scorereport.reference.worker"]
    with Session(program, list_sources("reliabilitydiag"), time_limit=PATIENCE) as session:
        try:
            answer = session.ask("hello")
        except ReferenceFailure as failure:
            answer = failure.answer
    assert answer.get("stage") != ["missing"], answer


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_a_missing_package_is_reported(tmp_path, monkeypatch):
    (tmp_path / "Renviron").touch()
    monkeypatch.setenv("R_ENVIRON", str(tmp_path / "Renviron"))
    monkeypatch.setenv("R_LIBS_USER", str(tmp_path))
    monkeypatch.setenv("R_LIBS_SITE", "NULL")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with pytest.raises(Unavailable) as stop, open_reference("reliabilitydiag", PATIENCE):
        pass
    assert str(stop.value).startswith(f"The R package reliabilitydiag is not installed in {tmp_path}, ")
    assert stop.value.remedy == "scorereport r-setup"


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_a_broken_package_is_reported(tmp_path, monkeypatch):
    (tmp_path / "reliabilitydiag").mkdir()
    (tmp_path / "reliabilitydiag" / "DESCRIPTION").write_text("Package: reliabilitydiag\nVersion: 9.9.9\n")
    monkeypatch.setenv("R_LIBS", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with (
        pytest.raises(
            Unavailable,
            match=r"^The R package reliabilitydiag 9\.9\.9 \(in .+\) does not work: .*namespace\.$",
        ) as stop,
        open_reference("reliabilitydiag", PATIENCE),
    ):
        pass
    assert stop.value.remedy == "scorereport r-setup"


# the user's profile


@pytest.fixture
def put_profile(tmp_path, monkeypatch):
    """Give the user a .Rprofile."""

    def put(code):
        (tmp_path / ".Rprofile").write_text(
            f"{code}\n", encoding="utf-8"
        )  # R ignores a last line without a line end
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("R_PROFILE_USER", raising=False)

    return put


NOISE = """
cat(rep("chatter, on output\\n", 20000)); message(rep("and on error\\n", 20000)); warning("beware")
cat("without end")
"""


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_a_profile_that_prints_does_no_harm(put_profile):
    put_profile(NOISE)
    with open_reference("reliabilitydiag", PATIENCE) as reference:
        assert re.fullmatch(r"reliabilitydiag \d\S+ \(R \d\S+\) through rpy2 \d\S+", reference.title)
    with open_reference("base", PATIENCE) as reference:
        assert reference.title.startswith("base R ")


def assert_r_is_named_as_the_cause():
    """Assert that the message names R: rpy2 loads, and reinstalling it would not help."""
    with (
        pytest.raises((ReferenceFailure, Unavailable), match=r"^R ") as stop,
        open_reference("reliabilitydiag", PATIENCE),
    ):
        pass
    assert "does not load" not in str(stop.value)
    assert "pip install" not in getattr(stop.value, "remedy", "")


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
@pytest.mark.parametrize("code", ['stop("no R today")', "quit(status = 0)", "quit(status = 9)"])
def test_a_profile_that_ends_r_is_reported_and_base_r_skips_it(put_profile, code):
    put_profile(code)
    assert_r_is_named_as_the_cause()
    with open_reference("base", PATIENCE) as reference:
        assert reference.title.startswith("base R ")


# R that dies, hangs or answers nonsense during its work


class CertifyThread(Thread):
    """A thread that certifies, whose R can be found and sent a signal."""

    def __init__(self, temporary, **options):
        super().__init__()
        self._temporary = temporary
        self._options = options
        self.certificate = None

    def run(self):
        self.certificate = certify(**self._options)

    def working(self):
        """The processes whose folder holds the second request, which asks for the numbers."""
        folders = {request.parent for request in self._temporary.glob("scorereport-r-*/2.request")}
        return [pid for pid in marked_processes(MARK) if _folder_of(pid) in folders]

    def interrupt_r(self, stop):
        """Send a signal to the working R and return the resulting certificate.

        R handles some signals itself: it may go on after a SIGSEGV that arrives while it computes.
        """
        self.start()
        for pid in wait_for(self.working):
            os.kill(pid, stop)
        self.join(PATIENCE)
        return self.certificate


def _folder_of(pid):
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return None


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_base_r_replaces_an_r_that_was_killed(temporary):
    small_evaluation()
    certificate = CertifyThread(temporary, draws=500).interrupt_r(signal.SIGKILL)
    assert certificate.verdict == "confirmed"
    assert certificate.sentence.startswith("Confirmed on these data by base R. ")
    assert re.match(r"base R \d+\.\d+\.\d+ \(stats::isoreg", certificate.reference)
    assert certificate.reference in certificate.sentence
    assert not {"reliabilitydiag", "rpy2"} & set(certificate.software)
    (attempt,) = certificate.attempts
    assert (attempt.reference, attempt.remedy) == (PACKAGE, "")
    assert attempt.reason.startswith("R was ended by signal 9 (SIGKILL).")


@pytest.mark.r
@pytest.mark.usefixtures("base_r", "short_record")
def test_the_last_r_that_was_killed_is_reported(temporary):
    small_evaluation()
    certificate = CertifyThread(temporary, draws=200_000, reference="base").interrupt_r(signal.SIGKILL)
    (attempt,) = certificate.attempts
    assert_not_checked(certificate, (BASE, attempt.reason, ""))
    assert attempt.reason.startswith("R was ended by signal 9 (SIGKILL).")


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("sleep 1000 & sleep 1000", LATE),
        ("exec yes", LATE),
        ("kill -SEGV $$", r"^R was ended by signal 11 \(SIGSEGV\)\.$"),
        (
            "echo no libR.so >&2; exit 127",
            r"^R ended with exit code 127 before it answered\. .*: no libR\.so$",
        ),
        ('head -c 300 /dev/urandom > "$3/1.answer"; echo "$4 1"; cat', "^R answered with something other"),
        ('for k in 1 2; do : > "$3/$k.answer"; echo "$4 $k"; done; cat', "^R answered without the numbers"),
        ('echo "$4 1"; cat', NO_FILE),
    ],
    ids=["hangs", "chatters", "crashes", "ends", "garbage", "answers nothing", "no file"],
)
def test_a_fake_r_is_reported(tmp_path, monkeypatch, behaviour, reason):
    """It is called with --vanilla, the script, the folder, the token and the sources."""
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path, behaviour)))
    assert_reference_fails(reason, time_limit=1 if reason == LATE else PATIENCE)


@pytest.mark.usefixtures("short_record")
def test_a_fake_r_that_hangs_breaks_no_report(tmp_path, monkeypatch):
    bin_folder = fake_r_home(tmp_path, "sleep 1000 & sleep 1000") / "bin"
    monkeypatch.setenv("PATH", str(bin_folder), prepend=os.pathsep)
    attempt = (BASE, "R gave no answer within 1 seconds and was ended.", "")
    assert_not_checked(certify(reference="base", time_limit=1), attempt)
    assert left_running(MARK) == []


@pytest.mark.sweep
def test_an_r_that_hangs_at_its_version_is_ended_in_time(tmp_path, monkeypatch):
    """The time limit covers every request to R."""
    monkeypatch.setenv("R_HOME", str(tmp_path))
    write_program(tmp_path / "bin" / "Rscript", "#!/bin/sh\nsleep 1000 & sleep 1000\n")
    began = time.monotonic()
    assert_reference_fails(LATE, time_limit=1)
    assert time.monotonic() - began < 30  # less than the default limit of a minute


@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_rpy2_with_a_fake_r_home_is_reported(tmp_path, monkeypatch):
    """rpy2 runs the R of R_HOME first."""
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "echo alas; exit 1")))
    assert_r_is_named_as_the_cause()


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_an_r_of_rpy2_that_hangs_is_ended(tmp_path, monkeypatch):
    """The R that rpy2 starts is ended as well."""
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", "sleep 1000")))
    assert_reference_fails(r"^R gave no answer within 3 seconds and was ended\.$", 3, "reliabilitydiag")


def test_a_missing_temporary_folder_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path, "exit 1")))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        assert_reference_fails("No such file or directory")


SCORE = ["score", "--outcome", "y", "--forecast", "p", "--resamples", "0", "--certify"]


def score(file, *options, **environment):
    return run_cli(*SCORE, file, *options, **environment)


def lines_of(done):
    """The lines on standard error, without progress, which slow machines show; never a traceback."""
    assert "Traceback" not in done.stderr
    return [line for line in done.stderr.splitlines() if not line.startswith("progress: ")]


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_scores_are_certified(file, put_profile):
    """Also if the user's profile prints: its text is on neither stream, and both have the verdict."""
    put_profile(NOISE)
    done = score(file, "--strict")
    assert done.returncode == 0, done.stderr
    assert "Brier" in done.stdout
    assert done.stdout.count("R certificate: Certified on these data.") == 1
    assert "chatter" not in done.stdout
    verdict, left_out = lines_of(done)
    assert re.match(r"R certificate: Certified on these data\. .* with reliabilitydiag \d", verdict)
    assert left_out.startswith("Not compared: components corrected for overfit, ")


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("base_r")
def test_json_stays_json_and_base_r_is_named(tmp_path, file, put_profile):
    put_profile(NOISE)
    folder = fake_rpy2(tmp_path / "python", f"print('chatter', flush=True)\n{NOT_FOUND}")
    done = score(file, "--json", PYTHONPATH=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["evaluation"]["models"][0]["model"] == "p"
    assert document["certificate"]["verdict"] == "confirmed"
    verdict, attempt, left_out = lines_of(done)
    assert re.match(r"R certificate: Confirmed on these data by base R\. .* with base R \d", verdict)
    assert attempt.startswith(f"{PACKAGE}: The Python package rpy2 is not installed. To fix: pip install ")
    assert left_out.startswith("Not compared: components corrected for overfit, ")


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("short_record")
@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict", "--json"], 3)])
def test_scores_are_printed_without_r(tmp_path, monkeypatch, capfd, file, options, code):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(sys, "argv", ["scorereport", *SCORE, str(file), *options])
    with pytest.raises(SystemExit) as stop:
        main()
    assert (stop.value.code or 0) == code
    out, err = capfd.readouterr()
    verdict, *attempts, left_out = err.splitlines()
    assert verdict.startswith(f"R certificate: Not checked on these data. {MISSING} ")
    remedy = "To fix: install R from CRAN"
    assert attempts == [f"{PACKAGE}: {MISSING} {remedy}", f"{BASE}: {MISSING} {remedy}"]
    assert left_out == "Not compared: every number of this evaluation."
    assert json.loads(out)["certificate"]["verdict"] == "not checked" if options else "Brier" in out


CLI = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from scorereport.cli import main
main()
"""


@pytest.mark.sweep
def test_ctrl_c_while_r_works_is_one_line(tmp_path, file, temporary, monkeypatch):
    behaviour = "echo > ../ready; sleep 1000 & sleep 1000"
    monkeypatch.setenv("R_HOME", str(fake_r_home(tmp_path / "home", behaviour)))
    monkeypatch.setenv("PYTHONPATH", str(fake_rpy2(tmp_path / "python", NOT_FOUND)))
    done = interrupt([sys.executable, "-c", CLI, *SCORE, str(file)], (temporary / "ready").exists)
    assert done == (130, "", "scorereport: interrupted.\n")
    assert left_running(MARK) == []
    assert [file.name for file in temporary.iterdir()] == ["ready"]
