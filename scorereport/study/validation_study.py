"""`run_study()`: run all sections of the validation study, in order."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from scorereport._utils.choices import SEED
from scorereport._utils.clock import timestamp
from scorereport._utils.progress import as_one_stage, report_stage, steps
from scorereport._utils.work_plan import Stage
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import BASE, NAMES, PACKAGE, Reference, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import compare_with_record
from scorereport.reference.reference_documents import Study, StudyFigure, StudySection
from scorereport.study.installation_checks import check_installation, check_operation, software_versions
from scorereport.study.package_defects import show_defects
from scorereport.study.papers.ahmadian import reproduce_ahmadian
from scorereport.study.papers.ahmadian_errata import errata_ahmadian
from scorereport.study.papers.dimitriadis import reproduce_dimitriadis
from scorereport.study.papers.dimitriadis_errata import errata_dimitriadis
from scorereport.study.papers.flores import reproduce_flores
from scorereport.study.papers.flores_errata import errata_flores
from scorereport.study.papers.galdran import reproduce_galdran
from scorereport.study.papers.galdran_errata import errata_galdran
from scorereport.study.papers.nelson import reproduce_nelson
from scorereport.study.papers.nelson_errata import errata_nelson
from scorereport.study.papers.nelson_plots import illustrate_nelson
from scorereport.study.peers.peer_comparison import compare_with_peers
from scorereport.study.peers.r_packages import compare_with_r_packages
from scorereport.study.r_comparison import LiveCases, LiveComparison
from scorereport.study.seeded_cases import draw_cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scorereport.study.case_summary import CaseSummary
    from scorereport.study.seeded_cases import Case

#: Default number of cases that R is asked about; base R is asked about one in this many of them too. Other
#: packages are asked about the cases of a study with the default number at most.
CASES, _BASE_SHARE = 300, 5
#: Columns of the Niamey data: the outcome, and four forecasts.
_NIAMEY = ("obs", "ENS", "EPC", "EMOS", "Logistic")
#: Seconds that R may take for one case.
STUDY_TIME_LIMIT = 900.0
#: Title of each section, and a sentence on its comparisons.
_TEXTS = {
    "installation": ("Installation", "Libraries, files, fonts and R, as they are on this machine."),
    "operation": (
        "Operation",
        "The whole path of the data, from reading to the report, on demonstration data, and the exit "
        "codes of "
        "the command line.",
    ),
    "defects": (
        "Known defects of the R package",
        "Calls that a certificate never makes, each with its smallest example, compared with the engine.",
    ),
    "recorded": (
        "Recorded answers of R",
        "Answers of the R package that were recorded with their data, so that every machine can check them.",
    ),
    "peers": (
        "Other implementations",
        "Independent Python packages on the same cases, where they define the same number. Their known "
        "defects "
        "are demonstrated.",
    ),
    "r-packages": (
        "R packages",
        "R packages that are installed, in one R process, on the first cases. The first line of a package "
        "states to how many digits it agrees. Where its definition is another one, ours is compared after it "
        "has been changed to that definition.",
    ),
    "papers": (
        "Numbers of the papers",
        "The numbers that five papers print, computed again. A number is inconsistent if it contradicts the "
        "paper itself.",
    ),
    "errata": (
        "Errata of the papers",
        "For each wrong formula: the value that it gives, the correct value, and a proof or counterexample, "
        "computed in this run.",
    ),
}
_ERRATA = (errata_galdran, errata_nelson, errata_flores, errata_dimitriadis, errata_ahmadian)


def run_study(
    *, cases: int = CASES, seed: int = SEED, time_limit: float = STUDY_TIME_LIMIT, folder: Path | None = None
) -> Study:
    """Check installation and operation, and compare the engine with R, its record, peers and papers.

    In `folder`, if there is one, finished cases are written, from which a study that was ended continues.
    """
    asked = LiveCases(cases=cases, seed=seed, time_limit=time_limit, folder=folder)
    return Study(
        time=timestamp(),
        seed=seed,
        cases=cases,
        software=software_versions(),
        sections=tuple(_sections(asked)),
    )


def _sections(asked: LiveCases) -> Iterator[StudySection]:
    """All sections in order; those that need no R are computed while it answers."""
    report_stage(Stage.STUDY)
    with _try_reference(PACKAGE, asked.time_limit) as package:
        with _compare_meanwhile(package, asked) as live:
            meanwhile = {
                "installation": _known_section("installation", check_installation(asked.time_limit)),
                "operation": _known_section("operation", check_operation()),
                "recorded": _known_section("recorded", compare_with_record()),
                "peers": _known_section("peers", compare_with_peers(_draw_fewer(asked))),
                "r-packages": _known_section(
                    "r-packages", compare_with_r_packages(_draw_fewer(asked), asked.time_limit)
                ),
            }
            yield from (meanwhile.pop(key) for key in ("installation", "operation"))
            report_stage(Stage.REFERENCE)
            yield _live_section("reliabilitydiag", live)
        if isinstance(package, Reference):
            yield _known_section("defects", show_defects(package))
        niamey, failure = _fetch_niamey(package)
    fewer = replace(asked, cases=max(asked.cases // _BASE_SHARE, 1))
    with _try_reference(BASE, asked.time_limit) as base, _compare_meanwhile(base, fewer) as live:
        yield _live_section("base-r", live)
    yield from meanwhile.values()
    report_stage(Stage.PAPERS)
    yield _known_section("papers", chain(failure, _reproduce(niamey)), illustrate_nelson())
    yield _known_section("errata", _check_errata())


def _draw_fewer(asked: LiveCases) -> Iterator[Case]:
    """The cases of a study with the default number at most, on which other packages are compared."""
    return draw_cases(min(asked.cases, CASES), asked.seed)


@contextmanager
def _compare_meanwhile(
    reference: Reference | Comparison, asked: LiveCases
) -> Iterator[LiveComparison | Comparison]:
    """Let R answer while the block does other work; the reason if there is no R."""
    if isinstance(reference, Comparison):
        yield reference
        return
    with LiveComparison(reference, asked) as live:
        yield live


def _check_errata() -> Iterator[Comparison]:
    for errata in steps(_ERRATA, len(_ERRATA), "checking errata"):
        yield from errata()


def _known_section(
    key: str, lines: Iterable[Comparison], figures: Iterable[StudyFigure] = ()
) -> StudySection:
    with as_one_stage():  # some sections evaluate predictions and render a report
        return _section(key, *_TEXTS[key], lines, figures)


def _section(
    key: str, title: str, text: str, lines: Iterable[Comparison], figures: Iterable[StudyFigure] = ()
) -> StudySection:
    """Collect the lines of a section; an error becomes its last line, and the other sections still run."""
    found: list[Comparison] = []
    shown: list[StudyFigure] = []
    try:
        found.extend(lines)
        shown.extend(figures)
    except Exception as error:
        reason = f"The section stopped: {type(error).__name__}: {error}"
        found.append(Comparison(subject=title, quantity="the rest", verdict=Verdict.FAILED, reason=reason))
    return StudySection(key=key, title=title, text=text, comparisons=tuple(found), figures=tuple(shown))


@contextmanager
def _try_reference(kind: str, time_limit: float) -> Iterator[Reference | Comparison]:
    """A running reference, or the line with the reason why there is none."""
    with ExitStack() as stack:
        found: Reference | Comparison
        try:
            found = stack.enter_context(open_reference(kind, time_limit))
        except Unavailable as error:
            found = _missing(kind, Verdict.ABSENT, f"{error} To fix: {error.remedy}")
        except ReferenceFailure as failure:
            found = _missing(kind, Verdict.FAILED, str(failure))
        yield found


def _missing(kind: str, verdict: Verdict, reason: str) -> Comparison:
    return Comparison(
        subject=NAMES[kind],
        quantity="all cases",
        verdict=verdict,
        reason=reason,
    )


def _live_section(key: str, live: LiveComparison | Comparison) -> StudySection:
    """The section of live comparisons, or the reason why R was not asked."""
    if isinstance(live, Comparison):
        return _section(key, f"{live.subject}, live", "R was not asked.", [live])
    found: list[CaseSummary] = []
    section = _section(key, f"{live.reference.name}, live", "", _describe_cases(live, found))
    shapes = ", ".join(shape.shape for summary in found for shape in summary.shapes)
    text = (
        f"{live.asked.cases:,} seeded cases ({shapes}) compared with {live.reference.title}, in separate "
        "processes. Each line is the largest difference over all cases, or over those of a shape."
    )
    return replace(section, text=text)


def _describe_cases(live: LiveComparison, found: list[CaseSummary]) -> Iterator[Comparison]:
    """The lines of all cases, once R has answered; their summary is found."""
    found.append(live.wait())
    yield from found[0].describe()


def _fetch_niamey(reference: Reference | Comparison) -> tuple[pd.DataFrame | None, list[Comparison]]:
    """The data of the CORP paper, from the R package, since they are not ours to copy; and any failure."""
    if isinstance(reference, Comparison):
        return None, []
    try:
        answer = reference.fetch("niamey")
        return pd.DataFrame({name: answer[name] for name in _NIAMEY}), []
    except (ReferenceFailure, KeyError) as error:
        return None, [_missing(PACKAGE, Verdict.FAILED, f"No Niamey data: {error}")]


def _reproduce(niamey: pd.DataFrame | None) -> Iterator[Comparison]:
    papers = (
        lambda: reproduce_dimitriadis(niamey),
        reproduce_flores,
        reproduce_galdran,
        reproduce_nelson,
        reproduce_ahmadian,
    )
    for reproduce in steps(papers, len(papers), "reproducing papers"):
        yield from map(_under_its_paper, reproduce())


def _under_its_paper(line: Comparison) -> Comparison:
    """The line with the paper as its subject, and the place in the paper before the quantity."""
    paper, _, place = line.subject.partition(", ")
    return replace(line, subject=paper, quantity=f"{place}: {line.quantity}" if place else line.quantity)
