"""The triptych: reliability diagram, Murphy diagram and ROC curves of the same models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.plots.canvas import Canvas
from scorereport.plots.murphy_diagram import murphy
from scorereport.plots.plotted_models import find_models
from scorereport.plots.public_figures import draw_figure, public_plot
from scorereport.plots.reliability_diagram import reliability
from scorereport.plots.roc_curves import roc

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

_SIDE, _LEFT, _GAP, _TOP, _BELOW, _RIGHT = 62.0, 14.0, 17.0, 3.0, 12.5, 3.0


@public_plot
def triptych(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    band: str | None = "consistency",
    labels: bool = True,
    **keywords: Any,
) -> Figure:
    """Draw reliability diagram, Murphy diagram and ROC curves side by side; return the new figure.

    They show calibration, the score at every cost, and discrimination of the same models.

    {parameters}

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Vogel (2024), International Journal of Forecasting 40,
    doi:10.1016/j.ijforecast.2023.09.007
    """
    models = find_models(source, y_prob, sample_weight)

    def draw() -> Figure:
        canvas = Canvas.of(_LEFT + 3 * _SIDE + 2 * _GAP + _RIGHT, _TOP + _SIDE + _BELOW)
        lefts = [_LEFT + place * (_SIDE + _GAP) for place in range(3)]
        panels = [canvas.panel(left, _TOP, _SIDE, _SIDE) for left in lefts]
        reliability(models, band=band, ax=panels[0], labels=labels, **keywords)
        murphy(models, ax=panels[1], labels=labels, **keywords)
        roc(models, ax=panels[2], labels=labels, **keywords)
        return canvas.figure

    return draw_figure(draw)
