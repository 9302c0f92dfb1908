"""Models of K classes on one sample: measures, decompositions, intervals and tests of calibration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_counted
from scorereport._utils.shared_work import count_worth, sharing_work
from scorereport.evaluation.class_bootstrap import SKILL, bootstrap_classes, skill_of
from scorereport.evaluation.class_calibration import examine_class_calibration
from scorereport.evaluation.class_measures import (
    KAPPA,
    MeanMeasure,
    TableMeasure,
    choose_mean_measures,
    choose_table_measures,
    list_class_measures,
)
from scorereport.evaluation.class_views import ExaminedView, Family, examine_view
from scorereport.inference.calibration_in_time import needs_time, note_independence
from scorereport.inference.class_panel import ClassPanel
from scorereport.inference.component_tests import ScoredModel, is_miscalibrated
from scorereport.inference.components import (
    COMPONENTS,
    FEW_EVENTS,
    FewCases,
    component_interval,
)
from scorereport.inference.rates import rate_interval
from scorereport.results.model_records import ModelScores, ScoreValue
from scorereport.scores.hard_labels import confusion_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.bootstrap_results import Bootstrap
    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.results.settings import EvaluationSettings


@dataclass(frozen=True, kw_only=True, eq=False)
class Assessment:
    """The results of a sample: every model's scores, and the views of each family."""

    panel: ClassPanel
    families: list[Family]
    examined: list[list[ExaminedView]]
    models: dict[str, ModelScores]

    def scored(self, place: int, model: str) -> ScoredModel:
        """A model under the score of a family, for comparisons of its components."""
        family = self.families[place]
        overfit = family.overfit([found.overfits[model] for found in self.examined[place]])
        return ScoredModel(name=model, losses=family.losses(model), overfit=overfit)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassMeasures:
    """The measures of an evaluation: means over cases, and measures of the confusion table."""

    means: list[MeanMeasure]
    tables: list[TableMeasure]
    names: tuple[str, ...]


def choose_class_measures(n_classes: int, settings: EvaluationSettings, *, ordered: bool) -> ClassMeasures:
    """All measures of models of K classes."""
    return ClassMeasures(
        means=choose_mean_measures(n_classes, settings, ordered=ordered),
        tables=choose_table_measures(ordered=ordered),
        names=list_class_measures(ordered=ordered),
    )


def assess_classes(
    panel: ClassPanel, families: list[Family], measures: ClassMeasures, settings: EvaluationSettings
) -> Assessment:
    """Score every model on a sample; with intervals and tests if there are resamples."""
    examined = [[examine_view(view, settings) for view in family.views] for family in families]
    models = {name: _score(panel, families, measures, name) for name in panel.forecasts}
    found = Assessment(panel=panel, families=families, examined=examined, models=models)
    if not settings.infers:
        return found
    names = list(models)

    def add_components(place: int) -> ModelScores:
        return _add_components(found, names[place], settings)

    with sharing_work(add_components, len(names), worth=count_worth(len(names), len(panel.outcome))) as work:
        boot = bootstrap_classes(
            panel, measures.means, measures.tables, resamples=settings.fixed_resamples, seed=settings.seed
        )
        inferred = {
            known.model: replace(known, scores=tuple(_add_intervals(panel, known, boot, settings)))
            for known in work.collect()
        }
    return replace(found, models=inferred)


def _score(panel: ClassPanel, families: Sequence[Family], measures: ClassMeasures, model: str) -> ModelScores:
    """All measures of a model, in the order of tables in reports, and its decompositions."""
    p, label = panel.forecasts[model], panel.labels[model]
    table = confusion_table(panel.outcome, label, panel.n_classes, panel.weight)
    values = {}
    for mean in measures.means:
        value = panel.units.mean(mean.score(panel.outcome, p))
        skill = skill_of(value, mean, panel.class_weight)
        values[mean.name] = ScoreValue(name=mean.name, value=value, skill=skill)
    for measure in measures.tables:
        value = float(measure.value(table))
        skill = value if measure.name == KAPPA else np.nan  # kappa is a skill itself; F1 has no reference
        values[measure.name] = ScoreValue(name=measure.name, value=value, skill=skill)
    return ModelScores(
        model=model,
        scores=tuple(values[name] for name in measures.names),
        decompositions=tuple(family.decompose(model) for family in families),
    )


def _add_intervals(
    panel: ClassPanel, known: ModelScores, boot: Bootstrap, settings: EvaluationSettings
) -> Iterator[ScoreValue]:
    names = {statistic.measure for statistic in boot.statistics}
    few = _warn_of_rare_class(panel)
    for score in known.scores:
        interval, skill = (
            boot.interval(known.model, name, level=settings.level, method=settings.interval_method)
            if name in names
            else None
            for name in (score.name, f"{score.name}{SKILL}")
        )
        if score.name == "accuracy":
            right = (panel.labels[known.model] == panel.outcome).astype(np.float64)
            interval = rate_interval(score.name, right, panel.units, settings.level)
        if score.name == KAPPA and interval is not None:
            skill = replace(interval, measure=f"{KAPPA}{SKILL}")
        if skill is not None:
            skill = replace(skill, note=skill.note or few)
        yield replace(score, interval=interval, skill_interval=skill)


def _warn_of_rare_class(panel: ClassPanel) -> str:
    """A warning for intervals that rest on resamples alone, if some class was observed rarely."""
    counts = [panel.units.count(panel.outcome == label) for label in range(panel.n_classes)]
    fewest = min(count for count in counts if count > 0)
    if fewest >= FEW_EVENTS:
        return ""
    few = FewCases(fewest, "case", " of a class", are_effective=not panel.units.are_repeated_rows)
    return few.warn()


def _add_components(found: Assessment, model: str, settings: EvaluationSettings) -> ModelScores:
    """Both components of each family with their intervals, and the tests of calibration."""
    tests = examine_class_calibration(
        found.panel, found.families, model, resamples=settings.fixed_resamples, seed=settings.seed
    )
    tests = tuple(map(note_independence, tests)) if needs_time(found.panel) else tests
    components: list[ComponentEstimate] = []
    for place, test in enumerate(tests):
        scored = found.scored(place, model)
        components += [
            component_interval(
                scored.losses,
                component,
                scored.overfit,
                found.panel.units,
                level=settings.level,
                is_shown=is_miscalibrated(test, settings.level),
                note=_warn_of_few(found.examined[place]),
            )
            for component in COMPONENTS
        ]
    return replace(found.models[model], components=tuple(components), miscalibration_tests=tests)


def _warn_of_few(examined: Sequence[ExaminedView]) -> str:
    """A warning if some views have few events or non-events, so that their part of an interval is rough."""
    samples = [found.sample for found in examined]
    counts = [sample.independent for sample in samples if sample.independent is not None]
    few = sum(min(of_view.events, of_view.non_events) < FEW_EVENTS for of_view in counts)
    if not few:
        return ""
    of_views = f"{few} of {format_counted(len(samples), 'binary view')}"
    return f"{of_views} {'has' if few == 1 else 'have'} fewer than {FEW_EVENTS} events or non-events."
