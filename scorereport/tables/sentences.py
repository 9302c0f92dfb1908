"""Data, method and bands of an evaluation in a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.formatting import counted, format_count, format_level, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation import Evaluation
    from scorereport.results import ModelResult


def describe_data(evaluation: Evaluation) -> str:
    """Rows, events and prevalence as a sentence or two."""
    data, flow, sample = evaluation.data, evaluation.data.row_flow, evaluation.data.sample
    parts = [f"{counted(flow.read, 'row')} read"]
    parts += [f"{format_count(drop.rows)} dropped ({drop.reason})" for drop in flow.dropped]
    parts += [f"{format_count(flow.kept)} kept"]
    parts += [f"total weight {format_count(sample.total)}"] if data.weighted else []
    parts += [f"in {counted(data.clusters, 'cluster')}"] if data.clusters is not None else []
    events = f"{counted(sample.events, 'event')}, prevalence {format_percent(sample.prevalence)}"
    return f"{data.source}: {', '.join(parts)}. Outcome {data.outcome} = {data.positive}: {events}."


def describe_uncertainty(evaluation: Evaluation) -> str:
    """How intervals and tests were made, as a sentence; empty if there are none."""
    settings = evaluation.settings
    if settings.resamples == 0:
        return ""
    method = {"bca": "BCa", "percentile": "percentile"}[settings.interval_method]
    drawn = "rows" if evaluation.data.clusters is None else "clusters"
    return (
        f"{format_level(settings.level)} intervals: {method} bootstrap of scores and skills over "
        f"{format_count(settings.resamples)} resamples of {drawn} (seed {settings.seed}); AUC and rates in "
        "closed form; MCB and DSC less the overfit of isotonic regression, so that an interval may exclude "
        "the raw value; that of MCB starts at 0 unless its test rejects on one side."
    )


def describe_bands(result: ModelResult) -> Iterator[str]:
    """Whether the whole reliability curve agrees with calibration, by each simultaneous band."""
    curve = result.curves.reliability
    for band in result.bands:
        if band.coverage == "pointwise":
            continue
        if band.kind == "consistency":
            inside = band.holds(np.interp(band.x, curve.forecast, curve.cep))
            what = "the reliability curve stays inside" if inside else "the reliability curve leaves"
        else:
            what = "the diagonal stays inside" if band.holds(band.x) else "the diagonal leaves"
        yield f"{result.model}: {what} the {band.label}."
