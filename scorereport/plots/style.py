"""Style of all plots: fonts, colours, styles of models, and settings of Matplotlib."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError
from scorereport.plots.fonts import FALLBACK, font_files

if TYPE_CHECKING:
    from collections.abc import Iterator

INK = "#1b2430"
MUTED = "#6b7685"
RULE = "#e3e7ec"
QUIET = "#c9ced5"
PAPER = "#ffffff"
#: Background of a text that hides what is behind it.
ON_PAPER: dict[str, Any] = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.6}
FAMILIES = ("Report Sans", FALLBACK)
HEADING, SIZE, SMALL = 9.0, 8.5, 8.0
#: Weight of headings; the bold face of the fallback matches it.
HEAVY = 600
#: Distinguishable for colour-blind readers and, by lightness, in grey; none is the colour of a verdict.
_COLOURS = ("#1f5f99", "#d57a12", "#3c1d50", "#0a8f93", "#802945")
_DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 1.6),
    (6, 1.4, 1.2, 1.4),
    (3, 1.1, 1, 1.1, 1, 1.1),
    (9, 1.8),
)
_MARKERS = ("o", "s", "^", "D", "v")
#: Settings of Matplotlib are global to the process: one figure is drawn at a time.
_LOCK = RLock()
#: The fonts in which text is measured: those of the report, or of the axes that a caller gave.
_families: ContextVar[tuple[str, ...]] = ContextVar("families", default=FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStyle:
    """The style of one model in all figures."""

    colour: str
    tint: str
    dashes: tuple[float, ...]
    marker: str

    def line(self, width: float = 1.3) -> dict[str, Any]:
        """Return the arguments of a line of this model."""
        return {"color": self.colour, "linewidth": width, "linestyle": (0, self.dashes or None)}


MUTED_STYLE = ModelStyle(colour=MUTED, tint=QUIET, dashes=(1.2, 1.6), marker="o")


def model_style(place: int) -> ModelStyle:
    """Return the style of the model at an index; line styles shift when colours repeat."""
    turn, colour = divmod(place, len(_COLOURS))
    return ModelStyle(
        colour=_COLOURS[colour],
        tint=lighten(_COLOURS[colour], 0.2),
        dashes=_DASHES[(colour + turn) % len(_DASHES)],
        marker=_MARKERS[(colour + turn) % len(_MARKERS)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LineStyles:
    """The styles of the lines of all models, and the keywords of Matplotlib that a caller gave for them."""

    looks: tuple[ModelStyle, ...]
    keywords: dict[str, Any]
    labels: bool = True
    #: The colours that the caller chose.
    chosen: tuple[str, ...] = ()

    def of(self, place: int, width: float = 1.3) -> dict[str, Any]:
        """Return the arguments of the line of one model."""
        return {**self.looks[place].line(width), **self.keywords}


def line_styles(n: int, keywords: dict[str, Any] | None = None, *, labels: bool = True) -> LineStyles:
    """Return the styles of n models; keywords are those of a line, `color` may be one for each model."""
    looks = tuple(model_style(place) for place in range(n))
    if not keywords:
        return LineStyles(looks=looks, keywords={}, labels=labels)
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.colors import is_color_like, to_hex
    from matplotlib.lines import Line2D

    others = normalize_kwargs(keywords, Line2D)
    given = others.pop("color", None)
    if given is None:
        return LineStyles(looks=looks, keywords=others, labels=labels)
    of_models = [given] * n if is_color_like(given) else list(given)
    if len(of_models) != n or not all(map(is_color_like, of_models)):
        raise UsageError(f"`color` must be one colour, or one for each model; got {given!r} for {n}.")
    chosen = tuple(map(to_hex, of_models))
    looks = tuple(
        replace(look, colour=colour, tint=lighten(colour, 0.2))
        for look, colour in zip(looks, chosen, strict=True)
    )
    return LineStyles(looks=looks, keywords=others, labels=labels, chosen=chosen)


def lighten(colour: str, share: float) -> str:
    """Mix a colour with white; the tint requires no transparency."""
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


@contextmanager
def _changed_settings(settings: dict[Any, Any]) -> Iterator[None]:
    """Change settings of Matplotlib, and restore these.

    `rc_context` would restore all settings, also those that the first figure of a notebook changes for good.
    """
    import matplotlib as mpl

    before = {name: mpl.rcParams[name] for name in settings}
    mpl.rcParams.update(settings)
    try:
        yield
    finally:
        mpl.rcParams.update(before)


@contextmanager
def report_style() -> Iterator[None]:
    """Draw in the style of the report; settings are restored afterwards."""
    register_fonts()
    token = _families.set(FAMILIES)
    try:
        with _LOCK, _changed_settings(_settings()):
            yield
    finally:
        _families.reset(token)


def current_families() -> tuple[str, ...]:
    """Return the fonts in which text is drawn now."""
    return _families.get()


def heavy_weight() -> int:
    """Return the weight of bold text: that of the report's fonts, or the one that other fonts have."""
    return HEAVY if current_families() == FAMILIES else 700


@contextmanager
def user_style() -> Iterator[None]:
    """Draw in the style that the user set in Matplotlib, into axes that the user made."""
    import matplotlib as mpl

    register_fonts()
    token = _families.set(tuple(mpl.rcParams["font.family"]))
    try:
        with _LOCK, _changed_settings(_NEEDED):
            yield
    finally:
        _families.reset(token)


@cache
def register_fonts() -> None:
    """Register the faces of the package under their own names, so that no system font replaces them."""
    from matplotlib.font_manager import FontEntry, fontManager

    fontManager.ttflist.extend(
        FontEntry(fname=str(face.path), name=face.family, weight=min(face.weight, HEAVY), style=face.style)
        for face in font_files()
        if face.family in FAMILIES
    )


@cache
def _settings() -> dict[Any, Any]:
    return {
        **_INDEPENDENT_OF_THE_USER,
        "figure.facecolor": PAPER,
        "axes.facecolor": "none",
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.labelpad": 3.0,
        "axes.labelsize": SIZE,
        "axes.linewidth": 0.6,
        "font.family": list(FAMILIES),
        "font.size": SIZE,
        "lines.dash_capstyle": "butt",
        "lines.scale_dashes": True,
        "lines.solid_capstyle": "butt",
        "lines.solid_joinstyle": "miter",
        "path.simplify": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "scorereport",
        "text.color": INK,
        "text.parse_math": False,
        "text.usetex": False,
        "axes.unicode_minus": True,
        **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    }


#: Settings that a plot needs in any style: names of models are no formulas.
_NEEDED: dict[Any, Any] = {"text.parse_math": False, "text.usetex": False}
#: Settings that a user's own style of Matplotlib would otherwise change.
_INDEPENDENT_OF_THE_USER = {
    "axes.axisbelow": True,
    "axes.grid": False,
    **{f"axes.spines.{side}": True for side in ("bottom", "left", "right", "top")},
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "xtick.bottom": True,
    "xtick.top": False,
    "ytick.left": True,
    "ytick.right": False,
}
_TICKS = {
    "color": MUTED,
    "labelcolor": MUTED,
    "labelsize": SMALL,
    "direction": "out",
    "major.pad": 3.0,
    "major.size": 3.0,
    "major.width": 0.6,
}
