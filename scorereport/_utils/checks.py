"""Checks of arguments and data: each returns checked values or raises an error of one clear sentence.

Kernels do not check again. A message names the argument, the rule, the value found, its rows, and
how to fix it. Rows are counted from 0 here; readers of files and frames give them the names that
people look for (`row_places`). No check has a tolerance, except the sum of class probabilities,
which floating point cannot keep exactly; its message states the tolerance.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from scorereport._utils.choices import WEIGHT_KINDS
from scorereport._utils.formatting import explain_percent, format_plain, shortest
from scorereport._utils.mistakes import (
    hint_at_classes,
    hint_at_coding,
    hint_at_numbers,
    hint_at_scale,
    hint_at_shape,
    hint_at_swap,
    range_of,
)
from scorereport._utils.representation import short_repr
from scorereport._utils.row_places import InvalidRowsError, RowsRefused
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

#: How far the sum of class probabilities may be from 1: enough for float32 softmax output.
SUM_TOLERANCE = 1e-6
#: The smallest and largest positive weight: squares of weights and their sums stay finite and positive.
WEIGHT_RANGE = (1e-100, 1e100)
#: The most characters of a label, a date or another text of a row.
LONGEST_TEXT = 1000
#: The most characters of a text that a message shows.
_LONGEST_SHOWN = 100


class CheckedCases(NamedTuple):
    """Checked outcomes, forecasts and weights of the same length."""

    y_true: FloatArray
    y_prob: FloatArray
    weight: FloatArray | None

    def __repr__(self) -> str:
        return short_repr(self)


def check_binary(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> CheckedCases:
    """Check binary outcomes, their forecast probabilities and, if given, their weights."""
    outcome, forecast = check_outcome(y_true, forecast=y_prob), check_probability(y_prob)
    check_same_length(("y_true", outcome), ("y_prob", forecast))
    return CheckedCases(outcome, forecast, check_weight(sample_weight, len(outcome), kind=weight_kind))


def check_real(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> CheckedCases:
    """Check real outcomes and real forecasts of their mean."""
    outcome, forecast = check_finite(y_true, "y_true"), check_finite(y_prob, "y_prob")
    check_same_length(("y_true", outcome), ("y_prob", forecast))
    return CheckedCases(outcome, forecast, check_weight(sample_weight, len(outcome), kind=weight_kind))


def check_classes(
    y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[IntArray, FloatArray, FloatArray | None]:
    """Check class indices 0..K-1 and one probability vector per row."""
    forecast = check_distribution(y_prob)
    label = check_labels(y_true, "y_true", forecast.shape[1])
    check_same_length(("y_true", label), ("y_prob", forecast))
    return label, forecast, check_weight(sample_weight, len(label))


def check_outcome(
    values: ArrayLike, name: str = "y_true", *, forecast: ArrayLike | None = None
) -> FloatArray:
    """Check outcomes, which must be 0 or 1; a message says so if they and the forecasts look swapped."""
    array = _plain_array(values, name)
    if array.ndim == 1 and array.dtype.kind in "OUST":
        _refuse_texts(array, f"`{name}` must be 0 or 1", hint_at_coding(values, array, name))
    vector = _vector(array, name, hint_at_shape(values, array.shape, name))
    is_binary = (vector == 0) | (vector == 1)
    if not is_binary.all():
        _refuse_missing(vector, name)
        hint = hint_at_swap(vector, forecast) or hint_at_coding(values, vector, name)
        refuse_rows(vector, ~is_binary, f"`{name}` must be 0 or 1", hint)
    return vector


def _refuse_texts(array: NDArray[Any], rule: str, hint: str) -> None:
    is_text = np.array([isinstance(item, (str, bytes)) for item in array.tolist()], dtype=bool)
    if is_text.any():
        refuse_rows(array, is_text, rule, hint)


def check_probability(values: ArrayLike, name: str = "y_prob") -> FloatArray:
    """Check probabilities, which must be numbers in [0, 1]."""
    array = _plain_array(values, name)
    return _check_unit_interval(_vector(array, name, hint_at_shape(values, array.shape, name)), name)


def check_finite(values: ArrayLike, name: str) -> FloatArray:
    """Check real numbers, which must be finite."""
    vector = _vector(values, name)
    if not np.isfinite(vector).all():
        _refuse_not_finite(vector, name)
    return vector


def check_weight(
    values: ArrayLike | None, n: int, name: str = "sample_weight", *, kind: str = "sampling"
) -> FloatArray | None:
    """Check weights: not negative, not all zero, whole numbers if they are frequencies; None stays None."""
    check_option(kind, "weight_kind", WEIGHT_KINDS)
    if values is None:
        return None
    vector = check_finite(values, name)
    if len(vector) != n:
        raise DataError(f"`{name}` must have one value per case; got {len(vector)} for {n} cases.")
    if vector.min() < 0:
        refuse_rows(vector, vector < 0, f"`{name}` must not be negative")
    if vector.max() == 0:
        raise DataError(f"`{name}` must not be all zero; got 0 in all {n} rows.")
    refuse_extreme_weights(vector, name)
    if kind == "frequency":
        refuse_fractions(vector, name)
    return vector


def refuse_extreme_weights(weight: FloatArray, name: str) -> None:
    """Refuse weights whose squares cannot be summed in floating point; NaN (missing) passes."""
    smallest, largest = WEIGHT_RANGE
    is_extreme = (weight > largest) | ((weight > 0) & (weight < smallest))
    if is_extreme.any():
        refuse_rows(weight, is_extreme, *extreme_weight_rule(name))


def extreme_weight_rule(name: str) -> tuple[str, str]:
    """Return the rule on the size of weights, and a hint."""
    smallest, largest = WEIGHT_RANGE
    return (
        f"`{name}` must be 0 or lie between {format_plain(smallest)} and {format_plain(largest)}",
        " Divide all weights by one of them.",
    )


def refuse_fractions(weight: FloatArray, name: str) -> None:
    """Refuse frequency weights that are not whole numbers; NaN (missing) passes."""
    is_fraction = weight != np.floor(weight)
    is_fraction &= ~np.isnan(weight)
    if is_fraction.any():
        refuse_rows(weight, is_fraction, *fraction_rule(name))


def fraction_rule(name: str) -> tuple[str, str]:
    """Return the rule on frequency weights, and a hint."""
    return (
        f'`{name}` must be whole numbers where `weight_kind` is "frequency"',
        ' Weights of other kinds are "sampling" weights.',
    )


def check_distribution(values: ArrayLike, name: str = "y_prob") -> FloatArray:
    """Check rows of K >= 2 probabilities, which must sum to 1."""
    table = _plain_array(values, name)
    if table.ndim != 2 or table.shape[1] < 2:
        raise DataError(
            f"`{name}` must have one row per case and one column per class; got shape {table.shape}."
        )
    table = _check_unit_interval(_numbers(table, name), name)
    total = table.sum(axis=1)
    is_off = np.abs(total - 1) > SUM_TOLERANCE
    if is_off.any():
        rule = f"Each row of `{name}` must sum to 1 within {format_plain(SUM_TOLERANCE)}"
        refuse_rows(total, is_off, rule, " Divide each row by its sum.")
    return table


def check_labels(values: ArrayLike, name: str, n_classes: int) -> IntArray:
    """Check class indices 0..n_classes-1."""
    array, rule = _plain_array(values, name), f"`{name}` must hold class indices 0 to {n_classes - 1}"
    if array.ndim == 1 and array.dtype.kind in "OUST":
        _refuse_texts(array, rule, " Pass the index of each label among the classes.")
    vector = check_finite(array, name)
    is_off = (vector < 0) | (vector >= n_classes) | (vector != np.floor(vector))
    if is_off.any():
        refuse_rows(vector, is_off, rule, hint_at_classes(vector, n_classes))
    return vector.astype(np.int64)


def check_clusters(values: ArrayLike | None, n: int, name: str = "cluster") -> IntArray | None:
    """Check labels of clusters and number them from 0, in the order of the labels; None stays None."""
    if values is None:
        return None
    labels = _one_per_case(values, n, name)
    if labels.dtype.kind not in "biu":  # whole numbers are never missing
        lacks = [
            _is_missing(item) or (isinstance(item, float) and np.isnan(item)) for item in labels.tolist()
        ]
        _refuse_missing(np.where(lacks, np.nan, 0.0), name)
    plain = labels.astype(str) if labels.dtype == object else labels
    return np.unique(plain, return_inverse=True)[1].astype(np.int64)


def check_times(values: ArrayLike | None, n: int, name: str = "time") -> NDArray[Any] | None:
    """Check times of cases, which must be dates or numbers; None stays None."""
    if values is None:
        return None
    times = _one_per_case(values, n, name)
    if times.dtype.kind not in "biufM":
        raise DataError(f"`{name}` must hold dates or numbers; got {times.dtype}.")
    is_missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times.astype(np.float64))
    _refuse_missing(np.where(is_missing, np.nan, 0.0), name)
    return times


def _one_per_case(values: ArrayLike, n: int, name: str) -> NDArray[Any]:
    array = _plain_array(values, name)
    if array.shape != (n,):
        raise DataError(f"`{name}` must have one value per case; got shape {array.shape} for {n} cases.")
    return array


def check_whole(value: Any, name: str, smallest: int) -> int:
    """Check a whole number, which must not be below `smallest`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < smallest:
        raise UsageError(f"`{name}` must be a whole number of at least {smallest}; got {value!r}.")
    return int(value)


def check_same_length(*named: tuple[object, NDArray[Any]]) -> None:
    """Check that arrays, each with its name, have the same length."""
    (first, a), *others = named
    for name, b in others:
        if len(b) != len(a):
            raise DataError(f"`{first}` ({len(a)}) and `{name}` ({len(b)}) must have the same length.")


def check_inside(value: Any, name: str, lower: float, upper: float, *, closed: str = "both") -> float:
    """Check that a parameter is in an interval; `closed` is "both", "left" or "neither"."""
    if not isinstance(value, (int, float, np.number)):
        raise UsageError(f"`{name}` must be a number; got {value!r}.")
    above = value >= lower if closed in {"both", "left"} else value > lower
    below = value <= upper if closed == "both" else value < upper
    if not (above and below):
        left, right = {"both": ("[", "]"), "left": ("[", ")"), "neither": ("(", ")")}[closed]
        raise UsageError(
            f"`{name}` must lie in {left}{format_plain(lower)}, {format_plain(upper)}{right}; got "
            f"{shortest(float(value))}.{explain_percent(float(value), upper)}"
        )
    return float(value)


def check_interval(lower: float, upper: float, *, closed: str = "both") -> tuple[float, float]:
    """Check an interval of costs inside [0, 1], whose lower end must be below the upper end."""
    check_inside(lower, "lower", 0, 1, closed=closed)
    check_inside(upper, "upper", 0, 1, closed=closed)
    if lower >= upper:
        raise UsageError(f"`lower` must be below `upper`; got {shortest(lower)} and {shortest(upper)}.")
    return float(lower), float(upper)


def check_option(value: str, name: str, allowed: Collection[str]) -> str:
    """Check that a value is one of the allowed words."""
    if value not in allowed:
        raise UsageError(f"`{name}` must be one of {_quoted(allowed)}; got {value!r}.")
    return value


def _quoted(words: Collection[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _vector(values: ArrayLike, name: str, hint: str = "") -> FloatArray:
    """A vector of at least one number; the hint is for an array of another shape."""
    array = _plain_array(values, name)
    if array.ndim != 1:
        raise DataError(f"`{name}` must be one-dimensional; got shape {array.shape}.{hint}")
    return _numbers(array, name)


def _numbers(array: NDArray[Any], name: str) -> FloatArray:
    """Numbers as float64, which holds float32, float16 and 0/1 exactly."""
    if array.size == 0:
        raise DataError(f"`{name}` is empty.")
    refuse_longdouble(array.dtype, name)
    if array.dtype.kind not in "biuf":
        array = _numbers_of_objects(array, name)
    return array.astype(np.float64, copy=False)


def refuse_longdouble(dtype: object, name: str) -> None:
    """Refuse longdouble numbers where they have more digits than float64."""
    if dtype == np.longdouble != np.float64:
        raise DataError(
            f"`{name}` is longdouble; round it to float64 yourself, so that no values merge unnoticed."
        )


def _plain_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert masked and nullable arrays to plain ones, with NaN for missing values."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(object), np.nan) if np.ma.is_masked(values) else values.data
    dtype = getattr(values, "dtype", None)
    is_nullable = hasattr(values, "to_numpy") and not isinstance(dtype, np.dtype)
    if is_nullable and getattr(dtype, "kind", "O") in "biuf":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)  # type: ignore[union-attr]
    try:
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"`{name}` must be an array; got rows of different lengths.") from error


def _numbers_of_objects(array: NDArray[Any], name: str) -> FloatArray:
    """Numbers of an object array; text and dates are refused, not parsed."""
    if array.dtype.kind in "mM":
        refuse_rows(array.astype(str), np.ones(array.shape, dtype=bool), f"`{name}` must be numeric")
    items: Sequence[object] = array.ravel().tolist()
    is_number = np.array([isinstance(item, (Real, Decimal)) or _is_missing(item) for item in items])
    if not is_number.all():
        hint = hint_at_numbers(array.ravel()[~is_number])
        refuse_rows(array, ~is_number.reshape(array.shape), f"`{name}` must be numeric", hint)
    numbers = [np.nan if _is_missing(item) else item for item in items]
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


def _is_missing(item: object) -> bool:
    return item is None or type(item).__name__ in {"NAType", "NaTType"}


def _check_unit_interval(numbers: FloatArray, name: str) -> FloatArray:
    if not (numbers.min() >= 0 and numbers.max() <= 1):  # false for NaN as well
        _refuse_not_finite(numbers, name)
        hint = hint_at_scale(range_of(numbers), are_classes=numbers.ndim > 1)
        refuse_rows(numbers, (numbers < 0) | (numbers > 1), f"`{name}` must lie in [0, 1]", hint)
    return numbers


def _refuse_not_finite(vector: FloatArray, name: str) -> None:
    _refuse_missing(vector, name)
    if np.isinf(vector).any():
        refuse_rows(vector, np.isinf(vector), f"`{name}` must be finite")


def _refuse_missing(vector: FloatArray, name: str) -> None:
    is_missing = np.isnan(vector)
    if is_missing.any():
        refuse_rows(vector, is_missing, f"`{name}` must not be missing", " Drop these rows first.")


def refuse_rows(values: NDArray[Any], is_bad: NDArray[np.bool_], rule: str, hint: str = "") -> NoReturn:
    """Raise an error for the rows marked bad: the rule, the first bad value, the rows and a hint."""
    rows = np.flatnonzero(is_bad if is_bad.ndim == 1 else is_bad.any(axis=1))
    refuse_places(values[is_bad][0], rows, len(rows), len(values), rule, hint)


def refuse_places(
    first: object, rows: Sequence[int] | NDArray[Any], count: int, total: int, rule: str, hint: str = ""
) -> NoReturn:
    """Raise an error for invalid rows of which only the first few are known, one more than are shown.

    >>> refuse_places(7.5, [1, 3], 2, 4, "`p` must be below 1")
    Traceback (most recent call last):
    scorereport._utils.row_places.InvalidRowsError: `p` must be below 1; got 7.5 at row 1 (2 of 4 rows: 1, 3).
    """
    shown = _show(first.item() if isinstance(first, np.generic) else first)
    refused = RowsRefused(
        before=f"{rule}; got {shown}", rows=rows, count=count, total=total, after=f".{hint}"
    )
    raise InvalidRowsError.of(refused)


def _show(value: object) -> str:
    """A value as Python writes it; a long one is cut."""
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST_SHOWN:
        return f"{value[:_LONGEST_SHOWN]!r} ..."
    return repr(value)
