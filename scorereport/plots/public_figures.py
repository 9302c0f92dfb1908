"""Figures and axes of the public plots: axes that a caller gave, or a new figure that pyplot shows.

The style of new figures is that of the report. Axes that a caller gave keep their own style. On a dark
background, all colours are changed to ones that are as visible as in print.
"""

from __future__ import annotations

import colorsys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from scorereport.errors import UsageError
from scorereport.plots.canvas import figures_made_by
from scorereport.plots.label_placement import SizedAxes
from scorereport.plots.style import report_style, user_style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Plot = TypeVar("Plot", bound=Callable[..., Any])
    Colour = tuple[float, float, float, float]

_PARAMETERS = """Parameters
    ----------
    source
        An `Evaluation`, a fit of `corp`, a mapping of names to fits, or outcomes 0 and 1.
    y_prob
        With outcomes: the probabilities of one model, or a mapping or a frame of those of several models.
    sample_weight
        With outcomes: the weights of the cases.
    ax
        The Axes to draw into, which keep their style; without it, a new figure in the style of the report.
    labels
        Whether the names of the models are written beside their curves; `ax.legend()` works in either case.
    keywords
        Keywords of Matplotlib for the curves, such as `color` (for all models, or a list), `linewidth`,
        `linestyle` or `alpha`."""
#: Backgrounds with less lightness are dark.
_DARK = 0.4
#: Lightness of black ink on a dark background.
_LIGHTEST = 0.93
#: Below 1, so that muted colours are a little lighter than half-way; the eye needs more contrast there.
_CONTRAST = 0.8


def public_plot(plot: Plot) -> Plot:
    """Complete the docstring of a public plot at {parameters}, with the arguments that all of them share."""
    if plot.__doc__:  # absent under python -OO
        plot.__doc__ = plot.__doc__.replace("{parameters}", _PARAMETERS)
    return plot


@contextmanager
def open_panel(
    ax: Axes | None,
    make_panel: Callable[[], SizedAxes],
    colours: Sequence[str] = (),
    *,
    is_square: bool = False,
) -> Iterator[SizedAxes]:
    """Yield the axes that a caller gave, or those of a new figure; keep `colours` that the caller chose."""
    if ax is None:
        with _open_figure(colours):
            yield make_panel()
    else:
        with open_axes(ax, colours, is_square=is_square) as panel:
            yield panel


@contextmanager
def open_axes(ax: Axes, colours: Sequence[str] = (), *, is_square: bool = False) -> Iterator[SizedAxes]:
    """Yield the axes that a caller gave; what is drawn into them is made visible on their background."""
    check_axes(ax)
    if is_square:
        ax.set(aspect="equal", xlim=(0, 1), ylim=(0, 1))
    before = set(ax.get_children())
    with user_style():
        yield SizedAxes.of(ax)
    if is_dark(background := _background_of(ax)):
        _adapt([child for child in ax.get_children() if child not in before], background, colours)


def draw_figure(plot: Callable[[], Figure], colours: Sequence[str] = ()) -> Figure:
    """Return a new figure of several panels, which pyplot shows."""
    with _open_figure(colours):
        return plot()


@contextmanager
def _open_figure(colours: Sequence[str]) -> Iterator[None]:
    """Make figures that pyplot shows, in the style of the report, on the background that the user set."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from scorereport.plots.shown_figure import ShownFigure

    background, dpi = mpl.rcParams["figure.facecolor"], mpl.rcParams["figure.dpi"]
    made: list[Figure] = []

    def make(**keywords: Any) -> Figure:
        made.append(plt.figure(FigureClass=ShownFigure, **{**keywords, "dpi": dpi}))
        return made[-1]

    with report_style(), figures_made_by(make):
        yield
    for figure in made:
        if is_dark(background):
            figure.set_facecolor(background)
            _adapt(figure.findobj(), background, colours)


def check_axes(ax: Any) -> Axes:
    """Check that this is an Axes of Matplotlib."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise UsageError(f"`ax` must be an Axes of Matplotlib; got {type(ax).__name__}.")
    return ax


# ---- Dark backgrounds ----


def is_dark(colour: Any) -> bool:
    """Whether a background is dark."""
    return _lightness(colour) < _DARK


def _background_of(ax: Axes) -> Any:
    """Return the colour behind a panel: its own, or that of its figure if it has none."""
    from matplotlib.colors import to_rgba

    own = to_rgba(ax.get_facecolor())
    return own if own[3] > 0 else ax.figure.get_facecolor()


def _lightness(colour: Any) -> float:
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(colour)
    return colorsys.rgb_to_hls(red, green, blue)[1] if alpha else 1.0


def _adapt(artists: Iterable[Artist], background: Any, kept: Iterable[str]) -> None:
    """Change the colours of artists to those for a dark background, except those that a caller chose."""
    from matplotlib.colors import to_rgb

    floor, own = _lightness(background), {to_rgb(colour) for colour in kept}

    def change(colour: Colour) -> Colour:
        return colour if tuple(colour[:3]) in own else _mirror(colour, floor)

    for artist in dict.fromkeys(artists):
        _recolour(artist, change)


def _mirror(colour: Colour, floor: float) -> Colour:
    """Return the colour of the same hue whose lightness above the background is as its darkness on paper.

    >>> _mirror((0.0, 0.0, 0.0, 1.0), 0.0), _mirror((1.0, 1.0, 1.0, 0.5), 0.1)
    ((0.93, 0.93, 0.93, 1.0), (0.1, 0.1, 0.1, 0.5))
    """
    red, green, blue, alpha = colour
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    mirrored = floor + (1 - lightness) ** _CONTRAST * (_LIGHTEST - floor)
    return (*colorsys.hls_to_rgb(hue, mirrored, saturation), alpha)


def _recolour(artist: Artist, change: Callable[[Colour], Colour]) -> None:
    """Change all colours of an artist; those of the backgrounds of figures and axes stay."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    names: tuple[str, ...] = ()
    if isinstance(artist, Line2D):
        names = ("color", "markerfacecolor", "markeredgecolor")
    elif isinstance(artist, Text):
        names = ("color",)
        if (box := artist.get_bbox_patch()) is not None:
            _recolour(box, change)
    elif isinstance(artist, Collection):
        for name in ("facecolor", "edgecolor"):
            found = np.atleast_2d(getattr(artist, f"get_{name}")())
            getattr(artist, f"set_{name}")([change(tuple(colour)) for colour in found if len(colour)])
    elif isinstance(artist, Patch) and not _is_background(artist):
        names = ("facecolor", "edgecolor")
    _change_each(artist, names, change)


def _change_each(artist: Any, names: Iterable[str], change: Callable[[Colour], Colour]) -> None:
    from matplotlib.colors import to_rgba

    found = {name: getattr(artist, f"get_{name}")() for name in names}
    for name, colour in found.items():
        if to_rgba(colour)[3] > 0:
            getattr(artist, f"set_{name}")(change(to_rgba(colour)))


def _is_background(patch: Any) -> bool:
    return patch is getattr(patch.figure, "patch", None) or patch is getattr(patch.axes, "patch", None)
