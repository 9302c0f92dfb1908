"""Findings on recalibration: the models that it would improve, and by which map."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number
from scorereport.configuration.judgement import find_alpha
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.configuration.measure_limits import known_measure
from scorereport.inference.recalibration_gains import bound_shown_gain
from scorereport.report.finding_records import MODELS, Consequence, Finding, name_models
from scorereport.report.recalibration_advice import Circumstances, advise_recalibration
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.report.recalibration_advice import RecalibrationAdvice
    from scorereport.results.evaluation import Evaluation

RECALIBRATE = f"Recalibrate {MODELS}, and evaluate again on new cases."
#: Measures that no recalibration improves: parts of an evaluation, and the beginning of names of others.
_RANKING, _AUC = (MeasurePart.SEPARATION, MeasurePart.DISCRIMINATION), "roc_auc"


def advise_models(
    evaluation: Evaluation, alarms: Iterable[Finding], judgements: Sequence[Judgement] = ()
) -> list[RecalibrationAdvice]:
    """Return the advice on each model for which maps were tried."""
    alarms = list(alarms)
    inverted = name_models(alarms, Consequence.INVERTED_RANKING)
    few_cases = any(alarm.consequence is Consequence.TOO_FEW_CASES for alarm in alarms)
    found = (
        advise_recalibration(
            model,
            evaluation,
            find_alpha(evaluation),
            Circumstances(
                is_inverted=model.model in inverted,
                few_cases=few_cases,
                weak=tuple(_name_weak(model.model, judgements)),
            ),
        )
        for model in evaluation.models
    )
    return [advice for advice in found if advice is not None]


def _name_weak(model: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    """Name the limits on discrimination that a model breaches on all cases."""
    for judgement in judgements:
        is_breached = judgement.verdict is LimitVerdict.FAIL and not judgement.group
        name = judgement.measure
        is_ranking = name.startswith(_AUC) or known_measure(name).part in _RANKING
        if is_breached and is_ranking and judgement.model == model:
            yield inside_sentence(judgement.label)


def find_recalibration(evaluation: Evaluation, advised: Sequence[RecalibrationAdvice]) -> Iterator[Finding]:
    """State what follows from the advice: the gain of the advised map, and what to do."""
    remedies = Counter(advice.remedy for advice in advised)
    alpha = find_alpha(evaluation)
    for advice in advised:
        if advice.trial is not None:
            is_shared = remedies[advice.remedy] > 1
            action = advice.shared_action if is_shared else advice.action
            yield _find_gain(advice, advice.trial, alpha, action=action)
        elif advice.action:
            yield Finding(
                text=advice.finding,
                see="section_recalibration",
                consequence=Consequence.POSSIBLE_GAIN,
                tone="open",
                model=advice.model,
                action=advice.action,
            )


def _find_gain(
    advice: RecalibrationAdvice, trial: RecalibrationTrial, alpha: float, *, action: str
) -> Finding:
    decimals = common_decimals([trial.brier.value])
    interval = format_interval(*bound_shown_gain(trial.brier, alpha), decimals)
    return Finding(
        text=f"Recalibration by {advice.how} would lower the Brier score of {advice.model} on new cases by "
        f"{format_number(-trial.brier.value, decimals)} {interval} (the interval allows for the choice among "
        "maps, and for being stated only where a gain is shown).",
        see="section_recalibration",
        consequence=Consequence.POSSIBLE_GAIN,
        tone="open",
        model=advice.model,
        size=-trial.brier.value,
        action=action,
    )
