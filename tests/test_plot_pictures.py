"""Pictures of all public plots: as stored, within a tolerance; every stored one was looked at."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from picture_tools import FOLDER, TOLERANCE, compare_picture, store_if_asked
from plot_tools import binary_evaluation, class_evaluation, fit_of, make_forecasts

import scorereport as sr


def grid(dark):
    """All plots of one panel in the axes of a user."""
    with plt.style.context("dark_background" if dark else "default"):
        figure, axes = plt.subplots(3, 4, figsize=(18, 13))
        binary = binary_evaluation()
        places = iter(axes.ravel())
        fit_of("logit").plot(ax=next(places))
        for name in ("reliability", "roc", "cap", "murphy", "regret", "decision_curve", "components"):
            binary.plot(name, ax=next(places))
        fit_of("boost").plot("distribution", ax=next(places))
        for name in ("murphy_difference", "groups", "trend"):
            binary.plot(name, ax=next(places))
        figure.tight_layout()
        return figure


def of_classes():
    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    class_evaluation().plot("confusion", ax=axes[0])
    class_evaluation().plot("retention", ax=axes[1])
    class_evaluation().plot("groups", ax=axes[2])
    figure.tight_layout()
    return figure


def dark(draw):
    with plt.style.context("dark_background"):
        return draw()


PICTURES = {
    "reliability-one": lambda: fit_of("boost").plot(),
    "reliability-several": lambda: binary_evaluation().plot(),
    "reliability-confidence": lambda: fit_of("boost").plot(band="confidence", color="darkgreen"),
    "roc": lambda: binary_evaluation().plot("roc"),
    "cap": lambda: sr.plots.cap(*make_forecasts()),
    "murphy": lambda: binary_evaluation().plot("murphy"),
    "murphy-difference": lambda: binary_evaluation().plot("murphy_difference"),
    "decision-curve": lambda: binary_evaluation().plot("decision_curve"),
    "regret": lambda: binary_evaluation().plot("regret"),
    "components": lambda: binary_evaluation().plot("components"),
    "distribution": lambda: binary_evaluation().plot("distribution"),
    "groups": lambda: binary_evaluation().plot("groups", measure="roc_auc"),
    "trend": lambda: binary_evaluation().plot("trend"),
    "confusion": lambda: class_evaluation().plot("confusion"),
    "confusion-threshold": lambda: fit_of("logit").plot("confusion", threshold=0.3),
    "retention": lambda: class_evaluation().plot("retention"),
    "triptych": lambda: binary_evaluation().plot("triptych"),
    "triptych-dark": lambda: dark(lambda: binary_evaluation().plot("triptych")),
    "confusion-dark": lambda: dark(lambda: class_evaluation().plot("confusion")),
    "given-axes": lambda: grid(dark=False),
    "given-axes-dark": lambda: grid(dark=True),
    "given-axes-classes": of_classes,
}


@pytest.mark.parametrize("name", list(PICTURES))
def test_a_plot_looks_as_stored(name, tmp_path):
    drawn = PICTURES[name]()
    figure = drawn if isinstance(drawn, Figure) else drawn.figure.figure
    store_if_asked(figure, name)
    try:
        assert compare_picture(figure, name, tmp_path) < TOLERANCE
    finally:
        plt.close("all")


def test_another_picture_is_noticed(tmp_path):
    figure = binary_evaluation().plot("roc", color=["purple", "green"]).figure.figure
    assert compare_picture(figure, "roc", tmp_path) > TOLERANCE
    plt.close("all")


def test_every_stored_picture_is_compared():
    assert {path.stem for path in FOLDER.glob("*.png")} == set(PICTURES)
