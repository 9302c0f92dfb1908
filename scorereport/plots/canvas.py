"""Figures measured in millimetres on paper: panels, text, and the files they become."""

from __future__ import annotations

import re
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport.plots.style import INK, MUTED, report_style
from scorereport.plots.text import clean_text, format_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

#: Width of a full figure.
WIDTH = 160.0
#: Points of a millimetre.
POINTS_PER_MM = 72 / 25.4
#: What takes room in an SVG and shows nothing: the texts of labels, blanks, digits beyond a printer's reach.
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACE = re.compile(r"\s*\n\s*")
_COORDINATES = re.compile(r'(?<= )(?:d|x|y)="[^"]*"|translate\([^)]*\)')
_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
_PATH_COMMAND = re.compile(r" ?([MLQCz]) ?")


class Canvas(NamedTuple):
    """A figure of fixed size; places are millimetres from its left and its top."""

    figure: Figure
    width: float
    height: float

    @classmethod
    def of(cls, width: float, height: float) -> Canvas:
        """An empty figure."""
        from matplotlib.figure import Figure

        return cls(figure=Figure(figsize=(width / 25.4, height / 25.4), dpi=100), width=width, height=height)

    def panel(self, left: float, top: float, width: float, height: float, *, apart: float = 3.0) -> Axes:
        """A place to draw in, with a line on its left and one below, so many points apart from the data."""
        import seaborn as sns

        bottom = self.height - top - height
        axes = self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )
        sns.despine(ax=axes, offset=apart)
        return axes

    def write(self, left: float, top: float, text: str, **style: Any) -> Text:
        """Text whose upper left corner is at a place, unless the style says otherwise."""
        settings: dict[str, Any] = {"va": "top", "ha": "left", "color": INK, "linespacing": 1.15} | style
        return self.figure.text(left / self.width, 1 - top / self.height, text, **settings)

    def line(self, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
        """A straight line from place to place."""
        from matplotlib.lines import Line2D

        x, y = zip(start, end, strict=True)
        self.figure.add_artist(Line2D([v / self.width for v in x], [1 - v / self.height for v in y], **style))


def set_axis(axes: Axes, which: str, limits: tuple[float, float], ticks: Sequence[float], label: str) -> None:
    """Give one axis its limits, its ticks, written short, and its label."""
    if which == "x":
        axes.set_xlim(limits)
        axes.set_xticks(ticks, [format_short(tick) for tick in ticks])
        axes.set_xlabel(label)
    else:
        axes.set_ylim(limits)
        axes.set_yticks(ticks, [format_short(tick) for tick in ticks])
        axes.set_ylabel(label)


def write_placeholder(axes: Axes, text: str) -> None:
    """A sentence in the middle of a panel that has nothing to show."""
    axes.text(
        0.5,
        0.5,
        clean_text(text),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=MUTED,
        wrap=False,
    )


def render_svg(figure: Figure) -> str:
    """The figure as SVG, the same bytes for the same figure; text is drawn, so that no font is needed."""
    text = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with report_style():
        figure.savefig(text, format="svg", metadata=nothing)
    svg = text.getvalue().replace("<image ", '<image image-rendering="pixelated" ')
    return _SPACE.sub("\n", _COORDINATES.sub(_shorten, _COMMENT.sub("", svg)))


def render_png(figure: Figure, dpi: float = 150) -> bytes:
    """The figure as PNG."""
    image = BytesIO()
    with report_style():
        figure.savefig(image, format="png", dpi=dpi, metadata={"Software": None})
    return image.getvalue()


def _shorten(coordinates: re.Match[str]) -> str:
    """Coordinates to hundredths of a point, finer than any printer, with no more space than they need."""
    return _PATH_COMMAND.sub(r"\1", " ".join(_DECIMALS.sub(_to_hundredths, coordinates.group()).split()))


def _to_hundredths(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")
