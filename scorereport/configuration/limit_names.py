"""Other names of measures: short names that are accepted, and names in other software that are suggested.

A suggestion is the same number under another name, never one with another meaning. Names of numbers that are
related to a measure, but are not the same, lead to a sentence that says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scorereport._utils.suggestions import count_wrong_letters, suggest_name
from scorereport.configuration.measure_limits import MEASURES
from scorereport.scores.registry import OTHER_SCORES, REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Collection


class Shorthand(NamedTuple):
    """Another name of a measure that is accepted, and the label under which it is shown if it has one."""

    name: str
    measure: str
    label: str = ""


_ACCEPTED = (
    Shorthand("calibrated_within", "brier_miscalibration"),  # a test of equivalence
    Shorthand("gini", "roc_auc_skill", "Gini coefficient"),
    Shorthand("accuracy_ratio", "roc_auc_skill", "accuracy ratio"),
    Shorthand("somers_d", "roc_auc_skill", "Somers' D"),
    Shorthand("recall", "sensitivity", "recall"),
    Shorthand("precision", "ppv", "precision"),
)
#: Short names of limits, with the measures for which they stand and the labels under which they are shown.
SHORTHANDS = {short.name: short.measure for short in _ACCEPTED}
SHORTHAND_LABELS = {short.name: short.label for short in _ACCEPTED if short.label}

#: Names of measures in other software.
_OTHER_NAMES = {name: entry.other_names for name, entry in REGISTRY.items()} | {
    "roc_auc_skill": ("gini_coefficient", "somersd", "somers_dxy", "dxy"),
    "brier_skill": ("bss",),
    "calibration_slope": ("slope",),
    "calibration_intercept": ("intercept",),
    "calibration_in_the_large": ("citl", "calibration_in_large"),
    "ici": ("integrated_calibration_index",),
    "emax": ("e_max",),
    "ece": ("expected_calibration_error",),
    "ks": ("ks_statistic", "ks_stat", "kolmogorov_smirnov", "kolmogorov_smirnov_statistic"),
    "sensitivity": ("tpr", "true_positive_rate", "hit_rate"),
    "specificity": ("tnr", "true_negative_rate", "selectivity"),
    "ppv": ("positive_predictive_value",),
    "npv": ("negative_predictive_value",),
    "net_benefit_gain": ("net_benefit_over_treat_all",),
    "interventions_avoided": ("net_intervention_avoided", "net_reduction_in_interventions"),
    "psi": ("population_stability_index", "population_stability", "stability_index"),
    "red_grades": ("share_red", "red_share", "share_of_red_grades"),
    "prevalence": ("event_rate", "base_rate", "default_rate"),
    "": OTHER_SCORES,
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}
#: Names of other numbers, and how they are related to measures.
_RELATED = {
    **dict.fromkeys(("fpr", "false_positive_rate", "fall_out"), "it is 1 minus the `specificity`."),
    **dict.fromkeys(("fnr", "false_negative_rate", "miss_rate"), "it is 1 minus the `sensitivity`."),
    **dict.fromkeys(("fdr", "false_discovery_rate"), "it is 1 minus the `ppv`."),
    **dict.fromkeys(("fomr", "false_omission_rate"), "it is 1 minus the `npv`."),
    **dict.fromkeys(
        ("mce", "max_calibration_error", "maximum_calibration_error"),
        "the largest error over bins is not computed; `emax` is the largest distance of the smooth "
        "calibration curve.",
    ),
    **dict.fromkeys(
        ("hosmer_lemeshow", "hosmer_lemeshow_test", "spiegelhalter", "spiegelhalter_z"),
        "a test of calibration has no limit, because it fails in large samples whatever the error: set "
        "`calibrated_within`, `ici` or `ece`.",
    ),
    **dict.fromkeys(
        ("youden", "youden_j", "youdens_j", "informedness"),
        "at one threshold it is `sensitivity` plus `specificity` minus 1; its largest value is `ks`.",
    ),
    **dict.fromkeys(
        ("csi", "characteristic_stability_index"), "`psi` is that of the forecasts; inputs are not read."
    ),
}
#: Suffixes of names in other software, and here.
_ENDINGS = {
    "_skill_score": "_skill",
    "_mcb": "_miscalibration",
    "_dsc": "_discrimination",
    "_skill": "_skill",
    "_miscalibration": "_miscalibration",
    "_discrimination": "_discrimination",
    "_score": "",
    "_loss": "",
    "": "",
}
#: Shorter words are not taken for misspellings. Longer ones are near to names of one direction only.
_SHORTEST, _LONGEST = 3, 10


def explain_related(key: str) -> str:
    """How the number that an unknown key means is related to measures; empty if there is no such number.

    >>> explain_related("fpr")
    'it is 1 minus the `specificity`.'
    """
    return _RELATED.get(_simplify(key), "")


def find_limit_measure(key: str, known: Collection[str]) -> str:
    """The measure that an unknown key means, or the known key that is misspelt; empty if there is none.

    A measure with another meaning is never returned.

    >>> [find_limit_measure(key, MEASURES) for key in ("brier_score", "auc", "gini_coefficient", "fpr")]
    ['brier', 'roc_auc', 'roc_auc_skill', '']
    """
    plain = _simplify(key)
    if plain in _RELATED:
        return ""
    for ending, part in _ENDINGS.items():
        base = plain.removesuffix(ending)
        if plain.endswith(ending) and base in (*_MEANT, *MEASURES):
            name = _MEANT.get(base, base) + part
            is_opposite = (
                ending == "_loss" and name in MEASURES and MEASURES[name].direction is not Direction.LOWER
            )
            return name if name in MEASURES and not is_opposite else ""
    return _find_misspelt(key, known)


def _simplify(key: str) -> str:
    return key.lower().replace("-", "_").replace("_score_", "_")


def _find_misspelt(key: str, known: Collection[str]) -> str:
    """The known key that is misspelt; none if another one that is as near has another direction."""
    meant = suggest_name(key, known) if len(key) >= _SHORTEST else ""
    if len(key) > _LONGEST or not meant:
        return meant
    wrong = count_wrong_letters(key, meant)
    near = {_direction_of(name) for name in known if count_wrong_letters(key, name) <= wrong}
    return meant if near <= {_direction_of(meant)} else ""


def _direction_of(name: str) -> str:
    measure = MEASURES.get(SHORTHANDS.get(name, name))
    return "" if measure is None else str(measure.direction)
