"""Overview of an evaluation: all its tables, and sentences on its data, methods and bands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_level,
    format_percent,
    join_words,
)
from scorereport.configuration.judgement import find_alpha
from scorereport.inference.bootstrap_results import FROM_INFLUENCE
from scorereport.inference.rare_cases import WIDENED
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.tables.table_catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import DataSummary


#: Most classes that are listed; further ones are counted.
_MOST_CLASSES = 12
#: The number of resamples in the method of an interval.
_RESAMPLES = re.compile(r"bootstrap, (\d+) resamples")


def describe_weights_and_clusters(data: DataSummary) -> list[str]:
    """Describe the weights and clusters of the rows, if there are any."""
    kind = f"{data.weight_kind} weights of total" if data.weight_kind else "total weight"
    weights = [f"{kind} {format_count(data.sample.total)}"] if data.weighted else []
    return weights + ([f"in {format_counted(data.clusters, 'cluster')}"] if data.clusters is not None else [])


def describe_data(evaluation: Evaluation) -> str:
    """Describe rows, events and prevalence in a sentence or two."""
    data, flow, sample = evaluation.data, evaluation.data.row_flow, evaluation.data.sample
    parts = [f"{format_counted(flow.read, 'row')} read"]
    parts += [f"{format_count(drop.rows)} dropped ({drop.reason})" for drop in flow.dropped]
    parts += [f"{format_count(flow.kept)} kept"]
    parts += describe_weights_and_clusters(data)
    if data.classes is not None:
        order = "ordered classes" if data.classes.ordered else "classes"
        shares = ", ".join(
            f"{c.label} {format_percent(c.share)}" for c in data.classes.counts[:_MOST_CLASSES]
        )
        more = len(data.classes.counts) - _MOST_CLASSES
        rest = f" and {more} more" if more > 0 else ""
        described = f"{len(data.classes.counts)} {order} ({shares}{rest})"
        return f"{data.source}: {', '.join(parts)}. Outcome {data.outcome}: {described}."
    events = f"{format_counted(sample.events, 'event')}, prevalence {format_percent(sample.prevalence)}"
    return f"{data.source}: {', '.join(parts)}. Outcome {data.outcome} = {data.positive}: {events}."


def describe_uncertainty(evaluation: Evaluation) -> str:
    """Describe how intervals were computed, in a sentence; empty if there are none."""
    settings = evaluation.settings
    if not settings.infers:
        return ""
    if settings.engine != "memory":
        return _describe_buckets(evaluation)
    return (
        f"{format_level(settings.level)} intervals: {_describe_means(evaluation)}; AUC and rates in closed "
        "form; corrected MCB and corrected DSC by subtracting the overfit, so that an interval may exclude "
        "raw MCB or DSC; that of corrected MCB starts at 0 unless the one-sided test that MCB is 0 rejects."
    )


def _describe_means(evaluation: Evaluation) -> str:
    """Describe how the intervals of scores and skills were computed, from their own methods."""
    settings = evaluation.settings
    name = {"bca": "BCa", "percentile": "percentile"}[settings.interval_method]
    units = "rows" if evaluation.data.clusters is None else "clusters"
    methods = [
        estimate.method
        for model in evaluation.results
        for score in model.scores.scores
        for estimate in (score.interval, score.skill_interval)
        if estimate is not None
    ]
    drawn = [int(found[1]) for found in map(_RESAMPLES.search, methods) if found]
    numbers = (
        " to ".join(format_count(number) for number in sorted({min(drawn), max(drawn)})) if drawn else ""
    )
    over = f"over {numbers} resamples of {units} (seed {settings.seed})"
    if not any(FROM_INFLUENCE in method for method in methods):
        return f"{name} bootstrap of scores and skills {over}"
    some = f", where rows are too few or too unequal by bootstrap {over}" if drawn else ", without resamples"
    return f"{name} of scores and skills {FROM_INFLUENCE} {units}{some}"


def _describe_buckets(evaluation: Evaluation) -> str:
    """Describe how an engine without rows in memory computed intervals, in a sentence."""
    settings = evaluation.settings
    score = evaluation.models[0].scores.scores[0].interval
    method = "grouped jackknife" if score is None else score.method.removesuffix(f", {WIDENED}")
    is_independent = evaluation.models[0].bands != ()
    rates, lines = (
        ("Wilson's", "likelihood") if is_independent else ("on log-odds with its errors", "buckets")
    )
    drawn = (
        f"Outcomes are drawn for the test that MCB is 0 and the consistency band (seed {settings.seed})."
        if has_draws(evaluation)
        else "Nothing is drawn at random."
    )
    return (
        f"{format_level(settings.level)} intervals: {method}, for scores, skills, AUC and differences; rates "
        f"{rates}; calibration lines by Wald with errors from the {lines}; corrected MCB and corrected DSC "
        "in closed form, so that an interval may exclude raw MCB or DSC; that of corrected MCB starts at 0 "
        f"unless a one-sided test of calibration rejects.{_name_bands(evaluation)} {drawn}"
    )


def has_draws(evaluation: Evaluation) -> bool:
    """Whether any number comes from random draws, as all do from rows in memory that have intervals."""
    if evaluation.settings.engine == "memory":
        return evaluation.settings.infers
    return any(model.scores.miscalibration_tests for model in evaluation.results)


def _name_bands(evaluation: Evaluation) -> str:
    """Describe the methods of the bands in a sentence; empty if there are none."""
    bands = [band for model in evaluation.models for band in model.bands]
    pointwise = list(dict.fromkeys(band.method for band in bands if band.coverage == "pointwise"))
    whole = list(dict.fromkeys(band.method for band in bands if band.coverage == "simultaneous"))
    if not bands:
        return ""
    return (
        f" Bands: pointwise by asymptotic theory ({', '.join(pointwise)}), simultaneous {join_words(whole)}."
    )


def describe_all_bands(evaluation: Evaluation) -> Iterator[str]:
    """State for each model what tests, bands and intervals show about its calibration."""
    alpha = find_alpha(evaluation)
    for result in evaluation.results:
        decision = decide_calibration(result, evaluation, alpha)
        if decision is not None:
            yield " ".join([f"Calibration of {result.model}.", *decision.reasons])


def evaluation_tables(evaluation: Evaluation) -> Iterator[Table]:
    """Yield all tables of an evaluation, in reading order."""
    for declared in CATALOGUE:
        yield from declared.make(evaluation)
