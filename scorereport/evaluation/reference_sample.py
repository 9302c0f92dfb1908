"""The forecasts of an evaluation against those of a reference sample, such as the one for development."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.checks import check_probability, check_weight
from scorereport._utils.formatting import format_counted
from scorereport.data.array_values import is_frame
from scorereport.data.columns import bounded_numbers
from scorereport.data.reader import read_columns
from scorereport.data.sources import describe_source, find_file_kind, hash_file, rows_named
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.scans import count_at
from scorereport.evaluation.prediction_panels import panel_of
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.population_stability import Stability, compare_bins, count_in_bins, find_bin_ends
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.data.csv_format import CsvFormat
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.evaluation.engines.protocol import Engine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceSample:
    """The forecasts of each model in a reference sample, the weights of its rows, and its source."""

    forecasts: Mapping[str, FloatArray]
    weight: FloatArray
    size: float
    source: str = ""
    source_sha256: str = ""


def read_reference(
    reference: Any,
    models: Sequence[str],
    *,
    weight: str | None = None,
    weight_kind: str = "sampling",
    drop: bool = False,
    csv_format: CsvFormat | None = None,
) -> ReferenceSample | None:
    """Read the forecasts of a reference sample, if there is one; outcomes are not needed.

    Parameters
    ----------
    reference : a mapping from each model to its forecasts; or a DataFrame, file or folder with a column for
        each model, as in `read_predictions`; or None
    models : the names of the models
    weight, weight_kind : the column or key of the weights, and their kind
    drop : whether rows of a table with missing values are dropped; otherwise they are refused
    csv_format : how the table is written, if it is a CSV file
    """
    if reference is None:
        return None
    weights: Any
    if _is_table(reference):
        used = csv_format if _is_text(reference) else None
        with rows_named(reference, csv_format=used):
            forecasts, weights = _read_columns(reference, models, weight, used, drop=drop)
    else:
        names = [*models, *([] if weight is None else [weight])]
        absent = [name for name in names if name not in reference]
        if absent:
            raise UsageError(f"`reference` must have forecasts and weights; {absent[0]!r} is missing.")
        forecasts = {model: check_probability(reference[model], model) for model in models}
        weights = None if weight is None else reference[weight]
    lengths = {len(values) for values in forecasts.values()}
    if len(lengths) > 1:
        raise DataError("`reference` must have the same number of rows for every model.")
    rows = lengths.pop()
    checked = check_weight(weights, rows, "weight", kind=weight_kind)
    units = SamplingUnits(rows=rows, weight=checked, weight_kind=weight_kind)
    return ReferenceSample(
        forecasts=forecasts,
        weight=np.asarray(units.row_weight),
        size=units.total / units.case_weight,
        source=describe_source(reference),
        source_sha256=hash_file(reference),
    )


def _is_table(reference: Any) -> bool:
    return isinstance(reference, (str, Path)) or is_frame(reference)


def _is_text(reference: Any) -> bool:
    """Whether this is a file that has a separator, a decimal sign and an encoding."""
    kind = find_file_kind(reference) if isinstance(reference, (str, Path)) else None
    return kind is not None and kind.takes_format


def _read_columns(
    reference: Any, models: Sequence[str], weight: str | None, csv_format: CsvFormat | None, *, drop: bool
) -> tuple[dict[str, FloatArray], FloatArray | None]:
    names = [*models, *([] if weight is None else [weight])]
    frame = read_columns(reference, list(dict.fromkeys(names)), [], csv_format=csv_format)
    columns = {
        name: bounded_numbers(frame[name], name, upper=np.inf if name == weight else 1) for name in names
    }
    is_kept = ~np.isnan(np.column_stack(list(columns.values()))).any(axis=1)
    if not is_kept.all() and not (drop and is_kept.any()):
        name = next(name for name, values in columns.items() if np.isnan(values).any())
        missing = format_counted(int(np.isnan(columns[name]).sum()), "row")
        raise DataError(f"`{name}` is missing in {missing} of the reference, {describe_source(reference)}.")
    kept = {name: values[is_kept] for name, values in columns.items()}
    return {model: kept[model] for model in models}, None if weight is None else kept[weight]


def compare_with_reference(
    predictions: Predictions | ClassPredictions, reference: ReferenceSample, *, level: float = 0.95
) -> tuple[Stability, ...]:
    """Compute the population stability index of every model against a reference sample.

    With clusters, the number of independent rows is the effective number of clusters, which is safe.
    """
    from scorereport.data.predictions import Predictions

    if not isinstance(predictions, Predictions):
        raise UsageError("`reference` is for binary models; these have several classes.")
    units = panel_of(predictions).units
    is_clustered = units.cluster is not None
    size = units.effective_size if is_clustered else units.total / units.case_weight
    weight = np.ones(len(predictions)) if predictions.weight is None else predictions.weight
    found = [
        compare_bins(
            model,
            ends=(ends := find_bin_ends(reference.forecasts[model], reference.weight)),
            sample=count_in_bins(forecasts, weight, ends),
            reference=count_in_bins(reference.forecasts[model], reference.weight, ends),
            sizes=(size, reference.size),
            distribution=ErrorDistribution(units.degrees_of_freedom),
            level=level,
        )
        for model, forecasts in predictions.forecasts.items()
    ]
    return _name_source(found, reference)


def _name_source(found: Sequence[Stability], reference: ReferenceSample) -> tuple[Stability, ...]:
    return tuple(
        replace(one, source=reference.source, source_sha256=reference.source_sha256) for one in found
    )


def compare_engine_with_reference(
    engine: Engine, reference: ReferenceSample, *, level: float = 0.95
) -> tuple[Stability, ...]:
    """Compute the stability index with an engine, from exact counts at the ends of the bins."""
    survey = engine.survey
    if survey.clusters is not None:
        raise UsageError('`reference` with clusters needs the rows in memory: set `engine` to "memory".')
    size = float(survey.total if survey.are_repeated_rows else survey.total**2 / survey.squares)
    ends = {model: find_bin_ends(reference.forecasts[model], reference.weight) for model in survey.models}
    counted = count_at(engine, {model: at for model, at in ends.items() if len(at)})
    found = []
    for model, at in ends.items():
        up_to = counted[model].n_below + counted[model].n_at if len(at) else np.empty(0)
        sample = np.diff(np.concatenate([[0.0], np.asarray(up_to, dtype=np.float64), [float(survey.total)]]))
        found.append(
            compare_bins(
                model,
                ends=at,
                sample=sample,
                reference=count_in_bins(reference.forecasts[model], reference.weight, at),
                sizes=(size, reference.size),
                distribution=ErrorDistribution(),
                level=level,
            )
        )
    return _name_source(found, reference)
