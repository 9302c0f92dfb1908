"""All plots of a report, drawn from the records of an evaluation; nothing is estimated here.

Each `plot_` function returns a figure of fixed size in millimetres. The `describe_` function of the same
name returns its alternative text, which describes the figure for readers who cannot see it.
"""

from __future__ import annotations

from scorereport.plots.canvas import render_png, render_svg
from scorereport.plots.checkpoint_plot import describe_checkpoints, plot_checkpoints
from scorereport.plots.class_components import describe_view_components, plot_view_components
from scorereport.plots.class_reliability import describe_views, plot_views
from scorereport.plots.confusion_matrix import describe_confusion, plot_confusion
from scorereport.plots.decision_curves import describe_decision, describe_regret, plot_decision, plot_regret
from scorereport.plots.forecast_distributions import describe_distributions, plot_distributions
from scorereport.plots.forest_plots import describe_groups, describe_windows, plot_groups, plot_windows
from scorereport.plots.mcb_dsc_plot import describe_components, plot_components
from scorereport.plots.mean_spectrum import describe_spectrum, plot_spectrum
from scorereport.plots.murphy_diagram import (
    describe_murphy,
    describe_murphy_differences,
    plot_murphy,
    plot_murphy_differences,
)
from scorereport.plots.reliability_diagram import (
    describe_flexible,
    describe_reliability,
    plot_flexible,
    plot_reliability,
)
from scorereport.plots.retention_curves import describe_retention, plot_retention
from scorereport.plots.roc_curves import describe_roc, plot_roc
from scorereport.plots.scale_diagram import describe_scale, plot_scale
from scorereport.plots.study_figures import describe_study_figure, plot_study_figure
from scorereport.plots.trend_plot import describe_trend, plot_trend

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
