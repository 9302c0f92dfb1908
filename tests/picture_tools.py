"""Pictures of plots: drawn anew, and compared with the stored ones within a tolerance.

To store pictures anew after a change that is meant, run the tests with SCOREREPORT_PICTURES=write and look at
every changed file in tests/pictures.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image

FOLDER = Path(__file__).parent / "pictures"
#: Root mean square of the differences of pixels, of 255; another shape of one label is more than 2.
TOLERANCE = 1.5
_DPI = 60


def draw_pixels(figure, path):
    """Draw a figure; letters are not fitted to pixels, so that a shift by a part of one changes little."""
    with mpl.rc_context({"text.hinting": "no_hinting"}):
        figure.savefig(path, dpi=_DPI, facecolor=figure.get_facecolor())
    return np.asarray(Image.open(path).convert("RGB"), dtype=np.float64)


def store_if_asked(figure, name):
    """Store the picture of a figure if the environment asks for it."""
    if os.environ.get("SCOREREPORT_PICTURES") == "write":
        stored = FOLDER / f"{name}.png"
        draw_pixels(figure, stored)
        image = Image.open(stored).convert("RGB")
        image.convert("P", palette=Image.Palette.ADAPTIVE, colors=256).save(stored, optimize=True)


def compare_picture(figure, name, folder):
    """Return the difference of a figure from its stored picture."""
    drawn = draw_pixels(figure, folder / f"{name}.png")
    expected = np.asarray(Image.open(FOLDER / f"{name}.png").convert("RGB"), dtype=np.float64)
    assert drawn.shape == expected.shape, f"{name}: {drawn.shape} instead of {expected.shape}"
    return float(np.sqrt(((drawn - expected) ** 2).mean()))
