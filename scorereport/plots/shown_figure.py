"""Figures that notebooks show once; this module loads Matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook shows once: as the value of a cell or, by pyplot, at the end of the cell."""

    def _ipython_display_(self) -> None:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        display(_render(self, get_ipython()), raw=True)  # type: ignore[no-untyped-call]
        plt.close(self)  # pyplot would show it again


def _render(figure: Figure, shell: Any) -> dict[str, Any]:
    """Render a figure in the formats that the notebook has for figures; PNG if it has none."""
    formatters = {} if shell is None else shell.display_formatter.formatters
    found: dict[str, Any] = {}
    for kind, formatter in formatters.items():
        if kind.startswith("image/") and formatter.enabled and Figure in formatter.type_printers:
            data = formatter.type_printers[Figure](figure)
            found[kind] = data[0] if isinstance(data, tuple) else data
    return {"text/plain": repr(figure), **(found or {"image/png": _as_png(figure)})}


def _as_png(figure: Figure) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png", bbox_inches="tight")
    return image.getvalue()
