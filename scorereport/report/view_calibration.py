"""Calibration of the binary views of a class model: tests adjusted for their number, bands and segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import conjugate, format_p_value, join_some
from scorereport.curves.segments import choose_band
from scorereport.inference.estimates import holm
from scorereport.report.miscalibration_patterns import (
    chance_of_leaving,
    describe_worst,
    format_relation,
    known_segments,
    list_segments,
    name_band,
)
from scorereport.results.class_records import THRESHOLD, ViewFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.results.class_records import ClassModelResult, ViewResult

#: Most views that are named; further ones are counted.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedViews:
    """The views of a model of one kind, with p-values that are adjusted for their number (Holm)."""

    family: ViewFamily
    p_values: tuple[float, ...]
    smallest: float

    def shown(self, alpha: float) -> list[tuple[ViewResult, float]]:
        """The views that are shown to be miscalibrated, with their adjusted p-values."""
        return [pair for pair in zip(self.family.views, self.p_values, strict=True) if pair[1] <= alpha]

    def has_enough_draws(self, alpha: float) -> bool:
        """Whether the smallest p-value that the draws can give is small enough to reject."""
        return len(self.p_values) * self.smallest <= alpha

    @property
    def noun(self) -> str:
        """What the views are called, in the plural unless there is one."""
        what = "threshold" if self.family.kind == THRESHOLD else "class"
        return what if len(self.family.views) == 1 else {"class": "classes"}.get(what, f"{what}s")


def adjust_views(family: ViewFamily) -> AdjustedViews | None:
    """Adjust the tests of all views of one kind for their number; None if they were not tested."""
    tests = [view.scores.miscalibration_test("brier") for view in family.views]
    known = [test for test in tests if test is not None]
    if len(known) < len(tests):
        return None
    return AdjustedViews(
        family=family,
        p_values=tuple(holm([test.p_value for test in known]).tolist()),
        smallest=max(test.smallest_p_value for test in known),
    )


def name_view(view: ViewResult, kind: str) -> str:
    """Name what a view forecasts: a class, or a class up to the one named."""
    return f"a class up to “{view.label}”" if kind == THRESHOLD else f"“{view.label}”"


def describe_worst_view(result: ClassModelResult, alpha: float) -> str:
    """Describe the largest segment of the views of the main kind that are shown to be miscalibrated."""
    tested = adjust_views(result.families[-1])
    shown = [] if tested is None else tested.shown(alpha)
    if tested is None or not shown:
        return "no single view of its classes is shown to be"
    kind = tested.family.kind
    described = [
        (segment, f"{name_view(view, kind)} was") for view, _ in shown for segment in known_segments(view)
    ]
    if described:
        return describe_worst(described)
    return f"shown separately for {_name_views([view for view, _ in shown], kind)}"


def explain_views(family: ViewFamily, alpha: float) -> Iterator[str]:
    """State the tests of the views of one kind, adjusted for their number, and where curves leave bands."""
    tested = adjust_views(family)
    if tested is not None:
        yield f"{_describe_tests(tested, alpha)}."
    banded = [view for view in family.views if choose_band(view.bands) is not None]
    if banded:
        yield f"{_describe_bands(banded, family)}."
    shown = [] if tested is None else [view for view, _ in tested.shown(alpha)]
    yield from _explain_left_bands(
        [view for view in banded if not any(view is one for one in shown) and known_segments(view)]
    )


def _explain_left_bands(views: Sequence[ViewResult]) -> Iterator[str]:
    """Explain why the curves of some views leave their bands though no test shows miscalibration."""
    band = choose_band(views[0].bands) if views else None
    if band is not None:
        yield (
            "Bands and tests differ because each band is for one view alone and judges every forecast value: "
            f"by chance, the curve of a calibrated view leaves it in up to {chance_of_leaving(band)} of "
            "samples, whereas tests pool all cases and are adjusted."
        )


def _describe_tests(tested: AdjustedViews, alpha: float) -> str:
    number, shown = len(tested.p_values), tested.shown(alpha)
    start = (
        f"Test of the one {tested.noun}"
        if number == 1
        else f"Tests of {number} {tested.noun}, adjusted for their number (Holm)"
    )
    if shown:
        named = [f"{_short_name(v, tested)} (p {format_relation(format_p_value(p))})" for v, p in shown]
        return f"{start}: evidence of miscalibration for {join_some(named, _MOST_NAMED)}"
    if not tested.has_enough_draws(alpha):
        return f"{start}: too few draws to show miscalibration"
    least = format_relation(format_p_value(min(tested.p_values)))
    return f"{start}: no evidence of miscalibration ({'smallest ' if number > 1 else ''}p {least})"


def _short_name(view: ViewResult, tested: AdjustedViews) -> str:
    return f"up to “{view.label}”" if tested.family.kind == THRESHOLD else f"“{view.label}”"


def _name_views(views: Sequence[ViewResult], kind: str) -> str:
    up_to = "up to " if kind == THRESHOLD else ""
    return f"{up_to}{join_some([f'“{view.label}”' for view in views], _MOST_NAMED)}"


def _describe_bands(banded: Sequence[ViewResult], family: ViewFamily) -> str:
    """State how many curves leave their bands, with the largest segment of each."""
    what = "thresholds" if family.kind == THRESHOLD else "classes"
    left = [(view, known_segments(view)) for view in banded]
    outside = [(view, segments) for view, segments in left if segments]
    band = choose_band(banded[0].bands)
    label = "band" if band is None else name_band(band)
    if not outside:
        return f"Every reliability curve of {len(banded)} {what} stays inside its {label}"
    verb = "has a curve" if len(outside) == 1 else "have curves"
    largest = [
        (max(segments, key=lambda s: s.weight), f"{name_view(view, family.kind)} was")
        for view, segments in outside
    ]
    return (
        f"{len(outside)} of {len(banded)} {what} {verb} that {conjugate(len(outside), 'leave')} the {label}; "
        f"the largest {'range' if len(outside) == 1 else 'range of each'}: {list_segments(largest)}"
    )
