"""Figures that notebooks show once; this module loads Matplotlib."""

from __future__ import annotations

from io import BytesIO

import matplotlib.pyplot as plt
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that pyplot shows at the end of a cell, and that a notebook does not show again as its value.

    As the value of a later cell, when pyplot has closed it, it is shown as a picture.
    """

    def _ipython_display_(self) -> None:
        if not plt.fignum_exists(self.number):
            from IPython import display

            display.display(display.Image(_as_png(self)))  # type: ignore[no-untyped-call]


def _as_png(figure: Figure) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png", bbox_inches="tight")
    return image.getvalue()
