"""Methods of inference: intervals, comparisons, and engines without all rows in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_difference,
    format_level,
    format_number,
    join_words,
)
from scorereport.evaluation.engines.digest_plan import GROUP_BUCKETS, SMOOTH_CELLS
from scorereport.evaluation.engines.protocol import MOST_DISTINCT
from scorereport.inference.rare_cases import WIDENED
from scorereport.report.methods.method_entries import (
    METHOD_CATALOGUE,
    MethodEntry,
    capitalize,
    distinct,
    is_defined,
    join_methods,
    method_entry,
)
from scorereport.report.tables.overview import has_draws
from scorereport.report.tables.table import score_label
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.inference.estimates import Difference, Estimate
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelScores, SampleSummary


_EXACT = (
    "Counts, blocks, quantiles, bins, AUC and every point of the curves are exact; sums equal those of rows "
    f"in memory up to rounding (relative difference {format_difference(1e-12)})."
)
_LINES = "Calibration lines took a few more passes over the rows, by Newton’s method, until convergence."


def list_engine_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield the method by which an engine sorted the rows; nothing if they were in memory."""
    if evaluation.settings.engine != "memory":
        yield method_entry(evaluation.settings.engine, _EXACT, *_state_inference(evaluation))


def _state_inference(evaluation: Evaluation) -> Iterator[str]:
    """State what intervals, bands and tests required in addition."""
    models = evaluation.models
    if any(model.calibration is not None for model in models):
        yield _LINES
    many = [model for model in models if model.forecasts.n_distinct > MOST_DISTINCT]
    if any(band.method == "continuous" for model in many for band in model.bands):
        yield (
            f"With more than {format_count(MOST_DISTINCT)} distinct forecasts, the density f in a continuous "
            f"band is computed from at least {format_count(SMOOTH_CELLS)} cells of about equal count."
        )


def state_engine_conventions(evaluation: Evaluation) -> Iterator[str]:
    """State the conventions of intervals of engines, which resample no rows; nothing without intervals."""
    if not evaluation.settings.infers:
        return
    bands = ", bands from asymptotic theory or exact bounds" if _has_bands(evaluation) else ""
    how = f"intervals are from sums over buckets or in closed form{bands}."
    yield (
        "Outcomes are drawn from the forecasts for the test that MCB is 0 and for the simultaneous "
        f"consistency band; no rows are resampled, and {how}"
        if has_draws(evaluation)
        else f"Nothing is drawn at random: {how}"
    )
    clusters = evaluation.data.clusters
    if clusters is not None:
        yield (
            f"Rows depend on each other within {format_counted(clusters, 'cluster')}, which are assigned to "
            "buckets as a whole; standard errors are those of sums over buckets, and z is a quantile of t "
            "with Satterthwaite’s degrees of freedom, except in tests of calibration."
        )


def state_engine_levels(evaluation: Evaluation) -> str:
    """State the levels of intervals and, if there are any, of bands."""
    settings = evaluation.settings
    bands = f", bands of {format_level(settings.band_level)}" if _has_bands(evaluation) else ""
    seed = f" {state_seed(settings.seed)}" if has_draws(evaluation) else ""
    return f"Intervals have a confidence level of {format_level(settings.level)}{bands}.{seed}"


def state_seed(seed: int) -> str:
    """State the seed of random draws."""
    return f"Random draws start from seed {seed}, each with its own stream, so that they are reproducible."


def _has_bands(evaluation: Evaluation) -> bool:
    return any(model.bands for model in evaluation.models)


def state_group_buckets(evaluation: Evaluation) -> str:
    """State the number of buckets of groups, if there are any."""
    grouped = evaluation.groups or evaluation.windows
    return f"Groups and periods have at most {GROUP_BUCKETS} buckets." if grouped else ""


#: Methods of intervals by the beginning of their name in records, the longer of two first.
_INTERVALS = (
    "BCa bootstrap",
    "BCa from the influence",
    "percentile bootstrap",
    "percentile from the influence",
    "grouped jackknife",
    "Wilson",
    "normal on log-odds",
    "DeLong with bias-reduced",
    "DeLong",
)


_DIFFERENCES = {
    "Diebold-Mariano": "Diebold-Mariano",
    "DeLong": "DeLong difference",
    "AUC influence": "DeLong difference",
    "delta method": "delta method",
    "bracket": "bracket",
    "grouped jackknife": "jackknife difference",
    "raw value less": "jackknife bracket",
}


#: Degrees of freedom of t by the beginning of the method in records, the longer of two first.
_FREEDOM = {
    "DeLong with bias-reduced": "t with Satterthwaite’s degrees of freedom.",
    "DeLong": (
        "t with Welch’s degrees of freedom, for the mean differences among events and among non-events."
    ),
    "AUC influence, errors in time": "t with one degree of freedom for each cosine.",
    "AUC influence, HAC": "t with one degree of freedom fewer than there are times.",
}
#: Beginnings of the methods of overfit-corrected components.
_BRACKETS = ("bracket", "raw value less")
_SKILL = " skill"
_OF_PREVALENCE = (
    "The interval of an uncertainty (UNC) is the range of its values over the interval of the prevalence."
)


def list_interval_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield each method of intervals once, with its measures; details are those of all rows together."""
    overall = list(_estimates(evaluation.data.sample, [model.scores for model in evaluation.results]))
    others = [
        estimate
        for group in (*evaluation.groups, *evaluation.windows)
        for estimate in _estimates(group.sample, group.models)
    ]
    for key in _INTERVALS:
        here = [estimate for estimate in overall if _method_of(estimate) == key]
        anywhere = here or [estimate for estimate in others if _method_of(estimate) == key]
        if anywhere:
            methods = (estimate.method.removesuffix(f", {WIDENED}") for estimate in here)
            recorded = distinct(method.removeprefix(f"{key}, ") for method in methods)
            details = [capitalize(f"{text}.") for text in recorded if text != key]
            of_prevalence = _OF_PREVALENCE if any(e.measure == "prevalence" for e in anywhere) else ""
            more = state_group_buckets(evaluation) if key == "grouped jackknife" else ""
            yield method_entry(
                key, of_prevalence, _name_measures(anywhere, "" if here else " in groups"), *details, more
            )
    if any(estimate.method.endswith(WIDENED) for estimate in (*overall, *others)):
        yield method_entry("rare cases")


def _estimates(sample: SampleSummary, models: Iterable[ModelScores]) -> Iterator[Estimate]:
    known = [sample.prevalence_interval]
    for model in models:
        for score in model.scores:
            known += [score.interval, score.skill_interval]
    return (estimate for estimate in known if estimate is not None and is_defined(estimate))


def _method_of(estimate: Estimate) -> str:
    return next((key for key in _INTERVALS if estimate.method.startswith(key)), "")


def _name_measures(estimates: Sequence[Estimate], where: str) -> str:
    names = distinct(estimate.measure for estimate in estimates)
    words = [inside_sentence(score_label(name)) for name in names if not name.endswith(_SKILL)]
    skills = len(names) - len(words)
    if skills:
        words.append("its skill" if skills == 1 else "skills")
    return f"For {join_words(words)}{where}."


def list_comparison_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield the methods of differences between models, of their adjustment, and of ranks."""
    compared = evaluation.comparisons
    defined = [d for d in compared.differences if is_defined(d)]
    for key in dict.fromkeys(_DIFFERENCES.values()):
        same = [d for d in defined if _DIFFERENCES[_method_start(d)] == key]
        if same:
            reference = distinct(part for d in same for part in d.reference.split("; "))
            fixed = METHOD_CATALOGUE[key].reference.split("; ")
            freedom = distinct(_name_freedom(d) for d in same)
            how = join_methods(_without_bracket(same))
            yield method_entry(key, *freedom, how, reference="; ".join(distinct([*reference, *fixed])))
    if compared.murphy:
        curve = compared.murphy[0]
        how = f"{capitalize(curve.method)}, {curve.resamples} draws, seed {curve.seed}"
        yield method_entry("murphy difference", f"{how}, level {format_level(curve.level)}.")
    adjusted = list(_find_adjusted(evaluation))
    if adjusted:
        yield method_entry("holm", f"Adjusted over {'; over '.join(adjusted)}.")
    if compared.ranks:
        alpha = format_number(1 - evaluation.settings.level, 3).rstrip("0").rstrip(".")
        yield method_entry(
            "ranks",
            f"Significantly: Holm’s p is at most {alpha}, or the difference is infinite.",
        )


def _without_bracket(differences: Iterable[Difference]) -> list[Difference]:
    """Keep only the errors of a bracket interval, which is explained in full elsewhere."""
    return [
        replace(d, method=d.method.rpartition("; ")[2]) if d.method.startswith(_BRACKETS) else d
        for d in differences
    ]


def _method_start(difference: Difference) -> str:
    return next(start for start in _DIFFERENCES if difference.method.startswith(start))


def _name_freedom(difference: Difference) -> str:
    """Return the degrees of freedom of t for a difference of AUCs; empty for other differences."""
    method = difference.method
    return next((text for start, text in _FREEDOM.items() if method.startswith(start)), "")


def _find_adjusted(evaluation: Evaluation) -> Iterator[str]:
    """Yield the families of tests over which p-values were adjusted."""
    if any(d.p_value_holm is not None for d in evaluation.comparisons.differences):
        yield "the pairs of models, for each measure"
    of_models = [test for m in evaluation.results for test in m.scores.miscalibration_tests]
    if any(test.p_value_holm is not None for test in of_models):
        yield "the models, for each test of calibration"
    grouped = [model for group in (*evaluation.groups, *evaluation.windows) for model in group.models]
    if any(test.p_value_holm is not None for model in grouped for test in model.miscalibration_tests):
        yield "the groups or periods of a column, for the tests that MCB is 0"
    if any(model.recalibration for model in evaluation.models):
        yield "the recalibration maps of a model"
