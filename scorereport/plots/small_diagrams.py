"""Small reliability diagrams in one row: one for each model, or for the views of a model of K classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis
from scorereport.plots.class_reliability import choose_views, diagram_of, label_view
from scorereport.plots.geometry import UNIT, choose_window
from scorereport.plots.reliability_panel import (
    HasDiagram,
    PanelSettings,
    ReliabilityPanel,
    bands_of,
    write_guide,
)
from scorereport.plots.style import HEAVY, MUTED, SMALL, model_style, report_style
from scorereport.plots.text import format_probability, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport.plots.geometry import Window
    from scorereport.results.evaluation import Evaluation

#: Most diagrams in the row.
MOST_DIAGRAMS = 4
#: All lengths are in millimetres.
_LEFT, _TOP = 8.0, 0.5
_SIDE = 31.0
#: Gap between four panels, and between fewer.
_NARROW, _WIDE = 8.0, 22.0
_LINE, _UNDER_HEADING, _UNDER_PANEL = 3.4, 1.2, 6.5
#: Side of the square that the guide to the symbols takes, and how far above the panels it begins.
_GUIDE, _GUIDE_ABOVE = 42.0, 9.0


class SmallDiagram(NamedTuple):
    """The content of a small diagram: name, calibration in a few words, or the view, and prevalence."""

    name: str
    word: str
    diagram: HasDiagram
    prevalence: float


def list_diagrams(evaluation: Evaluation, words: dict[str, str]) -> list[SmallDiagram]:
    """Return diagrams of the models with these words on their calibration; of K classes, of their views.

    Models of K classes share the places for diagrams of their least calibrated views.
    """
    if evaluation.models:
        prevalence = evaluation.data.sample.prevalence
        chosen = [model for model in evaluation.models if model.model in words]
        return [SmallDiagram(m.model, words[m.model], m, prevalence) for m in chosen]
    found = []
    chosen_classes = [model for model in evaluation.class_models if model.model in words]
    for model in chosen_classes:
        family = model.families[-1]
        for view in choose_views(family, MOST_DIAGRAMS // len(chosen_classes)):
            label = label_view(view, family.kind)
            name, word = (label, "") if len(chosen_classes) == 1 else (model.model, label)
            found.append(SmallDiagram(name, word, diagram_of(view), view.sample.prevalence))
    return found


def plot_small_diagrams(diagrams: Sequence[SmallDiagram]) -> Figure:
    """Draw the diagrams in a row, with a guide to the symbols beside a single one."""
    window = _choose_common_window(diagrams)
    with report_style():
        apart = _SIDE + (_NARROW if len(diagrams) == MOST_DIAGRAMS else _WIDE)
        lines = 1 + any(diagram.word for diagram in diagrams)
        top = _TOP + lines * _LINE + _UNDER_HEADING
        canvas = Canvas.of(WIDTH, top + _SIDE + _UNDER_PANEL)
        for place, diagram in enumerate(diagrams):
            _draw(canvas, (_LEFT + place * apart, top), diagram, window, has_ticks=place == 0)
        if len(diagrams) == 1:
            corner = (_LEFT + apart, top - _GUIDE_ABOVE)
            write_guide(canvas, corner, _GUIDE, [diagrams[0].diagram], WIDTH - _LEFT - apart)
        return canvas.figure


def _choose_common_window(diagrams: Sequence[SmallDiagram]) -> Window:
    """Return the window of all panels; that of views of classes is the unit interval."""
    return choose_window([diagram.diagram for diagram in diagrams])


def _draw(
    canvas: Canvas,
    corner: tuple[float, float],
    diagram: SmallDiagram,
    window: Window,
    *,
    has_ticks: bool,
) -> None:
    left, top = corner
    axes = canvas.panel(left, top, _SIDE, _SIDE, apart=2.0)
    name = wrap(diagram.name, _SIDE * POINTS_PER_MM, lines=1, size=SMALL, weight=HEAVY)[0]
    below = top - _UNDER_HEADING - (_LINE if diagram.word else 0.0)
    canvas.write(left, below, name, va="bottom", size=SMALL, weight=HEAVY)
    if diagram.word:
        word = wrap(diagram.word, (_SIDE + _NARROW) * POINTS_PER_MM, lines=1, size=SMALL)[0]
        canvas.write(left, top - _UNDER_HEADING, word, va="bottom", size=SMALL, color=MUTED)
    ends = list(window)
    set_axis(axes, "x", window, ends, "")
    set_axis(axes, "y", window, ends, "")
    if not has_ticks:
        axes.set_yticklabels([])
    common = PanelSettings(window, diagram.prevalence, 4)
    panel = ReliabilityPanel(axes, _SIDE * POINTS_PER_MM, diagram.diagram, model_style(0), common)
    panel.draw(with_numbers=False)


def caption_small_diagrams(diagrams: Sequence[SmallDiagram]) -> str:
    """Return the caption of the diagrams; it explains the dashed band, if there is one."""
    has_outline = any(bands_of(diagram.diagram, "simultaneous") for diagram in diagrams)
    where = "inside the dashed band, compatible with calibration" if has_outline else "equal on the diagonal"
    return f"Observed frequency against forecast; {where}."


def describe_small_diagrams(diagrams: Sequence[SmallDiagram]) -> str:
    """Describe the diagrams: what the axes show, and what each model is judged to be."""
    window = _choose_common_window(diagrams)
    shown = (
        "" if window == UNIT else f", from {format_probability(window[0])} to {format_probability(window[1])}"
    )
    named = "; ".join(f"{d.name}: {d.word}" if d.word else d.name for d in diagrams)
    bands = [band for d in diagrams for band in bands_of(d.diagram, "simultaneous")]
    band = f", with the {bands[0].label}" if bands else ""
    return (
        f"Small reliability diagrams: observed frequency against forecast probability{shown}{band}, where "
        f"the diagonal is perfect calibration. {named}."
    )
