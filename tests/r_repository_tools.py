"""R packages that tests write, and repositories of them: that work, hang, or hold what cannot be built."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from reference_tools import PATIENCE

DESCRIPTION = """\
Package: {name}
Version: {version}
Title: A Stand-in for Tests
Description: Stands in for another package in tests.
Author: Nobody
Maintainer: Nobody <nobody@example.org>
License: BSD_3_clause
"""

#: What the example of an installation needs of reliabilitydiag, in base R.
STAND_IN = """\
reliabilitydiag <- function(forecast, y, region.level = 0.9, region.method = "resampling",
                            region.position = "diagonal", n.boot = 100) {
  cases <- data.frame(case_id = seq_along(y), x = forecast, y = y, CEP_pav = pooled::pool(forecast, y))
  regions <- if (!is.na(region.level)) draw_region(forecast, region.level, region.method)
  structure(list(list(cases = cases, regions = regions)), class = "reliabilitydiag")
}

draw_region <- function(x, level, method) {
  quantile <- stats::qnorm((1 + level) / 2)
  value <- sort(unique(x))
  n <- as.numeric(table(x))
  if (method == "continuous_asymptotics") {
    value <- seq(0, 1, by = 0.01)
    width <- length(x)^(-2 / 5)
    density <- vapply(value, function(p) mean(stats::dbeta(x, p / width + 1, (1 - p) / width + 1)), 1)
    half <- 0.845081 * (4 * value * (1 - value) / (length(x) * density))^(1 / 3)
  } else {
    half <- quantile * sqrt(value * (1 - value) / n)
  }
  banded::clip(value, half)
}

summary.reliabilitydiag <- function(object, ...) {
  cases <- object[[1]]$cases
  score <- function(p) mean((p - cases$y)^2)
  data.frame(
    mean_score = score(cases$x), miscalibration = score(cases$x) - score(cases$CEP_pav),
    discrimination = score(mean(cases$y)) - score(cases$CEP_pav), uncertainty = score(mean(cases$y))
  )
}
"""
POOLED = """\
pool <- function(x, y) {
  ord <- order(x, -y)
  fitted <- numeric(length(x))
  fitted[ord] <- stats::isoreg(y[ord])$yf
  fitted
}
"""
BANDED = """\
clip <- function(x, half) data.frame(x = x, lower = pmax(0, x - half), upper = pmin(1, x + half))
"""
#: Packages of a repository that works: name, version, what it imports, its code.
WORKING = {
    "pooled": ("1.1", "", POOLED),
    "banded": ("2.0", "", BANDED),
    "reliabilitydiag": ("99.1", "pooled (>= 1.0), banded", STAND_IN),
}


def write_package(folder, name, version, imports, code, **files):
    """Write the source of an R package that exports all its functions."""
    source = folder / name
    (source / "R").mkdir(parents=True)
    needs = f"Imports: {imports}\n" if imports else ""
    (source / "DESCRIPTION").write_text(DESCRIPTION.format(name=name, version=version) + needs)
    methods = "S3method(summary, reliabilitydiag)\n" if "summary.reliabilitydiag" in code else ""
    (source / "NAMESPACE").write_text(f'exportPattern("^[a-z]")\n{methods}')
    (source / "R" / "code.R").write_text(code)
    for path, text in files.items():
        (source / "src").mkdir(exist_ok=True)
        (source / "src" / f"{path}.c").write_text(text)
    return source


def build_repository(folder, rscript, packages, sources=()):
    """Build packages and index them as a repository does; return its folder."""
    contrib = folder / "src" / "contrib"
    contrib.mkdir(parents=True)
    written = [write_package(folder / "sources", name, *facts) for name, facts in packages.items()]
    build = "".join(f'tools::Rcmd(c("build", "{path}"));' for path in [*written, *sources])
    run_r(rscript, f'{build} tools::write_PACKAGES(".", type = "source")', cwd=contrib)
    return folder


def install_source(rscript, library, *sources):
    """Install sources into a library, in order."""
    library.mkdir(exist_ok=True)
    for source in sources:
        options = 'repos = NULL, type = "source", quiet = TRUE'
        run_r(rscript, f'.libPaths("{library}"); install.packages("{source}", "{library}", {options})')
        assert (library / source.name / "DESCRIPTION").is_file()


def run_r(rscript, code, **options):
    """Run R code in a process of its own; return what it printed."""
    done = subprocess.run(
        [rscript, "-e", code], check=True, capture_output=True, text=True, timeout=PATIENCE, **options
    )
    return done.stdout


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_):
        """Print nothing."""


@contextmanager
def serve(folder):
    """Serve a folder on this machine; the address."""
    handler = partial(QuietHandler, directory=os.fspath(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def hang():
    """Accept connections and never answer; the address, and the connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def accept():
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:  # closed
                    return

        Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()


def closed_port():
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def hide_libraries(tmp_path):
    """Environment in which R finds neither libraries of this machine nor a library of scorereport's own."""
    (tmp_path / "Renviron").touch()
    return {
        "R_ENVIRON": tmp_path / "Renviron",
        "R_ENVIRON_USER": tmp_path / "Renviron",
        "R_LIBS_USER": tmp_path / "of the user",
        "R_LIBS_SITE": "NULL",  # an empty one would be set to the usual folders
        "SCOREREPORT_R_LIBRARY": "",
        "XDG_DATA_HOME": tmp_path / "data",
    }


def own_library(data):
    """The library of scorereport's own below this data folder, if there is one."""
    return next(iter(Path(data).glob("scorereport/R/*/[0-9].[0-9]")), None)
