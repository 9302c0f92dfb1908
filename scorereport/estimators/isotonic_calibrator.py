"""Recalibration by isotonic regression as a transformer of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorereport.errors import DataError, UsageError
from scorereport.reliability.fit import corp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.fit import Corp


class _WithoutScikitLearn:
    """A base in place of those of scikit-learn, so that the name can be imported without it."""

    def __new__(cls) -> Self:
        raise UsageError('`IsotonicCalibrator` needs scikit-learn: pip install "scorereport[sklearn]".')


def _find_bases() -> tuple[type, ...]:
    try:
        from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    except ModuleNotFoundError:
        return (_WithoutScikitLearn,)
    return (OneToOneFeatureMixin, TransformerMixin, BaseEstimator)


class IsotonicCalibrator(*_find_bases()):  # type: ignore[misc]
    """Recalibrate forecasts by the CORP fit, a transformer of scikit-learn.

    Each column is recalibrated on its own, so that the forecasts of several models can be given at once.
    The curve is interpolated between the blocks of the fit and constant beyond its ends, as by
    `Corp.recalibrate`. Fit it to cases that the model was not trained on.

    Forecasts may be probabilities or other numbers that rank the cases, such as log-odds; outcomes are 0 or
    1, or real numbers, whose mean is then estimated. Probabilities of outcomes 0 and 1 may be
    one-dimensional, and give one-dimensional results.

    Attributes
    ----------
    fits_ : the fit of each column, from `corp`
    corp_ : the fit, if there is one column
    n_features_in_ : the number of columns
    feature_names_in_ : their names, if the forecasts were a table with names

    References
    ----------
    Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118

    >>> calibrator = IsotonicCalibrator().fit([0.1, 0.3, 0.3, 0.6, 0.5], [0, 1, 0, 1, 1])
    >>> calibrator.transform([0.1, 0.2, 0.3, 0.9])
    array([0.  , 0.25, 0.5 , 1.  ])
    >>> round(calibrator.corp_.decompose("brier").miscalibration, 6)
    0.1
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Fit the outcomes to the forecasts of each column.

        Parameters
        ----------
        X : forecasts, one value per case or one row per case
        y : outcomes 0 or 1, or real numbers
        sample_weight : not negative; whole weights equal repeated cases
        """
        from sklearn.utils.validation import validate_data

        given = _as_column(X)
        columns, outcome = validate_data(self, given, y, dtype=np.float64, y_numeric=True)
        if given is not X:
            _require_probabilities(columns, outcome)
        self.fits_ = tuple(_fit_column(outcome, forecast, sample_weight) for forecast in columns.T)
        return self

    def transform(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        """Recalibrate forecasts; the result has the shape of the forecasts."""
        return self._recalibrate(X)

    def predict(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        """Recalibrate forecasts, as `transform` does; the result is always an array."""
        return self._recalibrate(X)

    def _recalibrate(self, forecasts: ArrayLike) -> FloatArray:
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        given = _as_column(forecasts) if len(self.fits_) == 1 else forecasts
        columns = validate_data(self, given, dtype=np.float64, reset=False)
        pairs = zip(self.fits_, columns.T, strict=True)
        values = np.column_stack([fit.recalibrate(column) for fit, column in pairs])
        return values if given is forecasts else values[:, 0]

    @property
    def corp_(self) -> Corp:
        """The fit of the only column."""
        fits: tuple[Corp, ...] = self.fits_
        if len(fits) != 1:
            raise AttributeError(f"`corp_` is the fit of one column; there are {len(fits)}: see `fits_`.")
        return fits[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True  # `one_d_array` would state that tables are refused
        return tags


def _fit_column(y: FloatArray, forecast: FloatArray, sample_weight: ArrayLike | None) -> Corp:
    """Fit probabilities, or else the mean: the recalibrated values are the same where both are defined."""
    functional = "probability" if _are_probabilities(forecast, y) else "mean"
    return corp(y, forecast, sample_weight, functional=functional)


def _are_probabilities(forecast: FloatArray, y: FloatArray) -> bool:
    return bool((forecast >= 0).all() and (forecast <= 1).all() and np.isin(y, (0, 1)).all())


def _require_probabilities(forecast: FloatArray, y: FloatArray) -> None:
    """Refuse one-dimensional input that may be one feature of a table, as scikit-learn asks for."""
    if not _are_probabilities(forecast, y):
        raise DataError(
            "One-dimensional forecasts must be probabilities, with outcomes 0 and 1; "
            "pass other numbers as a column, such as X.reshape(-1, 1)."
        )


def _as_column(forecasts: Any) -> Any:
    """One-dimensional forecasts as one column; anything else as it is."""
    if hasattr(forecasts, "to_frame") and getattr(forecasts, "ndim", 1) == 1:  # a series keeps its name
        return forecasts.to_frame()
    is_one = isinstance(forecasts, (list, tuple, np.ndarray)) and np.ndim(forecasts) == 1
    return np.asarray(forecasts).reshape(-1, 1) if is_one else forecasts
