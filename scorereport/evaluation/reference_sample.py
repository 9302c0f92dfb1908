"""The forecasts of an evaluation against those of a reference sample, such as the one for development."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray
from scorereport._utils.checks import check_probability, check_weight
from scorereport._utils.formatting import format_counted
from scorereport.data.array_tables import ArrayTable
from scorereport.data.array_values import is_frame
from scorereport.data.columns import bounded_numbers, label_texts
from scorereport.data.csv_format import CsvFormat
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.data.reader import find_missing, read_checked, read_columns
from scorereport.data.sources import describe_source, find_file_kind, hash_file, locate_source, rows_named
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.scans import count_at
from scorereport.evaluation.prediction_panels import panel_of, share_rows
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.panel import ForecastPanel
from scorereport.inference.population_stability import Stability, compare_bins, count_in_bins, find_bin_ends
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scorereport.data.roles import Columns
    from scorereport.evaluation.engines.protocol import Engine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceSample:
    """The forecasts of each model in a reference sample, the weights of its rows, and its source.

    `size` is the effective number of rows. `panel` has the outcomes as well, if the reference has them;
    `groups` are the columns of groups that it shares with the sample, with the weights `group_weight`.
    """

    forecasts: Mapping[str, FloatArray]
    weight: FloatArray
    size: float
    source: str = ""
    source_sha256: str = ""
    panel: ForecastPanel | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    group_weight: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceColumns:
    """The columns of the sample that its reference may have too, and how rows are read.

    Forecasts and weights are needed. Without a column of `outcome` only forecasts are compared; `groups` and
    `cluster` are used if they are there.
    """

    models: tuple[str, ...]
    weight: str | None = None
    weight_kind: str = "sampling"
    drop: bool = False
    csv_format: CsvFormat | None = None
    outcome: str | None = None
    positive: object = None
    groups: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def needed(self) -> list[str]:
        """Columns without which there is no comparison."""
        return [*self.models, *([] if self.weight is None else [self.weight])]

    def restrict(self, present: Collection[str]) -> ReferenceColumns:
        """The columns without those that a reference does not have."""
        return replace(
            self,
            outcome=self.outcome if self.outcome in present else None,
            groups=tuple(name for name in self.groups if name in present),
            cluster=self.cluster if self.cluster in present else None,
        )

    def as_roles(self) -> Columns:
        """The columns as the reader of predictions takes them."""
        optional = {
            "weight": self.weight,
            "cluster": self.cluster,
            "positive": self.positive,
            "groups": list(self.groups) or None,
        }
        roles: dict[str, object] = {
            "outcome": self.outcome,
            "forecasts": list(self.models),
            "weight_kind": self.weight_kind,
            "missing": "drop" if self.drop else "refuse",
        }
        roles |= {name: value for name, value in optional.items() if value is not None}
        if self.csv_format is not None:
            roles |= {name: getattr(self.csv_format, name) for name in self.csv_format.given}
        return cast("Columns", roles)


def name_reference_columns(predictions: Predictions, columns: ReferenceColumns) -> ReferenceColumns:
    """The columns of predictions, which may have been read before; `columns` say how rows are read."""
    label = predictions.positive if predictions.positive != "1" else None
    return replace(
        columns,
        models=tuple(predictions.forecasts),
        weight=None if predictions.weight is None else predictions.weight_name,
        weight_kind=predictions.weight_kind,
        outcome=predictions.outcome_name,
        positive=label if columns.positive is None else columns.positive,
        groups=tuple(predictions.groups),
    )


def read_reference(reference: Any, columns: ReferenceColumns) -> ReferenceSample | None:
    """Read a reference sample, if there is one.

    Parameters
    ----------
    reference : a mapping from each model to its forecasts; or a DataFrame, file or folder with a column for
        each model, as in `read_predictions`; or None
    columns : the columns of the sample, and how they are read
    """
    if reference is None:
        return None
    is_table = _is_table(reference)
    if not _is_text(reference):
        columns = replace(columns, csv_format=None)
    columns = columns.restrict(_list_columns(reference, columns.csv_format) if is_table else list(reference))
    if not is_table:
        _refuse_absent(reference, columns)
    if columns.outcome is not None:
        return _read_with_outcomes(reference if is_table else _make_table(reference, columns), columns)
    if is_table:
        with rows_named(reference, csv_format=columns.csv_format):
            forecasts, weights, groups = _read_columns(reference, columns)
    else:
        forecasts = {model: check_probability(reference[model], model) for model in columns.models}
        weights = None if columns.weight is None else reference[columns.weight]
        groups = {name: np.asarray([str(label) for label in reference[name]]) for name in columns.groups}
    lengths = {len(values) for values in [*forecasts.values(), *groups.values()]}
    if len(lengths) > 1:
        raise DataError("`reference` must have the same number of rows for every model.")
    rows = lengths.pop()
    checked = check_weight(weights, rows, "weight", kind=columns.weight_kind)
    units = SamplingUnits(rows=rows, weight=checked, weight_kind=columns.weight_kind)
    return ReferenceSample(
        forecasts=forecasts,
        weight=np.asarray(units.row_weight),
        size=_find_size(units),
        source=describe_source(reference),
        source_sha256=hash_file(reference),
        groups=groups,
        group_weight=np.asarray(units.row_weight),
    )


def _find_size(units: SamplingUnits) -> float:
    """The effective number of rows; with clusters, the effective number of clusters, which is safe."""
    return units.total / units.case_weight if units.cluster is None else units.effective_size


def _read_with_outcomes(reference: Any, columns: ReferenceColumns) -> ReferenceSample:
    """Read a reference with outcomes by the rules of the sample; an error names the reference."""
    try:
        predictions = read_checked(reference, columns.as_roles())
    except DataError as error:
        raise DataError(f"Reference sample: {error}") from error
    predictions = share_rows(cast("Predictions", predictions))
    panel = panel_of(predictions)
    return ReferenceSample(
        forecasts=panel.forecasts,
        weight=np.asarray(panel.units.row_weight),
        size=_find_size(panel.units),
        source=predictions.source,
        source_sha256=predictions.file_sha256,
        panel=panel,
        groups=predictions.groups,
        group_weight=np.ones(len(predictions)) if predictions.weight is None else predictions.weight,
    )


def _refuse_absent(reference: Mapping[str, Any], columns: ReferenceColumns) -> None:
    absent = [name for name in columns.needed if name not in reference]
    if absent:
        raise UsageError(f"`reference` must have forecasts and weights; {absent[0]!r} is missing.")


def _make_table(reference: Mapping[str, Any], columns: ReferenceColumns) -> ArrayTable:
    """The arrays of a mapping that are used, as columns of a table."""
    names = [columns.outcome, *columns.needed, *columns.groups, columns.cluster]
    arrays = {name: np.asarray(reference[name]) for name in names if name is not None}
    if len({len(values) for values in arrays.values()}) > 1:
        raise DataError("`reference` must have the same number of rows for every model.")
    return ArrayTable(arrays)


def _list_columns(reference: Any, csv_format: CsvFormat | None) -> list[str]:
    place = locate_source(reference, csv_format=csv_format)
    return place.kind.list_columns(place)


def _is_table(reference: Any) -> bool:
    return isinstance(reference, (str, Path)) or is_frame(reference)


def _is_text(reference: Any) -> bool:
    """Whether this is a file that has a separator, a decimal sign and an encoding."""
    kind = find_file_kind(reference) if isinstance(reference, (str, Path)) else None
    return kind is not None and kind.takes_format


def _read_columns(
    reference: Any, columns: ReferenceColumns
) -> tuple[dict[str, FloatArray], FloatArray | None, dict[str, NDArray[Any]]]:
    """Read forecasts, weights and groups, of rows in which none is missing."""
    names = list(dict.fromkeys(columns.needed))
    frame = read_columns(reference, names, columns.groups, csv_format=columns.csv_format)
    values: dict[str, NDArray[Any]] = {
        name: bounded_numbers(frame[name], name, upper=np.inf if name == columns.weight else 1)
        for name in names
    }
    values |= {name: label_texts(frame[name], name) for name in columns.groups}
    lacks = {name: find_missing(column) for name, column in values.items()}
    is_kept = ~np.column_stack(list(lacks.values())).any(axis=1)
    if not is_kept.all() and not (columns.drop and is_kept.any()):
        name = next(name for name, is_missing in lacks.items() if is_missing.any())
        missing = format_counted(int(lacks[name].sum()), "row")
        raise DataError(f"`{name}` is missing in {missing} of the reference, {describe_source(reference)}.")
    kept = {name: column[is_kept] for name, column in values.items()}
    forecasts = {name: kept[name] for name in columns.models}
    weights = None if columns.weight is None else kept[columns.weight]
    return forecasts, weights, {name: kept[name] for name in columns.groups}


def compare_with_reference(
    predictions: Predictions | ClassPredictions, reference: ReferenceSample, *, level: float = 0.95
) -> tuple[Stability, ...]:
    """Compute the population stability index of every model against a reference sample.

    With clusters, the number of independent rows is the effective number of clusters, which is safe.
    """
    if not isinstance(predictions, Predictions):
        raise UsageError("`reference` is for binary models; these have several classes.")
    units = panel_of(predictions).units
    weight = np.ones(len(predictions)) if predictions.weight is None else predictions.weight
    found = [
        compare_bins(
            model,
            ends=(ends := find_bin_ends(reference.forecasts[model], reference.weight)),
            sample=count_in_bins(forecasts, weight, ends),
            reference=count_in_bins(reference.forecasts[model], reference.weight, ends),
            sizes=(_find_size(units), reference.size),
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
