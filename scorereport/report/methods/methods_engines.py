"""How rows were read that are never in memory together: the methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_counted, format_difference, format_level
from scorereport.evaluation.engines.digest_plan import GROUP_BUCKETS, SMOOTH_CELLS
from scorereport.evaluation.engines.protocol import MOST_DISTINCT
from scorereport.report.methods.method_entries import MethodEntry, method_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.results.evaluation import Evaluation

_EXACT = (
    "Counts, blocks, quantiles, bins, AUC and every point of the curves are exact; sums are those of rows in "
    f"memory up to rounding (relative difference {format_difference(1e-12)})."
)
_LINES = "Calibration lines took a few more readings, by Newton’s method, until they stood still."


def list_engine_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Who sorted the rows, and what is exact; nothing if they were in memory."""
    if evaluation.settings.engine != "memory":
        yield method_entry(evaluation.settings.engine, _EXACT, *_state_inference(evaluation))


def _state_inference(evaluation: Evaluation) -> Iterator[str]:
    """What else intervals, bands and tests needed."""
    models = evaluation.models
    if any(model.calibration is not None for model in models):
        yield _LINES
    many = [model for model in models if model.forecasts.n_distinct > MOST_DISTINCT]
    if any(band.method == "continuous" for model in many for band in model.bands):
        yield (
            f"Of more than {format_count(MOST_DISTINCT)} distinct forecasts the density f in a continuous "
            f"band is that of at least {format_count(SMOOTH_CELLS)} cells of about equal count."
        )


def state_engine_conventions(evaluation: Evaluation) -> Iterator[str]:
    """What was decided once for all intervals, of which none is drawn; nothing if there are none."""
    if evaluation.settings.resamples == 0:
        return
    bands = ", bands from asymptotic theory or exact bounds" if _has_bands(evaluation) else ""
    yield f"Nothing is drawn at random: intervals come from sums over buckets or from closed forms{bands}."
    clusters = evaluation.data.clusters
    if clusters is not None:
        yield (
            f"Rows depend on each other within {format_counted(clusters, 'cluster')}, which are dealt out to "
            "buckets whole; standard errors are those of sums over buckets, and z is a quantile of t with "
            "Satterthwaite’s degrees of freedom, but for tests of calibration."
        )


def state_engine_levels(evaluation: Evaluation) -> str:
    """The levels of intervals and, if there are any, of bands."""
    settings = evaluation.settings
    bands = f", bands {format_level(settings.band_level)}" if _has_bands(evaluation) else ""
    return f"Intervals have the level {format_level(settings.level)}{bands}."


def _has_bands(evaluation: Evaluation) -> bool:
    return any(model.bands for model in evaluation.models)


def state_group_buckets(evaluation: Evaluation) -> str:
    """How many buckets groups have, if there are any."""
    grouped = evaluation.groups or evaluation.windows
    return f"In groups and periods at most {GROUP_BUCKETS} buckets." if grouped else ""
