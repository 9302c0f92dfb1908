"""The stages of a command in their order, and the time that each is expected to take.

The times are measured on one machine. Only their proportions matter: the pace of the stages that are done
corrects those that follow.
"""

from __future__ import annotations

from collections.abc import Sequence  # the type of a field
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Stage(StrEnum):
    """A stage of the work, named as people read it; the order is that of the work."""

    READING = "reading"
    SORTING = "sorting"
    SCORES = "fits and scores"
    INTERVALS = "intervals"
    COMPARISONS = "comparisons"
    GROUPS = "groups"
    BANDS = "bands"
    CERTIFICATE = "certificate"
    STUDY = "installation and peers"
    REFERENCE = "comparison with R"
    PAPERS = "papers"
    PAGES = "HTML"
    FIGURES = "figures"
    PDF = "PDF"
    FILING = "filing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is known of the work of a command; each fact is reported once it is known.

    Rows are a guess until the data are read. `evaluates` says whether there are data to evaluate, `infers`
    whether there are intervals, `is_streamed` whether an engine reads rows that are not in memory.
    """

    evaluates: bool = False
    rows: int = 20_000
    models: int = 1
    classes: int = 2
    infers: bool = True
    resamples: int = 1000
    groups: int = 0
    is_streamed: bool = False
    certifies: bool = False
    formats: Sequence[str] = ()
    is_filed: bool = False
    cases: int = 0

    @property
    def has_pages(self) -> bool:
        """Whether there is a page, for people to read."""
        return not _PAGES.isdisjoint(self.formats)


#: Endings of files with pages.
_PAGES = frozenset((".html", ".pdf"))
#: The fewest seconds of a stage.
_LEAST = 0.05
#: Groups of a column that are expected before they are counted.
_USUAL_GROUPS = 3


def _read(work: Workload) -> float:
    return 0.1 + (1.5e-6 * work.rows if work.is_streamed else 4e-7 * work.rows * work.models)


def _sort(work: Workload) -> float:
    return work.is_streamed * work.models * (0.2 + 1e-6 * work.rows)


def _score(work: Workload) -> float:
    seconds = 2e-6 if work.is_streamed else 4e-7
    return seconds * work.rows * work.models * _count_views(work)


def _infer(work: Workload) -> float:
    return work.models * _count_views(work) * _draw(work, 0.2, 0.25)


def _compare(work: Workload) -> float:
    pairs = work.models * (work.models - 1) / 2 if work.classes == _BINARY else 0
    return pairs * _draw(work, 0.1, 0.05)


def _group(work: Workload) -> float:
    of_column = work.models * _count_views(work) * _draw(work, 0.15, 0.15)
    sorted_again = _sort(work) + _LEAST
    return work.groups * (sorted_again if work.is_streamed else _USUAL_GROUPS * of_column + _LEAST)


def _band(work: Workload) -> float:
    return work.models * _count_views(work) * _draw(work, 0.3, 0.5) + _LEAST


def _certify(work: Workload) -> float:
    return 4.0 + work.models * _count_views(work) * (4.5 + 2e-5 * work.rows)


def _draw(work: Workload, at_least: float, for_rows: float) -> float:
    """Seconds of the resamples of one model; with more rows, fewer of them differ in their forecasts."""
    if not work.infers or work.is_streamed:
        return 0.0
    share = 0.3 + 0.7 * work.resamples / _USUAL_RESAMPLES
    return share * (at_least + for_rows * (work.rows / 10_000) ** 0.5)


def _count_views(work: Workload) -> int:
    """The number of binary views of a model: one, or one for each class."""
    return work.classes if work.classes > _BINARY else 1


_BINARY, _USUAL_RESAMPLES = 2, 1000
#: The expected seconds of each stage; 0 if it is not part of the work.
_EXPECTED: dict[Stage, Callable[[Workload], float]] = {
    Stage.READING: lambda work: work.evaluates * _read(work),
    Stage.SORTING: lambda work: work.evaluates * _sort(work),
    Stage.SCORES: lambda work: work.evaluates * _score(work),
    Stage.INTERVALS: lambda work: work.evaluates * _infer(work),
    Stage.COMPARISONS: lambda work: work.evaluates * _compare(work),
    Stage.GROUPS: lambda work: work.evaluates * _group(work),
    Stage.BANDS: lambda work: work.evaluates * _band(work),
    Stage.CERTIFICATE: lambda work: work.certifies * _certify(work),
    Stage.STUDY: lambda work: (work.cases > 0) * (35.0 + 0.1 * min(work.cases, 300)),
    Stage.REFERENCE: lambda work: (work.cases > 0) * (5.0 + 0.3 * work.cases),
    Stage.PAPERS: lambda work: (work.cases > 0) * 9.0,
    Stage.PAGES: lambda work: work.has_pages * (1.5 + 0.2 * work.models),
    Stage.FIGURES: lambda work: work.has_pages * (0.5 + 0.5 * work.models),
    Stage.PDF: lambda work: (".pdf" in work.formats) * (4.0 + 1.5 * work.models + 6.0 * (work.cases > 0)),
    Stage.FILING: lambda work: 0.5 * work.is_filed,
}


def plan_stages(work: Workload) -> dict[Stage, float]:
    """Return the stages of the work, in order, with their expected seconds.

    >>> [str(stage) for stage in plan_stages(Workload(evaluates=True, infers=False, formats=[".html"]))]
    ['reading', 'fits and scores', 'bands', 'HTML', 'figures']
    """
    expected = {stage: seconds(work) for stage, seconds in _EXPECTED.items()}
    return {stage: max(seconds, _LEAST) for stage, seconds in expected.items() if seconds}
