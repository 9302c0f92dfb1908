"""The R package: its installation, what it hands over and gets back, and its own checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audit_tools import make_scored, write_audit
from r_package_tools import ROOT, TIME_LIMIT, make_environment, make_library, require_done, require_r, run_r

import scorereport as sr
from scorereport._utils.clock import fixed_time
from scorereport._utils.version import package_version
from scorereport.audit.run import run_audit
from scorereport.cli.options import OPTIONS
from scorereport.errors import ExitCode, UsageError
from scorereport.r_package.package_installation import (
    SOURCE,
    RPackageError,
    copy_source,
    install_r_package,
    read_version,
)

pytestmark = pytest.mark.sweep

#: Options of files, which have no meaning for data frames.
OF_FILES = {"separator", "decimal", "encoding", "table"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return make_library(tmp_path_factory)


def read_help(name):
    return (SOURCE / "man" / f"{name}.Rd").read_text(encoding="utf-8")


def write_program(folder, text):
    """A program in place of Rscript, which states a version and then prints what R would."""
    program = folder / "Rscript"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "version {text[0]}" && exit\n{text[1]}\n')
    program.chmod(0o755)


# ---- The source ----


def test_versions_of_both_packages_are_the_same():
    assert read_version() == package_version()


def test_every_exported_function_has_a_help_page_and_every_page_an_example_that_runs():
    exported = re.findall(r"^export\((\w+)\)$", (SOURCE / "NAMESPACE").read_text(), flags=re.M)
    pages = [path.read_text(encoding="utf-8") for path in sorted((SOURCE / "man").glob("*.Rd"))]
    assert len(exported) == 7
    assert set(exported) <= {alias for page in pages for alias in re.findall(r"\\alias\{(\w+)\}", page)}
    for page in pages:
        assert r"\docType{package}" in page or "if (sr_available()" in page
        assert r"\dontrun" not in page


def test_every_option_of_an_evaluation_is_documented():
    page = read_help("sr_evaluate")
    documented = set(re.findall(r"\\code\{(\w+)\}", page))
    assert set(OPTIONS) - OF_FILES <= documented


def test_no_file_of_the_source_is_ignored_by_git():
    files = {path.relative_to(ROOT).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
    ignored = subprocess.run(
        ["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ignored.returncode == 128:
        pytest.skip(f"this is not a clone: {ignored.stderr.strip()}")
    assert ignored.stdout == ""
    assert {"DESCRIPTION", "NAMESPACE", "LICENSE"} <= {Path(file).name for file in files}


def test_the_source_is_copied_whole_and_never_over_something(tmp_path):
    assert "R CMD INSTALL" in copy_source(tmp_path / "source")
    copied = {path.relative_to(tmp_path / "source") for path in (tmp_path / "source").rglob("*")}
    assert copied == {path.relative_to(SOURCE) for path in SOURCE.rglob("*")}
    with pytest.raises(
        UsageError, match=r"^.*source exists already\. To fix: name a folder that is to be made\.$"
    ):
        copy_source(tmp_path / "source")
    with pytest.raises(
        UsageError, match=r"^The folder .*absent does not exist\. To fix: create it, or name ano"
    ):
        copy_source(tmp_path / "absent" / "source")


# ---- The installation ----


@pytest.mark.usefixtures("library")
def test_the_command_installs_into_a_library(call, tmp_path):
    code, out, _ = call("r-package", "--library", tmp_path / "lib é")
    assert code == ExitCode.DONE
    assert out.startswith(
        f"The R package scorereport {read_version()} is installed into {tmp_path / 'lib é'} (R "
    )
    installed = tmp_path / "lib é" / "scorereport"
    assert (installed / "DESCRIPTION").exists()
    assert (installed / "help").is_dir()


def test_without_r_the_command_says_what_to_install(call, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("R_HOME", raising=False)
    code, out, err = call("r-package")
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith("scorereport: R is not installed: there is no Rscript on the path. To fix: ")


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("version", "prints", "sentence"),
    [
        ("4.2.2", "printf '/lib\\nTRUE\\nFALSE\\n'", r"^R has no package jsonlite\. To fix: .*jsonlite.*$"),
        (
            "4.2.2",
            "printf '/lib\\nFALSE\\nTRUE\\n'",
            r"^The R library /lib cannot be written\. To fix: name anot",
        ),
        ("3.6.3", "true", r"^R 3\.6\.3 is too old: the package needs R 4\.0 or newer\.$"),
        ("4.2.2", "echo 'Error: broken'; exit 1", r"^R did not start: Error: broken$"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(monkeypatch, tmp_path, version, prints, sentence):
    write_program(tmp_path, (version, prints))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("R_HOME", raising=False)
    with pytest.raises(RPackageError, match=sentence):
        install_r_package()


def test_a_library_and_a_copy_exclude_each_other(call, tmp_path):
    code, _, err = call("r-package", "--library", tmp_path, "--source", tmp_path / "s")
    assert code == ExitCode.USAGE
    assert err == "scorereport: Give either --library or --source: a copy of the source is not installed.\n"


# ---- What goes to Python ----

ODD_COLUMNS = """
n <- 12
d <- data.frame(
  y = rep(c(0, 1), 6),
  p = c(1 / 3, 0.1 + 0.2, 5e-324, 1 - 2^-53, 0, 0.5, pi / 4, exp(-1), 0.7, 0.8, 0.9, NA),
  level = factor(replace(rep(c("b", "a"), 6), 2, NA), levels = c("b", "a", "unused"), ordered = TRUE),
  whole = c(1:11, NA),
  half = c(0.5, 1:11),
  truth = replace(rep(c(TRUE, FALSE), 6), 3, NA),
  text = replace(rep(c("caf\\u00e9", "a, b", "c"), 4), 5, NA),
  day = as.Date("2026-01-30") + 0:11,
  stringsAsFactors = FALSE
)
d$time <- as.POSIXct("2026-03-01", tz = "UTC") + (0:11) * 86400 * 20
"""


@pytest.mark.sweep(after=1)
def test_columns_arrive_as_they_are(library, tmp_path):
    columns = ("level", "whole", "half", "truth", "text", "day")
    code = f"""{ODD_COLUMNS}
    scorereport:::write_data(as.list(d), "odd.rds")
    groups <- c({", ".join(f'"{name}"' for name in columns)})
    e <- sr_evaluate(d, "y", "p", groups = groups, time = "time", missing = "drop", resamples = 0,
                     smallest_group = 1, window = "month")
    writeLines(attr(e, "document"), "r.json", useBytes = TRUE)
    """
    require_done(run_r(code, library, tmp_path))
    keywords = {"time": "time", "missing": "drop", "resamples": 0, "smallest_group": 1, "window": "month"}
    ours = sr.evaluate(tmp_path / "odd.rds", outcome="y", forecasts=["p"], groups=list(columns), **keywords)
    # reports hold the evaluation among other things
    theirs = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["evaluation"]
    own = json.loads(ours.to_json())
    assert {key: theirs[key] for key in ("models", "groups", "windows")} == {
        key: own[key] for key in ("models", "groups", "windows")
    }
    found = {(group.column, group.label) for group in ours.groups}
    assert {("level", "a"), ("whole", "4"), ("half", "0.5"), ("text", "café"), ("day", "2026-02-02")} <= found
    kept = [1 / 3, 1 - 2**-53, 0.5, np.pi / 4, np.exp(-1), 0.7, 0.8, 0.9]
    np.testing.assert_array_equal(np.sort(ours.predictions.forecasts["p"]), np.sort(kept))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_survive_locales_without_their_letters(library, tmp_path, locale):
    code = """
    d <- data.frame(a = c(0, 1, 1), b = c(0.2, 0.7, 0.6), g = c("\\u00e9", "\\u4e2d", "\\u4e2d"))
    names(d) <- c("r\\u00e9sultat, \\"x\\"", "--\\u03b1 'b' $HOME `c`", "g")
    e <- sr_evaluate(d, names(d)[1], names(d)[2], groups = "g", resamples = 0, smallest_group = 1)
    writeLines(attr(e, "document"), "r.json", useBytes = TRUE)
    stopifnot(identical(enc2utf8(e$scores$model), enc2utf8(names(d)[2])))
    """
    require_done(run_r(code, library, tmp_path, LC_ALL=locale))
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["evaluation"]
    assert document["data"]["outcome"] == 'résultat, "x"'
    assert document["models"][0]["model"] == "--α 'b' $HOME `c`"
    assert {group["label"] for group in document["groups"]} == {"é", "中"}


def test_few_rows_and_what_is_wrong(library, tmp_path):
    code = """
    describe <- function(e) paste(class(e)[1], conditionMessage(e))
    say <- function(...) {
      cat(tryCatch(paste("rows", attr(sr_evaluate(...), "rows")), error = describe), "\\n", sep = "")
    }
    d <- data.frame(y = c(0, 1), p = c(0.2, 1.5))
    say(d[0, ], "y", "p")
    say(d[1, ], "y", "p")
    say(d, "y", "p")
    say(d[1, ], "y", "p", resample = 5)
    cat(length(list.files(tempdir())), "left\\n")
    """
    *lines, unknown, left = require_done(run_r(code, library, tmp_path)).splitlines()
    assert lines == [
        "scorereport_refused d.rds holds no rows.",
        "rows 1",
        "scorereport_refused `p` must lie in [0, 1]; got 1.5 at row 2 of d.rds (1 of 2 rows).",
    ]
    assert unknown.startswith(
        "scorereport_refused There is no argument `resample`. Did you mean one of resamples"
    )
    assert left == "0 left"


def test_without_python_the_reason_and_the_way_out_are_stated(library, tmp_path):
    code = """
    cat(sr_available(), tryCatch(sr_command(), scorereport_absent = conditionMessage), sep = "|")
    """
    nowhere = require_done(run_r(code, library, tmp_path, SCOREREPORT_PYTHON="/nowhere/bin/python"))
    assert nowhere == (
        "FALSE|SCOREREPORT_PYTHON is /nowhere/bin/python, where there is no Python. To fix: let it name the "
        "python of the environment in which scorereport is installed, or unset it."
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("Rscript", "R", "sh", "sed", "uname", "rm", "grep", "dirname"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    none = require_done(run_r(code, library, tmp_path, SCOREREPORT_PYTHON="", PATH=str(tools)))
    assert none.startswith(
        "FALSE|The Python package scorereport was not found: there is no scorereport on the pa"
    )


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_another_version_of_the_command_line_is_refused(library, tmp_path):
    program = tmp_path / "scorereport"
    program.write_text("#!/bin/sh\necho scorereport 7.1.0\n")
    program.chmod(0o755)
    code = "cat(tryCatch(sr_command(), error = conditionMessage))"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = require_done(run_r(code, library, tmp_path, SCOREREPORT_PYTHON="", PATH=path))
    assert found == (
        f"This is the R package scorereport {read_version()}, but {program} has scorereport 7.1.0. To fix: "
        f"{program} r-package installs the R package that fits; then restart R."
    )


# ---- What comes back ----


def test_tables_have_the_numbers_of_python_to_the_last_digit(library, tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"p": rng.random(300), "q": rng.random(300), "g": np.tile(["a", "b", "c"], 100)})
    frame["y"] = (rng.random(300) < frame["p"]).astype(float)
    frame.to_csv(tmp_path / "d.csv", index=False)
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["p", "q"], groups=["g"], resamples=50)
    code = """
    d <- read.csv("d.csv", numerals = "no.loss")
    e <- sr_evaluate(y ~ p + q, d, groups = "g", resamples = 50)
    for (name in c("scores", "decompositions", "intervals", "differences", "thresholds", "group_scores")) {
      columns <- lapply(as.list(e[[name]]), function(x) if (is.numeric(x)) sprintf("%a", x) else x)
      jsonlite::write_json(columns, paste0(name, ".json"))
    }
    """
    require_done(run_r(code, library, tmp_path))
    for name in ("scores", "decompositions", "intervals", "differences", "thresholds", "group_scores"):
        frame = getattr(evaluation, name)
        frame = frame.reset_index() if frame.index.name else frame
        columns = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert list(columns) == list(frame.columns)
        for column, values in columns.items():
            expected = frame[column].to_numpy()
            if frame[column].dtype.kind in "fi":
                np.testing.assert_array_equal([read_hexadecimal(text) for text in values], expected)


def read_hexadecimal(text):
    """A number as R writes it by %a; missing ones are NaN."""
    return np.nan if text in ("NA", "NaN", None) else float.fromhex(text)


def test_the_history_of_an_audit_is_a_data_frame(library, tmp_path):
    make_scored("2026-09-01", 61, rows=5).to_csv(tmp_path / "scores.csv", index=False)
    config = write_audit(tmp_path, "audit", limits={"brier": {"warn": 0.1, "fail": 0.5}})
    with fixed_time("2026-12-15T06:00:00+00:00"):
        records = [run_audit(config, as_of=day).record for day in ("2026-10-02", "2026-11-02", "2026-12-02")]
    code = """
    h <- sr_audit_history()
    j <- sr_audit_history(what = "judgements")
    n <- sr_audit_history(what = "numbers", last = 2)
    jsonlite::write_json(list(h = h, j = j, n = n), "found.json", digits = NA, POSIXt = "ISO8601")
    """
    require_done(run_r(code, library, tmp_path))
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert [(row["id"], row["status"], row["sha256"]) for row in found["h"]] == [
        (record.id, str(record.status), record.sha256) for record in records
    ]
    assert [row["rows"] for row in found["h"]] == [record.rows for record in records]
    assert found["h"][0]["finished"].startswith("2026-12-15T06:00:00")
    assert [row["verdict"] for row in found["j"]] == [str(j.verdict) for r in records for j in r.judgements]
    assert len(found["n"]) == sum(len(r.snapshot.numbers) for r in records[-2:] if r.snapshot is not None)


# ---- The package as R checks it ----


@pytest.mark.sweep
def test_the_package_passes_the_check_of_r(tmp_path):
    require_r("jsonlite", "testthat", "knitr", "rmarkdown", programs=("pandoc",))
    copy_source(tmp_path / "scorereport")
    environment = make_environment(_R_CHECK_FORCE_SUGGESTS_="true", LC_ALL="C.UTF-8")
    options = {
        "cwd": tmp_path,
        "env": environment,
        "capture_output": True,
        "encoding": "utf-8",
    }
    built = subprocess.run(["R", "CMD", "build", "scorereport"], timeout=TIME_LIMIT, check=False, **options)
    assert built.returncode == 0, built.stdout + built.stderr
    package = f"scorereport_{read_version()}.tar.gz"
    command = ["R", "CMD", "check", "--no-manual", package]
    checked = subprocess.run(command, timeout=2 * TIME_LIMIT, check=False, **options)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert re.findall(r"\.\.\. (?:\[.*\] )?(?:ERROR|WARNING|NOTE)$", checked.stdout, flags=re.M) == [], (
        checked.stdout
    )
    assert checked.stdout.rstrip().endswith("Status: OK")


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["from-r.Rmd", "from-r.qmd"])
def test_the_documents_of_the_documentation_can_be_rendered(library, tmp_path, name):
    """Quarto runs a document by knitr, so that knitr must run it without Quarto."""
    require_r("knitr", "rmarkdown", programs=("pandoc",))
    shutil.copyfile(ROOT / "docs" / "how-to" / name, tmp_path / "document.Rmd")
    code = 'rmarkdown::render("document.Rmd", "html_document", output_file = "page.html", quiet = TRUE)'
    require_done(run_r(code, library, tmp_path))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The models were evaluated on 248 rows." in page
    assert page.count("<img ") == 1
    assert "<li>" in page
    assert "abortions" in page
