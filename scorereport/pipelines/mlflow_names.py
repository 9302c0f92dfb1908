"""What a run of MLflow states about an evaluation: names and numbers of metrics, parameters and tags.

Metrics have the names of limits, so that a number has one name in configurations and in MLflow.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from hashlib import sha256
from math import isnan, nan
from typing import TYPE_CHECKING

from scorereport.configuration.limit_verdicts import find_numbers, find_worst_verdict
from scorereport.configuration.limits_table import LimitsTable
from scorereport.configuration.measure_limits import MEASURES
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation

#: Parameters and tags begin with this, so that they do not collide with those of the training.
_OWN = "scorereport."
_P_VALUE = "miscalibration_p_value"
#: Characters of a model's name that metrics do not have: dots and slashes would divide the names of metrics.
_REPLACED = re.compile(r"[^\w\-]+")
#: A prefix is letters, digits and a few signs, in parts that slashes divide, as MLflow has them.
_PREFIX = re.compile(r"[\w\-. ]+(?:/[\w\-. ]+)*/?")
_LONGEST_PREFIX, _LONGEST_MODEL, _LONGEST_VALUE = 100, 80, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedNumber:
    """A number of a model, or of the sample (`model` is ""), with the ends of its interval or NaN."""

    model: str
    measure: str
    value: float
    lower: float = nan
    upper: float = nan
    level: float = nan


def list_numbers(evaluation: Evaluation) -> list[LoggedNumber]:
    """All numbers of models and sample that may have a limit, except those at thresholds and of classes."""
    return [*_list_measures(evaluation), *_list_p_values(evaluation)]


def _list_measures(evaluation: Evaluation) -> Iterator[LoggedNumber]:
    for measure in MEASURES.values():
        if measure.argument is not None:
            continue
        for found in find_numbers(evaluation, measure, LimitsTable()):
            interval = found.interval
            yield LoggedNumber(
                model=found.model,
                measure=measure.name,
                value=found.value,
                lower=nan if interval is None else interval.lower,
                upper=nan if interval is None else interval.upper,
                level=nan if interval is None else interval.level,
            )


def _list_p_values(evaluation: Evaluation) -> Iterator[LoggedNumber]:
    for result in evaluation.results:
        test = result.scores.miscalibration_test(evaluation.main_score)
        if test is not None:
            yield LoggedNumber(model=result.model, measure=_P_VALUE, value=test.p_value)


def name_models(models: Sequence[str]) -> dict[str, str]:
    """Return the part of each model in the names of metrics: its name, with other characters replaced by "_".

    A name that is cut, or that would be equal to another, ends in a part of its hash.

    >>> name_models(["logit", "gbm v1.2", "gbm/v1.2"])
    {'logit': 'logit', 'gbm v1.2': 'gbm_v1_2-72535d60', 'gbm/v1.2': 'gbm_v1_2-3e3d286d'}
    """
    plain = {model: _REPLACED.sub("_", model) for model in models}
    taken = list(plain.values())
    return {
        model: name
        if len(name) <= _LONGEST_MODEL and (name == model or taken.count(name) == 1)
        else f"{name[:_LONGEST_MODEL]}-{sha256(model.encode()).hexdigest()[:8]}"
        for model, name in plain.items()
    }


def check_prefix(prefix: str) -> str:
    """Return a prefix of names; refuse one that MLflow does not accept in the names of metrics."""
    is_valid = isinstance(prefix, str) and len(prefix) <= _LONGEST_PREFIX
    if not is_valid or (prefix and (not _PREFIX.fullmatch(prefix) or ".." in prefix)):
        raise UsageError(
            "`prefix` must be letters, digits, underscores, hyphens, dots, blanks and slashes, such as "
            f'"test_" or "test/"; got {prefix!r}.'
        )
    return prefix


def name_metrics(
    numbers: Iterable[LoggedNumber], models: Mapping[str, str], prefix: str = ""
) -> dict[str, float]:
    """Return metrics: `brier.logit`, `brier.logit.lower` and so on; NaN, which is not defined, is left out.

    `models` has the part of each model in names; for a model that it does not have, names have none.
    """
    metrics: dict[str, float] = {}
    for number in numbers:
        model = models.get(number.model, "")
        name = f"{prefix}{number.measure}{f'.{model}' if model else ''}"
        ends = {name: number.value, f"{name}.lower": number.lower, f"{name}.upper": number.upper}
        metrics |= {key: value for key, value in ends.items() if not isnan(value)}
    return metrics


def frame_metrics(numbers: Sequence[LoggedNumber], models: Mapping[str, str], prefix: str) -> pd.DataFrame:
    """Return the numbers as a table with the names of their metrics, which may lack a model's real name."""
    import pandas as pd

    names = [next(iter(name_metrics([number], models, prefix)), "") for number in numbers]
    columns = [field.name for field in fields(LoggedNumber)]
    rows = [[getattr(number, column) for column in columns] for number in numbers]
    return pd.DataFrame(rows, columns=columns).assign(metric=names)


def list_parameters(evaluation: Evaluation, prefix: str = "") -> dict[str, str]:
    """Return data, settings and software as parameters; those that are not set are left out."""
    data, settings = evaluation.data, evaluation.settings
    facts = {
        "version": evaluation.software.get("scorereport"),
        "kind": evaluation.kind,
        "models": [result.model for result in evaluation.results],
        "source": data.source,
        "outcome": data.outcome,
        "n": data.sample.rows,
        "data_sha256": data.sha256,
        "file_sha256": data.file_sha256,
        **{field.name: getattr(settings, field.name) for field in fields(settings)},
    }
    return {
        f"{_OWN}{prefix}{name}": _write(value) for name, value in facts.items() if value not in (None, "")
    }


def _write(value: object) -> str:
    """A value as text: lists as JSON, and long ones cut, because MLflow refuses them."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def list_tags(
    results_sha256: str,
    judgements: Sequence[Judgement],
    certificate: Certificate | None,
    models: Mapping[str, str],
    prefix: str = "",
) -> dict[str, str]:
    """Return verdicts over all limits, of each model and of the certificate, and the hash of the results."""
    found = {"verdict": str(find_worst_verdict(judgements) or "")}
    for model, name in models.items():
        of_model = [judgement for judgement in judgements if judgement.model == model]
        found[f"verdict.{name}"] = str(find_worst_verdict(of_model) or "")
    found["certificate"] = "" if certificate is None else certificate.current_verdict
    found["results_sha256"] = results_sha256
    return {f"{_OWN}{prefix}{name}": value for name, value in found.items() if value}
