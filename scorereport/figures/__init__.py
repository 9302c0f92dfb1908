"""All figures of a report, drawn from the records of an evaluation; nothing is estimated here.

Each `plot_` function returns a figure of fixed size in millimetres and has a twin `describe_`, which says
in words what the figure shows, for readers who do not see it.
"""

from __future__ import annotations

from scorereport.figures.canvas import render_png, render_svg
from scorereport.figures.checkpoints import describe_checkpoints, plot_checkpoints
from scorereport.figures.components import describe_components, plot_components
from scorereport.figures.confusion import describe_confusion, plot_confusion
from scorereport.figures.decision import describe_decision, describe_regret, plot_decision, plot_regret
from scorereport.figures.distributions import describe_distributions, plot_distributions
from scorereport.figures.flexible import describe_flexible, plot_flexible
from scorereport.figures.groups import describe_groups, describe_windows, plot_groups, plot_windows
from scorereport.figures.murphy import (
    describe_murphy,
    describe_murphy_differences,
    plot_murphy,
    plot_murphy_differences,
)
from scorereport.figures.reliability_diagram import describe_reliability, plot_reliability
from scorereport.figures.retention import describe_retention, plot_retention
from scorereport.figures.roc import describe_roc, plot_roc
from scorereport.figures.scale import describe_scale, plot_scale
from scorereport.figures.spectrum import describe_spectrum, plot_spectrum
from scorereport.figures.study import describe_study_figure, plot_study_figure
from scorereport.figures.trend import describe_trend, plot_trend
from scorereport.figures.view_components import describe_view_components, plot_view_components
from scorereport.figures.views import describe_views, plot_views

__all__ = [
    "describe_checkpoints",
    "describe_components",
    "describe_confusion",
    "describe_decision",
    "describe_distributions",
    "describe_flexible",
    "describe_groups",
    "describe_murphy",
    "describe_murphy_differences",
    "describe_regret",
    "describe_reliability",
    "describe_retention",
    "describe_roc",
    "describe_scale",
    "describe_spectrum",
    "describe_study_figure",
    "describe_trend",
    "describe_view_components",
    "describe_views",
    "describe_windows",
    "plot_checkpoints",
    "plot_components",
    "plot_confusion",
    "plot_decision",
    "plot_distributions",
    "plot_flexible",
    "plot_groups",
    "plot_murphy",
    "plot_murphy_differences",
    "plot_regret",
    "plot_reliability",
    "plot_retention",
    "plot_roc",
    "plot_scale",
    "plot_spectrum",
    "plot_study_figure",
    "plot_trend",
    "plot_view_components",
    "plot_views",
    "plot_windows",
    "render_png",
    "render_svg",
]
