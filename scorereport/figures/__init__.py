"""All figures of a report, drawn from the records of an evaluation; nothing is estimated here.

Each `plot_` function returns a figure of fixed size in millimetres and has a twin `describe_`, which says
in words what the figure shows, for readers who do not see it.
"""

from __future__ import annotations

from scorereport.figures.canvas import render_png, render_svg
from scorereport.figures.components import describe_components, plot_components
from scorereport.figures.decision import describe_decision, describe_regret, plot_decision, plot_regret
from scorereport.figures.distributions import describe_distributions, plot_distributions
from scorereport.figures.groups import describe_groups, describe_windows, plot_groups, plot_windows
from scorereport.figures.murphy import (
    describe_murphy,
    describe_murphy_differences,
    plot_murphy,
    plot_murphy_differences,
)
from scorereport.figures.reliability_diagram import describe_reliability, plot_reliability
from scorereport.figures.roc import describe_roc, plot_roc

__all__ = [
    "describe_components",
    "describe_decision",
    "describe_distributions",
    "describe_groups",
    "describe_murphy",
    "describe_murphy_differences",
    "describe_regret",
    "describe_reliability",
    "describe_roc",
    "describe_windows",
    "plot_components",
    "plot_decision",
    "plot_distributions",
    "plot_groups",
    "plot_murphy",
    "plot_murphy_differences",
    "plot_regret",
    "plot_reliability",
    "plot_roc",
    "plot_windows",
    "render_png",
    "render_svg",
]
